/*
 * recorded.h - what a recording has of each of its probes. A script is compiled for a recording as it
 * is compiled for a machine: host.recording is then set, and the kernel's probes are not asked for.
 *
 * A program for a recorded probe gets a row as its context: the columns at the offsets that are said
 * here, in the layout of types/type.h. So a column is, for the compiler, a member of a tracepoint's
 * args whose name is the expression that was kept: "args.fd", "str(args.filename)", "retval".
 * Stacks are no part of the row: the helper that walks the stack answers with them.
 */
#pragma once
#include "types/type.h"

struct node;

struct recorded_column {
	struct str expr;         /* the expression that was kept, as text */
	const struct type *type; /* T_KSTACK, T_USTACK: a stack */
	u32 off;                 /* in the row */
	const struct node *tree; /* of .expr; the compiler sets it, once */
	bool parsed;             /* .tree was set; it is NULL if the text is not an expression */
	bool used;               /* the script asks for it; the compiler sets it */
};
struct recorded_probe {
	struct str text; /* "tracepoint:sched:sched_switch" */
	/* "span_begin" of "span_begin:tracepoint:sched:sched_switch", which are no events but what this function kept at them;
	 * empty: events */
	struct str kept_by;
	struct recorded_column *col;
	u32 ncol;
	u32 size;                /* bytes of a row */
	bool asks_ppid;          /* the script asks for it; the compiler sets it */
	const struct type *args; /* T_STRUCT: the columns that are not stacks */
};
struct recorded {
	struct str name; /* of the file, for messages */
	struct recorded_probe *probe;
	u32 nprobe;
	u64 real_ns;                           /* wall-clock time at nsecs 0 */
	struct str hostname, release, machine; /* where it was made; "" if it does not say */
	struct str id;                         /* of the files; differs for other recordings */
};

/* Lay out a row: the columns' .off, .size and .args, with memory from a. The row begins with the words
 * that every row has (enum recorded_word), which are not among the columns. */
void recorded_layout(struct arena *a, struct recorded_probe *p);

/* The set of `sonde record` (tools/record/) with the probe of this name, "sched" or "samples=99"; empty if there is none. */
struct str recorded_set(struct arena *a, struct str probe);

/* In the flags of bpf_get_stack(), of programs for recordings: only frames of interpreted languages. */
#define RECORDED_STACK_LANG (1ull << 32)

/* Words at the start of each row, u64 each. */
enum recorded_word {
	ROW_POINT, /* id of the point (core/probe.h) for which the program runs */
	ROW_PPID,  /* process id of the parent */
	ROW_WORDS,
};
