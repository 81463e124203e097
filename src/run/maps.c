/*
 * maps.c - what maps hold: snapshot, merge CPUs, sort, print; clear and zero.
 */
#include "base/tab.h"
#include "core/cell.h"
#include "core/table.h"
#include "run/run.h"
#include <errno.h>

/* One read of a map. Rows point into keys and vals (or merged). */
struct snap {
	const struct map *m;
	const struct agg *agg; /* NULL: plain values */
	u8 *keys, *vals;       /* heap */
	u32 key_size;          /* of one in keys */
	u64 *merged;           /* heap; agg's words of each element */
	u32 n;
	bool present;           /* scalar: something was stored */
	struct str percentiles; /* show these instead of the histogram; "" none */
};
struct row {
	const u8 *key;
	const void *val;
};

static u32 copy_size(const struct map *m)
{
	if (m->stride)
		return m->stride;
	return m->percpu ? ALIGN_UP(m->val_size, 8) : m->val_size;
}

/* Bytes of one element as user space sees it. */
static u32 user_size(const struct session *s, const struct map *m)
{
	return m->percpu ? copy_size(m) * s->h->ncpu : m->val_size;
}

static void map_failed(struct session *s, const struct map *m, const char *what, struct err *e)
{
	AUTO_SB text = {0};
	sb_fmt(&text, "cannot %s map %.*s: %s", what, STRF(m->name), e->msg);
	session_error(s, false, "", m->loc, sb_str(&text));
	err_free(e);
}

static void snap_free(struct snap *n)
{
	free(n->keys);
	free(n->vals);
	free(n->merged);
}

/* Something was stored: the word for that, or what aggregations hold then (map.c of lower/). */
static bool is_present(const struct map *m, const u8 *copy)
{
	u64 word, any = 0;
	for (u32 i = 0; m->stride && i < m->present; i += 8) {
		memcpy(&word, copy + i, sizeof(word));
		any |= word;
	}
	memcpy(&word, copy + m->present, sizeof(word));
	return any || word;
}

static struct err *snap_scalar(struct session *s, struct snap *n)
{
	const struct map *m = n->m;
	u32 zero = 0, copies = m->percpu ? s->h->ncpu : 1;
	struct err *e = NULL;
	n->vals = calloc(1, user_size(s, m));
	if (!n->vals)
		abort();
	if (!m->stride)
		e = bpf_map_get(m->fd, &zero, n->vals);
	else if (m->mem)
		memcpy(n->vals, m->mem, user_size(s, m));
	if (e)
		return e;
	n->n = 1;
	for (u32 c = 0; c < copies; c++)
		n->present |= is_present(m, n->vals + (size_t)c * copy_size(m));
	return NULL;
}

static void snap_merge(struct session *s, struct snap *n)
{
	const struct type *t = n->m->val;
	u32 words = n->agg->words(t), copies = n->m->percpu ? s->h->ncpu : 1;
	size_t stride = user_size(s, n->m);
	n->merged = calloc((size_t)n->n * words + 1, sizeof(u64));
	if (!n->merged)
		abort();
	for (u32 i = 0; i < n->n; i++)
		for (u32 c = 0; c < copies; c++)
			n->agg->merge(
				t, n->merged + (size_t)i * words,
				(const u64 *)(n->vals + i * stride + (size_t)c * copy_size(n->m)));
}

/* What hashed keys stand for; one that found no room there reads as zeros. */
static void snap_keys(struct snap *n)
{
	const struct map *k = n->m->keys;
	u8 *full = calloc(n->n + 1ul, k->val_size);
	if (!full)
		abort();
	for (u32 i = 0; i < n->n; i++)
		err_free(bpf_map_get(k->fd, n->keys + (size_t)i * k->key_size,
				     full + (size_t)i * k->val_size));
	free(n->keys);
	n->keys = full;
	n->key_size = k->val_size;
}

/* ---- tables (core/table.h) ---- */

typedef void slot_cb(void *arg, u8 *slot);

static void each_slot(struct session *s, const struct map *m, slot_cb *cb, void *arg)
{
	u32 size = table_slot_size(m);
	u8 *mem = m->table->mem;
	for (u32 c = 0; mem && c < s->h->ncpu; c++)
		for (u32 i = 0; i < TABLE_SLOTS + TABLE_PROBES; i++) {
			u8 *slot = mem + (size_t)c * table_cpu_size(m) + (size_t)i * size;
			u64 tag;
			memcpy(&tag, slot, sizeof(tag));
			if (tag > TABLE_BUSY)
				cb(arg, slot);
		}
}

struct gather {
	struct snap *n;
	struct tab index; /* key -> element number + 1 */
	u32 cap, words;
};

static void gather_slot(void *arg, u8 *slot)
{
	struct gather *g = arg;
	struct snap *n = g->n;
	u32 key_size = n->m->key_size;
	struct str key = str_n((char *)slot + 8, key_size);
	size_t at = (size_t)(uintptr_t)tab_get(&g->index, key);
	if (!at) {
		assert(n->n < g->cap);
		u8 *copy = n->keys + (size_t)n->n * key_size;
		memcpy(copy, slot + 8, key_size);
		at = ++n->n;
		tab_set(&g->index, str_n((char *)copy, key_size), (void *)(uintptr_t)at);
	}
	u64 *into = n->merged + (at - 1) * g->words, *from = (u64 *)(slot + table_value_at(n->m));
	if (!table_by_bucket(n->m))
		n->agg->merge(n->m->val, into, from);
	else if (from[-1] < g->words)
		into[from[-1]] += *from;
}

/* What the table holds, merged with what the map holds. Slots may appear meanwhile: there is room
 * for all. */
static void snap_table(struct session *s, struct snap *n)
{
	const struct map *m = n->m;
	struct gather g = {.n = n, .words = n->agg->words(m->val)};
	g.cap = n->n + s->h->ncpu * (TABLE_SLOTS + TABLE_PROBES);
	u8 *keys = calloc(g.cap + 1ul, m->key_size);
	u64 *merged = calloc(g.cap + 1ul, g.words * sizeof(u64));
	if (!keys || !merged)
		abort();
	if (n->n) {
		memcpy(keys, n->keys, (size_t)n->n * m->key_size);
		memcpy(merged, n->merged, (size_t)n->n * g.words * sizeof(u64));
	}
	free(n->keys);
	free(n->merged);
	n->keys = keys;
	n->merged = merged;
	for (u32 i = 0; i < n->n; i++)
		tab_set(&g.index, str_n((char *)keys + (size_t)i * m->key_size, m->key_size),
			(void *)(uintptr_t)(i + 1));
	each_slot(s, m, gather_slot, &g);
	tab_free(&g.index);
}

/* ---- cells (core/cell.h) ---- */

typedef void cell_cb(void *arg, u64 *slot, u64 state);

static void each_cell(const struct map *m, cell_cb *cb, void *arg)
{
	u8 *mem = m->cells->mem;
	for (u32 i = 0; mem && i < CELL_SLOTS + CELL_PROBES; i++) {
		u64 *slot = (void *)(mem + CELL_HEADER + (size_t)i * cell_slot_size(m));
		u64 state = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (state & CELL_TAKEN)
			cb(arg, slot, state);
	}
}

struct cells {
	const struct map *m;
	struct tab index; /* keys seen; the first counts */
	u8 *keys, *vals;
	u32 n;
	bool zero; /* reset: to 0, not away */
};

static void cells_add(struct cells *c, const void *key, const void *val)
{
	u32 size = c->m->key_size;
	if (tab_get(&c->index, str_n(key, size)))
		return;
	u8 *copy = c->keys + (size_t)c->n * size;
	memcpy(copy, key, size);
	memcpy(c->vals + (size_t)c->n * c->m->val_size, val, c->m->val_size);
	tab_set(&c->index, str_n((char *)copy, size), copy);
	c->n++;
}

static void gather_cell(void *arg, u64 *slot, u64 state)
{
	enum { KEY_WORDS = CELL_KEY_MAX / 8 };
	struct cells *c = arg;
	u64 key[KEY_WORDS], val;
	memcpy(key, slot + 1, ALIGN_UP(c->m->key_size, 8u));
	val = __atomic_load_n(slot + cell_value_at(c->m) / 8, __ATOMIC_ACQUIRE);
	u64 now = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	if (!((now ^ state) & ~(u64)CELL_BUSY)) /* else it was deleted meanwhile */
		cells_add(c, key, &val);
}

/* What the cells hold, and what the map holds beside. */
static void snap_cells(struct snap *n)
{
	const struct map *m = n->m;
	size_t cap = n->n + CELL_SLOTS + CELL_PROBES;
	struct cells c = {
		.m = m, .keys = calloc(cap, m->key_size), .vals = calloc(cap, m->val_size)};
	if (!c.keys || !c.vals)
		abort();
	each_cell(m, gather_cell, &c);
	for (u32 i = 0; i < n->n; i++)
		cells_add(&c, n->keys + (size_t)i * m->key_size, n->vals + (size_t)i * m->val_size);
	tab_free(&c.index);
	free(n->keys);
	free(n->vals);
	n->keys = c.keys;
	n->vals = c.vals;
	n->n = c.n;
}

/* As a program deletes, or stores 0; what is stored right now stays. */
static void reset_cell(void *arg, u64 *slot, u64 state)
{
	const struct cells *c = arg;
	bool zero = c->zero;
	u64 next = zero ? state | CELL_BUSY : (state + CELL_VERSION) & CELL_VERSIONS;
	if ((state & CELL_BUSY) || !__atomic_compare_exchange_n(slot, &state, next, false,
								__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return;
	if (!zero)
		return;
	__atomic_store_n(slot + cell_value_at(c->m) / 8, 0, __ATOMIC_RELEASE);
	__atomic_store_n(slot, state, __ATOMIC_RELEASE);
}

struct reset {
	u32 value, size;
	bool zero;
};

/* A free slot is free last, so that whoever takes it finds it empty. */
static void reset_slot(void *arg, u8 *slot)
{
	const struct reset *r = arg;
	memset(slot + r->value, 0, r->size - r->value);
	if (!r->zero)
		__atomic_store_n((u64 *)(void *)slot, 0, __ATOMIC_RELEASE);
}

static void reset_table(struct session *s, const struct map *m, bool zero)
{
	struct reset r = {table_value_at(m), table_slot_size(m), zero};
	each_slot(s, m, reset_slot, &r);
}

static void snap_less_cleared(struct session *s, struct snap *n)
{
	const struct map *m = n->m;
	struct reading r = {n->keys, n->merged, n->n, m->scalar ? 0 : n->key_size,
			    n->agg->words(m->val)};
	base_note(s, m, &r);
	base_subtract(s, m, &r);
	if (!m->scalar)
		n->n = r.n;
	else if (!r.n)
		n->present = false; /* a row of zeros, shown when asked for */
}

static struct err *snap_take(struct session *s, const struct map *m, struct snap *n)
{
	struct err *e;
	*n = (struct snap){.m = m, .agg = agg_of(m->val), .present = true};
	if (m->scalar) {
		n->present = false;
		e = snap_scalar(s, n);
	} else {
		e = bpf_map_all(m->fd, m->key_size, user_size(s, m), m->max_entries, &n->keys,
				&n->vals, &n->n);
	}
	n->key_size = m->key_size;
	if (!e && n->agg)
		snap_merge(s, n);
	if (!e && m->table)
		snap_table(s, n);
	if (!e && m->cells)
		snap_cells(n);
	if (!e && m->keys)
		snap_keys(n);
	if (!e && n->agg && base_wanted(m))
		snap_less_cleared(s, n);
	return e;
}

/* ---- order ---- */

static u64 load_int(const struct type *t, const u8 *p)
{
	u64 v = 0;
	u32 size = MIN(t->size, 8);
	memcpy(&v, p, size);
	if (t->is_signed && size < 8)
		v = (u64)((i64)(v << (64 - 8 * size)) >> (64 - 8 * size));
	return v;
}

static int cmp_num(const struct type *t, u64 a, u64 b)
{
	if (t->is_signed)
		return ((i64)a > (i64)b) - ((i64)a < (i64)b);
	return (a > b) - (a < b);
}

static int cmp_text(const u8 *a, const u8 *b, u32 size)
{
	struct str x = str_n((const char *)a, strnlen((const char *)a, size));
	struct str y = str_n((const char *)b, strnlen((const char *)b, size));
	return str_cmp(x, y);
}

static int cmp_buf(const u8 *a, const u8 *b, u32 size)
{
	u32 na, nb;
	memcpy(&na, a, sizeof(na));
	memcpy(&nb, b, sizeof(nb));
	return str_cmp(str_n((const char *)a + 4, MIN(na, size - 4)),
		       str_n((const char *)b + 4, MIN(nb, size - 4)));
}

static int cmp_key(const struct type *t, const u8 *a, const u8 *b);

static int cmp_fields(const struct type *t, const u8 *a, const u8 *b)
{
	u32 n;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++) {
		u32 at = f[i].bit_off / 8;
		int d = cmp_key(f[i].type, a + at, b + at);
		if (d)
			return d;
	}
	return 0;
}

static int cmp_key(const struct type *t, const u8 *a, const u8 *b)
{
	if (type_is_int(t) || t->kind == T_BOOL || t->kind == T_PTR || t->kind == T_KSYM ||
	    t->kind == T_USERNAME || t->kind == T_PROBE)
		return cmp_num(t, load_int(t, a), load_int(t, b));
	if (t->kind == T_STRING || (t->kind == T_ARRAY && t->base->is_char))
		return cmp_text(a, b, t->size);
	if (t->kind == T_BUF)
		return cmp_buf(a, b, t->size);
	if (t->kind == T_TUPLE || t->kind == T_RECORD || type_is_record(t))
		return cmp_fields(t, a, b);
	if (t->kind == T_ARRAY) {
		for (u32 i = 0; i < t->count; i++) {
			size_t at = (size_t)i * t->base->size;
			int d = cmp_key(t->base, a + at, b + at);
			if (d)
				return d;
		}
		return 0;
	}
	return memcmp(a, b, t->size);
}

/* Counts, sums and the like by value, all else (and equal values) by key. */
static int cmp_rows(const void *pa, const void *pb, void *arg)
{
	const struct snap *n = arg;
	const struct row *a = pa, *b = pb;
	int d = 0;
	if (n->agg)
		d = n->agg->cmp(n->m->val, a->val, b->val);
	else if (type_is_int(n->m->val))
		d = cmp_num(n->m->val, load_int(n->m->val, a->val), load_int(n->m->val, b->val));
	return d || !n->m->key ? d : cmp_key(n->m->key, a->key, b->key);
}

static struct row *snap_rows(const struct session *s, struct snap *n, struct arena *a)
{
	struct row *rows = arena_newn(a, struct row, n->n ? n->n : 1);
	size_t stride = user_size(s, n->m), words = n->agg ? n->agg->words(n->m->val) : 0;
	for (u32 i = 0; i < n->n; i++) {
		rows[i].key = n->keys ? n->keys + (size_t)i * n->key_size : NULL;
		rows[i].val = n->agg ? (const void *)(n->merged + i * words)
				     : (const void *)(n->vals + i * stride);
	}
	qsort_r(rows, n->n, sizeof(*rows), cmp_rows, n);
	return rows;
}

/* ---- printing ---- */

/* The type by which a plain value is shown: the stored one, but bools, enums and pointers as they
 * were written. */
static const struct type *shown_type(const struct map *m)
{
	const struct type *t = m->shown;
	bool narrow = t && t->size <= m->val->size && m->val->kind == T_INT;
	return narrow && (t->kind == T_BOOL || t->kind == T_ENUM || t->kind == T_PTR) ? t : m->val;
}

static void decode_val(struct session *s, struct arena *a, const struct snap *n, const void *p,
		       u64 div, struct value *ret)
{
	const struct map *m = n->m;
	if (n->agg) {
		n->agg->decode(m->val, p, div, a, ret);
		if (m->val->kind == T_LHIST && ret->kind == V_HIST)
			ret->step = (u64)m->val->p[2];
		if (n->percentiles.n && ret->kind == V_HIST) {
			struct value hist = *ret;
			value_percentiles(a, n->percentiles, &hist, ret);
		}
		return;
	}
	decode_value(s, a, shown_type(m), p, ret);
	if (div > 1 && ret->kind == V_INT)
		ret->i /= (i64)div;
	else if (div > 1 && ret->kind == V_UINT)
		ret->u /= div;
}

/* Absent scalars: 0 when asked for; an empty histogram prints nothing, and neither does anything at
 * exit. */
static bool is_shown(const struct snap *n, bool at_exit)
{
	if (n->present)
		return n->n != 0;
	return !at_exit && n->m->val->kind != T_HIST && n->m->val->kind != T_LHIST &&
	       n->m->val->kind != T_TSERIES;
}

struct rows {
	struct session *s;
	const struct snap *n;
	const struct row *row;
	u64 div;
	struct arena arena; /* of the row that is shown */
	struct value key, val;
};

static void make_row(void *rows, u64 i)
{
	struct rows *r = rows;
	arena_reset(&r->arena);
	if (!r->n->m->scalar)
		decode_value(r->s, &r->arena, r->n->m->key, r->row[i].key, &r->key);
	decode_val(r->s, &r->arena, r->n, r->row[i].val, r->div, &r->val);
}

static void put_rows(struct session *s, struct snap *n, u32 top, u64 div, bool shown)
{
	struct arena a = {0};
	struct row *rows = snap_rows(s, n, &a);
	u32 count = shown ? n->n : 0, from = top && top < count && !n->m->scalar ? count - top : 0;
	struct rows r = {.s = s, .n = n, .row = rows + from, .div = div};
	struct item it = {.kind = I_MAP,
			  .name = n->m->name,
			  .map_kind = n->m->val->kind,
			  .n = count - from,
			  .key = n->m->scalar ? NULL : &r.key,
			  .val = &r.val,
			  .make_row = make_row,
			  .rows = &r};
	session_put(s, &it);
	arena_free(&r.arena);
	arena_free(&a);
}

static void print_map(struct session *s, const struct map *m, u32 top, u64 div, bool at_exit,
		      struct str percentiles)
{
	struct snap n;
	if (m->fd < 0)
		return;
	struct err *e = snap_take(s, m, &n);
	n.percentiles = percentiles;
	if (e)
		map_failed(s, m, "read", e);
	else
		put_rows(s, &n, top, div, is_shown(&n, at_exit));
	snap_free(&n);
}

void session_print_map(struct session *s, const struct map *m, u32 top, u64 div, bool at_exit)
{
	print_map(s, m, top, div, at_exit, STR(""));
}

void session_print_percentiles(struct session *s, const struct map *m, struct str list)
{
	print_map(s, m, 0, 0, false, list);
}

/* ---- changing ---- */

static void zero_slots(struct session *s, const struct map *m, bool keep)
{
	u8 *mem = m->mem;
	for (u32 c = 0; mem && c < s->h->ncpu; c++, mem += m->stride) {
		u64 was = keep && is_present(m, mem);
		memset(mem, 0, m->present);
		memcpy(mem + m->present, &was, sizeof(was));
	}
}

/* Zero a scalar; keep: it still counts as stored. */
static struct err *zero_scalar(struct session *s, const struct map *m, bool keep)
{
	if (m->stride) {
		zero_slots(s, m, keep);
		return NULL;
	}
	u32 zero = 0, copies = m->percpu ? s->h->ncpu : 1;
	u8 *val AUTO_FREE = calloc(1, user_size(s, m));
	if (!val)
		abort();
	struct err *e = keep ? bpf_map_get(m->fd, &zero, val) : NULL;
	if (e)
		return e;
	for (u32 c = 0; keep && c < copies; c++)
		memset(val + (size_t)c * copy_size(m), 0, m->present);
	return bpf_map_put(m->fd, &zero, val);
}

/* Every key in turn: deleted, or its value set to 0. Elements that went away meanwhile are no
 * failure. */
static struct err *each_key(struct session *s, const struct map *m, bool zero)
{
	u8 *keys AUTO_FREE = NULL, *vals AUTO_FREE = NULL;
	u32 n = 0;
	if (m->table)
		reset_table(s, m, zero);
	if (m->cells)
		each_cell(m, reset_cell, &(struct cells){.m = m, .zero = zero});
	struct err *e =
		bpf_map_all(m->fd, m->key_size, user_size(s, m), m->max_entries, &keys, &vals, &n);
	if (e)
		return e;
	if (n)
		memset(vals, 0, user_size(s, m));
	for (u32 i = 0; i < n && !e; i++) {
		const u8 *key = keys + (size_t)i * m->key_size;
		e = zero ? bpf_map_put(m->fd, key, vals) : bpf_map_del(m->fd, key);
		if (!zero && m->keys)
			err_free(bpf_map_del(m->keys->fd, key));
		if (e && e->no == ENOENT) {
			err_free(e);
			e = NULL;
		}
	}
	return e;
}

struct forget {
	const u8 *key;
	u32 key_size;
	const struct reset *reset;
};

static void forget_slot(void *arg, u8 *slot)
{
	const struct forget *f = arg;
	if (!memcmp(slot + 8, f->key, f->key_size))
		reset_slot((void *)(uintptr_t)f->reset, slot);
}

/* An element that did not change for a whole interval. */
static void remove_key(struct session *s, const struct map *m, const u8 *key)
{
	if (m->keys)
		return; /* its key here is a hash */
	err_free(bpf_map_del(m->fd, key));
	if (!m->table)
		return;
	struct reset r = {table_value_at(m), table_slot_size(m), false};
	struct forget f = {key, m->key_size, &r};
	each_slot(s, m, forget_slot, &f);
}

static struct err *clear_later(struct session *s, const struct map *m)
{
	struct snap n = {0};
	struct err *e = base_is_fresh(s, m) ? NULL : snap_take(s, m, &n);
	if (!e)
		base_clear(s, m, remove_key);
	snap_free(&n);
	return e;
}

void session_clear_map(struct session *s, const struct map *m)
{
	if (m->fd < 0)
		return;
	struct err *e = base_wanted(m) ? clear_later(s, m)
			: m->scalar    ? zero_scalar(s, m, false)
				       : each_key(s, m, false);
	if (e)
		map_failed(s, m, "clear", e);
}

void session_zero_map(struct session *s, const struct map *m)
{
	if (m->fd < 0)
		return;
	if (base_wanted(m))
		base_forget(s, m);
	struct err *e = m->scalar ? zero_scalar(s, m, true) : each_key(s, m, true);
	if (e)
		map_failed(s, m, "zero", e);
}
