/*
 * heat.c - a heat map: histograms that are printed at intervals, as one SVG file.
 *
 * A column is what was counted between two prints, whether or not the script clears the map; a row is
 * a bucket; the darker a cell, the more fell into it. heat.js draws it anew with percentiles,
 * figures and a choice of scales.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/units.h"
#include "core/agg.h"
#include "core/unit.h"
#include "sink/axis.h"
#include "sink/picture.h"
#include "sink/profile.h"

#define SHOWS   "histograms that are printed at intervals"
#define EXAMPLE "@h = hist(x) and interval:s:1 { print(@h); }"

enum option { OPT_TITLE, OPT_UNIT, OPT_WIDTH, OPT_MAP };
enum {
	TOP = 112,
	LEFT = 110,
	RIGHT = 16,
	BOTTOM = 44,
	HEIGHT = 440,
	MAX_COLUMNS = 600,
	MAX_ROWS = 240,
	LABEL = 20, /* pixels from one label of the values to the next, at least */
	LABEL_WIDTH = 80
};

struct column {
	u64 from, to;         /* nsecs */
	VEC(struct bucket) v; /* by lo; counts of this column alone */
};
struct heat {
	struct profile p;             /* for all that is no histogram */
	struct str title, unit, want; /* want: the map; "": the first */
	u32 width;
	struct str name;
	u64 from;    /* end of the last column */
	i64 wall_ns; /* what the clock on the wall is ahead of nsecs */
	u64 step;    /* of an lhist; 0: hist */
	bool uneven; /* of buckets of several widths nobody knows what is between two */
	bool any, keyed;
	u64 rest_ns,
		rest; /* how long the last interval was, which the end cut short, and its values */
	u32 epoch;
	VEC(struct bucket) last; /* the last print, all keys together */
	VEC(struct column) col;
	VEC(struct bucket) row;
};

static const struct sink_option options[] = {
	[OPT_TITLE] = {"title", "TEXT", "above the picture"},
	[OPT_UNIT] = {"unit", "WORD", "of the values: us, bytes ..."},
	[OPT_WIDTH] = {"width", "PIXELS", "where no script runs (1200)"},
	[OPT_MAP] = {"map", "@NAME", "which map; else the first that is printed"},
	{0},
};

static const char no_histogram[] = "it is no histogram";

static struct err *heat_open(void *self, const struct sink_env *env, const struct str *opts)
{
	struct heat *h = self;
	*h = (struct heat){.unit = opts[OPT_UNIT], .want = opts[OPT_MAP]};
	profile_init(&h->p, env, "heat", BY_NAME, STR(""));
	h->title = picture_title(env, opts[OPT_TITLE], STR("Heat map"));
	h->width = option_number(opts[OPT_WIDTH], 320, 10000, 1200);
	h->from = now_ns();
	h->wall_ns = (i64)(h->p.start_ns - h->from);
	return NULL;
}

/* ---- histograms ---- */

static int by_lo(const void *pa, const void *pb)
{
	const struct bucket *a = pa, *b = pb;
	if (a->no_lo != b->no_lo)
		return a->no_lo ? -1 : 1;
	return (a->lo > b->lo) - (a->lo < b->lo);
}

/* Adds up buckets of one place. v is sorted afterwards. */
static u32 merge(struct bucket *v, u32 n)
{
	u32 kept = 0;
	if (n)
		qsort(v, n, sizeof(*v), by_lo);
	for (u32 i = 0; i < n; i++) {
		if (kept && !by_lo(&v[kept - 1], &v[i]))
			v[kept - 1].count += v[i].count;
		else
			v[kept++] = v[i];
	}
	return kept;
}

static u64 count_at(const struct bucket *v, u32 n, const struct bucket *at)
{
	const struct bucket *b = n ? bsearch(at, v, n, sizeof(*v), by_lo) : NULL;
	return b ? b->count : 0;
}

/* What was counted since the last print: all, when the map was cleared in between. */
static void add_column(struct heat *h, const struct item *it)
{
	struct column c = {.from = h->from, .to = MAX(it->ts, h->from + 1)};
	VEC(struct bucket) now = {0};
	bool fresh = !h->any || it->map.epoch != h->epoch;
	for (u64 i = 0; i < it->map.n; i++) {
		struct item_row row = item_row(it, i);
		h->step = row.val->step;
		h->uneven = row.val->uneven;
		h->keyed |= row.key && it->map.n > 1;
		for (u32 k = 0; k < row.val->n; k++)
			vec_add(&now, row.val->hist[k]);
	}
	now.n = merge(now.v, now.n);
	for (u32 i = 0; i < now.n; i++) {
		struct bucket b = now.v[i];
		b.count -= fresh ? 0 : MIN(count_at(h->last.v, h->last.n, &b), b.count);
		vec_add(&c.v, b);
	}
	vec_add(&h->col, c);
	vec_free(&h->last);
	h->last.v = now.v;
	h->last.n = now.n;
	h->last.cap = now.cap;
	h->from = c.to;
	h->epoch = it->map.epoch;
	h->any = true;
}

static void put_map(struct heat *h, const struct item *it)
{
	bool hist = it->map.agg && it->map.agg->buckets;
	if (it->map.n && item_row(it, 0).val->kind != V_HIST)
		hist = false;
	if (hist && !h->name.n && (!h->want.n || str_eq(h->want, it->name))) {
		h->name = arena_str(&h->p.arena, it->name);
		h->unit = h->unit.n ? h->unit : arena_str(&h->p.arena, it->str);
	}
	if (hist && str_eq(h->name, it->name)) {
		/* At the end a map is printed once more: what is left is shown, if there is any. */
		if (!h->p.ended || it->map.n)
			add_column(h, it);
	} else if (it->map.n) {
		profile_leave_out(&h->p, it->name,
				  hist ? "only one map is drawn; select it with map=@NAME"
				       : no_histogram);
	}
}

static struct err *heat_put(void *self, const struct item *it)
{
	struct heat *h = self;
	if (it->kind != I_MAP)
		return profile_put(&h->p, it);
	put_map(h, it);
	return NULL;
}

/* ---- rows and columns ---- */

static u64 length_of(const struct column *c)
{
	return c->to - c->from;
}

static int by_length(const void *pa, const void *pb)
{
	u64 a = length_of(pa), b = length_of(pb);
	return (a > b) - (a < b);
}

/*
 * The end comes within an interval: its column would look as if less had happened. Prints that do not come at intervals
 * have no such column.
 */
static void leave_out_rest(struct heat *h)
{
	if (h->col.n < 3)
		return;
	u32 n = h->col.n - 1, regular = 0;
	struct column *v AUTO_FREE = xcalloc(n, sizeof(*v)), *last = &h->col.v[n];
	memcpy(v, h->col.v, n * sizeof(*v));
	qsort(v, n, sizeof(*v), by_length);
	u64 usual = length_of(&v[n / 2]);
	for (u32 i = 0; i < n; i++)
		regular += length_of(&v[i]) >= usual - usual / 10 &&
			   length_of(&v[i]) <= usual + usual / 10;
	if (regular * 2 < n || length_of(last) >= usual - usual / 10)
		return;
	h->rest_ns = length_of(last);
	for (u32 k = 0; k < last->v.n; k++)
		h->rest += last->v.v[k].count;
	vec_free(&last->v);
	h->col.n--;
}

static void join_columns(struct heat *h)
{
	u32 kept = 0;
	for (u32 i = 0; i < h->col.n; i += 2) {
		struct column c = h->col.v[i];
		if (i + 1 < h->col.n) {
			struct column *d = &h->col.v[i + 1];
			c.to = d->to;
			for (u32 k = 0; k < d->v.n; k++)
				vec_add(&c.v, d->v.v[k]);
			vec_free(&d->v);
			c.v.n = merge(c.v.v, c.v.n);
		}
		h->col.v[kept++] = c;
	}
	h->col.n = kept;
}

/* Buckets that no print has, between two that some have: the axis goes on there. */
static void fill_rows(struct heat *h, const struct bucket *a, const struct bucket *b)
{
	i64 lo = a->hi;
	while (!a->no_hi && lo < b->lo && h->row.n < MAX_ROWS) {
		i64 hi = h->uneven ? b->lo
			 : h->step ? lo + (i64)h->step
			 : lo > 0  ? lo * 2
			 : lo < 0  ? lo / 2
				   : 1;
		hi = hi > b->lo || hi <= lo ? b->lo : hi;
		vec_add(&h->row, (struct bucket){.lo = lo, .hi = hi});
		lo = hi;
	}
}

static void make_rows(struct heat *h)
{
	VEC(struct bucket) all = {0};
	for (u32 i = 0; i < h->col.n; i++)
		for (u32 k = 0; k < h->col.v[i].v.n; k++)
			if (h->col.v[i].v.v[k].count)
				vec_add(&all, h->col.v[i].v.v[k]);
	all.n = merge(all.v, all.n);
	for (u32 i = 0; i < all.n && h->row.n < MAX_ROWS; i++) {
		if (i)
			fill_rows(h, &all.v[i - 1], &all.v[i]);
		vec_add(&h->row, all.v[i]);
	}
	vec_free(&all);
}

static u64 cell_count(const struct heat *h, u32 col, u32 row)
{
	const struct column *c = &h->col.v[col];
	return count_at(c->v.v, c->v.n, &h->row.v[row]);
}

static u64 largest(const struct heat *h)
{
	u64 max = 0;
	for (u32 i = 0; i < h->col.n; i++)
		for (u32 k = 0; k < h->row.n; k++)
			max = MAX(max, cell_count(h, i, k));
	return max;
}

static u64 total(const struct heat *h)
{
	u64 n = 0;
	for (u32 i = 0; i < h->col.n; i++)
		for (u32 k = 0; k < h->col.v[i].v.n; k++)
			n += h->col.v[i].v.v[k].count;
	return n;
}

/* ---- the drawing without script ---- */

enum { SHADES = 16 };

/* Pale to dark, in an order that grey keeps; as in heat.js. */
static void put_shade(struct sb *b, u32 shade)
{
	static const u8 stop[6][3] = {{253, 226, 163}, {253, 184, 99}, {241, 116, 62},
				      {194, 55, 90},   {122, 31, 107}, {45, 16, 82}};
	u32 at = shade * 5 * 256 / (SHADES - 1), i = MIN(at / 256, 4u), part = at - i * 256;
	sb_char(b, '#');
	for (u32 k = 0; k < 3; k++)
		sb_fmt(b, "%02x", (stop[i][k] * (256 - part) + stop[i + 1][k] * part) / 256);
}

static double row_height(const struct heat *h)
{
	return (double)HEIGHT / MAX(h->row.n, 1u);
}

static double x_of(const struct heat *h, u64 ns)
{
	u64 from = h->col.v[0].from, to = h->col.v[h->col.n - 1].to;
	return (double)LEFT +
	       (double)(ns - from) / (double)(to - from) * (double)(h->width - LEFT - RIGHT);
}

/* By the square root of the share of the largest. */
static u32 shade_of(double n, double max)
{
	u32 s = SHADES - 1;
	while (s && n * (SHADES - 1) * (SHADES - 1) < max * s * s)
		s--;
	return s;
}

/* One path per shade. */
static void draw_cells(const struct heat *h, struct sb *b)
{
	double max = (double)largest(h), height = row_height(h);
	for (u32 s = 0; s < SHADES; s++) {
		bool any = false;
		for (u32 i = 0; i < h->col.n; i++) {
			double x = x_of(h, h->col.v[i].from), w = x_of(h, h->col.v[i].to) - x;
			for (u32 k = 0; k < h->row.n; k++) {
				u64 n = cell_count(h, i, k);
				u32 shade = shade_of((double)n, max);
				if (!n || shade != s)
					continue;
				if (!any)
					sb_z(b, "<path d=\"");
				sb_fmt(b, "M%.1f %.1fh%.1fv%.1fh%.1fz", x,
				       TOP + HEIGHT - height * (k + 1), w, height, -w);
				any = true;
			}
		}
		if (!any)
			continue;
		sb_z(b, "\" fill=\"");
		put_shade(b, s);
		sb_z(b, "\"/>\n");
	}
}

static u32 marks_of(const struct heat *h, struct arena *a, struct axis_mark *ret)
{
	struct axis x = {.row = h->row.v,
			 .n = h->row.n,
			 .linear = h->step && !h->uneven,
			 .unit = h->unit,
			 .most = HEIGHT / LABEL};
	return axis_marks(&x, a, ret);
}

static void draw_values(const struct heat *h, struct sb *b)
{
	struct axis_mark mark[AXIS_MARKS];
	struct arena a = {0};
	u32 n = marks_of(h, &a, mark);
	for (u32 i = 0; i < n; i++) {
		double y = TOP + HEIGHT - row_height(h) * mark[i].at;
		sb_fmt(b, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8, y + 4);
		xml_text(b, mark[i].label);
		sb_z(b, "</text>\n");
	}
	arena_free(&a);
}

/* Seconds since the start: 1, 2, 5 of them or of tens, or tenths. */
static void draw_times(const struct heat *h, struct sb *b)
{
	u64 from = h->col.v[0].from, span = h->col.v[h->col.n - 1].to - from;
	u32 most = MAX((h->width - LEFT - RIGHT) / LABEL_WIDTH, 1u);
	u64 step = axis_step(MAX(span / most, 100000000ul));
	for (u64 t = 0; t <= span; t += step) {
		double x = x_of(h, from + t);
		if (x + LABEL_WIDTH / 2.0 > h->width)
			break;
		sb_fmt(b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">+", x,
		       TOP + HEIGHT + 18);
		if (step % 1000000000)
			sb_fmt(b, "%.1f s</text>\n", (double)t / 1e9);
		else
			sb_fmt(b, "%llu s</text>\n", t / 1000000000);
	}
}

static void draw_axes(const struct heat *h, struct sb *b)
{
	draw_values(h, b);
	draw_times(h, b);
}

/* ---- the file ---- */

static void put_note(const struct heat *h, struct sb *b)
{
	units_grouped(b, total(h));
	sb_fmt(b, " values of %.*s%s in %u intervals", STRF(h->name), h->keyed ? ", all keys," : "",
	       h->col.n);
	if (h->rest)
		sb_fmt(b, "; %llu in the last %.1f s, which the end cut short, are left out",
		       h->rest, (double)h->rest_ns / 1e9);
	if (h->p.lost)
		sb_fmt(b, "; %llu events were lost", h->p.lost);
}

static void put_times(const struct heat *h, struct sb *b)
{
	u64 from = h->col.v[0].from;
	sb_fmt(b, ",\n\"start\":%lld,\n\"X\":[", ((i64)from + h->wall_ns) / 1000000);
	for (u32 i = 0; i < h->col.n; i++)
		sb_fmt(b, "%s%llu", i ? "," : "0,", (h->col.v[i].to - from) / 1000);
	sb_z(b, "]");
}

static void put_rows(const struct heat *h, struct sb *b)
{
	sb_z(b, ",\n\"Y\":[");
	for (u32 i = 0; i < h->row.n; i++) {
		const struct bucket *r = &h->row.v[i];
		sb_z(b, i ? ",[" : "[");
		sb_fmt(b, r->no_lo ? "null" : "%lld", r->lo);
		sb_fmt(b, r->no_hi ? ",null]" : ",%lld]", r->hi);
	}
	sb_z(b, "]");
}

static void put_marks(const struct heat *h, struct sb *b)
{
	struct axis_mark mark[AXIS_MARKS];
	struct arena a = {0};
	u32 n = marks_of(h, &a, mark);
	sb_z(b, ",\n\"T\":[");
	for (u32 i = 0; i < n; i++) {
		sb_fmt(b, "%s[%.3f,", i ? "," : "", mark[i].at);
		json_str(b, mark[i].label);
		sb_char(b, ']');
	}
	sb_char(b, ']');
	arena_free(&a);
}

/* Of each column: row, count, row, count ... */
static void put_counts(const struct heat *h, struct sb *b)
{
	sb_z(b, ",\n\"V\":[");
	for (u32 i = 0; i < h->col.n; i++) {
		bool first = true;
		sb_z(b, i ? ",\n[" : "[");
		for (u32 k = 0; k < h->row.n; k++) {
			u64 n = cell_count(h, i, k);
			if (n)
				sb_fmt(b, "%s%u,%llu", first ? "" : ",", k, n);
			first &= !n;
		}
		sb_z(b, "]");
	}
	sb_z(b, "]");
}

static void write_picture(const struct heat *h, struct sb *b)
{
	AUTO_SB json = {0};
	AUTO_SB note = {0};
	put_note(h, &note);
	sb_z(&json, "{\"title\":");
	json_str(&json, h->title);
	sb_z(&json, ",\"where\":");
	json_str(&json, h->p.env.where);
	sb_z(&json, ",\"note\":");
	json_str(&json, sb_str(&note));
	sb_z(&json, ",\"unit\":");
	json_str(&json, h->unit);
	sb_fmt(&json, ",\"width\":%u", h->width);
	put_times(h, &json);
	put_marks(h, &json);
	put_rows(h, &json);
	put_counts(h, &json);
	sb_char(&json, '}');
	picture_begin(b, h->width, TOP + HEIGHT + BOTTOM, h->title, sb_str(&note));
	sb_z(b, "<g id=\"f\">\n");
	picture_head(b, h->width, h->title, h->p.env.where, sb_str(&note));
	draw_cells(h, b);
	draw_axes(h, b);
	sb_z(b, "</g>\n");
	picture_end(b, sb_str(&json), "/heat.js");
}

static struct err *nothing(const struct heat *h)
{
	if (h->col.n == 1)
		return err_new(
			"-f heat shows how histograms change: print %.*s at intervals, as in "
			"interval:s:1 { print(%.*s); }",
			STRF(h->name), STRF(h->name));
	return err_new("-f heat shows " SHOWS ", as in " EXAMPLE "; %s",
		       h->name.n ? "nothing was counted" : "no histogram was printed");
}

static struct err *heat_close(void *self)
{
	struct heat *h = self;
	struct err *e = NULL;
	leave_out_rest(h);
	while (h->col.n > MAX_COLUMNS)
		join_columns(h);
	make_rows(h);
	if (h->p.ended && (h->col.n < 2 || !h->row.n)) {
		e = nothing(h);
	} else if (h->p.ended) {
		profile_tell_left_out(&h->p);
		write_picture(h, &h->p.o.b);
	}
	for (u32 i = 0; i < h->col.n; i++)
		vec_free(&h->col.v[i].v);
	vec_free(&h->col);
	vec_free(&h->row);
	vec_free(&h->last);
	return profile_close(&h->p, e);
}

/* One print is not enough, and that at the end is one. */
static const char *heat_why_not(const struct unit *u, const struct map *m)
{
	const struct agg *agg = agg_of(m->val);
	if (!agg || !agg->buckets)
		return no_histogram;
	for (u32 i = 0; i < u->nschema; i++) {
		const struct schema *sc = u->schema[i];
		bool shown = sc->columns && sc->nmap && sc->maps[0] == m;
		if (!sc->last && (shown || sc->map == m))
			return NULL;
	}
	return "it is printed only at the end";
}

const struct sink sink_heat = {
	.name = "heat",
	.doc = "histograms printed at intervals: a heat map, one SVG file",
	.whole = true,
	.maps = true,
	.shows = SHOWS,
	.example = EXAMPLE,
	.why_not = heat_why_not,
	.size = sizeof(struct heat),
	.options = options,
	.open = heat_open,
	.put = heat_put,
	.close = heat_close,
	.show = profile_show,
};
