/*
 * page.c - what pages get: the state of a run as JSON, a line about the run, then one for each pane; and answers to
 * their questions (enum ask_line), at any reading that is kept.
 */
#include "base/clock.h"
#include "base/json.h"
#include "live/inside.h"
#include "live/save.h"
#include <time.h>

static void put_member(struct sb *b, const char *name, const struct sb *text)
{
	json_member(b, false, name);
	json_str(b, sb_str(text));
}

static void put_title(const struct front *f, struct sb *b)
{
	if (f->spec.board)
		sb_z(b, "sonde top");
	else if (f->npart == 1)
		sb_add(b, f->spec.title);
	for (u32 i = 0; f->npart > 1 && i < f->npart; i++)
		sb_fmt(b, "%s%.*s", i ? " + " : "", STRF(f->part[i]->s.name));
}

static void put_number(struct sb *b, const char *name, u64 n)
{
	json_member(b, false, name);
	json_u64(b, n);
}

/* [[reading, what was lost or reported since the one before], ...] */
static void put_lossy(const struct live_model *m, struct sb *b)
{
	u64 before = m->ntick ? m->tick[0]->lost : 0;
	const char *comma = "";
	json_member(b, false, "lossy");
	sb_char(b, '[');
	for (u32 i = 0; i < m->ntick; i++) {
		u64 n = m->tick[i]->lost - before;
		if (n)
			sb_fmt(b, "%s[%llu, %llu]", comma, m->tick[i]->serial, n);
		comma = n ? ", " : comma;
		before = m->tick[i]->lost;
	}
	sb_char(b, ']');
}

/* Which readings there are, by their numbers; 0: none. */
static void put_readings(const struct front *f, struct sb *b)
{
	const struct live_model *m = &f->model;
	const struct live_tick *at = model_back(m, f->back), *last = model_back(m, 0);
	put_number(b, "at", at ? at->serial : 0);
	put_number(b, "first", at ? m->tick[0]->serial : 0);
	put_number(b, "last", at ? last->serial : 0);
	put_number(b, "mark", m->mark ? m->mark->serial : 0);
	put_number(b, "base", m->base ? m->base->serial : 0);
	put_number(b, "every", f->watcher.every_ns / MILLI_NS);
	sb_fmt(b, ", \"diff\": %s, \"paused\": %s", f->diff ? "true" : "false",
	       f->frozen ? "true" : "false");
	put_lossy(m, b);
}

static void put_run(const struct front *f, struct sb *b)
{
	AUTO_SB title = {0};
	AUTO_SB when = {0};
	AUTO_SB losses = {0};
	AUTO_SB cost = {0};
	put_title(f, &title);
	screen_when(f, &when);
	screen_since(f, &when);
	bool good = screen_losses(f, &losses);
	screen_cost(f, &cost);
	sb_z(b, "{\"good\": ");
	sb_z(b, good ? "true" : "false");
	sb_fmt(b, ", \"ended\": %s", f->ended ? "true" : "false");
	put_member(b, "title", &title);
	put_member(b, "when", &when);
	put_member(b, "losses", &losses);
	put_member(b, "cost", &cost);
	json_member(b, false, "messages");
	sb_char(b, '[');
	for (u32 i = 0; i < f->remark.n; i++) {
		sb_z(b, i ? ", " : "");
		json_str(b, f->remark.v[i]);
	}
	sb_char(b, ']');
	put_readings(f, b);
	sb_z(b, "}\n");
}

/* Whatever is done with it on a terminal. Nothing of it may be kept; page_pane_end() afterwards. */
static struct pane page_pane(const struct pane *p, struct str row, const struct live_view *view)
{
	struct pane r = *p;
	r.filter = r.row = (struct sb){0};
	r.outer = (struct view_state){0};
	r.st = (struct view_state){.by = p->spec ? p->spec->by : STR("")};
	r.view = view || row.n || !p->spec ? view : p->spec->view;
	r.inside = row.n > 0;
	sb_add(&r.row, row);
	return r;
}

static void page_pane_end(struct pane *p)
{
	view_state_free(&p->st);
	sb_free(&p->row);
}

static void put_view(struct front *f, struct pane *p, const struct live_view *view, struct sb *b)
{
	struct arena a = {0};
	struct view_env v = screen_env(f, p, &a);
	json_member(b, false, view->name);
	view->json(&v, b);
	arena_free(&a);
}

static void put_views(const struct pane *p, struct sb *b)
{
	const char *comma = "";
	json_member(b, false, "views");
	sb_char(b, '[');
	for (u32 i = 0; views[i]; i++)
		if (views[i]->fits(p->t, pane_row(p))) {
			sb_fmt(b, "%s\"%s\"", comma, views[i]->name);
			comma = ", ";
		}
	sb_char(b, ']');
}

static void put_id(const struct pane *p, struct sb *b)
{
	sb_fmt(b, "%u%.*s", p->part->index, STRF(p->t ? p->t->name : STR("")));
}

static void put_pane(struct front *f, struct pane *p, struct sb *b)
{
	AUTO_SB name = {0};
	AUTO_SB lacks = {0};
	screen_pane_name(f, p, &name);
	screen_pane_lacks(p, &lacks);
	AUTO_SB id = {0};
	put_id(p, &id);
	sb_z(b, "{\"id\": ");
	json_str(b, sb_str(&id));
	put_member(b, "title", &name);
	put_member(b, "lacks", &lacks);
	json_member(b, false, "view");
	json_z(b, pane_view(f, p)->name);
	json_member(b, false, "notes");
	sb_z(b, p->t && p->t->plain && !p->spec ? "true" : "false");
	put_views(p, b);
	put_view(f, p, pane_view(f, p), b);
	sb_z(b, "}\n");
}

/* What the script notes for itself is at the end, and closed. */
static bool is_shown(const struct pane *p)
{
	return pane_has_content(p) || (p->t && p->t->nrow > p->t->hole.n);
}

void page_state(struct front *f, struct sb *out)
{
	put_run(f, out);
	for (u32 i = 0; i < f->npane; i++) {
		struct pane p = page_pane(f->pane[i], STR(""), NULL);
		if (is_shown(&p))
			put_pane(f, &p, out);
		page_pane_end(&p);
	}
}

/* ---- what was in a part of a heat map ---- */

struct weighed {
	const struct live_row *row;
	u64 n;
};
static int by_weight(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;
	return a->n != b->n ? (a->n < b->n ? 1 : -1) : str_cmp(a->row->key, b->row->key);
}

/* "n": of all, "rows": [[key, n, frame...], ...] */
static void put_weighed(struct sb *b, struct weighed *v, u32 n, u32 most)
{
	u64 sum = 0;
	qsort(v, n, sizeof(*v), by_weight);
	for (u32 i = 0; i < n; i++)
		sum += v[i].n;
	sb_fmt(b, "\"n\": %llu, \"rows\": [", sum);
	for (u32 i = 0; i < MIN(n, most); i++) {
		sb_z(b, i ? ", [" : "[");
		json_str(b, v[i].row->key);
		sb_fmt(b, ", %llu", v[i].n);
		for (u32 k = 0; k < v[i].row->nframe; k++) {
			sb_z(b, ", ");
			json_str(b, v[i].row->frame[k]);
		}
		sb_char(b, ']');
	}
	sb_char(b, ']');
}

static u64 count_between(const struct live_blob *h, i64 least, i64 most)
{
	u64 n = 0;
	for (u32 i = 0; h && i < h->n; i++) {
		i64 lo = h->hist[i].no_lo ? INT64_MIN : h->hist[i].lo;
		n += lo >= least && lo <= most ? h->hist[i].count : 0;
	}
	return n;
}

/* What was added to a table, in an interval; of a histogram only the values of bounds, if there are any. */
static u64 added(const struct live_table *t, const struct live_entry *e, const i64 *bounds)
{
	if (bounds)
		return count_between(e->step.blob, bounds[0], bounds[1]);
	return t->kind != LIVE_NUMBER ? e->step.count : e->step.n > 0 ? (u64)e->step.n : 0;
}

/* row NULL: of all. */
static void put_added(const struct front *f, const struct live_table *t, const struct live_row *row,
		      const struct live_look *look, const i64 *bounds, struct sb *b)
{
	enum { MOST = 100, MOST_BESIDE = 8 };
	struct arena a = {0};
	struct live_entries e = model_collect(&f->model, t, look, &a);
	struct weighed *v = arena_newn(&a, struct weighed, e.n + 1);
	u32 n = 0;
	for (u32 i = 0; i < e.n; i++) {
		u64 x = row && e.v[i].row != row ? 0 : added(t, &e.v[i], bounds);
		if (x)
			v[n++] = (struct weighed){e.v[i].row, x};
	}
	put_weighed(b, v, n, bounds || t->stacks ? MOST : MOST_BESIDE);
	arena_free(&a);
}

/* What other maps of the script counted meanwhile. */
static void put_beside(struct front *f, const struct pane *p, const struct live_look *look,
		       struct sb *b)
{
	const char *comma = "";
	json_member(b, false, "beside");
	sb_char(b, '[');
	for (u32 i = 0; i < f->npane; i++) {
		const struct live_table *t = f->pane[i]->t;
		if (!t || t == p->t || t->text != p->t->text || !t->adds || t->plain || t->scalar)
			continue;
		AUTO_SB name = {0};
		screen_pane_name(f, f->pane[i], &name);
		sb_fmt(b, "%s{\"title\": ", comma);
		json_str(b, sb_str(&name));
		sb_z(b, ", ");
		put_added(f, t, NULL, look, NULL, b);
		sb_char(b, '}');
		comma = ", ";
	}
	sb_char(b, ']');
}

static void put_times(const struct live_look *look, struct sb *b)
{
	AUTO_SB text = {0};
	u64 wall[] = {look->prev->at.wall_ns, look->at->at.wall_ns};
	for (u32 i = 0; i < countof(wall); i++) {
		time_t t = (time_t)(wall[i] / SECOND_NS);
		struct tm tm;
		if (localtime_r(&t, &tm))
			sb_fmt(&text, "%s%02d:%02d:%02d", i ? " to " : "", tm.tm_hour, tm.tm_min,
			       tm.tm_sec);
	}
	put_member(b, "when", &text);
}

/* ---- questions ---- */

/* The reading of that number, or the nearest one, as steps before the last. */
static bool steps_to(const struct front *f, struct str number, u32 *ret)
{
	const struct live_tick *last = model_back(&f->model, 0);
	u64 n;
	*ret = f->back;
	if (!number.n)
		return true;
	if (!last || !str_u64(number, &n))
		return false;
	*ret = n >= last->serial ? 0 : (u32)MIN(last->serial - n, (u64)f->model.ntick - 1);
	return true;
}

static bool two_numbers(struct str text, i64 *ret)
{
	struct str word;
	return str_cut(&text, ' ', &word) && str_i64(word, &ret[0]) && text.s &&
	       str_i64(text, &ret[1]);
}

static struct pane *pane_named(const struct front *f, struct str id)
{
	for (u32 i = 0; i < f->npane; i++) {
		AUTO_SB b = {0};
		put_id(f->pane[i], &b);
		if (str_eq(sb_str(&b), id))
			return f->pane[i];
	}
	return NULL;
}

static const char *answer_part(struct front *f, struct pane *p, const struct str *line,
			       struct sb *out)
{
	struct live_look look = screen_look(f);
	u32 from;
	i64 bounds[2];
	if (!p->t || p->t->kind != LIVE_HIST)
		return "no heat map";
	if (!steps_to(f, line[ASK_X], &from) || !two_numbers(line[ASK_Y], bounds))
		return "no such part";
	look.prev = model_back(&f->model, from);
	look.base = NULL;
	if (!look.at || look.prev->serial >= look.at->serial)
		return "the readings are not kept any more";
	sb_char(out, '{');
	put_added(f, p->t, pane_row(p), &look, bounds, out);
	put_times(&look, out);
	put_beside(f, p, &look, out);
	sb_char(out, '}');
	return NULL;
}

static const char *answer_save(struct front *f, struct pane *p, const struct str *line,
			       struct sb *out)
{
	enum { WIDTH = 120, HEIGHT = 40 };
	struct grid g = {0};
	grid_size(&g, WIDTH, HEIGHT);
	if (str_ends(line[ASK_X], STR(".svg")))
		screen_draw_pane(f, p, &g, grid_rect(&g));
	struct err *e = save_text(f, p, &g, line[ASK_X], out);
	if (e)
		sb_clear(out), sb_z(out, e->msg);
	grid_free(&g);
	const char *why = e ? "" : NULL;
	err_free(e);
	return why;
}

static const char *answer_pane(struct front *f, struct pane *p, const struct str *line,
			       struct sb *out)
{
	(void)line;
	put_pane(f, p, out);
	return NULL;
}

static bool is_among(struct str list, struct str id)
{
	struct str word;
	while (str_cut(&list, ',', &word))
		if (str_eq(word, id))
			return true;
	return false;
}

static const char *answer_see(struct front *f, const struct str *line, struct sb *out)
{
	for (u32 i = 0; i < f->npane; i++) {
		struct pane *p = f->pane[i];
		AUTO_SB id = {0};
		put_id(p, &id);
		pane_look(p, p->shown,
			  str_is(line[ASK_PANE], "*") || is_among(line[ASK_PANE], sb_str(&id)));
	}
	f->sees_all = str_is(line[ASK_PANE], "*");
	(void)out;
	return NULL;
}

static const char *answer_ctl(struct front *f, const struct str *line, struct sb *out)
{
	static const struct {
		const char *word;
		int key;
	} words[] = {{"pause", ' '}, {"mark", 'm'}, {"diff", 'd'}, {"base", '0'}, {"start", 'c'}};
	const u64 least = 200, most = 60000;
	u64 ms;
	(void)out;
	f->dirty = f->turned = true;
	if (str_is(line[ASK_X], "diff") && !f->model.mark)
		return "there is no mark";
	for (u32 i = 0; i < countof(words); i++)
		if (str_is(line[ASK_X], words[i].word)) {
			keys_take_time(f, words[i].key);
			return NULL;
		}
	if (!str_is(line[ASK_X], "every"))
		return "there are only pause, mark, diff, base, start and every";
	if (!str_u64(line[ASK_Y], &ms) || ms < least || ms > most)
		return "an interval is 200 to 60000 ms";
	f->watcher.every_ns = ms * MILLI_NS;
	return NULL;
}

static const char *answer_state(struct front *f, const struct str *line, struct sb *out)
{
	(void)line;
	page_state(f, out);
	return NULL;
}

/* Those about the run, then those about a pane. */
static const struct {
	const char *what;
	bool stays; /* the reading that is shown stays what it is afterwards */
	const char *(*run)(struct front *f, const struct str *line, struct sb *out);
	const char *(*pane)(struct front *f, struct pane *p, const struct str *line,
			    struct sb *out);
} answers[] = {{"state", true, answer_state, NULL}, {"ctl", false, answer_ctl, NULL},
	       {"see", true, answer_see, NULL},     {"pane", true, NULL, answer_pane},
	       {"part", true, NULL, answer_part},   {"save", true, NULL, answer_save}};

static const char *answer_about(struct front *f, u32 what, const struct str *line, struct sb *out)
{
	struct pane *p = line[ASK_PANE].n ? pane_named(f, line[ASK_PANE]) : f->pane[0];
	const struct live_view *view = view_named(line[ASK_VIEW]);
	const char *why = NULL;
	if (!p)
		return "there is no such pane";
	struct pane q = page_pane(p, p->t ? line[ASK_ROW] : STR(""), view);
	if (q.inside && !pane_row(&q))
		why = "there is no such row any more";
	else if (line[ASK_VIEW].n && (!view || !view->fits(q.t, pane_row(&q))))
		why = "there is no such view";
	else
		why = answers[what].pane(f, &q, line, out);
	page_pane_end(&q);
	return why;
}

bool page_answer(struct front *f, struct str question, struct sb *out)
{
	struct str line[ASKS] = {0};
	u32 n = 0, back, was = f->back, what = 0;
	const char *why = "a question that makes no sense";
	while (n < ASKS && str_cut(&question, '\n', &line[n]))
		n++;
	while (what < countof(answers) && !str_is(line[ASK_WHAT], answers[what].what))
		what++;
	if (n == ASKS && what < countof(answers) && steps_to(f, line[ASK_AT], &back)) {
		f->back = back;
		why = answers[what].run ? answers[what].run(f, line, out)
					: answer_about(f, what, line, out);
		if (answers[what].stays || line[ASK_AT].n)
			f->back = was;
	}
	if (why && *why) {
		sb_clear(out);
		sb_fmt(out, "%s\n", why);
	}
	return !why;
}
