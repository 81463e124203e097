/* Heat maps: what columns and rows are made of. Times differ from run to run, the rest does not. */
#include "base/clock.h"
#include "sinks.h"

static struct value hist(const struct bucket *v, u32 n)
{
	return (struct value){.kind = V_HIST, .n = n, .hist = v};
}

static struct item print(const struct value *key, const struct value *v, u64 n, u32 epoch, u64 ms)
{
	struct item it = map_item("@h", T_HIST, key, v, n);
	it.ts = now_ns() + ms * 1000000;
	it.epoch = epoch;
	return it;
}

/* From the rows of the data on. */
static void check_data(struct capture *c, const char *want)
{
	capture_put(c, (struct item){.kind = I_END});
	capture_close(c);
	CHECK(!c->e);
	struct str s = sb_str(&c->text);
	i32 at = str_find(s, STR("&#34;Y&#34;")), end = str_find(s, STR("</metadata>"));
	CHECK(at > 0 && end > at);
	AUTO_SB got = {0};
	sb_add(&got, str_n(s.s + at, (size_t)(end - at)));
	CHECK_STR(got.s, want);
}

/* Without clear() a print holds all since the start; with it, what came since. */
TEST(heat_columns)
{
	struct bucket a[] = {{1, 2, .count = 3}}, b[] = {{1, 2, .count = 5}, {2, 4, .count = 1}},
		      d[] = {{16, 32, .count = 2}};
	struct value va = hist(a, 1), vb = hist(b, 2), vd = hist(d, 1);
	struct capture c;
	capture_open(&c, "heat");
	capture_put(&c, print(NULL, &va, 1, 0, 1));
	capture_put(&c, print(NULL, &vb, 1, 0, 2));
	capture_put(&c, print(NULL, &vb, 0, 0, 3)); /* nothing is shown: nothing there */
	capture_put(&c, print(NULL, &vd, 1, 1, 4));
	check_data(&c, "&#34;Y&#34;:[[1,2],[2,4],[4,8],[8,16],[16,32]],\n"
		       "&#34;V&#34;:[[0,3],\n[0,2,1,1],\n[],\n[4,2]]}");
	CHECK(str_find(sb_str(&c.text), STR("<desc>8 values of @h in 4 intervals</desc>")) > 0);
	CHECK(str_find(sb_str(&c.text), STR("fill=\"#2d1052\"/>")) > 0);
	capture_free(&c);
}

/* Keys are added up; buckets without an end, and those of lhist(), are rows like others. */
TEST(heat_rows)
{
	struct bucket a[] = {{.no_lo = true, .hi = 0, .count = 1}, {0, 10, .count = 2}},
		      b[] = {{0, 10, .count = 2}, {.lo = 30, .no_hi = true, .count = 4}};
	struct value v[] = {hist(a, 2), hist(b, 2)},
		     key[] = {{.kind = V_UINT, .u = 1}, {.kind = V_UINT, .u = 2}};
	v[0].step = v[1].step = 10;
	struct capture c;
	capture_open(&c, "heat:unit=us,title=<t>");
	capture_put(&c, print(key, v, 2, 0, 1));
	capture_put(&c, print(key, v, 2, 1, 2));
	check_data(&c, "&#34;Y&#34;:[[null,0],[0,10],[10,20],[20,30],[30,null]],\n"
		       "&#34;V&#34;:[[0,1,1,4,4,4],\n[0,1,1,4,4,4]]}");
	CHECK(str_find(sb_str(&c.text), STR("18 values of @h, all keys, in 2 intervals")) > 0);
	CHECK(str_find(sb_str(&c.text), STR(">less us</text>")) > 0);
	CHECK(str_find(sb_str(&c.text), STR("&#60;t&#62;")) > 0);
	capture_free(&c);
}

static void check_error(const struct item *v, u32 n, const char *want, const char *remarks)
{
	struct capture c;
	capture_open(&c, "heat");
	for (u32 i = 0; i < n; i++)
		capture_put(&c, v[i]);
	capture_put(&c, (struct item){.kind = I_END});
	capture_close(&c);
	CHECK_STR(c.e ? c.e->msg : "", want);
	CHECK_STR(c.remarks.s, remarks);
	CHECK(!!c.e == !c.text.n);
	capture_free(&c);
}

TEST(heat_says_what_it_cannot_show)
{
	struct bucket a[] = {{1, 2, .count = 3}};
	struct value v = hist(a, 1), one = {.kind = V_UINT, .u = 1};
	struct item items[] = {print(NULL, &v, 1, 0, 1), map_item("@n", T_COUNT, NULL, &one, 1),
			       print(NULL, &v, 1, 1, 2), map_item("@other", T_LHIST, NULL, &v, 1)};
	check_error(
		items, 1,
		"-f heat shows how histograms change: print @h at intervals, as in interval:s:1 { "
		"print(@h); }",
		"");
	check_error(
		items + 1, 1,
		"-f heat shows histograms that are printed at intervals, as in @h = hist(x) and "
		"interval:s:1 { print(@h); }; no histogram was printed",
		"");
	check_error(
		items, 4, "",
		"WARNING: -f heat leaves out @n: it is no histogram; @other: one map is drawn, and "
		"map=@NAME says which\n");
}

/* Ten thousand intervals are shown as no more columns than fit. */
TEST(heat_of_many_intervals)
{
	struct bucket a[] = {{1, 2, .count = 1}};
	struct value v = hist(a, 1);
	struct capture c;
	capture_open(&c, "heat");
	for (u32 i = 0; i < 10000; i++)
		capture_put(&c, print(NULL, &v, 1, i, i));
	capture_put(&c, (struct item){.kind = I_END});
	capture_close(&c);
	CHECK(!c.e);
	CHECK(str_find(sb_str(&c.text), STR("10,000 values of @h in 313 intervals")) > 0);
	CHECK(str_find(sb_str(&c.text), STR("[0,32],\n[0,32],\n")) > 0);
	capture_free(&c);
}
