/* heat.c - a heat map: a column for each interval, the newest at the right, a row for each bucket. */
#include "base/json.h"
#include "view/common.h"

enum { LABEL = 12, MAX_COLUMNS = 1024, PAGE_COLUMNS = 120 };

/* What came in the interval that ended i steps before the last reading. */
static struct live_blob *interval(struct view_env *v, u32 i)
{
	struct view_env past = *v;
	struct live_blob *all, *step;
	struct view_state st = {0};
	past.st = &st;
	past.look = (struct live_look){.at = model_back(v->m, i), .prev = model_back(v->m, i + 1)};
	view_hists(&past, &all, &step);
	return step;
}

/* All buckets that any interval has, in order. */
static struct live_blob *rows_of(struct view_env *v, struct live_blob **col, u32 n)
{
	struct live_blob *all = NULL;
	for (u32 i = 0; i < n; i++)
		all = model_hist_plus(v->a, all, col[i]);
	return all;
}

/* 0 to HEAT_INKS */
static u32 level(double part)
{
	return part <= 0 ? 0 : part >= 1 ? HEAT_INKS : 1 + (u32)(part * (HEAT_INKS - 1));
}

static u32 shade(const struct grid *g, double part)
{
	static const char ascii[] = " .:-=+*#@";
	static const u16 blocks[] = {' ',    0x2591, 0x2591, 0x2592, 0x2592,
				     0x2593, 0x2593, 0x2588, 0x2588};
	u32 n = level(part);
	return g->ascii ? (u8)ascii[n] : blocks[n];
}

static struct style heat(double part)
{
	u32 n = part >= 1 ? HEAT_INKS - 1 : (u32)(part * HEAT_INKS);
	return (struct style){(u8)(INK_HEAT + n), 0};
}

/* A color tells the logarithm, as in heat maps that are files: one event is seen beside a million. */
static double part_of(u64 n, u64 most)
{
	if (!n)
		return 0;
	return most < 2
		       ? 1
		       : ((double)(64 - __builtin_clzll(n))) / (double)(64 - __builtin_clzll(most));
}

struct picture {
	struct live_blob *rows, **col;
	u32 ncol, nrow; /* nrow: that are drawn */
	u64 most;
};

static void put_label(struct sb *b, const struct bucket *k)
{
	if (k->no_lo)
		sb_z(b, "less");
	else
		put_bucket(b, k);
}

/* How much came in the interval i steps before the last reading that is shown, of the most. */
static double part_at(const struct picture *p, u32 i, const struct bucket *k)
{
	const struct live_blob *h = p->col[i];
	u64 n = 0;
	for (u32 j = 0; h && j < h->n; j++)
		if (h->hist[j].lo == k->lo && h->hist[j].no_lo == k->no_lo)
			n = h->hist[j].count;
	return part_of(n, p->most);
}

static void draw_row(struct grid *g, struct rect r, const struct picture *p, u32 row, u32 y)
{
	AUTO_SB b = {0};
	const struct bucket *k = &p->rows->hist[row];
	put_label(&b, k);
	grid_right(g, r.x, y, LABEL, PLAIN, sb_str(&b));
	for (u32 i = 0; i < p->ncol; i++) {
		double part = part_at(p, i, k);
		if (part > 0)
			grid_put(g, r.x + r.w - 1 - i, y, shade(g, part), heat(part));
	}
}

static void put_ago(struct sb *b, const struct view_env *v, u32 ncol)
{
	const struct live_tick *from = model_back(v->m, v->back + ncol), *to = v->look.at;
	sb_fmt(b, "%.0f s ago", (double)(to->at.ns - from->at.ns) / 1e9);
}

/* Below the rows: when the first column began, and in the half where that is not, the largest number. */
static void draw_axis(struct view_env *v, struct grid *g, struct rect r, u32 ncol, u64 most)
{
	AUTO_SB ago = {0};
	AUTO_SB b = {0};
	put_ago(&ago, v, ncol);
	sb_fmt(&b, "most: %llu in an interval", most);
	u32 left = r.x + LABEL + 1, right = r.x + r.w, n = text_columns(sb_str(&b)),
	    nago = text_columns(sb_str(&ago));
	u32 first = MAX(left, MIN(right - MIN(ncol, r.w), right - MIN(nago, r.w)));
	bool early = first < left + (right - left) / 2;
	grid_text(g, first, r.y, right - first, INK(DIM), sb_str(&ago));
	if (n + LABEL + 16 < r.w)
		grid_text(g, early ? right - n : left, r.y, n, INK(DIM), sb_str(&b));
}

static struct picture picture_of(struct view_env *v, u32 most)
{
	u32 have = v->m->ntick > v->back + 1 ? v->m->ntick - v->back - 1 : 0;
	struct picture p = {.ncol = MIN(most, have)};
	p.col = arena_newn(v->a, struct live_blob *, p.ncol + 1);
	for (u32 i = 0; i < p.ncol; i++)
		p.col[i] = interval(v, v->back + i);
	p.rows = rows_of(v, p.col, p.ncol);
	for (u32 i = 0; i < p.ncol; i++)
		for (u32 k = 0; p.col[i] && k < p.col[i]->n; k++)
			p.most = MAX(p.most, p.col[i]->hist[k].count);
	return p;
}

static void draw(struct view_env *v, struct grid *g, struct rect r)
{
	u32 room = r.w > LABEL + 1 ? r.w - LABEL - 1 : 0;
	struct picture p = picture_of(v, MIN(room, MAX_COLUMNS));
	u32 n = p.rows ? p.rows->n : 0;
	if (!n || r.h < 2) {
		grid_text(g, r.x, r.y, r.w, INK(DIM), STR("nothing came in the intervals so far"));
		return;
	}
	/* The largest values stand at the top. */
	view_scroll(v, n, r.h - 1);
	for (u32 i = v->st->top; i < n && i - v->st->top + 1 < r.h; i++)
		draw_row(g, r, &p, n - 1 - i, r.y + i - v->st->top);
	r.y += MIN(n - v->st->top, r.h - 1);
	draw_axis(v, g, r, p.ncol, p.most);
}

/* {"rows": [[bucket, a digit for each interval, the newest last, least value], ...], "ago": "60 s ago", "most": N,
 * "at": number of the newest reading}, the largest values first. */
static void json(struct view_env *v, struct sb *b)
{
	struct picture p = picture_of(v, PAGE_COLUMNS);
	AUTO_SB ago = {0};
	u32 n = p.rows ? p.rows->n : 0;
	sb_z(b, "{\"rows\": [");
	for (u32 i = n; i--;) {
		AUTO_SB label = {0};
		put_label(&label, &p.rows->hist[i]);
		sb_z(b, i + 1 < n ? ", [" : "[");
		json_str(b, sb_str(&label));
		sb_z(b, ", \"");
		for (u32 k = p.ncol; k--;)
			sb_char(b, (char)('0' + level(part_at(&p, k, &p.rows->hist[i]))));
		sb_fmt(b, "\", \"%lld\"]", p.rows->hist[i].no_lo ? INT64_MIN : p.rows->hist[i].lo);
	}
	if (n)
		put_ago(&ago, v, p.ncol);
	sb_z(b, "], \"ago\": ");
	json_str(b, sb_str(&ago));
	sb_fmt(b, ", \"most\": %llu, \"at\": %llu}", p.most, v->look.at ? v->look.at->serial : 0);
}

static bool fits(const struct live_table *t, const struct live_row *row)
{
	(void)row;
	return t && t->kind == LIVE_HIST;
}

static bool is_default(const struct live_table *t, const struct live_row *row)
{
	(void)t, (void)row;
	return false;
}

const struct live_view view_heat = {
	.name = "heat",
	.doc = "a heat map: time from left to right, buckets from below",
	.key = 'h',
	.fits = fits,
	.is_default = is_default,
	.draw = draw,
	.json = json,
};
