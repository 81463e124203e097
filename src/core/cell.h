/*
 * cell.h - plain values by key in a table of our own, for maps that programs only store to, read
 * and delete from: open addressing, one table for all CPUs, in an array element that user space
 * maps.
 *
 * At its start a word that is set once something went to the kernel's hash map, which takes what
 * finds no slot here. Then CELL_SLOTS slots and CELL_PROBES more, so that a probe never wraps:
 *
 *	u64 state	hash of the key (the high bits) | version | TAKEN | BUSY
 *	key		padded with zeros to words
 *	u64 value
 *
 * A free slot has only a version. Whoever takes it sets hash and BUSY by compare-and-exchange,
 * writes key and value, and then sets TAKEN instead of BUSY. A value is replaced while BUSY is set
 * beside TAKEN, which keeps the slot from being freed; who wants to store meanwhile has been
 * overtaken and stores nothing. Deleting is one exchange that leaves the next version. A reader
 * looks at the state before and after the value.
 *
 * Two CPUs that store a new key at once may take two slots for it: the first counts, and deleting
 * frees both. Likewise what is here hides what the hash map has. All this takes a machine that
 * keeps loads in order, and stores (KEEPS_ORDER).
 */
#pragma once
#include "core/unit.h"

enum {
	CELL_SLOTS = 8192,
	CELL_PROBES = 4,
	CELL_HEADER = 64, /* its first word: something is in the hash map, or was */
	CELL_BUSY = 1,
	CELL_TAKEN = 2,
	CELL_VERSION = 4,
	CELL_VERSIONS = 0x1fffc,
	CELL_KEY_MAX = 32,
};

static inline u32 cell_value_at(const struct map *m)
{
	return 8 + ALIGN_UP(m->key_size, 8u);
}
static inline u32 cell_slot_size(const struct map *m)
{
	return cell_value_at(m) + 8;
}
static inline u32 cells_size(const struct map *m)
{
	return CELL_HEADER + (CELL_SLOTS + CELL_PROBES) * cell_slot_size(m);
}
