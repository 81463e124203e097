/*
 * table.h - keyed aggregations in a table of our own: per CPU, open addressing, in memory that user
 * space maps.
 *
 * One array element holds a region for each CPU: TABLE_SLOTS slots and TABLE_PROBES more, so that a
 * probe never wraps. slot:
 *
 *	u64 tag		0 free, 1 being made, else the key's hash | 2
 *	key		padded with zeros to words; of histograms also the bucket, a word
 *	words		the aggregation's; of histograms the counter of that bucket
 *
 * A program looks at TABLE_PROBES slots from the hash's place on; when none fits, it uses the
 * kernel's hash map. A key may stand in several slots and in the hash map: readers merge.
 */
#pragma once
#include "core/unit.h"

enum { TABLE_SLOTS = 1024, TABLE_PROBES = 8, TABLE_KEY_MAX = 64, TABLE_BUSY = 1, TABLE_TAG = 2 };

/* Bytes of the key's words in a slot, without the bucket. */
static inline u32 table_key_size(const struct map *m)
{
	return ALIGN_UP(m->key_size, 8u);
}
static inline bool table_by_bucket(const struct map *m)
{
	return m->val->kind == T_HIST || m->val->kind == T_LHIST;
}
/* Where a slot's value is. */
static inline u32 table_value_at(const struct map *m)
{
	return 8 + table_key_size(m) + (table_by_bucket(m) ? 8 : 0);
}
static inline u32 table_slot_size(const struct map *m)
{
	return table_value_at(m) + (table_by_bucket(m) ? 8 : m->val_size);
}
static inline u32 table_cpu_size(const struct map *m)
{
	return (TABLE_SLOTS + TABLE_PROBES) * table_slot_size(m);
}
/*
 * What each CPU has one of: a power of two, so that programs mask the CPU's number. A comparison
 * would have to be kept in mind by the verifier, which forgets it when the register is spilled.
 */
static inline u32 cpu_slots(u32 ncpu)
{
	u32 n = 1;
	while (n < ncpu)
		n *= 2;
	return n;
}
