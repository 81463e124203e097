/* table.c - the kernel half of core/table.h: find or make the slot of a key on this CPU. */
#include "core/table.h"
#include "lower/lower.h"

enum { TABLE_WORDS = TABLE_KEY_MAX / 8 + 1 };

struct find {
	struct map *m;
	struct ref key[TABLE_WORDS], tag, base, out; /* out: variable, the slot found */
	u32 nkey, slot_size;
	struct blk *found, *made; /* it is there; it was free and is ours to fill */
};

struct ref lower_hash_words(struct lower *l, const struct ref *word, u32 n)
{
	struct fn *f = l->f;
	struct ref h = ir_con(f, 0x9e3779b97f4a7c15), mul = ir_con(f, 0xff51afd7ed558ccd);
	for (u32 i = 0; i < n; i++) {
		h = ir_op2(f, O_MUL, ir_op2(f, O_XOR, h, word[i]), mul);
		h = ir_op2(f, O_XOR, h, ir_op2(f, O_SHR, h, ir_con(f, 32)));
	}
	return h;
}

/* Slot number i from the base: ours, free (then it becomes ours), or somebody else's. */
static void probe(struct lower *l, struct find *d, u32 i)
{
	struct fn *f = l->f;
	i32 at = (i32)(i * d->slot_size);
	struct blk *same = ir_blk(f), *other = ir_blk(f), *unused = ir_blk(f), *mine = ir_blk(f),
		   *next = ir_blk(f);
	struct ref tag = ir_load(f, 8, d->base, at);
	same->unlikely = i > 0;
	other->unlikely = unused->unlikely = mine->unlikely = next->unlikely = true;
	ir_br(f, O_EQ, tag, d->tag, same, other);
	ir_at(f, same);
	for (u32 k = 0; k < d->nkey; k++) {
		struct blk *more = ir_blk(f);
		more->unlikely = i > 0;
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
	ir_br(f, O_EQ, was, ir_con(f, 0), mine, next);
	ir_at(f, mine);
	ir_set(f, d->out, ir_addi(f, d->base, at));
	ir_jmp(f, d->made);
	ir_at(f, next);
}

/* The slot claimed gets key and zeros; its tag comes last. */
static void fill(struct lower *l, struct find *d, struct mem key, struct blk *refused)
{
	struct fn *f = l->f;
	d->made->unlikely = true;
	ir_at(f, d->made);
	struct ref slot = ir_get(f, d->out);
	if (d->m->keys) {
		struct blk *known = ir_blk(f), *no = ir_blk(f);
		known->unlikely = no->unlikely = true;
		lower_keep_key(l, d->m, key, known, no);
		ir_at(f, no);
		ir_store(f, 8, slot, 0, ir_con(f, 0));
		ir_jmp(f, refused);
		ir_at(f, known);
	}
	for (u32 k = 0; k < d->nkey; k++)
		ir_store(f, 8, slot, 8 + (i32)(8 * k), d->key[k]);
	for (u32 k = 8 + 8 * d->nkey; k < d->slot_size; k += 8)
		ir_store(f, 8, slot, (i32)k, ir_con(f, 0));
	ir_store(f, 8, slot, 0, d->tag);
	ir_jmp(f, d->found);
}

/* Of a last word that is not whole the bytes that there are. */
u32 lower_key_words(struct lower *l, struct mem key, u32 size, struct ref *word)
{
	u32 n = 0;
	for (u32 at = 0; at < size; at += 8) {
		u32 left = MIN(size - at, 8u);
		struct ref w = REF_NONE;
		for (u32 done = 0, part; done < left; done += part) {
			part = left - done >= 8   ? 8
			       : left - done >= 4 ? 4
			       : left - done >= 2 ? 2
						  : 1;
			struct ref v = lower_load(l, part, false, mem_at(key, (i32)(at + done)));
			v = ir_op2(l->f, O_SHL, v, ir_con(l->f, 8ull * done));
			w = ref_is(w) ? ir_op2(l->f, O_OR, w, v) : v;
		}
		word[n++] = w;
	}
	return n;
}

/*
 * Address of the aggregation's words in the key's slot; control goes on there when there is one.
 * Otherwise it goes to full, or to refused when the limit of keys is reached. bucket: of a
 * histogram, or none.
 */
struct ref lower_table(struct lower *l, struct map *m, struct mem key, struct ref bucket,
		       struct blk *full, struct blk *refused)
{
	struct fn *f = l->f;
	struct find d = {.m = m, .slot_size = table_slot_size(m)};
	d.found = ir_blk(f);
	d.made = ir_blk(f);
	d.out = ir_var(f);
	d.nkey = lower_key_words(l, key, m->key_size, d.key);
	if (ref_is(bucket))
		d.key[d.nkey++] = bucket;
	struct ref h = lower_hash_words(l, d.key, d.nkey);
	d.tag = ir_op2(f, O_OR, h, ir_con(f, TABLE_TAG));
	struct ref cpu = ir_callp(f, BPF_FUNC_get_smp_processor_id, 0, NULL);
	cpu = ir_op2(f, O_AND, cpu, ir_con(f, cpu_slots(l->u->host->ncpu) - 1));
	struct ref start = ir_op1(f, O_MAPVAL, 8, ir_map(m->table->index));
	struct ref region = ir_op2(f, O_MUL, cpu, ir_con(f, table_cpu_size(m)));
	struct ref at =
		ir_op2(f, O_AND, ir_op2(f, O_SHR, h, ir_con(f, 20)), ir_con(f, TABLE_SLOTS - 1));
	struct ref off = ir_op2(f, O_ADD, region, ir_op2(f, O_MUL, at, ir_con(f, d.slot_size)));
	d.base = ir_op2(f, O_ADD, start, off);
	for (u32 i = 0; i < TABLE_PROBES; i++)
		probe(l, &d, i);
	ir_jmp(f, full);
	fill(l, &d, key, refused);
	ir_at(f, d.found);
	return ir_addi(f, ir_get(f, d.out), table_value_at(m));
}
