/*
 * tables.h - what the items of a recording say, while it is read. For read.c.
 *
 * Facts stay until tables_free(). Names are forgotten by tables_forget(), or when the file says that
 * they are not used any more.
 */
#pragma once
#include "base/vec.h"
#include "rec/rec.h"

struct rec_string {
	struct str s;
	bool cut;
};
/* Things of one kind, in the order of their ids. */
struct names_of {
	void *v; /* n times size bytes, which begin with u32 id */
	u32 n, cap, size, last;
	struct arena a;
};
enum names_kind { NAMES_STRING, NAMES_TASK, NAMES_MAPPING, NAMES_FRAME, NAMES_STACK, NAMES_KINDS };

struct rec_part {
	struct str name, bytes;
	u64 at, whole;
};
struct rec_end_item {
	u64 rows, lost;
	enum rec_end how;
	struct str reason;
	struct rec_total *total; /* by schema - 1 */
	u32 ntotal;
};
struct rec_tables {
	struct arena a; /* of facts */
	VEC(struct str) meta;
	VEC(struct rec_feature) feature;
	VEC(struct rec_clock) clock;
	VEC(struct rec_loss) loss;
	VEC(struct rec_enum) enums;
	VEC(struct rec_part) part;
	VEC(const struct rec_schema *) schema; /* by id - 1; NULL if it is missing */
	VEC(const struct rec_schema *) known;  /* without gaps */
	struct rec_end_item end;
	bool ended;
	struct names_of names[NAMES_KINDS];
	VEC(struct rec_exit) exits;
};
struct rec_items {
	struct str bytes;
	u32 n;      /* as the block's header says */
	u32 bad;    /* out: items that could not be read */
	u32 needed; /* out: kind of an unknown item that is needed, or 0 */
};
void tables_init(struct rec_tables *t);
void tables_free(struct rec_tables *t);
void tables_forget(struct rec_tables *t); /* all names */
void tables_take(struct rec_tables *t, struct rec_items *in);
void tables_loss(struct rec_tables *t, const struct rec_loss *l); /* texts are copied */
/* NULL if it is not known. */
const struct rec_string *tables_string(const struct rec_tables *t, u32 id);
const void *tables_name(const struct rec_tables *t, enum names_kind kind, u32 id);
