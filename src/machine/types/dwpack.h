/*
 * dwpack.h - what debug information says, as bytes from the process that reads it to the one that asked.
 *
 * Types go as a list in which each leads to earlier ones alone, so there are no circles; structs and
 * unions go without members, with a key by which these can be asked for. Whoever takes them believes
 * nothing: kinds, sizes, places and the steps that compute them are looked at one by one.
 */
#pragma once
#include "base/bytes.h"
#include "base/str.h"
#include "base/vec.h"
#include "types/dwarf.h"

/* Where a type stands in the file; means something to the reader alone. */
struct debug_key {
	u32 where;
	u64 unit, type, die;
};

/* ---- whoever reads ---- */
void debug_pack_frames(struct sb *b, const struct debug_frame *v, u32 n);
void debug_pack_func(struct sb *b, struct debug *d, const struct debug_func *f);
void debug_pack_type(struct sb *b, struct debug *d, const struct type *t); /* NULL: none */
/* The members of the struct or union there; false: there is none. */
bool debug_pack_members(struct sb *b, struct debug *d, const struct debug_key *k);
void debug_pack_key(struct sb *b, const struct debug_key *k);
struct debug_key debug_take_key(struct bytes *b);

/* ---- whoever asked ---- */
struct debug_record {
	struct debug_key key;
	bool read;
	u32 size, align, nfield;
	const struct field *field;
};
struct debug_types {
	struct filler filler; /* of structs and unions: type.id - 1 is an index of record */
	struct arena *arena;
	VEC(struct debug_record) record;
};
/* False: that makes no sense. Names are copied into the arena. */
bool debug_take_frames(struct bytes *b, struct arena *a, struct debug_frame *v, u32 max, u32 *n);
bool debug_take_func(struct bytes *b, struct debug_types *t, struct debug_func *ret);
bool debug_take_type(struct bytes *b, struct debug_types *t, const struct type **ret);
/* Of record i. */
bool debug_take_members(struct bytes *b, struct debug_types *t, u32 i);
