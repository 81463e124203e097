/* Functions of Perl: names, files and lines, as they lie in a process; what makes no sense. */
#include "core/perl.h"
#include "interp/common.h"
#include "test.h"
#include "unwind/lang.h"
#include <string.h>

static void put_hek(u8 *p, const char *text, u32 n)
{
	memcpy(p + PERL_HEK_LENGTH, &n, sizeof(n));
	memcpy(p + PERL_HEK_TEXT, text, strlen(text) + 1);
}

TEST(perl_names)
{
	struct unwind_code raw = {.addr = 0x1000};
	struct interp_file f = {0};
	struct interp_code c;
	struct arena a = {0};
	memcpy(raw.file, "/a/b.pl", 8);
	put_hek(raw.name, "run", 3);
	put_hek(raw.name + PERL_NAME_BYTES, "Some::Class", 11);
	interp_perl.code(&f, &raw, &a, &c);
	CHECK(str_is(c.name, "Some::Class::run") && str_is(c.file, "/a/b.pl"));
	put_hek(raw.name + PERL_NAME_BYTES, "", 0);
	interp_perl.code(&f, &raw, &a, &c);
	CHECK(str_is(c.name, "run"));
	/* longer than what was copied, and a length that cannot be */
	put_hek(raw.name, "run", 153);
	put_hek(raw.name + PERL_NAME_BYTES, "p", UINT32_MAX);
	interp_perl.code(&f, &raw, &a, &c);
	CHECK(c.name.n == 152 + 4 + 152 + 2);
	put_hek(raw.name, "", 0);
	interp_perl.code(&f, &raw, &a, &c);
	CHECK(!c.name.n);
	memset(raw.file, 'x', sizeof(raw.file));
	interp_perl.code(&f, &raw, &a, &c);
	CHECK(c.file.n == sizeof(raw.file));
	arena_free(&a);
}

TEST(perl_frames_without_function)
{
	static const char *const name[] = {"(eval)", "(require)", "(format)", "(main)"};
	struct interp_file f = {0};
	struct interp_code c;
	struct arena a = {0};
	for (u32 i = PERL_FRAME_EVAL; i <= PERL_FRAME_MAIN; i++) {
		struct unwind_code raw = {.addr = i};
		interp_perl.code(&f, &raw, &a, &c);
		CHECK(str_is(c.name, name[i - PERL_FRAME_EVAL]));
	}
	CHECK(interp_perl.line(&f, &c, 7) == 7 && !interp_perl.line(&f, &c, UNWIND_NO_INSTR));
	arena_free(&a);
}
