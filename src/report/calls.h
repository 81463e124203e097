/*
 * calls.h - rows of system calls that have begun, kept by thread until the call ends.
 *
 * A reporter owns one struct calls. A held call belongs to it and is used again for other threads.
 */
#pragma once
#include "core/value.h"

struct held_call {
	u32 tid;
	bool open;  /* the call has not ended: calls_drop() was not called */
	bool begun; /* its first line was printed */
	u32 n;
	struct value *cell; /* n cells of the row, in .a */
	struct str bytes;   /* the call, in .a */
	struct arena a;
	struct held_call *next;
};
struct calls;
struct calls *calls_new(void);
void calls_free(struct calls *c); /* NULL is allowed */
/* A call of the thread begins. What was held for the thread before is forgotten. */
struct held_call *calls_hold(struct calls *c, u32 tid);
/* NULL if nothing is held for the thread. */
struct held_call *calls_held(struct calls *c, u32 tid);
void calls_drop(struct held_call *h); /* the call has ended; h must be open */
/* What is held for thread from is held for thread to from now on, instead of what was. */
void calls_move(struct calls *c, u32 from, u32 to);
/* The thread makes a call of this mode. True if its last call had another mode; a thread that was
 * not seen before has mode 0. */
bool calls_mode(struct calls *c, u32 tid, u32 mode);
/* If calls are printed in two lines: the call that began last, until something is printed after it.
 * NULL if there is none. */
struct held_call *calls_last(struct calls *c);
void calls_set_last(struct calls *c, u32 tid); /* 0 for none */
