/*
 * session.h - one run of a unit on this machine: load, attach, loop, print, detach.
 *
 * What makes items of records and maps is session.reporter, which does not know of the session.
 */
#pragma once
#include "base/log.h"
#include "core/cost.h"
#include "core/sink.h"
#include "core/unit.h"
#include "kern/bpf.h"
#include "report/report.h"
#include "run/attach.h"
#include "run/live.h"
#include "run/loop.h"
#include "run/service.h"
#include "run/target.h"

/* How loading and attaching went. */
struct attaching {
	struct attach *of; /* by program */
	/* The first that the kernel did not load, or not attach with its method. NULL if there is none. */
	const struct prog *refused;
	enum attached late; /* when the child had got to its own code */
	bool lacks;         /* it failed because the kernel or the machine has no such thing */
};

struct session {
	struct unit *u;
	struct host *h;
	struct target *target;
	struct log log;
	bool dry_run;
	struct limits limits;
	struct run_start start; /* without its sources */

	struct live live;
	struct attaching attach;
	struct syms *syms;
	struct reporter reporter; /* made by session_start() */
	struct control control;
	void *service[SERVICES]; /* state of the services */
	struct run_loop loop;
};

/* What a map or a program of the unit is in the kernel: see live.h. */
static inline int map_fd(const struct session *s, const struct map *m)
{
	return live_map(&s->live, m);
}
static inline void *map_mem(const struct session *s, const struct map *m)
{
	return live_mem(&s->live, m);
}
static inline int prog_fd(const struct session *s, const struct prog *p)
{
	return live_prog(&s->live, p);
}
/* Maps and programs are the kernel's: their numbers are descriptors. */
static inline bool session_in_kernel(const struct session *s)
{
	return !s->live.query;
}

/*
 * Make the maps and load the programs of s->u. Refusals of the verifier become diagnostics in ds, at
 * a line of the script. False: *e or ds says why, and s->attach.refused which program it was.
 */
bool session_load(struct session *s, struct diags *ds, struct err **e);
/*
 * Run begin programs, attach everything, let the child of -c run. Items go to the sink, whose state is
 * self; both outlive the session. ATTACH_OTHERWISE: s->attach.refused cannot be attached with its
 * attach method; nothing was printed, and another session should try the next one. With .dry_run
 * everything is detached again.
 */
enum attached session_start(struct session *s, const struct sink *sink, void *self);
int session_failed_status(const struct session *s); /* exit status after ATTACH_FAILED */
/* After ATTACHED, without .dry_run: wait for events until something stops the run. */
void session_loop(struct session *s);
/* The same in steps: wait for most_ms at most, and handle what came. False: the run is over. Recordings are
 * read to their end in one step. */
bool session_poll(struct session *s, int most_ms);
/* Detach, run end programs, print maps, report losses. Return the exit status. */
int session_finish(struct session *s);
void session_free(struct session *s); /* whatever was done; s->h and s->target stay */
