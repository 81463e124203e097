/* series.c - numbers over time as a graph: what a row, or all rows together, had in each interval. */
#include "base/json.h"
#include "view/common.h"

enum { LABEL = 12, PAGE_COLUMNS = 240 };

static void put_axis(struct grid *g, struct rect r, u32 y, double n)
{
	AUTO_SB b = {0};
	put_count(&b, n);
	grid_right(g, r.x, y, LABEL, PLAIN, sb_str(&b));
}

/* One column of the graph, from the bottom line up. */
static void draw_column(struct grid *g, u32 x, struct rect r, double part)
{
	double full = part * (r.h - 1);
	for (u32 i = 0; i + 1 < r.h && full > i; i++) {
		double top = full - i;
		grid_put(g, x, r.y + r.h - 2 - i, grid_spark(g, top > 1 ? 1 : top), INK(LINE));
	}
}

static void draw(struct view_env *v, struct grid *g, struct rect r)
{
	u32 n = r.w > LABEL + 2 ? MIN(r.w - LABEL - 2, v->m->ntick) : 0;
	double most = 0, least = 0, *val = arena_newn(v->a, double, n + 1);
	bool *known = arena_newn(v->a, bool, n + 1), any = false;
	for (u32 i = 0; i < n; i++) {
		known[i] = model_rate(v->m, v->t, v->row, v->back + i, &val[i]);
		any |= known[i];
		most = known[i] ? MAX(most, val[i]) : most;
		least = known[i] ? MIN(least, val[i]) : least;
	}
	v->st->n = 0;
	if (!any || r.h < 3) {
		grid_text(g, r.x, r.y, r.w, INK(DIM), STR("no interval is over yet"));
		return;
	}
	put_axis(g, r, r.y, most);
	put_axis(g, r, r.y + r.h - 2, least);
	for (u32 i = 0; i < n; i++)
		if (known[i] && most > least)
			draw_column(g, r.x + r.w - 1 - i, r, (val[i] - least) / (most - least));
	grid_text(g, r.x + LABEL + 1, r.y + r.h - 1, r.w - LABEL - 1, INK(DIM),
		  v->t->adds ? STR("per second, in each interval") : STR("value at each reading"));
}

/* {"adds": whether these are numbers per second, "v": [number or null, ...], "at": number of the newest reading}, the newest
 * last. */
static void json(struct view_env *v, struct sb *b)
{
	u32 n = MIN((u32)PAGE_COLUMNS, v->m->ntick > v->back ? v->m->ntick - v->back : 0);
	sb_fmt(b, "{\"adds\": %s, \"v\": [", v->t->adds ? "true" : "false");
	for (u32 i = n; i--;) {
		double val;
		sb_z(b, i + 1 < n ? ", " : "");
		if (model_rate(v->m, v->t, v->row, v->back + i, &val))
			sb_fmt(b, "%.4g", val);
		else
			sb_z(b, "null");
	}
	sb_fmt(b, "], \"at\": %llu}", v->look.at ? v->look.at->serial : 0);
}

static bool fits(const struct live_table *t, const struct live_row *row)
{
	(void)row;
	return t && t->kind != LIVE_TEXT && t->kind != LIVE_EMPTY;
}

static bool is_default(const struct live_table *t, const struct live_row *row)
{
	return row && t->kind != LIVE_HIST;
}

const struct live_view view_series = {
	.name = "series",
	.doc = "a graph over time",
	.fits = fits,
	.is_default = is_default,
	.draw = draw,
	.json = json,
};
