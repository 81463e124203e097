/*
 * php.c - PHP (the Zend engine).
 *
 * Builds for one thread have their state in a variable of the process (executor_globals), which the file
 * exports, as it does the main loop (execute_ex). It leads to the frame of the function that runs; each
 * frame has its function, its instruction, and its caller's frame. A bit says that the main loop was called
 * for the frame. Functions written in C have frames, too, and are shown: most have no symbol. They never are
 * what the loop was called for, whatever their bits say.
 *
 * A file has frames as well, for what is outside of functions. Frames without a function stand between
 * others when the engine calls a function by itself, or a generator runs in the place of another.
 *
 * An instruction has its line, which programs read. A closure is a copy of its function, at an address of
 * its own; all copies have the same instructions.
 *
 * The file does not say its version, but which modules fit: "API20220829,NTS" is in it, the number of the
 * interface and whether the build is for one thread.
 */
#include "interp/common.h"
#include <elf.h>
#include <string.h>

/* Offsets in bytes, as the headers of the version have them for machines of 64 bits. */
struct phpversion {
	u32 api; /* ZEND_MODULE_API_NO */
	u32 major, minor;
	/* of an op array: first instruction, how many there are, file */
	u32 opcodes, last, file;
};
static const struct phpversion phpversions[] = {
	{.api = 20190902, .major = 7, .minor = 4, .opcodes = 64, .last = 60, .file = 136},
	{.api = 20210902, .major = 8, .minor = 1, .opcodes = 72, .last = 68, .file = 144},
	{.api = 20220829, .major = 8, .minor = 2, .opcodes = 88, .last = 80, .file = 152},
	{.api = 20230831, .major = 8, .minor = 3, .opcodes = 80, .last = 76, .file = 144},
	{.api = 20240924, .major = 8, .minor = 4, .opcodes = 104, .last = 96, .file = 168},
};
enum {
	/* of executor_globals, a frame, a function, an instruction, a class, a string: the same in all */
	GLOBALS_FRAME = 488,
	FRAME_INSTR = 0,
	FRAME_FUNCTION = 24,
	FRAME_FLAGS = 40,
	FRAME_PREVIOUS = 48,
	FRAME_USED = 56,
	FUNCTION_NAME = 8,
	FUNCTION_CLASS = 16,
	FUNCTION_SIGN = 24, /* type, flags, name, class */
	INSTR_LINE = 24,
	INSTR_BYTES = 32,
	CLASS_NAME = 8,
	STRING_LENGTH = 16,
	STRING_TEXT = 24,
	FLAG_TOP = 1 << 17,
	TYPE_INTERNAL = 1,
};
enum php_own {
	OWN_FIRST, /* function: its first line */
};
/* What is copied to .lines, which programs do not need: a class, its name. */
enum {
	CLASS_AT = 0,
	CLASS_BYTES = 16,
	CLASS_TEXT = CLASS_BYTES,
	CLASS_TEXT_BYTES = 512,
};

static void take_version(const struct phpversion *v, struct interp_file *ret)
{
	enum {
		CODE = offsetof(struct unwind_code, code),
		FILE_AT = offsetof(struct unwind_code, file),
		NAME = offsetof(struct unwind_code, name),
		LINES = offsetof(struct unwind_code, lines),
	};
	struct unwind_lang *l = &ret->lang;
	const struct unwind_part part[] = {
		{CODE + FUNCTION_NAME, NAME, UNWIND_NAME_BYTES, 0},
		{CODE + FUNCTION_CLASS, LINES + CLASS_AT, CLASS_BYTES, 0},
		{LINES + CLASS_AT + CLASS_NAME, LINES + CLASS_TEXT, CLASS_TEXT_BYTES, 0},
		{(u16)(CODE + v->file), FILE_AT, UNWIND_FILE_BYTES, 0},
	};
	_Static_assert(sizeof(part) <= sizeof(l->part), "room for all");
	memcpy(l->part, part, sizeof(part));
	l->root = UNWIND_ROOT_GLOBAL;
	l->code_mask = ~0ull;
	l->newest = GLOBALS_FRAME;
	l->inner = l->body = UNWIND_NOWHERE;
	l->frame_bytes = FRAME_USED;
	l->code = FRAME_FUNCTION;
	l->previous = FRAME_PREVIOUS;
	l->instr = FRAME_INSTR;
	l->within = UNWIND_WITHIN_LINE;
	l->first_instr = v->opcodes;
	l->count_bit = 8 * (v->last + 8 - v->opcodes);
	l->op_bytes = INSTR_BYTES;
	l->line = INSTR_LINE;
	l->flags = FRAME_FLAGS;
	l->flags_here = 1;
	l->last_bits = FLAG_TOP;
	l->over = 1; /* of no bits: never */
	l->native = TYPE_INTERNAL;
	l->sign_less = 8 * UNWIND_SIGN_WORDS - FUNCTION_SIGN;
	ret->own[OWN_FIRST] = v->file + 8;
}

/* ---- the file ---- */

/* What modules are compared with: the number of the interface, and whether the build is for one thread. */
static bool find_api(const struct image *im, u32 *api, bool *one_thread)
{
	static const char word[] = "API", one[] = ",NTS";
	enum {
		WORD = sizeof(word) - 1,
		DIGITS = 8,
		ONE = sizeof(one) - 1,
		ALL = WORD + DIGITS + ONE
	};
	struct section s;
	if (!image_section_named(im, ".rodata", &s))
		return false;
	struct bytes b = image_bytes(im, &s);
	for (size_t at = 0; at + ALL <= b.n; at++) {
		const u8 *p = b.p + at + WORD;
		u32 n = 0, v = 0;
		if (memcmp(b.p + at, word, WORD))
			continue;
		for (; n < DIGITS && p[n] >= '0' && p[n] <= '9'; n++)
			v = 10 * v + (u32)(p[n] - '0');
		if (n < DIGITS || p[n] != ',')
			continue;
		*api = v;
		*one_thread = !memcmp(p + n, one, ONE);
		return true;
	}
	return false;
}

static void find_loop(const struct image *im, u64 base, const struct elf_symbol *loop,
		      struct unwind_lang *l)
{
	struct elf_symbol cold;
	l->loop[0] = (struct unwind_range){(u32)(loop->addr - base), (u32)loop->size};
	if (file_symbol(im, "execute_ex.cold", &cold) || file_other_part(im, loop, &cold))
		l->loop[1] = (struct unwind_range){(u32)(cold.addr - base), (u32)cold.size};
}

static bool php_find(const struct image *im, struct str path, u64 base, struct interp_file *ret)
{
	struct elf_symbol loop, globals, any;
	u32 api = 0;
	bool one_thread = false;
	(void)path;
	*ret = (struct interp_file){.label = "php"};
	if (!file_symbol(im, "execute_ex", &loop) || !file_symbol(im, "zend_execute", &any))
		return false;
	find_loop(im, base, &loop, &ret->lang);
	if (!find_api(im, &api, &one_thread))
		return true;
	snprintf(ret->label, sizeof(ret->label), "php (API %u%s)", api, one_thread ? "" : ", ZTS");
	for (u32 i = 0; i < countof(phpversions); i++) {
		const struct phpversion *v = &phpversions[i];
		if (v->api != api)
			continue;
		snprintf(ret->label, sizeof(ret->label), "php%u.%u%s", v->major, v->minor,
			 one_thread ? "" : " (ZTS)");
		if (!one_thread || !file_is_known(im) ||
		    !file_symbol(im, "executor_globals", &globals))
			continue;
		take_version(v, ret);
		ret->lang.at = globals.addr - base;
		ret->lang.known = 1;
	}
	return true;
}

/* ---- functions ---- */

/* What is shown of a string of which size bytes are here, the head's included: up to a 0, behind which names
 * of classes without one have where they are. */
static struct str text_of(const u8 *p, u32 size, struct arena *a)
{
	AUTO_SB out = {0};
	u64 length;
	u32 room = size - STRING_TEXT;
	memcpy(&length, p + STRING_LENGTH, sizeof(length));
	const char *text = (const char *)p + STRING_TEXT;
	u32 n = (u32)strnlen(text, MIN(length, (u64)room));
	sb_mem(&out, text, n);
	if (n == room && length > room)
		sb_add(&out, STR(".."));
	return arena_str(a, sb_str(&out));
}

static struct str last_part(struct str path)
{
	for (u32 i = path.n; i; i--)
		if (path.s[i - 1] == '/')
			return str_from(path, i);
	return path;
}

static void php_code(const struct interp_file *f, const struct unwind_code *raw, struct arena *a,
		     struct interp_code *ret)
{
	AUTO_SB name = {0};
	struct bytes first = bytes_of(raw->code, sizeof(raw->code));
	bool internal = raw->code[0] == TYPE_INTERNAL;
	struct str function = text_of(raw->name, UNWIND_NAME_BYTES, a);
	struct str class_name = text_of(raw->lines + CLASS_TEXT, CLASS_TEXT_BYTES, a);
	*ret = (struct interp_code){.hidden = internal && !function.n};
	if (!internal) {
		ret->file = text_of(raw->file, UNWIND_FILE_BYTES, a);
		bytes_seek(&first, f->own[OWN_FIRST]);
		ret->line = bytes_u32(&first);
	}
	if (class_name.n && function.n)
		sb_fmt(&name, "%.*s::", STRF(class_name));
	sb_add(&name, function.n ? function : last_part(ret->file));
	ret->name = arena_str(a, sb_str(&name));
}

/* instr is the line. */
static u32 php_line(const struct interp_file *f, const struct interp_code *c, u32 instr)
{
	(void)f;
	if (!c->file.n)
		return 0;
	return instr == UNWIND_NO_INSTR ? c->line : instr;
}

const struct interp interp_php = {
	.name = "php",
	.title = "PHP",
	.in_name = "php",
	.find = php_find,
	.code = php_code,
	.line = php_line,
};
