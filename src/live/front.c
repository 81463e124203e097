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

/* The first script's panes come first. */
static int by_rank(const void *pa, const void *pb, void *front)
{
	const struct pane *a = *(struct pane *const *)pa, *b = *(struct pane *const *)pb;
	u32 x = rank(front, a), y = rank(front, b);
	if (((const struct front *)front)->board.n)
		return by_board(a, b);
	bool plain = x == 2 || y == 2;
	if (!plain && a->part != b->part)
		return (a->part->index > b->part->index) - (a->part->index < b->part->index);
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
	p->shown = !f->spec.page; /* until it is known */
	p->seen = f->sees_all;
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
		add_pane(f, t)->part = f->part[t->text];
	} else if (spec && first) {
		p = add_pane(f, t);
		p->part = f->part[t->text];
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
	while (i < f->npane && !pane_has_content(f->pane[i]))
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
static void drop_text(struct front_part *f)
{
	const u64 page = 4096;
	u64 to = f->text_at > MOST_TEXT / 2 ? (f->text_at - MOST_TEXT / 2) & ~(page - 1) : 0;
	if (f->text_at - f->text_from < MOST_TEXT)
		return;
	if (!fallocate(f->s.text_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)to))
		f->text_from = to;
}

static void read_text(struct front_part *p)
{
	char buf[16384];
	ssize_t n;
	u64 before = p->lines.n;
	while (!p->ended && (n = pread(p->s.text_fd, buf, sizeof(buf), (off_t)p->text_at)) > 0) {
		p->text_at += (u64)n;
		text_lines_add(&p->lines, str_n(buf, (size_t)n));
	}
	drop_text(p);
	if (p->lines.n != before && now_ns() - p->front->drawn_ns >= TEXT_NS)
		p->front->dirty = true;
}

static void read_texts(struct front *f)
{
	for (u32 i = 0; i < f->npart; i++)
		read_text(f->part[i]);
}

/* Of all BPF programs: only while they are shown. */
static void want_programs(struct front *f)
{
	bool first;
	const struct board_pane *spec = board_find(&f->board, STR(WATCH_PROGRAMS), &first);
	const struct pane *p = spec ? pane_of(f, spec) : NULL;
	f->watcher.needs_programs = spec;
	f->watcher.reads_programs = spec && (!p || (!p->shed_ns && (p->shown || p->seen)));
}

/* The messages of a script with errors, or why nothing was changed. */
static void edit_failed(struct front *f, struct str text)
{
	struct str rest = text, line;
	u32 n = 0;
	while (str_cut(&rest, '\n', &line) && (line.n || rest.n)) {
		AUTO_SB b = {0};
		sb_visible(&b, line);
		if (!n++ && !rest.n) {
			sb_clear(&f->note);
			sb_add(&f->note, sb_str(&b));
			return;
		}
		vec_add(&f->wrong, arena_str(&f->arena, sb_str(&b)));
	}
	f->overlay = OVERLAY_WRONG;
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

/* What came of the editor. */
static void look_away(struct front *f)
{
	AUTO_SB text = {0};
	switch (term_edited(&f->term, &text)) {
	case EDIT_NONE: return;
	case EDIT_REPLACED: f->replaced = true; break;
	case EDIT_BACK: edit_failed(f, sb_str(&text)); break;
	}
	f->away = false;
	f->dirty = true;
}

/* A state for each reading; what comes between two readings waits for a second, or beside a terminal for the next one. */
static void draw_page(struct front *f)
{
	const struct front_page *page = f->page;
	AUTO_SB b = {0};
	bool due = f->turned || (f->spec.page && f->dirty && now_ns() - f->drawn_ns >= SECOND_NS);
	if (!due || !page->ready(page->self))
		return;
	page_state(f, &b);
	page->put(page->self, sb_str(&b));
	f->turned = false;
	if (!f->spec.page) /* what the terminal has is drawn elsewhere */
		return;
	f->dirty = false;
	f->drawn_ns = now_ns();
}

static void answer_pages(struct front *f)
{
	const struct front_page *page = f->page;
	AUTO_SB question = {0};
	while (page->asked(page->self, &question)) {
		AUTO_SB out = {0};
		bool good = page_answer(f, sb_str(&question), &out);
		page->answer(page->self, good, sb_str(&out));
		sb_clear(&question);
		want_programs(f);
	}
}

static bool look_page(void *self)
{
	struct front *f = self;
	read_texts(f);
	answer_pages(f);
	draw_page(f);
	return true;
}

static bool look(void *self)
{
	struct front *f = self;
	int key;
	if (f->away)
		look_away(f);
	if (f->away || f->replaced) {
		read_texts(f);
		return !front_over(f);
	}
	while (!f->quit && !f->gone && !f->away && (key = term_key(&f->term)) != KEY_NONE)
		keys_take(f, key);
	read_texts(f);
	if (f->page)
		answer_pages(f);
	if (!f->gone && !f->away)
		draw(f);
	if (f->page)
		draw_page(f);
	return !f->quit && !f->gone;
}

/* Maps that follow are of this script. */
static void take_part(struct front *f, u32 i)
{
	const struct unit *u = f->part[i]->s.unit;
	f->model.text = i;
	f->model.units = u ? u->config.unit : STR("");
}

static void begin(void *self, const struct watch_reading *t)
{
	struct front *f = self;
	struct watch_reading sum = *t;
	read_texts(f);
	for (u32 i = 0; i < f->npart; i++) {
		const struct front_part *p = f->part[i];
		u64 ns;
		model_note(&f->model, i, p->lines.n);
		if (i && p->s.programs_ns && p->s.programs_ns(p->s.arg, &ns) &&
		    sum.programs_ns != WATCH_UNKNOWN)
			sum.programs_ns += ns;
	}
	if (f->page)
		sum.own_ns += f->page->own_ns(f->page->self);
	f->model.lost = f->lost + f->nremark;
	model_begin(&f->model, &sum);
	take_part(f, 0);
}

static void take_map(void *self, const struct map *m, const struct item *it, bool clearing)
{
	struct front *f = self;
	if (clearing)
		take_part(f, 0);
	model_map(&f->model, m, it, clearing);
}

/* Those of other parts come while the first is read, or before they are cleared. */
static void take_other(void *self, const struct map *m, const struct item *it, bool clearing)
{
	struct front_part *p = self;
	if (!clearing && !p->front->joint)
		return;
	take_part(p->front, p->index);
	model_map(&p->front->model, m, it, clearing);
}

static void end(void *self)
{
	struct front *f = self;
	f->joint = true;
	for (u32 i = 1; i < f->npart; i++)
		if (f->part[i]->s.read)
			f->part[i]->s.read(f->part[i]->s.arg, &f->part[i]->watcher);
	f->joint = false;
	model_end(&f->model);
	add_panes(f);
	shed_panes(f);
	if (f->frozen) /* the same reading stays */
		f->back = MIN(f->back + 1, f->model.ntick - 1);
	f->dirty = f->turned = true;
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
	if (p && p->shed_ns)
		return false;
	if (!p || p->shown || p->seen)
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

struct watcher *part_watcher(struct front_part *p)
{
	return p->index ? &p->watcher : &p->front->watcher;
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
	if (it->lost.loss == LOSS_EVENTS)
		f->lost += it->lost.n;
	else if (loss_kinds[it->lost.loss].account != ACCOUNT_TOLD && it->lost.loss != LOSS_TOTAL)
		remark(f, it->str);
	f->dirty = true;
}

static struct err *front_flush(void *self)
{
	struct front_part *p = self;
	return p->s.plain->flush ? p->s.plain->flush(p->s.self) : NULL;
}

/* The maps that are printed from here on are on the screen already. */
static void end_text(struct front_part *p)
{
	err_free(front_flush(p)); /* close() of the plain output says why, too */
	read_text(p);
	p->ended = true;
	bool all = true;
	for (u32 i = 0; i < p->front->npart; i++)
		all &= p->front->part[i]->ended;
	p->front->ended |= all;
}

static struct err *front_put(void *self, const struct item *it)
{
	struct front_part *p = self;
	struct front *f = p->front;
	if (it->kind == I_LOST)
		take_loss(f, it);
	else if (it->kind == I_ERROR)
		remark(f, it->str);
	else if (it->kind == I_STATUS)
		p->nstatus += it->str.n > 0 && !p->s.apart;
	else if (it->kind == I_END)
		end_text(p);
	return p->s.plain->put(p->s.self, it);
}

static void front_show(const void *self, struct show *results, struct show *remarks)
{
	const struct front_part *p = self;
	if (p->s.plain->show)
		p->s.plain->show(p->s.self, results, remarks);
}

const struct sink front_sink = {
	.name = "screen",
	.text = true, /* as the plain one */
	.put = front_put,
	.flush = front_flush,
	.show = front_show,
};

/* ---- beginning and end ---- */

struct front_part *front_first(struct front *f)
{
	return f->part[0];
}

static bool look_other(void *self)
{
	const struct front_part *p = self;
	return !front_over(p->front);
}

static void begin_other(void *self, const struct watch_reading *t)
{
	(void)self, (void)t;
}

static void end_other(void *self)
{
	(void)self;
}

struct front_part *front_join(struct front *f, const struct front_script *s)
{
	const u64 never = UINT64_MAX / 4;
	if (f->npart == LIVE_TEXTS)
		return NULL;
	struct front_part *p = xcalloc(1, sizeof(*p));
	*p = (struct front_part){.front = f, .index = f->npart, .s = *s};
	p->watcher = (struct watcher){.self = p,
				      .fd = -1,
				      .every_ns = never,
				      .look = look_other,
				      .begin = begin_other,
				      .map = take_other,
				      .end = end_other};
	text_lines_init(&p->lines, KEPT_LINES);
	f->part[f->npart++] = p;
	add_pane(f, NULL)->part = p;
	f->dirty = true;
	return p;
}

struct err *front_open(const struct front_spec *spec, struct front **ret)
{
	struct front *f = xcalloc(1, sizeof(*f));
	f->spec = *spec;
	f->page = spec->page;
	f->sees_all = spec->page;
	f->grid.ascii = spec->ascii;
	model_init(&f->model, &spec->limits);
	front_join(f, &spec->script);
	struct err *e = NULL;
	if (spec->script.unit)
		e = board_read(&f->arena, spec->script.unit, &f->board);
	if (!e && spec->board && !f->board.n)
		e = err_new("the board has no setting 'panes', which says what it shows");
	f->term =
		(struct term){.fd = -1, .guard_fd = -1, .again = spec->again, .serve = spec->serve};
	if (!e && !spec->later && !spec->page)
		e = term_open(&f->term, spec->terminal);
	f->watcher = (struct watcher){.self = f,
				      .fd = spec->page ? spec->page->fd : f->term.fd,
				      .every_ns = spec->every_ns,
				      .look = spec->page ? look_page : look,
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
	if (!spec->later && !spec->page)
		draw(f);
	*ret = f;
	return NULL;
}

struct err *front_start(struct front *f)
{
	struct err *e = f->spec.page ? NULL : term_open(&f->term, f->spec.terminal);
	if (!e && !f->spec.page)
		draw(f);
	return e;
}

bool front_wait(struct front *f, struct signals *s)
{
	f->ended = f->dirty = f->turned = true;
	while (!front_over(f) && f->watcher.look(f) && !(s && signals_look(s)))
		poll(&(struct pollfd){.fd = f->spec.page ? f->spec.page->fd : f->term.fd,
				      .events = POLLIN},
		     1, WAIT_MS);
	return !f->gone && !f->replaced;
}

bool front_over(const struct front *f)
{
	return f->quit || f->gone || f->replaced;
}

bool front_replaced(const struct front *f)
{
	return f->replaced;
}

int front_replaced_status(struct front *f, struct signals *s)
{
	while (!term_replaced_ended(&f->term))
		if (s && signals_look(s))
			return 1;
	return term_replaced(&f->term);
}

u64 part_text_from(const struct front_part *p)
{
	return p->text_from;
}

bool front_close(struct front *f)
{
	if (f->page &&
	    f->model.ntick) { /* the last state, also for who has not got the one before */
		AUTO_SB b = {0};
		f->ended = true;
		page_state(f, &b);
		f->page->put(f->page->self, sb_str(&b));
	}
	if (f->page && !f->spec.page)
		f->page->close(f->page->self);
	bool restored = term_close(&f->term);
	sb_free(&f->address);
	for (u32 i = 0; i < f->npane; i++)
		free_pane(f->pane[i]);
	free(f->pane);
	model_deinit(&f->model);
	for (u32 i = 0; i < f->npart; i++) {
		text_lines_free(&f->part[i]->lines);
		free(f->part[i]);
	}
	grid_free(&f->grid);
	sb_free(&f->input);
	sb_free(&f->note);
	vec_free(&f->remark);
	vec_free(&f->wrong);
	arena_free(&f->arena);
	free(f);
	return restored;
}
