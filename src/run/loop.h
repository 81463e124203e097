/*
 * loop.h - wait for records, signals and the end of processes, until something stops the run.
 *
 * Waiting is one epoll. Programs may store records without waking the loop, so it looks at the ring
 * every TICK_MS.
 */
#pragma once
#include "base/signals.h"

struct session;
struct watcher;

enum {
	RECORD_BATCH = 4096, /* records between two looks at signals */
	TICK_MS = 40,
};

struct run_loop {
	int epoll_fd; /* -1 if it is not open */
	struct signals signals;
	u64 attached_ns;         /* wall clock: when all was attached */
	u64 end_ns;              /* when limits.for_ns is over; 0 if there is no limit */
	int timer_fd;            /* of loop_fd(); 0 if nobody asked */
	struct watcher *watcher; /* set before session_start(); NULL if nobody looks */
	bool begun;              /* what runs before the first wait has run */
};

struct err *loop_open(struct session *s) MUST_USE;
/* Until limits.at_ns, or a signal to end. */
void loop_await_start(struct session *s);
void loop_run(struct session *s);               /* until s->control.stop */
void loop_once(struct session *s, int most_ms); /* wait once, for most_ms at most */
/* The epoll descriptor, for a caller that has a loop of its own: it becomes readable at least every
 * TICK_MS, and loop_once() is to be called then. */
struct err *loop_fd(struct session *s, int *ret) MUST_USE;
void loop_drain(struct session *s);       /* handle all records that the ring holds */
bool loop_interrupted(struct session *s); /* a signal to end came; also runs probes of SIGUSR1 */
void loop_close(struct session *s);
