/* file.c - symbols and memory of an interpreter's file, for all languages. */
#include "unwind/common.h"
#include <elf.h>

static bool symbol_in(const struct image *im, const char *table, const char *name,
		      struct elf_symbol *ret)
{
	struct section s, texts;
	if (!image_section_named(im, table, &s) || !image_section(im, s.link, &texts))
		return false;
	struct bytes b = image_bytes(im, &s), t = image_bytes(im, &texts);
	size_t len = strlen(name);
	Elf64_Sym sym;
	for (size_t at = 0; at + sizeof(sym) <= b.n; at += sizeof(sym)) {
		memcpy(&sym, b.p + at, sizeof(sym));
		if (sym.st_name < t.n && t.n - sym.st_name > len && sym.st_shndx != SHN_UNDEF &&
		    !memcmp(t.p + sym.st_name, name, len + 1)) {
			*ret = (struct elf_symbol){sym.st_value, sym.st_size};
			return true;
		}
	}
	return false;
}

bool file_symbol(const struct image *im, const char *name, struct elf_symbol *ret)
{
	return im->is64 &&
	       (symbol_in(im, ".dynsym", name, ret) || symbol_in(im, ".symtab", name, ret));
}

struct bytes file_bytes(const struct image *im, u64 addr, u64 n)
{
	u64 off;
	if (!image_offset(im, addr, &off) || off >= im->n)
		return bytes_of("", 0);
	return bytes_of(im->p + off, (size_t)MIN(n, im->n - off));
}

/* ---- parts of a function ---- */

/* The sorted table of .eh_frame_hdr: {where code begins, ...}, from its own address on. */
struct parts {
	struct bytes table;
	u64 addr;
	u32 n;
};
enum {
	HEAD = 12,
	ENTRY = 8,
	WANTED_FORM = 0x3b03
}; /* of the table, and of the number of entries */

static bool find_parts(const struct image *im, struct parts *ret)
{
	struct segment g;
	for (u32 i = 0; image_segment(im, i, &g); i++) {
		if (g.type != PT_GNU_EH_FRAME)
			continue;
		struct bytes b = file_bytes(im, g.addr, g.filesz);
		bytes_u16(&b); /* version, form of a pointer */
		u16 form = bytes_u16(&b);
		bytes_u32(&b);
		*ret = (struct parts){bytes_of(b.p, b.n), g.addr, bytes_u32(&b)};
		if (b.bad || form != WANTED_FORM)
			return false;
		ret->n = (u32)MIN(ret->n, (b.n - HEAD) / ENTRY);
		return true;
	}
	return false;
}

static u64 part_start(const struct parts *p, u32 i)
{
	i32 at;
	memcpy(&at, p->table.p + HEAD + (size_t)ENTRY * i, sizeof(at));
	return p->addr + (u64)(i64)at;
}

/* The part that addr is in: its number; false: it is before all. */
static bool part_at(const struct parts *p, u64 addr, u32 *ret)
{
	u32 lo = 0, hi = p->n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (part_start(p, mid) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret = lo - 1;
	return lo > 0 && lo < p->n; /* the last has no known end */
}

/* Where a jump with a displacement of 32 bits leads whose bytes begin at b[at], if it is one. */
static bool jump_at(struct bytes b, size_t at, u64 addr, u64 *ret)
{
	const u8 *p = b.p + at;
	i32 by;
	u32 n = p[0] == 0xe9 ? 1 : p[0] == 0x0f && (p[1] & 0xf0) == 0x80 ? 2 : 0;
	if (!n)
		return false;
	memcpy(&by, p + n, sizeof(by));
	*ret = addr + at + n + sizeof(by) + (u64)(i64)by;
	return true;
}

bool file_other_part(const struct image *im, const struct elf_symbol *fn, struct elf_symbol *ret)
{
	enum { LONGEST = 6, CANDIDATES = 256, FEWEST = 4, CLEARLY = 4, MAX_FN = 1 << 20 };
	struct {
		u32 part, n;
	} seen[CANDIDATES];
	struct parts parts;
	struct bytes b = file_bytes(im, fn->addr, MIN(fn->size, (u64)MAX_FN));
	u32 nseen = 0, best = 0, all = 0;
	if (im->machine != EM_X86_64 || !find_parts(im, &parts))
		return false;
	for (size_t at = 0; at + LONGEST <= b.n; at++) {
		u64 to;
		u32 part, i = 0;
		/* to the beginning of a part: a call in the place of a return, perhaps */
		if (!jump_at(b, at, fn->addr, &to) || to - fn->addr < fn->size ||
		    !part_at(&parts, to, &part) || part_start(&parts, part) == to)
			continue;
		while (i < nseen && seen[i].part != part)
			i++;
		if (i == CANDIDATES)
			continue;
		if (i == nseen) {
			seen[nseen].part = part;
			seen[nseen++].n = 0;
		}
		all++;
		if (++seen[i].n > seen[best].n)
			best = i;
	}
	/* Bytes that only look like jumps lead everywhere. */
	if (!nseen || seen[best].n < FEWEST || seen[best].n < CLEARLY * (all - seen[best].n))
		return false;
	u64 from = part_start(&parts, seen[best].part);
	*ret = (struct elf_symbol){from, part_start(&parts, seen[best].part + 1) - from};
	return true;
}
