/*
 * timeline.h - what happened on threads and CPUs, for formats that viewers draw.
 *
 * Rows become events of these kinds, which a format gets one after the other:
 *
 *	TL_THREAD   a thread is there, or has another name: before its first event
 *	TL_BEGIN    a system call or function begins on a thread, an interrupt on a CPU
 *	TL_END      the newest of them that is open on this track ends
 *	TL_STATE    a thread runs on a CPU, waits, is woken, ends
 *	TL_SPAN     a span begins, which may overlap others and end on another thread (spans.h)
 *	TL_SPAN_END it ends; on the thread that ended it
 *	TL_INSTANT  something else
 *	TL_SAMPLE   what a thread did when a timer or counter looked
 *	TL_COUNTER  a number that changed
 *	TL_LOSS     events that are missing, at the end of the recording
 *
 * Begins and ends of one track are nested, and in the order of time. What begins and does not end stays open. Each row
 * becomes exactly one of TL_BEGIN, TL_END, TL_SPAN, TL_SPAN_END, TL_INSTANT, TL_SAMPLE, or states or counters, except that two rows about
 * one system call (raw_syscalls and syscalls) become one TL_BEGIN, with the values of both, and one TL_END.
 *
 * A thread that has an event runs; states follow from this, too, if the recording has sched_switch.
 */
#pragma once
#include "export/spans.h"

enum tl_kind {
	TL_THREAD,
	TL_BEGIN,
	TL_END,
	TL_SPAN,
	TL_SPAN_END,
	TL_STATE,
	TL_INSTANT,
	TL_SAMPLE,
	TL_COUNTER,
	TL_LOSS
};
enum tl_state {
	TL_UNKNOWN, /* not running; why is not known */
	TL_CREATED,
	TL_RUNNABLE,
	TL_RUNNING,
	TL_SLEEP,
	TL_BLOCKED, /* cannot be interrupted */
	TL_STOPPED,
	TL_DEAD
};
enum tl_value { TL_UINT, TL_INT, TL_POINTER, TL_BOOL, TL_FLOAT, TL_TEXT };
struct tl_arg {
	struct str name;
	enum tl_value kind;
	u64 u; /* a number; TL_FLOAT: its bits */
	struct str text;
};
struct tl_thread {
	u32 id;       /* from 1; a tid that is used again gets another one */
	u32 tid, pid; /* pid 0: not known */
	char comm[16];
	u64 start; /* as of struct rec_task; 0: not known */
};
struct tl_event {
	enum tl_kind kind;
	u64 ts;
	u32 cpu;                        /* TL_STATE: on which it runs, or ran */
	const struct tl_thread *thread; /* NULL: not known */
	bool on_cpu;                    /* TL_BEGIN, TL_END: on the CPU, not on the thread */
	struct str name, probe;         /* what it is; the probe of the row */
	const struct tl_arg *arg;
	u32 narg;
	u32 kstack, ustack; /* ids; 0: none */
	enum tl_state state;
	const struct tl_span *span; /* TL_SPAN, TL_SPAN_END */
	i64 value;                  /* TL_COUNTER; TL_LOSS: how many events, 0 if nobody knows */
	u64 to;                     /* TL_LOSS: the end of the time range; 0: not known */
};
/* The event, and what it points to, stay until the call returns; threads until timeline_free(). */
typedef void timeline_put(void *self, const struct tl_event *e);

struct timeline;
struct timeline *timeline_new(struct exporting *x, timeline_put *put, void *self);
void timeline_row(struct timeline *t, const struct rec_row *r);
/* What is still held back, and losses. */
void timeline_end(struct timeline *t);
void timeline_free(struct timeline *t);
/* When the recording began. */
u64 timeline_start(const struct timeline *t);
