/*
 * baseline.h - what clear() subtracts from later readings of a map.
 *
 * clear() of a map to which programs only add changes nothing in the kernel: the reading that was
 * printed last is remembered, and subtracted from later ones. baseline.c describes why.
 */
#pragma once
#include "core/unit.h"

struct reporter;

/* What one reading found: n keys, without gaps, and nwords words for each. Not owned. */
struct reading {
	u8 *keys;
	u64 *words;
	u32 n, key_size, nwords;
};
/* Of all maps of a unit; a reporter owns it. */
struct baseline_maps *baseline_new(void);
void baseline_free(struct baseline_maps *c); /* NULL is allowed */

/* True if clear() of the map works in this way. The calls below are for such maps, except for
 * baseline_epoch(). */
bool baseline_wanted(const struct map *m);
/* Remember the reading, then subtract what was cleared: elements that are as they were then go
 * away, and the others move up. */
void baseline_note(struct reporter *r, const struct map *m, const struct reading *got);
void baseline_subtract(struct reporter *r, const struct map *m, struct reading *got);
/* True if the last reading was made by the same run of the same probe. */
bool baseline_is_fresh(struct reporter *r, const struct map *m);
/* From now on the last reading is subtracted. gone() is called with each key that may be removed
 * from the map itself. */
typedef void baseline_gone(struct reporter *r, const struct map *m, const u8 *key);
void baseline_from_now(struct reporter *r, const struct map *m, baseline_gone *gone);
void baseline_forget(struct reporter *r, const struct map *m);
/* How often the map was cleared or zeroed. */
u32 *baseline_epoch(struct reporter *r, const struct map *m);
