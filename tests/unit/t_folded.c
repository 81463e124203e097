/* Maps keyed by stacks as lines; what profile.c makes of keys, values and repeated prints. */
#include "sinks.h"

static void check(const char *format, const struct item *v, u32 n, const char *want,
		  const char *remarks, const char *error)
{
	struct capture c;
	capture_open(&c, format);
	for (u32 i = 0; i < n; i++)
		capture_put(&c, v[i]);
	capture_put(&c, (struct item){.kind = I_END});
	capture_close(&c);
	CHECK_STR(c.text.s, want);
	CHECK_STR(c.remarks.s, remarks);
	CHECK_STR(c.e ? c.e->msg : "", error);
	capture_free(&c);
}

TEST(folded_keys)
{
	struct frame u[3], k[2], x[2];
	struct value user =
		stack_of(false, 3, u, "work(int; char)@/bin/a", "@/lib/libx.so.1", "main@/bin/a");
	struct value kernel = stack_of(true, 2, k, "do_work", "entry\n1");
	struct value other = stack_of(false, 2, x, "", "main@/bin/a");
	struct value a[] = {kernel, {.kind = V_STR, .str = STR("co;mm")}, user};
	struct value b[] = {(struct value){.kind = V_STACK, .kernel = true},
			    {.kind = V_STR, .str = STR("b")},
			    other};
	struct value key[] = {{.kind = V_TUPLE, .n = 3, .list = a},
			      {.kind = V_TUPLE, .n = 3, .list = b}};
	struct value val[] = {{.kind = V_UINT, .u = 5}, {.kind = V_UINT, .u = UINT64_MAX}};
	struct item it = map_item("@", T_COUNT, key, val, 2);
	check("folded", &it, 1,
	      "b;main;[unknown] 18446744073709551615\n"
	      "co:mm;main;[libx.so.1];work(int: char);entry\\n1;do_work 5\n",
	      "", "");
	it.map.n = 1;
	check("folded:annotate", &it, 1,
	      "co:mm;main;[libx.so.1];work(int: char);entry\\n1_[k];do_work_[k] 5\n", "", "");
	it.map.n = 2;
	check("folded:delimiter", &it, 1,
	      "b;main;[unknown] 18446744073709551615\n"
	      "co:mm;main;[libx.so.1];work(int: char);-;entry\\n1;do_work 5\n",
	      "", "");
}

/* Of who waited, and of who woke it; what stands between is of the second. */
TEST(folded_two_of_a_kind)
{
	struct frame u[2], k[1], x[2], y[1];
	struct value a[] = {
		{.kind = V_STR, .str = STR("first")},
		stack_of(true, 1, k, "schedule"),
		stack_of(false, 2, u, "wait@/bin/a", "main@/bin/a"),
		{.kind = V_STR, .str = STR("second")},
		stack_of(true, 1, y, "wake"),
		stack_of(false, 2, x, "unlock@/bin/a", "main@/bin/a"),
		{.kind = V_INT, .i = 7},
	};
	struct value key = {.kind = V_TUPLE, .n = 7, .list = a};
	struct value val = {.kind = V_UINT, .u = 5};
	struct item it = map_item("@", T_COUNT, &key, &val, 1);
	check("folded", &it, 1, "first;main;wait;schedule;second;7;main;unlock;wake 5\n", "", "");
	key.n = 5; /* one of the second's */
	check("folded", &it, 1, "first;main;wait;schedule;second;wake 5\n", "", "");
}

/* The same names at other addresses are one line; values of all kinds are weights. */
TEST(folded_sums)
{
	struct frame f[3][1];
	struct bucket bucket[] = {{0, 1, .count = 2}, {1, 2, .count = 3}};
	struct value stats[] = {
		{.kind = V_INT, .i = 2}, {.kind = V_INT, .i = 3}, {.kind = V_INT, .i = 7}};
	struct value key[] = {stack_of(false, 1, f[0], "f@/a"), stack_of(false, 1, f[1], "f@/a"),
			      stack_of(false, 1, f[2], "g@/a")};
	struct value val[] = {{.kind = V_HIST, .n = 2, .hist = bucket},
			      {.kind = V_STATS, .n = 3, .list = stats},
			      {.kind = V_INT, .i = -4}};
	f[1][0].addr = 0x9000;
	struct item it = map_item("@", T_SUM, key, val, 3);
	check("folded", &it, 1, "f 12\n", "", "");
}

TEST(folded_prints)
{
	struct frame f[1], g[1];
	struct value k1 = stack_of(true, 1, f, "f"), k2 = stack_of(true, 1, g, "g");
	struct value one = {.kind = V_UINT, .u = 1}, two = {.kind = V_UINT, .u = 2};
	struct item v[] = {
		map_item("@", T_COUNT, &k1, &one, 1), map_item("@", T_COUNT, &k1, &two, 1),
		map_item("@", T_COUNT, &k2, &two, 1), map_item("@b", T_COUNT, &k2, &one, 1)};
	check("folded", v, 2, "f 2\n", "", ""); /* printed again */
	v[1].map.epoch = 1;
	check("folded", v, 2, "f 3\n", "", ""); /* cleared between */
	v[2].map.epoch = 1;
	check("folded", v, 3, "f 1\ng 2\n", "", "");
	check("folded", v, 4, "@;f 1\n@;g 2\n@b;g 1\n", "", "");
}

TEST(folded_says_what_it_cannot_show)
{
	struct frame f[1];
	struct value key[] = {stack_of(true, 1, f, "f")}, text = {.kind = V_STR, .str = STR("t")};
	struct value one = {.kind = V_UINT, .u = 1};
	struct item v[] = {map_item("@x", T_COUNT, &text, &one, 1),
			   map_item("@a", T_AVG, key, &one, 1),
			   map_item("@s", T_STRING, key, &text, 1),
			   map_item("@", T_COUNT, key, &one, 1),
			   {.kind = I_TEXT, .name = STR("printf"), .str = STR("hi\n")},
			   {.kind = I_VALUE, .text.val = &text}};
	check("folded", v, 6, "f 1\n",
	      "hi\nt\nWARNING: -f folded leaves out @x: its key holds no stack; @a: averages, "
	      "minima and "
	      "maxima cannot be added up; use sum() or count(); @s: its values are no numbers\n",
	      "");
	check("folded", v, 1, "", "",
	      "-f folded shows maps that count stacks, as in @[ustack] = count(); @x: its key "
	      "holds no "
	      "stack");
	check("folded", v, 0, "", "",
	      "no stacks were counted; -f folded shows maps of them, as in @[ustack] = count()");
}

/* The kernel refused the program, or the probe: that has been told. */
TEST(nothing_is_said_of_what_did_not_run)
{
	struct capture c;
	capture_open(&c, "folded");
	capture_close(&c);
	CHECK(!c.e && !c.text.n && !c.remarks.n);
	capture_free(&c);
}

TEST(formats_by_name_and_by_ending)
{
	struct str opts[SINK_OPTIONS] = {{0}};
	CHECK(sink_of_file(STR("a.folded")) == sink_named(STR("folded")));
	CHECK(!sink_of_file(STR("a.txt")) && !sink_named(STR("fold")));
	struct err *e = sink_set_options(sink_named(STR("folded")), STR("annotate=1"), opts);
	CHECK_STR(e ? e->msg : "", "option 'annotate' of format folded takes no value");
	err_free(e);
	e = sink_set_options(sink_named(STR("json")), STR("x"), opts);
	CHECK_STR(e ? e->msg : "", "format json has no option 'x'");
	err_free(e);
}
