/*
 * prefetch.h - processes that were there before tracing begins, in the order in which tables of
 * their stacks are made.
 *
 * First those that map a file with user probes: their stacks are asked for, and a script may compare
 * them. Else the busiest first; one that only waits now may make more different stacks at once than
 * there is room for copies of, so tables are made before the first event. Where probes fire by the
 * clock, and not so often that copies would have no room, the others' are made while tracing: the
 * start does not wait for them, and no stack is lost.
 */
#pragma once
#include "base/vec.h"

struct unit;
struct procs;
struct prefetch {
	VEC(u32) pid;
	u32 nfirst; /* so many have tables before the first event */
	u32 at;     /* those before are done */
	/* Files of those before are asked for; of the next: those of so many areas. */
	u32 sent, sent_areas;
};

/* Of processes that are known to live. */
void prefetch_list(struct prefetch *in, const struct unit *u, const struct procs *procs);
