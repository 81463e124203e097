/*
 * session.h - unit -> items: load, attach, loop, print, detach.
 */
#pragma once
#include "base/signals.h"
#include "core/builtin.h"
#include "core/cost.h"
#include "core/sink.h"
#include "core/unit.h"
#include "kern/bpf.h"
#include "proc/proc.h"
#include "report/reader.h"
#include "run/feed.h"
#include "run/live.h"
#include "run/part.h"

/* The processes that a run is about; they outlive a session that has to be tried again. */
struct target {
	struct child child; /* of -c; pid 0: none */
	int *fd;            /* pidfds of the child or the processes of -p; -1: has ended */
	u32 n, nalive;
	int exit_code; /* of the child that has ended by itself; 128 + n: by signal n; else 0 */
};
#define TARGET_NONE ((struct target){.child = CHILD_NONE})

/* Where results and remarks go. */
struct report {
	const struct sink *sink;
	void *self;                /* the sink's state */
	bool mute;                 /* nothing is printed */
	bool failed;               /* the output cannot be written */
	u32 nerror;                /* calls of errorf */
	u64 nevent;                /* rows of emit() */
	struct show show, remarks; /* how texts for it are made */
};

enum attached {
	ATTACHED,
	ATTACH_FAILED,    /* and the message is out */
	ATTACH_OTHERWISE, /* see session_run() */
};

/* How loading and attaching went. */
struct attaching {
	struct attach *of; /* by program */
	/* The first that the kernel did not load, or not attach in its way; NULL: none. */
	const struct prog *refused;
	enum attached late; /* when the child had got to its own code */
	bool lacks;         /* it failed because the kernel or the machine has no such thing */
};

/* Of a table: reports so far, when the latest was, and how long if the end cut it short. */
struct reported {
	u64 n, ts, part_ns;
	bool over; /* what the end adds is left out: the run ended with the report before */
};

/* What is known of the stream of records. */
struct records {
	bool discard;         /* exit() was called: records that follow are dropped */
	bool hold, exit_held; /* keep records for later; one of them was exit() */
	struct sb held, aligned;
	u64 event_ts;             /* of the record being handled; 0: it carries none */
	u64 corrupt;              /* records that fit no schema */
	u64 *warned;              /* run-time warnings so far, per schema */
	struct reported *reports; /* per table */
	bool told_part;           /* that the last one is shorter was said */
};

enum run_stage {
	STAGE_EVENTS,
	STAGE_ITERATE, /* iterators are read */
	STAGE_FINISH,  /* nothing is attached any more; the end programs run */
};

/* What the loop waits for, and until when. */
struct run_loop {
	int epoll_fd;
	struct signals signals;
	u64 end_ns; /* limits.for_ns is over; 0: there is no limit */
	bool stop;
};

struct session {
	struct unit *u;
	struct host *h;
	struct target *target;
	u32 verbose;
	bool dry_run;
	struct limits limits;
	struct run_start start; /* without its sources */

	struct live live;
	struct attaching attach;
	const struct feed *feed; /* of records and maps */
	struct syms *syms;
	struct reader reader;
	struct records records;
	struct report report;
	void *part[PARTS]; /* state of the services */

	struct run_loop loop;
	enum run_stage stage;
	u64 start_ns;
	int exit_code;
};

/* Fork the -c child (stopped) or open the -p processes; before compiling, so that they are known.
 */
struct login; /* proc/proc.h */
struct err *target_open(struct target *t, const char *cmd, const struct login *as, const int *pid,
			u32 npid);
void target_close(struct target *t);

/*
 * Maps and programs of s->u. Verifier refusals become diagnostics in ds, at a line of the
 * script; false: *e or ds says why, and s->attach.refused which it was.
 */
bool session_load(struct session *s, struct diags *ds, struct err **e);
/*
 * Attach, run BEGIN, loop until stopped, run END, print maps, report losses, detach. Result: exit
 * code. *otherwise: s->attach.refused cannot be attached in its way, nothing was printed, and another
 * session should try the next.
 */
int session_run(struct session *s, const struct sink *sink, void *self, bool *otherwise);
void session_free(struct session *s); /* of whatever was done; not s->h and s->target */

/* ---- for act() of builtins ---- */
void session_put(struct session *s, const struct item *it);
void session_text(struct session *s, const char *kind, struct str text); /* I_TEXT */
void session_line(struct session *s, const char *kind, struct str text); /* I_TEXT, a line */
/* What the script itself says: errorf() and its like, or warn, warnf(). */
void session_said(struct session *s, bool warn, struct loc loc, struct str text);
/* lossf(): n of something are not in the results. */
void session_lost(struct session *s, u64 n, struct str text);
void session_error(struct session *s, bool warn, const char *kind, struct loc loc, struct str text);
void session_exit(struct session *s, int code);
/* The signals that an action may not outlast; NULL: the script wants it although one has come. */
struct signals *session_signals(struct session *s);
void session_unrun(struct session *s); /* an action that a signal came before; for the report */
void session_print_map(struct session *s, const struct map *m, u32 top, u64 div, bool at_exit);
void session_print_maps(struct session *s); /* all of the script, as at the end */
/* Of a map of histograms; list as in percentile_next(). */
void session_print_percentiles(struct session *s, const struct map *m, struct str list);
void session_clear_map(struct session *s, const struct map *m);
void session_zero_map(struct session *s, const struct map *m);
