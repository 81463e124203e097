/* Heat maps: what columns and rows are made of. Times differ from run to run, the rest does not. */
#include "base/clock.h"
#include "sink/axis.h"
#include "sinks.h"

static struct value hist(const struct bucket *v, u32 n)
{
	return (struct value){.kind = V_HIST, .n = n, .hist = v};
}

static struct item print(const struct value *key, const struct value *v, u64 n, u32 epoch, u64 ms)
{
	struct item it = map_item("@h", T_HIST, key, v, n);
	it.ts = now_ns() + ms * 1000000;
	it.map.epoch = epoch;
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
	CHECK(str_find(sb_str(&c.text), STR(">less</text>")) > 0);
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
	check_error(items, 4, "",
		    "WARNING: -f heat leaves out @n: it is no histogram; @other: only one map is "
		    "drawn; "
		    "select it with map=@NAME\n");
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

/* Where the end cuts an interval short. */
TEST(heat_rest)
{
	struct bucket a[] = {{1, 2, .count = 5}};
	struct value v = hist(a, 1);
	for (u32 whole = 0; whole < 2; whole++) {
		struct capture c;
		capture_open(&c, "heat");
		for (u32 i = 0; i < 4; i++)
			capture_put(&c, print(NULL, &v, 1, i, 1000 * (i + 1)));
		capture_put(&c, print(NULL, &v, 1, 4, whole ? 5000 : 4300));
		capture_put(&c, (struct item){.kind = I_END});
		capture_close(&c);
		CHECK(!c.e);
		const char *note =
			whole ? "<desc>25 values of @h in 5 intervals</desc>"
			      : "<desc>20 values of @h in 4 intervals; 5 in the last 0.3 s, "
				"which the end cut short, are left out</desc>";
		CHECK(str_find(sb_str(&c.text), str_z(note)) > 0);
		capture_free(&c);
	}
}

/* ---- round numbers ---- */

static void check_marks(struct axis x, const char *want)
{
	struct axis_mark mark[AXIS_MARKS];
	struct arena a = {0};
	AUTO_SB got = {0};
	u32 n = axis_marks(&x, &a, mark);
	for (u32 i = 0; i < n; i++) {
		CHECK(mark[i].at >= 0 && mark[i].at <= x.n);
		CHECK(!i || mark[i].at - mark[i - 1].at > 0.99 * x.n / x.most);
		sb_fmt(&got, "%s%.2f %.*s", i ? ", " : "", mark[i].at, STRF(mark[i].label));
	}
	CHECK_STR(n ? got.s : "", want);
	arena_free(&a);
}

static struct axis powers(struct bucket *v, u32 from, u32 n, const char *unit, u32 most)
{
	for (u32 i = 0; i < n; i++)
		v[i] = (struct bucket){.lo = 1ll << (from + i), .hi = 2ll << (from + i)};
	return (struct axis){.row = v, .n = n, .unit = str_z(unit), .most = most};
}

TEST(axis_of_powers)
{
	struct bucket v[64];
	check_marks(powers(v, 4, 4, "us", 20), "0.32 20 us, 1.64 50 us, 2.64 100 us, 3.64 200 us");
	check_marks(powers(v, 4, 12, "us", 4),
		    "2.64 100 us, 5.97 1 ms, 9.29 10 ms"); /* no room for 2 and 5 */
	check_marks(powers(v, 6, 1, "", 5), "0.32 80, 0.64 100, 0.91 120");
	check_marks(powers(v, 9, 3, "bytes", 20),
		    "0.00 512 bytes, 1.00 1K bytes, 2.00 2K bytes, 3.00 4K bytes");
	check_marks(powers(v, 18, 4, "requests", 20),
		    "0.93 500,000 requests, 1.93 1 M requests, 2.93 2 M requests");
	check_marks(
		powers(v, 0, 62, "ns", 10),
		"0.00 1 ns, 9.97 1 us, 19.93 1 ms, 29.90 1 s, 39.86 1,000 s, 49.83 1,000,000 s, "
		"59.79 1,000,000,000 s");
}

TEST(axis_of_equal_rows)
{
	struct bucket v[] = {{.no_lo = true, .hi = -30},
			     {.lo = -30, .hi = -10},
			     {.lo = -10, .hi = 10},
			     {.lo = 10, .hi = 30},
			     {.lo = 30, .no_hi = true}};
	struct axis x = {.row = v, .n = 5, .linear = true, .most = 5};
	check_marks(x, "0.50 less, 1.50 -20, 2.50 0, 3.50 20");
	x.most = 20;
	check_marks(x,
		    "0.50 less, 1.00 -30, 1.25 -25, 1.50 -20, 1.75 -15, 2.00 -10, 2.25 -5, 2.50 0, "
		    "2.75 5, 3.00 10, 3.25 15, 3.50 20, 3.75 25, 4.00 30");
	CHECK(axis_step(1) == 1 && axis_step(3) == 5 && axis_step(6) == 10 && axis_step(11) == 20 &&
	      axis_step(50) == 50 && axis_step(51) == 100);
}
