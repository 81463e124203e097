/* table.c - a row per key: numbers, rates, a bar of its share, the last minute as a sparkline. */
#include "view/common.h"

enum { MAX_COLUMNS = 8, KEY_LEAST = 16, PAST = 20 };

struct column_of {
	enum what what;
	const char *head;
	u32 width;
	bool optional; /* left out where there is little room */
};
struct layout {
	const struct column_of *v;
	u32 n;
};

static struct layout layout_of(const struct live_table *t)
{
	static const struct column_of
		counts[] = {{W_RATE, "PER SEC", 10, false},
			    {W_TOTAL, "TOTAL", 14, false},
			    {W_SHARE, "OF MOST", 10, true},
			    {W_PAST, "PAST", PAST, true},
			    {W_KEY, "KEY", 0, false}},
		values[] = {{W_TOTAL, "VALUE", 20, false},
			    {W_RATE, "CHANGE/S", 10, false},
			    {W_PAST, "PAST", PAST, true},
			    {W_KEY, "KEY", 0, false}},
		stats[] = {{W_RATE, "PER SEC", 10, false}, {W_COUNT, "COUNT", 12, false},
			   {W_MEAN, "AVG", 12, false},     {W_TOTAL, "TOTAL", 16, true},
			   {W_PAST, "PAST", PAST, true},   {W_KEY, "KEY", 0, false}},
		hists[] = {{W_RATE, "PER SEC", 10, false}, {W_COUNT, "COUNT", 10, false},
			   {W_P50, "P50", 9, false},       {W_P90, "P90", 9, true},
			   {W_P99, "P99", 9, false},       {W_MAX, "MAX", 9, true},
			   {W_SHAPE, "SHAPE", PAST, true}, {W_KEY, "KEY", 0, false}},
		texts[] = {{W_KEY, "KEY", 0, false}, {W_TEXT, "VALUE", 0, false}};
#define LAYOUT(v) ((struct layout){v, countof(v)})
	switch (t->kind) {
	case LIVE_NUMBER: return t->adds ? LAYOUT(counts) : LAYOUT(values);
	case LIVE_STATS: return LAYOUT(stats);
	case LIVE_HIST: return LAYOUT(hists);
	case LIVE_EMPTY:
	case LIVE_TEXT: break;
	}
	return LAYOUT(texts);
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
	struct grid *g;
	struct rect r;
	struct layout l;
	u32 on, sort; /* sort: index of the column */
	double most;  /* of the shares */
};

static void draw_past(const struct drawing *d, u32 x, u32 y, const struct live_row *row)
{
	double v[PAST], most = 0, least = 0;
	bool known[PAST];
	for (u32 i = 0; i < PAST; i++) {
		known[i] = model_rate(d->v->m, d->v->t, row, d->v->back + PAST - 1 - i, &v[i]);
		most = known[i] ? MAX(most, v[i]) : most;
		least = known[i] ? MIN(least, v[i]) : least;
	}
	for (u32 i = 0; i < PAST && most > least; i++)
		if (known[i])
			grid_put(d->g, x + i, y, grid_spark(d->g, (v[i] - least) / (most - least)),
				 INK(LINE));
}

/* Buckets from the first to the last, squeezed into the column. */
static void draw_shape(const struct drawing *d, u32 x, u32 y, const struct live_blob *h)
{
	u64 most = 1;
	u32 n = h ? h->n : 0, step = (n + PAST - 1) / PAST;
	for (u32 i = 0; i < n; i++)
		most = MAX(most, h->hist[i].count);
	for (u32 i = 0; i < PAST && step; i++) {
		u64 c = 0;
		for (u32 k = i * step; k < MIN((i + 1) * step, n); k++)
			c = MAX(c, h->hist[k].count);
		if (c)
			grid_put(d->g, x + i, y, grid_spark(d->g, (double)c / (double)most),
				 INK(LINE));
	}
}

static void draw_text(const struct drawing *d, u32 x, u32 y, u32 w, const struct live_entry *e)
{
	const struct live_blob *b = e->all.blob;
	if (b)
		grid_text(d->g, x, y, w, INK(VALUE), str_n(b->text, b->n));
}

static void put_number(struct sb *b, const struct live_table *t, const struct live_entry *e,
		       enum what w)
{
	switch (w) {
	case W_RATE: e->known ? put_count(b, e->rate) : sb_char(b, '-'); break;
	case W_TOTAL: sb_i64(b, e->all.n); break;
	case W_COUNT: sb_u64(b, e->all.count); break;
	case W_MEAN: put_count(b, entry_number(t, e, w)); break;
	case W_P50: put_percentile(b, e->all.blob, PART_P50); break;
	case W_P90: put_percentile(b, e->all.blob, PART_P90); break;
	case W_P99: put_percentile(b, e->all.blob, PART_P99); break;
	case W_MAX: put_percentile(b, e->all.blob, PART_MAX); break;
	case W_KEY:
	case W_SHARE:
	case W_PAST:
	case W_SHAPE:
	case W_TEXT: break;
	}
}

static void draw_cell(const struct drawing *d, const struct column_of *c, u32 x, u32 y, u32 w,
		      const struct live_entry *e)
{
	AUTO_SB b = {0};
	switch (c->what) {
	case W_KEY: grid_text(d->g, x, y, w, PLAIN, e->row->key); return;
	case W_TEXT: draw_text(d, x, y, w, e); return;
	case W_SHARE:
		if (d->most > 0)
			grid_bar(d->g, x, y, w, INK(BAR), (double)e->all.n / d->most);
		return;
	case W_PAST: draw_past(d, x, y, e->row); return;
	case W_SHAPE: draw_shape(d, x, y, e->all.blob); return;
	case W_RATE:
	case W_TOTAL:
	case W_COUNT:
	case W_MEAN:
	case W_P50:
	case W_P90:
	case W_P99:
	case W_MAX: break;
	}
	put_number(&b, d->v->t, e, c->what);
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
		if (c->width && c->what < W_SHARE)
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
		draw_cell(d, &d->l.v[i], x, y, w, e);
		x += w + 1;
	}
}

static u32 sort_column(const struct layout *l, const struct view_state *st)
{
	u32 at = 0;
	if (st->sort)
		return (st->sort - 1) % l->n;
	for (u32 i = 0; i < l->n; i++)
		if (l->v[i].what == W_TOTAL || (l->v[i].what == W_COUNT && !at))
			at = i;
	return at;
}

static void draw(struct view_env *v, struct grid *g, struct rect r)
{
	struct drawing d = {.v = v, .g = g, .r = r, .l = layout_of(v->t)};
	d.on = chosen(&d.l, r.w);
	d.sort = sort_column(&d.l, v->st);
	struct live_entries e = view_entries(v, d.l.v[d.sort].what);
	for (u32 i = 0; i < e.n; i++)
		d.most = MAX(d.most, (double)e.v[i].all.n);
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

static bool fits(const struct live_table *t, const struct live_row *row)
{
	(void)row;
	return t;
}

static bool is_default(const struct live_table *t, const struct live_row *row)
{
	return !row && !t->stacks && !(t->kind == LIVE_HIST && t->scalar);
}

const struct live_view view_table = {
	.name = "table",
	.doc = "a row per key",
	.fits = fits,
	.is_default = is_default,
	.draw = draw,
};
