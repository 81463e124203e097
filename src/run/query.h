/*
 * query.h - a session over recordings: rows of files in the place of events, the interpreter in the
 * place of the kernel.
 *
 *	query_open(&spec, &q);            reads what the files say of themselves
 *	query_host(q, &host, &arena);     the machine that scripts are compiled for
 *	... compile ...
 *	query_check(q, &unit, &diags);    what a program asks for can be answered
 *	query_enter(q, &session);         before session_load()
 *	session_start(), session_loop(), session_finish(), session_free()
 *	query_close(q);
 *
 * Rows come in the order of turns; of several files, by wall-clock time. Before a row's programs run,
 * the time, task and CPU of the row are what the helpers answer. begin and end run at the ends of the
 * recording, intervals when a row is beyond their time. nsecs counts as the first file's machine did.
 */
#pragma once
#include "base/diag.h"
#include "core/recorded.h"
#include "core/scope.h"
#include "core/unit.h"
#include "kern/host.h"

struct query;
struct session;

enum { QUERY_MAX_FILES = 64, QUERY_MAX_PIDS = 64, QUERY_CPU_WORDS = 1024 };
struct query_spec {
	const char *path[QUERY_MAX_FILES];
	u32 npath;
	u64 from_ns, to_ns; /* after the first row of the earliest file; to_ns 0: to the end */
	u32 pid[QUERY_MAX_PIDS], npid; /* rows of these processes only; none: all */
	bool follow;                   /* and of their children, and so on */
	bool by_cpu;                   /* rows of these CPUs only, a bit for each: */
	u64 cpu[QUERY_CPU_WORDS];
};
struct err *query_open(const struct query_spec *s, struct query **ret) MUST_USE;
void query_close(struct query *q); /* NULL is allowed */
void query_host(const struct query *q, struct host *h, struct arena *a);
/* The process that recorded; 0 if the recording does not say, or there are several. */
u64 query_self_pid(const struct query *q);
/* What watched() compares with; the array is the query's. */
struct scope query_scope(struct query *q);
/* Reports programs that call what a recording cannot answer. False if there are any. */
bool query_check(const struct query *q, const struct unit *u, struct diags *ds);
void query_enter(struct query *q, struct session *s);

/* ---- for session.c ---- */
void query_prepare(struct session *s); /* source, names and clocks of s->reporter */
struct err *query_confine(struct session *s) MUST_USE;
void query_run(struct session *s);        /* all rows, until s->control.stop */
void query_report(struct session *s);     /* what was lost */
u64 query_now(const struct query *q);     /* in nsecs: how far the run has come */
u64 query_real_ns(const struct query *q); /* wall-clock time at nsecs 0 */
/* What is asked: "f.sonde", or "3 recordings". */
struct str query_name(const struct query *q);
