/*
 * follow.h - a set of processes that grows with their children, kept by programs in the kernel.
 *
 * A child is in the set before it runs its first instruction; a process leaves it when it is gone
 * for good (its end was waited for), so that a new one with its number is not taken for it.
 *
 *	err = follow_open(h, map, seeds, nseed, &f);	from now on
 *	follow_full(f, &n)				children that did not fit
 *	follow_close(f);
 */
#pragma once
#include "kern/host.h"

/* A process by its id in another pid namespace than the first, the one of inode ino. */
struct follow_seed {
	u64 dev, ino;
	u32 id;
};

struct follow;
/* map: hash of process ids (u32) with u32 values. seeds: members that are not in the map. */
struct err *follow_open(struct host *h, int map, const struct follow_seed *seeds, u32 nseed,
			struct follow **ret);
struct err *follow_full(const struct follow *f, u64 *n);
void follow_close(struct follow *f);
