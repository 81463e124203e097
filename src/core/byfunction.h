/*
 * byfunction.h - a summary of stacks by function: how much ends in it, and how much it is part of.
 *
 *	struct byfunction f = {.left_out = ...};
 *	byfunction_add(&f, row, nkey, weight)	once for each stack
 *	byfunction_end(&f)			then f.rows may be read
 *	byfunction_free(&f)
 */
#pragma once
#include "base/arena.h"
#include "base/tab.h"
#include "base/vec.h"
#include "core/value.h"

/* Cells of a row; ratios are parts of 10,000 of all weights. */
enum {
	BYFUNCTION_SELF, /* weight of the stacks whose innermost frame is the function */
	BYFUNCTION_SELF_RATIO,
	BYFUNCTION_TOTAL, /* weight of the stacks that the function is in */
	BYFUNCTION_TOTAL_RATIO,
	BYFUNCTION_NAME, /* "name (file)"; without a file, a function of the kernel */
	BYFUNCTION_CELLS
};

struct byfunction {
	struct arena a;
	struct tab index; /* name -> row */
	VEC(struct value *) rows;
	u64 nstack, all;
	/* Patterns, with blanks between them: innermost frames of the kernel with such names are not
	 * counted, as if the stack ended at the function that called them. */
	struct str left_out;
};

/*
 * The first stack among the first nkey values of row has the innermost frames; stacks directly behind it
 * are its callers. Stacks behind another value are those of somebody else, and are not counted.
 */
void byfunction_add(struct byfunction *f, const struct value *row, u32 nkey, u64 weight);
/* Sorts the rows: most of the innermost frames first. */
void byfunction_end(struct byfunction *f);
void byfunction_free(struct byfunction *f);
