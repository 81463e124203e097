/* table.c - the kernel half of core/table.h: find or make the slot of a key on this CPU. */
#include "core/table.h"
#include "core/agg.h"
#include "lower/lower.h"

struct find {
	struct map *m;
	struct ref key[TABLE_KEY_MAX / 8], tag, base, out; /* out: variable, the slot found */
	u32 nkey, slot_size;
	struct blk *found;
};

static struct ref hash_words(struct lower *l, struct find *d)
{
	struct fn *f = l->f;
	struct ref h = ir_con(f, 0x9e3779b97f4a7c15), mul = ir_con(f, 0xff51afd7ed558ccd);
	for (u32 i = 0; i < d->nkey; i++) {
		h = ir_op2(f, O_MUL, ir_op2(f, O_XOR, h, d->key[i]), mul);
		h = ir_op2(f, O_XOR, h, ir_op2(f, O_SHR, h, ir_con(f, 32)));
	}
	return h;
}

/* Slot number i from the base: ours, free (then it becomes ours), or somebody else's. */
static void probe(struct lower *l, struct find *d, u32 i)
{
	struct fn *f = l->f;
	i32 at = (i32)(i * d->slot_size);
	struct blk *same = ir_blk(f), *other = ir_blk(f), *unused = ir_blk(f), *made = ir_blk(f),
		   *next = ir_blk(f);
	struct ref tag = ir_load(f, 8, d->base, at);
	other->unlikely = unused->unlikely = i == 0;
	ir_br(f, O_EQ, tag, d->tag, same, other);
	ir_at(f, same);
	for (u32 k = 0; k < d->nkey; k++) {
		struct blk *more = ir_blk(f);
		ir_br(f, O_EQ, ir_load(f, 8, d->base, at + 8 + (i32)(8 * k)), d->key[k], more,
		      next);
		ir_at(f, more);
	}
	ir_set(f, d->out, ir_addi(f, d->base, at));
	ir_jmp(f, d->found);

	ir_at(f, other);
	ir_br(f, O_EQ, tag, ir_con(f, 0), unused, next);
	ir_at(f, unused);
	struct ref was = ir_cmpxchg(f, 8, d->base, at, ir_con(f, 0), ir_con(f, TABLE_BUSY));
	ir_br(f, O_EQ, was, ir_con(f, 0), made, next);
	ir_at(f, made);
	for (u32 k = 0; k < d->nkey; k++)
		ir_store(f, 8, d->base, at + 8 + (i32)(8 * k), d->key[k]);
	for (u32 k = 8 + 8 * d->nkey; k < d->slot_size; k += 8)
		ir_store(f, 8, d->base, at + (i32)k, ir_con(f, 0));
	ir_store(f, 8, d->base, at, d->tag);
	ir_set(f, d->out, ir_addi(f, d->base, at));
	ir_jmp(f, d->found);
	ir_at(f, next);
}

/*
 * Address of the aggregation's words in the key's slot; control goes on there when there is one.
 * Otherwise it goes to full.
 */
struct ref lower_table(struct lower *l, struct map *m, struct mem key, struct blk *full)
{
	struct fn *f = l->f;
	u32 words = agg_of(m->val)->words(m->val), ncpu = l->u->host->ncpu;
	struct find d = {.m = m,
			 .nkey = ALIGN_UP(m->key_size, 8u) / 8,
			 .slot_size = table_slot_size(m->key_size, words)};
	struct blk *here = ir_blk(f);
	d.found = ir_blk(f);
	d.out = ir_var(f);
	for (u32 i = 0; i < d.nkey; i++) {
		u32 left = m->key_size - 8 * i;
		u32 w = left >= 8 ? 8 : left; /* keys of 1, 2 or 4 bytes; others are multiples of 8
						 (plan.c) */
		d.key[i] = lower_load(l, w, false, mem_at(key, (i32)(8 * i)));
	}
	struct ref h = hash_words(l, &d);
	d.tag = ir_op2(f, O_OR, h, ir_con(f, TABLE_TAG));
	struct ref cpu = ir_callp(f, BPF_FUNC_get_smp_processor_id, 0, NULL);
	ir_br(f, O_ULT, cpu, ir_con(f, ncpu), here, full);
	ir_at(f, here);
	struct ref start = ir_op1(f, O_MAPVAL, 8, ir_map(m->table->index));
	struct ref region = ir_op2(f, O_MUL, cpu, ir_con(f, table_cpu_size(m->key_size, words)));
	struct ref at =
		ir_op2(f, O_AND, ir_op2(f, O_SHR, h, ir_con(f, 20)), ir_con(f, TABLE_SLOTS - 1));
	struct ref off = ir_op2(f, O_ADD, region, ir_op2(f, O_MUL, at, ir_con(f, d.slot_size)));
	d.base = ir_op2(f, O_ADD, start, off);
	for (u32 i = 0; i < TABLE_PROBES; i++)
		probe(l, &d, i);
	ir_jmp(f, full);
	ir_at(f, d.found);
	return ir_addi(f, ir_get(f, d.out), 8 + 8 * d.nkey);
}
