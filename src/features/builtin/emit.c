/* emit.c - tables: emit() prints a row of one, show() all that maps hold as rows. */
#include "base/clock.h"
#include "base/tab.h"
#include "builtin/byfunction.h"
#include "builtin/cells.h"
#include "builtin/common.h"
#include "core/agg.h"
#include "core/columns.h"
#include "declare/declare.h"
#include "report/calls.h"
#include "report/report.h"
#include "syscall/calls.h"

enum { MAX_CELLS = 64, MAX_MAPS = 6 };

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

/* What all rows of a column have. */
static struct value common_value(const struct column *c)
{
	return (struct value){.kind = c->is.s ? V_STR : V_NONE, .str = c->is};
}

static struct value copy_value(struct arena *a, const struct value *v)
{
	struct value c = *v;

	c.str = arena_str(a, v->str);
	if (v->kind == V_TUPLE || v->kind == V_ARRAY || v->kind == V_RECORD || v->kind == V_STATS) {
		struct value *list = arena_newn(a, struct value, v->n + 3);
		u32 n = v->kind == V_STATS ? 3 : v->n;
		for (u32 i = 0; i < n; i++)
			list[i] = copy_value(a, &v->list[i]);
		c.list = list;
	} else if (v->kind == V_HIST) {
		struct bucket *b = arena_newn(a, struct bucket, v->n + 1);
		memcpy(b, v->hist, v->n * sizeof(*b));
		c.hist = b;
	} else if (v->kind == V_STACK) {
		struct frame *f = arena_newn(a, struct frame, v->n + 1);
		for (u32 i = 0; i < v->n; i++) {
			f[i] = v->stack[i];
			f[i].sym = arena_str(a, f[i].sym);
			f[i].module = arena_str(a, f[i].module);
			f[i].build_id = arena_str(a, f[i].build_id);
			f[i].source = arena_str(a, f[i].source);
			f[i].text = arena_str(a, f[i].text);
		}
		c.stack = f;
	}
	return c;
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
	u64 now = ts ? ts : now_ns(), since = of->n ? of->ts : r->start_ns;
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

/* "(last 2.3 s)", once; with the time of day where that is asked for. */
static void put_part(struct reporter *r, struct sb *out, struct report_part part, u64 ts)
{
	if (!part.part_ns || r->records.told_part)
		return;
	if (r->unit->config.clock && !out->n)
		clocks_strftime(&r->reader.clocks, out, "%T", ts ? ts : now_ns());
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
	put_part(r, &mark, part, ts);
	it.row.report = part.number;
	it.row.part_ns = part.part_ns;
	it.str = sb_str(&mark);
	report_put(r, &it);
	if (r->output.nevent == most)
		report_exit(r, r->control->exit_code);
}

/* ---- rows of system calls ---- */

/* What the rows of a call's beginning and end do not say, the other one does. */
static void merge_rows(const struct held_call *h, struct value *cell, u32 n)
{
	for (u32 i = 0; h && i < n && i < h->n; i++)
		if (cell[i].kind == V_NONE)
			cell[i] = h->cell[i];
}

/* A line for the whole call has the time of its beginning. */
static void take_rows(const struct held_call *h, struct value *cell, u32 n)
{
	for (u32 i = 0; i < n && i < h->n; i++)
		if (h->cell[i].kind != V_NONE)
			cell[i] = h->cell[i];
}

static void hold_row(struct reporter *r, const struct call_head *head, const struct value *cell,
		     u32 n, u32 at)
{
	struct held_call *h = calls_hold(r->calls, head->tid);
	h->n = n;
	h->cell = arena_newn(&h->a, struct value, n);
	for (u32 i = 0; i < n; i++)
		h->cell[i] = i == at ? (struct value){.kind = V_NONE} : copy_value(&h->a, &cell[i]);
	h->bytes = arena_str(&h->a, cell[at].str);
}

/* A call that has begun, and will not end. */
static void put_open_call(struct reporter *r, const struct columns *t, u32 tid, u32 at)
{
	struct value cell[MAX_CELLS] = {0};
	AUTO_SB text = {0};
	struct held_call *h = calls_held(r->calls, tid);
	if (!h)
		return;
	call_text(&text, &r->arch->calls, h->bytes, (struct str){0});
	merge_rows(h, cell, t->n);
	cell[at] = value_named(r, sb_str(&text), 0);
	put_row(r, t, cell, 0, false);
	calls_drop(h);
}

/* Something of thread tid is about to be shown: the call that another one is in gets its first line. */
static void interrupt_call(struct reporter *r, const struct columns *t, u32 tid, u32 at)
{
	struct value cell[MAX_CELLS] = {0};
	AUTO_SB text = {0};
	struct calls *c = r->calls;
	struct held_call *h = calls_last(c);
	if (!h || h->tid == tid)
		return;
	call_text_begun(&text, &r->arch->calls, h->bytes);
	merge_rows(h, cell, t->n);
	cell[at] = value_named(r, sb_str(&text), 0);
	put_row(r, t, cell, 0, false);
	h->begun = true;
	calls_set_last(c, 0);
}

/*
 * Does the end belong to that beginning? The number changes within rt_sigreturn, whose frame has no call
 * in it, and within execveat, as which the kernel starts a program by execve.
 */
static bool same_call(const struct reporter *r, const struct call_head *begun,
		      const struct call_head *ended)
{
	const struct arch_calls *c = &r->arch->calls;
	struct call_shape before, after;
	u64 id = call_id(begun), end = call_id(ended);
	if (id == end || ended->nr == CALL_GONE)
		return true;
	call_shape(c, id, &before);
	call_shape(c, end, &after);
	return before.name && after.name && !strncmp(before.name, "execve", 6) &&
	       !strcmp(after.name, "execve");
}

/* "[ Process PID=1 runs in 32 bit mode. ]": when a call is not of the kind that the thread's last one was. */
static void put_mode(struct reporter *r, const struct columns *t, const struct call_head *head,
		     const struct value *from, u32 at)
{
	static const char *const modes[] = {"64 bit", "32 bit", "x32"};
	struct call_shape shape;
	struct value cell[MAX_CELLS] = {0};
	AUTO_SB text = {0};
	const struct arch_calls *native = &r->arch->calls;
	call_shape(native, call_id(head), &shape);
	u32 mode = shape.calls == native ? 0 : shape.calls == native->compat ? 1 : 2;
	if (!calls_mode(r->calls, head->tid, mode) || head->flags & CALL_NO_MODE)
		return;
	sb_fmt(&text, "[ Process PID=%u runs in %s mode. ]", head->tid, modes[mode]);
	for (u32 i = 0; i < t->n; i++)
		cell[i] = t->col[i].unit == COL_SYSCALL ? (struct value){.kind = V_NONE} : from[i];
	cell[at] = value_named(r, sb_str(&text), 0);
	put_row(r, t, cell, 0, false);
}

/* A row whose column at is a system call. */
static void put_call(struct reporter *r, const struct columns *t, struct value *cell, u32 at,
		     u64 ts)
{
	struct call_head head;
	AUTO_SB text = {0};
	struct str bytes = cell[at].str;
	if (!call_head(bytes, &head))
		return;
	interrupt_call(r, t, head.tid, at);
	if (head.phase == CALL_ENTER) {
		put_mode(r, t, &head, cell, at);
		hold_row(r, &head, cell, t->n, at);
		if (head.flags & CALL_SPLIT)
			calls_set_last(r->calls, head.tid);
		return;
	}
	calls_set_last(r->calls, 0);
	if (head.phase == CALL_EXIT) {
		struct held_call *h = calls_held(r->calls, head.tid);
		struct call_head begun;
		bool same = h && call_head(h->bytes, &begun) && same_call(r, &begun, &head);
		if (same && h->begun)
			call_text_resumed(&text, &r->arch->calls, h->bytes, bytes);
		else
			call_text(&text, &r->arch->calls, same ? h->bytes : (struct str){0}, bytes);
		if (same && !h->begun)
			take_rows(h, cell, t->n);
		merge_rows(same ? h : NULL, cell, t->n);
		cell[at] = value_named(r, sb_str(&text), 0);
		put_row(r, t, cell, ts, false);
		sb_clear(&text);
		call_dump_text(&text, &r->arch->calls, same ? h->bytes : (struct str){0}, bytes);
		if (text.n)
			report_put(r, &(struct item){.kind = I_TEXT,
						     .name = STR("printf"),
						     .ts = ts,
						     .str = sb_str(&text)});
		if (h)
			calls_drop(h);
		return;
	}
	if (head.phase == CALL_MOVED)
		calls_move(r->calls, (u32)head.arg[0], head.tid);
	u64 end = head.phase == CALL_ENDED ? head.arg[1] : 0;
	if (end & CALL_END_OPEN)
		put_open_call(r, t, head.tid, at);
	if (end & CALL_END_SILENT)
		return;
	call_event_text(&text, bytes);
	cell[at] = value_named(r, sb_str(&text), 0);
	put_row(r, t, cell, ts, false);
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
		cell[i] = there && used < n ? v[used++] : common_value(&t->col[i]);
		column_resolve(r, &t->col[i], &cell[i]);
		if (t->col[i].unit == COL_CALL && cell[i].kind == V_BYTES)
			call = i;
	}
	if (call < MAX_CELLS)
		put_call(r, t, cell, call, ts);
	else
		put_row(r, t, cell, ts, sc->last);
}

/* ---- show ---- */

/* How the values of all rows become one. */
enum sum { SUM_NONE, SUM_ADD, SUM_LEAST, SUM_MOST, SUM_MEAN };

/* Rows of several maps that have the same key: the key's parts, then the maps' values. */
struct shown {
	struct reporter *r;
	const struct columns *t;
	struct arena a;
	struct tab index; /* value_key_identity() -> row */
	bool places;      /* of that */
	VEC(struct value *) rows;
	struct report_part part;    /* which report it is */
	u32 ncell, at;              /* declared columns; the one that the map being read fills */
	u32 nkey;                   /* columns that are the key */
	bool adds;                  /* the map being read only adds to rows that there are */
	struct item first;          /* of the first map */
	enum sum sum[MAX_MAPS * 3]; /* of each value of the maps */
};

static void set_cell(struct shown *h, struct value *row, u32 i, const struct value *v)
{
	if (i < h->ncell)
		row[i] = copy_value(&h->a, v);
}

/* The cell of the map being read has a value. */
static bool is_filled(const struct shown *h, const struct value *row)
{
	u32 at = h->nkey + h->at;
	return at < h->ncell && row[at].kind != V_NONE;
}

/*
 * The row that shows a value of a key, made when it is new; *nkey: cells that the key takes. Maps come with rows that
 * are shown alike joined, so a cell that is filled has a value that cannot be added: the other one takes a row of its
 * own. NULL: there is no row.
 */
static struct value *row_of(struct shown *h, const struct value *key, u32 *nkey)
{
	AUTO_SB text = {0};
	bool tuple = key && key->kind == V_TUPLE;

	*nkey = !key ? 0 : tuple ? key->n : 1;
	if (key)
		value_key_identity(&text, key, h->places);
	struct value *row = tab_get(&h->index, sb_str(&text));
	if (h->adds || (row && !is_filled(h, row)))
		return row;
	row = arena_newn(&h->a, struct value, h->ncell + 1);
	for (u32 i = 0; i < *nkey; i++)
		set_cell(h, row, i, tuple ? &key->list[i] : key);
	tab_set(&h->index, arena_str(&h->a, sb_str(&text)), row);
	vec_add(&h->rows, row);
	return row;
}

/* A sink for maps alone. */
static struct err *gather_map(void *self, const struct item *it)
{
	struct shown *h = self;

	if (it->kind == I_MAP && !h->at)
		h->first = *it;
	for (u64 i = 0; it->kind == I_MAP && i < it->map.n; i++) {
		struct item_row r = item_row(it, i);
		struct value *row = row_of(h, r.key, &h->nkey);
		bool stats = r.val->kind == V_STATS;
		for (u32 k = 0; row && k < (stats ? 3 : 1); k++)
			set_cell(h, row, h->nkey + h->at + k, stats ? &r.val->list[k] : r.val);
	}
	return NULL;
}

static int cmp_cells(const struct value *x, const struct value *y)
{
	if (x->kind == V_STR || x->kind == V_NAMED)
		return str_cmp(x->str, y->str);
	if (x->kind == V_UINT)
		return (x->u > y->u) - (x->u < y->u);
	return (x->i > y->i) - (x->i < y->i);
}

static int by_column(const void *pa, const void *pb, void *arg)
{
	const struct columns *t = arg;
	const struct value *const *a = pa, *const *b = pb;
	u32 by = t->sort - 1;
	int d = cmp_cells(&(*a)[by], &(*b)[by]);

	if (d)
		return t->ascending ? d : -d;
	for (u32 i = 0; i < t->n && !d; i++)
		if (!t->col[i].is.s)
			d = cmp_cells(&(*a)[t->col[i].index], &(*b)[t->col[i].index]);
	return d;
}

/* "14:02:11 loadavg: 0.10 0.09 0.05 1/232 4711, 3 more rows" */
static void put_top_head(struct shown *h, u64 ts, u32 more)
{
	AUTO_SB line = {0};

	clocks_strftime(&h->r->reader.clocks, &line, "%T", ts);
	sb_z(&line, " loadavg: ");
	h->r->reader.names->load(h->r->reader.asked, &line);
	u32 load = (u32)line.n;
	if (more)
		sb_fmt(&line, ", %u more row%s", more, more == 1 ? "" : "s");
	put_part(h->r, &line, h->part, ts);
	report_put(h->r, &(struct item){.kind = I_HEAD,
					.row.columns = h->t,
					.name = str_n(line.s, load),
					.str = str_from(sb_str(&line), load)});
}

/* Parts of 10,000 of what all rows have in a column. */
static struct value share_of(const struct shown *h, const struct column *c, u32 row)
{
	double sum = 0, d = (double)h->rows.v[row][c->index].u;

	for (u32 r = 0; r < h->rows.n; r++)
		sum += (double)h->rows.v[r][c->index].u;
	return (struct value){.kind = V_UINT, .u = sum > 0 ? (u64)(d * 10000 / sum + 0.5) : 0};
}

/* The values of a map, the first of which is the at-th of all. */
static void sum_map(struct shown *h, const struct agg *agg, u32 at)
{
	if (!agg || (agg->adds && !agg->mean))
		h->sum[at] = SUM_ADD;
	else if (agg->keeps)
		h->sum[at] = agg->keeps == AGG_LEAST ? SUM_LEAST : SUM_MOST;
	for (u32 k = 0; agg && k < agg->parts; k++)
		h->sum[at + k] = k == 1 ? SUM_MEAN : SUM_ADD;
}

/* Of what all rows have in a place; the mean of stats() stands between its count and its sum. */
static struct value sum_of(const struct shown *h, u32 place)
{
	enum sum how =
		place < h->nkey || place - h->nkey >= h->at ? SUM_NONE : h->sum[place - h->nkey];
	struct value all = {.kind = V_NONE};

	if (how == SUM_MEAN) {
		struct value n = sum_of(h, place - 1);
		all = sum_of(h, place + 1);
		all.i = n.i ? all.i / n.i : 0;
		return all;
	}
	for (u32 r = 0; how != SUM_NONE && r < h->rows.n; r++) {
		const struct value *v = &h->rows.v[r][place];
		if (v->kind != V_INT && v->kind != V_UINT)
			continue;
		if (all.kind == V_NONE)
			all = *v;
		else if (how == SUM_ADD)
			all.u += v->u;
		else if (how == SUM_LEAST ? cmp_cells(v, &all) < 0 : cmp_cells(v, &all) > 0)
			all = *v;
	}
	return all;
}

/* "total" stands where the key begins; cells that have no sum are left out. */
static void put_total(struct shown *h)
{
	const struct columns *t = h->t;
	struct value cell[MAX_CELLS];
	bool told = false;

	for (u32 i = 0; i < t->n; i++) {
		const struct column *c = &t->col[i];
		bool here = c->index < h->nkey && !told && column_in_line(c);
		cell[i] = c->part ? (struct value){.kind = V_NONE} : sum_of(h, c->index);
		if (c->share && cell[i].kind != V_NONE)
			cell[i] = (struct value){.kind = V_UINT, .u = 10000};
		if (here)
			cell[i] = value_named(h->r, STR("total"), 0);
		told |= here;
	}
	report_put(
		h->r,
		&(struct item){.kind = I_TOTAL, .row.columns = t, .row.val = cell, .row.n = t->n});
}

static void put_rows(struct shown *h, u64 ts)
{
	const struct columns *t = h->t;
	struct value cell[MAX_CELLS];
	AUTO_SB mark = {0};
	u32 n = t->rows ? MIN(t->rows, h->rows.n) : h->rows.n;

	if (t->top)
		put_top_head(h, ts, h->rows.n - n);
	else
		put_part(h->r, &mark, h->part, ts);
	if (t->sort && !t->top)
		report_put(h->r,
			   &(struct item){.kind = I_HEAD, .row.columns = t, .str = sb_str(&mark)});
	if (t->sort)
		sb_clear(&mark);
	for (u32 r = 0; r < n; r++) {
		for (u32 i = 0; i < t->n; i++) {
			const struct column *c = &t->col[i];
			cell[i] = c->is.s    ? common_value(c)
				  : c->share ? share_of(h, c, r)
					     : h->rows.v[r][c->index];
			if (c->part && cell[i].kind == V_HIST)
				value_percentile(&h->rows.v[r][c->index], c->part - 1, &cell[i]);
			column_resolve(h->r, &t->col[i], &cell[i]);
		}
		report_put(h->r, &(struct item){.kind = I_ROW,
						.row.columns = t,
						.str = sb_str(&mark),
						.row.val = cell,
						.row.report = h->part.number,
						.row.part_ns = h->part.part_ns,
						.row.n = t->n});
		sb_clear(&mark);
	}
	if (t->total && h->rows.n)
		put_total(h);
}

/* As the name of the column says. */
static struct str unit_of_values(const struct shown *h)
{
	static const struct {
		const char *ending, *unit;
	} units[] = {{"_ns", "ns"},   {"nsecs", "ns"},  {"usecs", "us"},
		     {"msecs", "ms"}, {"kbytes", "KB"}, {"mhz", "MHz"}};
	for (u32 i = 0; i < h->t->n; i++)
		for (size_t k = 0; k < countof(units); k++)
			if (h->t->col[i].index == h->nkey &&
			    str_ends(h->t->col[i].name, str_z(units[k].ending)))
				return str_z(units[k].unit);
	return STR("");
}

/* For pictures: the columns that are shown as key, stacks that are values, too; the first map's
 * values. */
static void put_as_map(struct shown *h)
{
	const struct columns *t = h->t;
	u32 n = t->rows ? MIN(t->rows, h->rows.n) : h->rows.n;
	struct value *key = arena_newn(&h->a, struct value, n + 1);
	struct value *val = arena_newn(&h->a, struct value, n + 1);
	struct item it = h->first;

	it.str = unit_of_values(h);
	for (u32 r = 0; r < n; r++) {
		struct value *cell = arena_newn(&h->a, struct value, t->n + 1);
		key[r] = (struct value){.kind = V_TUPLE, .list = cell};
		for (u32 i = 0; i < t->n; i++) {
			if (t->col[i].is.s)
				continue;
			const struct value *v = &h->rows.v[r][t->col[i].index];
			if (t->col[i].index >= h->nkey && v->kind != V_STACK)
				continue;
			cell[key[r].n] = *v;
			column_resolve(h->r, &t->col[i], &cell[key[r].n++]);
		}
		val[r] = h->rows.v[r][h->nkey];
	}
	it.name = t->name;
	it.map.n = n;
	it.map.key = key;
	it.map.val = val;
	it.map.make_row = NULL;
	report_put(h->r, &it);
}

/* The rows of maps, as this output tells keys from each other. */
static void gather(struct shown *h, const struct schema *sc)
{
	static const struct sink by_text = {.name = "rows",
					    .put = gather_map,
					    .keys = KEYS_BY_TEXT},
				 by_place = {
					 .name = "rows", .put = gather_map, .keys = KEYS_BY_PLACE};
	struct reporter *r = h->r;
	const struct sink *sink = r->output.sink;
	void *self = r->output.self;
	r->output.sink = h->places ? &by_place : &by_text;
	r->output.self = h;
	for (u32 i = 0; i < sc->nmap; i++) {
		const struct agg *agg = agg_of(sc->maps[i]->val);
		h->adds = !agg && agg_of(sc->maps[0]->val);
		report_print_map(r, sc->maps[i], 0, 0, false);
		sum_map(h, agg, h->at);
		h->at += agg && agg->parts ? agg->parts : 1;
	}
	r->output.sink = sink;
	r->output.self = self;
}

static void free_shown(struct shown *h)
{
	vec_free(&h->rows);
	tab_free(&h->index);
	arena_free(&h->a);
}

static void handle_show(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			u64 ts)
{
	const struct sink *sink = r->output.sink;
	struct shown h = {.r = r, .t = sc->columns, .places = sink->files};

	(void)v, (void)n;
	h.ncell = h.t->declared;
	h.part = next_report(r, h.t, sc->last, ts);
	if (!sc->nmap || h.part.over)
		return;
	gather(&h, sc);
	if (h.rows.n && h.t->sort)
		qsort_r(h.rows.v, h.rows.n, sizeof(*h.rows.v), by_column, (void *)h.t);
	if (sink->maps) /* without rows, too: nothing came in this interval */
		put_as_map(&h);
	else if (h.rows.n || h.t->top)
		put_rows(&h, ts);
	free_shown(&h);
}

/* ---- functions of stacks ---- */

static void handle_show_functions(struct reporter *r, const struct schema *sc,
				  const struct value *v, u32 n, u64 ts)
{
	struct shown h = {.r = r, .t = sc->columns}, of = {.r = r, .t = sc->columns};
	struct byfunction f = {.left_out = sc->fmt};

	(void)v, (void)n;
	if (!r->output.sink->text)
		return;
	h.ncell = MAX_CELLS;
	gather(&h, sc);
	for (u32 i = 0; i < h.rows.n; i++)
		byfunction_add(&f, h.rows.v[i], h.nkey, h.rows.v[i][h.nkey].u);
	byfunction_end(&f);
	for (u32 i = 0; i < f.rows.n; i++)
		vec_add(&of.rows, f.rows.v[i]);
	if (of.rows.n) {
		put_rows(&of, ts);
		report_put(r, &(struct item){.kind = I_TEXT, .text.line = true});
	}
	byfunction_free(&f);
	free_shown(&h);
	free_shown(&of);
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
	struct map **maps = arena_newn(l->c->arena, struct map *, MAX_MAPS);

	(void)dst;
	struct columns *t = table_of(l, call, true);
	if (!call->a->next) { /* of a report, too, the heading comes with it */
		t->begun = true;
		t->head = false;
	}
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
