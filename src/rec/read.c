/*
 * read.c - see read.h.
 *
 * items.c reads the items of a block into the tables; here are blocks and rows.
 */
#include "rec/read.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "rec/pack.h"
#include "rec/tables.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

enum { SEARCH_STEP = 64 << 10 };

struct block {
	u64 at; /* of the header */
	u64 first, last;
	u32 stored, raw, items, number, crc;
	u16 flags, schemas;
	u8 type, codec;
};

struct rec_file {
	int fd; /* -1: .mem */
	const u8 *mem;
	char *path;
	struct rec_info info;
	struct rec_tables t;
	struct rec_press *press;
	struct sb stored, raw; /* of a block */
	struct err *failed;

	/* ---- the walk ---- */
	u64 at, first_block;
	u32 number;  /* of the next block */
	bool walked; /* damage between blocks was reported when the file was opened */
	bool begun;  /* rec_next() was called since rec_rewind() */
	u32 passes;  /* over all rows: damage in rows is reported by the first */
	u64 from, to;
	const bool *want;
	u32 nwant;
	bool answer;        /* there are blocks of an answer */
	struct bytes items; /* of such a block, from .items_at on */
	u64 items_at;

	/* ---- rows of the block ---- */
	struct rec_bytes rows;
	u64 rows_at;
	u32 left;
	u64 ts;       /* of the row before */
	u64 turn;     /* the next after that of the row before */
	u64 base;     /* the same as the block counts */
	u64 unread;   /* rows in blocks that could not be read, since the last row */
	bool hole;    /* blocks are missing since the last row */
	bool partial; /* blocks were skipped because no row of them is wanted */
	u64 taken;    /* rows that were read, or are known to be damaged */
	bool turn_known;
	u32 cpu, ncpu, batch;
	struct cpu_in {
		u32 batch, task;
	} * by_cpu;
	struct rec_cell cell[REC_MAX_COLUMNS];
	struct arena scratch; /* of arrays */
};

/* ---- bytes of the file ---- */

/* Up to n bytes at an offset; how many there are. */
static size_t get(struct rec_file *f, u64 at, void *p, size_t n)
{
	if (at >= f->info.bytes)
		return 0;
	n = (size_t)MIN((u64)n, f->info.bytes - at);
	if (f->fd < 0) {
		memcpy(p, f->mem + at, n);
		return n;
	}
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(f->fd, (char *)p + done, n - done, (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && !f->failed)
			f->failed = err_sys(errno, "read %s at byte %llu", f->path, at + done);
		if (got <= 0)
			return done;
		done += (size_t)got;
	}
	return n;
}

static void damage(struct rec_file *f, u64 n, const struct block *b, struct str text)
{
	f->taken += n;
	if (f->passes)
		return;
	tables_loss(&f->t, &(struct rec_loss){.n = n,
					      .from = b ? b->first : 0,
					      .to = b ? b->last : 0,
					      .kind = STR("corrupt_file"),
					      .who = str_z(f->path),
					      .text = text});
}

static void PRINTF(2, 3) damaged(struct rec_file *f, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	damage(f, 0, NULL, str_z(text));
}

/* ---- blocks ---- */

static bool block_parse(const u8 *p, u64 at, struct block *b)
{
	struct bytes in = bytes_of(p, REC_BLOCK_HEADER);
	if (bytes_u32(&in) != REC_BLOCK_MAGIC)
		return false;
	*b = (struct block){.at = at};
	b->type = bytes_u8(&in);
	b->codec = bytes_u8(&in);
	b->flags = bytes_u16(&in);
	b->stored = bytes_u32(&in);
	b->raw = bytes_u32(&in);
	b->first = bytes_u64(&in);
	b->last = bytes_u64(&in);
	b->items = bytes_u32(&in);
	bytes_u16(&in);
	b->schemas = bytes_u16(&in);
	b->number = bytes_u32(&in);
	bytes_u32(&in);
	b->crc = bytes_u32(&in);
	return bytes_u32(&in) == rec_crc(0, p, REC_BLOCK_HEADER - 4) && b->raw <= REC_MAX_RAW &&
	       b->stored <= REC_MAX_RAW;
}

/* The next header from an offset on. False: there is none. */
static bool block_search(struct rec_file *f, u64 at, struct block *b)
{
	AUTO_SB buf = {0};
	sb_reserve(&buf, SEARCH_STEP + REC_BLOCK_HEADER);
	for (at = ALIGN_UP(at, 8); at < f->info.bytes; at += SEARCH_STEP) {
		size_t n = get(f, at, buf.s, SEARCH_STEP + REC_BLOCK_HEADER);
		for (size_t i = 0; i < SEARCH_STEP && i + REC_BLOCK_HEADER <= n; i += 8) {
			u32 magic;
			memcpy(&magic, buf.s + i, sizeof(magic));
			if (magic == REC_BLOCK_MAGIC &&
			    block_parse((const u8 *)buf.s + i, at + i, b))
				return true;
		}
	}
	return false;
}

/*
 * The header at .at, or the next one that is good: what is between is reported. False at the end of
 * the file, or before a block that is not whole; .at is then where that is.
 */
static bool block_next(struct rec_file *f, struct block *b)
{
	u8 head[REC_BLOCK_HEADER];
	u64 at = ALIGN_UP(f->at, 8);
	if (at >= f->info.bytes || f->failed)
		return false;
	size_t n = get(f, at, head, sizeof(head));
	if (n < sizeof(head)) {
		f->info.cut = f->info.bytes - f->at;
		return false;
	}
	if (!block_parse(head, at, b)) {
		bool found = block_search(f, at + 8, b);
		u64 to = found ? b->at : f->info.bytes;
		if (!f->walked)
			damaged(f, "%llu damaged bytes at byte %llu", to - at, at);
		if (!found) {
			f->at = f->info.bytes;
			return false;
		}
	}
	u64 end = b->at + REC_BLOCK_HEADER + b->stored;
	if (end > f->info.bytes) {
		f->info.cut = f->info.bytes - b->at;
		return false;
	}
	f->at = end;
	if (b->number < f->number) {
		if (!f->walked)
			damaged(f, "block %u at byte %llu is not in its place", b->number, b->at);
		return block_next(f, b);
	}
	if (b->number > f->number && !f->walked)
		damaged(f, "blocks %u to %u are missing before byte %llu", f->number, b->number - 1,
			b->at);
	f->number = b->number + 1;
	return true;
}

static void damaged_block(struct rec_file *f, const struct block *b)
{
	AUTO_SB text = {0};
	sb_fmt(&text, "the block at byte %llu is damaged", b->at);
	if (b->type == BLOCK_EVENTS)
		sb_fmt(&text, ": %u events", b->items);
	damage(f, b->type == BLOCK_EVENTS ? b->items : 0, b, sb_str(&text));
}

/* Its bytes into .raw. */
static bool block_read(struct rec_file *f, const struct block *b)
{
	if (!rec_codec_name(b->codec) || !rec_has_codec(b->codec)) {
		if (!f->failed)
			f->failed = err_new(
				"%s: block at byte %llu: %s", f->path, b->at,
				rec_codec_name(b->codec)
					? "this build cannot read zstd; use one with libzstd"
					: "unknown compression; use a newer sonde");
		return false;
	}
	sb_clear(&f->stored);
	sb_reserve(&f->stored, b->stored);
	if (get(f, b->at + REC_BLOCK_HEADER, f->stored.s, b->stored) != b->stored)
		return false;
	bool ok = rec_crc(0, f->stored.s, b->stored) == b->crc;
	if (ok) {
		sb_clear(&f->raw);
		sb_reserve(&f->raw, (size_t)b->raw + 1);
		ok = rec_unpress(f->press, b->codec, (struct str){f->stored.s, b->stored},
				 (u8 *)f->raw.s, b->raw);
		f->raw.n = b->raw;
	}
	if (!ok)
		damaged_block(f, b);
	return ok;
}

/* An unknown block that must be understood. */
static void block_unknown(struct rec_file *f, const struct block *b)
{
	if (b->flags & BLOCK_NEEDED && !f->failed)
		f->failed =
			err_new("%s: block of the unknown type %u at byte %llu: use a newer sonde",
				f->path, b->type, b->at);
}

static void block_items(struct rec_file *f, const struct block *b)
{
	struct rec_items in = {.bytes = {f->raw.s, (u32)f->raw.n}, .n = b->items};
	tables_take(&f->t, &in);
	if (in.needed && !f->failed)
		f->failed =
			err_new("%s: unknown item %u in the block at byte %llu: use a newer sonde",
				f->path, in.needed, b->at);
	if (in.bad)
		damaged(f, "%u damaged items in the block at byte %llu", in.bad, b->at);
}

/* ---- opening ---- */

static struct err *header_read(struct rec_file *f)
{
	u8 h[REC_FILE_HEADER];
	size_t n = get(f, 0, h, sizeof(h));
	struct bytes b = bytes_of(h, sizeof(h));
	if (n < 8 || memcmp(h, REC_MAGIC, 8) != 0)
		return err_new("%s is not a recording of sonde", f->path);
	if (n < sizeof(h))
		return err_new("%s: the file ends at byte %zu, within its header", f->path, n);
	bytes_seek(&b, 8);
	f->first_block = f->at = REC_FILE_HEADER;
	if (rec_crc(0, h, REC_FILE_HEADER - 4) !=
	    (u32)(h[60] | h[61] << 8 | h[62] << 16 | (u32)h[63] << 24)) {
		damaged(f, "the header of the file is damaged: its time is not known");
		return NULL;
	}
	f->info.major = bytes_u16(&b);
	f->info.minor = bytes_u16(&b);
	u32 size = bytes_u32(&b);
	if (f->info.major != REC_MAJOR)
		return err_new("%s has format version %u.%u; this sonde reads version %u", f->path,
			       f->info.major, f->info.minor, REC_MAJOR);
	if (size < REC_FILE_HEADER || size > f->info.bytes)
		return err_new("%s: a header of %u bytes at byte 12", f->path, size);
	memcpy(f->info.id, bytes_take(&b, 16), 16);
	f->info.real = bytes_u64(&b);
	f->info.mono = bytes_u64(&b);
	f->info.page_size = bytes_u32(&b);
	f->info.ncpu = bytes_u16(&b);
	f->first_block = f->at = ALIGN_UP((u64)size, 8);
	return NULL;
}

/* Each schema at its id, for rows. */
static void schemas_index(struct rec_file *f)
{
	for (u32 i = 0; i < f->t.known.n; i++) {
		const struct rec_schema *s = f->t.known.v[i];
		/* Ids are dense; those that are missing were in damaged blocks, so only few are. */
		if (s->id > f->t.known.n + REC_MAX_RAW / 64)
			break;
		while (f->t.schema.n < s->id - 1)
			vec_add(&f->t.schema, NULL);
		vec_add(&f->t.schema, s);
	}
}

static void note_rows(struct rec_info *in, const struct block *b)
{
	in->first = in->nrow ? MIN(in->first, b->first) : b->first;
	in->last = MAX(in->last, b->last);
	in->nrow += b->items;
	in->stored += b->stored;
	in->raw += b->raw;
}

static struct err *survey(struct rec_file *f)
{
	struct err *e = header_read(f);
	struct block b;
	while (!e && block_next(f, &b)) {
		f->info.nblock++;
		if (b.type == BLOCK_EVENTS)
			note_rows(&f->info, &b);
		else if ((b.type == BLOCK_FACTS || b.type == BLOCK_END) && block_read(f, &b))
			block_items(f, &b);
		else if (b.type == BLOCK_ANSWER)
			f->answer = true;
		else if (b.type != BLOCK_NAMES && b.type != BLOCK_FACTS && b.type != BLOCK_END)
			block_unknown(f, &b);
	}
	if (!e && f->failed) {
		e = f->failed;
		f->failed = NULL;
	}
	schemas_index(f);
	f->info.closed = f->t.ended;
	f->info.end = f->t.end.how;
	f->info.reason = f->t.end.reason;
	f->info.rows = f->t.end.rows;
	f->info.lost = f->t.end.lost;
	f->walked = true;
	return e;
}

static struct rec_file *file_new(const char *path)
{
	struct rec_file *f = xcalloc(1, sizeof(*f));
	f->fd = -1;
	f->path = xstrdup(path);
	f->info.path = f->path;
	f->to = ~0ull;
	f->press = rec_press_new(CODEC_NONE);
	tables_init(&f->t);
	return f;
}

static struct err *opened(struct rec_file *f, struct rec_file **ret)
{
	struct err *e = survey(f);
	if (e) {
		rec_close(f);
		return e;
	}
	rec_rewind(f);
	*ret = f;
	return NULL;
}

struct err *rec_open_fd(int fd, const char *path, struct rec_file **ret)
{
	struct stat st;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_new("%s is not a file", path);
	}
	struct rec_file *f = file_new(path);
	f->fd = fd;
	f->info.bytes = (u64)st.st_size;
	return opened(f, ret);
}

struct err *rec_open(const char *path, struct rec_file **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_sys(errno, "open %s", path) : rec_open_fd(fd, path, ret);
}

struct err *rec_open_mem(const void *p, size_t n, const char *name, struct rec_file **ret)
{
	struct rec_file *f = file_new(name);
	f->mem = p;
	f->info.bytes = n;
	return opened(f, ret);
}

void rec_rest(struct rec_file *f)
{
	rec_press_free(f->press);
	f->press = rec_press_new(CODEC_NONE);
	sb_free(&f->stored);
	sb_free(&f->raw);
	f->items = bytes_of(NULL, 0);
}

void rec_close(struct rec_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	tables_free(&f->t);
	rec_press_free(f->press);
	sb_free(&f->stored);
	sb_free(&f->raw);
	arena_free(&f->scratch);
	err_free(f->failed);
	free(f->by_cpu);
	free(f->path);
	free(f);
}

void rec_rewind(struct rec_file *f)
{
	tables_forget(&f->t);
	f->passes += f->walked && f->begun;
	f->begun = false;
	f->at = f->first_block;
	f->number = 0;
	f->left = 0;
	f->items = (struct bytes){0};
	f->hole = false;
	f->turn = 0;
	f->turn_known = true;
	f->partial = false;
	f->unread = f->taken = 0;
}

/* ---- rows ---- */

static struct cpu_in *cpu_in(struct rec_file *f, u32 cpu)
{
	if (cpu >= f->ncpu) {
		u32 n = MAX(cpu + 1, f->ncpu * 2);
		f->by_cpu = xrealloc(f->by_cpu, n * sizeof(*f->by_cpu));
		memset(f->by_cpu + f->ncpu, 0, (n - f->ncpu) * sizeof(*f->by_cpu));
		f->ncpu = n;
	}
	return &f->by_cpu[cpu];
}

static void say_hole(struct rec_file *f, u64 n)
{
	AUTO_SB text = {0};
	sb_fmt(&text, "%llu events were in damaged or missing blocks", n);
	damage(f, n, NULL, sb_str(&text));
}

/* Rows that are missing between blocks, because blocks are. */
static void count_hole(struct rec_file *f, u64 base)
{
	u64 gap = f->turn_known && base > f->turn ? base - f->turn : 0;
	if (f->hole && gap > f->unread)
		say_hole(f, gap - f->unread);
	f->hole = false;
	f->unread = 0;
}

/* Rows that are missing behind the last block. */
static void count_rest(struct rec_file *f)
{
	if (f->hole && f->info.closed && !f->partial && f->info.rows > f->taken)
		say_hole(f, f->info.rows - f->taken);
	f->hole = false;
}

static void rows_begin(struct rec_file *f, const struct block *b)
{
	f->rows = (struct rec_bytes){(const u8 *)f->raw.s, (const u8 *)f->raw.s + f->raw.n, false};
	const u8 *base = rec_take(&f->rows, 2 * sizeof(u64));
	u64 turn;
	f->left = base ? b->items : 0;
	f->rows_at = b->at;
	if (!base)
		return;
	memcpy(&f->ts, base, sizeof(f->ts));
	memcpy(&turn, base + sizeof(f->ts), sizeof(turn));
	count_hole(f, turn);
	if (!f->turn_known)
		f->turn = turn;
	f->turn_known = true;
	f->base = turn;
	f->cpu = 0;
	f->batch++;
}

static bool block_wanted(const struct rec_file *f, const struct block *b)
{
	if (b->last < f->from || b->first > f->to)
		return false;
	if (!f->want)
		return true;
	u16 set = 0;
	for (u32 i = 0; i < f->nwant; i++)
		set |= (u16)(f->want[i] << i % 16);
	return set & b->schemas;
}

/* Go on to the next block with rows. False: there is none. */
static bool rows_next(struct rec_file *f)
{
	struct block b;
	while (!f->failed) {
		u32 number = f->number;
		if (!block_next(f, &b))
			return false;
		f->hole |= b.number != number;
		if (b.type == BLOCK_NAMES) {
			if (block_read(f, &b))
				block_items(f, &b);
		} else if (b.type == BLOCK_EVENTS && !block_wanted(f, &b)) {
			f->turn_known = false;
			f->partial = true;
		} else if (b.type == BLOCK_EVENTS) {
			if (block_read(f, &b)) {
				rows_begin(f, &b);
				return true;
			}
			f->unread += b.items;
		}
	}
	return false;
}

static void take_text(struct rec_file *f, struct rec_cell *c)
{
	u64 id = varint_take(&f->rows);
	if (id) {
		const struct rec_string *s =
			id <= UINT32_MAX ? tables_string(&f->t, (u32)id) : NULL;
		c->missing = !s;
		c->str = s ? s->s : STR("");
		c->cut = s && s->cut;
		return;
	}
	u64 n = varint_take(&f->rows);
	const u8 *p = rec_take(&f->rows, n >> 1);
	c->str = p ? str_n((const char *)p, n >> 1) : STR("");
	c->cut = n & 1;
}

static void take_list(struct rec_file *f, const struct rec_column *col, struct rec_cell *c)
{
	u32 size = col->size / col->count;
	/* An element takes a byte at least. */
	if (col->count > (u64)(f->rows.end - f->rows.p)) {
		f->rows.bad = true;
		return;
	}
	char *to = arena_alloc(&f->scratch, col->size + 8, 8);
	for (u32 i = 0; i < col->count; i++) {
		u64 v = varint_take(&f->rows);
		if (col->element == REC_ZIGZAG)
			v = (u64)unzigzag(v);
		memcpy(to + (size_t)i * size, &v, size);
	}
	c->str = str_n(to, col->size);
}

static void take_cell(struct rec_file *f, const struct rec_column *col, struct rec_cell *c)
{
	*c = (struct rec_cell){.str = {"", 0}};
	const u8 *p;
	switch (col->coding) {
	case REC_VARINT: c->u = varint_take(&f->rows); return;
	case REC_ZIGZAG: c->u = (u64)unzigzag(varint_take(&f->rows)); return;
	case REC_RAW:
		p = rec_take(&f->rows, sizeof(u64));
		if (p)
			memcpy(&c->u, p, sizeof(c->u));
		return;
	case REC_STACKID:
		c->u = varint_take(&f->rows);
		c->missing =
			c->u && !(c->u <= UINT32_MAX && tables_name(&f->t, NAMES_STACK, (u32)c->u));
		return;
	case REC_PAIR:
		c->u = varint_take(&f->rows);
		take_text(f, c);
		return;
	case REC_TEXT: take_text(f, c); return;
	case REC_BLOB: {
		u64 n = varint_take(&f->rows);
		p = rec_take(&f->rows, n);
		c->str = p ? str_n((const char *)p, n) : STR("");
		return;
	}
	case REC_LIST: take_list(f, col, c); return;
	}
}

static u64 take_max(struct rec_file *f, u64 max)
{
	u64 n = varint_take(&f->rows);
	f->rows.bad |= n > max;
	return n;
}

/* What comes before the columns. False: the bytes make no sense. */
static bool take_head(struct rec_file *f, struct rec_row *r)
{
	const u8 *p = rec_take(&f->rows, 1);
	u8 head = p ? *p : 0;
	u64 id = head & ROW_SCHEMA;
	if (id == ROW_SCHEMA)
		id = varint_take(&f->rows);
	f->ts += (u64)unzigzag(varint_take(&f->rows));
	if (head & ROW_CPU)
		f->cpu = (u32)take_max(f, REC_MAX_CPU - 1);
	if (f->rows.bad)
		return false;
	struct cpu_in *cpu = cpu_in(f, f->cpu);
	if (cpu->batch != f->batch)
		*cpu = (struct cpu_in){.batch = f->batch};
	if (head & ROW_TASK)
		cpu->task = (u32)take_max(f, UINT32_MAX);
	u64 missing = head & ROW_TURN ? take_max(f, UINT32_MAX) : 0;
	r->turn = f->base + missing;
	r->missing = r->turn > f->turn ? r->turn - f->turn : 0;
	f->base = f->turn = r->turn + 1;
	r->ts = f->ts;
	r->cpu = f->cpu;
	r->task_id = cpu->task;
	r->schema = id && id <= f->t.schema.n ? f->t.schema.v[id - 1] : NULL;
	return !f->rows.bad && r->schema;
}

static bool take_row(struct rec_file *f, struct rec_row *r)
{
	if (!take_head(f, r))
		return false;
	const struct rec_schema *s = r->schema;
	arena_reset(&f->scratch);
	for (u32 i = 0; i < s->ncolumn; i++)
		take_cell(f, &s->column[i], &f->cell[i]);
	r->cell = f->cell;
	return !f->rows.bad;
}

static bool row_wanted(const struct rec_file *f, const struct rec_row *r)
{
	return r->ts >= f->from && r->ts <= f->to &&
	       (!f->want || (r->schema->id < f->nwant && f->want[r->schema->id]));
}

bool rec_next(struct rec_file *f, struct rec_row *ret, struct err **e)
{
	*e = NULL;
	f->begun = true;
	for (;;) {
		if (!f->left && !rows_next(f))
			break;
		if (!f->left)
			continue;
		f->left--;
		if (!take_row(f, ret)) {
			AUTO_SB text = {0};
			sb_fmt(&text, "%u events cannot be read in the block at byte %llu",
			       f->left + 1, f->rows_at);
			damage(f, f->left + 1, NULL, sb_str(&text));
			f->left = 0;
			f->turn_known = false;
			continue;
		}
		f->taken++;
		if (!row_wanted(f, ret))
			continue;
		ret->task = tables_name(&f->t, NAMES_TASK, ret->task_id);
		return true;
	}
	count_rest(f);
	*e = f->failed;
	f->failed = NULL;
	return false;
}

bool rec_is_answer(const struct rec_file *f)
{
	return f->answer || rec_meta_of(f, STR("answer")).n;
}

/* Go on to the next block of an answer. False: there is none. */
static bool items_next(struct rec_file *f)
{
	struct block b;
	while (!f->failed && block_next(f, &b)) {
		if ((b.type != BLOCK_NAMES && b.type != BLOCK_ANSWER) || !block_read(f, &b))
			continue;
		if (b.type == BLOCK_NAMES) {
			block_items(f, &b);
			continue;
		}
		f->items = bytes_of(f->raw.s, f->raw.n);
		f->items_at = b.at;
		return true;
	}
	return false;
}

bool rec_next_answer(struct rec_file *f, struct rec_answer *ret, struct err **e)
{
	*e = NULL;
	f->begun = true;
	while (f->items.at == f->items.n)
		if (!items_next(f)) {
			*e = f->failed;
			f->failed = NULL;
			return false;
		}
	u32 size = bytes_u32(&f->items);
	const u8 *p = bytes_take(&f->items, size);
	if (!p || size < sizeof(u16)) {
		*e = err_new("%s: an item does not fit the block at byte %llu", f->path,
			     f->items_at);
		return false;
	}
	u16 kind;
	memcpy(&kind, p, sizeof(kind));
	*ret = (struct rec_answer){
		.kind = kind, .fields = str_n((const char *)p + 2, size - 2), .at = f->items_at};
	return true;
}

void rec_between(struct rec_file *f, u64 from, u64 to)
{
	f->from = from;
	f->to = to;
}

void rec_want(struct rec_file *f, const bool *want, u32 n)
{
	f->want = want;
	f->nwant = n;
}

/* ---- what was found ---- */

const struct rec_info *rec_info(const struct rec_file *f)
{
	return &f->info;
}

const struct str *rec_metas(const struct rec_file *f, u32 *npair)
{
	*npair = f->t.meta.n / 2;
	return f->t.meta.v;
}

struct str rec_meta_of(const struct rec_file *f, struct str key)
{
	for (u32 i = 0; i + 1 < f->t.meta.n; i += 2)
		if (str_eq(f->t.meta.v[i], key))
			return f->t.meta.v[i + 1];
	return (struct str){0};
}

const struct rec_feature *rec_features(const struct rec_file *f, u32 *n)
{
	*n = f->t.feature.n;
	return f->t.feature.v;
}

const struct rec_clock *rec_clocks(const struct rec_file *f, u32 *n)
{
	*n = f->t.clock.n;
	return f->t.clock.v;
}

const struct rec_loss *rec_losses(const struct rec_file *f, u32 *n)
{
	*n = f->t.loss.n;
	return f->t.loss.v;
}

const struct rec_schema *const *rec_schemas(const struct rec_file *f, u32 *n)
{
	*n = f->t.known.n;
	return (const struct rec_schema *const *)f->t.known.v;
}

const struct rec_enum *rec_enum_of(const struct rec_file *f, u32 id)
{
	for (u32 i = 0; i < f->t.enums.n; i++)
		if (f->t.enums.v[i].id == id)
			return &f->t.enums.v[i];
	return NULL;
}

const struct rec_total *rec_total_of(const struct rec_file *f, u32 schema)
{
	return f->t.ended && schema && schema <= f->t.end.ntotal ? &f->t.end.total[schema - 1]
								 : NULL;
}

bool rec_blob_of(struct rec_file *f, struct str name, struct sb *out)
{
	size_t begin = out->n;
	for (u32 i = 0; i < f->t.part.n; i++) {
		const struct rec_part *p = &f->t.part.v[i];
		if (!str_eq(p->name, name) || p->at != out->n - begin)
			continue;
		sb_add(out, p->bytes);
		if (out->n - begin == p->whole)
			return true;
	}
	out->n = begin;
	return false;
}

const struct rec_task *rec_task_of(const struct rec_file *f, u32 id)
{
	return tables_name(&f->t, NAMES_TASK, id);
}

const struct rec_stack *rec_stack_of(const struct rec_file *f, u32 id)
{
	return tables_name(&f->t, NAMES_STACK, id);
}

const struct rec_frame *rec_frame_of(const struct rec_file *f, u32 id)
{
	return tables_name(&f->t, NAMES_FRAME, id);
}

const struct rec_mapping *rec_mapping_of(const struct rec_file *f, u32 id)
{
	return tables_name(&f->t, NAMES_MAPPING, id);
}

const struct rec_exit *rec_exits(const struct rec_file *f, u32 *n)
{
	*n = f->t.exits.n;
	return f->t.exits.v;
}
