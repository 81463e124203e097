/*
 * array.c - maps without key: one element of an array of the kernel's, which all CPUs share or of
 * which each has a copy.
 *
 *	value		in whole words
 *	u64 present	not 0 once something was stored
 *
 * A shared one has an address that is known, and may lie in another map (map.in).
 */
#include "base/alloc.h"
#include "store/common.h"

/* ---- compiling ---- */

static bool percpu_fits(struct compile *c, const struct map *m, const struct mapuse *use)
{
	(void)c, (void)use;
	return m->scalar && m->percpu;
}

static bool fits(struct compile *c, const struct map *m, const struct mapuse *use)
{
	(void)c, (void)use;
	return m->scalar;
}

static void plan(struct compile *c, struct map *m)
{
	(void)c;
	m->map_type = m->percpu ? BPF_MAP_TYPE_PERCPU_ARRAY : BPF_MAP_TYPE_ARRAY;
	m->val_size = store_value_size(m) + 8;
}

static bool sound(const struct map *m, u32 ncpu)
{
	(void)ncpu;
	u32 type = m->percpu ? BPF_MAP_TYPE_PERCPU_ARRAY : BPF_MAP_TYPE_ARRAY;
	return m->scalar && m->map_type == type && m->key_size == 4 &&
	       m->val_size == store_value_size(m) + 8ull;
}

/* ---- programs ---- */

void store_set_present(struct lower *l, struct map *m, struct ref p)
{
	ir_store(l->f, 8, p, (i32)store_value_size(m), ir_con(l->f, 1));
}

static struct ref constant_find(struct lower *l, struct map *m, struct node *key)
{
	(void)key;
	return lower_element(l, m);
}

static struct ref constant_element(struct lower *l, struct map *m, struct node *key,
				   struct blk *full)
{
	(void)key, (void)full;
	return lower_element(l, m);
}

static struct mem zero_key(struct lower *l)
{
	struct mem k = lower_tmp(l, 4);
	lower_store(l, 4, k, ir_con(l->f, 0));
	return k;
}

static struct ref percpu_find(struct lower *l, struct map *m, struct node *key)
{
	(void)key;
	return ir_call(l->f, BPF_FUNC_map_lookup_elem,
		       ARGS(ir_map(m->index), lower_addr(l, zero_key(l))));
}

static void add(struct lower *l, struct map *m, struct node *key, struct node *call)
{
	struct fn *f = l->f;
	struct blk *found = ir_blk(f), *done = ir_blk(f);
	struct ref p = m->store->find(l, m, key);
	if (m->store->constant)
		ir_jmp(f, found);
	else
		ir_br(f, O_NE, p, ir_con(f, 0), found, done);
	ir_at(f, found);
	lower_add(l, m, call, p, m->percpu);
	store_set_present(l, m, p);
	ir_jmp(f, done);
	ir_at(f, done);
}

static void assign(struct lower *l, struct map *m, struct node *key, struct node *value)
{
	if (type_is_scalar(m->val)) {
		struct ref v = lower_convert(l, lower_value(l, value), value->type, m->val);
		struct ref p = constant_find(l, m, key);
		lower_store(l, MIN(m->val->size, 8u), mem_of(p, 0), v);
		store_set_present(l, m, p);
	} else {
		struct mem tmp = lower_tmp(l, m->val->size);
		lower_into_as(l, value, tmp, m->val);
		struct ref p = constant_find(l, m, key);
		lower_copy(l, mem_of(p, 0), tmp, m->val->size);
		store_set_present(l, m, p);
	}
}

static struct ref percpu_read(struct lower *l, struct map *m, struct node *key)
{
	(void)key;
	return store_read_copies(l, m, zero_key(l));
}

/* The value at p goes; was it there? */
static struct ref empty(struct lower *l, const struct map *m, struct ref p)
{
	struct ref present = ir_load(l->f, 8, p, (i32)store_value_size(m));
	struct ref had = ir_op2(l->f, O_NE, present, ir_con(l->f, 0));
	lower_zero(l, mem_of(p, 0), m->val_size);
	return had;
}

static struct ref remove_one(struct lower *l, struct map *m, struct node *key)
{
	return empty(l, m, constant_find(l, m, key));
}

static struct ref remove_copies(struct lower *l, struct map *m, struct node *key)
{
	(void)key;
	struct fn *f = l->f;
	struct ref had = ir_var(f);
	struct copy_loop c;
	ir_set(f, had, ir_con(f, 0));
	store_copies_begin(l, m, zero_key(l), &c);
	ir_set(f, had, ir_op2(f, O_OR, ir_get(f, had), empty(l, m, c.p)));
	store_copies_end(l, &c);
	return ir_get(f, had);
}

/* ---- user space ---- */

static bool is_present(const struct map *m, const struct scalar *as, const u8 *copy)
{
	u32 size = store_value_size(m);
	u64 word, any = 0;
	for (u32 i = 0; as->tells && i < size; i += 8) {
		memcpy(&word, copy + i, sizeof(word));
		any |= word;
	}
	memcpy(&word, copy + size, sizeof(word));
	return any || word;
}

void store_take_scalar(struct snap *n, const struct scalar *as)
{
	assert(n->vals && as->copies);
	assert(n->m->scalar);
	n->n = 1;
	n->present = false;
	for (u32 c = 0; c < as->copies; c++)
		n->present |= is_present(n->m, as, n->vals + (size_t)c * as->stride);
	snap_merge(n, as->copies, as->stride);
}

void store_zero_scalar(const struct map *m, const struct scalar *as, u8 *mem, bool keep)
{
	u32 size = store_value_size(m);
	for (u32 c = 0; c < as->copies; c++, mem += as->stride) {
		u64 was = keep && is_present(m, as, mem);
		memset(mem, 0, size);
		memcpy(mem + size, &was, sizeof(was));
	}
}

static struct scalar copies_of(const struct reporter *r, const struct map *m)
{
	return (struct scalar){.copies = store_copies(r, m), .stride = store_copy_size(m)};
}

static struct err *snapshot(struct reporter *r, const struct map *m, struct snap *n)
{
	const struct scalar as = copies_of(r, m);
	u32 zero = 0;
	struct err *e = NULL;
	n->vals = xcalloc(1, store_user_size(r, m));
	if (!m->in)
		e = source_get(r, m, &zero, n->vals);
	else if (source_mem(r, m))
		memcpy(n->vals, source_mem(r, m), store_user_size(r, m));
	if (!e)
		store_take_scalar(n, &as);
	return e;
}

static struct err *reset(struct reporter *r, const struct map *m, bool keep)
{
	const struct scalar as = copies_of(r, m);
	if (m->in) {
		if (source_mem(r, m))
			store_zero_scalar(m, &as, source_mem(r, m), keep);
		return NULL;
	}
	u32 zero = 0;
	u8 *val AUTO_FREE = xcalloc(1, store_user_size(r, m));
	struct err *e = keep ? source_get(r, m, &zero, val) : NULL;
	if (e)
		return e;
	store_zero_scalar(m, &as, val, keep);
	return source_put(r, m, &zero, val);
}

const struct store store_percpu_array = {
	.name = "percpu_array",
	.fits = percpu_fits,
	.plan = plan,
	.sound = sound,
	.add = add,
	.find = percpu_find,
	.read = percpu_read,
	.remove = remove_copies,
	.snapshot = snapshot,
	.reset = reset,
};

const struct store store_array = {
	.name = "array",
	.fits = fits,
	.plan = plan,
	.sound = sound,
	.add = add,
	.assign = assign,
	.find = constant_find,
	.element = constant_element,
	.stored = store_set_present,
	.remove = remove_one,
	.constant = true,
	.snapshot = snapshot,
	.reset = reset,
};
