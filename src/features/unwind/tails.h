/*
 * tails.h - what user space found of stacks that programs did not finish, by the number of the copy.
 * Equal ones are kept once. An older one's place is taken by a newer one.
 */
#pragma once
#include "base/arena.h"
#include "base/tab.h"

struct tail {
	u64 id; /* and 1 */
	const u64 *frame;
	u32 n;
};
struct tails {
	struct arena arena;
	struct tail *tail; /* by id */
	struct tab texts;
	u64 bytes, no_room; /* no_room: so many were not kept */
};
void tails_init(struct tails *t);
void tails_free(struct tails *t);
void tails_keep(struct tails *t, u64 id, const u64 *frame, u32 n);
/* NULL: it is not there (yet), or not any more. */
const struct tail *tails_get(const struct tails *t, u64 id);
