/* keys.c - what each key does. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/units.h"
#include "live/inside.h"
#include "live/save.h"
#include <time.h>

enum { MAX_INPUT = 200 };

static void note(struct front *f, const char *text)
{
	sb_clear(&f->note);
	sb_z(&f->note, text);
}

static struct pane *focused(struct front *f)
{
	return f->pane[f->focus];
}

void view_state_free(struct view_state *st)
{
	sb_free(&st->selected);
	free(st->boxes);
	*st = (struct view_state){0};
}

/* ---- rows and views ---- */

static void select_view(struct front *f, const struct live_view *v)
{
	struct pane *p = focused(f);
	if (v && v->fits(p->t, pane_row(p)))
		p->view = v;
	else
		note(f, "that view does not fit what this pane shows");
}

static void next_view(struct front *f)
{
	struct pane *p = focused(f);
	p->view = view_after(pane_view(f, p), p->t, pane_row(p));
}

static const struct live_view *view_by_key(int key)
{
	for (u32 i = 0; views[i]; i++)
		if (views[i]->key && views[i]->key == key)
			return views[i];
	return NULL;
}

static void move(struct front *f, int dx, int dy)
{
	struct arena a = {0};
	struct pane *p = focused(f);
	const struct live_view *v = pane_view(f, p);
	struct view_env env = screen_env(f, p, &a);
	if (!v->move || !v->move(&env, dx, dy)) {
		i64 to = (i64)p->st.cursor + dy;
		p->st.cursor = to < 0 ? 0 : (u32)MIN(to, (i64)INT32_MAX);
	}
	arena_free(&a);
}

static void go_in(struct front *f)
{
	struct arena a = {0};
	struct pane *p = focused(f);
	if (f->grid.w) /* keys before this one may have moved the selection */
		screen_draw(f);
	const struct live_view *v = pane_view(f, p);
	struct view_env env = screen_env(f, p, &a);
	bool done = v->enter && v->enter(&env, true);
	arena_free(&a);
	if (done || !p->t || p->inside || p->t->scalar || !p->st.selected.n)
		return;
	sb_clear(&p->row);
	sb_add(&p->row, sb_str(&p->st.selected));
	p->inside = true;
	p->outer = p->st;
	p->st = (struct view_state){0};
	p->view = NULL;
}

void pane_leave(struct pane *p)
{
	view_state_free(&p->st);
	p->st = p->outer;
	p->outer = (struct view_state){0};
	p->inside = false;
	p->view = NULL;
}

static void go_out(struct front *f)
{
	struct arena a = {0};
	struct pane *p = focused(f);
	const struct live_view *v = pane_view(f, p);
	struct view_env env = screen_env(f, p, &a);
	bool done = v->enter && v->enter(&env, false);
	arena_free(&a);
	if (!done && p->inside)
		pane_leave(p);
}

static void sort_by(struct front *f, int step)
{
	enum { COLUMNS = 8 };
	struct view_state *st = &focused(f)->st;
	st->sort = (st->sort + COLUMNS + (u32)step - 1) % COLUMNS + 1;
}

/* ---- time ---- */

static void go_back(struct front *f, i64 steps)
{
	i64 most = f->model.ntick ? (i64)f->model.ntick - 1 : 0, to = (i64)f->back + steps;
	f->back = to < 0 ? 0 : (u32)MIN(to, most);
	f->frozen = f->back > 0;
	if (steps > 0 && to > most)
		note(f, "that is the oldest interval that is kept");
}

static void go_now(struct front *f)
{
	f->back = 0;
	f->frozen = false;
}

/* "15:04:05" of the last 24 hours. */
static bool wall_time(const struct front *f, struct str text, u64 *ret)
{
	const struct live_tick *last = model_back(&f->model, 0);
	u64 part[3] = {0};
	struct str rest = text, word;
	u32 n = 0;
	while (n < 3 && str_cut(&rest, ':', &word))
		if (!str_u64(str_n(word.s + (word.n == 2 && word.s[0] == '0'),
				   word.n - (word.n == 2 && word.s[0] == '0')),
			     &part[n++]))
			return false;
	if (n < 2 || rest.s || !last)
		return false;
	time_t t = (time_t)(last->at.wall_ns / SECOND_NS);
	struct tm tm;
	if (!localtime_r(&t, &tm))
		return false;
	tm.tm_hour = (int)part[0];
	tm.tm_min = (int)part[1];
	tm.tm_sec = (int)part[2];
	time_t want = mktime(&tm);
	*ret = (u64)(want > t ? want - 24 * 3600 : want) * SECOND_NS;
	return want > 0;
}

static void go_to(struct front *f, struct str text)
{
	const struct live_tick *last = model_back(&f->model, 0);
	u64 ns, wall;
	if (last && text.n > 1 && text.s[0] == '-' && units_time(str_from(text, 1), &ns))
		wall = last->at.wall_ns > ns ? last->at.wall_ns - ns : 0;
	else if (!wall_time(f, text, &wall)) {
		note(f, "no such time: 15:04:05, or -30s from the last reading");
		return;
	}
	f->back = 0;
	go_back(f, model_steps_to(&f->model, wall));
}

static void set_mark(struct front *f)
{
	model_pin(&f->model, &f->model.mark, screen_look(f).at);
	note(f, f->model.mark ? "marked: d shows what came since then" : "there is no reading yet");
}

static void show_difference(struct front *f)
{
	if (!f->model.mark)
		note(f, "there is no mark: m sets one");
	else
		f->diff = !f->diff;
}

static void change_interval(struct front *f, int step)
{
	static const u64 ms[] = {200, 500, 1000, 2000, 5000, 10000, 30000, 60000};
	u32 at = 0;
	while (at + 1 < countof(ms) && ms[at] * MILLI_NS < f->watcher.every_ns)
		at++;
	if (step < 0 && at)
		at--;
	else if (step > 0 && at + 1 < countof(ms))
		at++;
	f->watcher.every_ns = ms[at] * MILLI_NS;
}

/* ---- prompts ---- */

static void ask(struct front *f, enum prompt what)
{
	f->prompt = what;
	sb_clear(&f->input);
	if (what == PROMPT_FILTER)
		sb_add(&f->input, sb_str(&focused(f)->filter));
}

static void save(struct front *f, struct str name)
{
	AUTO_SB text = {0};
	if (!name.n)
		return;
	screen_draw(f);
	struct err *e = save_text(f, focused(f), &f->grid, name, &text);
	if (!e)
		e = term_save(&f->term, name, sb_str(&text));
	sb_clear(&f->note);
	if (e)
		sb_fmt(&f->note, "not saved: %s", e->msg);
	else
		sb_fmt(&f->note, "saved: %.*s", STRF(name));
	err_free(e);
}

static void answer(struct front *f)
{
	struct pane *p = focused(f);
	enum prompt what = f->prompt;
	f->prompt = PROMPT_NONE; /* so that a picture of the screen is without it */
	if (what == PROMPT_TIME) {
		go_to(f, str_trim(sb_str(&f->input)));
	} else if (what == PROMPT_SAVE) {
		save(f, str_trim(sb_str(&f->input)));
	} else {
		sb_clear(&p->filter);
		sb_add(&p->filter, sb_str(&f->input));
		p->st.cursor = p->st.top = 0;
	}
}

static void type(struct front *f, int key)
{
	if (key == KEY_ENTER) {
		answer(f);
	} else if (key == KEY_ESC) {
		f->prompt = PROMPT_NONE;
	} else if (key == KEY_BACKSPACE) {
		while (f->input.n && ((u8)f->input.s[f->input.n - 1] & 0xc0) == 0x80)
			f->input.n--;
		f->input.n -= f->input.n > 0;
	} else if (key >= ' ' && key < KEY_UP && ch_width((u32)key) && f->input.n < MAX_INPUT) {
		ch_put(&f->input, (u32)key);
	}
}

/* ---- the table of keys ---- */

static void focus(struct front *f, u32 i)
{
	f->moved = true;
	if (i < f->npane)
		f->focus = i;
}

static void take_move(struct front *f, int key)
{
	i32 page = (i32)MAX(focused(f)->st.page, 1u);
	switch (key) {
	case KEY_UP:
	case 'k': move(f, 0, -1); break;
	case KEY_DOWN:
	case 'j': move(f, 0, 1); break;
	case KEY_LEFT: move(f, -1, 0); break;
	case KEY_RIGHT: move(f, 1, 0); break;
	case KEY_PAGE_UP: move(f, 0, -page); break;
	case KEY_PAGE_DOWN: move(f, 0, page); break;
	case KEY_HOME: move(f, 0, -INT32_MAX); break;
	case KEY_END: move(f, 0, INT32_MAX); break;
	}
}

void keys_take_time(struct front *f, int key)
{
	switch (key) {
	case ' ':
		if (f->frozen)
			go_now(f);
		else
			f->frozen = true;
		break;
	case 't': go_back(f, 1); break;
	case 'T': go_back(f, -1); break;
	case 'g': ask(f, PROMPT_TIME); break;
	case 'G': go_now(f); break;
	case 'm': set_mark(f); break;
	case 'd': show_difference(f); break;
	case '0': model_pin(&f->model, &f->model.base, screen_look(f).at); break;
	case 'c':
		model_pin(&f->model, &f->model.base, NULL);
		f->diff = false;
		break;
	case '+': change_interval(f, 1); break;
	case '-': change_interval(f, -1); break;
	}
}

/* In the pane where it was: rows and heads are clicked, what is selected already is opened, and the wheel moves. */
static void take_mouse(struct front *f, struct mouse m)
{
	enum { STEP = 3 };
	u32 i = 0;
	for (; i < f->npane; i++) {
		struct rect r = f->pane[i]->at;
		if (f->pane[i]->shown && m.x - r.x < r.w && m.y - r.y < r.h)
			break;
	}
	if (i == f->npane)
		return;
	bool was = i == f->focus;
	focus(f, i);
	struct pane *p = focused(f);
	struct arena a = {0};
	const struct live_view *v = pane_view(f, p);
	struct view_env env = screen_env(f, p, &a);
	struct rect r = {p->at.x, p->at.y + 1, p->at.w, p->at.h - 1};
	env.focus = was;
	if (m.kind != MOUSE_CLICK)
		move(f, 0, m.kind == MOUSE_UP ? -STEP : STEP);
	else if (v->click && m.y >= r.y && !v->click(&env, r, m.x, m.y))
		go_in(f);
	arena_free(&a);
}

static void copy(struct front *f)
{
	const struct pane *p = focused(f);
	struct str key = p->inside ? sb_str(&p->row) : sb_str(&p->st.selected);
	if (!p->t || !key.n) {
		note(f, "no row with a key is selected");
		return;
	}
	term_copy(&f->term, key);
	note(f, "copied, if the terminal allows it");
}

static void open_page(struct front *f)
{
	struct err *e = NULL;
	int fd, pid;
	sb_clear(&f->note);
	if (!f->page) {
		sb_clear(&f->address);
		e = term_page(&f->term, &fd, &pid, &f->address);
	}
	if (!e && !f->page)
		f->page = f->spec.take_page(fd, pid);
	if (e)
		sb_z(&f->note, e->msg);
	else if (f->page->fd < 0)
		sb_z(&f->note, "the web server has ended");
	else
		sb_add(&f->note, sb_str(&f->address));
	err_free(e);
}

static void edit(struct front *f)
{
	struct err *e = f->ended ? err_new("the run has ended") : term_edit(&f->term);
	if (e)
		note(f, e->msg);
	else
		f->away = true;
	f->wrong.n = 0;
	err_free(e);
}

static void take_other(struct front *f, int key)
{
	switch (key) {
	case 'q':
	case 3: f->quit = true; break; /* Ctrl-C */
	case KEY_TAB: focus(f, (f->focus + 1) % f->npane); break;
	case KEY_BACK_TAB: focus(f, (f->focus + f->npane - 1) % f->npane); break;
	case '1' ... '9': focus(f, (u32)key - '1'); break;
	case 'z': f->whole = !f->whole; break;
	case '<': sort_by(f, -1); break;
	case '>': sort_by(f, 1); break;
	case 'r': focused(f)->st.reverse = !focused(f)->st.reverse; break;
	case '/': ask(f, PROMPT_FILTER); break;
	case KEY_ENTER: go_in(f); break;
	case KEY_BACKSPACE:
	case KEY_ESC: go_out(f); break;
	case 'v': next_view(f); break;
	case 's': ask(f, PROMPT_SAVE); break;
	case 'y': copy(f); break;
	case 'e': edit(f); break;
	case 'w': open_page(f); break;
	case 'L': f->overlay = OVERLAY_LOSSES; break;
	case '?': f->overlay = OVERLAY_HELP; break;
	case 12: f->term.stale = true; break; /* Ctrl-L */
	default:
		if (view_by_key(key))
			select_view(f, view_by_key(key));
		break;
	}
}

void keys_take(struct front *f, int key)
{
	if (key == KEY_UNKNOWN) /* also of a mouse that is released */
		return;
	f->dirty = true;
	sb_clear(&f->note);
	if (key == KEY_GONE) {
		f->gone = true;
	} else if (f->prompt != PROMPT_NONE && key != 3) {
		type(f, key);
	} else if (f->overlay != OVERLAY_NONE && key != 3) {
		f->overlay = OVERLAY_NONE;
	} else if (key & KEY_MOUSE) {
		take_mouse(f, mouse_of(key));
	} else {
		take_move(f, key);
		keys_take_time(f, key);
		take_other(f, key);
	}
}
