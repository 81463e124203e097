/*
 * front.h - the screen of a run, or of several at once: it watches the runs (core/watch.h), stands before
 * their plain outputs as a sink, and draws panes, on a terminal or for a page.
 *
 *	front_open(&spec, &f);
 *	front_join(f, &script) for each further script: a part
 *	part_watcher(p) goes to the run, &front_sink and p are its output
 *	front_wait(f, &signals) after the run, so that its last state stays until a key is pressed
 *	front_close(f): the terminal is as it was
 *
 * The run of the first part makes the readings; the others are read when it is.
 */
#pragma once
#include "base/signals.h"
#include "live/model.h"

struct front;
struct front_part;
struct unit;

/* A script that runs. */
struct front_script {
	struct str name; /* shown in front of its panes where there are several */
	int text_fd;     /* a file that the plain output is written to: its lines are shown */
	bool apart;      /* messages of the plain run do not go to the text */
	const struct sink *plain; /* gets every item, too; the caller closes it */
	void *self;
	const struct unit *unit; /* stays as long as the front */
	/* Of parts behind the first: read all maps for w; the time of its programs, or false. */
	void *arg;
	void (*read)(void *arg, struct watcher *w);
	bool (*programs_ns)(void *arg, u64 *ret);
};
struct term_again;
/* Where states of the run go if there is no terminal. */
struct front_page {
	void *self;
	/* Somebody looks, and the last state has gone out. */
	bool (*ready)(void *self);
	/* A line of JSON about the run, then one for each pane. It never waits. */
	void (*put)(void *self, struct str state);
	/* The next question of a page, as ASKS lines, into an empty text; false if there is none. */
	bool (*asked)(void *self, struct sb *question);
	/* What comes of it. good: it is what was asked for, else why not. */
	void (*answer)(void *self, bool good, struct str text);
	u64 (*own_ns)(void *self); /* processor time of who serves the page */
	void (*close)(void *self); /* of front_spec.take_page() */
	int fd;                    /* readable when there may be a question; -1: it never is */
};
/*
 * The lines of a question; each may be empty. What it says comes from outside, so that it may be anything.
 *
 *	state	all panes, at the reading AT (by its number; empty: as pages see it now)
 *	pane	one line of a state: PANE with VIEW, of ROW alone
 *	part	what came between the readings X and AT in PANE, with values from Y on: "LEAST MOST", least values of buckets
 *	ctl	X is done: pause, mark, diff, base, start, or every, with Y milliseconds
 *	save	a file named X, of PANE (empty: the first one, for what is not of a pane) with VIEW and ROW, at the reading AT
 *	see	PANE is a list of the panes that somebody looks at, with commas; or "*"
 */
enum ask_line { ASK_WHAT, ASK_AT, ASK_PANE, ASK_VIEW, ASK_ROW, ASK_X, ASK_Y, ASKS };
struct sb;
struct front_spec {
	/* A page beside the terminal, when a key asks for it: started in a child (term_serve), then taken here, as the
	 * socket to the server and its pid. NULL: there is none. */
	int (*serve)(struct sb *text, int *pid);
	const struct front_page *(*take_page)(int fd, int pid);
	int terminal;                   /* a descriptor of the terminal */
	const struct front_page *page;  /* instead of the terminal; NULL: there is none */
	const struct term_again *again; /* how the script is edited; NULL: it cannot be */
	struct front_script script;
	struct str title;    /* what runs */
	bool maps_are_shown; /* at exit: else the text is the first pane */
	bool ascii;
	bool board; /* sonde top: the title is the command */
	bool later; /* the terminal is opened by front_start() */
	u64 every_ns;
	struct live_limits limits;
	struct str view; /* name of the view that panes begin with, where it fits; "" */
};
struct err *front_open(const struct front_spec *spec, struct front **ret) MUST_USE;
struct err *front_start(struct front *f) MUST_USE;
struct front_part *front_first(struct front *f);
/* NULL: there are LIVE_TEXTS. */
struct front_part *front_join(struct front *f, const struct front_script *s);
struct watcher *part_watcher(struct front_part *p);
extern const struct sink front_sink; /* its state is a struct front_part; closes nothing */
/* False: the user has ended it already, or the terminal is gone. */
bool front_wait(struct front *f, struct signals *s);
bool front_over(const struct front *f); /* the same, at once */
/* Another sonde has the terminal, with the script that the user has edited: what is left is to detach, then to
 * wait for its end, whose exit status is ours. Nothing is to be printed. A signal ends both. */
bool front_replaced(const struct front *f);
int front_replaced_status(struct front *f, struct signals *s);
u64 part_text_from(
	const struct front_part *p); /* bytes at the beginning of the text that were dropped */
bool front_close(struct front *f);   /* false: the terminal is not as it was: term_close() */
