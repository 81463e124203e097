/*
 * snap.c - what maps hold in the kernel: one reading, with the copies of CPUs merged; clear and
 * zero. How each is kept, its store knows.
 */
#include "base/alloc.h"
#include "core/agg.h"
#include "core/store.h"
#include "run/run.h"

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

/* What hashed keys stand for; one that found no room there reads as zeros. */
static void snap_keys(struct session *s, struct snap *n)
{
	const struct map *k = n->m->keys;
	u8 *full = xcalloc(n->n + 1ul, k->val_size);
	for (u32 i = 0; i < n->n; i++)
		err_free(bpf_map_get(map_fd(s, k), n->keys + (size_t)i * k->key_size,
				     full + (size_t)i * k->val_size));
	free(n->keys);
	n->keys = full;
	n->key_size = k->val_size;
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

static void snap_stacks(struct session *s, struct snap *n)
{
	const struct map *m = n->m;
	struct unwind_rows r = {
		m->key, m->val,      n->agg,     n->keys, n->agg ? (u8 *)n->merged : n->vals,
		n->n,   n->key_size, n->val_size};
	n->n = unwind_finish_keys(s, &r);
}

struct err *snap_take(struct session *s, const struct map *m, struct snap *n)
{
	*n = (struct snap){.m = m, .agg = agg_of(m->val), .present = !m->scalar};
	n->val_size = n->agg ? n->agg->words(m->val) * 8 : m->val_size;
	n->key_size = m->key_size;
	struct err *e = m->store->snapshot(s, m, n);
	if (e)
		return e;
	if (m->keys)
		snap_keys(s, n);
	if (n->agg && cleared_wanted(m))
		snap_less_cleared(s, n);
	if (m->key)
		snap_stacks(s, n);
	return NULL;
}

/* ---- changing ---- */

/* An element that did not change for a whole interval. */
static void remove_key(struct session *s, const struct map *m, const u8 *key)
{
	if (!m->keys) /* else its key here is what a hash stands for */
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
