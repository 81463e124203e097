/* Functions of PHP: names, files and lines, as they lie in a process; what makes no sense. */
#include "interp/common.h"
#include "test.h"
#include "unwind/lang.h"
#include <string.h>

enum { INTERNAL = 1, USER = 2, CLASS = 16, FIRST = 160, TEXT = 24 };

static const struct interp_file file = {.label = "php8.2", .own = {FIRST}};

static void put(u8 *p, const char *text, u64 length)
{
	memcpy(p + 16, &length, sizeof(length));
	memcpy(p + TEXT, text, strlen(text));
}

TEST(php_names)
{
	struct unwind_code raw = {0};
	struct interp_code c;
	struct arena a = {0};
	raw.code[0] = USER;
	raw.code[FIRST] = 7;
	put(raw.file, "/srv/app/index.php", 18);
	interp_php.code(&file, &raw, &a, &c);
	CHECK(str_is(c.name, "index.php") && str_is(c.file, "/srv/app/index.php") && c.line == 7);
	put(raw.name, "run", 3);
	interp_php.code(&file, &raw, &a, &c);
	CHECK(str_is(c.name, "run") && !c.hidden);
	put(raw.lines + CLASS, "App\\Shape", 9);
	interp_php.code(&file, &raw, &a, &c);
	CHECK(str_is(c.name, "App\\Shape::run"));
	/* A class without a name has one with where it is, behind a 0. */
	memcpy(raw.lines + CLASS + TEXT + 3, "\0/a.php", 7);
	interp_php.code(&file, &raw, &a, &c);
	CHECK(str_is(c.name, "App::run"));
	arena_free(&a);
}

TEST(php_lines)
{
	const struct interp_code c = {.file = STR("a.php"), .line = 3};
	const struct interp_code native = {.line = 0};
	CHECK(interp_php.line(&file, &c, 12) == 12);
	CHECK(interp_php.line(&file, &c, UNWIND_NO_INSTR) == 3);
	CHECK(!interp_php.line(&file, &native, 12));
}

/* Functions written in C have no file, whatever stands where others have it. */
TEST(php_functions_in_c)
{
	struct unwind_code raw = {0};
	struct interp_code c;
	struct arena a = {0};
	raw.code[0] = INTERNAL;
	raw.code[FIRST] = 7;
	put(raw.file, "nonsense", 8);
	put(raw.name, "strlen", 6);
	interp_php.code(&file, &raw, &a, &c);
	CHECK(str_is(c.name, "strlen") && !c.file.n && !c.line && !c.hidden);
	memset(raw.name, 0, sizeof(raw.name));
	interp_php.code(&file, &raw, &a, &c);
	CHECK(c.hidden);
	arena_free(&a);
}

/* Longer than what was copied, or than can be. */
TEST(php_long_texts)
{
	struct unwind_code raw = {0};
	struct interp_code c;
	struct arena a = {0};
	const u64 huge = UINT64_MAX;
	raw.code[0] = USER;
	memset(raw.name, 'n', sizeof(raw.name));
	memset(raw.file, 'f', sizeof(raw.file));
	memcpy(raw.name + 16, &huge, sizeof(huge));
	memcpy(raw.file + 16, &huge, sizeof(huge));
	interp_php.code(&file, &raw, &a, &c);
	CHECK(c.name.n == UNWIND_NAME_BYTES - TEXT + 2 && str_ends(c.name, STR("n..")));
	CHECK(c.file.n == UNWIND_FILE_BYTES - TEXT + 2 && str_ends(c.file, STR("f..")));
	arena_free(&a);
}
