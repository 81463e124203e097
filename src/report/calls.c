/* calls.c - what waits is kept by thread. */
#include "report/calls.h"
#include "base/alloc.h"

enum { SLOTS = 1024 };

struct calls {
	struct held_call *slot[SLOTS];
	u32 last; /* see calls_last() */
	/* Threads whose last call was of another mode than 0; of two that share a place the later. */
	struct {
		u32 tid, mode;
	} other[SLOTS];
};

static struct held_call *find(struct calls *c, u32 tid)
{
	struct held_call *h = c->slot[tid % SLOTS];
	while (h && h->tid != tid)
		h = h->next;
	return h;
}

struct held_call *calls_hold(struct calls *c, u32 tid)
{
	struct held_call *h = find(c, tid);
	/* One whose thread may be gone serves another. */
	for (struct held_call *p = c->slot[tid % SLOTS]; p && !h; p = p->next)
		h = p->open ? NULL : p;
	if (!h) {
		h = xcalloc(1, sizeof(*h));
		h->next = c->slot[tid % SLOTS];
		c->slot[tid % SLOTS] = h;
	}
	arena_reset(&h->a);
	h->tid = tid;
	h->open = true;
	h->begun = false;
	return h;
}

struct held_call *calls_held(struct calls *c, u32 tid)
{
	struct held_call *h = find(c, tid);
	return h && h->open ? h : NULL;
}

void calls_move(struct calls *c, u32 from, u32 to)
{
	struct held_call **at = &c->slot[from % SLOTS], *old = calls_held(c, to);
	while (*at && (*at)->tid != from)
		at = &(*at)->next;
	if (old && from != to)
		calls_drop(old);
	struct held_call *h = *at;
	if (!h || from == to)
		return;
	*at = h->next;
	h->tid = to;
	h->next = c->slot[to % SLOTS];
	c->slot[to % SLOTS] = h;
	if (c->last == from)
		c->last = to;
}

bool calls_mode(struct calls *c, u32 tid, u32 mode)
{
	u32 *of = &c->other[tid % SLOTS].tid, *has = &c->other[tid % SLOTS].mode;
	u32 before = *of == tid ? *has : 0;
	if (before != mode) {
		*of = tid;
		*has = mode;
	}
	return before != mode;
}

void calls_drop(struct held_call *h)
{
	assert(h->open);
	h->open = false;
}

struct held_call *calls_last(struct calls *c)
{
	return c->last ? calls_held(c, c->last) : NULL;
}

void calls_set_last(struct calls *c, u32 tid)
{
	c->last = tid;
}

struct calls *calls_new(void)
{
	return xcalloc(1, sizeof(struct calls));
}

void calls_free(struct calls *c)
{
	for (u32 i = 0; c && i < SLOTS; i++) {
		for (struct held_call *h = c->slot[i], *next; h; h = next) {
			next = h->next;
			arena_free(&h->a);
			free(h);
		}
	}
	free(c);
}
