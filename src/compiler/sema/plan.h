/* plan.h - for ways to keep a map (core/store.h): what several need to lay one out. */
#pragma once
#include "sema/mapuse.h"

enum { KEY_SHORT = 64 }; /* longer keys of aggregations that programs only add to are hashed */

/* A map of one element that user space maps; named after m. */
struct map *plan_memory(struct compile *c, const struct map *m, const char *what, u32 size);
/* The limit of keys is to be kept exactly: no memory of ours takes more beside the kernel's map. */
bool plan_exact_limit(const struct compile *c);
