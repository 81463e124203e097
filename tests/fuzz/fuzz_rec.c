/*
 * Any bytes as a recording. The first byte says whether they are taken as they are, or as the items and rows of blocks
 * whose checksums are right: most of the reader is behind these.
 */
#include "base/pack.h"
#include "rec/pack.h"
#include "rec/read.h"

static void put_header(struct sb *b)
{
	sb_mem(b, REC_MAGIC, 8);
	pack_u16(b, REC_MAJOR);
	pack_u16(b, REC_MINOR);
	pack_u32(b, REC_FILE_HEADER);
	sb_pad(b, 0, REC_FILE_HEADER - 4 - b->n);
	pack_u32(b, rec_crc(0, b->s, b->n));
}

static void put_block(struct sb *b, u8 type, u32 number, const u8 *p, u32 n)
{
	sb_pad(b, 0, ALIGN_UP(b->n, 8) - b->n);
	size_t at = b->n;
	pack_u32(b, REC_BLOCK_MAGIC);
	pack_u8(b, type);
	pack_u8(b, CODEC_NONE);
	pack_u16(b, 0);
	pack_u32(b, n);
	pack_u32(b, n);
	pack_u64(b, 0);
	pack_u64(b, ~0ull);
	pack_u32(b, n);
	pack_u32(b, 0);
	pack_u32(b, number);
	pack_u32(b, 0);
	pack_u32(b, rec_crc(0, p, n));
	pack_u32(b, rec_crc(0, b->s + at, b->n - at));
	sb_mem(b, p, n);
}

/* Blocks of the lengths that the bytes themselves give. */
static void put_blocks(struct sb *b, const u8 *p, size_t n)
{
	static const u8 types[] = {BLOCK_FACTS, BLOCK_NAMES, BLOCK_EVENTS, BLOCK_END};
	put_header(b);
	for (u32 number = 0; n > 3; number++) {
		size_t size = MIN((size_t)(p[1] | p[2] << 8), n - 3);
		put_block(b, types[*p % countof(types)], number, p + 3, (u32)size);
		p += 3 + size;
		n -= 3 + size;
	}
}

static void read_all(struct rec_file *f)
{
	struct rec_row r;
	struct err *e;
	u64 turn = 0;
	while (rec_next(f, &r, &e)) {
		if (turn && r.turn < turn && r.missing)
			abort();
		turn = r.turn;
		for (u32 i = 0; i < r.schema->ncolumn; i++) {
			const struct rec_cell *c = &r.cell[i];
			if (c->str.n && c->str.s[c->str.n - 1] == 'x' && c->str.s[0] == 'y')
				turn++;
			if (r.schema->column[i].kind == REC_STACK)
				rec_stack_of(f, (u32)c->u);
		}
	}
	err_free(e);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct rec_file *f;
	AUTO_SB b = {0};
	if (!n)
		return 0;
	if (*data & 1)
		put_blocks(&b, data + 1, n - 1);
	else
		sb_mem(&b, data + 1, n - 1);
	struct err *e = rec_open_mem(b.s, b.n, "fuzz", &f);
	if (e) {
		err_free(e);
		return 0;
	}
	read_all(f);
	rec_rewind(f);
	rec_between(f, 10, 1000);
	read_all(f);
	rec_close(f);
	return 0;
}
