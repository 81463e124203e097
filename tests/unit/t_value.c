/* Values as text. Expected strings are what bpftrace 0.27.1 prints, except where docs/compat.md
 * says otherwise. */
#include "core/printf.h"
#include "test.h"
#include "types/type.h"

static struct value num(i64 i)
{
	return (struct value){.kind = V_INT, .size = 8, .i = i};
}

static struct value unum(u64 u)
{
	return (struct value){.kind = V_UINT, .size = 8, .u = u};
}

static struct value text(const char *z)
{
	return (struct value){.kind = V_STR, .str = str_z(z)};
}

static void check_printf(const char *fmt, struct value v, const char *want)
{
	AUTO_SB out = {0};
	sb_z(&out, "");
	value_printf(&out, str_z(fmt), &v, 1, &(struct show){.trailer = STR("..")});
	CHECK_STR(out.s, want);
}

static void check_text(struct value v, const char *want, const char *key, const char *brief)
{
	AUTO_SB out = {0};
	value_text(&out, &v, &(struct show){.trailer = STR("..")});
	CHECK_STR(out.s, want);
	sb_clear(&out);
	value_key_text(&out, &v, &(struct show){.trailer = STR("..")});
	CHECK_STR(out.s, key);
	sb_clear(&out);
	value_key_short(&out, &v, &(struct show){.trailer = STR("..")});
	CHECK_STR(out.s, brief);
}

/* Nothing traced begins a line or an escape sequence: not even C1 controls in UTF-8. */
TEST(traced_text_is_made_visible)
{
	const struct show how = {.trailer = STR(".."), .escape = true};
	struct value pair[] = {{.kind = V_STR,
				.str = STR("a\n\x1b[1m\t\r\x7f \xc2\x9b \xc2\xa0\xc3\xa9\xff"),
				.cut = true},
			       {.kind = V_NAMED, .str = STR("sy\nm")}};
	struct frame frame = {.text = STR("f\x1b+1")};
	struct value list[] = {{.kind = V_TUPLE, .n = 2, .list = pair},
			       {.kind = V_STACK, .n = 1, .stack = &frame},
			       {.kind = V_UINT, .u = 27, .size = 1},
			       {.kind = V_UINT, .u = 'x', .size = 1}};
	AUTO_SB out = {0};
	value_printf(&out, STR("%s\n%s%c%c\n"), list, 4, &how);
	CHECK_STR(out.s, "(a\\n\\x1b[1m\\t\\r\\x7f \\xc2\\x9b \xc2\xa0\xc3\xa9\\xff.., sy\\nm)\n"
			 "\n        f\\x1b+1\n\\x1bx\n");
}

TEST(printf_integers)
{
	check_printf("[%d]", num(42), "[42]");
	check_printf("[%5d]", num(42), "[   42]");
	check_printf("[%-5d]", num(42), "[42   ]");
	check_printf("[%05d]", num(42), "[00042]");
	check_printf("[%+d]", num(42), "[+42]");
	check_printf("[%+5d]", num(42), "[  +42]");
	check_printf("[%-+5d]", num(5), "[+5   ]");
	check_printf("[%x]", num(42), "[2a]");
	check_printf("[%#x]", num(42), "[0x2a]");
	check_printf("[%X]", num(42), "[2A]");
	check_printf("[%#X]", num(42), "[0X2A]");
	check_printf("[%o]", num(42), "[52]");
	check_printf("[%#o]", num(42), "[052]");
	check_printf("[%#x]", num(0), "[0]");
	check_printf("[%#o]", num(0), "[0]");
	check_printf("[%+u]", num(5), "[5]");
	check_printf("[%+x]", num(5), "[5]");
	check_printf("[%#6x]", num(42), "[  0x2a]");
}

TEST(printf_cuts_to_the_length_modifier)
{
	check_printf("%d", num(0x1234567890), "878082192");
	check_printf("%ld", num(0x1234567890), "78187493520");
	check_printf("%x", num(0x1234567890), "34567890");
	check_printf("%lx", num(0x1234567890), "1234567890");
	check_printf("%hx", num(0x1234567890), "7890");
	check_printf("%hhx", num(0x1234567890), "90");
	check_printf("%lld", num(0x1234567890), "78187493520");
	check_printf("%jd", num(0x1234567890), "78187493520");
	check_printf("%zd", num(0x1234567890), "78187493520");
	check_printf("%u", num(-42), "4294967254");
	check_printf("%lu", num(-42), "18446744073709551574");
	check_printf("%x", num(-42), "ffffffd6");
	check_printf("%#o", num(-42), "037777777726");
	check_printf("%hhd", num(200), "-56");
	check_printf("%hd", num(-42), "-42");
	check_printf("%hu", num(-1), "65535");
	check_printf("%d", (struct value){.kind = V_BOOL, .u = 1}, "1");
}

/* Here the reference pads without regard to the sign, ignores precision and fills on the wrong
 * side. */
TEST(printf_as_in_c)
{
	check_printf("%05d", num(-42), "-0042");
	check_printf("%#010lx", num(255), "0x000000ff");
	check_printf("%-05d|", num(42), "42   |");
	check_printf("%.5d", num(42), "00042");
	check_printf("%8.5d", num(42), "   00042");
	check_printf("%.2s", text("abc"), "ab");
	check_printf("%5.1s", text("abc"), "    a");
	check_printf("% d", num(42), " 42");
	check_printf("%020p", (struct value){.kind = V_PTR, .u = 0x1234}, "0x000000000000001234");
}

TEST(printf_other_conversions)
{
	check_printf("%p", unum(0x1234), "0x1234");
	check_printf("%20p", unum(0x1234), "              0x1234");
	check_printf("%-20p|", unum(0x1234), "0x1234              |");
	check_printf("%p", unum(0), "0");
	check_printf("%c", num(65), "A");
	check_printf("%5c", num(0x4142), "    B");
	check_printf("%-5c|", num(65), "A    |");
	check_printf("%10s", text("abc"), "       abc");
	check_printf("%-10s|", text("abc"), "abc       |");
	check_printf("%s", num(1), "1");
	check_printf("%5s", (struct value){.kind = V_BOOL, .u = 1}, " true");
	check_printf("%s", unum(UINT64_MAX), "18446744073709551615");
}

TEST(printf_word_of_a_shell)
{
	check_printf("%q", text("a; rm -rf $HOME"), "'a; rm -rf $HOME'");
	check_printf("%q", text("it's"), "'it'\\''s'");
	check_printf("%q", text(""), "''");
	check_printf("%q", num(-7), "'-7'");
	check_printf("%8q|", text("ab"), "    'ab'|");
	check_printf("%.1q", text("ab"), "'a'");
	check_printf("%q", (struct value){.kind = V_STR, .str = str_n("a\0b", 3)}, "'ab'");
}

TEST(printf_buffers)
{
	struct value b = {.kind = V_BYTES,
			  .str = STR("a\x01"
				     "b\"\\\n")};
	check_printf("%r", b, "a\\x01b\"\\\\x0a");
	b.str = STR("abc");
	check_printf("%rx", b, "\\x61\\x62\\x63");
	check_printf("%rh", b, "61 62 63");
	check_printf("%20r", b, "                 abc");
	check_printf("%20rh", b, "            61 62 63");
	b.str = STR("\t\x7f~");
	check_printf("%s", b, "\\x09\\x7f~");
}

TEST(printf_text_that_is_no_conversion)
{
	check_printf("%% %y [%d] [%5%] [%k %\n", num(5), "% %y [5] [%] [%k %\n");
	check_printf("%0#6x%d", num(5), "%0#6x5");
	check_printf("%5.d|%5.3d", num(5), "%5.d|  005");
	check_printf("100%", num(0), "100%");
	check_printf("%%%d%%", num(7), "%7%");
	check_printf("%d %d", num(7), "7 ");
}

TEST(conversions_are_found)
{
	struct str fmt = STR("a%%b%-10.3lld%rx%z"), lit;
	struct conv c;
	u32 at = 0;
	CHECK(conv_next(fmt, &at, &lit, &c));
	CHECK(str_is(lit, "a%%b") && str_is(c.text, "%-10.3lld"));
	CHECK(c.width == 10 && c.prec == 3);
	CHECK_STR(c.len, "ll");
	CHECK_STR(c.conv, "d");
	CHECK_STR(c.flags, "-");
	CHECK(conv_next(fmt, &at, &lit, &c));
	CHECK(lit.n == 0 && c.width == -1 && c.prec == -1);
	CHECK_STR(c.conv, "rx");
	CHECK(!conv_next(fmt, &at, &lit, &c));
	CHECK(str_is(lit, "%z"));
}

TEST(value_scalars)
{
	check_text(num(-3), "-3", "-3", "-3");
	check_text(num(INT64_MIN), "-9223372036854775808", "-9223372036854775808",
		   "-9223372036854775808");
	check_text((struct value){.kind = V_PTR}, "0x0", "0x0", "0x0");
	check_text((struct value){.kind = V_BOOL}, "false", "false", "false");
	check_text((struct value){.kind = V_ENUM, .i = 5, .str = STR("A")}, "A", "A", "A");
	check_text((struct value){.kind = V_ENUM, .i = 6}, "6", "6", "6");
	check_text((struct value){.kind = V_STR, .cut = true, .str = STR("hello wo")}, "hello wo..",
		   "hello wo..", "hello wo..");
}

TEST(value_compound)
{
	struct value in[] = {num(2), text("a b")},
		     out[] = {num(1), {.kind = V_TUPLE, .n = 2, .list = in}};
	struct str names[] = {STR("a"), STR("b")};
	struct value tuple = {.kind = V_TUPLE, .n = 2, .list = out};
	struct value rec = {.kind = V_RECORD, .n = 2, .list = in, .names = names};
	struct value four[] = {unum(4), unum(3)};
	check_text(tuple, "(1, (2, a b))", "1, (2, a b)", "1,(2,a b)");
	check_text((struct value){.kind = V_TUPLE, .n = 1, .list = in}, "(2)", "2", "2");
	check_text(rec, "{ .a = 2, .b = a b }", "{ .a = 2, .b = a b }", "{.a=2,.b=a b}");
	check_text((struct value){.kind = V_RECORD}, "{}", "{}", "{}");
	check_text((struct value){.kind = V_ARRAY, .n = 2, .list = four}, "[4,3]", "[4,3]",
		   "[4,3]");
}

TEST(value_stacks)
{
	struct frame f[] = {{.text = STR("target+0")}, {.text = STR("outer+23")}};
	struct value v = {.kind = V_STACK, .n = 2, .stack = f};
	const char *full = "\n        target+0\n        outer+23\n";
	check_text(v, full, full, "\ntarget+0\nouter+23\n");
	check_printf("%s|", v, "\n        target+0\n        outer+23\n|");
	v.mode = STACK_PERF;
	check_text(v, "\n\ttarget+0\n\touter+23\n", "\n\ttarget+0\n\touter+23\n",
		   "\n\ttarget+0\n\touter+23\n");
	v.mode = STACK_RAW;
	v.n = 1;
	check_text(v, "\ntarget+0\n", "\ntarget+0\n", "\ntarget+0\n");
	check_text((struct value){.kind = V_STACK}, "\n", "\n", "\n");
}

TEST(value_stats)
{
	struct value list[] = {num(2), num(7), num(15)};
	struct value v = {.kind = V_STATS, .n = 3, .list = list};
	const char *want = "{ .count = 2, .average = 7, .total = 15 }";
	check_text(v, want, want, "{.count=2,.average=7,.total=15}");
}

static void check_hist(const struct bucket *b, u32 n, u64 step, const char *want)
{
	struct value v = {.kind = V_HIST, .n = n, .hist = b, .step = step};
	AUTO_SB out = {0};
	sb_z(&out, "");
	value_hist_text(&out, &v, 0);
	CHECK_STR(out.s, want);
}

#define FULL "|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
#define HALF "|@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n"
#define NONE "|                                                    |\n"

TEST(hist_layout)
{
	struct bucket b[] = {{.no_lo = true, .count = 1},
			     {0, 1, .count = 1},
			     {1, 2, .count = 0},
			     {2, 4, .count = 2}};
	check_hist(b, 4, 0,
		   "(..., 0)               1 " HALF "[0]                    1 " HALF
		   "[1]                    0 " NONE "[2, 4)                 2 " FULL);
	check_hist(NULL, 0, 0, "");
}

/* A terminal that is narrower than the picture gets shorter bars, down to eight columns of them. */
TEST(hist_narrow)
{
	struct bucket b[] = {{2, 4, .count = 1}, {4, 8, .count = 2}};
	struct value v = {.kind = V_HIST, .n = 2, .hist = b};
	AUTO_SB wide = {0}, narrow = {0}, least = {0};
	value_hist_text(&wide, &v, 79);
	CHECK_STR(wide.s, "[2, 4)                 1 " HALF "[4, 8)                 2 " FULL);
	value_hist_text(&narrow, &v, 39);
	CHECK_STR(narrow.s, "[2, 4)                 1 |@@@@@@      |\n"
			    "[4, 8)                 2 |@@@@@@@@@@@@|\n");
	value_hist_text(&least, &v, 20);
	CHECK_STR(least.s, "[2, 4)                 1 |@@@@    |\n"
			   "[4, 8)                 2 |@@@@@@@@|\n");
}

TEST(hist_units)
{
	struct bucket b[] = {{512, 1024, .count = 1}, {1024, 2048, .count = 1}};
	check_hist(b, 1, 0, "[512, 1K)              1 " FULL);
	check_hist(b, 2, 0, "[512, 1K)              1 " FULL "[1K, 2K)               1 " FULL);
	struct bucket fine[] = {{896, 1024, .count = 1}, {1024, 1280, .count = 1}};
	check_hist(fine, 1, 0, "[896, 1024)            1 " FULL);
	check_hist(fine, 2, 0, "[896, 1024)            1 " FULL "[1024, 1280)           1 " FULL);
	struct bucket four[] = {{3584, 4096, .count = 1}};
	check_hist(four, 1, 0, "[3584, 4K)             1 " FULL);
	struct bucket big[] = {{64 << 10, 66 << 10, .count = 1}};
	check_hist(big, 1, 0, "[64K, 66K)             1 " FULL);
	struct bucket last[] = {{1ll << 62, INT64_MIN, .count = 1}};
	check_hist(last, 1, 0, "[4E, 8E)               1 " FULL);
}

TEST(lhist_units)
{
	struct bucket b[] = {{.no_lo = true, .hi = 1024, .count = 1},
			     {1024, 1536, .count = 0},
			     {.lo = 4096, .no_hi = true, .count = 1}};
	check_hist(b, 3, 512,
		   "(..., 1024)            1 " FULL "[1024, 1536)           0 " NONE
		   "[4096, ...)            1 " FULL);
	struct bucket k[] = {{1 << 20, 1028 << 10, .count = 1}};
	check_hist(k, 1, 4096, "[1M, 1028K)            1 " FULL);
	struct bucket odd[] = {{1029, 2053, .count = 1}};
	check_hist(odd, 1, 1024, "[1029, 2053)           1 " FULL);
	struct bucket one[] = {{5, 6, .count = 1}};
	check_hist(one, 1, 1, "[5]                    1 " FULL);
	struct bucket over[] = {{.lo = 2 << 20, .no_hi = true, .count = 1}};
	check_hist(over, 1, 4096, "[2M, ...)              1 " FULL);
}

static void check_pattern(const char *fmt, struct value *v, u32 n, const char *want)
{
	struct arena a = {0};
	struct pattern p;
	AUTO_SB out = {0};
	pattern_parse(&a, str_z(fmt), &p);
	for (u32 i = 0; i < 2; i++) { /* it can be used again and again */
		sb_clear(&out);
		sb_z(&out, "");
		pattern_put(&out, &p, v, n, &(struct show){.trailer = STR("..")});
		CHECK_STR(out.s, want);
	}
	arena_free(&a);
}

TEST(patterns)
{
	struct value cut = text("abcdef");
	cut.cut = true;
	struct value v[] = {num(-7), text("ab"), unum(300), cut};
	check_pattern("", v, 0, "");
	check_pattern("100%% of 5%5%y%%", v, 0, "100% of 5%y%");
	check_pattern("%d %s|%u%%%s\n", v, 4, "-7 ab|300%abcdef..\n");
	check_pattern("%hhd,%s,%hhu,%-8s|", v, 4, "-7,ab,44,abcdef..|");
	check_pattern("%d%d%d", v, 1, "-7"); /* values that are missing print nothing */
	check_pattern("%*d|%.*s|%s", v, 1, "||");
	check_pattern("%u %x", (struct value[]){num(-1), num(-1)}, 2, "4294967295 ffffffff");
	check_pattern("%lu %ld", (struct value[]){num(-1), num(INT64_MIN)}, 2,
		      "18446744073709551615 -9223372036854775808");
	check_pattern("%d %s", (struct value[]){text("x"), num(5)}, 2, "x 5");
	check_pattern("%*d|%-*d|%.*s|",
		      (struct value[]){num(4), num(1), num(4), num(2), num(1), cut}, 6,
		      "   1|2   |a|");
}

TEST(decimal_numbers)
{
	static const u64 some[] = {0, 9, 10, 99, 100, 101, 12345, 1000000, 99999999, UINT64_MAX};
	for (u32 i = 0; i < countof(some); i++) {
		AUTO_SB out = {0};
		AUTO_SB want = {0};
		sb_u64(&out, some[i]);
		sb_char(&out, ' ');
		sb_i64(&out, (i64)some[i]);
		sb_fmt(&want, "%llu %lld", some[i], (i64)some[i]);
		CHECK_STR(out.s, want.s);
	}
}

static void check_percentile(const struct value *hist, u32 part, const char *want)
{
	AUTO_SB out = {0};
	sb_z(&out, "");
	value_percentile_text(&out, hist, part);
	CHECK_STR(out.s, want);
}

/* What a bucket says of a percentile: at most, exactly, at least. */
TEST(percentile_text)
{
	const struct bucket b[] = {{.hi = 0, .no_lo = true, .count = 1},
				   {.lo = 0, .hi = 1, .count = 1},
				   {.lo = 64, .hi = 128, .count = 1},
				   {.lo = 200, .no_hi = true, .count = 1}};
	struct value hist = {.kind = V_HIST, .n = countof(b), .hist = b};
	check_percentile(&hist, 0, "<= -1");
	check_percentile(&hist, 50000, "= 0");
	check_percentile(&hist, 75000, "<= 127");
	check_percentile(&hist, 75001, ">= 200");
	check_percentile(&hist, 100000, ">= 200");
	CHECK(value_observations(&hist) == 4);
	hist.n = 0;
	check_percentile(&hist, 50000, "");
}
