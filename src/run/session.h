/*
 * session.h - unit -> items: load, attach, loop, print, detach.
 */
#pragma once
#include "core/agg.h"
#include "core/builtin.h"
#include "core/sink.h"
#include "core/unit.h"
#include "kern/bpf.h"
#include "kern/follow.h"
#include "kern/mmaps.h"
#include "kern/proc.h"
#include "sym/sym.h"

struct cleared;
struct unwinder;
struct session {
	struct cleared *cleared; /* by map index; NULL: clear() was not used */
	u32 ncleared;
	u64 event_ts; /* of the record being handled; 0: it carries none */
	struct unit *u;
	struct host *h;
	struct syms *syms;
	const struct sink *sink;
	void *self;      /* the sink's state */
	struct arena ev; /* emptied after each event */
	struct link *links;
	struct ring *ring;
	struct child child; /* of -c; pid 0: none */
	int *target_fd;     /* pidfds of the child or the processes of -p; -1: has ended */
	u32 ntarget, nalive;
	struct follow *follow; /* NULL: no --follow */
	int sig_fd, epoll_fd;
	bool stop, begin_only;
	int exit_code;
	u32 verbose;
	bool dry_run, quiet;
	u64 start_ns;
	u64 boot_offset_ns;
	i64 ahead_ns[3]; /* by enum stamp_mode: of the monotonic clock */
	u32 ring_bytes;
	struct value *vals;       /* of the record being handled: room for the longest */
	struct pattern *patterns; /* by schema; taken apart when first used */
	struct arena fmts;
	struct sb text;
	u64 *warned;  /* run-time warnings so far, per schema */
	bool escape;  /* control bytes of traced strings become \xNN: the output is a terminal */
	bool discard; /* exit() was called: records that follow are dropped */
	bool hold, exit_held; /* keep records for later; one of them was exit() */
	bool mute;            /* nothing is printed */
	u32 nerror;           /* calls of errorf */
	bool failed;          /* the output cannot be written */
	bool interrupted;     /* SIGINT or SIGTERM came */
	bool ending;          /* the end programs run */
	bool notes;           /* user addresses are shown: remember who maps what */
	struct mmaps *mmaps;  /* tells of it; NULL: /proc is read now and then */
	u64 notes_lost, noted_ns;
	struct unwinder *unwinder; /* of dw_ustack; NULL: not used */
	struct sb held, aligned;
	u64 corrupt;          /* records that fit no schema */
	u64 lost_shown;       /* of the events lost, reported while running */
	u64 ticked_ns;        /* last look at the counters */
	u64 scoped_ns;        /* last look at the processes */
	u64 *stats;           /* copy of the MAP_STATS value */
	u64 *missed;          /* per program: hits that the kernel counted but could not show;
				 UINT64_MAX: it does not tell */
	const char *replaced; /* a file that was replaced while it was probed; NULL: none */
	u32 npoint;           /* attached */
	bool told;            /* the compiler's warnings are out */
	bool unready;         /* what had to wait for the child's program could not be attached */
	bool again; /* a chosen provider (PF_CHOSEN) cannot be attached: nothing was printed */
};

struct session_opts {
	const char *cmd; /* -c */
	const int *pid;  /* -p */
	u32 npid;
	u32 verbose;
	bool dry_run, quiet;
};
/* Fork the -c child (stopped) or open the -p processes; before compiling, so that they are known.
 */
struct err *session_target(struct session *s, const struct session_opts *o);
/* Maps and programs. Verifier refusals become diagnostics of the unit at a line of the script;
 * false: *e or diags say why. */
bool session_load(struct session *s, struct unit *u, struct err **e);
/* Attach, run BEGIN, loop until stopped, run END, print maps, report losses, detach. Result: exit
 * code. */
int session_run(struct session *s, struct unit *u, const struct sink *sink, void *self);
void session_free(struct session *s);
/* After session_run() set .again: as before session_load(). The target lives on. */
void session_reset(struct session *s);

/* ---- for act() of builtins ---- */
/* The schema's format with the values of a record; stays until the next call. */
struct str session_printf(struct session *s, const struct schema *sc, const struct value *v, u32 n);
void session_put(struct session *s, const struct item *it);
void session_text(struct session *s, const char *kind, struct str text); /* I_TEXT */
void session_error(struct session *s, bool warn, const char *kind, struct loc loc, struct str text);
void session_exit(struct session *s, int code);
void session_print_map(struct session *s, const struct map *m, u32 top, u64 div, bool at_exit);
void session_print_maps(struct session *s); /* all of the script, as at the end */
/* Of a map of histograms; list as in percentile_next(). */
void session_print_percentiles(struct session *s, const struct map *m, struct str list);
void session_clear_map(struct session *s, const struct map *m);
void session_zero_map(struct session *s, const struct map *m);

/* decode.c: one value of type t at p (checked to be t->size bytes). Memory from a. */
void decode_value(struct session *s, struct arena *a, const struct type *t, const u8 *p,
		  struct value *ret);
/* Wall-clock text of a timestamp; %f %k %l as in the reference. */
void session_strftime(struct session *s, struct sb *out, const char *fmt, u64 nsecs);
