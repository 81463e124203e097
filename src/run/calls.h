/* calls.h - rows of system calls that have begun: they wait for the end of the call. */
#pragma once
#include "core/value.h"

struct held_call {
	u32 tid;
	bool open, begun; /* begun: its first line is out */
	u32 n;
	struct value *cell; /* of the row; of a */
	struct str bytes;   /* the call */
	struct arena a;
	struct held_call *next;
};
struct calls;
struct held_call *calls_hold(struct calls *c, u32 tid); /* what it held before is forgotten */
struct held_call *calls_held(struct calls *c, u32 tid); /* NULL: none */
/* Thread tid makes a call of this mode (0: as a thread that was not seen before). True: its last was another. */
bool calls_mode(struct calls *c, u32 tid, u32 mode);
void calls_drop(struct held_call *h);
/* Of calls shown in two lines: the one that began last, while nothing came after it. */
struct held_call *calls_last(struct calls *c);
void calls_set_last(struct calls *c, u32 tid); /* 0: none */
