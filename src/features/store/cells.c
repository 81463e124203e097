/*
 * cells.c - numbers by key in a table of our own, for maps that programs only store to, read and
 * delete from: open addressing, one table for all CPUs, in an array element (map.own) that user
 * space maps.
 *
 * At its start a word that is set once something went to the kernel's hash map, which takes what
 * finds no slot here. Then SLOTS slots and PROBES more, so that a probe never wraps:
 *
 *	u64 state	hash of the key (the high bits) | version | TAKEN | BUSY
 *	key		padded with zeros to words
 *	u64 value
 *
 * A free slot has only a version. Whoever takes it sets hash and BUSY by compare-and-exchange,
 * writes key and value, and then sets TAKEN instead of BUSY. A value is replaced while BUSY is set
 * beside TAKEN, which keeps the slot from being freed; who wants to store meanwhile has been
 * overtaken and stores nothing. Deleting is one exchange that leaves the next version. A reader
 * looks at the state before and after the value.
 *
 * Two CPUs that store a new key at once may take two slots for it: the first counts, and deleting
 * frees both. Likewise what is here hides what the hash map has. Loads and stores of the state keep
 * their order with those of key and value: lower_acquire(), lower_release().
 */
#include "base/alloc.h"
#include "base/tab.h"
#include "store/common.h"

enum {
	SLOTS = 8192,
	PROBES = 4,
	HEADER = 64, /* its first word: store_behind_at() */
	BUSY = 1,
	TAKEN = 2,
	VERSION = 4,
	VERSIONS = 0x1fffc,
	KEY_WORDS = 4,
};

static u32 value_at(const struct map *m)
{
	return 8 + ALIGN_UP(m->key_size, 8u);
}

static u32 slot_size(const struct map *m)
{
	return value_at(m) + 8;
}

static u32 memory_size(const struct map *m)
{
	return HEADER + (SLOTS + PROBES) * slot_size(m);
}

/* ---- compiling ---- */

static bool fits(struct compile *c, const struct map *m, const struct mapuse *use)
{
	struct host *h = c->host;
	if (c->unit->config.warnings) /* a miss is to be told where it is */
		return false;
	bool number = type_is_scalar(m->val) && !type_is_agg(m->val) && m->val_size == 8;
	return number && !m->scalar && !use->used_whole && !use->crowded && !m->declared &&
	       !m->keys && m->key_size <= 8 * KEY_WORDS && !plan_exact_limit(c) &&
	       host_has(h, FEAT_ATOMIC) && (h->arch->keeps_order || host_has(h, FEAT_ORDERED));
}

static void plan(struct compile *c, struct map *m)
{
	store_hash.plan(c, m);
	m->own = plan_memory(c, m, "cells", memory_size(m));
}

static bool sound(const struct map *m, u32 ncpu)
{
	return store_hash.sound(m, ncpu) && !m->percpu && !agg_of(m->val) && m->val_size == 8 &&
	       m->key_size <= 8 * KEY_WORDS && m->own && memory_size(m) <= m->own->val_size;
}

/* ---- programs ---- */

struct cell {
	struct map *m;
	struct map_key mem; /* the key, for the hash map */
	struct ref key[KEY_WORDS], tag, start, base;
	struct ref slot, state; /* variables: what was found, and its state as it was */
	u32 nkey;
};

static struct ref masked(struct lower *l, struct ref state, u64 without)
{
	return ir_op2(l->f, O_AND, state, ir_con(l->f, ~without));
}

static void cell_at(struct lower *l, struct map *m, const struct map_key *key, struct cell *c)
{
	struct fn *f = l->f;
	*c = (struct cell){.m = m, .mem = *key, .slot = ir_var(f), .state = ir_var(f)};
	c->nkey = lower_key_words(l, key->mem, m->key_size, c->key);
	struct ref h = lower_hash_words(l, c->key, c->nkey);
	c->tag = ir_op2(f, O_OR, masked(l, h, VERSIONS | TAKEN | BUSY), ir_con(f, TAKEN));
	c->start = lower_element(l, m->own);
	struct ref at = ir_op2(f, O_AND, ir_op2(f, O_SHR, h, ir_con(f, 20)), ir_con(f, SLOTS - 1));
	at = ir_op2(f, O_MUL, at, ir_con(f, slot_size(m)));
	c->base = ir_op2(f, O_ADD, c->start, at);
}

static i32 nth(const struct cell *c, u32 i)
{
	return (i32)(HEADER + i * slot_size(c->m));
}

/* Goes to yes when the slot holds the key, with its state; else on. */
static void match(struct lower *l, struct cell *c, u32 i, struct blk *yes)
{
	struct fn *f = l->f;
	struct blk *same = ir_blk(f), *next = ir_blk(f);
	struct ref state = lower_acquire(l, 8, c->base, nth(c, i));
	same->unlikely = i > 0;
	ir_br(f, O_EQ, masked(l, state, VERSIONS | BUSY), c->tag, same, next);
	ir_at(f, same);
	for (u32 k = 0; k < c->nkey; k++) {
		struct blk *more = ir_blk(f);
		more->unlikely = i > 0;
		ir_br(f, O_EQ, ir_load(f, 8, c->base, nth(c, i) + 8 + (i32)(8 * k)), c->key[k],
		      more, next);
		ir_at(f, more);
	}
	ir_set(f, c->slot, ir_addi(f, c->base, nth(c, i)));
	ir_set(f, c->state, state);
	ir_jmp(f, yes);
	ir_at(f, next);
}

/* On when something may be in the hash map, else to none. */
static void overflowed(struct lower *l, struct cell *c, struct blk *none)
{
	struct fn *f = l->f;
	struct blk *some = ir_blk(f);
	some->unlikely = true;
	ir_br(f, O_EQ, ir_load(f, 8, c->start, 0), ir_con(f, 0), none, some);
	ir_at(f, some);
}

/* What p points to, as the map's type says. */
static struct ref value_behind(struct lower *l, const struct map *m, struct ref p)
{
	return lower_load(l, MIN(m->val->size, 8u), m->val->is_signed, mem_of(p, 0));
}

/* What the slot holds, before the state is looked at again. */
static struct ref value_in(struct lower *l, const struct map *m, struct ref slot)
{
	u32 w = MIN(m->val->size, 8u);
	struct ref v = lower_acquire(l, w, slot, (i32)value_at(m));
	return m->val->is_signed && w < 8 ? ir_op1(l->f, O_EXTS, w, v) : v;
}

static struct ref read_cell(struct lower *l, struct map *m, struct node *key, struct ref *there)
{
	struct fn *f = l->f;
	struct cell c;
	struct ref out = ir_var(f), had = ir_var(f), zero = ir_con(f, 0), one = ir_con(f, 1);
	struct blk *hit = ir_blk(f), *sure = ir_blk(f), *miss = ir_blk(f), *done = ir_blk(f),
		   *found = ir_blk(f);
	struct map_key k = lower_key(l, m, key);
	cell_at(l, m, &k, &c);
	ir_set(f, out, zero);
	ir_set(f, had, zero);
	for (u32 i = 0; i < PROBES; i++)
		match(l, &c, i, hit);
	ir_jmp(f, miss);

	ir_at(f, hit);
	struct ref slot = ir_get(f, c.slot), val = value_in(l, m, slot);
	struct ref still = ir_op2(f, O_XOR, ir_load(f, 8, slot, 0), ir_get(f, c.state));
	ir_br(f, O_EQ, masked(l, still, BUSY), zero, sure, miss);
	ir_at(f, sure);
	ir_set(f, out, val);
	ir_set(f, had, one);
	ir_jmp(f, done);

	ir_at(f, miss);
	overflowed(l, &c, done);
	struct ref p = store_hash_find(l, m, &k);
	found->unlikely = true;
	ir_br(f, O_NE, p, zero, found, done);
	ir_at(f, found);
	ir_set(f, out, value_behind(l, m, p));
	ir_set(f, had, one);
	ir_jmp(f, done);
	ir_at(f, done);
	*there = ir_get(f, had);
	return ir_get(f, out);
}

static struct ref read_value(struct lower *l, struct map *m, struct node *key)
{
	struct ref there;
	return read_cell(l, m, key, &there);
}

static struct ref has(struct lower *l, struct map *m, struct node *key)
{
	struct ref there;
	read_cell(l, m, key, &there);
	return there;
}

/* Take a free slot: key and value first, then it counts. Else on. */
static void take(struct lower *l, struct cell *c, struct ref val, struct blk *done)
{
	struct fn *f = l->f;
	struct blk *fill = ir_blk(f);
	struct ref con = ir_con(f, TAKEN | BUSY);
	for (u32 i = 0; i < PROBES; i++) {
		struct blk *unused = ir_blk(f), *mine = ir_blk(f), *next = ir_blk(f);
		unused->unlikely = mine->unlikely = i > 0;
		next->unlikely = true;
		struct ref state = ir_load(f, 8, c->base, nth(c, i));
		ir_br(f, O_EQ, masked(l, state, VERSIONS), ir_con(f, 0), unused, next);
		ir_at(f, unused);
		struct ref version =
			ir_op2(f, O_AND, ir_addi(f, state, VERSION), ir_con(f, VERSIONS));
		struct ref busy = ir_op2(f, O_XOR, ir_op2(f, O_OR, c->tag, version), con);
		struct ref was = ir_cmpxchg(f, 8, c->base, nth(c, i), state, busy);
		ir_br(f, O_EQ, was, state, mine, next);
		ir_at(f, mine);
		ir_set(f, c->slot, ir_addi(f, c->base, nth(c, i)));
		ir_set(f, c->state, busy);
		ir_jmp(f, fill);
		ir_at(f, next);
	}
	struct blk *full = f->cur;
	ir_at(f, fill);
	struct ref slot = ir_get(f, c->slot);
	for (u32 k = 0; k < c->nkey; k++)
		ir_store(f, 8, slot, 8 + (i32)(8 * k), c->key[k]);
	ir_store(f, 8, slot, (i32)value_at(c->m), val);
	lower_release(l, slot, 0, ir_op2(f, O_XOR, ir_get(f, c->state), con));
	ir_jmp(f, done);
	ir_at(f, full);
}

static void assign(struct lower *l, struct map *m, struct node *key, struct node *value)
{
	struct fn *f = l->f;
	struct cell c;
	struct blk *hit = ir_blk(f), *idle = ir_blk(f), *ours = ir_blk(f), *gone = ir_blk(f),
		   *done = ir_blk(f);
	struct ref val = lower_convert(l, lower_value(l, value), value->type, m->val);
	struct map_key k = lower_key(l, m, key);
	if (m->val->size < 8)
		val = ir_op1(f, O_EXTU, m->val->size, val);
	cell_at(l, m, &k, &c);
	for (u32 i = 0; i < PROBES; i++)
		match(l, &c, i, hit);
	ir_jmp(f, gone);

	ir_at(f, hit);
	struct ref slot = ir_get(f, c.slot), state = ir_get(f, c.state);
	struct ref busy = ir_op2(f, O_AND, state, ir_con(f, BUSY));
	ir_br(f, O_EQ, busy, ir_con(f, 0), idle, done);
	ir_at(f, idle);
	/* The state is what the exchange expects in r0: afterwards it is made again, not kept. */
	struct ref now = ir_op2(f, O_OR, state, ir_con(f, BUSY));
	struct ref was = ir_cmpxchg(f, 8, slot, 0, state, now);
	struct ref before = ir_op2(f, O_XOR, now, ir_con(f, BUSY));
	ir_br(f, O_EQ, was, before, ours, gone);
	ir_at(f, ours);
	ir_store(f, 8, slot, (i32)value_at(m), val);
	lower_release(l, slot, 0, before);
	ir_jmp(f, done);

	ir_at(f, gone);
	take(l, &c, val, done);
	ir_store(f, 8, c.start, 0, ir_con(f, 1));
	struct mem copy = lower_tmp(l, 8);
	lower_store(l, 8, copy, val);
	store_hash_update(l, m, &k, copy);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* The hash map comes first: who stores there meanwhile found the slot taken, and is overtaken. */
static struct ref remove_cell(struct lower *l, struct map *m, struct node *key)
{
	struct fn *f = l->f;
	struct cell c;
	struct ref had = ir_var(f), one = ir_con(f, 1);
	struct blk *slots = ir_blk(f), *was_there = ir_blk(f);
	struct map_key k = lower_key(l, m, key);
	cell_at(l, m, &k, &c);
	ir_set(f, had, ir_con(f, 0));
	overflowed(l, &c, slots);
	ir_br(f, O_NE, store_hash_remove(l, m, &k), ir_con(f, 0), was_there, slots);
	ir_at(f, was_there);
	ir_set(f, had, one);
	ir_jmp(f, slots);
	ir_at(f, slots);
	for (u32 i = 0; i < PROBES; i++) {
		struct blk *hit = ir_blk(f), *idle = ir_blk(f), *freed = ir_blk(f),
			   *next = ir_blk(f);
		match(l, &c, i, hit);
		ir_jmp(f, next);
		ir_at(f, hit);
		struct ref state = ir_get(f, c.state);
		struct ref busy = ir_op2(f, O_AND, state, ir_con(f, BUSY));
		ir_br(f, O_EQ, busy, ir_con(f, 0), idle, freed); /* busy: stored right afterwards */
		ir_at(f, idle);
		struct ref version =
			ir_op2(f, O_AND, ir_addi(f, state, VERSION), ir_con(f, VERSIONS));
		struct ref was = ir_cmpxchg(f, 8, ir_get(f, c.slot), 0, state, version);
		ir_br(f, O_EQ, was, state, freed, next);
		ir_at(f, freed);
		ir_set(f, had, one);
		ir_jmp(f, next);
		ir_at(f, next);
	}
	return ir_get(f, had);
}

/* ---- user space ---- */

typedef void cell_cb(void *arg, u64 *slot, u64 state);

static void each_cell(struct reporter *r, const struct map *m, cell_cb *cb, void *arg)
{
	assert(m->own);
	u32 size = slot_size(m);
	u8 *mem = source_mem(r, m->own);
	for (u32 i = 0; mem && i < SLOTS + PROBES; i++) {
		u64 *slot = (void *)(mem + HEADER + (size_t)i * size);
		u64 state = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (state & TAKEN)
			cb(arg, slot, state);
	}
}

struct cells {
	const struct map *m;
	struct tab index; /* keys seen; the first counts */
	u8 *keys, *vals;
	u32 n, cap;
	bool keep; /* reset: to 0, not away */
};

static void cells_add(struct cells *c, const void *key, const void *val)
{
	u32 size = c->m->key_size;
	if (tab_get(&c->index, str_n(key, size)))
		return;
	assert(c->n < c->cap);
	u8 *copy = c->keys + (size_t)c->n * size;
	memcpy(copy, key, size);
	memcpy(c->vals + (size_t)c->n * c->m->val_size, val, c->m->val_size);
	tab_set(&c->index, str_n((char *)copy, size), copy);
	c->n++;
}

static void gather_cell(void *arg, u64 *slot, u64 state)
{
	struct cells *c = arg;
	u64 key[KEY_WORDS], val;
	memcpy(key, slot + 1, ALIGN_UP(c->m->key_size, 8u));
	val = __atomic_load_n(slot + value_at(c->m) / 8, __ATOMIC_ACQUIRE);
	u64 now = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	if (!((now ^ state) & ~(u64)BUSY)) /* else it was deleted meanwhile */
		cells_add(c, key, &val);
}

/* What the cells hold, and what the map holds beside. */
static struct err *snapshot(struct reporter *r, const struct map *m, struct snap *n)
{
	struct err *e = store_is_behind(r, m) ? store_hash.snapshot(r, m, n) : NULL;
	if (e)
		return e;
	u32 cap = n->n + SLOTS + PROBES;
	struct cells c = {.m = m,
			  .cap = cap,
			  .keys = xcalloc(cap, m->key_size),
			  .vals = xcalloc(cap, m->val_size)};
	each_cell(r, m, gather_cell, &c);
	for (u32 i = 0; i < n->n; i++)
		cells_add(&c, n->keys + (size_t)i * m->key_size, n->vals + (size_t)i * m->val_size);
	tab_free(&c.index);
	free(n->keys);
	free(n->vals);
	n->keys = c.keys;
	n->vals = c.vals;
	n->n = c.n;
	return NULL;
}

/* As a program deletes, or stores 0; what is stored right now stays. */
static void reset_cell(void *arg, u64 *slot, u64 state)
{
	const struct cells *c = arg;
	u64 next = c->keep ? state | BUSY : (state + VERSION) & VERSIONS;
	if ((state & BUSY) || !__atomic_compare_exchange_n(slot, &state, next, false,
							   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return;
	if (!c->keep)
		return;
	__atomic_store_n(slot + value_at(c->m) / 8, 0, __ATOMIC_RELEASE);
	__atomic_store_n(slot, state, __ATOMIC_RELEASE);
}

static struct err *reset(struct reporter *r, const struct map *m, bool keep)
{
	each_cell(r, m, reset_cell, &(struct cells){.m = m, .keep = keep});
	return store_is_behind(r, m) ? store_hash.reset(r, m, keep) : NULL;
}

const struct store store_cells = {
	.name = "cells",
	.fits = fits,
	.plan = plan,
	.sound = sound,
	.assign = assign,
	.read = read_value,
	.has = has,
	.remove = remove_cell,
	.snapshot = snapshot,
	.reset = reset,
};
