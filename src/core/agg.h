/*
 * agg.h - aggregations: how each looks in a map's value and how copies are merged.
 *
 * Layout of a value in memory (u64 words; per CPU, or shared with atomic adds):
 *	count {n}  sum {total}  avg, stats {total, count}  min, max {value, set}
 *	hist: HIST_BUCKETS(bits) counters  lhist: (max - min) / step + 2 counters (below, steps,
 *above)  tseries: num slots, see builtin/tseries.c. Scalar maps hold one more word behind it,
 *non-zero once something was stored (struct map.present).
 */
#pragma once
#include "core/value.h"
#include "types/type.h"

struct agg {
	enum type_kind kind;
	u32 (*words)(const struct type *t); /* u64 words of one copy */
	void (*merge)(const struct type *t, u64 *into, const u64 *from);
	/* Decode a merged copy. list and bucket memory from a; div: print's third argument, 0 or 1:
	 * none. */
	void (*decode)(const struct type *t, const u64 *w, u64 div, struct arena *a,
		       struct value *ret);
	/* Sort order of two merged copies when a map is printed: <0, 0, >0. */
	int (*cmp)(const struct type *t, const u64 *a, const u64 *b);
	/* Merged copy as an integer; false: has none (hist, stats). */
	bool (*as_int)(const struct type *t, const u64 *w, i64 *ret);
};
/* builtin/agg.c; NULL when t is not an aggregation. */
const struct agg *agg_of(const struct type *t);

/*
 * Buckets of hist(n, bits): 0: negative; then n itself while n < 2^(bits+1); then 2^bits linear
 * steps for every power of two up to 2^63.
 */
static inline u32 hist_buckets(u32 bits)
{
	return 1 + (2u << bits) + (63 - bits - 1 + 1) * (1u << bits);
}
