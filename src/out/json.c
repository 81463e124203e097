/*
 * json.c - one JSON object per line: {"type": ..., "data": ...}.
 *
 * Numbers that a double cannot hold are strings. Text that is not UTF-8 keeps its valid parts; each
 * other byte becomes the code point of the same number.
 */
#include "out/out.h"

struct json {
	struct out o;
	struct sink_env env;
	struct sb tmp;
};

/* Length of the UTF-8 sequence at p, 0 when it is none. */
static u32 utf8_len(const char *s, u32 n)
{
	const u8 *p = (const u8 *)s;
	u32 len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	u32 cp = p[0] & (0x7fu >> len);
	static const u32 least[] = {0, 0, 0x80, 0x800, 0x10000};
	if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
		return 0;
	for (u32 i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (p[i] & 0x3fu);
	}
	if (cp < least[len] || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	return len;
}

static void put_char(struct sb *b, u8 c)
{
	static const char hex[] = "0123456789abcdef";
	char u[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
	switch (c) {
	case '\n': sb_mem(b, "\\n", 2); break;
	case '\t': sb_mem(b, "\\t", 2); break;
	case '\r': sb_mem(b, "\\r", 2); break;
	case '"': sb_mem(b, "\\\"", 2); break;
	case '\\': sb_mem(b, "\\\\", 2); break;
	default: sb_mem(b, u, 6);
	}
}

static void put_str(struct sb *b, struct str s)
{
	sb_char(b, '"');
	for (u32 i = 0; i < s.n;) {
		u8 c = (u8)s.s[i];
		u32 n = c < 0x80 ? c >= ' ' && c != '"' && c != '\\' : utf8_len(s.s + i, s.n - i);
		if (n)
			sb_mem(b, s.s + i, n);
		else
			put_char(b, c);
		i += n ? n : 1;
	}
	sb_char(b, '"');
}

static void put_u64(struct sb *b, u64 n)
{
	double d = (double)n;
	bool exact = d < 18446744073709551616.0 && (u64)d == n;
	if (!exact)
		sb_char(b, '"');
	sb_u64(b, n);
	if (!exact)
		sb_char(b, '"');
}

static void put_i64(struct sb *b, i64 n)
{
	double d = (double)n;
	bool exact = d < 9223372036854775808.0 && (i64)d == n;
	if (!exact)
		sb_char(b, '"');
	sb_i64(b, n);
	if (!exact)
		sb_char(b, '"');
}

static void put_field(struct sb *b, bool first, const char *name)
{
	sb_fmt(b, "%s\"%s\": ", first ? "" : ", ", name);
}

static void put_bounds(struct sb *b, const struct bucket *k)
{
	if (!k->no_lo) {
		put_field(b, true, "min");
		put_i64(b, k->lo);
	}
	if (!k->no_hi) {
		put_field(b, k->no_lo, "max");
		put_i64(b, (i64)((u64)k->hi - 1));
	}
}

static void put_percentiles(struct json *j, const struct value *v)
{
	struct sb *b = &j->o.b;
	sb_char(b, '{');
	for (u32 i = 0; i < v->n; i++) {
		put_str(b, v->names[i]);
		sb_z(b, ": {");
		put_bounds(b, &v->hist[i]);
		sb_z(b, "}, ");
	}
	put_field(b, true, "count");
	put_u64(b, v->total);
	sb_char(b, '}');
}

static void put_hist(struct sb *b, const struct value *v)
{
	sb_char(b, '[');
	for (u32 i = 0; i < v->n; i++) {
		const struct bucket *k = &v->hist[i];
		sb_z(b, i ? ",{" : "{");
		put_bounds(b, k);
		put_field(b, false, "count");
		put_u64(b, k->count);
		sb_char(b, '}');
	}
	sb_char(b, ']');
}

static void put_series(struct sb *b, const struct value *v)
{
	bool first = true;
	sb_char(b, '[');
	for (u32 i = 0; i < v->n; i++) {
		if (v->series[i].none)
			continue;
		sb_z(b, first ? "{\"interval_start\":\"" : ",{\"interval_start\":\"");
		value_tick_time(b, &v->series[i]);
		sb_z(b, "\",\"value\":");
		if (v->sign)
			put_i64(b, (i64)v->series[i].value);
		else
			put_u64(b, v->series[i].value);
		sb_char(b, '}');
		first = false;
	}
	sb_char(b, ']');
}

static void put_value(struct json *j, const struct value *v);

static void put_list(struct json *j, const struct value *v)
{
	sb_char(&j->o.b, '[');
	for (u32 i = 0; i < v->n; i++) {
		if (i)
			sb_char(&j->o.b, ',');
		put_value(j, &v->list[i]);
	}
	sb_char(&j->o.b, ']');
}

static void put_record(struct json *j, const struct value *v, const struct str *names)
{
	struct sb *b = &j->o.b;
	sb_char(b, '{');
	for (u32 i = 0; i < v->n; i++) {
		if (i)
			sb_z(b, ", ");
		put_str(b, names[i]);
		sb_z(b, ": ");
		put_value(j, &v->list[i]);
	}
	sb_char(b, '}');
}

static void put_bytes(struct sb *b, struct str s)
{
	sb_char(b, '[');
	for (u32 i = 0; i < s.n; i++)
		sb_fmt(b, "%s%u", i ? "," : "", (u8)s.s[i]);
	sb_char(b, ']');
}

static void put_text(struct json *j, const struct value *v)
{
	sb_clear(&j->tmp);
	value_text(&j->tmp, v, j->env.trailer);
	put_str(&j->o.b, sb_str(&j->tmp));
}

static void put_value(struct json *j, const struct value *v)
{
	static const struct str stats[] = {{"count", 5}, {"average", 7}, {"total", 5}};
	struct sb *b = &j->o.b;
	switch (v->kind) {
	case V_NONE: sb_z(b, "null"); break;
	case V_BOOL: sb_z(b, v->u ? "true" : "false"); break;
	case V_INT:
	case V_ENUM: put_i64(b, v->i); break;
	case V_UINT:
	case V_PTR: put_u64(b, v->u); break;
	case V_STR:
	case V_NAMED:
	case V_STACK: put_text(j, v); break;
	case V_BYTES: put_bytes(b, v->str); break;
	case V_TUPLE:
	case V_ARRAY: put_list(j, v); break;
	case V_RECORD: put_record(j, v, v->names); break;
	case V_STATS: put_record(j, v, stats); break;
	case V_HIST: put_hist(b, v); break;
	case V_PERCENTILES: put_percentiles(j, v); break;
	case V_SERIES: put_series(b, v); break;
	case V_FLOAT: sb_fmt(b, "%.17g", v->f); break;
	}
}

static void put_type(struct sb *b, const char *type)
{
	sb_fmt(b, "{\"type\": \"%s\", ", type);
}

static void put_map(struct json *j, const struct item *it)
{
	struct sb *b = &j->o.b;
	bool stats = it->map_kind == T_STATS || it->map_kind == T_AVG;
	bool hist = it->map_kind == T_HIST || it->map_kind == T_LHIST;
	bool percentiles = it->n && item_row(it, 0).val->kind == V_PERCENTILES;
	bool keyed = it->key || !it->n;
	if (!it->n && !stats)
		return;
	put_type(b, percentiles                 ? "percentiles"
		    : hist                      ? "hist"
		    : stats                     ? "stats"
		    : it->map_kind == T_TSERIES ? "tseries"
						: "map");
	sb_z(b, "\"data\": {");
	put_str(b, it->name);
	sb_z(b, keyed ? ": {" : ": ");
	for (u64 i = 0; i < it->n && !j->o.failed; i++) {
		struct item_row row = item_row(it, i);
		if (row.key) {
			sb_clear(&j->tmp);
			value_key_short(&j->tmp, row.key, j->env.trailer);
			sb_z(b, i ? ", " : "");
			put_str(b, sb_str(&j->tmp));
			sb_z(b, ": ");
		}
		put_value(j, row.val);
		out_room(&j->o);
	}
	sb_z(b, keyed ? "}}}\n" : "}}\n");
}

static void put_error(struct json *j, const struct item *it)
{
	struct sb *b = &j->o.b;
	u32 line, col;
	sb_z(b, "{\"type\": ");
	put_str(b, it->name);
	sb_z(b, ", \"msg\": ");
	put_str(b, it->str);
	if (diag_place(j->env.diags, it->loc, &line, &col)) {
		sb_z(b, ", \"filename\": ");
		put_str(b, j->env.diags->source[it->loc.src].name);
		sb_fmt(b, ", \"line\": %u, \"col\": %u", line, col);
	}
	sb_z(b, "}\n");
}

/* Lost events as bpftrace writes them; the rest alike: {"type": "map_full", "data": {"map": "@x",
 * "updates": 12}}. */
static void put_lost(struct json *j, const struct item *it)
{
	static const struct {
		const char *kind, *who, *unit;
	} kinds[] = {
		{"lost_events", "probe", "events"},
		{"map_full", "map", "updates"},
		{"missed_probes", "probe", "runs"},
		{"nesting", "probe", "runs"},
		{"truncated_strings", "probe", "strings"},
		{"failed_reads", "probe", "reads"},
		{"missed_returns", "probe", "returns"},
		{"missed_hits", "probe", "hits"},
		{"corrupt_records", "", "records"},
		{"lost_by_probe", "probe", "events"},
		{"lost_mappings", "", "notes"},
		{"not_followed", "", "processes"},
		{"cut_stacks", "reason", "stacks"},
		{"cut_in_file", "file", "stacks"},
		{"unwind_limit", "limit", "times"},
	};
	struct sb *b = &j->o.b;
	for (u32 i = 0; i < countof(kinds); i++) {
		if (!str_is(it->name, kinds[i].kind))
			continue;
		put_type(b, kinds[i].kind);
		if (i == 0)
			sb_fmt(b, "\"count\": %llu, ", it->n);
		sb_z(b, "\"data\": {");
		if (it->who.n) {
			put_field(b, true, kinds[i].who);
			put_str(b, it->who);
		}
		put_field(b, !it->who.n, kinds[i].unit);
		put_u64(b, it->n);
		sb_z(b, "}}\n");
	}
}

static struct err *json_open(void *self, const struct sink_env *env)
{
	struct json *j = self;
	j->env = *env;
	out_init(&j->o, env);
	return NULL;
}

static struct err *json_put(void *self, const struct item *it)
{
	struct json *j = self;
	struct sb *b = &j->o.b;
	switch (it->kind) {
	case I_TEXT:
		sb_z(b, "{\"type\": ");
		put_str(b, it->name);
		sb_z(b, ", \"data\": ");
		put_str(b, it->str);
		sb_z(b, "}\n");
		break;
	case I_VALUE:
		sb_z(b, "{\"type\": \"value\", \"data\": ");
		put_value(j, it->val);
		sb_z(b, "}\n");
		break;
	case I_MAP: put_map(j, it); break;
	case I_STATUS:
		if (!j->env.quiet)
			sb_fmt(b,
			       "{\"type\": \"attached_probes\", \"count\": %llu, \"data\": "
			       "{\"probes\": %llu}}\n",
			       it->n, it->n);
		break;
	case I_ERROR:
		if (it->name.n)
			put_error(j, it);
		else
			out_remark(&j->o, &j->env, it);
		break;
	case I_LOST: put_lost(j, it); break;
	case I_END: break;
	}
	return out_item(&j->o);
}

static struct err *json_flush(void *self)
{
	struct json *j = self;
	return j->o.buffering == 'f' ? NULL : out_flush(&j->o);
}

static struct err *json_close(void *self)
{
	struct json *j = self;
	sb_free(&j->tmp);
	return out_close(&j->o);
}

const struct sink sink_json = {
	.name = "json",
	.ext = "json",
	.doc = "one JSON object per line, as bpftrace prints them",
	.size = sizeof(struct json),
	.open = json_open,
	.put = json_put,
	.flush = json_flush,
	.close = json_close,
};
