/*
 * python.c - CPython.
 *
 * From 3.13 on its state begins with a table of offsets for readers like this one (_Py_DebugOffsets);
 * what older versions have was taken from their headers (pyversions[]). A thread finds its state by a
 * key of pthread_getspecific() up to 3.12, later by a thread-local variable, whose place the code of an
 * exported function tells.
 *
 * Up to 3.10 each call of a function is a call of the main loop. From 3.11 on a call of the loop runs
 * many functions; the first frame of each such call says so.
 */
#include "interp/python.h"
#include "interp/common.h"
#include <elf.h>

/* ---- layouts ---- */

/* As the headers of the version have it, on machines of 64 bits. */
struct pyversion {
	u32 minor;
	u32 key; /* in _PyRuntime, behind so many of pthread_mutex_t */
	u32 mutexes;
	u32 newest;
	i32 inner;
	u32 frame_bytes, code, previous, instr, within;
	u32 entry, hide, last;
	u32 sign, file, name, lines, first, bytecode;
	u32 text;
};
static const struct pyversion pyversions[] = {
	{.minor = 8,
	 .key = 1392,
	 .mutexes = 2,
	 .newest = 24,
	 .inner = UNWIND_NOWHERE,
	 .frame_bytes = 112,
	 .code = 32,
	 .previous = 24,
	 .instr = 104,
	 .hide = UNWIND_FRAME_NEVER,
	 .sign = 40,
	 .file = 104,
	 .name = 112,
	 .lines = 120,
	 .first = 40,
	 .text = 48},
	{.minor = 9,
	 .key = 584,
	 .mutexes = 2,
	 .newest = 24,
	 .inner = UNWIND_NOWHERE,
	 .frame_bytes = 112,
	 .code = 32,
	 .previous = 24,
	 .instr = 104,
	 .hide = UNWIND_FRAME_NEVER,
	 .sign = 40,
	 .file = 104,
	 .name = 112,
	 .lines = 120,
	 .first = 40,
	 .text = 48},
	{.minor = 10,
	 .key = 584,
	 .mutexes = 2,
	 .newest = 24,
	 .inner = UNWIND_NOWHERE,
	 .frame_bytes = 104,
	 .code = 32,
	 .previous = 24,
	 .instr = 96,
	 .hide = UNWIND_FRAME_NEVER,
	 .sign = 40,
	 .file = 104,
	 .name = 112,
	 .lines = 120,
	 .first = 40,
	 .text = 48},
	{.minor = 11,
	 .key = 592,
	 .mutexes = 2,
	 .newest = 56,
	 .inner = 8,
	 .frame_bytes = 72,
	 .code = 32,
	 .previous = 48,
	 .instr = 56,
	 .within = UNWIND_WITHIN_SELF,
	 .entry = 68,
	 .hide = UNWIND_FRAME_NEVER,
	 .last = 1,
	 .sign = 64,
	 .file = 112,
	 .name = 128,
	 .lines = 136,
	 .first = 72,
	 .bytecode = 184,
	 .text = 48},
	{.minor = 12,
	 .key = 1544,
	 .newest = 56,
	 .inner = 0,
	 .frame_bytes = 72,
	 .code = 0,
	 .previous = 8,
	 .instr = 56,
	 .within = UNWIND_WITHIN_SELF,
	 .entry = 70,
	 .hide = 3,
	 .last = UNWIND_FRAME_NEVER,
	 .sign = 64,
	 .file = 112,
	 .name = 128,
	 .lines = 136,
	 .first = 68,
	 .bytecode = 192,
	 .text = 40},
};

/* Pointers of a code object to the objects that say what it is. False: an offset cannot be. */
static bool take_parts(struct unwind_lang *l, u32 file, u32 name, u32 lines)
{
	const struct {
		u32 from, to, n;
	} part[] = {
		{file, offsetof(struct unwind_code, file), UNWIND_FILE_BYTES},
		{name, offsetof(struct unwind_code, name), UNWIND_NAME_BYTES},
		{lines, offsetof(struct unwind_code, lines), UNWIND_LINE_BYTES},
	};
	for (u32 i = 0; i < countof(part); i++) {
		if (part[i].from > UNWIND_CODE_BYTES - 8)
			return false;
		l->part[i] = (struct unwind_part){
			.at = (u16)(offsetof(struct unwind_code, code) + part[i].from),
			.to = (u16)part[i].to,
			.n = (u16)part[i].n,
		};
	}
	return true;
}

static void take_version(const struct pyversion *v, u16 machine, u64 runtime,
			 struct interp_file *ret)
{
	enum { LARGER_MUTEX = 8 }; /* 48 bytes on aarch64 */
	struct unwind_lang *l = &ret->lang;
	l->root = UNWIND_ROOT_KEY;
	l->at = runtime + v->key + (machine == EM_AARCH64 ? v->mutexes * LARGER_MUTEX : 0);
	l->code_mask = ~0ull;
	l->newest = v->newest;
	l->inner = v->inner;
	l->frame_bytes = v->frame_bytes;
	l->code = v->code;
	l->previous = v->previous;
	l->instr = v->instr;
	l->within = v->within;
	l->entry = v->entry;
	l->hide = v->hide;
	l->last = v->last;
	l->sign = v->sign;
	l->flags = l->body = UNWIND_NOWHERE;
	take_parts(l, v->file, v->name, v->lines);
	ret->own[OWN_FIRST] = v->first;
	ret->own[OWN_BYTECODE] = v->bytecode;
	ret->own[OWN_TEXT] = v->text;
	ret->own[OWN_WIDER] = v->minor < 12 ? 24 : 16; /* a member went */
	ret->own[OWN_LENGTH] = 16;
	ret->own[OWN_STATE] = 32;
	ret->own[OWN_BYTES] = 32;
	ret->own[OWN_SIZE] = 16;
	l->known = 1;
}

/* Words of _Py_DebugOffsets: where the parts begin that are used here. */
struct pyoffsets {
	u32 minor, thread, frame, code, bytes, text;
};
static const struct pyoffsets pyoffsets[] = {
	{13, 19, 28, 34, 64, 67},
	{14, 22, 31, 39, 74, 77},
	{15, 22, 39, 47, 86, 89},
};
/* What stands where in a part, behind its size. */
enum {
	THREAD_FRAME = 4,
	FRAME_PREVIOUS = 1,
	FRAME_CODE = 2,
	FRAME_INSTR = 3,
	FRAME_OWNER = 5,
	CODE_FILE = 1,
	CODE_NAME = 3,
	CODE_LINES = 4,
	CODE_FIRST = 5,
	CODE_BYTECODE = 9,
	BYTES_SIZE = 1,
	BYTES_BYTES = 2,
	TEXT_STATE = 1,
	TEXT_LENGTH = 2,
	TEXT_ASCII = 3,
	OFFSETS_WORDS = 96,
	OWNER_NATIVE = 3, /* of a frame: it stands for a call from native code (3.14: and above) */
	CODE_TAGS = 7,    /* 3.14: low bits of the pointer to the code object */
	MAX_OFFSET = 4096,
};

static u32 offset_at(struct bytes table, u32 word)
{
	bytes_seek(&table, 8ul * word);
	u64 v = bytes_u64(&table);
	return table.bad || v >= MAX_OFFSET ? (u32)MAX_OFFSET : (u32)v;
}

/* False: there is a number that cannot be. */
static bool take_offsets(struct bytes table, const struct pyoffsets *o, struct interp_file *ret)
{
	struct unwind_lang *l = &ret->lang;
	u32 file, name, lines;
	const struct {
		u32 *to, word;
	} take[] = {
		{&l->newest, o->thread + THREAD_FRAME},
		{&l->previous, o->frame + FRAME_PREVIOUS},
		{&l->code, o->frame + FRAME_CODE},
		{&l->instr, o->frame + FRAME_INSTR},
		{&l->entry, o->frame + FRAME_OWNER},
		{&file, o->code + CODE_FILE},
		{&name, o->code + CODE_NAME},
		{&lines, o->code + CODE_LINES},
		{&ret->own[OWN_FIRST], o->code + CODE_FIRST},
		{&ret->own[OWN_BYTECODE], o->code + CODE_BYTECODE},
		{&ret->own[OWN_SIZE], o->bytes + BYTES_SIZE},
		{&ret->own[OWN_BYTES], o->bytes + BYTES_BYTES},
		{&ret->own[OWN_STATE], o->text + TEXT_STATE},
		{&ret->own[OWN_LENGTH], o->text + TEXT_LENGTH},
		{&ret->own[OWN_TEXT], o->text + TEXT_ASCII},
	};
	bool good = true;
	for (u32 i = 0; i < countof(take); i++) {
		*take[i].to = offset_at(table, take[i].word);
		good &= *take[i].to < MAX_OFFSET;
	}
	u32 end = MAX(MAX(l->previous, l->code), MAX(l->instr, l->entry & ~7u)) + 8;
	ret->own[OWN_WIDER] = 16;
	l->inner = UNWIND_NOWHERE;
	l->frame_bytes = end;
	l->within = UNWIND_WITHIN_SELF;
	l->hide = OWNER_NATIVE;
	l->last = UNWIND_FRAME_NEVER;
	l->code_mask = o->minor > 13 ? ~(u64)CODE_TAGS : ~0ull;
	/* up to the pointer to the lines, the last of the names */
	l->sign = lines + 8 - MIN(lines + 8, 8u * UNWIND_SIGN_WORDS);
	l->flags = l->body = UNWIND_NOWHERE;
	return take_parts(l, file, name, lines) && good && end <= 8 * UNWIND_FRAME_WORDS;
}

/* ---- the file ---- */

/* "libpython3.8.so.1.0": 8; 0: no such name. */
static u32 minor_of_name(struct str path)
{
	static const char word[] = "python3.";
	u32 minor = 0;
	for (i32 at = str_find(path, STR(word)); at >= 0; at = str_find(path, STR(word))) {
		path = str_from(path, (u32)at + sizeof(word) - 1);
		minor = 0;
		for (u32 i = 0; i < path.n && minor < 100 && path.s[i] >= '0' && path.s[i] <= '9';
		     i++)
			minor = 10 * minor + (u32)(path.s[i] - '0');
	}
	return minor;
}

/* PY_VERSION_HEX; 0: not known. */
static u32 find_version(const struct image *im, struct str path, struct bytes runtime)
{
	struct elf_symbol s;
	if (runtime.n >= 16 && !memcmp(runtime.p, "xdebugpy", 8)) {
		bytes_seek(&runtime, 8);
		return (u32)bytes_u64(&runtime);
	}
	if (file_symbol(im, "Py_Version", &s)) {
		struct bytes b = file_bytes(im, s.addr, sizeof(u32));
		return bytes_u32(&b);
	}
	u32 minor = minor_of_name(path);
	return minor ? 3u << 24 | minor << 16 : 0;
}

static void find_loop(const struct image *im, u64 base, const struct elf_symbol *loop,
		      struct unwind_lang *l)
{
	struct elf_symbol cold;
	l->loop[0] = (struct unwind_range){(u32)(loop->addr - base), (u32)loop->size};
	if (file_symbol(im, "_PyEval_EvalFrameDefault.cold", &cold) ||
	    file_other_part(im, loop, &cold))
		l->loop[1] = (struct unwind_range){(u32)(cold.addr - base), (u32)cold.size};
}

static void find_layout(const struct image *im, u64 base, u32 version, struct interp_file *ret)
{
	struct elf_symbol runtime;
	u32 major = version >> 24, minor = version >> 16 & 0xff;
	if (major != 3 || !file_is_known(im) || !file_symbol(im, "_PyRuntime", &runtime))
		return;
	for (u32 i = 0; i < countof(pyversions); i++)
		if (pyversions[i].minor == minor)
			take_version(&pyversions[i], im->machine, runtime.addr - base, ret);
	for (u32 i = 0; i < countof(pyoffsets); i++)
		if (pyoffsets[i].minor == minor)
			ret->lang.known =
				take_offsets(file_bytes(im, runtime.addr, 8ul * OFFSETS_WORDS),
					     &pyoffsets[i], ret) &&
				file_thread_variable(im, base, "_PyThreadState_GetCurrent",
						     &ret->lang);
}

static bool python_find(const struct image *im, struct str path, u64 base, struct interp_file *ret)
{
	struct elf_symbol loop, runtime = {0};
	*ret = (struct interp_file){0};
	if (!file_symbol(im, "_PyEval_EvalFrameDefault", &loop))
		return false;
	file_symbol(im, "_PyRuntime", &runtime);
	u32 version = find_version(im, path, file_bytes(im, runtime.addr, 16));
	find_loop(im, base, &loop, &ret->lang);
	find_layout(im, base, version, ret);
	ret->own[OWN_MINOR] = version >> 16 & 0xff;
	if (version)
		snprintf(ret->label, sizeof(ret->label), "python%u.%u", version >> 24 & 0xff,
			 version >> 16 & 0xff);
	else
		snprintf(ret->label, sizeof(ret->label), "python");
	return true;
}

/* ---- functions ---- */

static void put_char(struct sb *b, u32 c)
{
	if (c < 0x80) {
		sb_char(b, (char)c);
	} else if (c < 0x800) {
		sb_char(b, (char)(0xc0 | c >> 6));
		sb_char(b, (char)(0x80 | (c & 0x3f)));
	} else if ((c >= 0xd800 && c < 0xe000) ||
		   c > 0x10ffff) { /* stands for a byte, or for nothing */
		sb_char(b, '?');
	} else {
		if (c < 0x10000) {
			sb_char(b, (char)(0xe0 | c >> 12));
		} else {
			sb_char(b, (char)(0xf0 | c >> 18));
			sb_char(b, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		sb_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
		sb_char(b, (char)(0x80 | (c & 0x3f)));
	}
}

/* Of a str object: bytes of a character, and where the first is. 0: it is none. Versions differ in how
 * many bits tell how it is shared; a width is 1, 2 or 4, so that the first place with one is right. */
static u32 text_width(const struct interp_file *f, struct bytes b, u32 *from)
{
	static const u8 shift[] = {2, 8, 16};
	enum { KIND = 7, COMPACT = 8, ASCII = 16 };
	bytes_seek(&b, f->own[OWN_STATE]);
	u32 state = bytes_u32(&b);
	for (u32 i = 0; i < countof(shift) && !b.bad; i++) {
		u32 is = state >> shift[i], kind = is & KIND;
		if ((kind != 1 && kind != 2 && kind != 4) || !(is & COMPACT))
			continue;
		*from = f->own[OWN_TEXT] + (is & ASCII ? 0 : f->own[OWN_WIDER]);
		return kind;
	}
	return 0;
}

/* The text of a str object, of which n bytes are here. */
static struct str text_of(const struct interp_file *f, const u8 *p, size_t n, struct arena *a)
{
	AUTO_SB out = {0};
	struct bytes b = bytes_of(p, n), size = b;
	u32 from, width = text_width(f, b, &from);
	bytes_seek(&size, f->own[OWN_LENGTH]);
	u64 length = bytes_u64(&size);
	bytes_seek(&b, from = width ? from : 0);
	if (!width || b.bad || size.bad)
		return STR("");
	u64 fits = (b.n - b.at) / width;
	for (u64 i = 0; i < MIN(length, fits); i++)
		put_char(&out, (u32)bytes_uint(&b, width));
	if (length > fits)
		sb_add(&out, STR(".."));
	return arena_str(a, sb_str(&out));
}

static void python_code(const struct interp_file *f, const struct unwind_code *raw, struct arena *a,
			struct interp_code *ret)
{
	struct bytes code = bytes_of(raw->code, sizeof(raw->code));
	struct bytes lines = bytes_of(raw->lines, sizeof(raw->lines)), size = lines;
	*ret = (struct interp_code){
		.name = text_of(f, raw->name, sizeof(raw->name), a),
		.file = text_of(f, raw->file, sizeof(raw->file), a),
	};
	/* A frame of the interpreter's own (3.13), for the call of a class's __init__(). */
	ret->hidden = str_is(ret->name, "__init__") && str_is(ret->file, "__init__");
	bytes_seek(&code, f->own[OWN_FIRST]);
	ret->line = bytes_u32(&code);
	bytes_seek(&size, f->own[OWN_SIZE]);
	u64 n = bytes_u64(&size);
	bytes_seek(&lines, f->own[OWN_BYTES]);
	if (lines.bad || size.bad)
		return;
	n = MIN(n, lines.n - lines.at);
	ret->lines = arena_str(a, str_n((const char *)lines.p + lines.at, (u32)n));
}

/* ---- lines ---- */

/* Up to 3.9: {bytes, lines} that the next line is further. */
static u32 line_by_steps(struct bytes b, u32 line, u32 at)
{
	for (u32 addr = 0; b.at + 1 < b.n;) {
		addr += bytes_u8(&b);
		i8 by = (i8)bytes_u8(&b);
		if (addr > at)
			break;
		line += (u32)(i32)by;
	}
	return line;
}

/* 3.10: {bytes of a range, lines that it is further}; one without a line has -128. */
static u32 line_by_ranges(struct bytes b, u32 line, u32 at)
{
	enum { NO_LINE = -128 };
	for (u32 end = 0; b.at + 1 < b.n;) {
		end += bytes_u8(&b);
		i8 by = (i8)bytes_u8(&b);
		if (by != NO_LINE)
			line += (u32)(i32)by;
		if (at < end)
			return by == NO_LINE ? 0 : line;
	}
	return 0;
}

/* Six bits in each byte, the lowest first; bit 6: more follow. */
static u32 varint(struct bytes *b)
{
	u32 v = 0, shift = 0, byte;
	do {
		byte = bytes_u8(b);
		v |= shift < 32 ? (byte & 63) << shift : 0;
		shift += 6;
	} while (byte & 64 && !b->bad);
	return v;
}

/* The lowest bit is the sign. */
static u32 line_delta(struct bytes *b)
{
	u32 v = varint(b);
	return v & 1 ? 0u - (v >> 1) : v >> 1;
}

/* From 3.11 on: entries that begin with a byte of the form 1kkkknnn: of that kind, for n + 1 units. */
static u32 line_by_entries(struct bytes b, u32 line, u32 unit)
{
	enum {
		BEGINS = 0x80,
		ONE_LINE = 10,
		ONE_LINE_END = 12,
		NO_COLUMN = 13,
		LONG = 14,
		NONE = 15
	};
	for (u32 end = 0; b.at < b.n;) {
		u8 first = bytes_u8(&b);
		u32 kind = first >> 3 & 15;
		end += (first & 7u) + 1;
		if (kind >= ONE_LINE && kind <= ONE_LINE_END)
			line += kind - ONE_LINE;
		else if (kind == NO_COLUMN || kind == LONG)
			line += line_delta(&b);
		if (unit < end)
			return kind == NONE ? 0 : line;
		while (b.at < b.n && !(b.p[b.at] & BEGINS))
			b.at++;
	}
	return 0;
}

static u32 python_line(const struct interp_file *f, const struct interp_code *c, u32 instr)
{
	enum { UNIT = 2 };
	struct bytes b = bytes_of(c->lines.s, c->lines.n);
	u32 minor = f->own[OWN_MINOR], begin = f->own[OWN_BYTECODE];
	if (instr == UNWIND_NO_INSTR || (minor > 10 && instr < begin))
		return c->line;
	if (minor < 10)
		return line_by_steps(b, c->line, instr);
	if (minor == 10)
		return line_by_ranges(b, c->line, instr * UNIT);
	return line_by_entries(b, c->line, (instr - begin) / UNIT);
}

const struct interp interp_python = {
	.name = "python",
	.title = "Python",
	.in_name = "python",
	.find = python_find,
	.code = python_code,
	.line = python_line,
};
