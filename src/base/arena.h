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
	struct kept *kept;
};

void *arena_alloc(struct arena *a, size_t size, size_t align); /* zeroed */
char *arena_fmt(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
void arena_keep(struct arena *a, void *p); /* what malloc() gave becomes the arena's to free */
void arena_reset(struct arena *a);         /* forget everything, keep the largest chunk for reuse */
void arena_free(struct arena *a);

#define arena_new(a, T)     ((T *)arena_alloc((a), sizeof(T), _Alignof(T)))
#define arena_newn(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (n), _Alignof(T)))

/* Room for one more behind n things that grow in no other way: twice as much at 4, 8, 16 ... */
void *arena_more(struct arena *a, const void *v, u32 n, size_t size);
#define arena_push(a, v, n, x)                                 \
	do {                                                   \
		(v) = arena_more((a), (v), (n), sizeof(*(v))); \
		(v)[(n)++] = (x);                              \
	} while (0)
