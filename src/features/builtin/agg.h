/* agg.h - what the files of aggregations share; a copy and its row are core/agg.h's. */
#pragma once
#include "builtin/common.h"
#include "core/agg.h"

struct type *agg_type(struct sema *s, enum type_kind kind, bool is_signed);
/* With the size that the row's words ask for. */
const struct type *agg_sized(struct type *t);
struct ref agg_arg(struct lower *l, struct node *call); /* its first argument's value */
/* Adds n to a word; shared: other CPUs do so, too. */
void agg_add_word(struct lower *l, struct mem at, struct ref n, bool shared);
/* Merging word by word. */
void agg_merge_add(const struct type *t, u64 *into, const u64 *from);
int agg_cmp_u64(u64 a, u64 b);

/* Histograms (buckets.c): a word for each bucket. */
/* One more in word idx, as far as it is below words. */
void agg_add_bucket(struct lower *l, struct ref idx, u32 words, struct mem dst, bool shared);
/* From the first that counted to the last; label fills in its bounds. */
void agg_decode_buckets(const struct type *t, const u64 *w, u64 div, struct arena *a,
			struct value *ret,
			void (*label)(const struct type *t, u32 i, struct bucket *b));
int agg_cmp_total(const struct type *t, const u64 *a, const u64 *b);
