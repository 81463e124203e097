/*
 * ruby.c - CRuby (MRI).
 *
 * A thread finds its execution context by a thread-local variable (up to 2.7: itself by a key of pthread_getspecific()),
 * whose place the code of an exported function tells. The frames of a context lie side by side, the newest first. Each points to what it runs
 * (an iseq, whose body says what it is), to the next instruction, and to its environment, whose first word
 * says what kind of frame it is: C functions have frames, too, which are not shown, as the functions
 * themselves are native frames; and the first frame of each call of the main loop is marked.
 *
 * The main loop is not exported: it is the function with most jumps to where an instruction points.
 */
#include "interp/common.h"
#include <elf.h>
#include <string.h>

enum ruby_own {
	OWN_FIRST,  /* body: the first line */
	OWN_FIXNUM, /* 1: that is a Ruby object */
	OWN_COUNT,  /* body: number of entries about lines */
	OWN_ENTRY,  /* bytes of one */
	OWN_TEXT,   /* string that has its text within: where that is */
};

/* Offsets in bytes, as the version has them on machines of 64 bits. */
struct rbversion {
	u32 major, minor;
	u32 context; /* of a thread that is found by a key; 0: its context is found */
	u32 frame;   /* bytes */
	u32 path, label, first, fixnum, entries, count, index;
	u32 entry, text;
};
static const struct rbversion rbversions[] = {
	{.major = 2,
	 .minor = 7,
	 .context = 32,
	 .frame = 56,
	 .path = 64,
	 .label = 80,
	 .first = 88,
	 .fixnum = 1,
	 .entries = 120,
	 .count = 136,
	 .index = 144,
	 .entry = 8,
	 .text = 16},
	{.major = 3,
	 .minor = 1,
	 .frame = 64,
	 .path = 64,
	 .label = 80,
	 .first = 88,
	 .fixnum = 1,
	 .entries = 120,
	 .count = 136,
	 .index = 144,
	 .entry = 12,
	 .text = 16},
	{.major = 3,
	 .minor = 3,
	 .frame = 56,
	 .path = 64,
	 .label = 80,
	 .first = 88,
	 .entries = 112,
	 .count = 128,
	 .index = 136,
	 .entry = 12,
	 .text = 24},
};
enum {
	/* of an execution context, a frame, an iseq, its body, a string, an array: the same in all versions */
	CONTEXT_FRAME = 16,
	FRAME_INSTR = 0,
	FRAME_ISEQ = 16,
	FRAME_ENVIRONMENT = 32,
	FRAME_USED = 40,
	ISEQ_BODY = 16,
	BODY_SIZE = 4,
	BODY_INSTRS = 8,
	OBJECT_ITEM = 16, /* an array's first, a string's length */
	TEXT_POINTER = 24,
	/* of an environment's first word */
	FLAG_FINISH = 0x20,
	FLAG_C = 0x80,
	KIND_MASK = 0x7fff0001,
	KIND_DUMMY = 0x79990001, /* a thread begins with it */
	/* of an object's first word */
	TYPE_MASK = 0x1f,
	TYPE_STRING = 5,
	TYPE_ARRAY = 7,
	ELSEWHERE = 1 << 13, /* a string's text is; an array's items are not */
	SHORT_SHIFT = 14,    /* the length, when text is at OBJECT_ITEM */
	SHORT_MASK = 31,
};
/* What is copied to .file, .name and .lines. */
enum {
	PATH_BYTES = 192, /* path object, its first item, the text of one and of the other */
	PATH_ITEM = PATH_BYTES,
	PATH_TEXT = 2 * PATH_BYTES,
	PATH_ITEM_TEXT = 3 * PATH_BYTES,
	LABEL_BYTES = 160, /* the object, its text */
	LABEL_TEXT = LABEL_BYTES,
	ENTRY_BYTES = 1392,
	INDEX_BYTES = 648,
	INDEX_AT = ENTRY_BYTES,
};
_Static_assert(4 * PATH_BYTES == UNWIND_FILE_BYTES, "all of it");
_Static_assert(2 * LABEL_BYTES == UNWIND_NAME_BYTES, "all of it");

static void take_version(const struct rbversion *v, struct interp_file *ret)
{
	enum {
		CODE = offsetof(struct unwind_code, code),
		FILE_AT = offsetof(struct unwind_code, file),
		NAME = offsetof(struct unwind_code, name),
		LINES = offsetof(struct unwind_code, lines),
	};
	struct unwind_lang *l = &ret->lang;
	const struct unwind_part part[] = {
		{(u16)(CODE + v->path), FILE_AT, PATH_BYTES, 0},
		{FILE_AT + OBJECT_ITEM, FILE_AT + PATH_ITEM, PATH_BYTES, 0},
		{FILE_AT + TEXT_POINTER, FILE_AT + PATH_TEXT, PATH_BYTES, 0},
		{FILE_AT + PATH_ITEM + TEXT_POINTER, FILE_AT + PATH_ITEM_TEXT, PATH_BYTES, 0},
		{(u16)(CODE + v->label), NAME, LABEL_BYTES, 0},
		{NAME + TEXT_POINTER, NAME + LABEL_TEXT, LABEL_BYTES, 0},
		{(u16)(CODE + v->entries), LINES, ENTRY_BYTES, 0},
		{(u16)(CODE + v->index), LINES + INDEX_AT, INDEX_BYTES, 0},
	};
	_Static_assert(sizeof(part) == sizeof(l->part), "all of them");
	memcpy(l->part, part, sizeof(part));
	l->code_mask = ~0ull;
	l->newest = v->context ? v->context : CONTEXT_FRAME;
	l->inner = v->context ? CONTEXT_FRAME : UNWIND_NOWHERE;
	l->frame_bytes = FRAME_USED;
	l->stride = v->frame;
	l->code = FRAME_ISEQ;
	l->body = ISEQ_BODY;
	l->instr = FRAME_INSTR;
	l->within = UNWIND_WITHIN_CODE;
	l->first_instr = BODY_INSTRS;
	l->flags = FRAME_ENVIRONMENT;
	l->skip_bits = FLAG_C;
	l->last_bits = FLAG_FINISH;
	l->over_mask = KIND_MASK;
	l->over = KIND_DUMMY;
	l->native = UNWIND_FRAME_NEVER;
	ret->own[OWN_FIRST] = v->first;
	ret->own[OWN_FIXNUM] = v->fixnum;
	ret->own[OWN_COUNT] = v->count;
	ret->own[OWN_ENTRY] = v->entry;
	ret->own[OWN_TEXT] = v->text;
}

/* ---- the file ---- */

static u32 number(struct bytes *b)
{
	u32 v = 0;
	for (u8 c = bytes_u8(b); c >= '0' && c <= '9' && v < 100; c = bytes_u8(b))
		v = 10 * v + (u32)(c - '0');
	return v;
}

/* Without symbols for it. A file that exports only some of this is another one. */
static bool find_loop(const struct image *im, u64 base, struct unwind_lang *l)
{
	struct elf_symbol loop, cold;
	if (!file_symbol(im, "vm_exec_core", &loop) && !file_dispatcher(im, &loop))
		return false;
	l->loop[0] = (struct unwind_range){(u32)(loop.addr - base), (u32)loop.size};
	if (file_symbol(im, "vm_exec_core.cold", &cold) || file_other_part(im, &loop, &cold))
		l->loop[1] = (struct unwind_range){(u32)(cold.addr - base), (u32)cold.size};
	return true;
}

static bool ruby_find(const struct image *im, struct str path, u64 base, struct interp_file *ret)
{
	struct elf_symbol version, any;
	(void)path;
	*ret = (struct interp_file){0};
	if (!file_symbol(im, "ruby_version", &version) || !file_symbol(im, "rb_errinfo", &any) ||
	    !find_loop(im, base, &ret->lang))
		return false;
	struct bytes text = file_bytes(im, version.addr, 8);
	u32 major = number(&text), minor = number(&text);
	snprintf(ret->label, sizeof(ret->label), "ruby%u.%u", major, minor);
	for (u32 i = 0; i < countof(rbversions); i++)
		if (rbversions[i].major == major && rbversions[i].minor == minor) {
			take_version(&rbversions[i], ret);
			const char *fn =
				rbversions[i].context ? "ruby_native_thread_p" : "rb_errinfo";
			ret->lang.known = file_thread_variable(im, base, fn, &ret->lang);
		}
	if (im->machine == EM_AARCH64) /* tried with 3.1: no stack had its functions */
		ret->lang.known = 0;
	return true;
}

/* ---- functions ---- */

static u64 word_at(const u8 *p, u32 at)
{
	u64 v;
	memcpy(&v, p + at, sizeof(v));
	return v;
}

/* A string object of size bytes, and its text, if that is elsewhere. */
static struct str text_of(const struct interp_file *f, const u8 *object, const u8 *text, u32 size,
			  struct arena *a)
{
	AUTO_SB out = {0};
	u64 flags = word_at(object, 0), length = word_at(object, OBJECT_ITEM);
	u32 from = f->own[OWN_TEXT] == TEXT_POINTER ? TEXT_POINTER : OBJECT_ITEM, room = size;
	if ((flags & TYPE_MASK) != TYPE_STRING)
		return STR("");
	if (!(flags & ELSEWHERE)) {
		if (from == OBJECT_ITEM)
			length = flags >> SHORT_SHIFT & SHORT_MASK;
		text = object + from;
		room = size - from;
	}
	sb_mem(&out, text, (u32)MIN(length, room));
	if (length > room)
		sb_add(&out, STR(".."));
	return arena_str(a, sb_str(&out));
}

static struct str path_of(const struct interp_file *f, const u8 *p, struct arena *a)
{
	u64 flags = word_at(p, 0);
	if ((flags & TYPE_MASK) == TYPE_ARRAY && flags & ELSEWHERE) /* and the real path */
		return text_of(f, p + PATH_ITEM, p + PATH_ITEM_TEXT, PATH_BYTES, a);
	return text_of(f, p, p + PATH_TEXT, PATH_BYTES, a);
}

/* {number of entries, bytes of those that are here, entries, index} */
static struct str lines_of(const struct interp_file *f, struct bytes body, const u8 *lines,
			   struct arena *a)
{
	AUTO_SB out = {0};
	bytes_seek(&body, f->own[OWN_COUNT]);
	u32 count = bytes_u32(&body);
	u32 here = (u32)MIN((u64)count * f->own[OWN_ENTRY], (u64)ENTRY_BYTES);
	sb_mem(&out, &count, sizeof(count));
	sb_mem(&out, &here, sizeof(here));
	sb_mem(&out, lines, here);
	sb_mem(&out, lines + INDEX_AT, INDEX_BYTES);
	return arena_str(a, sb_str(&out));
}

static void ruby_code(const struct interp_file *f, const struct unwind_code *raw, struct arena *a,
		      struct interp_code *ret)
{
	struct bytes body = bytes_of(raw->code, sizeof(raw->code)), first = body;
	*ret = (struct interp_code){
		.name = text_of(f, raw->name, raw->name + LABEL_TEXT, LABEL_BYTES, a),
		.file = path_of(f, raw->file, a),
		.lines = lines_of(f, body, raw->lines, a),
	};
	bytes_seek(&first, f->own[OWN_FIRST]);
	ret->line = bytes_u32(&first) >> (f->own[OWN_FIXNUM] != 0);
}

/* ---- lines ---- */

/*
 * Which entry an instruction belongs to: how many entries begin at it or before. The index has that of the
 * first instructions in 7 bits each, nine to a word; then, for each 512 instructions, how many there are
 * before, the same of its parts of 64 (9 bits each, from the second on), and a bit for each that begins.
 */
static u32 entries_up_to(struct bytes b, u32 at)
{
	enum { FIRST = 54, TO_A_WORD = 9, BITS = 7, BLOCK = 512, PART = 64, PART_BITS = 9 };
	enum { FIRST_BYTES = 48, BLOCK_BYTES = 80, RANKS = 8, STARTS = 16 };
	if (at < FIRST) {
		bytes_seek(&b, at / TO_A_WORD * 8);
		return (u32)(bytes_u64(&b) >> (at % TO_A_WORD * BITS)) & ((1u << BITS) - 1);
	}
	u32 in = (at - FIRST) % BLOCK, part = in / PART;
	struct bytes ranks = b, starts = b;
	u64 block = FIRST_BYTES + (u64)(at - FIRST) / BLOCK * BLOCK_BYTES;
	bytes_seek(&b, block);
	bytes_seek(&ranks, block + RANKS);
	bytes_seek(&starts, block + STARTS + 8ul * part);
	u32 n = bytes_u32(&b);
	u64 rank = bytes_u64(&ranks), bits = bytes_u64(&starts) << (PART - 1 - in % PART);
	if (part)
		n += (u32)(rank >> ((part - 1) * PART_BITS)) & ((1u << PART_BITS) - 1);
	return starts.bad ? 0 : n + (u32)__builtin_popcountll(bits);
}

/* instr is the next instruction. */
static u32 ruby_line(const struct interp_file *f, const struct interp_code *c, u32 instr)
{
	struct bytes b = bytes_of(c->lines.s, c->lines.n);
	u32 count = bytes_u32(&b), here = bytes_u32(&b);
	if (instr == UNWIND_NO_INSTR || b.bad)
		return c->line;
	size_t entries = b.at;
	bytes_seek(&b, entries + here);
	struct bytes index = b.bad ? b : bytes_of(b.p + b.at, b.n - b.at);
	u32 n = count == 1 ? 1 : entries_up_to(index, instr ? instr - 1 : 0);
	u64 at = (u64)(n - 1) * f->own[OWN_ENTRY];
	if (!n || at + sizeof(u32) > here)
		return 0;
	bytes_seek(&b, entries + at);
	return bytes_u32(&b);
}

const struct interp interp_ruby = {
	.name = "ruby",
	.title = "Ruby",
	.in_name = "ruby",
	.find = ruby_find,
	.code = ruby_code,
	.line = ruby_line,
};
