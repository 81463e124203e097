/* common.h - the ways to keep a map, and what several of them use. */
#pragma once
#include "core/agg.h"
#include "core/store.h"
#include "lower/lower.h"
#include "report/report.h"
#include "report/snap.h"
#include "sema/plan.h"

/* Without key; see array.c. */
extern const struct store store_array, store_percpu_array, store_slots;
/* With the processor's number as key. */
extern const struct store store_by_cpu;
/* With keys. What finds no room in the memory of table and cells is in a hash map. */
extern const struct store store_table, store_cells, store_percpu_hash, store_hash;

/*
 * The memory of table and cells has a word, where programs reach it with the fewest instructions,
 * that is set before something goes to the hash map behind it: while it is 0, nobody needs to look
 * there.
 */
enum { BEHIND_WORD = 8 };
static inline u32 store_behind_at(const struct map *m)
{
	return agg_of(m->val) ? (m->own->val_size - BEHIND_WORD) & ~7u : 0;
}
bool store_is_behind(const struct reporter *r, const struct map *m);

/* Bytes of one copy of a value, in whole words. */
static inline u32 store_value_size(const struct map *m)
{
	const struct agg *agg = agg_of(m->val);
	return ALIGN_UP(agg ? agg->words(m->val) * 8 : m->val->size, 8u);
}
/* The same and the word behind it, in memory that no other CPU writes to. */
static inline u32 store_slot_size(const struct map *m)
{
	enum { CACHE_LINE = 64 };
	return ALIGN_UP(store_value_size(m) + 8, (u32)CACHE_LINE);
}
/*
 * What each CPU has one of: a power of two, so that programs mask the CPU's number. A comparison
 * would have to be kept in mind by the verifier, which forgets it when the register is spilled.
 */
static inline u32 store_cpus(u32 ncpu)
{
	u32 n = 1;
	while (n < ncpu)
		n *= 2;
	return n;
}
struct ref store_this_cpu(struct lower *l); /* below that */

/* copies.c: values of which the kernel has a copy per CPU. */
u32 store_copies(const struct reporter *r, const struct map *m); /* else 1 */
u32 store_copy_size(const struct map *m);
u32 store_user_size(const struct reporter *r,
		    const struct map *m); /* of all, as user space sees them */
struct ref store_read_copies(struct lower *l, const struct map *m, struct mem key); /* a number */
/* Around code for one copy after the other, at p. */
struct copy_loop {
	struct ref p, cpu;
	struct blk *loop, *next, *done;
};
void store_copies_begin(struct lower *l, const struct map *m, struct mem key, struct copy_loop *c);
void store_copies_end(struct lower *l, const struct copy_loop *c);

/* array.c: the word behind the value that says that something was stored. */
struct scalar {
	u32 copies, stride; /* of the value and that word */
	bool tells;         /* the value, too, is not 0 then */
};
void store_set_present(struct lower *l, struct map *m, struct ref p);
void store_take_scalar(struct snap *n, const struct scalar *as); /* n->vals has all copies */
void store_zero_scalar(const struct map *m, const struct scalar *as, u8 *mem, bool keep);

/* hash.c, with keys that are made. */
struct ref store_hash_find(struct lower *l, const struct map *m, const struct map_key *k);
struct ref store_hash_element(struct lower *l, struct map *m, const struct map_key *k,
			      struct blk *full);
void store_hash_update(struct lower *l, struct map *m, const struct map_key *k, struct mem val);
struct ref store_hash_remove(struct lower *l, const struct map *m, const struct map_key *k);
