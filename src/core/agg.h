/*
 * agg.h - aggregations: how each looks in a map's value and how copies are merged.
 *
 * Layout of a value in memory (u64 words; per CPU, or shared with atomic adds):
 *	count		n
 *	sum		total
 *	min, max	value, set
 *	avg, stats	total, count
 *	hist		hist_buckets(bits) counters
 *	lhist		(max - min) / step + 2 counters: below, the steps, above
 *	tseries		its slots: see builtin/tseries.c
 * Scalar maps hold one more word behind it, non-zero once something was stored (map.present).
 */
#pragma once
#include "core/value.h"
#include "types/type.h"

/* Copies of all CPUs, where programs read them: all together, or one (of those whose second word is
 * not 0). */
enum agg_keeps { AGG_ALL, AGG_LEAST, AGG_MOST };

struct agg {
	enum type_kind kind;
	/* Facts, each false for what is special. */
	bool adds; /* an observation only adds to words: all CPUs can share one copy, and what was
		       * counted before can be subtracted */
	bool buckets; /* ... to one of them, which the row's .bucket() finds */
	bool counts;  /* the sum of its words is a number of observations */
	bool tells;   /* a word is not 0 once something was observed */
	bool mean;    /* a mean: values of several keys cannot be added up; as an integer, the first
		       * word divided by the second */
	bool quiet;   /* not printed while it is empty */
	u8 parts;     /* values that a row shows side by side; 0: one */
	u8 keeps;     /* enum agg_keeps: which of several copies' first words counts */
	bool json_empty;   /* told as JSON also while it is empty */
	const char *json;  /* "type" of such a map; NULL: "map" */
	const char *clash; /* what is wrong when the calls for one map differ; NULL: signs do */
	/* Of a type from a file: its numbers are such as the row's own. NULL: it has none. */
	bool (*sound)(const struct type *t);
	u32 (*words)(const struct type *t); /* u64 words of one copy */
	void (*merge)(const struct type *t, u64 *into, const u64 *from);
	/* Decode a merged copy. list and bucket memory from a; div: print's third argument, 0 or 1:
	 * none. */
	void (*decode)(const struct type *t, const u64 *w, u64 div, struct arena *a,
		       struct value *ret);
	/* Sort order of two merged copies when a map is printed: <0, 0, >0. */
	int (*cmp)(const struct type *t, const u64 *a, const u64 *b);
	bool has_int; /* programs may read it, as an integer */
};
/* From the rows of the language (core/builtin.h: .agg); NULL when t is not an aggregation. */
const struct agg *agg_of(const struct type *t);

/*
 * Buckets of hist(n, bits): 0: negative; then n itself while n < 2^(bits+1); then 2^bits linear
 * steps for every power of two up to 2^63.
 */
static inline u32 hist_buckets(u32 bits)
{
	return 1 + (2u << bits) + (63 - bits - 1 + 1) * (1u << bits);
}
