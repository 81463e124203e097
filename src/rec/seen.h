/*
 * seen.h - things that a recording's writer has written, by their bytes, so that it writes each of them once. For write.c.
 */
#pragma once
#include "base/arena.h"

/* Things that were written, by their bytes. */
struct seen {
	struct seen_slot {
		u32 hash, id, n;
		const char *p;
	} * slot;
	u32 nslot, n, last_id;
	size_t bytes;
	struct arena a;
};
/* The id of these bytes; *fresh if they are new. */
u32 seen_id(struct seen *s, const char *p, size_t n, bool *fresh);
/* All but the last id; also frees. */
void seen_forget(struct seen *s);
