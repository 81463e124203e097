/* Reading, merging, sorting and printing maps: needs to be allowed to create them. */
#include "core/builtin.h"
#include "core/store.h"
#include "core/watch.h"
#include "report/packed.h"
#include "report/report.h"
#include "run/engine_kernel.h"
#include "run/here.h"
#include "run/session.h"
#include "test.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct maps {
	struct arena a;
	struct host h;
	struct unit u;
	struct config c;
	struct session s;
	struct sb out;
	struct live_map map; /* of the unit's only one */
};

/* A sink that collects what the text sink would print for maps. */
static struct err *put(void *self, const struct item *it)
{
	struct maps *t = self;
	for (u64 i = 0; it->kind == I_MAP && i < it->map.n; i++) {
		struct item_row row = item_row(it, i);
		if (row.key)
			value_key_text(&t->out, row.key, &(struct show){.trailer = STR("..")});
		sb_z(&t->out, "=");
		value_text(&t->out, row.val, &(struct show){.trailer = STR("..")});
		sb_z(&t->out, ";");
	}
	if (it->kind == I_ERROR)
		sb_add(&t->out, it->str);
	return NULL;
}

static const struct sink sink = {.name = "test", .put = put};

static const struct sink sink_by_text = {.name = "test", .put = put, .keys = KEYS_BY_TEXT};

static void setup(struct maps *t)
{
	*t = (struct maps){0};
	host_init(&t->h, &t->a, "");
	t->s = (struct session){.u = &t->u,
				.h = &t->h,
				.live = {.engine = &engine_kernel, .self = &t->h, .map = &t->map}};
	t->s.reporter = (struct reporter){.unit = &t->u,
					  .source = &source_here,
					  .from = &t->s,
					  .arch = t->h.arch,
					  .ncpu = t->h.ncpu,
					  .control = &t->s.control};
	reporter_init(&t->s.reporter, &sink, t);
	services_init(&t->s);
}

static void teardown(struct maps *t)
{
	sb_free(&t->out);
	services_free(&t->s);
	reporter_free(&t->s.reporter);
	host_deinit(&t->h);
	arena_free(&t->a);
}

static const struct store *store_named(const char *name)
{
	for (const struct store *const *s = stores; *s; s++)
		if (!strcmp((*s)->name, name))
			return *s;
	abort();
}

/* False: not allowed here. */
static bool make(struct maps *t, struct map *m, u32 type, const char *store)
{
	m->store = store_named(store);
	struct map_spec spec = {"test", type, m->key_size, m->val_size, m->max_entries, 0};
	struct err *e = bpf_map_new(&spec, &t->map.fd);
	bool allowed = !e || e->no != EPERM;
	if (e && allowed)
		test_fail(__FILE__, __LINE__, e->msg);
	if (!allowed)
		test_skip("not allowed to create BPF maps");
	err_free(e);
	return allowed && !e;
}

static void check_map(struct maps *t, const struct map *m, u32 top, u64 div, const char *want)
{
	sb_clear(&t->out);
	sb_z(&t->out, "");
	report_print_map(&t->s.reporter, m, top, div, false);
	CHECK_STR(t->out.s, want);
}

static void set(const struct maps *t, const void *key, const void *val)
{
	struct err *e = bpf_map_put(t->map.fd, key, val);
	CHECK(!e);
	err_free(e);
}

TEST(maps_of_ints_are_sorted_by_value)
{
	struct maps t;
	setup(&t);
	struct map m = {.name = STR("@a"),
			.key = &type_i8,
			.val = &type_i64,
			.shown = &type_i8,
			.key_size = 1,
			.val_size = 8,
			.max_entries = 16};
	if (make(&t, &m, BPF_MAP_TYPE_HASH, "hash")) {
		const i8 keys[] = {3, 1, -2, 10, 9};
		const i64 vals[] = {1, 3, -2, 7, 3};
		for (u32 i = 0; i < countof(keys); i++)
			set(&t, &keys[i], &vals[i]);
		check_map(&t, &m, 0, 0, "-2=-2;3=1;1=3;9=3;10=7;");
		check_map(&t, &m, 2, 0, "9=3;10=7;");
		check_map(&t, &m, 2, 2, "9=1;10=3;");
		check_map(&t, &m, 0, 2, "-2=-1;3=0;1=1;9=1;10=3;");
		report_zero_map(&t.s.reporter, &m);
		check_map(&t, &m, 0, 0, "-2=0;1=0;3=0;9=0;10=0;");
		report_clear_map(&t.s.reporter, &m);
		check_map(&t, &m, 0, 0, "");
		close(t.map.fd);
	}
	teardown(&t);
}

TEST(maps_of_text_are_sorted_by_key)
{
	struct maps t;
	setup(&t);
	const struct type *str8 = type_string(&t.a, 8), *elem[] = {&type_i32, str8};
	const struct type *key = type_tuple(&t.a, 2, elem, NULL);
	struct map m = {.name = STR("@c"),
			.key = key,
			.val = str8,
			.shown = str8,
			.key_size = key->size,
			.val_size = 8,
			.max_entries = 16};
	if (make(&t, &m, BPF_MAP_TYPE_HASH, "hash")) {
		const struct {
			i32 n;
			char s[8];
		} keys[] = {{2, "x"}, {-1, "z"}, {2, "a"}, {2, "ab"}};
		for (u32 i = 0; i < countof(keys); i++)
			set(&t, &keys[i], "value");
		check_map(&t, &m, 0, 0, "-1, z=value;2, a=value;2, ab=value;2, x=value;");
		check_map(&t, &m, 1, 0, "2, x=value;");
		close(t.map.fd);
	}
	teardown(&t);
}

TEST(maps_merge_cpus)
{
	struct maps t;
	setup(&t);
	struct type sum = {.kind = T_SUM, .is_signed = true, .size = 8, .align = 8};
	struct map m = {.name = STR("@s"),
			.key = &type_u32,
			.val = &sum,
			.shown = &sum,
			.key_size = 4,
			.val_size = 8,
			.max_entries = 4,
			.percpu = true};
	if (make(&t, &m, BPF_MAP_TYPE_PERCPU_HASH, "percpu_hash")) {
		i64 *vals = arena_newn(&t.a, i64, t.h.ncpu);
		for (u32 key = 1; key < 4; key++) {
			for (u32 c = 0; c < t.h.ncpu; c++)
				vals[c] = c ? 0 : (i64)(key == 2 ? 7 : key);
			vals[t.h.ncpu - 1] += 10;
			set(&t, &key, vals);
		}
		check_map(&t, &m, 0, 0, "1=11;3=13;2=17;");
		check_map(&t, &m, 1, 4, "2=4;");
		close(t.map.fd);
	}
	teardown(&t);
}

/* Three keys, all of control groups that do not exist, whose paths are shown as "". */
static void check_alike(struct type val, bool counter, const u64 words[3][2], const char *apart,
			const char *joined)
{
	struct maps t;
	setup(&t);
	const struct type key = {.kind = T_CGROUP_PATH, .size = 16, .align = 8};
	const struct agg *agg = agg_of(&val);
	struct map m = {.name = STR("@"),
			.key = &key,
			.val = &val,
			.shown = &val,
			.key_size = 16,
			.val_size = agg ? agg->words(&val) * 8 : 8,
			.max_entries = 4,
			.counter = counter};
	static const char *none = "";
	t.u.strings = &none;
	t.u.nstring = 1;
	if (make(&t, &m, BPF_MAP_TYPE_HASH, "hash")) {
		u64 *w = arena_newn(&t.a, u64, m.val_size / 8);
		for (u64 i = 0; i < 3; i++) {
			memcpy(w, words[i], MIN(m.val_size, 16u));
			set(&t, (const u64[2]){~0ull - i, 0}, w);
		}
		check_map(&t, &m, 0, 0, apart);
		t.s.reporter.output.sink = &sink_by_text;
		check_map(&t, &m, 0, 0, joined);
		check_map(&t, &m, 1, 0, counter || agg ? joined : "=9;");
		close(t.map.fd);
	}
	teardown(&t);
}

TEST(rows_that_are_shown_alike_are_joined_by_the_rule_of_the_map)
{
	static const u64 one[3][2] = {{5}, {2}, {9}}, two[3][2] = {{10, 1}, {20, 3}, {6, 2}},
			 set_only[3][2] = {{5, 1}, {2, 1}, {9, 1}};
	const struct type number = {.kind = T_INT, .size = 8, .align = 8, .is_signed = true};
	struct type agg = number;
	check_alike(number, true, one, "=2;=5;=9;", "=16;");
	check_alike(number, false, one, "=2;=5;=9;", "=2;=5;=9;");
	agg.kind = T_COUNT;
	check_alike(agg, false, one, "=2;=5;=9;", "=16;");
	agg.kind = T_SUM;
	check_alike(agg, false, one, "=2;=5;=9;", "=16;");
	agg.kind = T_MIN;
	check_alike(agg, false, set_only, "=2;=5;=9;", "=2;");
	agg.kind = T_MAX;
	check_alike(agg, false, set_only, "=2;=5;=9;", "=9;");
	agg.size = 16;
	agg.kind = T_AVG;
	check_alike(agg, false, two, "=3;=6;=10;", "=6;");
	agg.kind = T_STATS;
	check_alike(agg, false, two,
		    "={ .count = 2, .average = 3, .total = 6 };={ .count = 3, .average = 6, .total "
		    "= 20 };={ .count = 1, .average = 10, .total = 10 };",
		    "={ .count = 6, .average = 6, .total = 36 };");
	agg.kind = T_SHARE;
	check_alike(agg, false, (const u64[3][2]){{1, 2}, {0, 1}, {3, 3}}, "=0;=50;=100;",
		    "=66.67;");
}

static void watched(void *self, const struct map *m, const struct item *it, bool clearing)
{
	struct maps *t = self;
	(void)m;
	sb_z(&t->out, clearing ? "before clear:" : "watched:");
	put(t, it);
}

/* A watcher's readings have what was cleared, and change nothing: clear() takes off what was printed. */
TEST(maps_are_watched_without_a_trace)
{
	struct maps t;
	setup(&t);
	struct type sum = {.kind = T_SUM, .is_signed = true, .size = 8, .align = 8};
	struct map m = {.name = STR("@s"),
			.key = &type_u32,
			.val = &sum,
			.shown = &sum,
			.key_size = 4,
			.val_size = 8,
			.max_entries = 16,
			.adds = true,
			.cleared = true},
		   *maps[] = {&m};
	struct watcher w = {.self = &t, .map = watched};
	t.u.map = maps;
	t.u.nmap = 1;
	t.s.reporter.output.watcher = &w;
	if (make(&t, &m, BPF_MAP_TYPE_HASH, "hash")) {
		set(&t, &(u32){1}, &(u64){5});
		t.s.reporter.records.event_ts = 1000;
		check_map(&t, &m, 0, 0, "1=5;");
		set(&t, &(u32){1}, &(u64){7}); /* between print() and clear() */
		sb_clear(&t.out);
		report_watch_maps(&t.s.reporter, &w);
		report_clear_map(&t.s.reporter, &m);
		CHECK_STR(t.out.s, "watched:1=7;");
		check_map(&t, &m, 0, 0, "1=2;");
		sb_clear(&t.out);
		report_watch_maps(&t.s.reporter, &w);
		CHECK_STR(t.out.s, "watched:1=7;");
		sb_clear(&t.out);
		report_zero_map(&t.s.reporter, &m); /* empties it, so it is read before */
		CHECK_STR(t.out.s, "before clear:1=7;");
		CHECK(!w.nfailed);
		close(t.map.fd);
	}
	teardown(&t);
}

TEST(scalars_know_whether_they_were_stored)
{
	struct maps t;
	setup(&t);
	struct map m = {.name = STR("@x"),
			.val = &type_i64,
			.shown = &type_i8,
			.key_size = 4,
			.val_size = 16,
			.max_entries = 1,
			.scalar = true};
	if (make(&t, &m, BPF_MAP_TYPE_ARRAY, "array")) {
		const u32 zero = 0;
		const i64 stored[] = {5, 1};
		check_map(&t, &m, 0, 0, "=0;");
		sb_clear(&t.out);
		report_print_map(&t.s.reporter, &m, 0, 0, true);
		CHECK(t.out.n == 0);
		set(&t, &zero, stored);
		check_map(&t, &m, 1, 2, "=2;");
		report_zero_map(&t.s.reporter, &m);
		sb_clear(&t.out);
		report_print_map(&t.s.reporter, &m, 0, 0, true);
		CHECK_STR(t.out.s, "=0;");
		report_clear_map(&t.s.reporter, &m);
		sb_clear(&t.out);
		report_print_map(&t.s.reporter, &m, 0, 0, true);
		CHECK(t.out.n == 0);
		close(t.map.fd);
	}
	teardown(&t);
}

TEST(scalar_histograms)
{
	struct maps t;
	setup(&t);
	struct type hist = {.kind = T_HIST, .size = hist_buckets(0) * 8, .align = 8};
	struct map m = {.name = STR("@h"),
			.val = &hist,
			.shown = &hist,
			.key_size = 4,
			.val_size = hist.size + 8,
			.max_entries = 1,
			.scalar = true};
	if (make(&t, &m, BPF_MAP_TYPE_ARRAY, "array")) {
		const u32 zero = 0;
		u64 *w = arena_newn(&t.a, u64, hist_buckets(0) + 1);
		check_map(&t, &m, 0, 0, "");
		w[3] = 2; /* [2, 4) */
		w[hist_buckets(0)] = 1;
		set(&t, &zero, w);
		check_map(&t, &m, 0, 0,
			  "=[2, 4)                 2 "
			  "|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n;");
		report_zero_map(&t.s.reporter, &m);
		check_map(&t, &m, 0, 0, "=;");
		close(t.map.fd);
	}
	teardown(&t);
}

TEST(decoded_values)
{
	struct maps t;
	setup(&t);
	struct value v;
	struct arena a = {0};
	decode_value(&t.s.reporter.reader, &a, &type_i8, (const u8 *)"\xff", &v);
	CHECK(v.kind == V_INT && v.i == -1);
	decode_value(&t.s.reporter.reader, &a, &type_u16, (const u8 *)"\xff\xff", &v);
	CHECK(v.kind == V_UINT && v.u == 0xffff);
	decode_value(&t.s.reporter.reader, &a, type_string(&t.a, 4), (const u8 *)"ab\0c", &v);
	CHECK(v.kind == V_STR && str_is(v.str, "ab") && !v.cut);
	decode_value(&t.s.reporter.reader, &a, type_string(&t.a, 4), (const u8 *)"abcd", &v);
	CHECK(str_is(v.str, "abcd") && v.cut);
	decode_value(&t.s.reporter.reader, &a, type_string(&t.a, 8), (const u8 *)"a\x1b[1m\n\t",
		     &v);
	CHECK(str_is(v.str, "a\x1b[1m\n\t"));
	decode_value(&t.s.reporter.reader, &a, type_buf(&t.a, 4), (const u8 *)"\x64\0\0\0abcd", &v);
	CHECK(v.kind == V_BYTES && v.str.n == 4); /* the length says 100 */
	decode_value(&t.s.reporter.reader, &a, &type_mac, (const u8 *)"AB\0\xff\x10\x01", &v);
	CHECK(str_is(v.str, "41:42:00:FF:10:01"));
	const u8 inet[20] = {4, 0, 0, 0, 127, 0, 0, 1};
	decode_value(&t.s.reporter.reader, &a, &type_inet, inet, &v);
	CHECK(str_is(v.str, "127.0.0.1"));
	arena_free(&a);
	teardown(&t);
}

TEST(packed_keys_are_what_they_were)
{
	enum { KEYS = 200, MOST = 70 * 8 };
	struct packed p = {0};
	u8 key[KEYS][MOST], got[MOST];
	u32 seed = 1;
	for (p.size = 0; p.size <= MOST; p.size += p.size < 20 ? 1 : 45) {
		for (u32 i = 0; i < KEYS; i++) {
			for (u32 k = 0; k < p.size; k++) {
				seed = seed * 1103515245 + 12345;
				key[i][k] = (seed >> 16) % 11 < i % 12 && k % 37 < i
						    ? (u8)(seed >> 24)
						    : 0;
			}
			packed_add(&p, key[i]);
		}
		for (u32 i = 0; i < KEYS; i++) {
			memset(got, 1, sizeof(got));
			packed_get(p.key.v[i], got, p.size);
			CHECK(!memcmp(got, key[i], p.size));
			bool same = !memcmp(key[i], key[i / 2], p.size);
			CHECK(str_eq(p.key.v[i], p.key.v[i / 2]) == same);
		}
		packed_free(&p);
	}
	p.size = 1024; /* a stack of three frames */
	u8 stack[1024] = {3, [8] = 1, [16] = 1, [24] = 1};
	packed_add(&p, stack);
	CHECK(p.key.v[0].n == 36);
	packed_free(&p);
}

TEST(packed_keys_of_half_a_megabyte)
{
	enum { SIZE = 8 * 140000 };
	struct packed p = {.size = SIZE};
	u8 *key = calloc(1, SIZE), *got = malloc(SIZE);
	key[SIZE - 1] = 1;
	packed_add(&p, key);
	memset(key, 2, SIZE);
	packed_add(&p, key);
	packed_get(p.key.v[1], got, SIZE);
	CHECK(!memcmp(got, key, SIZE));
	memset(key, 0, SIZE);
	key[SIZE - 1] = 1;
	packed_get(p.key.v[0], got, SIZE);
	CHECK(!memcmp(got, key, SIZE) && p.key.v[0].n < 100);
	packed_free(&p);
	free(key);
	free(got);
}

TEST(wall_clock_parts_of_a_second)
{
	struct maps t;
	setup(&t);
	AUTO_SB out = {0};
	clocks_strftime(&t.s.reporter.reader.clocks, &out, "%f %k %l %%f %S", 123456789);
	CHECK_STR(out.s, "123456 123456789 123 %f 00");
	teardown(&t);
}

/* handle() of the records below: what came. */
static void act(struct reporter *r, const struct schema *sc, const struct value *v, u32 n, u64 ts)
{
	struct maps *t = r->output.self;
	(void)sc;
	for (u32 i = 0; i < n; i++) {
		value_text(&t->out, &v[i], &(struct show){.trailer = STR("..")});
		sb_char(&t->out, ';');
	}
	sb_fmt(&t->out, "%llu", ts);
}

static void take(struct maps *t, u32 schema, u32 size, u32 n, const char *want, u64 corrupt)
{
	static const u8 data[16] = {1, 0, 0, 0, 'a', 'b', 'c'};
	const struct record head = {schema, size, 7};
	u64 rec[(sizeof(head) + sizeof(data)) / 8];
	memcpy(rec, &head, sizeof(head));
	memcpy((u8 *)rec + sizeof(head), data, sizeof(data));
	sb_clear(&t->out);
	sb_z(&t->out, "");
	record_take(&t->s.reporter, rec, sizeof(head) + n);
	CHECK_STR(t->out.s, want);
	CHECK(t->s.reporter.records.corrupt == corrupt);
}

TEST(records_are_checked)
{
	struct maps t;
	setup(&t);
	const struct type *elem[] = {&type_i32, type_string(&t.a, 8)};
	const struct builtin fn = {.handle = act};
	struct schema sc = {.id = 0, .fn = &fn, .layout = type_tuple(&t.a, 2, elem, NULL)},
		      *list[] = {&sc};
	t.u.schema = list;
	t.u.nschema = 1;
	reader_free(&t.s.reporter.reader);
	reader_init(&t.s.reporter.reader, &t.u, &names_here, &t.s);
	take(&t, 0, 12, 16, "1;abc;7", 0);
	take(&t, 0, 7, 8, "1;abc;7", 0); /* the string cut to its length */
	take(&t, 0, 6, 8, "1;ab;7", 0);
	take(&t, 0, 4, 8, "1;;7", 0);
	take(&t, 0, 3, 8, "", 1);
	take(&t, 0, 12, 8, "", 2); /* says more than there is */
	take(&t, 1, 12, 16, "", 3);
	t.s.reporter.records.hold = true;
	take(&t, 0, 7, 8, "", 3);
	take(&t, 0, 5, 8, "", 3);
	t.s.reporter.records.hold = false;
	record_replay(&t.s.reporter);
	CHECK_STR(t.out.s, "1;abc;71;a;7");
	teardown(&t);
}
