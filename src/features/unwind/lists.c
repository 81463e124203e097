/* lists.c - room for lists: ranges of chunks, in use or free. */
#include "unwind/lists.h"
#include "base/alloc.h"
#include <string.h>

enum { REST_NS = 2000000000 };

static u64 hash_of(const struct unwind_piece *v, u32 n)
{
	u64 h = n;
	for (u32 i = 0; i < n; i++)
		h = (h ^ v[i].start ^ (u64)v[i].file << 32 ^ v[i].pc) * 0x9e3779b97f4a7c15ull;
	return h;
}

static struct ulist *range_new(struct lists *l, u32 chunk, u32 first, u32 n)
{
	struct ulist *x = xcalloc(1, sizeof(*x));
	*x = (struct ulist){.chunk = chunk, .first = first, .n = n};
	vec_add(&l->list, x);
	return x;
}

static struct unwind_piece *pieces(const struct lists *l, const struct ulist *x)
{
	return &l->chunk.v[x->chunk]->piece[x->first];
}

static struct ulist *find_equal(struct lists *l, u64 hash, const struct unwind_piece *v, u32 n)
{
	for (u32 i = 0; i < l->list.n; i++) {
		struct ulist *x = l->list.v[i];
		if (x->refs && x->hash == hash && x->n == n &&
		    !memcmp(pieces(l, x), v, n * sizeof(*v)))
			return x;
	}
	return NULL;
}

static int by_place(const void *pa, const void *pb)
{
	const struct ulist *a = *(struct ulist *const *)pa, *b = *(struct ulist *const *)pb;
	if (a->chunk != b->chunk)
		return a->chunk < b->chunk ? -1 : 1;
	return a->first < b->first ? -1 : 1;
}

/* Neighbours that are free become one. */
static void join(struct lists *l)
{
	u32 n = 0;
	if (!l->list.n)
		return;
	qsort(l->list.v, l->list.n, sizeof(*l->list.v), by_place);
	for (u32 i = 1; i < l->list.n; i++) {
		struct ulist *a = l->list.v[n], *b = l->list.v[i];
		if (a->chunk == b->chunk && !a->refs && !b->refs) {
			a->n += b->n;
			a->freed_ns = MAX(a->freed_ns, b->freed_ns);
			free(b);
		} else {
			l->list.v[++n] = b;
		}
	}
	l->list.n = n + 1;
}

static struct ulist *find_room(struct lists *l, u32 n, u64 now_ns)
{
	for (u32 i = 0; i < l->list.n; i++) {
		struct ulist *x = l->list.v[i];
		if (!x->refs && x->n >= n && (!x->freed_ns || now_ns - x->freed_ns > REST_NS))
			return x;
	}
	return NULL;
}

static struct ulist *more_room(struct lists *l)
{
	struct unwind_list_chunk *c;
	if (l->failed || l->chunk.n == l->mem.max_chunks)
		return NULL;
	l->failed = l->mem.chunk(l->mem.arg, l->chunk.n, &c);
	if (l->failed)
		return NULL;
	vec_add(&l->chunk, c);
	return range_new(l, l->chunk.n - 1, 0, UNWIND_PIECES);
}

struct ulist *lists_put(struct lists *l, const struct unwind_piece *v, u32 n, u64 now_ns)
{
	u64 hash = hash_of(v, n);
	struct ulist *x = find_equal(l, hash, v, n);
	if (x) {
		x->refs++;
		return x;
	}
	x = find_room(l, n, now_ns);
	if (!x)
		x = more_room(l);
	if (!x) {
		join(l);
		x = find_room(l, n, now_ns);
	}
	if (!x)
		return NULL;
	if (x->n > n) {
		struct ulist *rest = range_new(l, x->chunk, x->first + n, x->n - n);
		rest->freed_ns = x->freed_ns;
	}
	x->n = n;
	x->hash = hash;
	x->refs = 1;
	memcpy(pieces(l, x), v, n * sizeof(*v));
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return x;
}

void lists_drop(struct lists *l, struct ulist *x, u64 now_ns)
{
	(void)l;
	assert(x->refs);
	if (!--x->refs)
		x->freed_ns = now_ns;
}

void lists_free(struct lists *l)
{
	for (u32 i = 0; i < l->list.n; i++)
		free(l->list.v[i]);
	vec_free(&l->list);
	vec_free(&l->chunk);
	err_free(l->failed);
}
