/*
 * arena.h - memory by lifetime.
 *
 * Everything the compiler makes lives in one of three arenas and is freed
 * all at once: session (whole run), unit (one compiled script), scratch (one
 * pass). There is no free(). Running out of memory ends the program.
 */
#pragma once
#include "base/base.h"

struct arena {
	struct chunk *head;
	char *at, *end;
};

void *arena_alloc(struct arena *a, size_t size, size_t align); /* zeroed */
char *arena_fmt(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
void arena_reset(struct arena *a); /* forget everything, keep the largest chunk for reuse */
void arena_free(struct arena *a);

#define arena_new(a, T)     ((T *)arena_alloc((a), sizeof(T), _Alignof(T)))
#define arena_newn(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (n), _Alignof(T)))
