/* save.c - readings as CSV and JSON, the screen as SVG; see save.h. */
#include "live/save.h"
#include "base/clock.h"
#include "base/json.h"
#include "live/inside.h"
#include <time.h>

/* ---- readings ---- */

static struct live_entries entries_at(struct front *f, const struct live_table *t, u32 back,
				      struct arena *a)
{
	struct live_look look = {.at = model_back(&f->model, back)};
	look.prev = back + 1 < f->model.ntick ? model_back(&f->model, back + 1) : NULL;
	return model_collect(&f->model, t, &look, a);
}

static void put_time(struct sb *b, u64 wall_ns)
{
	time_t t = (time_t)(wall_ns / SECOND_NS);
	struct tm tm;
	if (gmtime_r(&t, &tm))
		sb_fmt(b, "%04d-%02d-%02dT%02d:%02d:%02d.%03lluZ", tm.tm_year + 1900, tm.tm_mon + 1,
		       tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		       wall_ns % SECOND_NS / MILLI_NS);
}

static struct str text_of(const struct live_value *v)
{
	return v->blob ? str_n(v->blob->text, v->blob->n) : STR("");
}

static void csv_values(struct sb *b, const struct live_table *t, const struct live_entry *e)
{
	if (e->known)
		json_f64(b, e->rate);
	sb_char(b, ',');
	if (t->kind == LIVE_HIST || t->kind == LIVE_STATS)
		sb_u64(b, e->all.count);
	sb_char(b, ',');
	if (t->kind == LIVE_TEXT)
		sb_csv(b, text_of(&e->all));
	else if (t->kind != LIVE_HIST)
		sb_i64(b, e->all.n);
	sb_char(b, '\n');
}

/* The table of the pane, at all readings. */
static void put_csv(struct front *f, const struct live_table *t, struct sb *out)
{
	sb_z(out, "time,key,per_second,count,value\n");
	for (u32 back = f->model.ntick; back--;) {
		struct arena a = {0};
		struct live_entries e = entries_at(f, t, back, &a);
		for (u32 i = 0; i < e.n; i++) {
			put_time(out, model_back(&f->model, back)->at.wall_ns);
			sb_char(out, ',');
			sb_csv(out, e.v[i].row->key);
			sb_char(out, ',');
			csv_values(out, t, &e.v[i]);
		}
		arena_free(&a);
	}
}

static void json_hist(struct sb *b, const struct live_blob *h)
{
	json_member(b, false, "buckets");
	sb_char(b, '[');
	for (u32 i = 0; h && i < h->n; i++) {
		const struct bucket *k = &h->hist[i];
		sb_z(b, i ? ", {" : "{");
		if (!k->no_lo) {
			json_member(b, true, "min");
			json_i64(b, k->lo);
		}
		if (!k->no_hi) {
			json_member(b, k->no_lo, "max");
			json_i64(b, k->hi - 1);
		}
		json_member(b, false, "count");
		json_u64(b, k->count);
		sb_char(b, '}');
	}
	sb_char(b, ']');
}

static void json_row(struct sb *b, const struct live_tick *at, const struct live_table *t,
		     const struct live_entry *e)
{
	AUTO_SB time = {0};
	put_time(&time, at->at.wall_ns);
	sb_char(b, '{');
	json_member(b, true, "time");
	json_str(b, sb_str(&time));
	json_member(b, false, "map");
	json_str(b, t->name);
	json_member(b, false, "key");
	json_str(b, e->row->key);
	if (e->known) {
		json_member(b, false, "per_second");
		json_f64(b, e->rate);
	}
	if (t->kind == LIVE_HIST || t->kind == LIVE_STATS) {
		json_member(b, false, "count");
		json_u64(b, e->all.count);
	}
	if (t->kind == LIVE_HIST) {
		json_hist(b, e->all.blob);
	} else {
		json_member(b, false, t->kind == LIVE_STATS ? "total" : "value");
		if (t->kind == LIVE_TEXT)
			json_str(b, text_of(&e->all));
		else
			json_i64(b, e->all.n);
	}
	sb_z(b, "}\n");
}

/* All tables at all readings, a row per line. */
static void put_json(struct front *f, struct sb *out)
{
	for (u32 back = f->model.ntick; back--;)
		for (u32 k = 0; k < f->model.ntable; k++) {
			struct arena a = {0};
			struct live_entries e = entries_at(f, f->model.table[k], back, &a);
			for (u32 i = 0; i < e.n; i++)
				json_row(out, model_back(&f->model, back), f->model.table[k],
					 &e.v[i]);
			arena_free(&a);
		}
}

/* ---- the screen ---- */

enum { CELL_W = 8, CELL_H = 17, FONT = 14 };

struct look {
	const char *front, *back; /* NULL: none of its own */
};
static struct look look_of(struct style s)
{
	static const char *const heat[HEAT_INKS] = {"#5f0087", "#8700af", "#af00af", "#d70087",
						    "#ff5f5f", "#ff875f", "#ffaf5f", "#ffd787"};
	static const char *const frame[FRAME_INKS] = {"#ffaf00", "#ff8700", "#ffd700", "#d7af5f"};
	static const char *const inks[INK_HEAT] = {
		[INK_PLAIN] = "#dddddd", [INK_HEAD] = "#5fafaf",  [INK_TITLE] = "#5fafff",
		[INK_KEY] = "#5fafaf",   [INK_VALUE] = "#dddddd", [INK_BAR] = "#5faf5f",
		[INK_LINE] = "#5fafd7",  [INK_BAD] = "#ff5f5f",   [INK_GOOD] = "#5faf5f",
		[INK_DIM] = "#8a8a8a"};
	struct look l = {.front = s.ink < INK_HEAT ? inks[s.ink] : NULL};
	if (s.ink >= INK_FRAME)
		l = (struct look){"#000000", frame[s.ink - INK_FRAME]};
	else if (s.ink >= INK_HEAT)
		l.front = heat[s.ink - INK_HEAT];
	if (s.flags & STYLE_REVERSE)
		l = (struct look){l.back ? l.back : "#181818", l.front};
	return l;
}

static void put_xml(struct sb *b, u32 ch)
{
	if (ch == '<')
		sb_z(b, "&lt;");
	else if (ch == '&')
		sb_z(b, "&amp;");
	else
		ch_put(b, ch);
}

/* Cells [x, to) of a line, which look alike. */
static void put_run(struct sb *b, const struct grid *g, u32 y, u32 x, u32 to)
{
	const struct cell *c = &g->cell[y * g->w];
	struct look l = look_of(c[x].style);
	if (l.back)
		sb_fmt(b, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"%s\"/>\n",
		       x * CELL_W, y * CELL_H, (to - x) * CELL_W, CELL_H, l.back);
	while (x < to && c[x].ch == ' ')
		x++;
	while (to > x && c[to - 1].ch == ' ')
		to--;
	if (x == to)
		return;
	sb_fmt(b, "<text x=\"%u\" y=\"%u\" textLength=\"%u\" fill=\"%s\"%s>", x * CELL_W,
	       y * CELL_H + FONT - 1, (to - x) * CELL_W, l.front,
	       c[x].style.flags & STYLE_BOLD ? " font-weight=\"bold\"" : "");
	for (; x < to; x++)
		if (c[x].ch)
			put_xml(b, c[x].ch);
	sb_z(b, "</text>\n");
}

static void put_svg(const struct grid *g, struct sb *out)
{
	sb_fmt(out,
	       "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" "
	       "height=\"%u\" "
	       "font-family=\"monospace\" font-size=\"%d\" xml:space=\"preserve\">\n"
	       "<rect width=\"100%%\" height=\"100%%\" fill=\"#181818\"/>\n",
	       g->w * CELL_W, g->h * CELL_H, g->w * CELL_W, g->h * CELL_H, FONT);
	for (u32 y = 0; y < g->h; y++)
		for (u32 x = 0, to; x < g->w; x = to) {
			const struct cell *c = &g->cell[y * g->w];
			for (to = x + 1;
			     to < g->w && (!c[to].ch || (c[to].style.ink == c[x].style.ink &&
							 c[to].style.flags == c[x].style.flags));
			     to++)
				;
			put_run(out, g, y, x, to);
		}
	sb_z(out, "</svg>\n");
}

struct err *save_text(struct front *f, const struct pane *p, const struct grid *g, struct str name,
		      struct sb *out)
{
	struct live_look look = screen_look(f);
	if (str_ends(name, STR(".sonde")))
		return save_recording(&f->model, out);
	if (str_ends(name, STR(".json")))
		put_json(f, out);
	else if (str_ends(name, STR(".svg")))
		put_svg(g, out);
	else if (str_ends(name, STR(".csv")) && p->t)
		put_csv(f, p->t, out);
	else if (str_ends(name, STR(".pb")) && p->t && p->t->stacks)
		save_pprof(&f->model, p->t, &look, out);
	else
		return err_new(str_ends(name, STR(".csv"))
				       ? "this pane has no table: .json, .sonde or .svg"
			       : str_ends(name, STR(".pb"))
				       ? "this pane has no stacks: .csv, .json, .sonde or .svg"
				       : "a name that ends in .csv, .json, .pb, .sonde or .svg");
	return NULL;
}
