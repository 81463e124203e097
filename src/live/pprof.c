/* pprof.c - stacks of a table as a profile of google/pprof (proto/profile.proto there), by names; see save.h. */
#include "base/alloc.h"
#include "base/proto.h"
#include "base/tab.h"
#include "live/save.h"

/* Field numbers of profile.proto. */
enum {
	P_SAMPLE_TYPE = 1,
	P_SAMPLE = 2,
	P_LOCATION = 4,
	P_FUNCTION = 5,
	P_STRING = 6,
	P_TIME = 9,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
};

/* A text's number + 1; that of a frame is also the id of its function and location. */
static u64 string(struct tab *t, struct str s)
{
	if (!tab_get(t, s))
		tab_set(t, s, (void *)(uintptr_t)(t->n + 1ul));
	return (uintptr_t)tab_get(t, s);
}

static void put_sample(struct tab *t, const struct live_row *row, u64 n, struct sb *out)
{
	AUTO_SB b = {0};
	AUTO_SB list = {0};
	for (u32 i = row->nframe; i; i--)
		proto_varint(&list, string(t, row->frame[i - 1]));
	proto_bytes(&b, SAMPLE_LOCATION, sb_str(&list));
	proto_number(&b, SAMPLE_VALUE, n);
	proto_bytes(out, P_SAMPLE, sb_str(&b));
}

static void put_function(u64 id, struct sb *out)
{
	AUTO_SB function = {0};
	AUTO_SB line = {0};
	AUTO_SB location = {0};
	proto_number(&function, FUNCTION_ID, id);
	proto_number(&function, FUNCTION_NAME, id - 1);
	proto_bytes(out, P_FUNCTION, sb_str(&function));
	proto_number(&line, LINE_FUNCTION, id);
	proto_number(&location, LOCATION_ID, id);
	proto_bytes(&location, LOCATION_LINE, sb_str(&line));
	proto_bytes(out, P_LOCATION, sb_str(&location));
}

void save_pprof(const struct live_model *m, const struct live_table *t,
		const struct live_look *look, struct sb *out)
{
	struct arena a = {0};
	struct tab strings = {0};
	AUTO_SB type = {0};
	struct live_entries e = model_collect(m, t, look, &a);
	string(&strings, STR("")); /* the first one has to be empty */
	proto_number(&type, VALUE_TYPE, string(&strings, t->name) - 1);
	proto_number(&type, VALUE_UNIT, string(&strings, STR("count")) - 1);
	proto_bytes(out, P_SAMPLE_TYPE, sb_str(&type));
	for (u32 i = 0; i < e.n; i++) {
		i64 n = t->kind == LIVE_NUMBER ? e.v[i].all.n : (i64)e.v[i].all.count;
		if (n > 0)
			put_sample(&strings, e.v[i].row, (u64)n, out);
	}
	for (u64 id = 2; id <= strings.n; id++)
		put_function(id, out);
	for (u32 i = 0; i < strings.n; i++)
		proto_bytes(out, P_STRING, strings.v[i].key);
	if (look->at)
		proto_number(out, P_TIME, look->at->at.wall_ns);
	tab_free(&strings);
	arena_free(&a);
}
