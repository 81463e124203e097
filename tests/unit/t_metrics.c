/* Metrics: names, labels of hostile texts, bounds, what is joined, the text as a whole. */
#include "core/metrics.h"
#include "sinks.h"

static void text_is(struct metrics *m, enum metrics_format format, const char *want)
{
	AUTO_SB got = {0};
	metrics_text(m, format, &got);
	CHECK_STR(got.s ? got.s : "", want);
	metrics_free(m);
}

static struct value text(const char *s)
{
	return (struct value){.kind = V_STR, .str = str_z(s)};
}

static struct value count(u64 n)
{
	return (struct value){.kind = V_UINT, .size = 8, .u = n};
}

static struct value hist(const struct bucket *v, u32 n)
{
	return (struct value){.kind = V_HIST, .n = n, .hist = v};
}

static const char *named(struct sb *b, const char *name)
{
	sb_clear(b);
	metric_name(b, str_z(name));
	return b->s;
}

TEST(metrics_names)
{
	AUTO_SB b = {0};
	CHECK_STR(named(&b, "reads_total"), "reads_total");
	CHECK_STR(named(&b, "9 lives-\xc3\xa4\n}"), "_9_lives_____");
	CHECK_STR(named(&b, ""), "_");
}

/* Nothing that was traced ends a label, a line or the text's encoding. */
TEST(metrics_hostile_labels)
{
	struct {
		const char *name, *text, *want;
	} v[] = {
		{"a", "x", "a=\"x\""},
		{"a", "\"} 1\n#\\", "a=\"\\\"} 1\\n#\\\\\""},
		{"le", "\xc3\xa4\x01\xff\t\x7f", "key_le=\"\xc3\xa4\\\\x01\\\\xff\\\\x09\\\\x7f\""},
		{"__x", "", "key___x=\"\""},
		{"quantile", "1", "key_quantile=\"1\""},
	};
	for (u32 i = 0; i < countof(v); i++) {
		AUTO_SB b = {0};
		metric_label(&b, str_z(v[i].name), str_z(v[i].text));
		CHECK_STR(b.s, v[i].want);
	}
	AUTO_SB all = {0};
	AUTO_SB many = {0};
	sb_pad(&many, '\n', 1000000);
	metric_label(&all, STR("x"), sb_str(&many));
	CHECK(all.n == 3 + 2 * 1024 + 1);
}

TEST(metrics_counters_of_two_formats)
{
	struct value key[] = {text("b"), text("a"), text("b")},
		     val[] = {count(1), count(UINT64_MAX), count(2)};
	for (enum metrics_format f = 0; f < METRICS_PROTO; f++) {
		struct metrics m = {0};
		struct metric_shape s = {.name = STR("x_seconds_total"),
					 .help = STR("a \\ \"b\"\nc"),
					 .unit = STR("seconds"),
					 .labels = STR("comm"),
					 .first = STR("script=\"s\""),
					 .divide = 1e9,
					 .type = METRIC_COUNTER};
		struct item it = map_item("@x", T_SUM, key, val, 3);
		metrics_map(&m, &s, &it);
		text_is(&m, f,
			f == METRICS_TEXT
				? "# HELP x_seconds_total a \\\\ \"b\"\\\\nc\n"
				  "# TYPE x_seconds_total counter\n"
				  "x_seconds_total{script=\"s\",comm=\"a\"} 18446744073.709553\n"
				  "x_seconds_total{script=\"s\",comm=\"b\"} 3e-09\n"
				: "# HELP x_seconds a \\\\ \\\"b\\\"\\\\nc\n"
				  "# TYPE x_seconds counter\n"
				  "# UNIT x_seconds seconds\n"
				  "x_seconds_total{script=\"s\",comm=\"a\"} 18446744073.709553\n"
				  "x_seconds_total{script=\"s\",comm=\"b\"} 3e-09\n"
				  "# EOF\n");
	}
}

/* Every series has the bounds of all; they stay when the buckets that had them are gone. */
TEST(metrics_bounds_of_histograms)
{
	struct bucket a[] = {{0, 1, .count = 1}, {1, 2, .count = 0}, {2, 4, .count = 3}},
		      b[] = {{.no_lo = true, .hi = 0, .count = 2},
			     {.lo = 8, .no_hi = true, .count = 5}};
	struct value key[] = {text("a"), text("b")}, val[] = {hist(a, 3), hist(b, 2)};
	struct metric_memory memory = {0};
	struct metric_shape s = {
		.name = STR("h"), .labels = STR("k"), .most = 10, .memory = &memory};
	struct metrics m = {0};
	struct item it = map_item("@h", T_HIST, key, val, 2);
	metrics_map(&m, &s, &it);
	text_is(&m, METRICS_TEXT,
		"# TYPE h histogram\n"
		"h_bucket{k=\"a\",le=\"-1\"} 0\nh_bucket{k=\"a\",le=\"0\"} 1\n"
		"h_bucket{k=\"a\",le=\"1\"} 1\nh_bucket{k=\"a\",le=\"3\"} 4\n"
		"h_bucket{k=\"a\",le=\"+Inf\"} 4\nh_count{k=\"a\"} 4\n"
		"h_bucket{k=\"b\",le=\"-1\"} 2\nh_bucket{k=\"b\",le=\"0\"} 2\n"
		"h_bucket{k=\"b\",le=\"1\"} 2\nh_bucket{k=\"b\",le=\"3\"} 2\n"
		"h_bucket{k=\"b\",le=\"+Inf\"} 7\nh_count{k=\"b\"} 7\n");
	struct metrics later = {0};
	struct item one = map_item("@h", T_HIST, key + 1, val + 1, 1);
	metrics_map(&later, &s, &one);
	text_is(&later, METRICS_OPEN,
		"# TYPE h histogram\n"
		"h_bucket{k=\"b\",le=\"-1.0\"} 2\nh_bucket{k=\"b\",le=\"0.0\"} 2\n"
		"h_bucket{k=\"b\",le=\"1.0\"} 2\nh_bucket{k=\"b\",le=\"3.0\"} 2\n"
		"h_bucket{k=\"b\",le=\"+Inf\"} 7\nh_count{k=\"b\"} 7\n# EOF\n");
	metric_memory_free(&memory);
}

/* The first keys keep their series, whichever come first later; the others are added up. */
TEST(metrics_limit_of_series)
{
	struct metric_memory memory = {0};
	u64 other = 0;
	struct metric_shape s = {.name = STR("n_total"),
				 .most = 2,
				 .memory = &memory,
				 .other = &other,
				 .type = METRIC_COUNTER};
	struct value key[] = {text("a"), text("b"), text("c"), text("d")},
		     val[] = {count(1), count(2), count(3), count(4)};
	struct metrics m = {0};
	struct item it = map_item("@n", T_COUNT, key, val, 4);
	metrics_map(&m, &s, &it);
	CHECK(other == 2);
	text_is(&m, METRICS_TEXT,
		"# TYPE n_total counter\nn_total{key=\"__other__\"} 7\n"
		"n_total{key=\"a\"} 1\nn_total{key=\"b\"} 2\n");
	struct value moved[] = {text("d"), text("c"), text("b"), text("a")};
	struct metrics later = {0};
	struct item again = map_item("@n", T_COUNT, moved, val, 4);
	metrics_map(&later, &s, &again);
	text_is(&later, METRICS_TEXT,
		"# TYPE n_total counter\nn_total{key=\"__other__\"} 3\n"
		"n_total{key=\"a\"} 4\nn_total{key=\"b\"} 3\n");
	metric_memory_free(&memory);
}

TEST(metrics_limit_of_histograms)
{
	struct bucket a[] = {{1, 2, .count = 1}}, b[] = {{2, 4, .count = 2}},
		      c[] = {{1, 2, .count = 4}, {2, 4, .count = 8}};
	struct value part[] = {text("x"), count(1), text("y"), count(2), text("z"), count(3)},
		     key[3], val[] = {hist(a, 1), hist(b, 1), hist(c, 2)};
	struct metric_memory memory = {0};
	struct metric_shape s = {
		.name = STR("h"), .labels = STR("disk, op"), .most = 1, .memory = &memory};
	for (u32 i = 0; i < 3; i++)
		key[i] = (struct value){.kind = V_TUPLE, .n = 2, .list = part + 2ul * i};
	struct metrics m = {0};
	struct item it = map_item("@h", T_HIST, key, val, 3);
	metrics_map(&m, &s, &it);
	text_is(&m, METRICS_TEXT,
		"# TYPE h histogram\n"
		"h_bucket{disk=\"__other__\",op=\"__other__\",le=\"1\"} 4\n"
		"h_bucket{disk=\"__other__\",op=\"__other__\",le=\"3\"} 14\n"
		"h_bucket{disk=\"__other__\",op=\"__other__\",le=\"+Inf\"} 14\n"
		"h_count{disk=\"__other__\",op=\"__other__\"} 14\n"
		"h_bucket{disk=\"x\",op=\"1\",le=\"1\"} 1\nh_bucket{disk=\"x\",op=\"1\",le=\"3\"} "
		"1\n"
		"h_bucket{disk=\"x\",op=\"1\",le=\"+Inf\"} 1\nh_count{disk=\"x\",op=\"1\"} 1\n");
	metric_memory_free(&memory);
}

static const char *hex_of(const struct sb *b, struct sb *hex)
{
	for (size_t i = 0; i < b->n; i++)
		sb_fmt(hex, "%02x", (u8)b->s[i]);
	return hex->s;
}

/* What protoc reads of it: a resource h, the scope sonde 1, a counter of 3 with a label whose text has a quote and a newline. */
TEST(metrics_as_otlp)
{
	static const char want[] =
		"0aa6010a470a170a0c736572766963652e6e616d6512070a05736f6e64650a1a0a1373657276696365"
		"2e696e7374616e63652e696412030a01680a100a09686f73742e6e616d6512030a0168125b0a0a0a05"
		"736f6e6465120131124d0a0f635f7365636f6e64735f746f74616c1208686f77206c6f6e671a01733a"
		"2d0a271101000000000000001902000000000000002100000000000008403a0a0a016112050a037822"
		"0a10021801";
	struct metrics m = {0};
	AUTO_SB label = {0};
	AUTO_SB got = {0};
	AUTO_SB hex = {0};
	struct metric_shape s = {.name = STR("c_seconds_total"),
				 .help = STR("how long"),
				 .unit = STR("seconds"),
				 .divide = 1000,
				 .type = METRIC_COUNTER};
	metric_label(&label, STR("a"), STR("x\"\n"));
	metrics_set(&m, &s, sb_str(&label), 3000);
	CHECK(metrics_points(&m) == 1);
	metrics_otlp(&m, &(struct otlp_facts){STR("h"), STR("1"), .now_ns = 2, .since_ns = 1},
		     &got);
	CHECK_STR(hex_of(&got, &hex), want);
	metrics_free(&m);
}

/* What protoc reads of it: a counter of 3 with a label, a summary of 2 values that are 5 together, a histogram with the
 * buckets of the text, whose sum is not a number. */
TEST(metrics_as_families)
{
	static const char want[] =
		"3b0a0f635f7365636f6e64735f746f74616c1208686f77206c6f6e6722150a080a0161120378220a1a"
		"090900000000000008402a077365636f6e64733b0a0168180422343a32080611000000000000f87f1a"
		"0b08011100000000000000001a0b08041100000000000008401a0b080611000000000000f07f140a01"
		"731802220d220b0802110000000000001440";
	struct bucket b[] = {
		{0, 1, .count = 1}, {2, 4, .count = 3}, {.lo = 4, .no_hi = true, .count = 2}};
	struct value sums[] = {count(2), count(2), count(5)};
	struct value val[] = {hist(b, 3), {.kind = V_STATS, .n = 3, .list = sums}};
	struct metric_shape c = {.name = STR("c_seconds_total"),
				 .help = STR("how long"),
				 .unit = STR("seconds"),
				 .divide = 1000,
				 .type = METRIC_COUNTER},
			    h = {.name = STR("h")}, s = {.name = STR("s")};
	struct metrics m = {0};
	struct item hists = map_item("@h", T_HIST, NULL, val, 1),
		    stats = map_item("@s", T_STATS, NULL, val + 1, 1);
	AUTO_SB label = {0};
	AUTO_SB got = {0};
	AUTO_SB hex = {0};
	metric_label(&label, STR("a"), STR("x\"\n"));
	metrics_set(&m, &c, sb_str(&label), 3000);
	metrics_map(&m, &h, &hists);
	metrics_map(&m, &s, &stats);
	metrics_proto(&m, false, &got);
	CHECK_STR(hex_of(&got, &hex), want);
	metrics_free(&m);
}

/* ---- native histograms ---- */

struct proto_field {
	u32 number;
	u64 value; /* or the bits of a double */
	struct str bytes;
};

static u64 varint(struct str *s)
{
	u64 n = 0;
	for (u32 shift = 0; s->n; shift += 7) {
		u8 c = (u8)s->s[0];
		*s = str_from(*s, 1);
		n |= (u64)(c & 0x7f) << shift;
		if (c < 0x80)
			break;
	}
	return n;
}

static bool next_field(struct str *s, struct proto_field *ret)
{
	if (!s->n)
		return false;
	u64 key = varint(s);
	*ret = (struct proto_field){.number = (u32)(key >> 3)};
	if ((key & 7) == 0) {
		ret->value = varint(s);
		return true;
	}
	CHECK((key & 7) == 1 || (key & 7) == 2);
	u32 n = (key & 7) == 1 ? 8 : (u32)varint(s);
	CHECK(n <= s->n);
	ret->bytes = str_n(s->s, n);
	if ((key & 7) == 1)
		memcpy(&ret->value, s->s, 8);
	*s = str_from(*s, n);
	return true;
}

static i64 zigzag(u64 n)
{
	return (i64)(n >> 1) ^ -(i64)(n & 1);
}

static struct str inner(struct str s, u32 number)
{
	struct proto_field f;
	while (next_field(&s, &f))
		if (f.number == number)
			return f.bytes;
	return STR("");
}

struct native {
	i32 schema;
	u64 zeros;
	i32 index[2][512]; /* of buckets above 0, below 0 */
	u64 count[2][512];
	u32 n[2], counts[2];
};

static void read_native(struct str s, struct native *ret)
{
	struct proto_field f, g;
	i32 at[2] = {0};
	*ret = (struct native){0};
	while (next_field(&s, &f)) {
		u32 side = f.number == 9 || f.number == 10;
		if (f.number == 5)
			ret->schema = (i32)zigzag(f.value);
		if (f.number == 7)
			ret->zeros = f.value;
		if (f.number == 9 || f.number == 12) {
			i32 gap = 0, length = 0;
			while (next_field(&f.bytes, &g)) {
				gap = g.number == 1 ? (i32)zigzag(g.value) : gap;
				length = g.number == 2 ? (i32)g.value : length;
			}
			for (at[side] += gap; length--; at[side]++)
				ret->index[side][ret->n[side]++] = at[side];
		}
		if (f.number == 10 || f.number == 13)
			for (i64 n = 0; f.bytes.n; ret->counts[side]++)
				ret->count[side][ret->counts[side]] =
					(u64)(n += zigzag(varint(&f.bytes)));
	}
	CHECK(ret->n[0] == ret->counts[0] && ret->n[1] == ret->counts[1]);
}

/* The native buckets of one map without a key. */
static void native_of(const struct bucket *b, u32 n, double divide, struct native *ret)
{
	struct value val = hist(b, n);
	struct metric_shape shape = {.name = STR("h"), .divide = divide};
	struct metrics m = {0};
	struct item it = map_item("@h", T_HIST, NULL, &val, 1);
	AUTO_SB got = {0};
	metrics_map(&m, &shape, &it);
	metrics_proto(&m, true, &got);
	struct str s = sb_str(&got);
	CHECK(varint(&s) == s.n);
	read_native(inner(inner(s, 4), 7), ret);
	metrics_free(&m);
}

static void native_is(const struct bucket *b, u32 n, double divide, const char *want)
{
	struct native h;
	AUTO_SB got = {0};
	native_of(b, n, divide, &h);
	sb_fmt(&got, "schema %d, %llu zeros", h.schema, h.zeros);
	for (u32 side = 0; side < 2; side++)
		for (u32 i = 0; i < h.n[side]; i++)
			sb_fmt(&got, " %s%d:%llu", side ? "-" : "", h.index[side][i],
			       h.count[side][i]);
	CHECK_STR(got.s, want);
}

/* A value that is exactly b^i is in bucket i. */
TEST(metrics_native_buckets)
{
	struct bucket two[] = {{.no_lo = true, .hi = 0, .count = 2},
			       {0, 1, .count = 1},
			       {1, 2, .count = 7},
			       {2, 4, .count = 4},
			       {4, 8, .count = 0},
			       {8, 16, .count = 5},
			       {16, 32, .count = 1}},
		      ten[] = {{90, 100, .count = 3},
			       {100, 110, .count = 4},
			       {.lo = 110, .no_hi = true, .count = 9}},
		      below[] = {{-20, -10, .count = 3}, {-10, 0, .count = 4}};
	native_is(two, 7, 0, "schema 0, 1 zeros 0:7 2:4 4:5 5:1 -0:2");
	native_is(two, 7, 8, "schema 0, 1 zeros -3:7 -1:4 1:5 2:1 --3:2");
	native_is(ten, 3, 0, "schema 2, 0 zeros 27:3 28:4 29:9");
	native_is(below, 2, 0, "schema 0, 0 zeros -0:4 -4:3");
	native_is(NULL, 0, 0, "schema 0, 0 zeros");
}

/* In libc. */
long double ldexpl(long double x, int by);

/* Whatever the buckets are: none is lost, none shares a native one below the finest schema, and the largest value of
 * each lies in the native one that it is counted in. */
TEST(metrics_native_of_any_buckets)
{
	u64 seed = 1;
	for (u32 round = 0; round < 200; round++) {
		struct bucket b[40];
		struct native h;
		u64 all = 0, found = 0;
		i64 lo = (i64)(seed >> 40) - (1 << 23);
		for (u32 i = 0; i < countof(b); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			i64 hi = lo + 1 + (i64)(seed >> (24 + seed % 39));
			b[i] = (struct bucket){lo, hi, .count = 1 + (seed >> 60)};
			all += b[i].count;
			lo = hi;
		}
		native_of(b, countof(b), 1000, &h);
		for (u32 side = 0; side < 2; side++)
			for (u32 i = 0; i < h.n[side]; i++)
				found += h.count[side][i];
		CHECK(found + h.zeros == all);
		for (u32 i = 0; i < countof(b); i++) {
			double end = (double)(b[i].hi - 1) / 1000;
			u32 side = end < 0, hits = 0;
			long double power = side ? -end : end;
			for (i32 k = 0; k < h.schema; k++)
				power *= power;
			for (u32 k = 0; k < h.n[side] && end != 0; k++)
				hits += power <= ldexpl(1.0000001L, h.index[side][k]) &&
					power > ldexpl(0.9999999L, h.index[side][k] - 1);
			CHECK(end == 0 || hits);
		}
		CHECK(h.schema == 8 || h.n[0] + h.n[1] + (h.zeros > 0) == countof(b));
	}
}
