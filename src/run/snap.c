/*
 * snap.c - what maps hold in the kernel: one reading, with the copies of CPUs merged; clear and
 * zero. How each is kept, its store knows.
 */
#include "base/alloc.h"
#include "core/agg.h"
#include "core/store.h"
#include "run/run.h"
#include <errno.h>

void map_failed(struct session *s, const struct map *m, const char *what, struct err *e)
{
	AUTO_SB text = {0};
	sb_fmt(&text, "cannot %s map %.*s: %s", what, STRF(m->name), e->msg);
	session_error(s, false, "", m->loc, sb_str(&text));
	err_free(e);
}

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
	u32 words = n->agg->words(n->m->val);
	n->merged = xcalloc((size_t)n->n * words + 1, sizeof(u64));
	for (u32 i = 0; i < n->n * copies; i++)
		n->agg->merge(n->m->val, n->merged + (size_t)(i / copies) * words,
			      (const u64 *)(n->vals + (size_t)i * size));
}

static void snap_less_cleared(struct session *s, struct snap *n)
{
	const struct map *m = n->m;
	struct reading r = {n->keys, n->merged, n->n, m->scalar ? 0 : n->key_size,
			    n->agg->words(m->val)};
	cleared_note(s, m, &r);
	cleared_subtract(s, m, &r);
	if (!m->scalar)
		n->n = r.n;
	else if (!r.n)
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

/* What hashed keys stand for; one that found no room there reads as zeros. any: a stack in one of
 * them was finished. */
static struct err *read_keys(struct session *s, struct snap *n, bool *any)
{
	const struct map *k = n->m->keys;
	bool on = unwind_on(s);
	u8 *AUTO_FREE key = xmalloc(k->val_size);
	n->packed.size = n->key_size = k->val_size;
	for (u32 i = 0; i < n->n; i++) {
		memset(key, 0, k->val_size);
		struct err *e = bpf_map_get(map_fd(s, k), n->keys + (size_t)i * k->key_size, key);
		if (e && e->no != ENOENT)
			return e;
		err_free(e);
		*any |= on && unwind_finish_key(s, n->m->key, key);
		packed_add(&n->packed, key);
	}
	free(n->keys);
	n->keys = NULL;
	return NULL;
}

static struct err *finish_keys(struct session *s, struct snap *n, bool *any)
{
	if (n->m->keys)
		return read_keys(s, n, any);
	for (u32 i = 0; i < n->n && unwind_on(s); i++)
		*any |= unwind_finish_key(s, n->m->key, n->keys + (size_t)i * n->key_size);
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
	n->n = kept;
	tab_free(&seen);
	arena_free(&a);
}

static struct str key_bytes(void *snap, u32 i)
{
	return key_text(snap, i);
}

struct err *snap_take(struct session *s, const struct map *m, struct snap *n)
{
	*n = (struct snap){.m = m, .agg = agg_of(m->val), .present = !m->scalar};
	n->val_size = n->agg ? n->agg->words(m->val) * 8 : m->val_size;
	n->key_size = m->key_size;
	struct err *e = m->store->snapshot(s, m, n);
	if (e)
		return e;
	if (n->agg && cleared_wanted(m)) /* by their hashes */
		snap_less_cleared(s, n);
	bool finished = false;
	e = m->key ? finish_keys(s, n, &finished) : NULL;
	if (finished && !e) /* two keys can stand for one stack now */
		snap_join(n, key_bytes, n);
	return e;
}

/* ---- changing ---- */

/* An element that did not change for a whole interval. */
static void remove_key(struct session *s, const struct map *m, const u8 *key)
{
	if (!m->keys) /* else what its hash stands for would stay there */
		m->store->forget(s, m, key);
}

static struct err *clear_later(struct session *s, const struct map *m)
{
	struct snap n = {0};
	struct err *e = cleared_is_fresh(s, m) ? NULL : snap_take(s, m, &n);
	if (!e)
		cleared_from_now(s, m, remove_key);
	snap_free(&n);
	return e;
}

void session_clear_map(struct session *s, const struct map *m)
{
	if (!map_made(s, m))
		return;
	++*cleared_epoch(s, m);
	struct err *e = cleared_wanted(m) ? clear_later(s, m) : m->store->reset(s, m, false);
	if (e)
		map_failed(s, m, "clear", e);
}

void session_zero_map(struct session *s, const struct map *m)
{
	if (!map_made(s, m))
		return;
	++*cleared_epoch(s, m);
	if (cleared_wanted(m))
		cleared_forget(s, m);
	struct err *e = m->store->reset(s, m, true);
	if (e)
		map_failed(s, m, "zero", e);
}
