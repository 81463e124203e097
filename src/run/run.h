/* run.h - what the files of run/ share. */
#pragma once
#include "base/tab.h"
#include "run/session.h"

enum { RECORD_BATCH = 4096, TICK_MS = 40, SECOND_NS = 1000000000, WARN_SHOWN = 5 };

u64 run_now(void); /* CLOCK_MONOTONIC, ns */
void clocks_read(struct session *s);

/* load.c */
void load_undo(struct session *s, struct unit *u);    /* close programs, maps and the ring */
struct err *load_inner(const struct map *m, int *fd); /* for a map of maps: one to put in */

/* decode.c: records from the ring. */
void record_take(void *session, const void *data, size_t n);
void record_replay(struct session *s); /* what was held */

/* base.c: what clear() takes off later readings. */
struct reading {
	u8 *keys;
	u64 *words;
	u32 n, key_size, nwords;
};
struct base {
	u8 *keys;
	u64 *words;
	u32 n, key_size, nwords;
	struct tab index; /* key -> number + 1 */
	u64 ts;           /* of the event that asked for it; 0: none did */
	bool valid;
};
struct cleared {
	struct base base, last; /* what is taken off; the last reading as it was */
};
typedef void base_gone(struct session *s, const struct map *m, const u8 *key);
bool base_wanted(const struct map *m);
void base_note(struct session *s, const struct map *m, const struct reading *r);
void base_subtract(struct session *s, const struct map *m, struct reading *r);
bool base_is_fresh(struct session *s,
		   const struct map *m); /* read by the same run of the same probe */
void base_clear(struct session *s, const struct map *m, base_gone *gone);
void base_forget(struct session *s, const struct map *m);
void base_free(struct session *s);

void record_again(struct session *s); /* the same, and keep it */
void record_forget(struct session *s);

/* phase.c: programs that we run ourselves. */
bool phase_run(struct session *s,
	       enum prog_phase phase); /* once per point, in script order; false:
					  one could not be run, and that is told */
bool phase_any(const struct session *s, enum prog_phase phase);
void phase_iterate(struct session *s);
bool phase_pin(struct session *s); /* false: it failed, and the message is out */
void phase_test(struct session *s);
void phase_bench(struct session *s);

/* scope.c: which processes are traced. */
struct err *scope_open(struct session *s);  /* before anything is attached */
bool scope_take(struct session *s, int fd); /* true: that was the pidfd of one that has ended */
void scope_tick(struct session *s);         /* tells of processes that lost their events */
bool scope_over(struct session *s);         /* nothing that is traced is left */
void scope_close(struct session *s);

/* loop.c */
struct err *loop_open(struct session *s);
void loop_run(struct session *s);   /* until s->stop */
void loop_drain(struct session *s); /* all that is in the ring */
bool loop_interrupted(struct session *s);
void loop_close(struct session *s);

/* notes.c: what processes map, for names of user addresses. */
void notes_open(struct session *s);
void notes_drain(struct session *s); /* before an address is looked up */
void notes_tick(struct session *s);
void notes_close(struct session *s);

/* unwind.c: tables for dw_ustack. */
void unwind_open(struct session *s);
void unwind_tick(struct session *s);
void unwind_child(void *session); /* the child of -c is getting to where its own code begins */
void unwind_report(struct session *s);
void unwind_close(struct session *s);

/* loss.c */
void loss_put(struct session *s, const char *kind, struct str who, u64 n, struct str text);
void loss_tick(struct session *s);   /* events lost since the last time, at most once per second */
void loss_links(struct session *s);  /* before they are undone: what they missed */
void loss_report(struct session *s); /* at the end: everything that is not as it should be */
