/* hash.c - the kernel's hash map, which all CPUs share or in which each has a copy of every value. */
#include "base/alloc.h"
#include "store/common.h"
#include <errno.h>

/* ---- compiling ---- */

static bool percpu_fits(struct compile *c, const struct map *m, const struct mapuse *use)
{
	(void)c, (void)use;
	return !m->scalar && m->percpu;
}

static bool fits(struct compile *c, const struct map *m, const struct mapuse *use)
{
	(void)c, (void)use;
	return !m->scalar;
}

static void plan(struct compile *c, struct map *m)
{
	(void)c;
	if (!m->declared)
		m->map_type = m->percpu ? BPF_MAP_TYPE_PERCPU_HASH : BPF_MAP_TYPE_HASH;
}

static bool sound(const struct map *m, u32 ncpu)
{
	(void)ncpu;
	u32 type = m->percpu ? BPF_MAP_TYPE_PERCPU_HASH : BPF_MAP_TYPE_HASH;
	u32 lru = m->percpu ? BPF_MAP_TYPE_LRU_PERCPU_HASH : BPF_MAP_TYPE_LRU_HASH;
	return !m->scalar && (m->map_type == type || m->map_type == lru) &&
	       m->val_size >= store_value_size(m);
}

/* ---- programs ---- */

struct ref store_hash_find(struct lower *l, const struct map *m, const struct map_key *k)
{
	return ir_call(l->f, BPF_FUNC_map_lookup_elem,
		       ARGS(ir_map(m->index), lower_addr(l, k->mem)));
}

/* So many zeros: on the stack when they are few, else a map's that is never written. */
static struct mem zeros(struct lower *l, u32 size)
{
	if (size <= 16) {
		struct mem m = lower_tmp(l, size);
		lower_zero(l, m, size);
		return m;
	}
	if (!l->u->zeros)
		l->u->zeros = unit_map(l->c, MAP_AUX, "zeros");
	l->u->zeros->val_size = MAX(l->u->zeros->val_size, size);
	return mem_of(ir_op1(l->f, O_MAPVAL, 8, ir_map(l->u->zeros->index)), 0);
}

static void note_behind(struct lower *l, const struct map *m)
{
	struct ref p = ir_addi(l->f, lower_element(l, m->own), store_behind_at(m));
	ir_store(l->f, 8, p, 0, ir_con(l->f, 1));
}

struct ref store_hash_element(struct lower *l, struct map *m, const struct map_key *k,
			      struct blk *full)
{
	struct fn *f = l->f;
	struct ref p = store_hash_find(l, m, k), zero = ir_con(f, 0), v = ir_var(f);
	struct ref error = ir_var(f);
	struct blk *found = ir_blk(f), *make = ir_blk(f), *refused = ir_blk(f);
	make->unlikely = refused->unlikely = true;
	ir_set(f, v, p);
	ir_br(f, O_NE, p, zero, found, make);
	ir_at(f, make);
	u32 mark = ir_slot_mark(f);
	struct mem val = zeros(l, m->val_size);
	if (m->own)
		note_behind(l, m);
	if (m->keys) {
		struct blk *known = ir_blk(f);
		known->unlikely = true;
		ir_set(f, error, lower_keep_key(l, m, k, known, refused));
		ir_at(f, known);
	}
	struct ref r = ir_call(f, BPF_FUNC_map_update_elem,
			       ARGS(ir_map(m->index), lower_addr(l, k->mem), lower_addr(l, val),
				    ir_con(f, BPF_NOEXIST)));
	ir_set(f, error, lower_error(l, r));
	ir_slot_release(f, mark);
	struct ref again = store_hash_find(l, m, k);
	ir_set(f, v, again);
	ir_br(f, O_NE, again, zero, found, refused);
	ir_at(f, refused);
	lower_refused(l, m, ir_get(f, error));
	ir_jmp(f, full);
	ir_at(f, found);
	return ir_get(f, v);
}

enum { BRANCHING_UPDATES = 1000 };

void store_hash_update(struct lower *l, struct map *m, const struct map_key *k, struct mem val)
{
	struct fn *f = l->f;
	if (m->keys)
		lower_note_key(l, m, k);
	struct ref r = ir_call(f, BPF_FUNC_map_update_elem,
			       ARGS(ir_map(m->index), lower_addr(l, k->mem), lower_addr(l, val),
				    ir_con(f, BPF_ANY)));
	if (l->updates++ >= BRANCHING_UPDATES) { /* the verifier follows 8192 branches: which
						  * error it was is not told */
		struct ref p = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->stats->index));
		/* Before Linux 6.4 an int is returned here, whose upper half is 0. */
		r = ir_op2(f, O_AND, ir_op2(f, O_SHR, r, ir_con(f, 31)), ir_con(f, 1));
		ir_xadd(f, 8, p,
			(i32)(8 * stat_map_word(l->u->nprog, m->index)) + 8 * STAT_MAP_REFUSED, r);
		return;
	}
	struct blk *bad = ir_blk(f), *go = ir_blk(f);
	bad->unlikely = true;
	ir_br(f, O_EQ, r, ir_con(f, 0), go, bad);
	ir_at(f, bad);
	lower_refused(l, m, lower_error(l, r));
	ir_jmp(f, go);
	ir_at(f, go);
}

struct ref store_hash_remove(struct lower *l, const struct map *m, const struct map_key *k)
{
	struct ref r = ir_call(l->f, BPF_FUNC_map_delete_elem,
			       ARGS(ir_map(m->index), lower_addr(l, k->mem)));
	return ir_op2(l->f, O_EQ, r, ir_con(l->f, 0));
}

static struct ref find(struct lower *l, struct map *m, struct node *key)
{
	struct map_key k = lower_key(l, m, key);
	return store_hash_find(l, m, &k);
}

static struct ref element(struct lower *l, struct map *m, struct node *key, struct blk *full)
{
	struct map_key k = lower_key(l, m, key);
	return store_hash_element(l, m, &k, full);
}

static void add(struct lower *l, struct map *m, struct node *key, struct node *call)
{
	struct blk *done = ir_blk(l->f);
	lower_add(l, m, call, element(l, m, key, done), m->percpu);
	ir_jmp(l->f, done);
	ir_at(l->f, done);
}

static void assign(struct lower *l, struct map *m, struct node *key, struct node *value)
{
	struct mem val = lower_tmp(l, m->val_size);
	if (m->val->size < m->val_size)
		lower_zero(l, val, m->val_size);
	lower_into_as(l, value, val, m->val);
	struct map_key k = lower_key(l, m, key);
	store_hash_update(l, m, &k, val);
}

static struct ref percpu_read(struct lower *l, struct map *m, struct node *key)
{
	return store_read_copies(l, m, lower_key(l, m, key).mem);
}

static struct ref remove_key(struct lower *l, struct map *m, struct node *key)
{
	struct map_key k = lower_key(l, m, key);
	return store_hash_remove(l, m, &k);
}

static struct ref each(struct lower *l, const struct map *m, struct fn *f, struct ref ctx)
{
	return ir_call(l->f, BPF_FUNC_for_each_map_elem,
		       ARGS(ir_map(m->index), ir_fnref(l->f, f), ctx, ir_con(l->f, 0)));
}

static struct ref percpu_each_value(struct lower *l, const struct map *m, struct mem key,
				    struct ref p)
{
	(void)p; /* of this CPU */
	return store_read_copies(l, m, key);
}

/* ---- user space ---- */

bool store_is_behind(const struct reporter *r, const struct map *m)
{
	const u8 *mem = source_mem(r, m->own);
	return !mem || __atomic_load_n((const u64 *)(const void *)(mem + store_behind_at(m)),
				       __ATOMIC_ACQUIRE);
}

static struct err *snapshot(struct reporter *r, const struct map *m, struct snap *n)
{
	struct elements all = {0};
	struct err *e = source_all(r, m, store_user_size(r, m), &all);
	n->keys = all.keys;
	n->vals = all.vals;
	n->n = all.n;
	if (!e)
		snap_merge(n, store_copies(r, m), store_copy_size(m));
	return e;
}

/* Every key in turn. Elements that went away meanwhile are no failure. */
static struct err *reset(struct reporter *r, const struct map *m, bool keep)
{
	struct elements all = {0};
	struct err *e = source_all(r, m, store_user_size(r, m), &all);
	u8 *keys AUTO_FREE = all.keys, *vals AUTO_FREE = all.vals;
	u32 n = all.n;
	if (e)
		return e;
	if (n)
		memset(vals, 0, store_user_size(r, m));
	for (u32 i = 0; i < n && !e; i++) {
		const u8 *key = keys + (size_t)i * m->key_size;
		e = keep ? source_put(r, m, key, vals) : source_del(r, m, key);
		if (!keep && m->keys)
			err_free(source_del(r, m->keys, key));
		if (e && e->no == ENOENT) {
			err_free(e);
			e = NULL;
		}
	}
	return e;
}

static void forget(struct reporter *r, const struct map *m, const u8 *key)
{
	err_free(source_del(r, m, key));
}

const struct store store_percpu_hash = {
	.name = "percpu_hash",
	.fits = percpu_fits,
	.plan = plan,
	.sound = sound,
	.add = add,
	.find = find,
	.element = element,
	.read = percpu_read,
	.remove = remove_key,
	.each = each,
	.each_value = percpu_each_value,
	.snapshot = snapshot,
	.reset = reset,
	.forget = forget,
};

const struct store store_hash = {
	.name = "hash",
	.fits = fits,
	.plan = plan,
	.sound = sound,
	.add = add,
	.assign = assign,
	.find = find,
	.element = element,
	.remove = remove_key,
	.each = each,
	.snapshot = snapshot,
	.reset = reset,
	.forget = forget,
};
