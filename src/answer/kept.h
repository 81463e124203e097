/*
 * kept.h - inside merge: the items of a host as they were read, for a merged answer in which each host still has its own.
 *
 * Of rows of maps only their place is kept: they are merged, and are written behind the PRINT of the first host that has
 * them.
 */
#pragma once
#include "answer/rows.h"
#include "rec/read.h"

struct kept_item {
	u16 kind;
	struct str fields;       /* of VALUE and CELLS those before the values */
	const struct value *val; /* NULL: there are none */
	u32 nval;
	struct table *table; /* of PRINT: what its rows are merged in */
};
struct kept {
	VEC(struct kept_item) item;
};
/* What was made of the item: by its kind, one of these is looked at. */
struct kept_of {
	const struct value *val;
	const struct emitted *row;
	struct table *table;
};
void kept_add(struct kept *k, struct answer_in *in, const struct rec_answer *it,
	      const struct kept_of *of);
