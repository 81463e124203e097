/* screen.c - what the terminal shows: two lines on top, panes, a line of keys. */
#include "base/clock.h"
#include "base/units.h"
#include "core/cost.h"
#include "live/inside.h"
#include "live/row.h"
#include <time.h>

enum {
	LEAST_W = 40,
	LEAST_H = 10,
	PANE_LEAST = 7,
	BOARD_LEAST = 5,
	WIDE = 160,
	HEAD_LINES = 2,
	MOST_NAME = 24
};

#define S(ink, flags) ((struct style){INK_##ink, flags})
#define PLAIN_STYLE   ((struct style){INK_PLAIN, 0})

/* ---- what is shown ---- */

struct live_look screen_look(const struct front *f)
{
	const struct live_model *m = &f->model;
	struct live_look l = {.at = model_back(m, f->back), .base = f->diff ? m->mark : m->base};
	l.prev = f->back + 1 < m->ntick ? model_back(m, f->back + 1) : NULL;
	return l;
}

const struct live_row *pane_row(const struct pane *p)
{
	if (!p->inside)
		return NULL;
	for (u32 i = 0; i < p->t->nrow; i++)
		if (p->t->row[i] && str_eq(p->t->row[i]->key, sb_str(&p->row)))
			return p->t->row[i];
	return NULL;
}

const struct live_view *pane_view(const struct front *f, const struct pane *p)
{
	const struct live_row *row = pane_row(p);
	const struct live_view *asked = view_named(f->spec.view);
	if (p->view && p->view->fits(p->t, row))
		return p->view;
	if (asked && asked->fits(p->t, row))
		return asked;
	return view_for(p->t, row);
}

struct view_env screen_env(struct front *f, struct pane *p, struct arena *a)
{
	return (struct view_env){.m = &f->model,
				 .t = p->t,
				 .row = pane_row(p),
				 .beside = p->beside,
				 .nbeside = p->nbeside,
				 .lines = &p->part->lines,
				 .text = p->part->index,
				 .look = screen_look(f),
				 .back = f->back,
				 .filter = sb_str(&p->filter),
				 .focus = f->pane[f->focus] == p,
				 .st = &p->st,
				 .a = a};
}

/* ---- the lines on top ---- */

static void put_clock(struct sb *b, u64 wall_ns)
{
	time_t t = (time_t)(wall_ns / SECOND_NS);
	struct tm tm;
	if (localtime_r(&t, &tm))
		sb_fmt(b, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* Where in time the screen is. */
void screen_when(const struct front *f, struct sb *b)
{
	const struct live_tick *at = model_back(&f->model, f->back);
	if (!at) {
		sb_z(b, "starting");
		return;
	}
	put_clock(b, at->at.wall_ns);
	sb_fmt(b, "  %.0f s", (double)(at->at.ns - at->at.start_ns) / 1e9);
	if (f->back)
		sb_fmt(b, "  %u interval%s back", f->back, f->back == 1 ? "" : "s");
	else if (f->ended)
		sb_z(b, "  ended");
	else
		sb_fmt(b, "  every %.2g s",
		       (double)(f->watcher.slowed_ns ? f->watcher.slowed_ns : f->watcher.every_ns) /
			       1e9);
	if (f->frozen && !f->ended)
		sb_z(b, "  frozen");
}

void screen_since(const struct front *f, struct sb *b)
{
	const struct live_tick *base = screen_look(f).base;
	if (!base)
		return;
	sb_z(b, f->diff ? "  since the mark at " : "  since ");
	put_clock(b, base->at.wall_ns);
}

static void draw_title(struct front *f)
{
	struct grid *g = &f->grid;
	AUTO_SB b = {0};
	AUTO_SB title = {0};
	screen_when(f, &b);
	screen_since(f, &b);
	u32 n = text_columns(sb_str(&b)), room = g->w > n + 2 ? g->w - n - 2 : g->w;
	sb_z(&title, f->spec.board ? "sonde " : "sonde live: ");
	if (f->npart == 1)
		row_one_line(&title, f->spec.title);
	for (u32 i = 0; f->npart > 1 && i < f->npart; i++) {
		sb_z(&title, i ? " + " : "");
		row_one_line(&title, f->part[i]->s.name);
	}
	grid_text(g, 0, 0, room, S(TITLE, STYLE_BOLD), sb_str(&title));
	grid_right(g, 0, 0, g->w, PLAIN_STYLE, sb_str(&b));
}

/* Nothing was lost, or what was. */
bool screen_losses(const struct front *f, struct sb *b)
{
	if (!f->lost && !f->nremark && !f->watcher.nfailed) {
		sb_z(b, "nothing lost so far");
		return true;
	}
	if (f->lost)
		sb_fmt(b, "LOST %llu events", f->lost);
	if (f->nremark)
		sb_fmt(b, "%s%u message%s", b->n ? ", " : "", f->nremark,
		       f->nremark == 1 ? "" : "s");
	if (f->watcher.nfailed)
		sb_fmt(b, "%s%u failed reading%s", b->n ? ", " : "", f->watcher.nfailed,
		       f->watcher.nfailed == 1 ? "" : "s");
	return false;
}

static bool put_losses(const struct front *f, struct sb *b)
{
	bool good = screen_losses(f, b);
	sb_z(b, good ? "" : " (L lists)");
	return good;
}

static double percent(u64 ns, u64 wall, u32 ncpu)
{
	return (double)cost_share(ns, wall, ncpu) / 10000;
}

/* What the last interval took of the machine. */
void screen_cost(const struct front *f, struct sb *b)
{
	struct live_look l = screen_look(f);
	if (!l.at || !l.prev || !l.at->at.ncpu)
		return;
	const struct watch_reading *to = &l.at->at, *from = &l.prev->at;
	u64 wall = to->ns - from->ns;
	sb_fmt(b, "cost: sonde %.2g %%", percent(to->own_ns - from->own_ns, wall, to->ncpu));
	if (to->programs_ns != WATCH_UNKNOWN && from->programs_ns != WATCH_UNKNOWN)
		sb_fmt(b, ", programs %.2g %%",
		       percent(to->programs_ns - from->programs_ns, wall, to->ncpu));
	sb_fmt(b, " of %u CPU%s", to->ncpu, to->ncpu == 1 ? "" : "s");
}

static void draw_state(struct front *f)
{
	struct grid *g = &f->grid;
	AUTO_SB b = {0};
	AUTO_SB cost = {0};
	bool good = put_losses(f, &b);
	grid_text(g, 0, 1, g->w, good ? S(GOOD, 0) : S(BAD, STYLE_BOLD), sb_str(&b));
	screen_cost(f, &cost);
	if (b.n + 2 + cost.n <= g->w)
		grid_right(g, 0, 1, g->w, S(DIM, 0), sb_str(&cost));
}

/* ---- panes ---- */

/* Totals lack the time in which nobody looked. */
static void put_untraced(const struct pane *p, struct sb *b)
{
	u64 ns = p->untraced_ns + (p->off ? now_ns() - p->since_ns : 0);
	if (p->shed_ns)
		sb_z(b, "  not traced: the board costs too much");
	else if (p->off)
		sb_z(b, "  not traced now");
	else if (ns)
		sb_fmt(b, "  not traced for %.0f s", (double)ns / SECOND_NS);
}

/* Tables show units with the values; axes do not. */
static void put_unit(const struct front *f, const struct pane *p, struct sb *b)
{
	u64 ns = p->t ? p->t->unit_ns : 0;
	if (ns && strcmp(pane_view(f, p)->name, "table") != 0)
		sb_fmt(b, " (%s)",
		       ns == 1          ? "ns"
		       : ns == 1000     ? "us"
		       : ns == MILLI_NS ? "ms"
					: "s");
}

void screen_pane_name(const struct front *f, const struct pane *p, struct sb *b)
{
	if (f->npart > 1)
		sb_fmt(b, "%.*s: ", (int)MIN(p->part->s.name.n, MOST_NAME), p->part->s.name.s);
	sb_fmt(b, "%.*s",
	       STRF(p->spec && p->spec->title.n ? p->spec->title
		    : p->t                      ? p->t->name
						: STR("text")));
	if (p->inside)
		sb_fmt(b, "[%.*s]", STRF(sb_str(&p->row)));
	put_unit(f, p, b);
}

void screen_pane_lacks(const struct pane *p, struct sb *b)
{
	put_untraced(p, b);
	if (p->t && p->t->dropped)
		sb_fmt(b, "  %llu old rows left out", p->t->dropped);
}

static void put_pane_title(const struct front *f, const struct pane *p, u32 i, struct sb *b)
{
	if (i < f->npane)
		sb_fmt(b, "%u ", i + 1);
	screen_pane_name(f, p, b);
	sb_fmt(b, "  %s", pane_view(f, p)->name);
	if (p->st.n > p->st.page)
		sb_fmt(b, "  %u of %u", p->st.cursor + 1, p->st.n);
	if (p->filter.n)
		sb_fmt(b, "  /%.*s", STRF(sb_str(&p->filter)));
	screen_pane_lacks(p, b);
}

void screen_draw_pane(struct front *f, struct pane *p, struct grid *g, struct rect r)
{
	struct arena a = {0};
	AUTO_SB b = {0};
	struct view_env v = screen_env(f, p, &a);
	struct style s = v.focus ? S(TITLE, STYLE_BOLD) : S(DIM, 0);
	u32 i = 0;
	while (i < f->npane && f->pane[i] != p)
		i++;
	p->at = r;
	pane_view(f, p)->draw(&v, g, (struct rect){r.x, r.y + 1, r.w, r.h - 1});
	grid_fill(g, (struct rect){r.x, r.y, r.w, 1}, g->ascii ? '-' : 0x2500, S(DIM, 0));
	put_pane_title(f, p, i, &b);
	sb_char(&b, ' ');
	grid_text(g, r.x, r.y, r.w, s, sb_str(&b));
	arena_free(&a);
}

bool pane_has_content(const struct pane *p)
{
	if (!p->t)
		return p->part->lines.n > p->part->nstatus;
	return p->spec || (p->t->nrow > p->t->hole.n && !p->t->plain);
}

/* Those that are to be drawn, and how many; the focused one is among them. */
static u32 choose_panes(const struct front *f, u32 *show, u32 most)
{
	u32 n = 0, at = 0;
	for (u32 i = 0; i < f->npane; i++) {
		bool focus = i == f->focus;
		if (!focus && (f->whole || !pane_has_content(f->pane[i])))
			continue;
		at = focus ? n : at;
		show[n++] = i;
	}
	if (n <= most)
		return n;
	u32 from = at >= most ? at - most + 1 : 0;
	memmove(show, show + from, most * sizeof(*show));
	return most;
}

void pane_look(struct pane *p, bool shown, bool seen)
{
	if ((p->shown || p->seen) && !shown && !seen && !p->off)
		p->since_ns = now_ns();
	p->shown = shown;
	p->seen = seen;
}

static bool is_among(const u32 *v, u32 n, u32 i)
{
	for (u32 k = 0; k < n; k++)
		if (v[k] == i)
			return true;
	return false;
}

static void draw_panes(struct front *f, struct rect r)
{
	struct arena a = {0};
	u32 columns = r.w >= WIDE ? 2 : 1;
	u32 *show = arena_newn(&a, u32, f->npane + 1);
	u32 least = f->board.n ? BOARD_LEAST : PANE_LEAST;
	u32 n = choose_panes(f, show, MAX(r.h / least, 1u) * columns);
	columns = MIN(columns, MAX(n, 1u));
	u32 rows = (n + columns - 1) / columns, w = r.w / columns;
	for (u32 i = 0; i < f->npane; i++)
		pane_look(f->pane[i], is_among(show, n, i), f->pane[i]->seen);
	for (u32 i = 0; i < n; i++) {
		u32 row = i / columns, col = i % columns, y = r.y + r.h * row / rows;
		bool alone = i + 1 == n && !col; /* the last one has the whole line */
		screen_draw_pane(f, f->pane[show[i]], &f->grid,
				 (struct rect){r.x + col * w, y,
					       alone ? r.w : w - (col + 1 < columns),
					       r.y + r.h * (row + 1) / rows - y});
	}
	arena_free(&a);
}

/* ---- overlays, and the last line ---- */

static void draw_lines(struct front *f, struct rect r, const char *title, const struct str *line,
		       u32 n)
{
	struct grid *g = &f->grid;
	grid_fill(g, r, ' ', PLAIN_STYLE);
	grid_text(g, r.x, r.y, r.w, S(TITLE, STYLE_BOLD), str_z(title));
	for (u32 i = 0; i < n && i + 1 < r.h; i++)
		grid_text(g, r.x, r.y + 1 + i, r.w, PLAIN_STYLE, line[i]);
}

static void draw_help(struct front *f, struct rect r)
{
	static const char *const keys[] = {
		"Tab 1-9   next pane, pane by number     z       the pane alone, or all",
		"arrows jk select a row                  < > r   sort column, reverse",
		"PgUp PgDn Home End                      /       filter: words, rate>5 total>100",
		"Enter     into the row                  Bksp    out of it",
		"v         next view                     f h     flame graph, heat map",
		"space     freeze the screen             t T     one interval back, forth",
		"g G       go to a time, to now          + -     interval",
		"m d       mark, totals since the mark   0 c     totals since now, since the start",
		"L         losses and messages           s       save: .csv .json .svg .sonde .pb",
		"y         copy the key of the row       e       edit the script, and swap it",
		"w         open a page for a browser     q       end, and print the results",
	};
	struct str line[countof(keys)];
	for (u32 i = 0; i < countof(keys); i++)
		line[i] = str_z(keys[i]);
	draw_lines(f, r, "Keys (any key goes back)", line, countof(keys));
}

static void draw_foot(struct front *f)
{
	struct grid *g = &f->grid;
	AUTO_SB b = {0};
	if (f->prompt != PROMPT_NONE) {
		sb_fmt(&b, "%s%.*s_",
		       f->prompt == PROMPT_FILTER ? "filter: "
		       : f->prompt == PROMPT_SAVE ? "save to (.csv, .json, .svg, .sonde, .pb): "
						  : "time (15:04:05, or -30s): ",
		       STRF(sb_str(&f->input)));
		grid_text(g, 0, g->h - 1, g->w, S(KEY, STYLE_BOLD), sb_str(&b));
		return;
	}
	if (f->note.n)
		sb_add(&b, sb_str(&f->note));
	else if (f->ended)
		sb_z(&b, "The run has ended: q prints the results and leaves");
	else
		sb_z(&b, "?:help q:quit Tab:pane z:zoom v:view Enter:row /:filter <>:sort "
			 "space:freeze t:time");
	grid_text(g, 0, g->h - 1, g->w, f->note.n || f->ended ? S(KEY, STYLE_BOLD) : S(KEY, 0),
		  sb_str(&b));
}

void screen_draw(struct front *f)
{
	struct grid *g = &f->grid;
	grid_clear(g);
	draw_title(f);
	if (g->w < LEAST_W || g->h < LEAST_H) { /* no room for more than one line */
		AUTO_SB b = {0};
		put_losses(f, &b);
		if (g->h > 1)
			grid_text(g, 0, 1, g->w, PLAIN_STYLE, sb_str(&b));
		for (u32 i = 0; i < f->npane; i++)
			pane_look(f->pane[i], false, f->pane[i]->seen);
		return;
	}
	struct rect r = {0, HEAD_LINES, g->w, g->h - HEAD_LINES - 1};
	draw_state(f);
	draw_panes(f, r);
	if (f->overlay == OVERLAY_HELP)
		draw_help(f, r);
	else if (f->overlay == OVERLAY_LOSSES)
		draw_lines(f, r, "Losses and messages (any key goes back)", f->remark.v,
			   f->remark.n);
	else if (f->overlay == OVERLAY_WRONG)
		draw_lines(f, r,
			   "The new script cannot run, the old one goes on (any key goes back)",
			   f->wrong.v, f->wrong.n);
	draw_foot(f);
}
