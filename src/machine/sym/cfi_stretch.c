/*
 * cfi_stretch.c - x86_64 code that nothing describes: the C library of musl, assembly, what was
 * compiled without tables. Where its functions begin, and which of them are read (cfi_code.c).
 *
 * They begin where symbols and calls say so, and where a stretch without description does. A stretch
 * of which many functions set up a frame pointer is left to those who follow it: so is code that other
 * programs made (V8's built-in functions in Node.js), which is no function as compilers make them. The
 * file's entry point and a little behind it are left, too: nobody called it.
 */
#include "arch/arch.h"
#include "base/alloc.h"
#include "sym/cfi_code.h"
#include "types/image.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 1 << 20, /* longer stretches are read in pieces that begin at symbols */
	MAX_PIECE = 16 << 20,
	LEAST_GAP = 16, /* less is padding */
	KEEPS = 4,      /* one in so many functions with a frame pointer */
	ENOUGH = 64,    /* known functions to tell from, without looking for others */
	MAX_PADDING = 512,
};

struct start {
	u64 at;
	/* FIRST: only because a stretch begins there */
	enum { FUNCTION, PART, FIRST } kind;
};
struct stretch {
	const u8 *p;
	u64 from, to;
};
struct search {
	struct code_walk *w;
	const struct image *im;
	u64 entry;
	VEC(struct stretch) stretch; /* by address */
	VEC(struct start) symbol;    /* in any of them */
	VEC(struct start) start;     /* in the stretch at hand */
	VEC(u64) jumped;             /* in it, to what is no known start */
	u64 from, to;                /* what is wanted */
};

/* ---- symbols ---- */

/* What is seldom run of a function is put aside by compilers under this name. */
static bool is_part_name(struct bytes names, u32 at)
{
	static const char cold[] = ".cold";
	bytes_seek(&names, at);
	const char *z = bytes_z(&names);
	return z && str_find(str_z(z), STR(cold)) >= 0;
}

static bool is_in_stretch(const struct search *x, u64 at)
{
	u32 lo = 0, hi = x->stretch.n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (x->stretch.v[mid].to <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < x->stretch.n && x->stretch.v[lo].from <= at;
}

static void read_symbols(struct search *x, const struct section *tab)
{
	struct section strs;
	struct bytes b = image_bytes(x->im, tab);
	if (!image_section(x->im, tab->link, &strs))
		return;
	struct bytes names = image_bytes(x->im, &strs);
	while (b.at < b.n) {
		u32 name = bytes_u32(&b);
		u8 type = ELF64_ST_TYPE(bytes_u8(&b));
		bytes_u8(&b);
		u32 section = bytes_u16(&b);
		u64 at = bytes_u64(&b);
		bytes_u64(&b);
		bool is = type == STT_FUNC || type == STT_GNU_IFUNC;
		if (!b.bad && is && section != SHN_UNDEF && is_in_stretch(x, at))
			vec_add(&x->symbol,
				(struct start){at, is_part_name(names, name) ? PART : FUNCTION});
	}
}

/* By address, what is more certain first; each address once. */
static int by_address(const void *pa, const void *pb)
{
	const struct start *a = pa, *b = pb;
	return a->at != b->at ? (a->at < b->at ? -1 : 1) : (int)a->kind - (int)b->kind;
}

static u32 sort_starts(struct start *v, u32 n)
{
	u32 k = 0;
	if (n)
		qsort(v, n, sizeof(*v), by_address);
	for (u32 i = 0; i < n; i++)
		if (!k || v[k - 1].at != v[i].at)
			v[k++] = v[i];
	return k;
}

static void find_symbols(struct search *x)
{
	struct section s;
	for (u32 i = 0; image_section(x->im, i, &s); i++)
		if (s.type == SHT_SYMTAB || s.type == SHT_DYNSYM)
			read_symbols(x, &s);
	x->symbol.n = sort_starts(x->symbol.v, x->symbol.n);
}

/* The first of them at or behind an address. */
static u32 first_start(const struct start *v, u32 n, u64 at)
{
	u32 lo = 0, hi = n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (v[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* ---- where functions begin ---- */

/* Where calls and distant jumps lead to within the piece. */
static void follow(struct search *x, const struct stretch *s)
{
	struct codes code = {s->p, (u32)(s->to - s->from), EM_X86_64};
	struct insn i;
	u32 next = 0;
	i64 to;
	for (u32 at = 0; code_next(&code, &next, &i); at = next) {
		enum code_way way = code_way(&code, at, next, &to);
		if (way == CODE_ON || to < 0 || to >= code.n)
			continue;
		if (way == CODE_CALLS) {
			vec_add(&x->start, (struct start){s->from + (u64)to, FUNCTION});
		} else {
			vec_add(&x->jumped, s->from + at);
			vec_add(&x->jumped, s->from + (u64)to);
		}
	}
}

static int by_number(const void *pa, const void *pb)
{
	u64 a = *(const u64 *)pa, b = *(const u64 *)pb;
	return a < b ? -1 : a > b;
}

/* Of jumped, which has pairs of who jumps and where to: where another function jumps to. */
static void keep_jumped(struct search *x)
{
	u32 n = 0;
	for (u32 i = 0; i + 1 < x->jumped.n; i += 2) {
		u64 by = x->jumped.v[i], to = x->jumped.v[i + 1];
		u32 mine = first_start(x->start.v, x->start.n, by + 1),
		    other = first_start(x->start.v, x->start.n, to + 1);
		if (mine != other)
			x->jumped.v[n++] = to;
	}
	x->jumped.n = n;
	if (n)
		qsort(x->jumped.v, n, sizeof(*x->jumped.v), by_number);
}

static bool is_jumped_to(const struct search *x, u64 at)
{
	return x->jumped.n && bsearch(&at, x->jumped.v, x->jumped.n, sizeof(at), by_number) != NULL;
}

static void known_starts(struct search *x, const struct stretch *s)
{
	x->start.n = x->jumped.n = 0;
	vec_add(&x->start, (struct start){s->from, FIRST});
	for (u32 i = first_start(x->symbol.v, x->symbol.n, s->from);
	     i < x->symbol.n && x->symbol.v[i].at < s->to; i++)
		vec_add(&x->start, x->symbol.v[i]);
	if (x->entry > s->from && x->entry < s->to)
		vec_add(&x->start, (struct start){x->entry, FUNCTION});
}

static void find_starts(struct search *x, const struct stretch *s)
{
	follow(x, s);
	x->start.n = sort_starts(x->start.v, x->start.n);
	keep_jumped(x);
}

static bool sets_frame_pointer(const u8 *p, u64 n)
{
	static const u8 endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, a[] = {0x55, 0x48, 0x89, 0xe5},
			b[] = {0x55, 0x48, 0x8b, 0xec};
	if (n >= sizeof(endbr) && !memcmp(p, endbr, sizeof(endbr))) {
		p += sizeof(endbr);
		n -= sizeof(endbr);
	}
	return n >= sizeof(a) && (!memcmp(p, a, sizeof(a)) || !memcmp(p, b, sizeof(b)));
}

static bool keeps_frame_pointers(const struct search *x, const struct stretch *s)
{
	u32 n = 0;
	for (u32 i = 0; i < x->start.n; i++) {
		u64 at = x->start.v[i].at;
		n += sets_frame_pointer(s->p + (at - s->from), s->to - at);
	}
	return n >= (x->start.n + KEEPS - 1) / KEEPS;
}

/* ---- stretches ---- */

static void read_function(struct search *x, const struct stretch *s, struct start by, u64 to)
{
	u64 n = s->to - by.at;
	const u8 *p = s->p + (by.at - s->from);
	struct code_function f = {.p = p,
				  .from = by.at,
				  .to = to,
				  .part = by.kind == PART ||
					  (by.kind == FIRST && is_jumped_to(x, by.at)),
				  .jumped = x->jumped.v,
				  .njumped = x->jumped.n};
	bool is_entry = x->entry && by.at >= x->entry && by.at - x->entry < CFI_ENTRY_BYTES;
	if (n && code_is_signal_return(p + 1, n - 1))
		code_signal_return(x->w, &f);
	else if (!is_entry)
		code_function(x->w, &f);
}

static void read_piece(struct search *x, const struct stretch *s)
{
	if (s->to <= x->from || s->from >= x->to || s->to - s->from > MAX_PIECE)
		return;
	known_starts(x, s);
	if (x->start.n >= ENOUGH && keeps_frame_pointers(x, s))
		return;
	find_starts(x, s);
	if (keeps_frame_pointers(x, s))
		return;
	struct start by = x->start.v[0];
	for (u32 i = 1; i <= x->start.n && by.at < x->to; i++) {
		struct start next = {s->to, FUNCTION};
		if (i < x->start.n)
			next = x->start.v[i];
		if (next.at < s->to &&
		    code_is_signal_return(s->p + (next.at - s->from), s->to - next.at))
			next.at--;
		if (next.at > x->from && next.at > by.at)
			read_function(x, s, by, next.at);
		by = next;
	}
}

/* Bytes of padding at the beginning: between functions, or in front of one that is aligned. */
static u64 padding(const struct stretch *s)
{
	struct codes code = {s->p, (u32)MIN(s->to - s->from, (u64)MAX_PADDING), EM_X86_64};
	struct insn i;
	u32 at = 0, next = 0;
	while (at < code.n && !code.p[at])
		at++;
	for (next = at; code_next(&code, &next, &i) && code_is_padding(&code, at, next);)
		at = next;
	return at;
}

static void read_stretch(struct search *x, const struct stretch *all)
{
	struct stretch s = *all;
	while (s.from < all->to) {
		u32 i = first_start(x->symbol.v, x->symbol.n, s.from + PIECE);
		s.to = i < x->symbol.n ? MIN(all->to, x->symbol.v[i].at) : all->to;
		read_piece(x, &s);
		s.p += s.to - s.from;
		s.from = s.to;
	}
}

static void add_stretch(struct search *x, const u8 *p, u64 from, u64 to)
{
	struct stretch s = {p, from, to};
	if (to <= from || to - from < LEAST_GAP || to <= x->from || from >= x->to)
		return;
	u64 pad = padding(&s);
	s.p += pad;
	s.from += pad;
	if (s.from < to)
		vec_add(&x->stretch, s);
}

static int by_pc(const void *pa, const void *pb)
{
	const struct cfi_fde *a = pa, *b = pb;
	if (a->pc != b->pc)
		return a->pc < b->pc ? -1 : 1;
	return a->first < b->first ? -1 : 1;
}

void cfi_sort(struct cfi *c)
{
	u32 i = 1;
	while (i < c->fde.n && by_pc(&c->fde.v[i - 1], &c->fde.v[i]) < 0)
		i++;
	if (i < c->fde.n) /* mostly they are in order */
		qsort(c->fde.v, c->fde.n, sizeof(*c->fde.v), by_pc);
}

static void find_stretches(struct search *x, const struct section *s, const struct cfi_fde *fde,
			   u32 n)
{
	struct bytes b = image_bytes(x->im, s);
	u64 at = s->addr, end = s->addr + b.n;
	for (u32 i = 0; i < n && at < end; i++) {
		if (fde[i].end <= at)
			continue;
		if (fde[i].pc > at)
			add_stretch(x, b.p + (at - s->addr), at, MIN(fde[i].pc, end));
		at = fde[i].end;
	}
	if (at < end)
		add_stretch(x, b.p + (at - s->addr), at, end);
}

static int by_from(const void *pa, const void *pb)
{
	const struct stretch *a = pa, *b = pb;
	return a->from < b->from ? -1 : a->from > b->from;
}

bool cfi_code_can(const struct image *im)
{
	struct section s;
	return im->is64 && im->machine == EM_X86_64 && image_section_named(im, ".text", &s) &&
	       (image_section_named(im, ".symtab", &s) || image_section_named(im, ".dynsym", &s));
}

void cfi_code(struct cfi *c, const struct image *im, u64 from, u64 to)
{
	struct section s;
	if (!cfi_code_can(im) || cfi_go_has(im))
		return;
	struct search x = {.im = im, .entry = image_entry(im), .from = from, .to = to};
	cfi_sort(c);
	x.w = code_walk_new(c);
	for (u32 i = 0; image_section(im, i, &s); i++)
		if (s.flags & SHF_EXECINSTR && s.type == SHT_PROGBITS &&
		    !str_starts(s.name, STR(".plt")))
			find_stretches(&x, &s, c->fde.v, c->fde.n);
	if (x.stretch.n)
		qsort(x.stretch.v, x.stretch.n, sizeof(*x.stretch.v), by_from);
	if (x.stretch.n)
		find_symbols(&x);
	for (u32 i = 0; i < x.stretch.n; i++)
		read_stretch(&x, &x.stretch.v[i]);
	vec_free(&x.stretch);
	vec_free(&x.symbol);
	vec_free(&x.start);
	vec_free(&x.jumped);
	code_walk_free(x.w);
}
