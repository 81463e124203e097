/*
 * axis.h - round numbers for the axes of a picture.
 *
 * An axis of values is made of rows, buckets of a histogram, that are equally high. Marks are multiples of 1, 2 and 5
 * times powers of ten, or powers of two where the unit is of bytes, wherever in a row they lie.
 */
#pragma once
#include "base/arena.h"
#include "core/value.h"

enum { AXIS_MARKS = 64 };
struct axis {
	const struct bucket *row; /* ascending */
	u32 n;
	bool linear;     /* rows are equally wide; else they grow with their values */
	struct str unit; /* of the values, "" if unknown: us, bytes ... */
	u32 most;        /* marks that fit beside each other: at most AXIS_MARKS */
};
struct axis_mark {
	double at; /* rows from the beginning of the first */
	struct str label;
};
/* The number of marks, which are ascending. Labels are in the arena. */
u32 axis_marks(const struct axis *x, struct arena *a, struct axis_mark ret[AXIS_MARKS]);
/* The least of 1, 2, 5, 10 ... that is not below least, which is at least 1. */
u64 axis_step(u64 least);
