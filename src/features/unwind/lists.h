/*
 * lists.h - lists of pieces in memory that programs read (core/unwind.h).
 *
 *	x = lists_put(&l, piece, n, now);	processes with equal lists share one
 *	lists_drop(&l, x, now);
 *
 * Room that is given back is used again after seconds: a program may be reading it.
 */
#pragma once
#include "base/err.h"
#include "base/vec.h"
#include "core/unwind.h"

struct ulist {
	u64 hash;
	u64 freed_ns;        /* of one without users */
	u32 chunk, first, n; /* pieces */
	u32 refs;
};
struct lists_mem {
	u32 max_chunks;
	/* A new chunk, zeroed, in place i of the table. */
	struct err *(*chunk)(void *arg, u32 i, struct unwind_list_chunk **ret);
	void *arg;
};
struct lists {
	struct lists_mem mem;
	VEC(struct ulist *) list;
	VEC(struct unwind_list_chunk *) chunk;
	struct err *failed; /* the first chunk that could not be made */
};
/* v: by address, n of 1 to UNWIND_PIECES. NULL: there is no room. */
struct ulist *lists_put(struct lists *l, const struct unwind_piece *v, u32 n, u64 now_ns);
void lists_drop(struct lists *l, struct ulist *x, u64 now_ns);
void lists_free(struct lists *l);
