/*
 * by_cpu.c - aggregations whose key is the processor's number, and that programs only add to: the
 * slots of slots.c, of which each CPU's is an element. No key is made, hashed or looked for, and none
 * can be one too many.
 *
 * The slots are memory beside the map (map.own); the kernel's map of this name stays empty.
 */
#include "base/alloc.h"
#include "store/common.h"

enum { KEY_SIZE = 8 };

/* ---- compiling ---- */

static bool fits(struct compile *c, const struct map *m, const struct mapuse *use)
{
	return !m->scalar && m->adds && !use->by_others && m->key_size == KEY_SIZE &&
	       !plan_exact_limit(c);
}

static void plan(struct compile *c, struct map *m)
{
	m->map_type = BPF_MAP_TYPE_HASH;
	m->max_entries = 1;
	m->own = plan_memory(c, m, "cpus", store_cpus(c->host->ncpu) * store_slot_size(m));
}

static bool sound(const struct map *m, u32 ncpu)
{
	return !m->scalar && agg_of(m->val) && m->own && m->key_size == KEY_SIZE &&
	       (u64)ncpu * store_slot_size(m) <= m->own->val_size;
}

/* ---- programs ---- */

static void add(struct lower *l, struct map *m, struct node *key, struct node *call)
{
	(void)key;
	struct fn *f = l->f;
	struct ref off = ir_op2(f, O_MUL, store_this_cpu(l), ir_con(f, store_slot_size(m)));
	struct ref p = ir_op2(f, O_ADD, lower_element(l, m->own), off);
	lower_add(l, m, call, p, true);
	if (!agg_of(m->val)->tells)
		store_set_present(l, m, p);
}

/* ---- user space ---- */

/* Its CPU has observed something. */
static bool is_there(const struct map *m, const u8 *slot)
{
	u8 any = 0;
	for (u32 i = 0; i < store_slot_size(m); i++)
		any |= slot[i];
	return any;
}

static struct err *snapshot(struct reporter *r, const struct map *m, struct snap *n)
{
	assert(m->own && m->key_size == KEY_SIZE);
	u32 size = store_slot_size(m);
	const u8 *mem = source_mem(r, m->own);
	n->keys = xcalloc(r->ncpu, KEY_SIZE);
	n->vals = xcalloc(r->ncpu, size);
	for (u64 c = 0; mem && c < r->ncpu; c++) {
		u8 *to = n->vals + (size_t)n->n * size;
		memcpy(to, mem + c * size, size);
		memcpy(n->keys + (size_t)n->n * KEY_SIZE, &c, KEY_SIZE);
		n->n += is_there(m, to);
	}
	snap_merge(n, 1, size);
	return NULL;
}

static void zero_slot(struct reporter *r, const struct map *m, u64 cpu, bool keep)
{
	u8 *mem = source_mem(r, m->own);
	u64 there;
	if (!mem || cpu >= r->ncpu)
		return;
	mem += cpu * store_slot_size(m);
	there = keep && is_there(m, mem);
	memset(mem, 0, store_slot_size(m));
	memcpy(mem + store_value_size(m), &there, sizeof(there));
}

static struct err *reset(struct reporter *r, const struct map *m, bool keep)
{
	for (u64 c = 0; c < r->ncpu; c++)
		zero_slot(r, m, c, keep);
	return NULL;
}

static void forget(struct reporter *r, const struct map *m, const u8 *key)
{
	u64 cpu;
	memcpy(&cpu, key, sizeof(cpu));
	zero_slot(r, m, cpu, false);
}

const struct store store_by_cpu = {
	.name = "by_cpu",
	.fits = fits,
	.plan = plan,
	.bounded = true,
	.sound = sound,
	.add = add,
	.snapshot = snapshot,
	.reset = reset,
	.forget = forget,
};
