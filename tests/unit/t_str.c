#include "base/bytes.h"
#include "base/str.h"
#include "base/tab.h"
#include "base/units.h"
#include "test.h"

TEST(str_compares)
{
	CHECK(str_cmp(STR("a"), STR("ab")) < 0);
	CHECK(str_cmp(STR("b"), STR("ab")) > 0);
	CHECK(str_cmp(STR(""), (struct str){0}) == 0);
	CHECK(str_eq_nocase(STR("BeGin"), STR("bEGIN")));
	CHECK(!str_eq_nocase(STR("a["), STR("a{")));
	CHECK(str_starts(STR("abc"), STR("ab")) && !str_starts(STR("a"), STR("ab")));
	CHECK(str_ends(STR("abc"), STR("bc")) && str_ends(STR("abc"), STR("")));
	CHECK(!str_ends(STR("bc"), STR("abc")));
}

TEST(str_cuts_and_trims)
{
	struct str rest = STR("a::b"), part;
	CHECK(str_cut(&rest, ':', &part) && str_is(part, "a"));
	CHECK(str_cut(&rest, ':', &part) && part.n == 0);
	CHECK(str_cut(&rest, ':', &part) && str_is(part, "b"));
	CHECK(!str_cut(&rest, ':', &part));
	rest = STR("x:");
	CHECK(str_cut(&rest, ':', &part) && str_is(part, "x"));
	CHECK(str_cut(&rest, ':', &part) && part.n == 0);
	CHECK(!str_cut(&rest, ':', &part));
	CHECK(str_is(str_trim(STR(" \t a b\n")), "a b"));
	CHECK(str_trim(STR("  ")).n == 0);
	CHECK(str_from(STR("abc"), 7).n == 0);
	CHECK(str_chr(STR("abc"), 'c') == 2 && str_chr(STR(""), 'c') == -1);
	CHECK(str_find(STR("abcabd"), STR("abd")) == 3 && str_find(STR("a"), STR("b")) == -1);
}

TEST(str_globs)
{
	CHECK(str_is_glob(STR("a*")) && str_is_glob(STR("[ab]")) && !str_is_glob(STR("a?")));
	CHECK(str_glob(STR("*"), STR("")));
	CHECK(str_glob(STR("vfs_*"), STR("vfs_read")));
	CHECK(str_glob(STR("*a*b*c"), STR("xxaxbxbxc")));
	CHECK(!str_glob(STR("*a*b*c"), STR("xxaxbxbxcd")));
	CHECK(str_glob(STR("sys_[er]*_read"), STR("sys_exit_read")));
	CHECK(!str_glob(STR("sys_[!er]*"), STR("sys_exit_read")));
	CHECK(str_glob(STR("x[0-9]"), STR("x7")) && !str_glob(STR("x[0-9]"), STR("xa")));
	CHECK(str_glob(STR("a[b"), STR("a[b")));
	CHECK(!str_glob(STR("abc"), STR("ab")) && !str_glob(STR("ab"), STR("abc")));
	CHECK(!str_glob(STR("a?"), STR("ab")));
}

TEST(str_reads_numbers)
{
	u64 u = 1;
	i64 i = 1;
	CHECK(str_u64(STR("0"), &u) && u == 0);
	CHECK(str_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
	CHECK(!str_u64(STR("18446744073709551616"), &u));
	CHECK(str_u64(STR("0xFf"), &u) && u == 255);
	CHECK(str_u64(STR("010"), &u) && u == 8);
	CHECK(!str_number(STR("010"), &u) && !str_number(STR("0_1"), &u) &&
	      !str_number(STR("09"), &u));
	CHECK(str_number(STR("0"), &u) && u == 0);
	CHECK(str_number(STR("0x10"), &u) && u == 16);
	CHECK(str_octal(STR("-010")) && !str_octal(STR("-10")) && !str_octal(STR("0")) &&
	      !str_octal(STR("")));
	CHECK(str_u64(STR("0b101"), &u) && u == 5);
	CHECK(str_u64(STR("017"), &u) && u == 15);
	CHECK(str_u64(STR("1_000"), &u) && u == 1000);
	CHECK(!str_u64(STR("1__0"), &u) && !str_u64(STR("_1"), &u) && !str_u64(STR("1_"), &u));
	CHECK(!str_u64(STR(""), &u) && !str_u64(STR("0x"), &u) && !str_u64(STR("12a"), &u));
	CHECK(str_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
	CHECK(!str_i64(STR("9223372036854775808"), &i));
	CHECK(str_i64(STR("+5"), &i) && i == 5);
	CHECK(!str_i64(STR("-"), &i));
}

TEST(str_distance_is_bounded)
{
	CHECK(str_distance(STR("count"), STR("cuont"), 5) == 1);
	CHECK(str_distance(STR("ba"), STR("abc"), 5) == 2);
	CHECK(str_distance(STR("kprob"), STR("uprobe"), 5) == 2);
	CHECK(str_distance(STR("count"), STR("count"), 5) == 0);
	CHECK(str_distance(STR("abcdef"), STR("badcfe"), 3) == 3); /* swaps to the end */
	CHECK(str_distance(STR("abcdef"), STR("badcfe"), 2) == 3);
	CHECK(str_distance(STR("abc"), STR("xyzuvw"), 2) == 3);
	CHECK(str_distance(STR(""), STR("ab"), 5) == 2);
}

TEST(str_like_is_nearly_or_more)
{
	CHECK(str_like(STR("vfs_raed"), STR("vfs_read")));
	CHECK(str_like(STR("finish_task_switch"), STR("finish_task_switch.isra.0")));
	CHECK(str_like(STR("sys_read"), STR("__x64_sys_read")));
	CHECK(!str_like(STR("vfs_read"), STR("ext4_file_open")));
}

TEST(sb_builds)
{
	AUTO_SB b = {0};
	CHECK(sb_str(&b).n == 0);
	sb_z(&b, "a");
	sb_char(&b, 'b');
	sb_pad(&b, '-', 3);
	sb_fmt(&b, "%d", 42);
	CHECK_STR(b.s, "ab---42");
	sb_clear(&b);
	sb_escape(&b, STR("a\n\"\\\x01z\t\r"));
	CHECK_STR(b.s, "a\\n\\\"\\\\\\x01z\\t\\r");
	sb_clear(&b);
	for (int i = 0; i < 1000; i++)
		sb_fmt(&b, "%03d", i);
	CHECK(b.n == 3000 && !strcmp(b.s + 2997, "999"));
}

TEST(tab_keeps_order)
{
	static char keys[1000][8];
	static int vals[1000];
	struct tab t = {0};
	CHECK(tab_get(&t, STR("x")) == NULL);
	for (int i = 0; i < 1000; i++) {
		snprintf(keys[i], sizeof(keys[i]), "k%d", i);
		tab_set(&t, str_z(keys[i]), &vals[i]);
	}
	for (int i = 0; i < 1000; i++)
		CHECK(tab_get(&t, str_z(keys[i])) == &vals[i]);
	CHECK(t.n == 1000 && str_is(t.v[999].key, "k999"));
	tab_set(&t, STR("k5"), &vals[6]);
	CHECK(t.n == 1000 && tab_get(&t, STR("k5")) == &vals[6]);
	CHECK(tab_get(&t, STR("nope")) == NULL);
	tab_free(&t);
}

static const char *k1024(i64 v, struct sb *b)
{
	sb_clear(b);
	units_1024(b, v);
	return b->s;
}

TEST(units_read_and_written)
{
	u64 ns = 0;
	AUTO_SB b = {0};
	CHECK(units_ns(STR("10ms"), &ns) && ns == 10000000);
	CHECK(units_ns(STR("7"), &ns) && ns == 7);
	CHECK(units_ns(STR("1d"), &ns) && ns == 86400000000000);
	CHECK(!units_ns(STR("ms"), &ns) && !units_ns(STR("3x"), &ns));
	CHECK(!units_ns(STR("999999999999d"), &ns));
	CHECK(units_time(STR("10ms"), &ns) && ns == 10000000);
	CHECK(!units_time(STR("7"), &ns) && !units_time(STR(""), &ns));
	CHECK_STR(k1024(1023, &b), "1023");
	CHECK_STR(k1024(1024, &b), "1K");
	CHECK_STR(k1024(1536, &b), "1536");
	CHECK_STR(k1024(64 << 20, &b), "64M");
	CHECK_STR(k1024(-2048, &b), "-2K");
	CHECK_STR(k1024(INT64_MIN, &b), "-8E");
	CHECK_STR(k1024(0, &b), "0");
}

TEST(bytes_never_read_past_the_end)
{
	static const u8 data[] = {1, 2, 3, 4, 'h', 'i', 0, 9};
	struct bytes b = bytes_of(data, sizeof(data));
	CHECK(bytes_u32(&b) == 0x04030201);
	CHECK_STR(bytes_z(&b), "hi");
	CHECK(!b.bad && b.at == 7);
	CHECK(bytes_z(&b) == NULL && b.bad);
	b = bytes_of(data, 3);
	CHECK(bytes_u32(&b) == 0 && b.bad && b.at == 0);
	CHECK(bytes_u8(&b) == 0);
	b = (struct bytes){0};
	CHECK(bytes_take(&b, 0) && !b.bad);
}

TEST(str_csv_fields)
{
	static const char *const want[][2] = {
		{"plain", "plain"},   {"", ""},
		{"a,b", "\"a,b\""},   {"say \"x\"", "\"say \"\"x\"\"\""},
		{"a\nb", "\"a\nb\""}, {" a ", " a "}};
	for (u32 i = 0; i < countof(want); i++) {
		AUTO_SB b = {0};
		sb_csv(&b, str_z(want[i][0]));
		CHECK(str_is(sb_str(&b), want[i][1]));
	}
}
