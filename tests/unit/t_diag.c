#include "base/err.h"
#include "base/opt.h"
#include "test.h"

static const struct source sources[] = {
	{STR("stdin"), STR("begin { $a = 1; $a = \"x\"; }\n\tfoo(1)\nend {\n}\n")},
	{STR("lib.bt"), STR("x")},
};

static char *shown(const struct diags *ds, bool color)
{
	static char text[4096];
	FILE *f = fmemopen(text, sizeof(text), "w");
	diags_print(ds, f, color);
	fclose(f);
	return text;
}

TEST(diag_points_at_the_script)
{
	struct arena a = {0};
	struct diags ds = {.arena = &a, .source = sources, .nsource = 2};
	struct diag *d = diag_add(&ds, E_UNKNOWN_FUNC, (struct loc){29, 6, 0},
				  "Unknown function: '%s'", "foo");
	diag_hint(&ds, d, "did you mean %s?", "fo");
	d = diag_add(&ds, E_TYPE, (struct loc){16, 8, 0}, "Type mismatch for $a");
	diag_note(&ds, d, (struct loc){8, 6, 0}, "This is the initial assignment.");
	diag_note(&ds, d, (struct loc){8, 6, 0}, "This is the initial assignment.");
	CHECK(d == diag_add(&ds, E_TYPE, (struct loc){16, 8, 0}, "again"));
	diag_add(&ds, W_UNUSED, (struct loc){36, 7, 0}, "over two lines");
	diag_add(&ds, E_SYSTEM, (struct loc){0}, "no place");
	diag_add(&ds, E_LIMIT, (struct loc){0, 1, 1}, "other file");
	CHECK(ds.nerror == 4 && ds.nwarn == 1);
	CHECK_STR(shown(&ds, false), "stdin:1:17-25: ERROR: Type mismatch for $a\n"
				     "begin { $a = 1; $a = \"x\"; }\n"
				     "                ~~~~~~~~\n"
				     "stdin:1:9-15: ERROR: This is the initial assignment.\n"
				     "begin { $a = 1; $a = \"x\"; }\n"
				     "        ~~~~~~\n"
				     "stdin:2:2-8: ERROR: Unknown function: 'foo'\n"
				     "    foo(1)\n"
				     "    ~~~~~~\n"
				     "HINT: did you mean fo?\n"
				     "stdin:3-4: WARNING: over two lines\n"
				     "lib.bt:1:1-2: ERROR: other file\n"
				     "x\n"
				     "~\n"
				     "ERROR: no place\n");
	arena_free(&a);
}

TEST(diag_codes_colors_and_no_warnings)
{
	struct arena a = {0};
	struct diags ds = {.arena = &a, .no_warn = true, .codes = true};
	struct diag *d = diag_add(&ds, W_CAST, (struct loc){0}, "quiet");
	diag_hint(&ds, d, "still safe");
	diag_add(&ds, E_CONFIG, (struct loc){0}, "loud");
	CHECK(ds.nwarn == 0);
	CHECK_STR(shown(&ds, true), "\033[31mERROR: [E_CONFIG] loud\033[0m\n");
	CHECK_STR(diag_code_name(W_LENGTH), "W_LENGTH");
	arena_free(&a);
}

TEST(diag_place_without_source)
{
	struct diags ds = {.source = sources, .nsource = 2};
	u32 line = 0, col = 0;
	AUTO_SB b = {0};
	CHECK(!diag_place(&ds, (struct loc){0}, &line, &col));
	CHECK(!diag_place(&ds, (struct loc){1, 1, 9}, &line, &col));
	CHECK(!diag_place(&ds, (struct loc){9999, 1, 0}, &line, &col));
	CHECK(diag_place(&ds, (struct loc){29, 3, 0}, &line, &col) && line == 2 && col == 2);
	diag_place_text(&ds, (struct loc){0}, &b);
	CHECK(b.n == 0);
	struct loc span = loc_span((struct loc){8, 2, 0}, (struct loc){13, 1, 0});
	CHECK(span.pos == 8 && span.len == 6);
}

TEST(err_says_what_failed)
{
	struct arena a = {0};
	struct diags ds = {.arena = &a};
	struct err *e = err_sys(2, "open %s", "/x");
	CHECK_STR(e->msg, "open /x: No such file or directory");
	CHECK(e->no == 2);
	e = err_wrap(e, "attach %s: ", "k");
	CHECK_STR(e->msg, "attach k: open /x: No such file or directory");
	diag_err(&ds, E_SYSTEM, (struct loc){0}, e);
	CHECK_STR(ds.head->msg, "attach k: open /x: No such file or directory");
	err_free(err_new("%d", 3));
	err_free(NULL);
	arena_free(&a);
}

static const struct opt table[] = {
	{"verbose", 'v', NULL, "say more", 1}, {"pid", 'p', "PID", "only this process", 2},
	{"version", 'V', NULL, "version", 3},  {"include", 0, "FILE", "a file", 4},
	{NULL, 'e', "PROG", NULL, 5},          {0},
};

static struct err *note(void *self, int id, const char *val)
{
	sb_fmt(self, "%d=%s ", id, val ? val : "-");
	return NULL;
}

static char *parsed(struct sb *b, char **argv, char **rest, int *nrest, int *ndash)
{
	int argc = 0;
	while (argv[argc])
		argc++;
	sb_clear(b);
	struct err *e = opt_parse(table, argc, argv, note, b, rest, nrest, ndash);
	if (e)
		sb_z(b, e->msg);
	else if (!b->n)
		sb_z(b, "");
	err_free(e);
	return b->s;
}

#define ARGV(...) ((char *[]){"x", __VA_ARGS__, NULL})

TEST(opt_follows_getopt_long)
{
	AUTO_SB b = {0};
	char *rest[16];
	int n, dash;
	CHECK_STR(parsed(&b, ARGV("-vp7", "f", "--pid=8", "--include", "h", "-", "--", "-v"), rest,
			 &n, &dash),
		  "1=- 2=7 2=8 4=h ");
	CHECK(n == 3 && dash == 2);
	CHECK_STR(rest[0], "f");
	CHECK_STR(rest[1], "-");
	CHECK_STR(rest[2], "-v");
	CHECK_STR(parsed(&b, ARGV("--inc", "x"), rest, &n, &dash), "4=x ");
	CHECK(n == 0 && dash == 0);
	CHECK_STR(parsed(&b, ARGV("--ver"), rest, &n, &dash), "option '--ver' is ambiguous");
	CHECK_STR(parsed(&b, ARGV("--nope"), rest, &n, &dash), "unrecognized option '--nope'");
	CHECK_STR(parsed(&b, ARGV("-x"), rest, &n, &dash), "invalid option -- 'x'");
	CHECK_STR(parsed(&b, ARGV("-p"), rest, &n, &dash), "option requires an argument -- 'p'");
	CHECK_STR(parsed(&b, ARGV("--pid"), rest, &n, &dash),
		  "option '--pid' requires an argument");
	CHECK_STR(parsed(&b, ARGV("--verbose=1"), rest, &n, &dash),
		  "option '--verbose' doesn't allow an argument");
	CHECK_STR(parsed(&b, ARGV("-e", "-v"), rest, &n, &dash), "5=-v ");
}
