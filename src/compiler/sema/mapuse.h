/*
 * mapuse.h - what the compiler notes of a map while it finds types, for sema/plan.c to choose how
 * the map is kept. It is no part of the unit, and gone after the last pass.
 */
#pragma once
#include "lang/compile.h"

struct mapuse {
	bool keyed;      /* used with a key */
	bool assigned;   /* stored to */
	bool replaced;   /* plain values are set, not only changed by ++ -- += -= */
	bool read;       /* values are read in the kernel */
	bool touched;    /* elements are looked up or deleted in the kernel by functions */
	bool used_whole; /* in other ways than by storing, reading and deleting single values */
	bool by_others;  /* with other keys than the processor's number alone */
	bool any_key;    /* with keys of which nobody knows how many there are; else: */
	u32 nkey;        /* at most so many */
	bool crowded;    /* by a body with so many accesses that the code of each is to be short */
};
/* Valid until the next call. */
struct mapuse *mapuse(struct compile *c, const struct map *m);
