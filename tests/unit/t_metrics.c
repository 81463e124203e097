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
	for (enum metrics_format f = 0; f < METRICS_FORMATS; f++) {
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
	for (size_t i = 0; i < got.n; i++)
		sb_fmt(&hex, "%02x", (u8)got.s[i]);
	CHECK_STR(hex.s, want);
	metrics_free(&m);
}
