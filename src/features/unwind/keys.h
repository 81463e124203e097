/* keys.h - stacks in keys of maps, of which user space knows the callers (core/unwind.h: UNWIND_MARK). */
#pragma once
#include "types/type.h"

/* The callers of a stack that a program did not finish: mark is its last frame. NULL: they are not known. */
typedef const u64 *tail_fn(void *arg, u64 mark, u32 *n);
/* Put the callers in the place of marks in a key of type t. True if there was a mark. */
bool unwind_finish_key(tail_fn *find, void *arg, const struct type *t, u8 *key);
