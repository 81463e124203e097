/*
 * cleared.c - clear() without losing what happens meanwhile.
 *
 * Programs go on adding while user space prints and clears. So clear() of a map that programs only
 * add to changes nothing in the kernel: it remembers what had been counted, and later readings are
 * taken less that. print(@x); clear(@x) in one run of a probe remember what was printed: every
 * event is in exactly one printout. Elements that did not change for a whole interval are removed
 * when the map is more than half full of them.
 */
#include "base/alloc.h"
#include "core/agg.h"
#include "run/run.h"

/*
 * Records of one run bear the same time when one is always made before the other; where branches
 * lie between them, or two probes do it, such a distance is near enough.
 */
enum { SAME_RUN_NS = 1000000 };

static void base_drop(struct base *b)
{
	free(b->keys);
	free(b->words);
	tab_free(&b->index);
	*b = (struct base){0};
}

struct all_cleared {
	struct cleared *v; /* by map; NULL: nobody asked yet */
	u32 n;
};

static struct cleared *cleared_of(struct session *s, const struct map *m)
{
	struct all_cleared *all = s->part[PART_CLEARED];
	if (!all->v)
		all->v = xcalloc(s->u->nmap, sizeof(*all->v));
	all->n = s->u->nmap;
	return &all->v[m->index];
}

u32 *cleared_epoch(struct session *s, const struct map *m)
{
	return &cleared_of(s, m)->epoch;
}

bool cleared_wanted(const struct map *m)
{
	const struct agg *agg = agg_of(m->val);
	return m->cleared && m->adds && agg && agg->adds;
}

static struct str key_at(const u8 *keys, u32 size, u32 i)
{
	return str_n(size ? (const char *)keys + (size_t)i * size : "", size);
}

/* Remember a reading: n keys of key_size bytes, words of each. */
void cleared_note(struct session *s, const struct map *m, const struct reading *r)
{
	struct base *b = &cleared_of(s, m)->last;
	base_drop(b);
	b->n = r->n;
	b->key_size = r->key_size;
	b->nwords = r->nwords;
	b->ts = s->records.event_ts;
	b->keys = xmalloc((size_t)r->n * r->key_size + 1);
	b->words = xmalloc(((size_t)r->n * r->nwords + 1) * sizeof(u64));
	if (r->n && r->key_size)
		memcpy(b->keys, r->keys, (size_t)r->n * r->key_size);
	memcpy(b->words, r->words, (size_t)r->n * r->nwords * sizeof(u64));
	b->valid = true;
}

static void index_keys(struct base *b)
{
	for (u32 i = 0; i < b->n; i++)
		tab_set(&b->index, key_at(b->keys, b->key_size, i), (void *)(uintptr_t)(i + 1));
}

/* Take off what was cleared; elements that are as they were then go away. */
void cleared_subtract(struct session *s, const struct map *m, struct reading *r)
{
	const struct base *b = &cleared_of(s, m)->base;
	u32 kept = 0;
	for (u32 i = 0; b->valid && i < r->n; i++) {
		u64 *w = r->words + (size_t)i * r->nwords, any = 0;
		size_t at = (size_t)(uintptr_t)tab_get(&b->index, key_at(r->keys, r->key_size, i));
		const u64 *was = at ? b->words + (at - 1) * r->nwords : NULL;
		for (u32 k = 0; k < r->nwords; k++) {
			w[k] -= was ? was[k] : 0;
			any |= w[k];
		}
		if (was && !any)
			continue;
		memmove(r->words + (size_t)kept * r->nwords, w, r->nwords * sizeof(u64));
		if (r->key_size)
			memmove(r->keys + (size_t)kept * r->key_size,
				r->keys + (size_t)i * r->key_size, r->key_size);
		kept++;
	}
	if (b->valid)
		r->n = kept;
}

bool cleared_is_fresh(struct session *s, const struct map *m)
{
	const struct base *l = &cleared_of(s, m)->last;
	return l->valid && l->ts && s->records.event_ts >= l->ts &&
	       s->records.event_ts - l->ts < SAME_RUN_NS;
}

static bool unchanged(const struct base *old, const struct base *now, u32 i)
{
	size_t at = old->valid ? (size_t)(uintptr_t)tab_get(&old->index,
							    key_at(now->keys, now->key_size, i))
			       : 0;
	size_t bytes = now->nwords * sizeof(u64);
	return at && !memcmp(old->words + (at - 1) * now->nwords,
			     now->words + (size_t)i * now->nwords, bytes);
}

/* The last reading is what clear() forgets. gone is called with keys that may be removed from the
 * kernel. */
void cleared_from_now(struct session *s, const struct map *m, cleared_gone *gone)
{
	struct cleared *c = cleared_of(s, m);
	struct base *now = &c->last;
	u32 kept = 0;
	bool crowded = !m->scalar && now->n > m->max_entries / 2;
	for (u32 i = 0; i < now->n; i++) {
		if (crowded && unchanged(&c->base, now, i)) {
			gone(s, m, now->keys + (size_t)i * now->key_size);
			continue;
		}
		if (now->key_size)
			memmove(now->keys + (size_t)kept * now->key_size,
				now->keys + (size_t)i * now->key_size, now->key_size);
		memmove(now->words + (size_t)kept * now->nwords,
			now->words + (size_t)i * now->nwords, now->nwords * sizeof(u64));
		kept++;
	}
	now->n = kept;
	base_drop(&c->base);
	c->base = *now;
	*now = (struct base){0};
	index_keys(&c->base);
}

void cleared_forget(struct session *s, const struct map *m)
{
	base_drop(&cleared_of(s, m)->base);
	base_drop(&cleared_of(s, m)->last);
}

static void cleared_close(void *self)
{
	struct all_cleared *all = self;
	for (u32 i = 0; i < all->n; i++) {
		base_drop(&all->v[i].base);
		base_drop(&all->v[i].last);
	}
	free(all->v);
}

const struct part part_cleared = {
	.name = "cleared maps",
	.size = sizeof(struct all_cleared),
	.close = cleared_close,
};
