/* hist.c - a histogram: the whole time beside the last interval, with percentiles. */
#include "base/json.h"
#include "view/common.h"

enum { LABEL = 16, COUNT = 10 };

static u64 count_at(const struct live_blob *h, const struct bucket *k)
{
	for (u32 i = 0; h && i < h->n; i++)
		if (h->hist[i].lo == k->lo && h->hist[i].no_lo == k->no_lo &&
		    h->hist[i].no_hi == k->no_hi)
			return h->hist[i].count;
	return 0;
}

static u64 most_of(const struct live_blob *h)
{
	u64 n = 1;
	for (u32 i = 0; h && i < h->n; i++)
		n = MAX(n, h->hist[i].count);
	return n;
}

static void put_percentiles(struct sb *b, const char *what, const struct live_blob *h)
{
	static const struct {
		const char *name;
		u32 part;
	} parts[] = {{"p50", PART_P50}, {"p90", PART_P90}, {"p99", PART_P99}, {"max", PART_MAX}};
	sb_fmt(b, "%-8s", what);
	for (size_t i = 0; i < countof(parts); i++) {
		sb_fmt(b, "  %s ", parts[i].name);
		put_percentile(b, h, parts[i].part);
	}
	sb_fmt(b, "  n %llu", model_hist_count(h));
}

static void draw_percentiles(struct grid *g, struct rect r, u32 y, const char *what,
			     const struct live_blob *h)
{
	AUTO_SB b = {0};
	put_percentiles(&b, what, h);
	grid_text(g, r.x, y, r.w, INK(VALUE), sb_str(&b));
}

/* A count and its bar. */
static void draw_side(struct grid *g, u32 x, u32 y, u32 w, u64 n, u64 most)
{
	AUTO_SB b = {0};
	sb_u64(&b, n);
	grid_right(g, x, y, COUNT, INK(VALUE), sb_str(&b));
	if (w > COUNT + 1)
		grid_bar(g, x + COUNT + 1, y, w - COUNT - 1, INK(BAR), (double)n / (double)most);
}

static void draw(struct view_env *v, struct grid *g, struct rect r)
{
	struct live_blob *all, *step;
	view_hists(v, &all, &step);
	u32 n = all ? all->n : 0, x = r.x + LABEL + 1,
	    side = r.w > LABEL + 2 ? (r.w - LABEL - 2) / 2 : 0;
	u64 most = most_of(all), most_step = most_of(step);
	struct style head = {INK_HEAD, STYLE_BOLD};
	if (r.h < 2 || side < COUNT)
		return;
	grid_text(g, r.x, r.y, LABEL, head, STR("VALUE"));
	grid_right(g, x, r.y, COUNT, head, STR("ALL"));
	grid_right(g, x + side + 1, r.y, COUNT, head, STR("INTERVAL"));
	u32 page = r.h > 4 ? r.h - 3 : r.h - 1;
	view_scroll(v, n, page);
	for (u32 i = v->st->top; i < n && i - v->st->top < page; i++) {
		u32 y = r.y + 1 + i - v->st->top;
		AUTO_SB b = {0};
		put_bucket(&b, &all->hist[i]);
		grid_text(g, r.x, y, LABEL, PLAIN, sb_str(&b));
		draw_side(g, x, y, side, all->hist[i].count, most);
		draw_side(g, x + side + 1, y, side, count_at(step, &all->hist[i]), most_step);
	}
	if (!n)
		grid_text(g, r.x, r.y + 1, r.w, INK(DIM), STR("nothing yet"));
	if (r.h <= 4)
		return;
	draw_percentiles(g, r, r.y + r.h - 2, "all", all);
	draw_percentiles(g, r, r.y + r.h - 1, "interval", step);
}

/* {"rows": [[bucket, all, interval], ...], "sums": [line, line]} */
static void json(struct view_env *v, struct sb *b)
{
	struct live_blob *all, *step;
	AUTO_SB sum = {0};
	view_hists(v, &all, &step);
	sb_z(b, "{\"rows\": [");
	for (u32 i = 0; all && i < all->n; i++) {
		AUTO_SB label = {0};
		put_bucket(&label, &all->hist[i]);
		sb_z(b, i ? ", [" : "[");
		json_str(b, sb_str(&label));
		sb_fmt(b, ", %llu, %llu]", all->hist[i].count, count_at(step, &all->hist[i]));
	}
	sb_z(b, "], \"sums\": [");
	put_percentiles(&sum, "all", all);
	json_str(b, sb_str(&sum));
	sb_z(b, ", ");
	sb_clear(&sum);
	put_percentiles(&sum, "interval", step);
	json_str(b, sb_str(&sum));
	sb_z(b, "]}");
}

static bool fits(const struct live_table *t, const struct live_row *row)
{
	(void)row;
	return t && t->kind == LIVE_HIST;
}

static bool is_default(const struct live_table *t, const struct live_row *row)
{
	return t->scalar || row;
}

const struct live_view view_hist = {
	.name = "hist",
	.doc = "a histogram: all, and the last interval",
	.fits = fits,
	.is_default = is_default,
	.draw = draw,
	.json = json,
};
