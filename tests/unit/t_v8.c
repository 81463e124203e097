/* Functions of JavaScript: names, files and lines, as they lie in a process; what makes no sense. */
#include "core/v8.h"
#include "interp/common.h"
#include "interp/v8_lines.h"
#include "test.h"
#include "unwind/lang.h"
#include <string.h>

enum {
	HEAP = 0x10000, /* where the objects below are */
	STRING = 40,    /* types */
	CONS = 41,
	ARRAY = 191,
	CODE = 245,
	FUNCTION = 0x100, /* objects, from HEAP on */
	BYTECODE = 0x180,
	SCRIPT = 0x200,
	SOURCE = 0x300,
	NAME = 0x400,
	TABLE = 0x480,
	MAPS = 0x800,
};

struct heap {
	u8 byte[0x2000];
	struct arena arena;
	struct str kept;
};

static void put(struct heap *h, u32 at, const void *p, size_t n)
{
	memcpy(h->byte + at, p, n);
}

static void put_word(struct heap *h, u32 at, u64 v)
{
	put(h, at, &v, sizeof(v));
}

/* An object of a type, whose map is made for it. */
static void put_object(struct heap *h, u32 at, u16 type)
{
	u32 map = MAPS + 16u * type;
	put(h, map + 12, &type, sizeof(type));
	put_word(h, at, HEAP + map + V8_TAG);
}

static void put_text(struct heap *h, u32 at, const char *text)
{
	u32 n = (u32)strlen(text);
	put_object(h, at, STRING);
	put(h, at + 12, &n, sizeof(n));
	put(h, at + V8_STRING_TEXT, text, n);
}

static bool heap_read(void *arg, u64 addr, void *to, size_t n)
{
	const struct heap *h = arg;
	if (addr < HEAP || addr - HEAP > sizeof(h->byte) || n > sizeof(h->byte) - (addr - HEAP))
		return false;
	memcpy(to, h->byte + (addr - HEAP), n);
	return true;
}

static bool heap_kept(void *arg, u64 addr, struct str *ret)
{
	const struct heap *h = arg;
	(void)addr;
	*ret = h->kept;
	return h->kept.n > 0;
}

static struct str heap_keep(void *arg, u64 addr, struct str text)
{
	struct heap *h = arg;
	(void)addr;
	h->kept = arena_str(&h->arena, text);
	return h->kept;
}

static struct interp_file layout(void)
{
	struct interp_file f = {0};
	f.lang.v8 = (struct unwind_v8){.map_type = 12,
				       .is_array = ARRAY,
				       .array_head = 53,
				       .script_name = 16,
				       .length = 12,
				       .actual = 16,
				       .first = 16,
				       .second = 24};
	f.own[V8_OWN_SOURCE] = 8;
	f.own[V8_OWN_IS_CODE] = CODE;
	f.own[V8_OWN_ARRAY_POSITIONS] = 32;
	return f;
}

static void put_part(u8 *p, u64 type, const char *text)
{
	u32 n = (u32)strlen(text);
	memcpy(p, &type, sizeof(type));
	memcpy(p + V8_STRING_HEAD + 12, &n, sizeof(n));
	memcpy(p + V8_STRING_HEAD + V8_STRING_TEXT, text, n);
}

TEST(v8_names)
{
	const u64 none = V8_STRINGS, script = 1;
	struct interp_file f = layout();
	struct unwind_code raw = {0};
	struct interp_code c;
	struct arena a = {0};
	for (size_t i = 0; i < V8_PARTS; i++) {
		memcpy(raw.name + i * V8_NAME_BYTES, &none, sizeof(none));
		memcpy(raw.file + i * V8_FILE_BYTES, &none, sizeof(none));
	}
	interp_v8.code(&f, &raw, &a, &c);
	CHECK(c.hidden && str_is(c.name, "<anonymous>"));
	memcpy(raw.lines + V8_LINES_SCRIPT, &script, sizeof(script));
	interp_v8.code(&f, &raw, &a, &c);
	CHECK(!c.hidden && str_is(c.name, "<anonymous>") && !c.file.n);
	put_part(raw.name, STRING, "Module");
	put_part(raw.name + V8_NAME_BYTES, STRING, "._load");
	put_part(raw.file, STRING, "file:///a%20b/c%.mjs");
	interp_v8.code(&f, &raw, &a, &c);
	CHECK(str_is(c.name, "Module._load") && str_is(c.file, "/a b/c%.mjs"));
	/* two bytes for each character; a string that leads elsewhere; longer than what was copied */
	memset(raw.name, 0, V8_NAME_BYTES);
	put_part(raw.name, STRING & ~V8_ONE_BYTE, "\xe9");
	put_part(raw.name + V8_NAME_BYTES, CONS, "x");
	interp_v8.code(&f, &raw, &a, &c);
	CHECK(str_is(c.name, "\xc3\xa9"));
	put_part(raw.name, STRING, "ab");
	memset(raw.name + V8_STRING_HEAD + 12, 0xff, 4);
	interp_v8.code(&f, &raw, &a, &c);
	CHECK(c.name.n > V8_NAME_BYTES - V8_STRING_HEAD - V8_STRING_TEXT);
	arena_free(&a);
}

/* Differences of offsets (from -1 on) and positions: {0, 9}, {4, 15}, {8, 2}. */
static const u8 positions[] = {2, (9 + 1) << 2, 8, 6 << 2, 8, (13 << 2) - 1};

/* A function that has them, its source and its name. */
static void put_function(struct heap *h, struct unwind_code *raw)
{
	const u64 script = HEAP + SCRIPT + V8_TAG;
	*raw = (struct unwind_code){.addr = HEAP + FUNCTION};
	put_word(h, FUNCTION + 8, HEAP + BYTECODE + V8_TAG);
	put_object(h, BYTECODE, ARRAY);
	put_word(h, BYTECODE + 32, HEAP + TABLE + V8_TAG);
	put_word(h, TABLE + 8, (u64)sizeof(positions) << V8_SMI_SHIFT);
	put(h, TABLE + 16, positions, sizeof(positions));
	put_word(h, SCRIPT + 8, HEAP + SOURCE + V8_TAG);
	put_word(h, SCRIPT + 16, HEAP + NAME + V8_TAG);
	put_text(h, SOURCE, "one\ntwo\r\nthree\rfour");
	put_text(h, NAME, "/a.js");
	memcpy(raw->lines + V8_LINES_SCRIPT, &script, sizeof(script));
}

TEST(v8_lines_of_a_process_that_runs)
{
	struct interp_file f = layout();
	struct heap h = {0};
	struct interp_memory m = {&h, heap_read, heap_kept, heap_keep};
	struct unwind_code raw;
	struct interp_code c = {0};
	struct arena a = {0};
	put_function(&h, &raw);
	interp_v8.more(&f, &raw, &m, &a, &c);
	CHECK(str_is(c.file, "/a.js"));
	CHECK(interp_v8.line(&f, &c, 0) == 3 && interp_v8.line(&f, &c, 3) == 3);
	CHECK(interp_v8.line(&f, &c, 4) == 4 && interp_v8.line(&f, &c, 8) == 1);
	CHECK(!interp_v8.line(&f, &c, UNWIND_NO_INSTR));
	/* lines that come before; no table, no script; strings that lead to each other */
	put_word(&h, SCRIPT + 24, 10ull << V8_SMI_SHIFT);
	interp_v8.more(&f, &raw, &m, &a, &c);
	CHECK(interp_v8.line(&f, &c, 0) == 13);
	put_word(&h, BYTECODE + 32, 0);
	c = (struct interp_code){0};
	interp_v8.more(&f, &raw, &m, &a, &c);
	CHECK(!c.lines.n && c.file.n);
	/* a name that is gone while the process ends: the copied one stays */
	put_text(&h, NAME, "");
	c = (struct interp_code){.file = STR("/copied.js")};
	interp_v8.more(&f, &raw, &m, &a, &c);
	CHECK(str_is(c.file, "/copied.js"));
	put_object(&h, NAME, CONS);
	put_word(&h, NAME + 16, HEAP + NAME + V8_TAG);
	put_word(&h, NAME + 24, HEAP + NAME + V8_TAG);
	c = (struct interp_code){0};
	interp_v8.more(&f, &raw, &m, &a, &c);
	CHECK(!c.file.n);
	put_object(&h, SCRIPT, 0);
	memset(raw.lines, 0xff, sizeof(raw.lines));
	interp_v8.more(&f, &raw, &m, &a, &c);
	CHECK(!c.file.n);
	arena_free(&h.arena);
	arena_free(&a);
}

/* Code that its function does not lead to is found by the address of an instruction: by what is in front of it, which
 * leads to the Code (V8 11 and newer) or is the Code. */
TEST(v8_lines_of_code_that_was_replaced)
{
	enum { IS_CODE_AT = 0x1900, STREAM = 0x1a20, START = 0x1a40, SIZE = 0x100 };
	struct interp_file f = layout();
	struct heap h = {0};
	struct interp_memory m = {&h, heap_read, heap_kept, heap_keep};
	struct unwind_code raw;
	struct arena a = {0};
	const u64 code = HEAP + V8_PLACE, at[] = {START - 1, START, START + SIZE - 1, START + SIZE};
	const u32 size = SIZE;
	f.lang.v8.code = 48;
	f.lang.v8.start = 40;
	f.lang.v8.size = 56;
	f.own[V8_OWN_FLAGS] = 48;
	f.own[V8_OWN_BASELINE] = 11;
	f.own[V8_OWN_CODE_POSITIONS] = 24;
	put_function(&h, &raw);
	put_object(&h, IS_CODE_AT, CODE);
	put_word(&h, IS_CODE_AT + 24, HEAP + TABLE + V8_TAG);
	put_word(&h, IS_CODE_AT + 40, HEAP + START);
	put(&h, IS_CODE_AT + 56, &size, sizeof(size));
	put_object(&h, STREAM, ARRAY);
	put_word(&h, STREAM + 16, HEAP + IS_CODE_AT + V8_TAG);
	memcpy(raw.lines + V8_LINES_CODE, &code, sizeof(code));
	for (u32 inside = 0; inside < 2; inside++) {
		f.lang.v8.inside = inside;
		f.lang.v8.start = inside ? START - IS_CODE_AT : 40;
		for (u32 i = 0; i < countof(at); i++) {
			struct interp_code c = {0};
			bool in = at[i] >= START && at[i] < START + SIZE;
			memcpy(raw.lines + V8_LINES_INSTR, &at[i], sizeof(at[i]));
			interp_v8.more(&f, &raw, &m, &a, &c);
			CHECK(interp_v8.line(&f, &c, START) == (in ? 3 : 0));
			CHECK(interp_v8.line(&f, &c, START + 4) == (in ? 4 : 0));
			CHECK(interp_v8.line(&f, &c, START + SIZE - 1) == (in ? 1 : 0));
			CHECK(!interp_v8.line(&f, &c, START - 1));
			CHECK(!interp_v8.line(&f, &c, START + SIZE));
		}
	}
	arena_free(&h.arena);
	arena_free(&a);
}

TEST(functions_that_were_inlined)
{
	AUTO_SB b = {0};
	struct interp_frame f;
	interp_add(&b, 7, STR("inner"), STR("/a.js"));
	interp_add(&b, 0, STR("outer"), STR(""));
	struct bytes r = bytes_of(b.s, b.n);
	CHECK(interp_next(&r, &f) && f.line == 7 && str_is(f.name, "inner") &&
	      str_is(f.file, "/a.js"));
	CHECK(interp_next(&r, &f) && !f.line && str_is(f.name, "outer") && !f.file.n);
	CHECK(!interp_next(&r, &f));
	r = bytes_of(b.s, b.n - 1);
	CHECK(interp_next(&r, &f) && !interp_next(&r, &f));
}

/* {instruction, line, where the chain is, and 1} */
TEST(v8_inlined_functions_of_an_instruction)
{
	AUTO_SB chain = {0};
	struct interp_frame f;
	u32 n = 0;
	sb_mem(&chain, &n, sizeof(n));
	interp_add(&chain, 5, STR("inner"), STR("/a.js"));
	n = (u32)(chain.n - sizeof(n));
	memcpy(chain.s, &n, sizeof(n));
	const u32 entries[] = {2, 10, 0, 8, 11, 1, 16, 12, 1000};
	struct interp_code c = {.lines = str_n((const char *)entries, sizeof(entries)),
				.inlined = sb_str(&chain)};
	AUTO_SB got = {0};
	interp_v8.inlined(&c, 1, &got);
	interp_v8.inlined(&c, 2, &got);
	CHECK(!got.n);
	interp_v8.inlined(&c, 9, &got);
	struct str in = sb_str(&got);
	struct bytes r = bytes_of(in.s, in.n);
	CHECK(interp_next(&r, &f) && f.line == 5 && str_is(f.name, "inner") && r.at == r.n);
	u32 all = (u32)got.n;
	interp_v8.inlined(&c, 16, &got);
	interp_v8.inlined(&c, UNWIND_NO_INSTR, &got);
	CHECK(got.n == all);
	CHECK(interp_v8.line(NULL, &c, 9) == 11 && !interp_v8.line(NULL, &c, 1));
}

/* A pointer to a group, which has a pointer to a table, some of whose entries lead to code. */
TEST(v8_table_of_code)
{
	enum { GROUP_AT = 0x1000, GROUP = 0x1100, TABLE_AT = 24, FIRST = 3 };
	static struct heap h;
	struct interp_file f = layout();
	struct interp_memory m = {.arg = &h, .read = heap_read};
	f.own[V8_OWN_GROUP] = GROUP_AT;
	put_object(&h, FUNCTION, CODE);
	/* nothing is there yet */
	CHECK(!v8_learn(&f, &m, HEAP) && !f.own[V8_OWN_TABLE]);
	put_word(&h, GROUP_AT, HEAP + GROUP);
	/* what is no table, and what is not where one may be */
	put_word(&h, GROUP + 8, 1ull << V8_TABLE_SHIFT << 20);
	put_word(&h, GROUP + 16, HEAP + BYTECODE);
	put_word(&h, GROUP + TABLE_AT, HEAP);
	CHECK(!v8_learn(&f, &m, HEAP) && !f.own[V8_OWN_TABLE]);
	/* an entry, with and without the tag of the pointer */
	for (u32 tag = 0; tag <= V8_TAG; tag++) {
		put_word(&h, FIRST * V8_ENTRY + V8_ENTRY_CODE,
			 ((u64)HEAP + FUNCTION + tag) << V8_ENTRY_SHIFT | 2);
		CHECK(v8_learn(&f, &m, HEAP) && f.own[V8_OWN_TABLE] == TABLE_AT);
		CHECK(v8_code_table(&f, &m, HEAP) == HEAP);
	}
	/* another process, whose table is not there yet */
	put_word(&h, GROUP + TABLE_AT, 0);
	CHECK(!v8_code_table(&f, &m, HEAP));
	put_word(&h, GROUP + TABLE_AT, HEAP + 8);
	CHECK(!v8_code_table(&f, &m, HEAP));
}
