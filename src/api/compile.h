/*
 * compile.h - the compiler: its passes in order.
 *
 * compile_script() runs the passes on a struct compile that job_init() made. All messages are in c->diags;
 * nothing is printed.
 */
#pragma once
#include "lang/compile.h"

/* What watch.dump is called for; one bit each. */
enum dump {
	DUMP_AST = 1 << 0,
	DUMP_TYPES = 1 << 1,
	DUMP_PLAN = 1 << 2,
	DUMP_IR = 1 << 3,
	DUMP_REGS = 1 << 4,
	DUMP_BPF = 1 << 5,
	DUMP_ALL = (1 << 6) - 1,
};

enum stage { STAGE_PARSE, STAGE_EXPAND, STAGE_ALL };
enum { MAX_PASSES = 16 };

/* Of many runs of one pass. */
struct pass_cost {
	const char *name;
	u64 n, ns, least, most;
};

/* What is noted on the way. */
struct watch {
	/* Called with the program as text after each pass of .dumps, a set of enum dump. If .dumps is not 0,
	 * passes behind the last of them are not run. */
	u32 dumps;
	void (*dump)(void *arg, const char *pass, struct str text);
	void *arg;
	const char *emit_ir;               /* files for the IR begin with this path; or NULL */
	struct pass_cost cost[MAX_PASSES]; /* in the order of the passes */
	struct err *e;                     /* a file that could not be written; or NULL */
};

/* Return false if there were errors. w may be NULL. */
bool compile_script(struct compile *c, enum stage until, struct watch *w);
