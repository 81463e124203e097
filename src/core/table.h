/*
 * table.h - keyed aggregations in a table of our own: per CPU, open addressing, in memory that user
 *space maps.
 *
 * One array element holds a region for each CPU: TABLE_SLOTS slots and TABLE_PROBES more, so that a
 *probe never wraps. slot: u64 tag (0 free, 1 being made, else the key's hash | 2); key, padded with
 *zeros to words; the aggregation's words A program looks at TABLE_PROBES slots from the hash's
 *place on; when none fits, it uses the kernel's hash map. A key may stand in several slots and in
 *the hash map: readers merge.
 */
#pragma once
#include "base/base.h"

enum { TABLE_SLOTS = 1024, TABLE_PROBES = 8, TABLE_KEY_MAX = 64, TABLE_BUSY = 1, TABLE_TAG = 2 };

static inline u32 table_slot_size(u32 key_size, u32 words)
{
	return 8 + ALIGN_UP(key_size, 8u) + 8 * words;
}
static inline u32 table_cpu_size(u32 key_size, u32 words)
{
	return (TABLE_SLOTS + TABLE_PROBES) * table_slot_size(key_size, words);
}
