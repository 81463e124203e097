/* copies.c - values of which the kernel has a copy for each CPU: one of them all. */
#include "store/common.h"

u32 store_copies(const struct reporter *r, const struct map *m)
{
	assert(r->ncpu);
	return m->percpu ? r->ncpu : 1;
}

u32 store_copy_size(const struct map *m)
{
	return m->percpu ? ALIGN_UP(m->val_size, 8u) : m->val_size;
}

u32 store_user_size(const struct reporter *r, const struct map *m)
{
	return store_copies(r, m) * store_copy_size(m);
}

void store_copies_begin(struct lower *l, const struct map *m, struct mem key, struct copy_loop *c)
{
	struct fn *f = l->f;
	struct blk *step = ir_blk(f), *some = ir_blk(f);
	*c = (struct copy_loop){
		.cpu = ir_var(f), .loop = ir_blk(f), .next = ir_blk(f), .done = ir_blk(f)};
	ir_set(f, c->cpu, ir_con(f, 0));
	ir_jmp(f, c->loop);
	ir_at(f, c->loop);
	ir_br(f, O_ULT, ir_get(f, c->cpu), ir_con(f, l->c->host->ncpu), step, c->done);
	ir_at(f, step);
	c->p = ir_call(f, BPF_FUNC_map_lookup_percpu_elem,
		       ARGS(ir_map(m->index), lower_addr(l, key), ir_get(f, c->cpu)));
	ir_br(f, O_NE, c->p, ir_con(f, 0), some, c->next);
	ir_at(f, some);
}

void store_copies_end(struct lower *l, const struct copy_loop *c)
{
	struct fn *f = l->f;
	ir_jmp(f, c->next);
	ir_at(f, c->next);
	ir_set(f, c->cpu, ir_addi(f, ir_get(f, c->cpu), 1));
	ir_jmp(f, c->loop);
	ir_at(f, c->done);
}

/* Count and sum: add; min, max: compare those that are set; avg: totals and counts. */
struct ref store_read_copies(struct lower *l, const struct map *m, struct mem key)
{
	struct fn *f = l->f;
	struct ref acc = ir_var(f), num = ir_var(f), zero = ir_con(f, 0);
	const struct agg *agg = agg_of(m->val);
	struct copy_loop c;
	ir_set(f, acc, zero);
	ir_set(f, num, zero);
	store_copies_begin(l, m, key, &c);
	struct ref v = ir_load(f, 8, c.p, 0);
	if (agg->keeps != AGG_ALL) {
		struct blk *set = ir_blk(f), *compare = ir_blk(f), *take = ir_blk(f);
		ir_br(f, O_NE, ir_load(f, 8, c.p, 8), zero, set, c.next);
		ir_at(f, set);
		ir_br(f, O_EQ, ir_get(f, num), zero, take, compare);
		ir_at(f, compare);
		bool sg = m->val->is_signed;
		enum op op = agg->keeps == AGG_MOST ? (sg ? O_SGT : O_UGT) : sg ? O_SLT : O_ULT;
		ir_br(f, op, v, ir_get(f, acc), take, c.next);
		ir_at(f, take);
		ir_set(f, acc, v);
		ir_set(f, num, ir_con(f, 1));
	} else {
		ir_set(f, acc, ir_op2(f, O_ADD, ir_get(f, acc), v));
		if (agg->mean)
			ir_set(f, num, ir_op2(f, O_ADD, ir_get(f, num), ir_load(f, 8, c.p, 8)));
	}
	store_copies_end(l, &c);
	return lower_agg_number(l, m, ir_get(f, acc), ir_get(f, num));
}
