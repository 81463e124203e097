/*
 * memory.h - maps of the kernel that tables of user stacks are written to: chunks of blocks and of
 * lists, each an element of a map of maps, and the index (core/unwind.h).
 *
 *	memory_init(&m, s, &blocks, &lists);	makes both write there
 *	memory_hold(&m, false);			many tables follow
 *	memory_put(&m);				they are there for programs
 *	memory_free(&m);			before blocks and lists
 *
 * To put one new element makes the kernel wait some milliseconds, to put many at once does so once:
 * while they are held, programs do not see them. Before the first event (the right to the call is
 * given up then) a chunk of blocks is filled here, and written by a call when it is full: a page costs
 * more when it is first touched where it is mapped, and few are ever looked at.
 */
#pragma once
#include "unwind/blocks.h"
#include "unwind/lists.h"

struct map;
struct session;

enum { MEMORY_EARLY = 64 }; /* chunks of blocks, made without being asked for */

struct held {
	const struct map *map;
	u32 i;
	int fd;
	bool later; /* it is needed later, too */
};
struct unwind_memory {
	struct session *s;
	const struct unwind *u;
	struct blocks *blocks;
	struct lists *lists;
	struct unwind_index *index; /* reserved; so much of it is mapped: */
	size_t index_bytes;
	bool hold;
	VEC(struct held) held; /* new elements */
	bool tracing;
	struct unwind_chunk *stage;
	bool staged; /* the last of: */
	u32 nlater, later_at[MEMORY_EARLY];
	int later[MEMORY_EARLY]; /* descriptors, by which they can be mapped */
};
void memory_init(struct unwind_memory *m, struct session *s, struct blocks *blocks,
		 struct lists *lists);
void memory_free(struct unwind_memory *m);
/* tracing: events are being recorded by now. */
void memory_hold(struct unwind_memory *m, bool tracing);
void memory_put(struct unwind_memory *m);
