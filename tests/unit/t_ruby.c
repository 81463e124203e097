/* Functions of CRuby: names, files and lines, as they lie in a process; what makes no sense. */
#include "interp/common.h"
#include "test.h"
#include "unwind/lang.h"
#include <string.h>

enum { STRING = 5, ARRAY = 7, ELSEWHERE = 1 << 13 };

/* As interp_file.own has them: first line, whether it is an object, entries, bytes of one, text. */
static struct interp_file version(bool newer)
{
	struct interp_file f = {.label = "ruby3", .own = {88, !newer, newer ? 128 : 136, 12, 16}};
	if (newer)
		f.own[4] = 24;
	return f;
}

static void put(u8 *p, u32 at, u64 v, u32 n)
{
	memcpy(p + at, &v, n);
}

static void put_entry(struct unwind_code *raw, u32 i, u32 line)
{
	put(raw->lines, 12 * i, line, 4);
}

/* The text is within the object, elsewhere, or too long for what was copied. */
TEST(ruby_texts)
{
	struct unwind_code raw = {0};
	struct interp_code c;
	struct arena a = {0};
	struct interp_file f = version(false);
	put(raw.name, 0, STRING | 3 << 14, 8);
	memcpy(raw.name + 16, "abc", 3);
	put(raw.file, 0, STRING | ELSEWHERE, 8);
	put(raw.file, 16, 6, 8);
	memcpy(raw.file + 2ul * 192, "/a/b.rb", 7);
	interp_ruby.code(&f, &raw, &a, &c);
	CHECK(str_is(c.name, "abc") && str_is(c.file, "/a/b.r"));
	f = version(true);
	put(raw.name, 16, 2, 8);
	memcpy(raw.name + 24, "xyz", 3);
	put(raw.file, 0, ARRAY | ELSEWHERE, 8); /* its first item is within */
	put(raw.file, 192, STRING | ELSEWHERE, 8);
	put(raw.file, 192 + 16, 1000, 8);
	memset(raw.file + 3ul * 192, 'p', 192);
	interp_ruby.code(&f, &raw, &a, &c);
	CHECK(str_is(c.name, "xy"));
	CHECK(c.file.n == 194 && c.file.s[191] == 'p' && c.file.s[193] == '.');
	put(raw.name, 16, UINT64_MAX, 8);
	put(raw.file, 192, ARRAY, 8);
	interp_ruby.code(&f, &raw, &a, &c);
	CHECK(c.name.n == 160 - 24 + 2 && !c.file.n);
	arena_free(&a);
}

TEST(ruby_lines)
{
	struct unwind_code raw = {0};
	struct interp_code c;
	struct arena a = {0};
	const struct interp_file f = version(true);
	put(raw.code, 88, 40, 4);
	put(raw.code, 128, 4, 4);
	const u32 line[] = {41, 42, 44, 50};
	for (u32 i = 0; i < countof(line); i++)
		put_entry(&raw, i, line[i]);
	/* Entries begin at instructions 0, 2, 60 and 130: how many up to 0, 1 ... 8, in 7 bits each. */
	u64 word = 1 | 1 << 7, rest = 0;
	for (u32 i = 2; i < 9; i++)
		word |= 2ull << (7 * i);
	for (u32 i = 0; i < 9; i++)
		rest |= 2ull << (7 * i);
	put(raw.lines, 1392, word, 8);
	for (u32 i = 1; i < 6; i++)
		put(raw.lines, 1392 + 8 * i, rest, 8);
	u32 block = 1392 + 48;
	put(raw.lines, block, 2, 4); /* before 54 */
	u64 parts = 1;               /* before the second part, the third ... */
	for (u32 i = 1; i < 7; i++)
		parts |= 2ull << (9 * i);
	put(raw.lines, block + 8, parts, 8);
	put(raw.lines, block + 16, 1ull << (60 - 54), 8);
	put(raw.lines, block + 24, 1ull << (130 - 54 - 64), 8);
	interp_ruby.code(&f, &raw, &a, &c);
	CHECK(c.line == 40 && interp_ruby.line(&f, &c, UNWIND_NO_INSTR) == 40);
	/* The frame has the next instruction. */
	const u32 at[] = {0, 1, 2, 3, 10, 54, 60, 61, 130, 131, 180, 500};
	const u32 want[] = {41, 41, 41, 42, 42, 42, 42, 44, 44, 50, 50, 50};
	for (u32 i = 0; i < countof(at); i++)
		CHECK(interp_ruby.line(&f, &c, at[i]) == want[i]);
	CHECK(!interp_ruby.line(&f, &c, 100000)); /* its part of the index was not copied */
	put(raw.code, 128, 1, 4);
	interp_ruby.code(&f, &raw, &a, &c);
	CHECK(interp_ruby.line(&f, &c, 100000) == 41); /* there is one line */
	/* Ruby 2.7, whose entries are smaller, and begin at 0 and 1 */
	const struct interp_file old = {.label = "ruby2.7", .own = {88, 1, 136, 8, 16}};
	put(raw.code, 88, 40 << 1 | 1, 4);
	put(raw.code, 136, 2, 4);
	put(raw.lines, 8, 43, 4);
	put(raw.lines, 1392, 1 | 2 << 7, 8);
	interp_ruby.code(&old, &raw, &a, &c);
	CHECK(c.line == 40 && interp_ruby.line(&old, &c, 1) == 41 &&
	      interp_ruby.line(&old, &c, 2) == 43);
	put(raw.code, 128, UINT32_MAX, 4);
	put(raw.lines, 1392, 127, 8);
	interp_ruby.code(&f, &raw, &a, &c);
	CHECK(!interp_ruby.line(&f, &c, 0)); /* an entry behind those that are here */
	arena_free(&a);
}
