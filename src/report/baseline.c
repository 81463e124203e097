/*
 * baseline.c - clear() without losing what happens meanwhile.
 *
 * Programs go on adding while user space prints and clears. So clear() of a map that programs only
 * add to changes nothing in the kernel: it remembers what had been counted, and later readings are
 * taken less that. print(@x); clear(@x) in one run of a probe remember what was printed: every
 * event is in exactly one printout. Elements that did not change for a whole interval are removed
 * when the map is more than half full of them.
 */
#include "report/baseline.h"
#include "base/alloc.h"
#include "base/tab.h"
#include "core/agg.h"
#include "report/report.h"

/*
 * Records of one run bear the same time when one is always made before the other; where branches
 * lie between them, or two probes do it, such a distance is near enough.
 */
enum { SAME_RUN_NS = 1000000 };

/* A reading that is kept: heap. */
struct base {
	u8 *keys;
	u64 *words;
	u32 n, key_size, nwords;
	struct tab index; /* key -> number + 1 */
	u64 ts;           /* of the event that asked for it; 0 if none did */
	bool valid;
};
struct baseline {
	struct base base, last; /* what is subtracted; the last reading, before that */
	u32 epoch;
};

static void base_drop(struct base *b)
{
	free(b->keys);
	free(b->words);
	tab_free(&b->index);
	*b = (struct base){0};
}

struct baseline_maps {
	struct baseline *of; /* by map; NULL before the first question */
	u32 n;
};

static struct baseline *baseline_of(struct reporter *r, const struct map *m)
{
	struct baseline_maps *all = r->baseline;
	assert(m->index < MAX(r->unit->nmap, 1u));
	if (!all->of)
		all->of = xcalloc(r->unit->nmap, sizeof(*all->of));
	all->n = r->unit->nmap;
	return &all->of[m->index];
}

u32 *baseline_epoch(struct reporter *r, const struct map *m)
{
	return &baseline_of(r, m)->epoch;
}

bool baseline_wanted(const struct map *m)
{
	const struct agg *agg = agg_of(m->val);
	return m->cleared && m->adds && agg && agg->adds;
}

static struct str key_at(const u8 *keys, u32 size, u32 i)
{
	return str_n(size ? (const char *)keys + (size_t)i * size : "", size);
}

/* Remember a reading: n keys of key_size bytes, words of each. */
void baseline_note(struct reporter *r, const struct map *m, const struct reading *got)
{
	struct base *b = &baseline_of(r, m)->last;
	base_drop(b);
	b->n = got->n;
	b->key_size = got->key_size;
	b->nwords = got->nwords;
	b->ts = r->records.event_ts;
	b->keys = xmalloc((size_t)got->n * got->key_size + 1);
	b->words = xmalloc(((size_t)got->n * got->nwords + 1) * sizeof(u64));
	if (got->n && got->key_size)
		memcpy(b->keys, got->keys, (size_t)got->n * got->key_size);
	memcpy(b->words, got->words, (size_t)got->n * got->nwords * sizeof(u64));
	b->valid = true;
}

static void index_keys(struct base *b)
{
	for (u32 i = 0; i < b->n; i++)
		tab_set(&b->index, key_at(b->keys, b->key_size, i), (void *)(uintptr_t)(i + 1));
}

/* Take off what was cleared; elements that are as they were then go away. */
void baseline_subtract(struct reporter *r, const struct map *m, struct reading *got)
{
	const struct base *b = &baseline_of(r, m)->base;
	assert(!b->valid || b->nwords == got->nwords);
	assert(!b->valid || b->key_size == got->key_size);
	u32 kept = 0;
	for (u32 i = 0; b->valid && i < got->n; i++) {
		u64 *w = got->words + (size_t)i * got->nwords, any = 0;
		size_t at =
			(size_t)(uintptr_t)tab_get(&b->index, key_at(got->keys, got->key_size, i));
		const u64 *was = at ? b->words + (at - 1) * got->nwords : NULL;
		for (u32 k = 0; k < got->nwords; k++) {
			w[k] -= was ? was[k] : 0;
			any |= w[k];
		}
		if (was && !any)
			continue;
		memmove(got->words + (size_t)kept * got->nwords, w, got->nwords * sizeof(u64));
		if (got->key_size)
			memmove(got->keys + (size_t)kept * got->key_size,
				got->keys + (size_t)i * got->key_size, got->key_size);
		kept++;
	}
	if (b->valid)
		got->n = kept;
}

bool baseline_is_fresh(struct reporter *r, const struct map *m)
{
	const struct base *l = &baseline_of(r, m)->last;
	return l->valid && l->ts && r->records.event_ts >= l->ts &&
	       r->records.event_ts - l->ts < SAME_RUN_NS;
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
void baseline_from_now(struct reporter *r, const struct map *m, baseline_gone *gone)
{
	struct baseline *c = baseline_of(r, m);
	struct base *now = &c->last;
	assert(now->valid);
	u32 kept = 0;
	bool crowded = !m->scalar && now->n > m->max_entries / 2;
	for (u32 i = 0; i < now->n; i++) {
		if (crowded && unchanged(&c->base, now, i)) {
			gone(r, m, now->keys + (size_t)i * now->key_size);
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

void baseline_forget(struct reporter *r, const struct map *m)
{
	base_drop(&baseline_of(r, m)->base);
	base_drop(&baseline_of(r, m)->last);
}

struct baseline_maps *baseline_new(void)
{
	return xcalloc(1, sizeof(struct baseline_maps));
}

void baseline_free(struct baseline_maps *c)
{
	for (u32 i = 0; c && i < c->n; i++) {
		base_drop(&c->of[i].base);
		base_drop(&c->of[i].last);
	}
	if (c)
		free(c->of);
	free(c);
}
