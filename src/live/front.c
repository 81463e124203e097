/* front.c - the screen of a run, from its beginning to its end; see front.h. */
#include "live/front.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "core/unit.h"
#include "live/inside.h"
#include <fcntl.h>
#include <poll.h>

enum {
	KEPT_LINES = 10000,
	MOST_TEXT = 64 << 20,
	MAX_REMARKS = 200,
	TEXT_NS = 100 * MILLI_NS, /* new text alone is drawn so often, at most */
	WAIT_MS = 40,
	STAYS_S = 3, /* what is hidden stays attached so long */
};

#define STAYS_NS (STAYS_S * (u64)SECOND_NS)

/* ---- panes ---- */

/* Aggregations first, then the text, then what the script notes for itself; without maps at the end of the
 * plain run, the text is the first. */
static u32 rank(const struct front *f, const struct pane *p)
{
	if (!p->t)
		return f->spec.maps_are_shown ? 1 : 0;
	return p->t->plain ? 2 : 1;
}

/* The order of the setting; the text comes last. */
static int by_board(const struct pane *a, const struct pane *b)
{
	if (!a->spec || !b->spec)
		return (a->spec == NULL) - (b->spec == NULL);
	return (a->spec > b->spec) - (a->spec < b->spec);
}

static int by_rank(const void *pa, const void *pb, void *front)
{
	const struct pane *a = *(struct pane *const *)pa, *b = *(struct pane *const *)pb;
	u32 x = rank(front, a), y = rank(front, b);
	if (((const struct front *)front)->board.n)
		return by_board(a, b);
	if (x != y)
		return x < y ? -1 : 1;
	if (!a->t || !b->t)
		return (a->t == NULL) - (b->t == NULL);
	return str_cmp(a->t->name, b->t->name);
}

static struct pane *add_pane(struct front *f, const struct live_table *t)
{
	struct pane *p = xcalloc(1, sizeof(*p));
	p->t = t;
	p->shown = true; /* until it is known */
	f->pane = xrealloc(f->pane, (f->npane + 1) * sizeof(struct pane *));
	return f->pane[f->npane++] = p;
}

static struct pane *pane_of(const struct front *f, const struct board_pane *spec)
{
	for (u32 i = 0; i < f->npane; i++)
		if (f->pane[i]->spec == spec)
			return f->pane[i];
	return NULL;
}

/* Into the pane that the script asks for, if it asks for any. */
static void place(struct front *f, const struct live_table *t)
{
	bool first;
	const struct board_pane *spec = board_find(&f->board, t->name, &first);
	struct pane *p = spec ? pane_of(f, spec) : NULL;
	if (!f->board.n) {
		add_pane(f, t);
	} else if (spec && first) {
		p = add_pane(f, t);
		p->spec = spec;
		p->view = spec->view;
		p->st.by = spec->by;
	} else if (p && p->nbeside < BOARD_MAPS) {
		p->beside[p->nbeside++] = t;
	}
}

/* A focus that a key has moved stays on its pane. */
static void sort_panes(struct front *f)
{
	const struct pane *was = f->pane[f->focus];
	qsort_r(f->pane, f->npane, sizeof(struct pane *), by_rank, f);
	for (u32 i = 0; i < f->npane; i++)
		if (f->pane[i] == was)
			f->focus = i;
}

static void choose_focus(struct front *f)
{
	u32 i = 0;
	while (i < f->npane && !pane_has_content(f, f->pane[i]))
		i++;
	if (!f->moved)
		f->focus = i < f->npane ? i : 0;
}

static bool pane_beside(const struct front *f, const struct live_table *t)
{
	bool first = true;
	return board_find(&f->board, t->name, &first) && !first;
}

static void add_panes(struct front *f)
{
	for (u32 i = f->ntaken; i < f->model.ntable; i++) /* then those beside them */
		if (!pane_beside(f, f->model.table[i]))
			place(f, f->model.table[i]);
	for (u32 i = f->ntaken; i < f->model.ntable; i++)
		if (pane_beside(f, f->model.table[i]))
			place(f, f->model.table[i]);
	f->ntaken = f->model.ntable;
	sort_panes(f);
	choose_focus(f);
}

static void free_pane(struct pane *p)
{
	if (p->inside)
		pane_leave(p);
	view_state_free(&p->st);
	sb_free(&p->filter);
	sb_free(&p->row);
	free(p);
}

/* ---- the watcher ---- */

/* The text is in memory. Its beginning goes when there is too much; what is left keeps its place. */
static void drop_text(struct front *f)
{
	const u64 page = 4096;
	u64 to = f->text_at > MOST_TEXT / 2 ? (f->text_at - MOST_TEXT / 2) & ~(page - 1) : 0;
	if (f->text_at - f->text_from < MOST_TEXT)
		return;
	if (!fallocate(f->spec.text_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)to))
		f->text_from = to;
}

static void read_text(struct front *f)
{
	char buf[16384];
	ssize_t n;
	u64 before = f->lines.n;
	while (!f->ended && (n = pread(f->spec.text_fd, buf, sizeof(buf), (off_t)f->text_at)) > 0) {
		f->text_at += (u64)n;
		text_lines_add(&f->lines, str_n(buf, (size_t)n));
	}
	drop_text(f);
	if (f->lines.n != before && now_ns() - f->drawn_ns >= TEXT_NS)
		f->dirty = true;
}

/* Of all BPF programs: only while they are shown. */
static void want_programs(struct front *f)
{
	bool first;
	const struct board_pane *spec = board_find(&f->board, STR(BOARD_PROGRAMS), &first);
	const struct pane *p = spec ? pane_of(f, spec) : NULL;
	f->watcher.needs_programs = spec;
	f->watcher.reads_programs = spec && (!p || p->shown);
}

static void draw(struct front *f)
{
	if (term_resized(&f->term) || !f->grid.w)
		f->dirty = true;
	if (!f->dirty)
		return;
	grid_size(&f->grid, f->term.w, f->term.h);
	screen_draw(f);
	want_programs(f);
	if (term_draw(&f->term, &f->grid))
		f->dirty = false;
	f->drawn_ns = now_ns();
}

static bool look(void *self)
{
	struct front *f = self;
	int key;
	while (!f->quit && !f->gone && (key = term_key(&f->term)) != KEY_NONE)
		keys_take(f, key);
	read_text(f);
	if (!f->gone)
		draw(f);
	return !f->quit && !f->gone;
}

static void begin(void *self, const struct watch_reading *t)
{
	struct front *f = self;
	read_text(f);
	model_note(&f->model, f->lines.n);
	model_begin(&f->model, t);
}

static void take_map(void *self, const struct map *m, const struct item *it, bool clearing)
{
	struct front *f = self;
	model_map(&f->model, m, it, clearing);
}

static void end(void *self)
{
	struct front *f = self;
	model_end(&f->model);
	add_panes(f);
	if (f->frozen) /* the same reading stays */
		f->back = MIN(f->back + 1, f->model.ntick - 1);
	f->dirty = true;
}

/* ---- what is traced ---- */

static bool ignores(void *self, const struct map *m)
{
	const struct front *f = self;
	bool first;
	return !board_find(&f->board, m->name, &first);
}

/* A pane stays attached for a while, so that going through panes does not attach and detach. */
static bool wants(void *self, const struct map *m)
{
	struct front *f = self;
	bool first;
	const struct board_pane *spec = board_find(&f->board, m->name, &first);
	struct pane *p = spec ? pane_of(f, spec) : NULL;
	if (!p || p->shown)
		return true;
	return !p->off && now_ns() < p->since_ns + STAYS_NS;
}

static void traced(void *self, const struct map *m, bool on)
{
	struct front *f = self;
	bool first;
	const struct board_pane *spec = board_find(&f->board, m->name, &first);
	struct pane *p = spec ? pane_of(f, spec) : NULL;
	if (!p || p->off == !on)
		return;
	u64 now = now_ns();
	p->untraced_ns += on ? now - p->since_ns : 0;
	p->since_ns = now;
	p->off = !on;
	f->dirty = true;
}

struct watcher *front_watcher(struct front *f)
{
	return &f->watcher;
}

/* ---- the sink ---- */

static void remark(struct front *f, struct str text)
{
	AUTO_SB b = {0};
	f->nremark++;
	if (f->remark.n >= MAX_REMARKS)
		return;
	sb_visible(&b, text);
	vec_add(&f->remark, arena_str(&f->arena, sb_str(&b)));
}

static void take_loss(struct front *f, const struct item *it)
{
	if (it->loss == LOSS_EVENTS)
		f->lost += it->n;
	else if (loss_kinds[it->loss].account != ACCOUNT_TOLD && it->loss != LOSS_TOTAL)
		remark(f, it->str);
	f->dirty = true;
}

static struct err *front_flush(void *self)
{
	struct front *f = self;
	return f->spec.plain->flush ? f->spec.plain->flush(f->spec.self) : NULL;
}

/* The maps that are printed from here on are on the screen already. */
static void end_text(struct front *f)
{
	err_free(front_flush(f)); /* close() of the plain output says why, too */
	read_text(f);
	f->ended = true;
}

static struct err *front_put(void *self, const struct item *it)
{
	struct front *f = self;
	if (it->kind == I_LOST)
		take_loss(f, it);
	else if (it->kind == I_ERROR)
		remark(f, it->str);
	else if (it->kind == I_STATUS)
		f->nstatus += it->str.n > 0;
	else if (it->kind == I_END)
		end_text(f);
	return f->spec.plain->put(f->spec.self, it);
}

static void front_show(const void *self, struct show *results, struct show *remarks)
{
	const struct front *f = self;
	if (f->spec.plain->show)
		f->spec.plain->show(f->spec.self, results, remarks);
}

const struct sink front_sink = {
	.name = "screen",
	.text = true, /* as the plain one */
	.put = front_put,
	.flush = front_flush,
	.show = front_show,
};

/* ---- beginning and end ---- */

struct err *front_open(const struct front_spec *spec, struct front **ret)
{
	struct front *f = xcalloc(1, sizeof(*f));
	f->spec = *spec;
	f->grid.ascii = spec->ascii;
	model_init(&f->model, &spec->limits);
	text_lines_init(&f->lines, KEPT_LINES);
	add_pane(f, NULL);
	f->dirty = true;
	struct err *e = NULL;
	if (spec->unit) {
		e = board_read(&f->arena, spec->unit, &f->board);
		f->model.units = spec->unit->config.unit;
	}
	f->term = (struct term){.fd = -1, .guard_fd = -1};
	if (!e)
		e = term_open(&f->term, spec->terminal);
	f->watcher = (struct watcher){.self = f,
				      .fd = f->term.fd,
				      .every_ns = spec->every_ns,
				      .look = look,
				      .begin = begin,
				      .map = take_map,
				      .end = end};
	if (f->board.n) {
		f->watcher.ignores = ignores;
		f->watcher.wants = wants;
		f->watcher.traced = traced;
	}
	want_programs(f);
	if (e) {
		(void)front_close(f);
		return e;
	}
	draw(f);
	*ret = f;
	return NULL;
}

bool front_wait(struct front *f, struct signals *s)
{
	f->ended = f->dirty = true;
	while (!f->quit && look(f) && !(s && signals_look(s)))
		poll(&(struct pollfd){.fd = f->term.fd, .events = POLLIN}, 1, WAIT_MS);
	return !f->gone;
}

u64 front_text_from(const struct front *f)
{
	return f->text_from;
}

bool front_close(struct front *f)
{
	bool restored = term_close(&f->term);
	for (u32 i = 0; i < f->npane; i++)
		free_pane(f->pane[i]);
	free(f->pane);
	model_deinit(&f->model);
	text_lines_free(&f->lines);
	grid_free(&f->grid);
	sb_free(&f->input);
	sb_free(&f->note);
	vec_free(&f->remark);
	arena_free(&f->arena);
	free(f);
	return restored;
}
