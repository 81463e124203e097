/* The two basic sinks, byte for byte. Expected lines are what bpftrace 0.27.1 prints. */
#include "base/json.h"
#include "core/agg.h"
#include "core/sink.h"
#include "test.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct source source = {STR("stdin"), STR("BEGIN { print(1); errorf(\"e %d\", 1); }")};
static const struct diags diags = {.source = &source, .nsource = 1};

static char *contents(int fd, char buf[4096])
{
	ssize_t n = pread(fd, buf, 4095, 0);
	buf[n > 0 ? n : 0] = 0;
	close(fd);
	return buf;
}

/* What the sink writes for one item on its stream (and on the error stream, when err is given). */
static void check_sink(const char *name, const struct item *it, bool quiet, const char *want,
		       const char *err)
{
	char self[65536] = {0}, buf[4096];
	int out = memfd_create("out", 0), errs = memfd_create("err", 0);
	struct sink_env env = {.out = out,
			       .err = errs,
			       .buffering = 'l',
			       .diags = &diags,
			       .how = {.trailer = STR("..")},
			       .quiet = quiet};
	for (const struct sink *const *s = sinks; *s; s++) {
		if (strcmp((*s)->name, name))
			continue;
		CHECK((*s)->size <= sizeof(self));
		CHECK(!(*s)->open(self, &env, NULL));
		CHECK(!(*s)->put(self, it));
		CHECK(!(*s)->close(self));
	}
	CHECK_STR(contents(out, buf), want);
	CHECK_STR(contents(errs, buf), err);
}

static void check_value(struct value v, const char *want)
{
	check_sink("json", &(struct item){.kind = I_VALUE, .text.val = &v}, false, want, "");
}

TEST(json_numbers)
{
	check_value((struct value){.kind = V_INT, .i = -1},
		    "{\"type\": \"value\", \"data\": -1}\n");
	check_value((struct value){.kind = V_UINT, .u = UINT64_MAX},
		    "{\"type\": \"value\", \"data\": \"18446744073709551615\"}\n");
	check_value((struct value){.kind = V_INT, .i = 9007199254740992},
		    "{\"type\": \"value\", \"data\": 9007199254740992}\n");
	check_value((struct value){.kind = V_INT, .i = 9007199254740993},
		    "{\"type\": \"value\", \"data\": \"9007199254740993\"}\n");
	check_value((struct value){.kind = V_INT, .i = -9007199254740993},
		    "{\"type\": \"value\", \"data\": \"-9007199254740993\"}\n");
	check_value((struct value){.kind = V_UINT, .u = 1ull << 60},
		    "{\"type\": \"value\", \"data\": 1152921504606846976}\n");
	check_value((struct value){.kind = V_PTR, .u = 16},
		    "{\"type\": \"value\", \"data\": 16}\n");
	check_value((struct value){.kind = V_BOOL, .u = 1},
		    "{\"type\": \"value\", \"data\": true}\n");
	check_value((struct value){.kind = V_ENUM, .i = 300, .str = STR("B")},
		    "{\"type\": \"value\", \"data\": 300}\n");
}

TEST(json_strings)
{
	check_value((struct value){.kind = V_STR, .str = STR("a\"\\\n\t\r\x01\x7f/\b")},
		    "{\"type\": \"value\", \"data\": \"a\\\"\\\\\\n\\t\\r\\u0001\x7f/\\u0008\"}\n");
	/* Not in the reference, which writes broken escapes here: UTF-8 stays, other bytes become
	 * code points. */
	check_value((struct value){.kind = V_STR, .str = STR("\xc3\xa9 \x80 \xe2\x82")},
		    "{\"type\": \"value\", \"data\": \"\xc3\xa9 \\u0080 \\u00e2\\u0082\"}\n");
	check_value((struct value){.kind = V_BYTES, .str = STR("a\x01\"")},
		    "{\"type\": \"value\", \"data\": [97,1,34]}\n");
	check_sink("json",
		   &(struct item){.kind = I_TEXT, .name = STR("printf"), .str = STR("hi 1 x\n")},
		   false, "{\"type\": \"printf\", \"data\": \"hi 1 x\\n\"}\n", "");
}

TEST(json_compound)
{
	struct value pair[] = {{.kind = V_INT, .i = 2}, {.kind = V_STR, .str = STR("x")}};
	struct value tuple = {.kind = V_TUPLE, .n = 2, .list = pair};
	struct value two[] = {{.kind = V_INT, .i = 1}, tuple};
	struct str names[] = {STR("a"), STR("b")};
	check_value((struct value){.kind = V_RECORD, .n = 2, .list = two, .names = names},
		    "{\"type\": \"value\", \"data\": {\"a\": 1, \"b\": [2,\"x\"]}}\n");
}

static struct item map_of(const char *name, enum type_kind kind, const struct value *key,
			  const struct value *val, u64 n)
{
	struct type t = {.kind = kind};
	return (struct item){.kind = I_MAP,
			     .name = str_z(name),
			     .map.agg = agg_of(&t),
			     .map.key = key,
			     .map.val = val,
			     .map.n = n};
}

TEST(json_maps)
{
	struct value one = {.kind = V_INT, .i = 1};
	struct value ab[] = {{.kind = V_STR, .str = STR("a b")}, one};
	struct value keys[] = {{.kind = V_TUPLE, .n = 2, .list = ab},
			       {.kind = V_STR, .str = STR("z")}};
	struct value vals[] = {one, one};
	struct item it = map_of("@a", T_INT, NULL, vals, 1);
	check_sink("json", &it, false, "{\"type\": \"map\", \"data\": {\"@a\": 1}}\n", "");
	check_sink("text", &it, false, "@a: 1\n", "");
	it = map_of("@x", T_INT, keys, vals, 2);
	check_sink("json", &it, false,
		   "{\"type\": \"map\", \"data\": {\"@x\": {\"a b,1\": 1, \"z\": 1}}}\n", "");
	check_sink("text", &it, false, "@x[a b, 1]: 1\n@x[z]: 1\n", "");
	it = map_of("@x", T_INT, keys, vals, 0);
	check_sink("json", &it, false, "", "");
	check_sink("text", &it, false, "", "");
	it = map_of("@a", T_AVG, NULL, vals, 1);
	check_sink("json", &it, false, "{\"type\": \"stats\", \"data\": {\"@a\": 1}}\n", "");
	it = map_of("@st", T_STATS, NULL, vals, 0);
	check_sink("json", &it, false, "{\"type\": \"stats\", \"data\": {\"@st\": {}}}\n", "");
}

/* want: as a reader of JSON has it. */
static void check_key(struct value key, const char *want)
{
	struct value one = {.kind = V_INT, .i = 1};
	struct item it = map_of("@", T_INT, &key, &one, 1);
	AUTO_SB text = {0};
	sb_z(&text, "{\"type\": \"map\", \"data\": {\"@\": {");
	json_z(&text, want);
	sb_z(&text, ": 1}}}\n");
	check_sink("json", &it, false, text.s, "");
}

static struct value text_of(const char *z)
{
	return (struct value){.kind = V_STR, .str = str_z(z)};
}

/* Keys of two parts that would be the same word. */
TEST(json_keys_are_told_apart)
{
	struct value ab_c[] = {text_of("a,b"), text_of("c")};
	struct value a_bc[] = {text_of("a"), text_of("b,c")};
	struct value slash[] = {text_of("a\\"), text_of("(b)")};
	check_key((struct value){.kind = V_TUPLE, .n = 2, .list = ab_c}, "a\\,b,c");
	check_key((struct value){.kind = V_TUPLE, .n = 2, .list = a_bc}, "a,b\\,c");
	check_key((struct value){.kind = V_TUPLE, .n = 2, .list = slash}, "a\\\\,(b)");
	check_key(text_of("a,b"), "a,b");
	struct value inner[] = {text_of("x"), text_of("y),{z}")};
	struct value outer[] = {{.kind = V_TUPLE, .n = 2, .list = inner}, text_of("[v]")};
	check_key((struct value){.kind = V_TUPLE, .n = 2, .list = outer}, "(x,y\\)\\,\\{z\\}),[v]");
	/* Bytes that look like the text of another byte. */
	struct value bytes[] = {{.kind = V_BYTES, .str = STR("\x01")},
				{.kind = V_BYTES, .str = STR("\\x01")}};
	check_key((struct value){.kind = V_TUPLE, .n = 2, .list = bytes}, "\\x01,\\\\x01");
}

TEST(json_hist)
{
	struct bucket b[] = {{.no_lo = true, .count = 1}, {0, 1, .count = 0}, {2, 4, .count = 2}};
	struct value v = {.kind = V_HIST, .n = 3, .hist = b},
		     key = {.kind = V_STR, .str = STR("a")};
	struct item it = map_of("@h", T_HIST, NULL, &v, 1);
	check_sink("json", &it, false,
		   "{\"type\": \"hist\", \"data\": {\"@h\": [{\"max\": -1, \"count\": 1},"
		   "{\"min\": 0, \"max\": 0, \"count\": 0},{\"min\": 2, \"max\": 3, \"count\": "
		   "2}]}}\n",
		   "");
	struct bucket over[] = {{.lo = 100, .no_hi = true, .count = 1}};
	v = (struct value){.kind = V_HIST, .n = 1, .hist = over, .step = 10};
	it = map_of("@k", T_LHIST, &key, &v, 1);
	check_sink("json", &it, false,
		   "{\"type\": \"hist\", \"data\": {\"@k\": {\"a\": [{\"min\": 100, \"count\": "
		   "1}]}}}\n",
		   "");
	check_sink("text", &it, false,
		   "@k[a]:\n[100, ...)             1 "
		   "|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n\n",
		   "");
	v = (struct value){.kind = V_HIST};
	check_sink("json", &it, false, "{\"type\": \"hist\", \"data\": {\"@k\": {\"a\": []}}}\n",
		   "");
	check_sink("text", &it, false, "@k[a]:\n\n", "");
	struct bucket last[] = {{1ll << 62, INT64_MIN, .count = 1}};
	v = (struct value){.kind = V_HIST, .n = 1, .hist = last};
	it = map_of("@a", T_HIST, NULL, &v, 1);
	check_sink(
		"json", &it, false,
		"{\"type\": \"hist\", \"data\": {\"@a\": [{\"min\": 4611686018427387904, \"max\": "
		"\"9223372036854775807\", \"count\": 1}]}}\n",
		"");
}

TEST(json_stats)
{
	struct value list[] = {
		{.kind = V_INT, .i = 2}, {.kind = V_INT, .i = 7}, {.kind = V_INT, .i = 15}};
	struct value v = {.kind = V_STATS, .n = 3, .list = list};
	struct item it = map_of("@s", T_STATS, NULL, &v, 1);
	check_sink("json", &it, false,
		   "{\"type\": \"stats\", \"data\": {\"@s\": {\"count\": 2, \"average\": 7, "
		   "\"total\": 15}}}\n",
		   "");
	check_sink("text", &it, false, "@s: { .count = 2, .average = 7, .total = 15 }\n", "");
}

TEST(sinks_say_what_was_attached)
{
	struct item it = {.kind = I_STATUS,
			  .name = STR("attached_probes"),
			  .str = STR("Attached 2 probes"),
			  .status.n = 2};
	const char *json =
		"{\"type\": \"attached_probes\", \"count\": 2, \"data\": {\"probes\": 2}}\n";
	check_sink("json", &it, false, json, "");
	check_sink("json", &it, true, "", "");
	check_sink("text", &it, false, "", "Attached 2 probes\n");
	check_sink("text", &it, true, "", "");
}

TEST(sinks_show_errors)
{
	struct item it = {.kind = I_ERROR,
			  .error.said = true,
			  .name = STR("errorf"),
			  .str = STR("e 1"),
			  .error.loc = {18, 17, 0}};
	check_sink("json", &it, false,
		   "{\"type\": \"errorf\", \"msg\": \"e 1\", \"filename\": \"stdin\", \"line\": 1, "
		   "\"col\": 19}\n",
		   "");
	check_sink("text", &it, false, "", "stdin:1:19-36: ERROR: e 1\n");
	it.name = STR("runtime_error");
	it.error.warn = true;
	it.error.said = false;
	check_sink("text", &it, false, "",
		   "stdin:1:19-36: WARNING: e 1\n"
		   "BEGIN { print(1); errorf(\"e %d\", 1); }\n"
		   "                  ~~~~~~~~~~~~~~~~~\n");
	it = (struct item){.kind = I_ERROR, .str = STR("no file")};
	check_sink("json", &it, false, "", "ERROR: no file\n");
}

TEST(sinks_show_losses)
{
	struct item it = {.kind = I_LOST,
			  .lost.loss = LOSS_EVENTS,
			  .lost.n = 40,
			  .str = STR("Lost 40 events")};
	check_sink("json", &it, false,
		   "{\"type\": \"lost_events\", \"count\": 40, \"data\": {\"events\": 40}}\n", "");
	check_sink("text", &it, false, "", "Lost 40 events\n");
	it = (struct item){.kind = I_LOST,
			   .lost.warn = true,
			   .lost.loss = LOSS_MAP_FULL,
			   .lost.who = STR("@x"),
			   .lost.n = 3,
			   .str = STR("map @x is full")};
	check_sink("json", &it, false,
		   "{\"type\": \"map_full\", \"data\": {\"map\": \"@x\", \"updates\": 3}}\n", "");
	check_sink("text", &it, false, "", "WARNING: map @x is full\n");
}

/* No kind is silent in JSON. */
TEST(every_loss_is_a_record)
{
	static const char *const want[LOSS_COUNT] = {
		[LOSS_EVENTS] = "\"lost_events\", \"count\": 7, \"data\": {\"events\": 7}",
		[LOSS_TOTAL] = "\"lost_total\", \"data\": {\"events\": 7}",
		[LOSS_BY_PROBE] = "\"lost_by_probe\", \"data\": {\"probe\": \"w\", \"events\": 7}",
		[LOSS_MAP_FULL] = "\"map_full\", \"data\": {\"map\": \"w\", \"updates\": 7}",
		[LOSS_MAP_REFUSED] = "\"map_refused\", \"data\": {\"map\": \"w\", \"updates\": 7}",
		[LOSS_MISSED_PROBES] =
			"\"missed_probes\", \"data\": {\"probe\": \"w\", \"runs\": 7}",
		[LOSS_MISSED_RETURNS] =
			("\"missed_returns\", \"data\": {\"probe\": \"w\", \"returns\": 7}"),
		[LOSS_MISSED_HITS] = "\"missed_hits\", \"data\": {\"probe\": \"w\", \"hits\": 7}",
		[LOSS_OFFLINE] = "\"offline_cpu\", \"data\": {\"cpu\": \"w\", \"milliseconds\": 7}",
		[LOSS_NESTING] = "\"nesting\", \"data\": {\"probe\": \"w\", \"runs\": 7}",
		[LOSS_STRINGS] =
			"\"truncated_strings\", \"data\": {\"probe\": \"w\", \"strings\": 7}",
		[LOSS_READS] = "\"failed_reads\", \"data\": {\"probe\": \"w\", \"reads\": 7}",
		[LOSS_ALL_READS] = "\"failed_reads_total\", \"data\": {\"reads\": 7}",
		[LOSS_CORRUPT] = "\"corrupt_records\", \"data\": {\"records\": 7}",
		[LOSS_FOREIGN_CALLS] = "\"foreign_calls\", \"data\": {\"calls\": 7}",
		[LOSS_MAPPINGS] = "\"lost_mappings\", \"data\": {\"notes\": 7}",
		[LOSS_NOT_FOLLOWED] = "\"not_followed\", \"data\": {\"processes\": 7}",
		[LOSS_COMMANDS] = "\"unrun_commands\", \"data\": {\"commands\": 7}",
		[LOSS_PROCESS] = "\"process\", \"data\": {\"pid\": 7}",
		[LOSS_CORRUPT_FILE] =
			"\"corrupt_file\", \"data\": {\"file\": \"w\", \"events\": 7}",
		[LOSS_UNKNOWN_TASK] = "\"unknown_task\", \"data\": {\"events\": 7}",
		[LOSS_REPLACED] = "\"replaced_file\", \"data\": {\"file\": \"w\", \"msg\": \"so\"}",
		[LOSS_KERNEL_NAMES] = "\"no_kernel_names\", \"data\": {\"msg\": \"so\"}",
		[LOSS_UNREAD_FILES] = "\"unread_file\", \"data\": {\"msg\": \"so\"}",
		[LOSS_CUT_STACKS] = "\"cut_stacks\", \"data\": {\"reason\": \"w\", \"stacks\": 7}",
		[LOSS_CUT_IN_FILE] = "\"cut_in_file\", \"data\": {\"file\": \"w\", \"stacks\": 7}",
		[LOSS_BUDGET] = "\"over_budget\", \"data\": {\"millionths\": 7}",
		[LOSS_UNWIND_LIMIT] =
			"\"unwind_limit\", \"data\": {\"limit\": \"w\", \"times\": 7}",
		[LOSS_UNCOUNTED] = "\"uncounted\", \"data\": {\"what\": \"w\", \"msg\": \"so\"}",
		[LOSS_OTHER_TABLE] = "\"other_table\", \"data\": {\"table\": \"w\", \"rows\": 7}",
		[LOSS_NOT_COUNTED] = "\"not_counted\", \"data\": {\"what\": \"w\", \"times\": 7}",
	};
	for (u32 i = 0; i < LOSS_COUNT; i++) {
		AUTO_SB line = {0};
		struct item it = {.kind = I_LOST,
				  .lost.loss = (enum loss)i,
				  .lost.who = STR("w"),
				  .lost.n = 7,
				  .str = STR("so")};
		sb_fmt(&line, "{\"type\": %s}\n", want[i] ? want[i] : "not expected");
		check_sink("json", &it, false, line.s, "");
	}
	check_sink("json",
		   &(struct item){
			   .kind = I_LOST, .lost.loss = LOSS_MISSED_HITS, .lost.n = LOSS_UNKNOWN},
		   false,
		   "{\"type\": \"missed_hits\", \"data\": {\"probe\": \"\", \"hits\": null}}\n",
		   "");
}

TEST(text_join_and_end)
{
	check_sink("text", &(struct item){.kind = I_TEXT, .text.line = true, .str = STR("a b")},
		   false, "a b\n", "");
	check_sink("text", &(struct item){.kind = I_TEXT, .name = STR("printf"), .str = STR("a b")},
		   false, "a b", "");
	check_sink("text", &(struct item){.kind = I_END}, false, "\n\n", "");
	check_sink("json", &(struct item){.kind = I_END}, false, "", "");
}

TEST(sink_reports_a_full_disk)
{
	char self[65536] = {0};
	int full = open("/dev/full", O_WRONLY);
	struct sink_env env = {.out = full, .err = full, .buffering = 'n', .diags = &diags};
	CHECK(!sinks[0]->open(self, &env, NULL));
	struct err *e = sinks[0]->put(self, &(struct item){.kind = I_TEXT, .str = STR("x")});
	CHECK(e && e->no == ENOSPC);
	err_free(e);
	e = sinks[0]->close(self);
	CHECK(e && e->no == ENOSPC);
	err_free(e);
	close(full);
}

static bool writes(double f, const char *want)
{
	AUTO_SB b = {0};
	json_f64(&b, f);
	return str_is(sb_str(&b), want);
}

TEST(json_fractions)
{
	CHECK(writes(0.1, "0.1"));
	CHECK(writes(66.67, "66.67"));
	CHECK(writes(0.1 + 0.2, "0.30000000000000004"));
	CHECK(writes(-1e300, "-1e+300"));
	CHECK(writes(0, "0"));
	CHECK(writes(__builtin_inf(), "\"inf\""));
	CHECK(writes(__builtin_nan(""), "\"nan\""));
}
