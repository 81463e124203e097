#include "lang/language.h"
#include "test.h"
#include <dirent.h>

enum { MAX_SCRIPT = 1 << 20 };

/* The text in canonical form; NULL: it has mistakes. */
static struct node *format(struct arena *a, struct str text, struct sb *out)
{
	struct source *src = arena_new(a, struct source);
	*src = (struct source){STR("t"), text};
	struct diags ds = {.arena = a, .source = src, .nsource = 1};
	struct comment *notes = NULL;
	struct node *tree = languages[0]->parse(a, &ds, 0, &notes);
	if (ds.nerror)
		return NULL;
	languages[0]->format(tree, text, notes, out);
	return tree;
}

static u32 ncomment(struct arena *a, struct str text)
{
	struct source *src = arena_new(a, struct source);
	*src = (struct source){STR("t"), text};
	struct diags ds = {.arena = a, .source = src, .nsource = 1};
	struct comment *notes = NULL;
	u32 n = 0;
	languages[0]->parse(a, &ds, 0, &notes);
	for (; notes; notes = notes->next)
		n++;
	return n;
}

/* The form means the same, and is its own form. */
static bool round_trip(struct str text, const char *name)
{
	struct arena a = {0};
	AUTO_SB once = {0};
	AUTO_SB twice = {0};
	struct node *tree = format(&a, text, &once);
	bool read = tree != NULL;
	if (read) {
		struct node *again = format(&a, sb_str(&once), &twice);
		if (!again || !node_eq(tree, again))
			test_fail(name, 0, "the formatted script has another tree");
		if (!str_eq(sb_str(&once), sb_str(&twice)))
			test_str(name, 0, "formatted again", twice.s ? twice.s : "", once.s);
		CHECK(ncomment(&a, sb_str(&once)) >= ncomment(&a, text));
	}
	arena_free(&a);
	return read;
}

static void round_trip_file(const char *dir, const char *name, u32 *n)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "re");
	char *text = malloc(MAX_SCRIPT);
	if (f && text) {
		size_t len = fread(text, 1, MAX_SCRIPT, f);
		*n += round_trip(str_n(text, len), path);
	}
	free(text);
	if (f)
		fclose(f);
}

static u32 round_trip_dir(const char *dir)
{
	u32 n = 0;
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));)
		if (str_ends(str_z(e->d_name), STR(".bt")))
			round_trip_file(dir, e->d_name, &n);
	if (d)
		closedir(d);
	return n;
}

/* SONDE_SCRIPTS: one more directory. */
TEST(fmt_round_trip)
{
	const char *more = getenv("SONDE_SCRIPTS");
	CHECK(round_trip_dir("tests/lang") > 50);
	round_trip_dir("tools");
	round_trip_dir("/usr/sbin");
	if (more)
		CHECK(round_trip_dir(more) > 0);
}

static void check_form(const char *text, const char *want)
{
	struct arena a = {0};
	AUTO_SB out = {0};
	CHECK(format(&a, str_z(text), &out) != NULL);
	CHECK_STR(out.s ? out.s : "", want);
	arena_free(&a);
}

TEST(fmt_layout)
{
	check_form("begin{$x=1;if($x){print( $x )}else{exit();}}",
		   "begin\n{\n  $x = 1;\n  if ($x) {\n    print($x)\n  } else {\n    exit();\n  "
		   "}\n}\n");
	check_form("begin,end/pid==1/{print($a->b.c)}",
		   "begin,\nend\n/pid == 1/\n{\n  print($a.b.c)\n}\n");
	check_form("config={strlen=5}let@a=hash(3)macro m($x,@y,z){z}",
		   "config = {\n  strlen = 5;\n}\nlet @a = hash(3);\n\nmacro m($x, @y, z)\n{\n  "
		   "z\n}\n");
}

TEST(fmt_declarations)
{
	check_form("options { failed x = false \"only\"; min m [1] = 10ms T; n:list=\"\"; u = -1; "
		   "w:\"a\"|\"b\"=\"a\";l:words\"a\"|\"b\"=\"\" W;pid,c }",
		   "options {\n  failed x = false \"only\";\n  min m [1] = 10ms T;\n"
		   "  n : list = \"\";\n  u = -1;\n  w : \"a\" | \"b\" = \"a\";\n"
		   "  l : words \"a\" | \"b\" = \"\" W;\n"
		   "  pid;\n  c;\n}\n");
	check_form("table t { a; b \"B\" 5 ms right if opt.x&&opt.y; } table u sorted by -a {a}",
		   "table t {\n  a;\n  b \"B\" 5 ms right if opt.x && opt.y;\n}\n\n"
		   "table u sorted by -a {\n  a;\n}\n");
	check_form("begin{emit(t,a=1,b=pid)}", "begin\n{\n  emit(t, a = 1, b = pid)\n}\n");
}

TEST(fmt_ways)
{
	check_form("a:b else c:d,e:f{}else g:h{}begin{}",
		   "a:b\nelse c:d,\ne:f\n{\n}\n\nelse g:h\n{\n}\n\nbegin\n{\n}\n");
}

TEST(fmt_comments)
{
	check_form(
		"// one\n\n\n/* two */ begin { // three\n  /* four\n   * five */\n  exit(); // "
		"six\n"
		"  // seven\n}\n// eight",
		"// one\n\n// two\nbegin\n{\n  // three\n  // four\n  // five\n  exit(); // six\n"
		"  // seven\n}\n\n// eight\n");
	check_form("begin { print(1, /* in */ 2); }", "begin\n{\n  print(1, 2);\n  // in\n}\n");
	check_form("struct a { int b; /* kept */ };\nbegin {}",
		   "struct a { int b; /* kept */ };\n\nbegin\n{\n}\n");
}

TEST(fmt_operators)
{
	check_form("begin { print(- -$x); print(!($a&&$b)); $c=(uint8)-1; $d=$x?:3; print((1,)); }",
		   "begin\n{\n  print(- -$x);\n  print(!($a && $b));\n  $c = (uint8)-1;\n"
		   "  $d = $x ?: 3;\n  print((1,));\n}\n");
	check_form("kprobe:f / *$p / { }", "kprobe:f\n/ *$p/\n{\n}\n");
}
