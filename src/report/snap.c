/*
 * snap.c - what maps hold in the kernel: one reading, with the copies of CPUs merged; clear and
 * zero. How each is kept, its store knows.
 */
#include "report/snap.h"
#include "base/alloc.h"
#include "core/agg.h"
#include "core/store.h"
#include "report/baseline.h"
#include "report/report.h"
#include <errno.h>

void snap_free(struct snap *n)
{
	free(n->keys);
	packed_free(&n->packed);
	free(n->vals);
	free(n->merged);
}

void snap_merge(struct snap *n, u32 copies, u32 size)
{
	if (!n->agg)
		return;
	assert(copies && !n->merged);
	u32 words = n->agg->words(n->m->val);
	n->merged = xcalloc((size_t)n->n * words + 1, sizeof(u64));
	for (u32 i = 0; i < n->n * copies; i++)
		n->agg->merge(n->m->val, n->merged + (size_t)(i / copies) * words,
			      (const u64 *)(n->vals + (size_t)i * size));
}

static void snap_less_baseline(struct reporter *r, struct snap *n)
{
	const struct map *m = n->m;
	struct reading got = {n->keys, n->merged, n->n, m->scalar ? 0 : n->key_size,
			      n->agg->words(m->val)};
	baseline_note(r, m, &got);
	baseline_subtract(r, m, &got);
	if (!m->scalar)
		n->n = got.n;
	else if (!got.n)
		n->present = false; /* a row of zeros, shown when asked for */
}

/* ---- keys ---- */

const u8 *snap_key(const struct snap *n, u32 i, u8 *buf)
{
	if (!n->packed.size)
		return n->keys ? n->keys + (size_t)i * n->key_size : NULL;
	packed_get(n->packed.key.v[i], buf, n->key_size);
	return buf;
}

static bool finish_key(struct reporter *r, const struct type *t, u8 *key)
{
	return r->reader.names->finish_key(r->reader.asked, t, key);
}

/* What hashed keys stand for; one that found no room there reads as zeros. any: a stack in one of
 * them was finished. */
static struct err *read_keys(struct reporter *r, struct snap *n, bool *any)
{
	const struct map *k = n->m->keys;
	bool on = r->unit->unwind;
	assert(k->key_size == n->key_size); /* of a hash */
	u8 *AUTO_FREE key = xmalloc(k->val_size);
	n->packed.size = n->key_size = k->val_size;
	for (u32 i = 0; i < n->n; i++) {
		memset(key, 0, k->val_size);
		struct err *e = source_get(r, k, n->keys + (size_t)i * k->key_size, key);
		if (e && e->no != ENOENT)
			return e;
		err_free(e);
		*any |= on && finish_key(r, n->m->key, key);
		packed_add(&n->packed, key);
	}
	free(n->keys);
	n->keys = NULL;
	return NULL;
}

static struct err *finish_keys(struct reporter *r, struct snap *n, bool *any)
{
	if (n->m->keys)
		return read_keys(r, n, any);
	for (u32 i = 0; i < n->n && r->unit->unwind; i++)
		*any |= finish_key(r, n->m->key, n->keys + (size_t)i * n->key_size);
	return NULL;
}

static struct str key_text(const struct snap *n, u32 i)
{
	if (n->packed.size)
		return n->packed.key.v[i];
	return str_n((const char *)n->keys + (size_t)i * n->key_size, n->key_size);
}

static void move_row(struct snap *n, u8 *vals, u32 to, u32 from)
{
	size_t key = n->key_size, val = n->val_size;
	if (n->packed.size)
		n->packed.key.v[to] = n->packed.key.v[from];
	else
		memmove(n->keys + to * key, n->keys + from * key, key);
	memmove(vals + to * val, vals + from * val, val);
}

/* By the rule of the map; of plain values that are no counters the first stays. */
static void join_values(const struct snap *n, u8 *into, const u8 *val)
{
	if (n->agg)
		n->agg->merge(n->m->val, (u64 *)(void *)into, (const u64 *)(const void *)val);
	else if (n->m->counter)
		*(u64 *)(void *)into += *(const u64 *)(const void *)val;
}

void snap_join(struct snap *n, struct str (*identity)(void *arg, u32 i), void *arg)
{
	struct tab seen = {0};
	struct arena a = {0};
	u8 *vals = n->agg ? (u8 *)n->merged : n->vals;
	u32 kept = 0, all = n->n;
	for (u32 i = 0; i < all; i++) {
		struct str key = identity(arg, i);
		u8 *into = tab_get(&seen, key);
		if (into) {
			join_values(n, into, vals + (size_t)i * n->val_size);
			continue;
		}
		move_row(n, vals, kept, i);
		tab_add(&seen, arena_str(&a, key), vals + (size_t)kept * n->val_size);
		kept++;
	}
	assert(kept <= all);
	n->n = kept;
	tab_free(&seen);
	arena_free(&a);
}

static struct str key_bytes(void *snap, u32 i)
{
	return key_text(snap, i);
}

static struct err *take(struct reporter *r, const struct map *m, bool peek, struct snap *n)
{
	assert(m->store->snapshot);
	*n = (struct snap){.m = m, .agg = agg_of(m->val), .present = !m->scalar};
	n->val_size = n->agg ? n->agg->words(m->val) * 8 : m->val_size;
	n->key_size = m->key_size;
	struct err *e = m->store->snapshot(r, m, n);
	if (e)
		return e;
	if (!peek && n->agg && baseline_wanted(m)) /* by their hashes */
		snap_less_baseline(r, n);
	bool finished = false;
	e = m->key ? finish_keys(r, n, &finished) : NULL;
	if (finished && !e) /* two keys can stand for one stack now */
		snap_join(n, key_bytes, n);
	return e;
}

struct err *snap_take(struct reporter *r, const struct map *m, struct snap *n)
{
	return take(r, m, false, n);
}

struct err *snap_peek(struct reporter *r, const struct map *m, struct snap *n)
{
	return take(r, m, true, n);
}

/* ---- changing ---- */

/* For a map whose elements are about to lose their values. */
static void tell_watcher(struct reporter *r, const struct map *m)
{
	if (r->output.watcher && m->role == MAP_USER)
		report_watch_clear(r, m);
}

/* An element that did not change for a whole interval. */
static void remove_key(struct reporter *r, const struct map *m, const u8 *key)
{
	if (!m->keys) /* else what its hash stands for would stay there */
		m->store->forget(r, m, key);
}

static struct err *clear_later(struct reporter *r, const struct map *m)
{
	struct snap n = {0};
	struct err *e = baseline_is_fresh(r, m) ? NULL : snap_take(r, m, &n);
	if (!e)
		baseline_from_now(r, m, remove_key);
	snap_free(&n);
	return e;
}

void report_clear_map(struct reporter *r, const struct map *m)
{
	if (!source_has(r, m))
		return;
	++*baseline_epoch(r, m);
	if (!baseline_wanted(m))
		tell_watcher(r, m);
	struct err *e = baseline_wanted(m) ? clear_later(r, m) : m->store->reset(r, m, false);
	if (e)
		report_map_failed(r, m, "clear", e);
}

void report_zero_map(struct reporter *r, const struct map *m)
{
	if (!source_has(r, m))
		return;
	++*baseline_epoch(r, m);
	if (baseline_wanted(m))
		baseline_forget(r, m);
	tell_watcher(r, m);
	struct err *e = m->store->reset(r, m, true);
	if (e)
		report_map_failed(r, m, "zero", e);
}
