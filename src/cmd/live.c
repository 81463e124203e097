/*
 * live.c - sonde live SCRIPT: a script, or a tool, on a screen while it runs, or while recordings are read.
 *
 * Its words become those of `sonde run`, as those of query do. Without a usable terminal it is that.
 * What the plain run writes goes into a file in memory, of which the screen shows the lines, and which
 * is printed when the terminal is as it was.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/units.h"
#include "cmd/livepage.h"
#include "cmd/tool.h"
#include "cmd/webchild.h"
#include "live/front.h"
#include "live/term.h"
#include "live/view.h"
#include "proc/paths.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

/* ---- options ---- */

enum { LEAST_MS = 200, MOST_S = 60 };

struct err *live_every(struct live_spec *l, const char *val)
{
	if (units_time(str_z(val), &l->every_ns) && l->every_ns >= LEAST_MS * MILLI_NS &&
	    l->every_ns <= MOST_S * (u64)SECOND_NS)
		return NULL;
	return err_new("--every needs a time from 200ms to 60s (got '%s')", val);
}

struct err *live_takeover(struct live_spec *l, const char *val)
{
	u64 fd;
	if (!str_u64(str_z(val), &fd) || fd <= STDERR_FILENO || fd > INT32_MAX ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC))
		return err_new("--takeover is an option that only sonde itself uses");
	l->takeover = (int)fd;
	return NULL;
}

struct err *live_history(struct live_spec *l, const char *val)
{
	if (units_time(str_z(val), &l->history_ns) && l->history_ns)
		return NULL;
	return err_new("--history needs a time with its unit, as in 10m (got '%s')", val);
}

/* "64M" */
struct err *live_memory(struct live_spec *l, const char *val)
{
	struct str s = str_z(val);
	u64 n, scale = 1ull << 20;
	bool unit = s.n && (s.s[s.n - 1] == 'M' || s.s[s.n - 1] == 'G');
	if (unit)
		scale = s.s[s.n - 1] == 'G' ? 1ull << 30 : scale;
	if (!unit || !str_number(str_n(s.s, s.n - 1), &n) || !n || n > 1024)
		return err_new("--memory needs a size from 1M on, as in 64M or 1G (got '%s')", val);
	l->memory = n * scale;
	return NULL;
}

struct err *live_set_view(struct live_spec *l, const char *val)
{
	AUTO_SB b = {0};
	l->view = val;
	if (view_named(str_z(val)))
		return NULL;
	for (u32 i = 0; views[i]; i++)
		sb_fmt(&b, "%s%s", i ? ", " : "", views[i]->name);
	return err_new("--view: no view is named '%s'; there are %s", val, b.s);
}

const char live_events[] = "*:* { @events[probe] = count(); @programs[comm] = count(); }";

/* Another script has the screen. */
static bool is_later(const struct run_opts *o)
{
	return o->live.chain && o->live.chain->outer;
}

/* One page shows all scripts. */
static bool has_page(const struct run_opts *o)
{
	struct live_chain *c = o->live.chain;
	if (!c)
		return o->live.web;
	if (!c->outer)
		c->page = o->live.web;
	while (c->outer)
		c = c->outer;
	return c->page;
}

/* What only a script that the user names can have. */
static struct err *top_refuses(const struct run_opts *o)
{
	const char *word = o->nrest ? o->rest[0] : NULL;
	if (word)
		return err_new("what is '%s'? 'top' takes only options; sonde live shows other "
			       "scripts",
			       word);
	if (o->program)
		return err_new("-e means nothing to 'top'; sonde live shows other scripts");
	return NULL;
}

struct err *live_board(struct run_opts *o)
{
	struct err *e = o->live.board ? top_refuses(o) : NULL;
	if (e || !o->live.board_file)
		return e;
	if (!o->live.board)
		return err_new("--board is an option of 'top'; sonde live FILE shows it, too");
	free(o->rest);
	o->rest = xcalloc(2, sizeof(*o->rest));
	o->rest[0] = (char *)o->live.board_file;
	o->nrest = 1;
	o->tool = NULL;
	return NULL;
}

struct err *live_refuses(const struct run_opts *o)
{
	const char *what = o->output.path                       ? "a file for the results"
			   : o->output.format || o->output.diff ? "another format"
			   : o->aot                             ? "--aot"
			   : o->dry_run                         ? "--dry-run"
								: NULL;
	if ((o->from || o->to) && !o->nrecording)
		return err_new("--from and --to need a recording: sonde live FILE.sonde");
	if (o->live.web && !has_page(o))
		return err_new("--web belongs to the first script: its page shows all");
	return what ? err_new("%s means nothing to 'live', which shows results on the terminal",
			      what)
		    : NULL;
}

/* ---- the screen of a run ---- */

void live_take_over(const struct live_spec *l)
{
	char c = 1;
	(void)!write(l->takeover, &c, 1);
	close(l->takeover);
}

struct err *live_prepare(struct live_screen *s, const struct run_opts *o)
{
	s->text_fd = memfd_create("sonde-live", MFD_CLOEXEC);
	if (s->text_fd < 0)
		return err_sys(errno, "memfd_create");
	return o->live.web && !is_later(o) ? livepage_open(o->live.addr, &s->page) : NULL;
}

void live_release(struct live_screen *s)
{
	close_fd(&s->text_fd);
	livepage_close(s->page);
	s->page = NULL;
}

bool live_shows(const struct run_opts *o)
{
	return o->live.on && (has_page(o) || term_usable(STDOUT_FILENO));
}

/* The command's streams are not the terminal: it would write into the screen, and take keys. What it prints is a
 * part of the results, so with a page it is never printed before them. */
void live_redirect(struct live_screen *s, const struct run_opts *o, bool on)
{
	static const int streams[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
	for (u32 i = 0; i < countof(streams); i++) {
		int fd = streams[i];
		if (on && (isatty(fd) || (has_page(o) && fd == STDOUT_FILENO))) {
			int null = fd ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
			s->saved[i] = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
			dup2(fd ? s->text_fd : null, fd);
			close_fd(&null);
		} else if (on) {
			s->saved[i] = -1;
		} else if (s->saved[i] >= 0) {
			dup2(s->saved[i], fd);
			close_fd(&s->saved[i]);
		}
	}
}

/* Of a recording, whatever the memory has room for. */
static u64 history_of(const struct live_spec *l, bool recorded)
{
	if (l->history_ns || recorded)
		return l->history_ns ? l->history_ns : UINT64_MAX;
	return 600 * (u64)SECOND_NS;
}

/* A script of a file, also with options of its own, or of -e; not a tool. */
static const struct term_again *again_of(struct arena *a, const struct run_opts *o)
{
	struct live_chain *c = o->live.chain;
	struct term_again *r = arena_new(a, struct term_again);
	if (!c || c->outer || c->nwords > 1 || o->nrecording)
		return NULL;
	c->exe = c->exe < 0 ? proc_open_self() : c->exe;
	r->exe = c->exe;
	r->argv = c->again;
	if (o->tool)
		r->file = o->tool->fixed ? NULL : arena_strz(a, o->tool->source.name);
	else if (o->program)
		for (int i = 1; r->argv[i]; i++)
			r->program = r->argv[i] == o->program ? i : r->program;
	else if (strcmp(o->rest[0], "-") != 0)
		r->file = o->rest[0];
	return r->exe >= 0 && (r->file || r->program) ? r : NULL;
}

struct err *live_open(struct live_screen *s, const struct run_opts *o, struct arena *a,
		      struct front_spec *spec)
{
	const struct live_spec *l = &o->live;
	spec->terminal = STDOUT_FILENO;
	if (s->page) {
		spec->page = livepage_front(s->page);
		livepage_announce(s->page);
	} else {
		spec->again = again_of(a, o);
		spec->serve = webchild_able() ? livepage_serve : NULL;
		spec->take_page = livepage_take;
	}
	spec->ascii = l->ascii || !term_is_utf8();
	spec->every_ns = l->every_ns ? l->every_ns : SECOND_NS;
	spec->limits.history_ns = history_of(l, o->nrecording);
	spec->limits.memory = l->memory ? l->memory : 64u << 20;
	spec->view = str_z(l->view);
	struct err *e = front_open(spec, &s->front);
	if (!e)
		s->part = front_first(s->front);
	return e;
}

static void print_text(const struct live_screen *s, struct signals *signals, int fd, u64 from)
{
	char buf[16384];
	ssize_t n;
	size_t done;
	while ((n = pread(s->text_fd, buf, sizeof(buf), (off_t)from)) > 0) {
		if (signals_write(signals, fd, buf, (size_t)n, &done))
			return;
		from += (u64)n;
	}
}

void live_forget(struct live_screen *s)
{
	if (s->text_fd >= 0 && !ftruncate(s->text_fd, 0))
		lseek(s->text_fd, 0, SEEK_SET);
}

void live_leave(struct live_screen *s)
{
	if (s->part)
		s->from = part_text_from(s->part);
	s->part = NULL;
	if (!s->front)
		return;
	if (!front_close(s->front))
		fputs("WARNING: the child of sonde that restores the terminal was killed; the "
		      "command reset restores it\n",
		      stderr);
	s->front = NULL;
}

void live_print(struct live_screen *s, struct signals *signals, int fd)
{
	if (s->from)
		fprintf(stderr, "WARNING: %llu bytes of earlier output were not kept\n", s->from);
	print_text(s, signals, fd, s->from);
	/* The next attempt to attach begins anew. */
	if (!ftruncate(s->text_fd, 0))
		lseek(s->text_fd, 0, SEEK_SET);
	s->from = 0;
}

/* ---- the command ---- */

/* `+` stands between scripts; what is before the first one's name is for all. */
static u32 split_words(struct arena *a, int argc, char **argv, int head, struct live_words *ret)
{
	u32 n = 0;
	for (int i = head; i <= argc; i++) {
		struct live_words *w = &ret[n];
		if (i == head || !strcmp(argv[i - 1], "+")) {
			w->argv = arena_newn(a, char *, (size_t)argc + 1);
			memcpy(w->argv, argv, (size_t)head * sizeof(*argv));
			w->argc = head;
		}
		if (i < argc && strcmp(argv[i], "+") != 0)
			w->argv[w->argc++] = argv[i];
		else
			n++;
	}
	return n;
}

int live_next(struct live_chain *c)
{
	int argc = c->words->argc, at = opts_first_operand(argc, c->words->argv);
	return at < argc ? run_operand(at, argc, c->words->argv, c)
			 : cmd_run_in(NULL, argc, c->words->argv, c);
}

int cmd_live(int argc, char **argv, bool compat)
{
	struct arena a = {0};
	char **given = arena_newn(&a, char *, (size_t)argc + 2);
	char **word = arena_newn(&a, char *, (size_t)argc + 2);
	char on[] = "--live";
	int plus = 1;
	(void)compat;
	while (plus < argc && strcmp(argv[plus], "+") != 0)
		plus++;
	given[0] = argv[0];
	given[1] = on;
	memcpy(given + 2, argv + 1, (size_t)(argc - 1) * sizeof(*word));
	int found = take_recordings(&a, ++argc, given, word);
	struct live_words *words = arena_newn(&a, struct live_words, (size_t)argc + 1);
	struct live_chain c = {.words = words, .nwords = 1, .exe = -1};
	char **again = arena_newn(&a, char *, (size_t)argc + 2);
	char sonde[] = "sonde";
	again[0] = sonde; /* argc is one more than it was */
	memcpy(again + 1, argv, (size_t)(argc - 1) * sizeof(*again));
	c.again = again;
	*words = (struct live_words){argc, word};
	if (plus + 1 < argc) { /* with -e, all options are the first script's */
		int first = opts_first_operand(plus + 1, word);
		c.nwords = split_words(&a, argc, word, first < plus + 1 ? first : 2, words);
	}
	int rc = RC_USAGE;
	if (c.nwords > LIVE_TEXTS)
		rc = usage_error(false, "live shows at most %d scripts at once", LIVE_TEXTS);
	else if (c.nwords > 1 && found)
		rc = usage_error(false, "one script at a time over a recording (got '+')");
	else
		rc = live_next(&c);
	close_fd(&c.exe);
	arena_free(&a);
	return rc;
}
