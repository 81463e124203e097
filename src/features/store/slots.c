/*
 * slots.c - aggregations without key that programs only add to: a slot for each CPU, of whole cache
 * lines, in one array element that user space maps. So programs need no helper, and nobody a system
 * call.
 *
 * A slot is what array.c draws; of most aggregations programs do not store the last word, because
 * one of the value's is not 0 once something was observed.
 */
#include "base/alloc.h"
#include "store/common.h"

/* ---- compiling ---- */

static bool fits(struct compile *c, const struct map *m, const struct mapuse *use)
{
	(void)c, (void)use;
	return m->scalar && m->percpu && m->adds;
}

static void plan(struct compile *c, struct map *m)
{
	m->map_type = BPF_MAP_TYPE_ARRAY;
	m->flags = BPF_F_MMAPABLE;
	m->val_size = store_cpus(c->host->ncpu) * store_slot_size(m);
}

static bool sound(const struct map *m, u32 ncpu)
{
	return m->scalar && agg_of(m->val) && (u64)ncpu * store_slot_size(m) <= m->val_size;
}

/* ---- programs ---- */

static void add(struct lower *l, struct map *m, struct node *key, struct node *call)
{
	(void)key;
	struct fn *f = l->f;
	struct ref off = ir_op2(f, O_MUL, store_this_cpu(l), ir_con(f, store_slot_size(m)));
	struct ref p = ir_op2(f, O_ADD, lower_element(l, m), off);
	lower_add(l, m, call, p, true);
	if (!agg_of(m->val)->tells)
		store_set_present(l, m, p);
}

/* ---- user space ---- */

static struct scalar copies_of(const struct reporter *r, const struct map *m)
{
	return (struct scalar){.copies = r->ncpu, .stride = store_slot_size(m), .tells = true};
}

static struct err *snapshot(struct reporter *r, const struct map *m, struct snap *n)
{
	const struct scalar as = copies_of(r, m);
	size_t size = (size_t)as.copies * as.stride;
	n->vals = xcalloc(1, size);
	if (source_mem(r, m))
		memcpy(n->vals, source_mem(r, m), size);
	store_take_scalar(n, &as);
	return NULL;
}

static struct err *reset(struct reporter *r, const struct map *m, bool keep)
{
	const struct scalar as = copies_of(r, m);
	if (source_mem(r, m))
		store_zero_scalar(m, &as, source_mem(r, m), keep);
	return NULL;
}

const struct store store_slots = {
	.name = "slots",
	.fits = fits,
	.plan = plan,
	.sound = sound,
	.add = add,
	.snapshot = snapshot,
	.reset = reset,
};
