/* Any bytes as what the child without rights answers: somebody else may speak through it. Whatever is
 * believed of them must be in order and in bounds, because it is searched and indexed by. */
#include "rights/image_ask.h"
#include "sym/cfi_ask.h"
#include "sym/jit.h"
#include "sym/sym.h"
#include "sym/usdt_ask.h"
#include "types/dwpack.h"

enum { PART = 1 << 14 };

static void take_symbols(struct arena *a, struct bytes b)
{
	struct elf_facts f;
	struct err *e = elf_take_answer(a, b, "file", &f);
	for (u32 i = 0; !e && i < f.syms.n; i++) {
		const struct symbol *s = &f.syms.v[i];
		if ((i && s->addr < s[-1].addr) || memchr(s->name.s, 0, s->name.n))
			abort();
	}
	if (f.nseg > ELF_SEGMENTS)
		abort();
	err_free(e);
}

static void take_notes(struct arena *a, struct bytes b)
{
	struct usdt_sites s;
	if (usdt_take_sites(b, a, &s) && s.n > b.n)
		abort();
}

static void take_codes(struct bytes b)
{
	struct codes c = {0};
	struct symbol sym;
	codes_take_told(&c, b);
	codes_sort(&c);
	codes_find(&c, 0x1000, &sym);
	codes_free(&c);
}

static void take_tables(struct bytes b)
{
	struct cfi_facts f;
	if (!cfi_take_facts(b, &f))
		return;
	for (u32 i = 0; i < f.nseg; i++)
		if (f.seg[i].addr < f.base)
			abort();
	for (u32 i = 1; i < f.list.n; i++)
		if (f.list.v[i].pc < f.list.v[i - 1].pc)
			abort();
	cfi_list_free(&f.list);
}

static void take_rows(struct bytes b)
{
	struct cfi_rules r;
	const u8 *v;
	u32 n;
	bool sense = cfi_take_rules(&b, &r);
	for (u32 i = 0; i < r.n; i++)
		if (!sense || unwind_kind(cfi_rule(&r, i)) > UNWIND_KIND_MAX)
			abort();
	while (cfi_take_part(&b, &r, PART, &v, &n)) {
		struct cfi_brief row = {0}, was = {0};
		for (u32 i = 0; i < n; i++, was = row) {
			memcpy(&row, v + i * sizeof(row), sizeof(row));
			if (row.pc >= PART || row.rule >= r.n || row.pc < was.pc || (!i && row.pc))
				abort();
		}
		if (!n || !sense)
			abort();
	}
}

static void take_headers(struct arena *a, struct bytes b)
{
	enum { SIZE = 1 << 12 };
	struct image im;
	struct segment seg;
	struct elf_links links;
	struct choices choices;
	struct bytes names = b, pairs = b;
	u64 off;
	if (image_take_told(b, SIZE, &im)) {
		if (im.base > SIZE || im.n > SIZE - im.base)
			abort();
		for (u32 i = 0; image_segment(&im, i, &seg); i++)
			if (image_offset(&im, seg.addr, &off) && i >= im.phnum)
				abort();
		image_close(&im);
	}
	if (elf_take_links(&names, a, &links) && links.nimport > b.n)
		abort();
	elf_take_choices(&pairs, a, &choices);
	if (choices.n > b.n)
		abort();
}

/* Types lead to others of the answer, and places can be computed. */
static void take_debug(struct arena *a, struct bytes b)
{
	struct debug_types types = {.arena = a};
	struct debug_func f;
	struct debug_frame frame[8];
	const struct type *t = NULL;
	u32 n;
	struct bytes each = b;
	if (debug_take_frames(&each, a, frame, countof(frame), &n) && n > countof(frame))
		abort();
	each = b;
	if (debug_take_func(&each, &types, &f))
		for (u32 i = 0; i < f.nvar; i++)
			if (!f.var[i].type || (!f.var[i].why && !f.var[i].loc.npiece))
				abort();
	each = b;
	if (debug_take_type(&each, &types, &t) && t && type_is_record(t))
		if (!t->id || t->id > types.record.n)
			abort();
	vec_add(&types.record, (struct debug_record){.size = 64, .align = 8});
	each = b;
	if (debug_take_members(&each, &types, types.record.n - 1))
		for (u32 i = 0; i < types.record.v[types.record.n - 1].nfield; i++)
			if (!types.record.v[types.record.n - 1].field[i].type)
				abort();
	vec_free(&types.record);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct bytes b = bytes_of(data, n);
	switch (bytes_u8(&b) % 7) {
	case 0: take_symbols(&a, bytes_of(data + 1, n ? n - 1 : 0)); break;
	case 1: take_notes(&a, bytes_of(data + 1, n ? n - 1 : 0)); break;
	case 2: take_codes(bytes_of(data + 1, n ? n - 1 : 0)); break;
	case 3: take_tables(bytes_of(data + 1, n ? n - 1 : 0)); break;
	case 4: take_debug(&a, bytes_of(data + 1, n ? n - 1 : 0)); break;
	case 5: take_headers(&a, bytes_of(data + 1, n ? n - 1 : 0)); break;
	default: take_rows(bytes_of(data + 1, n ? n - 1 : 0)); break;
	}
	arena_free(&a);
	return 0;
}
