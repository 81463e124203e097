/* run.h - what the files of run/ share. */
#pragma once
#include "base/clock.h"
#include "base/tab.h"
#include "report/packed.h"
#include "run/session.h"

enum { RECORD_BATCH = 4096, TICK_MS = 40, WARN_SHOWN = 5 };

static inline int map_fd(const struct session *s, const struct map *m)
{
	return live_map(&s->live, m);
}
static inline bool map_made(const struct session *s, const struct map *m)
{
	return map_fd(s, m->in ? m->in : m) >= 0;
}
static inline void *map_mem(const struct session *s, const struct map *m)
{
	return live_mem(&s->live, m);
}
static inline int prog_fd(const struct session *s, const struct prog *p)
{
	return live_prog(&s->live, p);
}

/* report.c, and what session.h has for act() */
void report_flush(struct session *s);
void report_err(struct session *s, bool warn, struct loc loc, struct err *e); /* frees e */
void prog_put_points(struct sb *out, const struct prog *p); /* as the script names it */
void loss_put(struct session *s, enum loss kind, struct str who, u64 n, struct str text);
/* What cannot be told because asking the kernel failed: it is not 0. Frees e; NULL is fine. */
void loss_uncounted(struct session *s, const char *what, struct err *e);

/* attach.c */
enum attached attach_all(struct session *s);  /* but for points that wait for the child */
enum attached attach_late(struct session *s); /* these: their addresses are known now */
bool attach_waits(const struct unit *u);      /* there are some */
u32 attach_count(const struct session *s);    /* points, for "Attached N probes" */
void attach_stop(struct session *s);          /* no event comes after this */
void attach_undo(struct session *s);

/* target.c */
bool target_take(struct session *s, int fd); /* true: that was the pidfd of one that has ended */
void target_end(struct target *t);           /* what -c started does not outlive us */

/* confine.c */
#define USER_ADDRESSES (1ull << T_USTACK | 1ull << T_USYM)
bool maps_hold(const struct unit *u, u64 kinds); /* bits of enum type_kind, also in tuples */
bool records_hold(const struct unit *u, u64 kinds);
/* All is attached: give up what the script does not need. */
struct err *confine_run(struct session *s) MUST_USE;
/* Before that: the process that reads files of traced programs (kern/sandbox.h); 0: there is none. */
int confine_reader(struct session *s);

/* load.c */
void load_undo(struct session *s);                    /* close programs, maps and the ring */
struct err *load_inner(const struct map *m, int *fd); /* for a map of maps: one to put in */

extern const struct names names_here;

/* record.c */
void records_init(struct records *r, const struct unit *u);
void records_free(struct records *r);
void record_take(void *session, const void *data, size_t n);
void record_replay(struct session *s); /* what was held */
void record_again(struct session *s);  /* the same, and keep it */
void record_forget(struct session *s);

/* snap.c: one reading of a map. */
struct snap {
	const struct map *m;
	const struct agg *agg;  /* NULL: plain values */
	u8 *keys, *vals;        /* heap */
	struct packed packed;   /* instead of .keys: what hashed keys stand for */
	u64 *merged;            /* heap; with agg: its words of each element */
	u32 n;                  /* elements */
	u32 key_size, val_size; /* of one in keys; in merged, or in vals */
	bool present;           /* scalar: something was stored */
	struct str percentiles; /* show these instead of the histogram; "" none */
};
struct err *snap_take(struct session *s, const struct map *m, struct snap *n);
void snap_free(struct snap *n);
/* Rows of which identity() says the same become one. It is called once for each row, in their order. */
void snap_join(struct snap *n, struct str (*identity)(void *arg, u32 i), void *arg);
/* Key i; buf has room for it, and may be where it is. NULL: a scalar. */
const u8 *snap_key(const struct snap *n, u32 i, u8 *buf);
/* For stores: n->vals has so many copies of each element, of size bytes; one of them into n->merged. */
void snap_merge(struct snap *n, u32 copies, u32 size);
void map_failed(struct session *s, const struct map *m, const char *what, struct err *e);

/* cleared.c: what clear() takes off later readings. */
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
	u32 epoch;
};
typedef void cleared_gone(struct session *s, const struct map *m, const u8 *key);
bool cleared_wanted(const struct map *m);
void cleared_note(struct session *s, const struct map *m, const struct reading *r);
void cleared_subtract(struct session *s, const struct map *m, struct reading *r);
bool cleared_is_fresh(struct session *s,
		      const struct map *m); /* read by the same run of the same probe */
void cleared_from_now(struct session *s, const struct map *m, cleared_gone *gone);
void cleared_forget(struct session *s, const struct map *m);
u32 *cleared_epoch(struct session *s, const struct map *m); /* cleared or zeroed so often */

/* phase.c: programs that we run ourselves. */
/* Once per point, in script order; false: one could not be run, and that is told. */
bool phase_run(struct session *s, enum prog_phase phase);
bool phase_any(const struct session *s, enum prog_phase phase);
void phase_iterate(struct session *s);
bool phase_pin(struct session *s); /* false: it failed, and the message is out */
void phase_test(struct session *s);
void phase_bench(struct session *s);

/* scope.c: which processes are traced. */
void scope_ended(struct session *s); /* the child has: what of it was not seen? */
bool scope_over(struct session *s);  /* nothing that is traced is left */

/* loop.c */
struct err *loop_open(struct session *s);
void loop_run(struct session *s);   /* until s->loop.stop */
void loop_drain(struct session *s); /* all that is in the ring */
bool loop_interrupted(struct session *s);
void loop_close(struct session *s);

/* notes.c: what processes map, for names of user addresses. */
void notes_drain(struct session *s);        /* before an address is looked up */
bool notes_of_all(const struct session *s); /* what all processes map was read at the start */

/* unwind.c: user stacks. */
bool unwind_on(const struct session *s);   /* dw_ustack is used */
bool unwind_busy(const struct session *s); /* the next tick has work, and should come at once */
void unwind_note(struct session *s, const struct map_note *n);
void unwind_expect(struct session *s, u32 pid); /* its stacks will be asked for */
/* The callers of a stack that a program did not finish: mark is its last frame (core/unwind.h).
 * NULL: they are not known, or there are none. */
const u64 *unwind_tail(struct session *s, u64 mark, u32 *n);
/* Callers take the place of marks in a key; true: there was one. */
bool unwind_finish_key(struct session *s, const struct type *t, u8 *key);
