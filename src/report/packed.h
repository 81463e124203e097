/*
 * packed.h - long keys of which most is zeros (stacks of few frames, with room for many): only the
 * words that are not 0 are kept. Equal keys have equal texts.
 */
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct packed {
	u32 size; /* of a key */
	struct arena arena;
	VEC(struct str) key;
};
void packed_add(struct packed *p, const u8 *key);
void packed_get(struct str packed, u8 *key, u32 size);
void packed_free(struct packed *p);
