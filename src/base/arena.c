#include "base/arena.h"
#include "base/alloc.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Chunks are zeroed, so an arena that holds little begins with a small one. */
enum { CHUNK_FIRST = 4096, CHUNK_MAPPED = 16 * 1024, CHUNK_MAX = 64 * 1024 };

struct chunk {
	struct chunk *next;
	size_t size;
	size_t mapped; /* bytes; 0: from the heap */
	max_align_t data[];
};

static void use(struct arena *a, struct chunk *c)
{
	a->at = (char *)c->data;
	a->end = a->at + c->size;
}

/*
 * A pass ends as the next begins: what one gave back the other takes, and the kernel need not be asked.
 * A build that looks for uses of freed memory (make sanitize) keeps none.
 */
#ifndef ARENA_SPARES
#define ARENA_SPARES 4
#endif
static struct chunk *spare[ARENA_SPARES + 1]; /* the last is none */

static struct chunk *take_spare(size_t all)
{
	for (size_t i = 0; i + 1 < countof(spare); i++) {
		struct chunk *c = spare[i];
		if (!c || c->mapped != all)
			continue;
		spare[i] = NULL;
		memset(c, 0, all);
		return c;
	}
	return NULL;
}

/*
 * An arena that grew fills its chunk: the kernel is asked for all its pages at once, where each
 * that is touched first costs ten times as much.
 */
static struct chunk *map_chunk(size_t all)
{
	struct chunk *c = take_spare(all);
	if (!c)
		c = mmap(NULL, all, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (c == MAP_FAILED)
		return NULL;
	c->mapped = all;
	return c;
}

static void chunk_free(struct chunk *c)
{
	if (!c->mapped) {
		free(c);
		return;
	}
	for (size_t i = 0; i + 1 < countof(spare); i++) {
		if (spare[i])
			continue;
		spare[i] = c;
		return;
	}
	munmap(c, c->mapped);
}

/* Twice as much as the last, from one page to CHUNK_MAX. */
static size_t next_size(const struct chunk *last)
{
	size_t n = CHUNK_FIRST;
	while (last && n < CHUNK_MAX && n < 2 * (last->size + sizeof(*last)))
		n *= 2;
	return n;
}

static void grow(struct arena *a, size_t size)
{
	struct chunk *c = a->head;
	size_t usual = next_size(c);
	bool fits = size <= usual - sizeof(*c);
	size = MAX(size, usual - sizeof(*c));
	c = fits && usual >= CHUNK_MAPPED ? map_chunk(usual) : NULL;
	if (!c)
		c = xcalloc(1, sizeof(*c) + size);
	c->size = size;
	c->next = a->head;
	a->head = c;
	use(a, c);
}

void *arena_alloc(struct arena *a, size_t size, size_t align)
{
	assert(align && (align & (align - 1)) == 0);
	assert(align <= _Alignof(max_align_t));
	size_t pad = -(uintptr_t)a->at & (align - 1);
	if (!a->at || size + pad > (size_t)(a->end - a->at)) {
		grow(a, size);
		pad = 0;
	}
	void *p = a->at + pad;
	a->at += pad + size;
	return p;
}

/* ---- what was allocated elsewhere ---- */

struct kept {
	struct kept *next;
	void *p;
};

void arena_keep(struct arena *a, void *p)
{
	struct kept *k = arena_new(a, struct kept);
	*k = (struct kept){a->kept, p};
	a->kept = k;
}

static void free_kept(struct arena *a)
{
	for (struct kept *k = a->kept; k; k = k->next)
		free(k->p);
	a->kept = NULL;
}

void *arena_more(struct arena *a, const void *v, u32 n, size_t size)
{
	enum { LEAST = 4 };
	if (n && (n < LEAST || (n & (n - 1))))
		return (void *)(uintptr_t)v;
	void *more = arena_alloc(a, size * (n ? 2 * (size_t)n : LEAST), _Alignof(max_align_t));
	if (n)
		memcpy(more, v, n * size);
	return more;
}

char *arena_fmt(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	char *s = arena_alloc(a, (size_t)n + 1, 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

void arena_reset(struct arena *a)
{
	struct chunk *keep = a->head;
	if (!keep)
		return;
	free_kept(a);
	bool only = !keep->next;
	if (only && a->at == (char *)keep->data)
		return;
	for (struct chunk *c = keep->next; c; c = c->next)
		if (c->size > keep->size)
			keep = c;
	for (struct chunk *c = a->head, *next; c; c = next) {
		next = c->next;
		if (c != keep)
			chunk_free(c);
	}
	/* Memory handed out must be zero again; what was never reached still is. */
	size_t used = only ? (size_t)(a->at - (char *)keep->data) : keep->size;
	memset(keep->data, 0, used);
	keep->next = NULL;
	a->head = keep;
	use(a, keep);
}

void arena_free(struct arena *a)
{
	free_kept(a);
	for (struct chunk *c = a->head, *next; c; c = next) {
		next = c->next;
		chunk_free(c);
	}
	*a = (struct arena){0};
}
