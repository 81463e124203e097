/* file.c - symbols and memory of an interpreter's file, for all languages. */
#include "interp/common.h"
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

bool file_is_known(const struct image *im)
{
	return im->machine == EM_X86_64 || im->machine == EM_AARCH64;
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

/* Where a jump leads whose bytes begin at b[at], if it is one; of x86_64, one with a displacement of 32 bits. */
static bool jump_at(const struct image *im, struct bytes b, size_t at, u64 addr, u64 *ret)
{
	const u8 *p = b.p + at;
	i32 by;
	u32 word;
	if (im->machine == EM_AARCH64) {
		memcpy(&word, p, sizeof(word));
		return aarch64_jump(word, addr + at, ret);
	}
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
	u32 nseen = 0, best = 0, all = 0, step = im->machine == EM_AARCH64 ? 4 : 1;
	if (!file_is_known(im) || !find_parts(im, &parts))
		return false;
	for (size_t at = 0; at + LONGEST <= b.n; at += step) {
		u64 to;
		u32 part, i = 0;
		/* to the beginning of a part: a call in the place of a return, perhaps */
		if (!jump_at(im, b, at, fn->addr, &to) || to - fn->addr < fn->size ||
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

bool file_without_tables(const struct image *im, struct elf_symbol *ret)
{
	enum {
		SIZE_AT = 12,
		LEAST = 1 << 16
	}; /* {length, which CIE, where code begins, its size} */
	struct parts parts;
	u32 most = 0;
	if (!find_parts(im, &parts) || parts.n < 2)
		return false;
	for (u32 i = 1; i + 1 < parts.n; i++) {
		u64 n = part_start(&parts, i + 1) - part_start(&parts, i);
		if (n > part_start(&parts, most + 1) - part_start(&parts, most) &&
		    image_is_code(im, part_start(&parts, i)))
			most = i;
	}
	i32 at;
	u32 size = 0;
	u64 from = part_start(&parts, most), to = part_start(&parts, most + 1);
	memcpy(&at, parts.table.p + HEAD + (size_t)ENTRY * most + sizeof(at), sizeof(at));
	struct bytes b = file_bytes(im, parts.addr + (u64)(i64)at, SIZE_AT + sizeof(size));
	bytes_seek(&b, SIZE_AT);
	size = bytes_u32(&b);
	if (b.bad || to <= from + size || to - from - size < LEAST)
		return false;
	*ret = (struct elf_symbol){from + size, to - from - size};
	return true;
}

/* ---- thread-local variables ---- */

/* A displacement of 32 bits at b[at], counted from what follows it. */
static u64 relative(const u8 *b, u32 at, u64 addr)
{
	i32 by;
	memcpy(&by, b + at, sizeof(by));
	return addr + at + sizeof(by) + (u64)(i64)by;
}

enum { MAX_MEMBER = 4096 };

/* Behind the call that gives an address in thread-local memory: mov N(%rax),%rax. */
static bool find_plus(struct bytes b, u32 at, u32 *ret)
{
	static const u8 near[] = {0x48, 0x8b, 0x40}, far[] = {0x48, 0x8b, 0x80},
			here[] = {0x48, 0x8b, 0x00};
	enum { N = sizeof(near), LONGEST = N + 4 };
	for (; at + LONGEST <= b.n; at++) {
		const u8 *p = b.p + at;
		if (memcmp(p, far, N) && memcmp(p, near, N) && memcmp(p, here, N))
			continue;
		*ret = memcmp(p, here, N) ? p[N] : 0;
		if (!memcmp(p, far, N))
			memcpy(ret, p + N, sizeof(*ret));
		return *ret < MAX_MEMBER;
	}
	return false;
}

bool file_thread_variable(const struct image *im, u64 base, const char *fn, struct unwind_lang *l)
{
	static const struct {
		u8 code[6];
		u32 n;
		enum unwind_root root;
	} form[] = {
		{{0x64, 0x48, 0x8b, 0x04, 0x25}, 5, UNWIND_ROOT_TLS}, /* mov %fs:N,%rax */
		{{0x48, 0x8b, 0x05}, 3, UNWIND_ROOT_TLS_AT},          /* mov N(%rip),%rax */
		{{0x48, 0x8d, 0x3d}, 3, UNWIND_ROOT_DYNAMIC},         /* lea N(%rip),%rdi */
		{{0x8b, 0x3d}, 2, UNWIND_ROOT_BARE_KEY},              /* mov N(%rip),%edi */
	};
	enum { LOOK_AT = 48, WORD = 4 };
	struct elf_symbol f;
	if (!file_is_known(im) || !file_symbol(im, fn, &f))
		return false;
	if (im->machine == EM_AARCH64)
		return aarch64_thread_variable(im, base, &f, l);
	struct bytes b = file_bytes(im, f.addr, MIN(f.size, (u64)LOOK_AT));
	for (u32 at = 0; at < b.n; at++) {
		for (u32 i = 0; i < countof(form); i++) {
			if (b.n - at < form[i].n + WORD ||
			    memcmp(b.p + at, form[i].code, form[i].n))
				continue;
			l->root = form[i].root;
			l->at = relative(b.p, at + form[i].n, f.addr) - base;
			if (l->root == UNWIND_ROOT_TLS) {
				i32 off;
				memcpy(&off, b.p + at + form[i].n, sizeof(off));
				l->at = (u64)(i64)off;
			}
			return l->root != UNWIND_ROOT_DYNAMIC || find_plus(b, at, &l->plus);
		}
	}
	return false;
}

/* ---- the main loop ---- */

/* A jump to the address that is where a register points, or a few words behind. Of one that begins with a
 * prefix what follows that looks the same. */
static bool jumps_by_register(const u8 *p)
{
	enum { JUMP = 0xff, TO = 4, BY_REGISTER = 4, JUST_ONE = 0x24, NO_REGISTER = 5, FAR = 64 };
	u32 mode = p[1] >> 6, reg = p[1] & 7;
	if (p[0] != JUMP || mode > 1 || (p[1] >> 3 & 7) != TO)
		return false;
	if (reg == BY_REGISTER && p[2] != JUST_ONE)
		return false;
	u32 by = p[reg == BY_REGISTER ? 3 : 2];
	return mode ? by && by % 8 == 0 && by <= FAR : reg != NO_REGISTER;
}

static u32 jumps(const struct image *im, struct bytes b)
{
	enum { LONGEST = 4 };
	u32 n = 0;
	if (im->machine == EM_AARCH64)
		return aarch64_jumps_by_register(b);
	for (size_t i = 0; i + LONGEST <= b.n; i++)
		n += jumps_by_register(b.p + i);
	return n;
}

bool file_dispatcher(const struct image *im, struct elf_symbol *ret)
{
	enum { SMALLEST = 4096, LARGEST = 1 << 20, FEWEST = 32, CLEARLY = 4 };
	struct parts parts;
	u32 most = 0, second = 0;
	if (!file_is_known(im) || !find_parts(im, &parts))
		return false;
	for (u32 i = 0; i + 1 < parts.n; i++) {
		u64 from = part_start(&parts, i), size = part_start(&parts, i + 1) - from;
		if (size < SMALLEST || size > LARGEST)
			continue;
		u32 n = jumps(im, file_bytes(im, from, size));
		if (n > most) {
			second = most;
			most = n;
			*ret = (struct elf_symbol){from, size};
		} else {
			second = MAX(second, n);
		}
	}
	return most >= FEWEST && most >= CLEARLY * second;
}
