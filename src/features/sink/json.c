/*
 * json.c - one JSON object per line: {"type": ..., "data": ...}.
 *
 * The parts of a map's key become one name, joined by commas; value_key_short() says how they are
 * told apart again.
 */
#include "base/json.h"
#include "base/clock.h"
#include "core/agg.h"
#include "core/columns.h"
#include "core/cost.h"
#include "core/loss.h"
#include "sink/out.h"
#include <sys/utsname.h>
#include <time.h>

struct json {
	struct out o;
	struct sink_env env;
	struct show how; /* JSON escapes what it must itself */
	struct sb tmp;
	u64 start_ns; /* of a tool; 0: nothing is said of its end */
	u64 rows, account[ACCOUNTS];
	u64 part_ns; /* of the last interval, which the end cut short; 0: none was */
};

static void put_bounds(struct sb *b, const struct bucket *k)
{
	if (!k->no_lo) {
		json_member(b, true, "min");
		json_i64(b, k->lo);
	}
	if (!k->no_hi) {
		json_member(b, k->no_lo, "max");
		json_i64(b, (i64)((u64)k->hi - 1));
	}
}

static void put_percentiles(struct json *j, const struct value *v)
{
	struct sb *b = &j->o.b;
	sb_char(b, '{');
	for (u32 i = 0; i < v->n; i++) {
		json_str(b, v->names[i]);
		sb_z(b, ": {");
		put_bounds(b, &v->hist[i]);
		sb_z(b, "}, ");
	}
	json_member(b, true, "count");
	json_u64(b, v->total);
	sb_char(b, '}');
}

static void put_hist(struct sb *b, const struct value *v)
{
	sb_char(b, '[');
	for (u32 i = 0; i < v->n; i++) {
		const struct bucket *k = &v->hist[i];
		sb_z(b, i ? ",{" : "{");
		put_bounds(b, k);
		json_member(b, false, "count");
		json_u64(b, k->count);
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
			json_i64(b, (i64)v->series[i].value);
		else
			json_u64(b, v->series[i].value);
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
		json_str(b, names[i]);
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
	value_text(&j->tmp, v, &j->how);
	json_str(&j->o.b, sb_str(&j->tmp));
}

static void put_value(struct json *j, const struct value *v)
{
	static const struct str stats[] = {{"count", 5}, {"average", 7}, {"total", 5}};
	struct sb *b = &j->o.b;
	switch (v->kind) {
	case V_NONE: sb_z(b, "null"); break;
	case V_BOOL: sb_z(b, v->u ? "true" : "false"); break;
	case V_INT:
	case V_ENUM: json_i64(b, v->i); break;
	case V_UINT:
	case V_PTR: json_u64(b, v->u); break;
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
	case V_FLOAT: json_f64(b, v->f); break;
	}
}

/* Behind what came of one host of a merged answer is its name. */
static void put_end_of(struct sb *b, const struct item *it)
{
	if (it->host.n) {
		json_member(b, false, "host");
		json_str(b, it->host);
	}
	sb_z(b, "}\n");
}

static void put_type(struct sb *b, const char *type)
{
	sb_fmt(b, "{\"type\": \"%s\", ", type);
}

static void put_map(struct json *j, const struct item *it)
{
	struct sb *b = &j->o.b;
	const char *type = it->map.agg && it->map.agg->json ? it->map.agg->json : "map";
	bool percentiles = it->map.n && item_row(it, 0).val->kind == V_PERCENTILES;
	bool keyed = it->map.key || !it->map.n;
	if (!it->map.n && !(it->map.agg && it->map.agg->json_empty))
		return;
	put_type(b, percentiles ? "percentiles" : type);
	sb_z(b, "\"data\": {");
	json_str(b, it->name);
	sb_z(b, keyed ? ": {" : ": ");
	for (u64 i = 0; i < it->map.n && !j->o.failed; i++) {
		struct item_row row = item_row(it, i);
		if (row.key) {
			sb_clear(&j->tmp);
			value_key_short(&j->tmp, row.key, &j->how);
			sb_z(b, i ? ", " : "");
			json_str(b, sb_str(&j->tmp));
			sb_z(b, ": ");
		}
		put_value(j, row.val);
		out_room(&j->o);
	}
	sb_z(b, keyed ? "}}}\n" : "}}\n");
}

/* Of an interpreted language. */
static void put_function(struct sb *b, const struct frame *f)
{
	json_member(b, false, "lang");
	json_str(b, f->language);
	if (f->source.n) {
		json_member(b, false, "file");
		json_str(b, f->source);
	}
	if (f->line) {
		json_member(b, false, "line");
		json_u64(b, f->line);
	}
}

/* [{"sym": "vfs_read", "off": 18, "addr": 12345}, ...] */
static void put_frames(struct sb *b, const struct value *v)
{
	sb_char(b, '[');
	for (u32 i = 0; i < v->n; i++) {
		const struct frame *f = &v->stack[i];
		sb_z(b, i ? ", {" : "{");
		json_member(b, true, "addr");
		json_u64(b, f->addr);
		if (f->sym.n) {
			json_member(b, false, "sym");
			json_str(b, f->sym);
			json_member(b, false, "off");
			json_u64(b, f->off);
		}
		if (f->module.n) {
			json_member(b, false, "mod");
			json_str(b, f->module);
		}
		if (f->language.n)
			put_function(b, f);
		sb_char(b, '}');
	}
	sb_char(b, ']');
}

static void put_cell(struct json *j, const struct column *c, const struct value *v)
{
	struct sb *b = &j->o.b;
	if (c->unit == COL_ELAPSED && v->kind == V_NAMED) {
		json_u64(b, v->u);
	} else if (column_decimal(b, c, v)) {
		return;
	} else if (c->unit == COL_NAME) {
		sb_clear(&j->tmp);
		if (names_put(&j->tmp, c->names, v->i))
			json_str(b, sb_str(&j->tmp));
		else
			json_i64(b, v->i);
	} else if (v->kind == V_STACK) {
		put_frames(b, v);
	} else if (v->kind == V_ENUM && v->str.n) {
		json_str(b, v->str);
	} else if (c->unit == COL_ARGV && (v->kind == V_BYTES || v->kind == V_STR)) {
		struct str rest = v->str, word;
		sb_char(b, '[');
		for (bool first = true; column_next_word(&rest, &word); first = false) {
			sb_z(b, first ? "" : ", ");
			json_str(b, word);
		}
		sb_char(b, ']');
	} else {
		put_value(j, v);
	}
}

/* {"type": "event", "table": "execs", "pid": 7, ...}, {"type": "row", "table": "io", "interval": 3,
 * ...}; what is not known is left out. */
static void put_row(struct json *j, const struct item *it)
{
	struct sb *b = &j->o.b;
	const struct columns *t = it->row.columns;
	put_type(b, item_has_hist(it) ? "hist" : t->head && !it->row.report ? "event" : "row");
	json_member(b, true, "table");
	json_str(b, t->name);
	if (it->row.report) {
		json_member(b, false, "interval");
		json_u64(b, it->row.report);
	}
	for (u32 i = 0; i < t->n; i++) {
		if (t->col[i].text || column_absent(&t->col[i], &it->row.val[i]))
			continue;
		sb_z(b, ", ");
		json_str(b, t->col[i].name);
		sb_z(b, ": ");
		put_cell(j, &t->col[i], &it->row.val[i]);
		if (it->row.val[i].kind == V_STR && it->row.val[i].cut)
			sb_fmt(b, ", \"%.*s_truncated\": true", STRF(t->col[i].name));
	}
	sb_z(b, "}\n");
}

static void put_error(struct json *j, const struct item *it)
{
	struct sb *b = &j->o.b;
	u32 line, col;
	sb_z(b, "{\"type\": ");
	json_str(b, it->name);
	sb_z(b, ", \"msg\": ");
	json_str(b, it->str);
	if (diag_place(j->env.diags, it->error.loc, &line, &col)) {
		sb_z(b, ", \"filename\": ");
		json_str(b, j->env.diags->source[it->error.loc.src].name);
		sb_fmt(b, ", \"line\": %u, \"col\": %u", line, col);
	}
	put_end_of(b, it);
}

/* Lost events as bpftrace writes them; the rest alike: {"type": "map_full", "data": {"map": "@x",
 * "updates": 12}}. */
static void put_lost(struct json *j, const struct item *it)
{
	const struct loss_kind *k = &loss_kinds[it->lost.loss];
	struct sb *b = &j->o.b;
	put_type(b, k->name);
	if (it->lost.loss == LOSS_EVENTS)
		sb_fmt(b, "\"count\": %llu, ", it->lost.n);
	sb_z(b, "\"data\": {");
	if (*k->who) {
		json_member(b, true, k->who);
		json_str(b, it->lost.who);
	}
	json_member(b, !*k->who, *k->unit ? k->unit : "msg");
	if (!*k->unit)
		json_str(b, it->str);
	else if (it->lost.n == LOSS_UNKNOWN)
		sb_z(b, "null");
	else
		json_u64(b, it->lost.n);
	sb_char(b, '}');
	put_end_of(b, it);
}

static void put_cost(struct sb *b, const struct cost *c)
{
	put_type(b, "cost");
	sb_fmt(b,
	       "\"data\": {\"traced_ns\": %llu, \"cpus\": %u, \"programs_ns\": %llu, "
	       "\"own_ns\": %llu, \"start_ns\": %llu, \"probes\": [",
	       c->traced_ns, c->ncpu, c->programs_ns, c->own_ns, c->start_ns);
	for (u32 i = 0; i < c->n; i++) {
		sb_z(b, i ? ", {\"probe\": " : "{\"probe\": ");
		json_str(b, c->row[i].probe);
		sb_fmt(b, ", \"runs\": %llu, \"ns\": %llu}", c->row[i].runs, c->row[i].ns);
	}
	sb_z(b, "]}}\n");
}

/* Which probes hosts do not have. */
static void put_lacks(struct sb *b, const struct fleet_facts *f)
{
	const struct fleet_lack *before = NULL;
	sb_z(b, ", \"missing_probes\": {");
	for (u32 i = 0; i < f->nlack; i++) {
		const struct fleet_lack *l = &f->lack[i];
		bool same = before && str_eq(before->host, l->host);
		sb_z(b, !before ? "" : same ? ", " : "], ");
		if (!same) {
			json_str(b, l->host);
			sb_z(b, ": [");
		}
		json_str(b, l->probe);
		before = l;
	}
	sb_z(b, before ? "]}" : "}");
}

/* Lists of hosts by what became of them, and why. */
static void put_fleet(struct sb *b, const struct fleet_facts *f)
{
	static const char *const kinds[] = {"unreachable", "refused", "late", "partial"};
	put_type(b, "fleet");
	sb_fmt(b, "\"asked\": %u, \"answered\": %u", f->asked, f->answered);
	for (u32 k = 0; k < countof(kinds); k++) {
		bool any = false;
		sb_fmt(b, ", \"%s\": [", kinds[k]);
		for (u32 i = 0; i < f->nfact; i++) {
			if (!str_is(f->fact[i].kind, kinds[k]))
				continue;
			sb_z(b, any ? ", " : "");
			json_str(b, f->fact[i].host);
			any = true;
		}
		sb_char(b, ']');
	}
	sb_z(b, ", \"reasons\": {");
	for (u32 i = 0; i < f->nfact; i++) {
		sb_z(b, i ? ", " : "");
		json_str(b, f->fact[i].host);
		sb_z(b, ": ");
		json_str(b, f->fact[i].why);
	}
	sb_fmt(b,
	       "}, \"lost\": %llu, \"lossy_hosts\": %llu, \"skew_ns\": %llu, \"asked_within_ns\": "
	       "%llu, ",
	       f->lost, f->lossy, f->skew_ns, f->spread_ns);
	if (f->started)
		sb_fmt(b, "\"started_within_ns\": %llu, ", f->start_ns);
	sb_fmt(b, "\"took_ns\": %llu", f->ns);
	put_lacks(b, f);
	if (f->dearest.n) {
		sb_z(b, ", \"cost\": {\"host\": ");
		json_str(b, f->dearest);
		sb_fmt(b, ", \"ratio\": %.6f}", (double)f->share / 1e6);
	}
	sb_z(b, "}\n");
}

static void put_time(struct sb *b)
{
	struct timespec now;
	struct tm tm;
	char text[32];
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%FT%T", &tm);
	sb_fmt(b, ", \"time\": \"%s.%09ldZ\"", text, now.tv_nsec);
}

static void put_strings(struct sb *b, const char *name, const struct str *s, u32 n)
{
	json_member(b, false, name);
	sb_char(b, '[');
	for (u32 i = 0; i < n; i++) {
		sb_z(b, i ? ", " : "");
		json_str(b, s[i]);
	}
	sb_char(b, ']');
}

/* {"type": "start", "tool": "execsnoop", ...}: what is seen from now on. */
static void put_start(struct json *j, const struct item *it)
{
	struct sb *b = &j->o.b;
	const struct run_start *s = it->status.start;
	struct utsname uts = {0};
	uname(&uts);
	j->start_ns = now_ns();
	put_type(b, "start");
	json_member(b, true, "tool");
	json_str(b, s->tool);
	json_member(b, false, "options");
	sb_char(b, '[');
	for (u32 i = 0; i < s->nword; i++) {
		sb_z(b, i ? ", " : "");
		json_str(b, str_z(s->word[i]));
	}
	sb_z(b, "], \"version\": ");
	json_str(b, s->version);
	json_member(b, false, "kernel");
	json_str(b, str_z(uts.release));
	json_member(b, false, "hostname");
	json_str(b, str_z(uts.nodename));
	put_time(b);
	sb_fmt(b, ", \"probes\": %llu", it->status.n);
	put_strings(b, "sources", s->source, s->nsource);
	sb_z(b, "}\n");
}

/* What was seen, and what was not. */
static void put_end(struct json *j)
{
	struct sb *b = &j->o.b;
	const u64 *n = j->account;
	bool all = !(n[ACCOUNT_LOST] | n[ACCOUNT_MISSED] | n[ACCOUNT_CUT] | n[ACCOUNT_OTHER]);
	sb_z(b, "{\"type\": \"end\"");
	put_time(b);
	sb_fmt(b,
	       ", \"duration_ns\": %llu, \"rows\": %llu, \"complete\": %s, \"lost\": %llu, "
	       "\"missed\": %llu, \"cut\": %llu, \"other\": %llu",
	       now_ns() - j->start_ns, j->rows, all ? "true" : "false", n[ACCOUNT_LOST],
	       n[ACCOUNT_MISSED], n[ACCOUNT_CUT], n[ACCOUNT_OTHER]);
	if (j->part_ns) {
		json_member(b, false, "last_interval_ns");
		json_u64(b, j->part_ns);
	}
	sb_z(b, "}\n");
}

static struct err *json_open(void *self, const struct sink_env *env, const struct str *opts)
{
	(void)opts;
	struct json *j = self;
	j->env = *env;
	j->how = (struct show){.trailer = env->how.trailer};
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
		json_str(b, it->name);
		sb_z(b, ", \"data\": ");
		json_str(b, it->str);
		put_end_of(b, it);
		break;
	case I_VALUE:
		sb_z(b, "{\"type\": \"value\", \"data\": ");
		put_value(j, it->text.val);
		put_end_of(b, it);
		break;
	case I_MAP: put_map(j, it); break;
	case I_STATUS:
		if (!j->env.quiet && it->status.start)
			put_start(j, it);
		else if (!j->env.quiet)
			sb_fmt(b,
			       "{\"type\": \"attached_probes\", \"count\": %llu, \"data\": "
			       "{\"probes\": %llu}}\n",
			       it->status.n, it->status.n);
		break;
	case I_ERROR:
		if (it->name.n)
			put_error(j, it);
		else
			out_remark(&j->o, &j->env, it);
		break;
	case I_LOST:
		put_lost(j, it);
		j->account[loss_kinds[it->lost.loss].account] +=
			it->lost.n == LOSS_UNKNOWN ? 1 : MAX(it->lost.n, 1);
		break;
	case I_COST: put_cost(&j->o.b, it->cost); break;
	case I_FLEET: put_fleet(&j->o.b, it->fleet); break;
	case I_ROW:
		if (!columns_have_data(it->row.columns))
			break;
		put_row(j, it);
		j->rows++;
		j->part_ns = MAX(j->part_ns, it->row.part_ns);
		break;
	case I_HEAD:
	case I_TOTAL:
	case I_SNAPSHOT:
	case I_KEPT:
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
	if (j->start_ns)
		put_end(j);
	sb_free(&j->tmp);
	return out_close(&j->o);
}

const struct sink sink_json = {
	.name = "json",
	.doc = "one JSON object per line, as bpftrace prints them",
	.keys = KEYS_BY_TEXT,
	.files = true,
	.size = sizeof(struct json),
	.open = json_open,
	.put = json_put,
	.flush = json_flush,
	.close = json_close,
};
