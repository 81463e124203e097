/* table.c - a row per key: numbers, rates, a bar of its share, the last minute as a sparkline. */
#include "base/json.h"
#include "view/common.h"

enum { MAX_COLUMNS = 12, KEY_LEAST = 16, PAST = 20, BESIDE = 9, PAGE_ROWS = 200 };

struct column_of {
	enum what what;
	const char *head;
	u32 width;
	bool optional;                   /* left out where there is little room */
	const struct live_table *beside; /* whose value of this key it is; NULL: the pane's own */
};
struct layout {
	struct column_of v[MAX_COLUMNS];
	u32 n;
};

struct columns_of {
	const struct column_of *v;
	u32 n;
};

static struct columns_of own_columns(const struct live_table *t)
{
	static const struct column_of counts[] = {{W_RATE, "PER SEC", 10, false, NULL},
						  {W_TOTAL, "TOTAL", 14, false, NULL},
						  {W_SHARE, "OF MOST", 10, true, NULL},
						  {W_PAST, "PAST", PAST, true, NULL},
						  {W_KEY, "KEY", 0, false, NULL}},
				      values[] = {{W_TOTAL, "VALUE", 20, false, NULL},
						  {W_RATE, "CHANGE/S", 10, false, NULL},
						  {W_PAST, "PAST", PAST, true, NULL},
						  {W_KEY, "KEY", 0, false, NULL}},
				      stats[] = {{W_RATE, "PER SEC", 10, false, NULL},
						 {W_COUNT, "COUNT", 12, false, NULL},
						 {W_MEAN, "AVG", 12, false, NULL},
						 {W_TOTAL, "TOTAL", 16, true, NULL},
						 {W_PAST, "PAST", PAST, true, NULL},
						 {W_KEY, "KEY", 0, false, NULL}},
				      hists[] = {{W_RATE, "PER SEC", 10, false, NULL},
						 {W_COUNT, "COUNT", 10, false, NULL},
						 {W_P50, "P50", 9, false, NULL},
						 {W_P90, "P90", 9, true, NULL},
						 {W_P99, "P99", 9, false, NULL},
						 {W_MAX, "MAX", 9, true, NULL},
						 {W_SHAPE, "SHAPE", PAST, true, NULL},
						 {W_KEY, "KEY", 0, false, NULL}},
				      times[] = {{W_LOAD, "TIME %", 8, false, NULL},
						 {W_TOTAL, "TOTAL", 9, false, NULL},
						 {W_PAST, "PAST", PAST, true, NULL},
						 {W_KEY, "KEY", 0, false, NULL}},
				      timed[] = {{W_LOAD, "TIME %", 8, false, NULL},
						 {W_RATE, "PER SEC", 8, false, NULL},
						 {W_MEAN, "AVG", 8, false, NULL},
						 {W_TOTAL, "TOTAL", 9, true, NULL},
						 {W_PAST, "PAST", PAST, true, NULL},
						 {W_KEY, "KEY", 0, false, NULL}},
				      texts[] = {{W_KEY, "KEY", 0, false, NULL},
						 {W_TEXT, "VALUE", 0, false, NULL}};
#define LAYOUT(v) ((struct columns_of){v, countof(v)})
	if (t->unit_ns && t->adds && t->kind == LIVE_NUMBER)
		return LAYOUT(times);
	if (t->unit_ns && t->kind == LIVE_STATS)
		return LAYOUT(timed);
	switch (t->kind) {
	case LIVE_NUMBER: return t->adds ? LAYOUT(counts) : LAYOUT(values);
	case LIVE_STATS: return LAYOUT(stats);
	case LIVE_HIST: return LAYOUT(hists);
	case LIVE_EMPTY:
	case LIVE_TEXT: break;
	}
	return LAYOUT(texts);
}

/* What a table shows as a column beside another one. */
static enum what beside_what(const struct live_table *t)
{
	switch (t->kind) {
	case LIVE_HIST: return W_P99;
	case LIVE_STATS: return t->unit_ns ? W_LOAD : W_MEAN;
	case LIVE_NUMBER: return !t->adds ? W_TOTAL : t->unit_ns ? W_LOAD : W_RATE;
	case LIVE_EMPTY:
	case LIVE_TEXT: break;
	}
	return W_TEXT;
}

/* "RUNQ P99" */
static const char *beside_head(struct arena *a, const struct live_table *t)
{
	enum what w = beside_what(t);
	const char *what = w == W_P99 ? " P99" : w == W_RATE ? "/S" : w == W_LOAD ? " %" : "";
	char *s = arena_fmt(a, "%.*s%s", STRF(str_from(t->name, 1)), what);
	for (char *c = s; *c; c++)
		*c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
	return s;
}

/* Those of other tables come before the sparkline and the key. */
static struct layout layout_of(const struct view_env *v)
{
	struct columns_of own = own_columns(v->t);
	struct layout l = {0};
	u32 k = 0;
	for (u32 i = 0; i < own.n; i++) {
		bool last = own.v[i].what == W_PAST || own.v[i].what == W_KEY;
		for (; last && k < v->nbeside; k++) {
			const struct live_table *t = v->beside[k];
			if (l.n + own.n - i >= MAX_COLUMNS || t->kind == LIVE_EMPTY)
				continue;
			const char *head = beside_head(v->a, t);
			l.v[l.n++] = (struct column_of){beside_what(t), head,
							MAX(BESIDE, (u32)strlen(head)), true, t};
		}
		l.v[l.n++] = own.v[i];
	}
	return l;
}

/* Which columns are drawn in w columns of the screen: bits. The optional ones go from the right. */
static u32 chosen(const struct layout *l, u32 w)
{
	u32 on = 0, used = KEY_LEAST;
	for (u32 i = 0; i < l->n; i++) {
		on |= 1u << i;
		used += l->v[i].width ? l->v[i].width + 1 : 0;
	}
	for (u32 i = l->n; i-- && used > w;)
		if (l->v[i].optional) {
			on &= ~(1u << i);
			used -= l->v[i].width + 1;
		}
	return on;
}

struct drawing {
	struct view_env *v;
	struct live_entries beside[MAX_COLUMNS]; /* by column, of other tables */
	struct grid *g;
	struct rect r;
	struct layout l;
	u32 on, sort; /* sort: index of the column */
	double most;  /* of the shares */
};

static const struct live_entry *entry_of(const struct live_entries *e, struct str key)
{
	for (u32 i = 0; i < e->n; i++)
		if (str_eq(e->v[i].row->key, key))
			return &e->v[i];
	return NULL;
}

/* Of the last intervals, 0 to 1; negative where nothing is shown. */
static void past_of(const struct drawing *d, const struct live_row *row, double *part)
{
	double v[PAST], most = 0, least = 0;
	bool known[PAST];
	for (u32 i = 0; i < PAST; i++) {
		known[i] = model_rate(d->v->m, d->v->t, row, d->v->back + PAST - 1 - i, &v[i]);
		most = known[i] ? MAX(most, v[i]) : most;
		least = known[i] ? MIN(least, v[i]) : least;
	}
	for (u32 i = 0; i < PAST; i++)
		part[i] = known[i] && most > least ? (v[i] - least) / (most - least) : -1;
}

/* Buckets from the first to the last, squeezed into the column. */
static void shape_of(const struct live_blob *h, double *part)
{
	u64 most = 1;
	u32 n = h ? h->n : 0, step = (n + PAST - 1) / PAST;
	for (u32 i = 0; i < n; i++)
		most = MAX(most, h->hist[i].count);
	for (u32 i = 0; i < PAST; i++) {
		u64 c = 0;
		for (u32 k = i * step; k < MIN((i + 1) * step, n); k++)
			c = MAX(c, h->hist[k].count);
		part[i] = c ? (double)c / (double)most : -1;
	}
}

static void draw_spark(const struct drawing *d, u32 x, u32 y, const double *part)
{
	for (u32 i = 0; i < PAST; i++)
		if (part[i] >= 0)
			grid_put(d->g, x + i, y, grid_spark(d->g, part[i]), INK(LINE));
}

static void draw_text(const struct drawing *d, u32 x, u32 y, u32 w, const struct live_entry *e)
{
	const struct live_blob *b = e->all.blob;
	if (b)
		grid_text(d->g, x, y, w, INK(VALUE), str_n(b->text, b->n));
}

static void put_part(struct sb *b, const struct live_table *t, const struct live_entry *e, u32 part)
{
	if (t->unit_ns)
		put_time_percentile(b, e->all.blob, part, t->unit_ns);
	else
		put_percentile(b, e->all.blob, part);
}

static void put_number(struct sb *b, const struct live_table *t, const struct live_entry *e,
		       enum what w)
{
	u64 unit = t->unit_ns;
	switch (w) {
	case W_LOAD:
		if (e->known)
			sb_fmt(b, "%.2f", entry_number(t, e, w) * (double)unit / 1e7);
		else
			sb_char(b, '-');
		break;
	case W_RATE: e->known ? put_count(b, e->rate) : sb_char(b, '-'); break;
	case W_TOTAL:
		unit ? put_time(b, (double)e->all.n * (double)unit) : sb_i64(b, e->all.n);
		break;
	case W_COUNT: sb_u64(b, e->all.count); break;
	case W_MEAN:
		if (unit)
			put_time(b, entry_number(t, e, w) * (double)unit);
		else
			put_count(b, entry_number(t, e, w));
		break;
	case W_P50: put_part(b, t, e, PART_P50); break;
	case W_P90: put_part(b, t, e, PART_P90); break;
	case W_P99: put_part(b, t, e, PART_P99); break;
	case W_MAX: put_part(b, t, e, PART_MAX); break;
	case W_KEY:
	case W_SHARE:
	case W_PAST:
	case W_SHAPE:
	case W_TEXT: break;
	}
}

static void draw_cell(const struct drawing *d, u32 column, u32 x, u32 y, u32 w,
		      const struct live_entry *e)
{
	const struct column_of *c = &d->l.v[column];
	AUTO_SB b = {0};
	double part[PAST];
	if (c->beside)
		e = entry_of(&d->beside[column], e->row->key);
	if (!e)
		return;
	switch (c->what) {
	case W_KEY: grid_text(d->g, x, y, w, PLAIN, e->row->key); return;
	case W_TEXT: draw_text(d, x, y, w, e); return;
	case W_SHARE:
		if (d->most > 0)
			grid_bar(d->g, x, y, w, INK(BAR), (double)e->all.n / d->most);
		return;
	case W_PAST:
	case W_SHAPE:
		if (c->what == W_PAST)
			past_of(d, e->row, part);
		else
			shape_of(e->all.blob, part);
		draw_spark(d, x, y, part);
		return;
	case W_RATE:
	case W_TOTAL:
	case W_COUNT:
	case W_MEAN:
	case W_P50:
	case W_P90:
	case W_P99:
	case W_MAX:
	case W_LOAD: break;
	}
	put_number(&b, c->beside ? c->beside : d->v->t, e, c->what);
	grid_right(d->g, x, y, w, INK(VALUE), sb_str(&b));
}

/* Columns without a width share what is left. */
static u32 width_of(const struct drawing *d, u32 i)
{
	u32 left = d->r.w, free_ones = 0;
	if (d->l.v[i].width)
		return d->l.v[i].width;
	for (u32 k = 0; k < d->l.n; k++) {
		if (!(d->on >> k & 1))
			continue;
		left -= MIN(left, d->l.v[k].width + 1);
		free_ones += !d->l.v[k].width;
	}
	return left / MAX(free_ones, 1u);
}

static void draw_head(const struct drawing *d)
{
	u32 x = d->r.x;
	struct style head = {INK_HEAD, STYLE_BOLD};
	for (u32 i = 0; i < d->l.n; i++) {
		const struct column_of *c = &d->l.v[i];
		AUTO_SB b = {0};
		u32 w = width_of(d, i);
		if (!(d->on >> i & 1))
			continue;
		sb_fmt(&b, "%s%s", c->head, i != d->sort ? "" : d->v->st->reverse ? "^" : "v");
		if (c->width && (c->what < W_SHARE || c->what == W_LOAD))
			grid_right(d->g, x, d->r.y, w, head, sb_str(&b));
		else
			grid_text(d->g, x, d->r.y, w, head, sb_str(&b));
		x += w + 1;
	}
}

static void draw_row(const struct drawing *d, u32 y, const struct live_entry *e)
{
	u32 x = d->r.x;
	for (u32 i = 0; i < d->l.n; i++) {
		u32 w = width_of(d, i);
		if (!(d->on >> i & 1))
			continue;
		draw_cell(d, i, x, y, w, e);
		x += w + 1;
	}
}

/* A column beside has no order of its own; the next one has. */
static u32 sort_column(const struct layout *l, const struct view_state *st)
{
	u32 at = 0;
	enum what by;
	if (st->sort) {
		for (at = (st->sort - 1) % l->n; l->v[at].beside; at++)
			;
		return at;
	}
	bool asked = what_named(st->by, &by);
	for (u32 i = 0; asked && i < l->n; i++)
		if (!l->v[i].beside &&
		    (l->v[i].what == by || (by == W_RATE && l->v[i].what == W_LOAD)))
			return i;
	for (u32 i = 0; i < l->n; i++)
		if (!l->v[i].beside &&
		    (l->v[i].what == W_TOTAL || (l->v[i].what == W_COUNT && !at)))
			at = i;
	return at;
}

/* All but where it is drawn; its rows, in order. */
static struct live_entries prepare(struct drawing *d, struct view_env *v)
{
	d->v = v;
	d->l = layout_of(v);
	for (u32 i = 0; i < d->l.n; i++)
		if (d->l.v[i].beside)
			d->beside[i] = model_collect(v->m, d->l.v[i].beside, &v->look, v->a);
	d->sort = sort_column(&d->l, v->st);
	struct live_entries e = view_entries(v, d->l.v[d->sort].what);
	for (u32 i = 0; i < e.n; i++)
		d->most = MAX(d->most, (double)e.v[i].all.n);
	return e;
}

static void draw(struct view_env *v, struct grid *g, struct rect r)
{
	struct drawing d = {.g = g, .r = r};
	struct live_entries e = prepare(&d, v);
	d.on = chosen(&d.l, r.w);
	draw_head(&d);
	view_scroll(v, e.n, r.h ? r.h - 1 : 0);
	sb_clear(&v->st->selected);
	if (e.n)
		sb_add(&v->st->selected, e.v[v->st->cursor].row->key);
	for (u32 i = v->st->top; i < e.n && i - v->st->top + 1 < r.h; i++) {
		u32 y = r.y + 1 + i - v->st->top;
		draw_row(&d, y, &e.v[i]);
		if (v->focus && i == v->st->cursor && !v->row)
			grid_style(g, r.x, y, r.w, (struct style){INK_PLAIN, STYLE_REVERSE});
	}
	if (!e.n)
		grid_text(g, r.x, r.y + 1, r.w, INK(DIM),
			  v->filter.n ? STR("no row passes the filter") : STR("nothing yet"));
}

/* ---- the page ---- */

static void json_spark(struct sb *b, const double *part)
{
	sb_char(b, '"');
	for (u32 i = 0; i < PAST; i++)
		sb_char(b, part[i] < 0 ? ' ' : (char)('0' + (u32)(MIN(part[i], 1.0) * 7)));
	sb_char(b, '"');
}

/* A number that is shown as it is, or [number, text]. */
static void json_number(struct sb *b, const struct live_table *t, const struct live_entry *e,
			enum what w)
{
	AUTO_SB text = {0};
	u64 n;
	put_number(&text, t, e, w);
	if (str_u64(sb_str(&text), &n)) {
		json_u64(b, n);
		return;
	}
	sb_fmt(b, "[%.9g, ", entry_number(t, e, w)); /* to sort by */
	json_str(b, sb_str(&text));
	sb_char(b, ']');
}

static void json_cell(struct sb *b, const struct drawing *d, u32 column, const struct live_entry *e)
{
	const struct column_of *c = &d->l.v[column];
	double part[PAST];
	if (c->beside)
		e = entry_of(&d->beside[column], e->row->key);
	if (!e) {
		sb_z(b, "null");
	} else if (c->what == W_KEY) {
		json_str(b, e->row->key);
	} else if (c->what == W_TEXT) {
		json_str(b, e->all.blob ? str_n(e->all.blob->text, e->all.blob->n) : STR(""));
	} else if (c->what == W_SHARE) {
		sb_fmt(b, "%.3g", d->most > 0 ? MAX((double)e->all.n / d->most, 0.0) : 0.0);
	} else if (c->what == W_PAST || c->what == W_SHAPE) {
		if (c->what == W_PAST)
			past_of(d, e->row, part);
		else
			shape_of(e->all.blob, part);
		json_spark(b, part);
	} else {
		json_number(b, c->beside ? c->beside : d->v->t, e, c->what);
	}
}

/* A letter for how the column is shown: key, text, bar, spark line or number. */
static char kind_of(enum what w)
{
	return w == W_KEY                    ? 'k'
	       : w == W_TEXT                 ? 't'
	       : w == W_SHARE                ? 'b'
	       : w == W_PAST || w == W_SHAPE ? 's'
					     : 'n';
}

/* {"cols": [[head, kind], ...], "sort": column, "n": rows that there are, "rows": [[cell, ...], ...]} */
static void json(struct view_env *v, struct sb *b)
{
	struct drawing d = {0};
	struct live_entries e = prepare(&d, v);
	sb_z(b, "{\"cols\": [");
	for (u32 i = 0; i < d.l.n; i++)
		sb_fmt(b, "%s[\"%s\", \"%c\"]", i ? ", " : "", d.l.v[i].head,
		       kind_of(d.l.v[i].what));
	sb_fmt(b, "], \"sort\": %u, \"n\": %u, \"rows\": [", d.sort, e.n);
	for (u32 i = 0; i < MIN(e.n, (u32)PAGE_ROWS); i++) {
		sb_z(b, i ? ", [" : "[");
		for (u32 k = 0; k < d.l.n; k++) {
			sb_z(b, k ? ", " : "");
			json_cell(b, &d, k, &e.v[i]);
		}
		sb_char(b, ']');
	}
	sb_z(b, "]}");
}

static bool fits(const struct live_table *t, const struct live_row *row)
{
	(void)row;
	return t;
}

static bool is_default(const struct live_table *t, const struct live_row *row)
{
	return !row && !t->stacks && !(t->kind == LIVE_HIST && t->scalar);
}

/* A head sorts by its column, and then the other way round; a row is selected. */
static bool click(struct view_env *v, struct rect r, u32 x, u32 y)
{
	struct drawing d = {.r = r};
	struct view_state *st = v->st;
	u32 at = r.x;
	prepare(&d, v);
	d.on = chosen(&d.l, r.w);
	if (y > r.y) {
		u32 row = st->top + y - r.y - 1;
		bool again = v->focus && row == st->cursor;
		st->cursor = MIN(row, st->n ? st->n - 1 : 0);
		return !again || row != st->cursor;
	}
	for (u32 i = 0; i < d.l.n; i++) {
		u32 w = d.on >> i & 1 ? width_of(&d, i) + 1 : 0;
		if (x >= at && x < at + w && !d.l.v[i].beside) {
			st->reverse = i == d.sort && !st->reverse;
			st->sort = i + 1;
		}
		at += w;
	}
	return true;
}

static bool sorts_by(struct str column)
{
	enum what ignored;
	return what_named(column, &ignored);
}

const struct live_view view_table = {
	.name = "table",
	.doc = "a row per key",
	.fits = fits,
	.is_default = is_default,
	.draw = draw,
	.json = json,
	.click = click,
	.sorts_by = sorts_by,
};
