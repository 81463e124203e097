/*
 * snap.h - one reading of a map, with the copies of CPUs merged.
 *
 * The map's store reads it (core/store.h); snap_take() then subtracts what was cleared, and puts keys
 * in the place of their hashes. The arrays are heap, and belong to the snap: snap_free().
 */
#pragma once
#include "core/agg.h"
#include "report/packed.h"

struct reporter;

struct snap {
	const struct map *m;
	const struct agg *agg;  /* NULL for plain values */
	u8 *keys, *vals;        /* vals of aggregations: the copies, which .merged is made of */
	struct packed packed;   /* instead of .keys, if the map's keys are hashes */
	u64 *merged;            /* with agg: the words of each element */
	u32 n;                  /* elements */
	u32 key_size, val_size; /* bytes of a key; of an element in .merged, or in .vals */
	bool present;           /* for a map without key: something was stored */
	struct str percentiles; /* show these instead of the histogram; "" for none */
};

/* n is always in a state for snap_free() afterwards. */
struct err *snap_take(struct reporter *r, const struct map *m, struct snap *n) MUST_USE;
/* The same, but with what was cleared, and without a trace: later readings are as if there had been
 * none. */
struct err *snap_peek(struct reporter *r, const struct map *m, struct snap *n) MUST_USE;
void snap_free(struct snap *n);
/* Merge rows for which identity() returns the same text. It is called once for each row, in their
 * order. */
void snap_join(struct snap *n, struct str (*identity)(void *arg, u32 i), void *arg);
/* Key i. buf has room for one, and may be where the result is. NULL for a map without key. */
const u8 *snap_key(const struct snap *n, u32 i, u8 *buf);
/* For stores: .vals has this number of copies of each element, of size bytes each. Merge them into
 * .merged; nothing is done for plain values. */
void snap_merge(struct snap *n, u32 copies, u32 size);
