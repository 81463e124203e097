/*
 * gopcln.c - Go's table of functions; see gopcln.h.
 *
 *	u32 magic, u8 0, 0, size of the shortest instruction, size of a pointer; then pointers:
 *	1.2           n; here the list of functions begins, and offsets count from the table's start
 *	1.16          n, number of files, then offsets in the table: names, units, files, pc tables,
 *	              list of functions
 *	1.18, 1.20    n, number of files, where the code begins (since 1.26: 0), the same offsets
 *
 *	The list: {address, offset of the function} for each, then the end of the last one. Offsets
 *	count from the list's start. From 1.18 both are 32 bits and addresses count from the code's
 *	start; before, both are pointers. A function begins with its address, in the same form, and
 *	the offset of its name in 32 bits; more numbers of 32 bits follow, the third of which says
 *	where in the pc tables (1.2: in the table) pairs are of what the stack pointer moved by, and
 *	of how many bytes of code that is true of; from 1.16 on there is a byte of flags.
 */
#include "sym/gopcln.h"
#include <elf.h>

enum {
	MAGIC_1_2 = 0xfb,
	MAGIC_1_16 = 0xfa,
	MAGIC_1_18 = 0xf0,
	MAGIC_1_20 = 0xf1,
	HEADER = 8,
	INFO_STACK = 12, /* behind the function's address */
	INFO_FLAGS = 33, /* 1.20: 4 more */
	MAX_FUNCS = 1 << 22,
};

static u64 word_at(const struct gopcln *g, size_t at, u32 size)
{
	struct bytes b = g->tab;
	bytes_seek(&b, at);
	return bytes_uint(&b, size);
}

static bool has(const struct gopcln *g, u64 at, u64 n)
{
	return at <= g->tab.n && n <= g->tab.n - at;
}

static u64 func_addr(const struct gopcln *g, u32 i)
{
	return g->text + word_at(g, g->funcs + (size_t)i * 2 * g->entry, g->entry);
}

/* Where the function's row says more of it; 0: nowhere. */
static size_t func_info(const struct gopcln *g, u32 i)
{
	u64 off = word_at(g, g->funcs + ((size_t)i * 2 + 1) * g->entry, g->entry);
	u64 base = g->names ? g->funcs : 0; /* 1.2 has one table of all */
	bool ok = has(g, base, off) && has(g, base + off, g->entry + 4u);
	return ok ? (size_t)(base + off) : 0;
}

/* By the header: where things are, not yet whether they make sense. */
static bool read_header(struct gopcln *g, u64 text)
{
	struct bytes b = g->tab;
	u32 magic = bytes_u32(&b);
	u16 zero = bytes_u16(&b);
	u8 quantum = g->quantum = bytes_u8(&b);
	g->word = bytes_u8(&b);
	if (b.bad || magic >> 8 != 0xffffff || zero || (g->word != 4 && g->word != 8) ||
	    (quantum != 1 && quantum != 2 && quantum != 4))
		return false;
	u64 n = bytes_uint(&b, g->word);
	g->entry = g->word;
	switch (magic & 0xff) {
	case MAGIC_1_2: g->funcs = HEADER + g->word; break;
	case MAGIC_1_18:
	case MAGIC_1_20:
		g->entry = 4;
		bytes_uint(&b, g->word);
		g->text = bytes_uint(&b, g->word);
		if (!g->text)
			g->text = text;
		break;
	case MAGIC_1_16: bytes_uint(&b, g->word); break;
	default: return false;
	}
	if (!g->funcs) {
		g->names = bytes_uint(&b, g->word);
		bytes_uint(&b, g->word);
		bytes_uint(&b, g->word);
		g->pcs = bytes_uint(&b, g->word);
		g->flags = INFO_FLAGS + ((magic & 0xff) == MAGIC_1_20 ? 4 : 0);
		g->funcs = bytes_uint(&b, g->word);
		if (!g->names || g->names > g->tab.n)
			return false;
	}
	if (b.bad || !n || n > MAX_FUNCS || !has(g, g->funcs, (n * 2 + 1) * g->entry))
		return false;
	g->n = (u32)n;
	return true;
}

bool gopcln_open(struct bytes tab, u64 text, struct gopcln *ret)
{
	struct gopcln g = {.tab = bytes_of(tab.p, tab.n)};
	if (!read_header(&g, text))
		return false;
	/* the first function's address is there twice: whatever else begins so is no table */
	size_t info = func_info(&g, 0);
	g.from = func_addr(&g, 0);
	g.end = func_addr(&g, g.n);
	if (!info || g.text + word_at(&g, info, g.entry) != g.from || !g.from || g.end <= g.from)
		return false;
	*ret = g;
	return true;
}

bool gopcln_at(const struct gopcln *g, u32 i, struct go_func *ret)
{
	size_t info = i < g->n ? func_info(g, i) : 0;
	if (!info)
		return false;
	struct bytes b = g->tab;
	u64 name = g->names + word_at(g, info + g->entry, 4);
	bytes_seek(&b, name);
	const char *z = bytes_z(&b);
	u64 addr = func_addr(g, i), end = func_addr(g, i + 1);
	if (!z || !*z || addr < g->from || end > g->end || end <= addr)
		return false;
	*ret = (struct go_func){.name = str_z(z), .addr = addr, .size = end - addr};
	return true;
}

u32 gopcln_search(const struct gopcln *g, u64 addr)
{
	u32 lo = 0, hi = g->n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (func_addr(g, mid) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : 0;
}

bool gopcln_stack(const struct gopcln *g, u32 i, struct go_stack *ret)
{
	size_t info = i < g->n ? func_info(g, i) : 0;
	u64 at = info ? g->pcs + word_at(g, info + g->entry + INFO_STACK, 4) : 0;
	if (at <= g->pcs || at >= g->tab.n)
		return false;
	*ret = (struct go_stack){.b = g->tab, .quantum = g->quantum, .bytes = -1};
	ret->end = func_addr(g, i);
	ret->flags = g->flags ? (u8)word_at(g, info + g->entry + g->flags, 1) : 0;
	bytes_seek(&ret->b, at);
	return true;
}

/* 7 bits a byte, the lowest first. */
static u32 varint(struct bytes *b)
{
	u32 v = 0;
	for (u32 shift = 0; shift < 32; shift += 7) {
		u8 byte = bytes_u8(b);
		v |= (u32)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return v;
}

bool gopcln_stack_next(struct go_stack *s)
{
	u32 moved = varint(&s->b), pcs = varint(&s->b);
	if (s->b.bad || (!moved && s->from) || !pcs) /* 0 ends it, but at first */
		return false;
	s->bytes += (i32)(moved >> 1) ^ -(i32)(moved & 1);
	s->from = s->end;
	s->end += (u64)pcs * s->quantum;
	return s->end > s->from;
}

/* ---- where it is ---- */

/* A pointer in the file as it will be when the dynamic linker has been there. */
static u64 relocated(const struct image *im, u64 vaddr)
{
	struct section s;
	struct bytes b = bytes_of(im->p, im->n);
	u64 off;
	if (image_offset(im, vaddr, &off)) {
		bytes_seek(&b, off);
		u64 now = image_word(im, &b);
		if (now && !b.bad)
			return now;
	}
	for (u32 i = 0; image_section(im, i, &s); i++) {
		b = image_bytes(im, &s);
		while (s.type == SHT_RELA && !b.bad && b.at < b.n) {
			u64 at = image_word(im, &b);
			image_word(im, &b);
			u64 addend = image_word(im, &b);
			if (at == vaddr && !b.bad)
				return addend;
		}
	}
	return 0;
}

/*
 * Where the code begins: a word of .go.module (1.26 and newer, whose tables do not say it), which
 * begins with the table's address.
 */
static u64 text_start(const struct image *im, u64 table)
{
	enum { TEXT = 22 };
	struct section s;
	u32 word = im->is64 ? 8 : 4;
	if (!image_section_named(im, ".go.module", &s) || relocated(im, s.addr) != table)
		return 0;
	return relocated(im, s.addr + (u64)TEXT * word);
}

static bool try_at(const struct image *im, const struct section *s, size_t at, struct gopcln *ret)
{
	struct bytes b = image_bytes(im, s);
	const u8 *p = b.p + at;
	struct gopcln g;
	if (b.n - at < HEADER || p[7] != (im->is64 ? 8 : 4))
		return false;
	b = bytes_of(p, b.n - at);
	u64 text = 0, table = s->addr + at;
	if (!gopcln_open(b, 0, &g)) {
		text = text_start(im, table);
		if (!text)
			text = relocated(im, table + HEADER + 2u * p[7]);
		if (!text || !gopcln_open(b, text, &g))
			return false;
	}
	*ret = g;
	return true;
}

/* In programs that another linker put together the section has lost its name. */
static bool search(const struct image *im, const char *name, struct gopcln *ret)
{
	enum { STEP = 8 };
	struct section s;
	if (!image_section_named(im, name, &s))
		return false;
	struct bytes b = image_bytes(im, &s);
	for (size_t at = 0; b.n >= HEADER && at <= b.n - HEADER; at += STEP)
		if (b.p[at] >= MAGIC_1_18 && b.p[at + 1] == 0xff && b.p[at + 2] == 0xff &&
		    b.p[at + 3] == 0xff && !b.p[at + 4] && !b.p[at + 5] && try_at(im, &s, at, ret))
			return true;
	return false;
}

bool gopcln_find(const struct image *im, struct gopcln *ret)
{
	static const char *const named[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	static const char *const within[] = {".data.rel.ro", ".rodata"};
	struct section s;
	for (u32 i = 0; i < countof(named); i++)
		if (image_section_named(im, named[i], &s) && image_bytes(im, &s).n &&
		    try_at(im, &s, 0, ret))
			return true;
	bool go = image_section_named(im, ".go.buildinfo", &s) ||
		  image_section_named(im, ".note.go.buildid", &s);
	for (u32 i = 0; go && i < countof(within); i++)
		if (search(im, within[i], ret))
			return true;
	return false;
}
