/*
 * front.h - the screen of a run: it watches the run (core/watch.h), stands before the plain output as a sink,
 * and draws panes.
 *
 *	front_open(&spec, &f);
 *	front_watcher(f) goes to the run, &front_sink and f are its output
 *	front_wait(f, &signals) after the run, so that its last state stays until a key is pressed
 *	front_close(f): the terminal is as it was
 */
#pragma once
#include "base/signals.h"
#include "live/model.h"

struct front;
struct front_spec {
	int terminal; /* a descriptor of the terminal */
	int text_fd;  /* a file that the plain output is written to: its lines are shown */
	const struct sink *plain; /* gets every item, too; the caller closes it */
	void *self;
	struct str title;    /* what runs */
	bool maps_are_shown; /* at exit: else the text is the first pane */
	bool ascii;
	bool board; /* sonde top: the title is the command */
	u64 every_ns;
	struct live_limits limits;
	const struct unit *unit; /* what runs; stays as long as the front */
	struct str view;         /* name of the view that panes begin with, where it fits; "" */
};
struct err *front_open(const struct front_spec *spec, struct front **ret) MUST_USE;
struct watcher *front_watcher(struct front *f);
extern const struct sink front_sink; /* its state is a struct front; closes nothing */
/* False: the user has ended it already, or the terminal is gone. */
bool front_wait(struct front *f, struct signals *s);
u64 front_text_from(
	const struct front *f);    /* bytes at the beginning of the text that were dropped */
bool front_close(struct front *f); /* false: the terminal is not as it was: term_close() */
