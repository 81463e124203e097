/* number.h - dense ids for numbers that occur. */
#pragma once
#include "base/base.h"

struct number_set {
	u64 *slot; /* number + 1 */
	u32 *id;
	u32 n, size;
};
/* The id of a number, from 1 in the order in which they come; *fresh if it is there for the first time. */
u32 number_id(struct number_set *s, u64 n, bool *fresh);
void number_free(struct number_set *s);
