/* emit.c - tables: emit() prints a row of one, show() all that maps hold as rows. */
#include "base/tab.h"
#include "builtin/cells.h"
#include "builtin/common.h"
#include "core/agg.h"
#include "core/byfunction.h"
#include "core/columns.h"
#include "core/shown.h"
#include "declare/declare.h"
#include "report/report.h"
#include "syscall/pair.h"

enum { MAX_CELLS = SHOWN_MAX_CELLS };

static bool is_number(const struct type *t)
{
	return type_is_int(t) || t->kind == T_BOOL || t->kind == T_ENUM;
}

static bool unit_fits(enum column_unit unit, const struct type *t)
{
	bool text = t->kind == T_STRING;
	switch (column_units[unit].takes) {
	case TAKES_ANY: return true;
	case TAKES_NOTHING: return false;
	case TAKES_NUMBER: return is_number(t);
	case TAKES_TEXT: return text;
	case TAKES_PROBE: return text || t->kind == T_PROBE;
	case TAKES_WORDS: return text || t->kind == T_BUF;
	case TAKES_LINES:
		return text || t->kind == T_BUF || t->kind == T_KSTACK || t->kind == T_USTACK;
	case TAKES_RECORD: return t->kind == T_RECORD;
	case TAKES_CALL: return t->kind == T_BUF && t->mode == BUF_CALL;
	}
	return false;
}

static bool check_emit(struct sema *s, struct node *call)
{
	const struct columns *t = declare_find_table(s->u, call->a->name);
	bool ok = t != NULL;
	struct node *v = call->a->next;

	for (u32 i = 0; ok && i < t->n; i++) {
		if (!(call->num >> i & 1))
			continue;
		if (!type_is_error(v->type) && !unit_fits(t->col[i].unit, v->type))
			ok = sema_fail(s, E_TYPE, v->loc, "column %.*s cannot show %s",
				       STRF(t->col[i].name), type_namez(s->a, v->type));
		v = v->next;
	}
	return ok;
}

/* The table of emit() or show(). whole: what is printed is a whole report, not a line of one. */
static struct columns *table_of(struct lower *l, const struct node *call, bool whole)
{
	struct columns *t = declare_find_table(l->u, call->a->name);

	if (whole && (l->pt->type->flags & PROBE_REPORTS)) {
		u64 ns = str_is(l->pt->extra, "hz") ? 0 : l->pt->period;
		t->period_ns = !t->numbered || t->period_ns == ns ? ns : 0;
		t->numbered = true;
	}
	return t;
}

static struct ref lower_emit(struct lower *l, struct node *call, struct mem dst)
{
	struct schema *sc = lower_schema(l, call->fn, call->loc);

	(void)dst;
	sc->columns = table_of(l, call, !l->loop);
	sc->filled = call->num;
	sc->last = probe_last_method(l->pt->type)->phase == PROG_END;
	lower_record(l, call, call->a->next, sc);
	return REF_NONE;
}

/* One of the reports of a table that come again and again. */
struct report_part {
	u64 number;  /* from 1; 0: they have none */
	u64 part_ns; /* how long the last one is; 0: as long as the others */
	bool over;   /* there is none any more */
};

/* NULL: a table of another unit. */
static struct reported *reports_of(const struct reporter *r, const struct columns *t)
{
	for (u32 i = 0; i < r->unit->ncolumns; i++)
		if (r->unit->columns[i] == t)
			return &r->records.reports[i];
	return NULL;
}

/* The one that show() began. */
static struct report_part this_report(const struct reporter *r, const struct columns *t)
{
	const struct reported *of = reports_of(r, t);
	return of ? (struct report_part){of->n, of->part_ns, of->over} : (struct report_part){0};
}

/* The time that was asked for is over, and was a multiple of the interval: the latest report is the last. */
static bool reports_over(const struct reporter *r, const struct columns *t,
			 const struct reported *of, u64 now)
{
	u64 all = r->unit->config.duration_ns, ns = t->period_ns;
	return all && of->n && of->n * ns == all && now + ns / 2 > r->start_ns + all;
}

/* The next one. last: the end cut it short, or it is over. */
static struct report_part next_report(struct reporter *r, const struct columns *t, bool last,
				      u64 ts)
{
	struct reported *of = t->numbered ? reports_of(r, t) : NULL;
	if (!of)
		return (struct report_part){0};
	u64 now = ts ? ts : report_now(r), since = of->n ? of->ts : r->start_ns;
	of->over |= last && reports_over(r, t, of, now);
	if (of->over)
		return (struct report_part){.over = true};
	of->n++;
	of->ts = now;
	of->part_ns = last && !t->standing && now > since ? now - since : 0;
	return this_report(r, t);
}

/* Of the last column that stands in the line. */
static bool row_matches(const struct columns *t, const struct value *cell, struct str match)
{
	AUTO_SB text = {0};

	for (u32 i = t->n; i-- && match.n;) {
		if (!column_in_line(&t->col[i]))
			continue;
		column_text(&text, &t->col[i], &cell[i], STR(""));
		return str_find(sb_str(&text), match) >= 0;
	}
	return true;
}

/* "(last 2.3 s)", once (in an answer always: who reads it knows whether the table has rows); on a line of its own with the time of day, where that is asked for. */
static void put_part(struct reporter *r, struct sb *out, struct report_part part, u64 ts,
		     bool alone)
{
	if (!part.part_ns || (r->records.told_part && !r->output.sink->answers))
		return;
	if (r->unit->config.clock && alone)
		clocks_strftime(&r->reader.clocks, out, "%T", ts ? ts : report_now(r));
	sb_fmt(out, "%s(last %llu.%llu s)", out->n ? " " : "", part.part_ns / 1000000000,
	       part.part_ns / 100000000 % 10);
	r->records.told_part = true;
}

static void put_row(struct reporter *r, const struct columns *t, const struct value *cell, u64 ts,
		    bool last)
{
	u64 most = r->unit->config.events;
	struct item it = {
		.kind = I_ROW, .ts = ts, .row.columns = t, .row.val = cell, .row.n = t->n};
	AUTO_SB mark = {0};

	if (most && r->output.nevent >= most)
		return;
	if (!row_matches(t, cell, r->unit->config.match))
		return;
	struct report_part part = t->begun ? this_report(r, t) : next_report(r, t, last, ts);
	if (part.over)
		return;
	r->output.nevent++;
	put_part(r, &mark, part, ts, true);
	it.row.report = part.number;
	it.row.part_ns = part.part_ns;
	it.str = sb_str(&mark);
	report_put(r, &it);
	if (r->output.nevent == most)
		report_exit(r, r->control->exit_code);
}

/* A row whose column .at is a system call, as text. */
static void put_call_row(const struct call_rows *to, struct value *cell, struct str text, u64 ts)
{
	cell[to->at] = value_named(to->r, text, 0);
	put_row(to->r, to->columns, cell, ts, false);
}

static void handle_emit(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			u64 ts)
{
	const struct columns *t = sc->columns;
	struct value cell[MAX_CELLS];
	u32 used = 0, call = MAX_CELLS;

	assert(t->n <= MAX_CELLS);
	for (u32 i = 0; i < t->n; i++) {
		bool there = sc->filled >> i & 1;
		cell[i] = there && used < n ? v[used++] : column_common(&t->col[i]);
		column_resolve(r, &t->col[i], &cell[i]);
		if (t->col[i].unit == COL_CALL && cell[i].kind == V_BYTES)
			call = i;
	}
	if (call < MAX_CELLS)
		call_put_row(&(struct call_rows){r, t, call, put_call_row}, cell, ts);
	else
		put_row(r, t, cell, ts, sc->last);
}

/* ---- show ---- */

static void put_shown(void *arg, const struct item *it)
{
	report_put(arg, it);
}

static void resolve_shown(void *arg, const struct column *c, struct value *v)
{
	column_resolve(arg, c, v);
}

static struct err *take_shown(void *self, const struct item *it)
{
	if (it->kind == I_MAP)
		shown_take(self, it);
	return NULL;
}

/* The rows of maps, as this output tells keys from each other. */
static void gather(struct reporter *r, struct shown *h, const struct schema *sc)
{
	static const struct sink by_text = {.name = "rows",
					    .put = take_shown,
					    .keys = KEYS_BY_TEXT},
				 by_place = {
					 .name = "rows", .put = take_shown, .keys = KEYS_BY_PLACE};
	const struct sink *sink = r->output.sink;
	void *self = r->output.self;
	r->output.sink = h->places ? &by_place : &by_text;
	r->output.self = h;
	for (u32 i = 0; i < sc->nmap; i++) {
		shown_next_map(h, agg_of(sc->maps[i]->val));
		report_print_map(r, sc->maps[i], 0, 0, false);
	}
	r->output.sink = sink;
	r->output.self = self;
}

/* "14:02:11 loadavg: 0.10 0.09 0.05 1/232 4711" */
static void put_load(struct reporter *r, struct sb *out, u64 ts)
{
	clocks_strftime(&r->reader.clocks, out, "%T", ts);
	sb_z(out, " loadavg: ");
	r->reader.names->load(r->reader.asked, out);
}

/* ---- for an answer: the maps as they are, in the words of this machine ---- */

struct worded {
	struct reporter *r;
	const struct columns *t;
	const struct sink *sink;
	void *self;
	u32 at; /* values of the maps before this one */
	bool there;
	struct item from;
	struct item_merge merge;
	struct value key, val;
	struct arena a; /* of the row */
};

/* The column of a cell, if all columns that show it do so in one way; NULL: the value stays as it is. */
static const struct column *only_column(const struct columns *t, u32 index)
{
	const struct column *c = NULL;
	for (u32 i = 0; i < t->n; i++) {
		if (t->col[i].index != index || t->col[i].is.s)
			continue;
		if (c && c->unit != t->col[i].unit)
			return NULL;
		c = &t->col[i];
	}
	return c;
}

static struct value in_words(const struct worded *w, const struct value *v, u32 index)
{
	struct value ret = *v;
	const struct column *c = only_column(w->t, index);
	if (c && !c->share && !c->part)
		column_resolve(w->r, c, &ret);
	return ret;
}

/* Each of a list has a column of its own. */
static struct value list_in_words(struct worded *w, const struct value *v, u32 n, u32 index)
{
	struct value ret = *v, *list = arena_newn(&w->a, struct value, n + 1);
	for (u32 i = 0; i < n; i++)
		list[i] = in_words(w, &v->list[i], index + i);
	ret.list = list;
	return ret;
}

static void make_worded(void *rows, u64 i)
{
	struct worded *w = rows;
	arena_reset(&w->a);
	struct item_row row = item_row(&w->from, i);
	bool tuple = row.key && row.key->kind == V_TUPLE, stats = row.val->kind == V_STATS;
	u32 nkey = !row.key ? 0 : tuple ? row.key->n : 1;
	w->merge.order = w->from.map.merge->order;
	w->merge.words = w->from.map.merge->words;
	if (row.key)
		w->key = tuple ? list_in_words(w, row.key, nkey, 0) : in_words(w, row.key, 0);
	w->val = stats ? list_in_words(w, row.val, 3, nkey + w->at)
		       : in_words(w, row.val, nkey + w->at);
}

/* How many parts the key of a map has. */
static u32 parts_of_key(const struct map *m)
{
	return !m->key ? 0 : m->key->kind == T_TUPLE ? m->key->nfield : 1;
}

static u32 parts_of_value(const struct map *m)
{
	const struct agg *agg = agg_of(m->val);
	return agg && agg->parts ? agg->parts : 1;
}

/* Its values cannot be merged: they mean nothing on another machine, or are no aggregations. */
static bool stays_apart(const struct columns *t, const struct map *m, u32 at)
{
	bool apart = !agg_of(m->val) && !m->counter;
	for (u32 i = 0; i < parts_of_value(m) && !apart; i++) {
		const struct column *c = only_column(t, parts_of_key(m) + at + i);
		apart = c && !c->share && !c->part && column_has_words(c);
	}
	return apart;
}

static struct err *put_worded(void *self, const struct item *from)
{
	struct worded *w = self;
	struct item it = *from;
	if (it.kind != I_MAP)
		return w->sink->put(w->self, from);
	w->there = true;
	w->from = *from;
	w->merge.number = from->map.merge->number;
	w->merge.present = from->map.merge->present;
	it.map.key = from->map.key ? &w->key : NULL;
	it.map.val = &w->val;
	it.map.make_row = make_worded;
	it.map.rows = w;
	it.map.merge = &w->merge;
	return w->sink->put(w->self, &it);
}

static void answer_map(struct worded *w, const struct map *m)
{
	static const struct sink sink = {.name = "answer", .put = put_worded, .answers = true};
	struct reporter *r = w->r;
	bool apart = stays_apart(w->t, m, w->at), agg = agg_of(m->val);
	w->sink = r->output.sink;
	w->self = r->output.self;
	w->merge = (struct item_merge){.type = agg && !apart ? m->val : NULL,
				       .counter = m->counter && !apart,
				       .sign = m->val->is_signed};
	w->there = false;
	r->output.sink = &sink;
	r->output.self = w;
	report_print_map(r, m, 0, 0, false);
	r->output.sink = w->sink;
	r->output.self = w->self;
	if (!w->there) /* it could not be read, which was reported */
		report_put(r, &(struct item){.kind = I_MAP,
					     .name = m->name,
					     .map.key = m->scalar ? NULL : &w->key,
					     .map.val = &w->val,
					     .map.merge = &w->merge});
	w->at += parts_of_value(m);
}

static void answer_show(struct reporter *r, const struct schema *sc, struct report_part part,
			u64 ts, bool functions)
{
	static const struct columns none = {0};
	const struct columns *t = functions ? &none : sc->columns;
	struct worded w = {.r = r, .t = t};
	struct item_show show = {.nmap = sc->nmap, .functions = functions, .left_out = sc->fmt};
	AUTO_SB screen = {0};
	AUTO_SB mark = {0};
	u32 at = 0;
	for (u32 i = 0; i < sc->nmap; i++) {
		show.apart |= stays_apart(t, sc->maps[i], at);
		at += parts_of_value(sc->maps[i]);
	}
	if (sc->columns->top)
		put_load(r, &screen, ts);
	put_part(r, &mark, part, ts, !sc->columns->top);
	show.screen = sb_str(&screen);
	report_put(r, &(struct item){.kind = I_HEAD,
				     .ts = ts,
				     .str = sb_str(&mark),
				     .row.columns = sc->columns,
				     .row.report = part.number,
				     .row.part_ns = part.part_ns,
				     .row.show = &show});
	for (u32 i = 0; i < sc->nmap; i++)
		answer_map(&w, sc->maps[i]);
	arena_free(&w.a);
}

static void handle_show(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			u64 ts)
{
	const struct sink *sink = r->output.sink;
	const struct columns *t = sc->columns;
	struct report_part part = next_report(r, t, sc->last, ts);
	struct shown h = {.t = t,
			  .places = sink->files,
			  .ncell = t->declared,
			  .report = part.number,
			  .part_ns = part.part_ns,
			  .arg = r,
			  .put = put_shown,
			  .resolve = resolve_shown};
	AUTO_SB head = {0};
	AUTO_SB mark = {0};

	(void)v, (void)n;
	if (!sc->nmap || part.over)
		return;
	if (sink->answers) {
		answer_show(r, sc, part, ts, false);
		return;
	}
	gather(r, &h, sc);
	shown_sort(&h);
	if (sink->maps) { /* without rows, too: nothing came in this interval */
		shown_put_map(&h);
	} else if (h.rows.n || t->top) {
		if (t->top)
			put_load(r, &head, ts);
		put_part(r, &mark, part, ts, !t->top);
		h.head = sb_str(&head);
		h.mark = sb_str(&mark);
		shown_put(&h);
	}
	shown_free(&h);
}

/* ---- functions of stacks ---- */

static void handle_show_functions(struct reporter *r, const struct schema *sc,
				  const struct value *v, u32 n, u64 ts)
{
	struct shown h = {.t = sc->columns,
			  .ncell = SHOWN_MAX_CELLS,
			  .arg = r,
			  .put = put_shown,
			  .resolve = resolve_shown};

	(void)v, (void)n;
	if (r->output.sink->answers)
		answer_show(r, sc, (struct report_part){0}, ts, true);
	if (!r->output.sink->text)
		return;
	gather(r, &h, sc);
	shown_put_functions(&h, sc->fmt);
	shown_free(&h);
}

/* Rows are found by their key's text: how long a text may be is of no concern. */
static bool is_same_key(const struct type *a, const struct type *b)
{
	if (!a || !b || a == b)
		return a == b;
	if (a->kind != T_TUPLE || b->kind != T_TUPLE || a->nfield != b->nfield)
		return (a->kind == T_STRING && b->kind == T_STRING) || type_eq(a, b);
	for (u32 i = 0; i < a->nfield; i++)
		if (!is_same_key(a->field[i].type, b->field[i].type))
			return false;
	return true;
}

static bool check_show(struct sema *s, struct node *call)
{
	const struct columns *t = declare_find_table(s->u, call->a->name);
	const struct map *first = call->a->next ? sema_map(call->a->next) : NULL;
	u32 nkey = first && first->key && first->key->kind == T_TUPLE ? first->key->nfield : 0;
	bool ok = true;

	if (!t)
		return sema_fail(s, E_SYNTAX, call->a->loc,
				 "show() begins with the name of a table that the script declares");
	for (struct node *n = call->a->next; n; n = n->next) {
		const struct map *m = sema_map(n);
		if (!is_same_key(m->key, first->key))
			ok = sema_fail(s, E_MAP_KEY, n->loc, "%s has other keys than %s", m->name.s,
				       first->name.s);
	}
	if (ok && nkey > t->declared)
		ok = sema_fail(s, E_MAP_SHAPE, call->a->next->loc,
			       "the key of %s has %u parts, and table %.*s %u columns",
			       first->name.s, nkey, STRF(t->name), t->declared);
	return ok;
}

static bool check_show_functions(struct sema *s, struct node *call)
{
	const struct columns *t = declare_find_table(s->u, call->a->name);
	const struct map *m = sema_map(call->a->next);
	u32 nkey = m->key && m->key->kind == T_TUPLE ? m->key->nfield : 0;
	bool stack = false;
	for (u32 i = 0; i < nkey; i++) {
		enum type_kind kind = m->key->field[i].type->kind;
		stack |= kind == T_USTACK || kind == T_KSTACK;
	}
	if (!t || t->declared != BYFUNCTION_CELLS)
		return sema_fail(s, E_SYNTAX, call->a->loc,
				 "show_functions() begins with the name of a table of %u columns",
				 BYFUNCTION_CELLS);
	return stack ||
	       sema_fail(s, E_MAP_KEY, call->a->next->loc,
			 "show_functions() takes a map whose key has stacks among its parts");
}

static struct ref lower_show(struct lower *l, struct node *call, struct mem dst)
{
	struct schema *sc = lower_schema(l, call->fn, call->loc);
	struct map **maps = arena_newn(l->c->arena, struct map *, SHOWN_MAX_MAPS);

	(void)dst;
	struct columns *t = table_of(l, call, true);
	if (!call->a->next) { /* of a report, too, the heading comes with it */
		t->begun = true;
		t->head = false;
	}
	t->summary |= call->fn->check == check_show_functions;
	sc->columns = t;
	sc->last = probe_last_method(l->pt->type)->phase == PROG_END;
	for (struct node *n = call->a->next; n; n = n->next)
		if (!node_str(n, &sc->fmt)) /* show_functions(): what to leave out */
			maps[sc->nmap++] = sema_map(n);
	sc->maps = maps;
	lower_record(l, call, NULL, sc);
	return REF_NONE;
}

const struct builtin builtin_emit[] = {
	{"void emit(name table, ...)", lower_emit, B_ASYNC, .role = ROLE_EMIT, .check = check_emit,
	 .handle = handle_emit,
	 .doc = "Prints a row of a table that the script declares: emit(table, column = value, "
		"...)."},
	{"void show(name table, [map a], [map b], [map c], [map d], [map e], [map f])", lower_show,
	 B_ASYNC | B_TIMED, .check = check_show, .handle = handle_show, .key_text = table_key_text,
	 .unit_ns = table_unit_ns,
	 .doc = "Prints maps with the same keys as rows of a table: the parts of the key, then the "
		"value of each map (of stats() three values: count, average, total). A map of "
		"plain values after aggregations only adds columns to their rows. Without maps, "
		"show() begins a report whose rows emit() prints."},
	{"void show_functions(name table, map a, [text left_out])", lower_show, B_ASYNC | B_TIMED,
	 .check = check_show_functions, .handle = handle_show_functions,
	 .doc = "Prints, in text output only, a table of functions for a map whose key contains "
		"stacks (kernel stack before user stack). Its five columns: value of the stacks "
		"that end in the function, its share, value of all stacks that contain the "
		"function, its share, name. left_out: patterns, separated by blanks, of kernel "
		"functions that are skipped at the end of stacks."},
	{0},
};
