/*
 * perl.c - Perl 5. How its functions are found is in core/perl.h; here is which files are such an interpreter,
 * and what functions are called.
 *
 * An interpreter with threads has its state in a struct, which a thread finds by a key of pthread_getspecific();
 * one without has variables of the same names. Only where the struct has its members differs between versions.
 * What an exported function does tells that of this file, and whether stackinfos are those of core/perl.h.
 */
#include "core/perl.h"
#include "interp/common.h"
#include <elf.h>
#include <string.h>

enum {
	OLDEST = 30,
	NEWEST = 42,
	AUX_WITHIN = 36, /* see .aux_behind */
	/* of the struct */
	STATE_OP = 8,
	STATEMENT_BEFORE = 16, /* the COP is so far before the stackinfo */
};

/* "v5.36.0", with what is around it: 36; 0: it is none. */
static u32 version_at(const u8 *p, size_t n)
{
	static const char begin[] = "\0v5.";
	enum { BEGIN = sizeof(begin) - 1 };
	u32 minor = 0;
	size_t at = BEGIN;
	if (n < BEGIN || memcmp(p, begin, BEGIN))
		return 0;
	for (; at < n && p[at] >= '0' && p[at] <= '9' && minor < 1000; at++)
		minor = 10 * minor + (u32)(p[at] - '0');
	return at < n && p[at] == '.' ? minor : 0;
}

/* 0: not known. */
static u32 find_version(const struct image *im)
{
	struct section s;
	if (!image_section_named(im, ".rodata", &s))
		return 0;
	struct bytes b = image_bytes(im, &s);
	for (size_t i = 0; i < b.n; i++) {
		const u8 *p = memchr(b.p + i, 0, b.n - i);
		if (!p)
			return 0;
		i = (size_t)(p - b.p);
		u32 minor = version_at(p, b.n - i);
		if (minor)
			return minor;
	}
	return 0;
}

/* In code: a register is loaded from a member of what another one points to, and one of 32 bits from
 * PERL_SI_NEWEST behind that. by: where the first register points. */
static bool loads_newest(struct bytes b, size_t at, u32 reg)
{
	enum { LOAD = 0x8b, LOAD_SIGNED = 0x63, BY_BYTE = 1, LOOK_AT = 16 };
	for (size_t end = MIN(at + LOOK_AT, b.n); at + 3 <= end; at++)
		if ((b.p[at] == LOAD || b.p[at] == LOAD_SIGNED) && b.p[at + 1] >> 6 == BY_BYTE &&
		    (b.p[at + 1] & 7) == reg && b.p[at + 2] == PERL_SI_NEWEST)
			return true;
	return false;
}

/* Perl_block_gimme() begins with it. On x86_64: mov MEMBER(%rdi),%REG, or without threads mov PLACE(%rip),%REG or what
 * is found by a table of addresses. *member: -1 for the latter. */
static bool find_stackinfo(const struct image *im, i32 *member)
{
	enum {
		WIDE = 0x48,
		LOAD = 0x8b,
		FIRST = 7,
		BY_RIP = 5,
		BY_STATE = 7,
		LOOK_AT = 32,
		LONG = 7
	};
	struct elf_symbol f;
	if (!file_symbol(im, "Perl_block_gimme", &f))
		return false;
	struct bytes b = file_bytes(im, f.addr, MIN(f.size, 2ul * LOOK_AT));
	if (im->machine == EM_AARCH64)
		return aarch64_first_member(b, PERL_SI_NEWEST, member) &&
		       (*member < 0 || *member >= STATEMENT_BEFORE);
	for (size_t at = 0; at + LONG <= MIN(b.n, (size_t)LOOK_AT); at++) {
		u32 mode = b.p[at + 2] >> 6, from = b.p[at + 2] & 7, reg = b.p[at + 2] >> 3 & 7;
		if (b.p[at] != WIDE || b.p[at + 1] != LOAD || !loads_newest(b, at + FIRST, reg))
			continue;
		memcpy(member, b.p + at + 3, sizeof(*member));
		if (mode == 2 && from == BY_STATE)
			return *member >= STATEMENT_BEFORE;
		*member = -1;
		if (mode == 0)
			return true;
	}
	return false;
}

static bool find_threaded(const struct image *im, u64 base, u64 key, struct unwind_lang *l)
{
	i32 member;
	if (!find_stackinfo(im, &member) || member < 0)
		return false;
	l->root = UNWIND_ROOT_BARE_KEY;
	l->at = key - base;
	l->newest = (u32)member;
	l->statement = l->newest - STATEMENT_BEFORE;
	l->op = STATE_OP;
	return true;
}

static bool find_plain(const struct image *im, u64 base, struct unwind_lang *l)
{
	struct elf_symbol info, statement, op;
	i32 member;
	if (!file_symbol(im, "PL_curstackinfo", &info) ||
	    !file_symbol(im, "PL_curcop", &statement) || !file_symbol(im, "PL_op", &op) ||
	    !find_stackinfo(im, &member) || member >= 0)
		return false;
	u64 lowest = MIN(info.addr, MIN(statement.addr, op.addr));
	l->root = UNWIND_ROOT_GLOBAL;
	l->at = lowest - base;
	l->newest = (u32)(info.addr - lowest);
	l->statement = (u32)(statement.addr - lowest);
	l->op = (u32)(op.addr - lowest);
	l->file_in_gv = 1;
	return true;
}

static bool perl_find(const struct image *im, struct str path, u64 base, struct interp_file *ret)
{
	static const char *const loop[] = {"Perl_runops_standard", "Perl_runops_debug"};
	struct unwind_lang *l = &ret->lang;
	struct elf_symbol s;
	(void)path;
	*ret = (struct interp_file){0};
	for (u32 i = 0; i < countof(loop); i++)
		if (file_symbol(im, loop[i], &s))
			l->loop[i] = (struct unwind_range){(u32)(s.addr - base), (u32)s.size};
	if (!l->loop[0].n)
		return false;
	u32 minor = find_version(im);
	snprintf(ret->label, sizeof(ret->label), minor ? "perl5.%u" : "perl", minor);
	if (minor < OLDEST || minor > NEWEST || !file_is_known(im))
		return true;
	if (file_symbol(im, "perl_run", &s))
		l->program = (struct unwind_range){(u32)(s.addr - base), (u32)s.size};
	l->form = UNWIND_FORM_PERL;
	l->aux_behind = minor < AUX_WITHIN;
	l->known = file_symbol(im, "PL_thr_key", &s) ? find_threaded(im, base, s.addr, l)
						     : find_plain(im, base, l);
	return true;
}

/* ---- functions ---- */

static struct str hek_text(const u8 *p)
{
	u32 n;
	memcpy(&n, p + PERL_HEK_LENGTH, sizeof(n));
	return str_n((const char *)p + PERL_HEK_TEXT, MIN(n, (u32)PERL_NAME_BYTES - PERL_HEK_TEXT));
}

static bool is_cut(const u8 *p)
{
	u32 n;
	memcpy(&n, p + PERL_HEK_LENGTH, sizeof(n));
	return n > PERL_NAME_BYTES - PERL_HEK_TEXT;
}

/* "package::name" */
static struct str sub_name(const struct unwind_code *raw, struct arena *a)
{
	AUTO_SB out = {0};
	const u8 *name = raw->name, *package = raw->name + PERL_NAME_BYTES;
	if (!hek_text(name).n)
		return STR("");
	if (hek_text(package).n) {
		sb_add(&out, hek_text(package));
		sb_z(&out, is_cut(package) ? "..::" : "::");
	}
	sb_add(&out, hek_text(name));
	sb_z(&out, is_cut(name) ? ".." : "");
	return arena_str(a, sb_str(&out));
}

static void perl_code(const struct interp_file *f, const struct unwind_code *raw, struct arena *a,
		      struct interp_code *ret)
{
	static const char *const name[] = {
		[PERL_FRAME_EVAL] = "(eval)",
		[PERL_FRAME_FILE] = "(require)",
		[PERL_FRAME_FORMAT] = "(format)",
		[PERL_FRAME_MAIN] = "(main)",
	};
	const char *file = (const char *)raw->file;
	(void)f;
	*ret = (struct interp_code){
		.name = raw->addr && raw->addr < countof(name) ? str_z(name[raw->addr])
							       : sub_name(raw, a),
		.file = arena_str(a, str_n(file, (u32)strnlen(file, sizeof(raw->file)))),
	};
}

static u32 perl_line(const struct interp_file *f, const struct interp_code *c, u32 instr)
{
	(void)f;
	(void)c;
	return instr == UNWIND_NO_INSTR ? 0 : instr;
}

const struct interp interp_perl = {
	.name = "perl",
	.title = "Perl",
	.in_name = "perl",
	.find = perl_find,
	.code = perl_code,
	.line = perl_line,
};
