/* cell.c - the kernel half of core/cell.h. */
#include "core/cell.h"
#include "lower/lower.h"

struct cell {
	struct map *m;
	struct mem mem; /* the key, for the hash map */
	struct ref key[CELL_KEY_MAX / 8], tag, start, base;
	struct ref slot, state; /* variables: what was found, and its state as it was */
	u32 nkey;
};

static struct ref masked(struct lower *l, struct ref state, u64 without)
{
	return ir_op2(l->f, O_AND, state, ir_con(l->f, ~without));
}

static void cell_at(struct lower *l, struct map *m, struct mem key, struct cell *c)
{
	struct fn *f = l->f;
	*c = (struct cell){.m = m, .mem = key, .slot = ir_var(f), .state = ir_var(f)};
	c->nkey = lower_key_words(l, key, m->key_size, c->key);
	struct ref h = lower_hash_words(l, c->key, c->nkey);
	c->tag = ir_op2(f, O_OR, masked(l, h, CELL_VERSIONS | CELL_TAKEN | CELL_BUSY),
			ir_con(f, CELL_TAKEN));
	c->start = ir_op1(f, O_MAPVAL, 8, ir_map(m->cells->index));
	struct ref at =
		ir_op2(f, O_AND, ir_op2(f, O_SHR, h, ir_con(f, 20)), ir_con(f, CELL_SLOTS - 1));
	at = ir_op2(f, O_MUL, at, ir_con(f, cell_slot_size(m)));
	c->base = ir_op2(f, O_ADD, c->start, at);
}

static i32 nth(const struct cell *c, u32 i)
{
	return (i32)(CELL_HEADER + i * cell_slot_size(c->m));
}

/* Goes to yes when the slot holds the key, with its state; else on. */
static void match(struct lower *l, struct cell *c, u32 i, struct blk *yes)
{
	struct fn *f = l->f;
	struct blk *same = ir_blk(f), *next = ir_blk(f);
	struct ref state = ir_load(f, 8, c->base, nth(c, i));
	same->unlikely = i > 0;
	ir_br(f, O_EQ, masked(l, state, CELL_VERSIONS | CELL_BUSY), c->tag, same, next);
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
static struct ref value_at(struct lower *l, const struct map *m, struct ref p, u32 off)
{
	return lower_load(l, MIN(m->val->size, 8u), m->val->is_signed, (struct mem){p, (i32)off});
}

struct ref lower_cell_read(struct lower *l, struct map *m, struct mem key, struct ref *there)
{
	struct fn *f = l->f;
	struct cell c;
	struct ref out = ir_var(f), had = ir_var(f), zero = ir_con(f, 0), one = ir_con(f, 1);
	struct blk *hit = ir_blk(f), *sure = ir_blk(f), *miss = ir_blk(f), *done = ir_blk(f),
		   *found = ir_blk(f);
	cell_at(l, m, key, &c);
	ir_set(f, out, zero);
	ir_set(f, had, zero);
	for (u32 i = 0; i < CELL_PROBES; i++)
		match(l, &c, i, hit);
	ir_jmp(f, miss);

	ir_at(f, hit);
	struct ref slot = ir_get(f, c.slot), val = value_at(l, m, slot, cell_value_at(m));
	struct ref still = ir_op2(f, O_XOR, ir_load(f, 8, slot, 0), ir_get(f, c.state));
	ir_br(f, O_EQ, masked(l, still, CELL_BUSY), zero, sure, miss);
	ir_at(f, sure);
	ir_set(f, out, val);
	ir_set(f, had, one);
	ir_jmp(f, done);

	ir_at(f, miss);
	overflowed(l, &c, done);
	struct ref p = lower_lookup(l, m, key);
	found->unlikely = true;
	ir_br(f, O_NE, p, zero, found, done);
	ir_at(f, found);
	ir_set(f, out, value_at(l, m, p, 0));
	ir_set(f, had, one);
	ir_jmp(f, done);
	ir_at(f, done);
	*there = ir_get(f, had);
	return ir_get(f, out);
}

/* Take a free slot: key and value first, then it counts. Else on. */
static void take(struct lower *l, struct cell *c, struct ref val, struct blk *done)
{
	struct fn *f = l->f;
	struct blk *fill = ir_blk(f);
	struct ref con = ir_con(f, CELL_TAKEN | CELL_BUSY);
	for (u32 i = 0; i < CELL_PROBES; i++) {
		struct blk *unused = ir_blk(f), *mine = ir_blk(f), *next = ir_blk(f);
		unused->unlikely = mine->unlikely = i > 0;
		next->unlikely = true;
		struct ref state = ir_load(f, 8, c->base, nth(c, i));
		ir_br(f, O_EQ, masked(l, state, CELL_VERSIONS), ir_con(f, 0), unused, next);
		ir_at(f, unused);
		struct ref version =
			ir_op2(f, O_AND, ir_addi(f, state, CELL_VERSION), ir_con(f, CELL_VERSIONS));
		struct ref now = ir_op2(f, O_OR, c->tag, version); /* TAKEN; for now, BUSY */
		struct ref was =
			ir_cmpxchg(f, 8, c->base, nth(c, i), state, ir_op2(f, O_XOR, now, con));
		ir_br(f, O_EQ, was, state, mine, next);
		ir_at(f, mine);
		ir_set(f, c->slot, ir_addi(f, c->base, nth(c, i)));
		ir_set(f, c->state, now);
		ir_jmp(f, fill);
		ir_at(f, next);
	}
	struct blk *full = f->cur;
	ir_at(f, fill);
	struct ref slot = ir_get(f, c->slot);
	for (u32 k = 0; k < c->nkey; k++)
		ir_store(f, 8, slot, 8 + (i32)(8 * k), c->key[k]);
	ir_store(f, 8, slot, (i32)cell_value_at(c->m), val);
	ir_store(f, 8, slot, 0, ir_get(f, c->state));
	ir_jmp(f, done);
	ir_at(f, full);
}

void lower_cell_store(struct lower *l, struct map *m, struct mem key, struct ref val)
{
	struct fn *f = l->f;
	struct cell c;
	struct blk *hit = ir_blk(f), *idle = ir_blk(f), *ours = ir_blk(f), *gone = ir_blk(f),
		   *done = ir_blk(f);
	if (m->val->size < 8)
		val = ir_op1(f, O_EXTU, m->val->size, val);
	cell_at(l, m, key, &c);
	for (u32 i = 0; i < CELL_PROBES; i++)
		match(l, &c, i, hit);
	ir_jmp(f, gone);

	ir_at(f, hit);
	struct ref slot = ir_get(f, c.slot), state = ir_get(f, c.state);
	struct ref busy = ir_op2(f, O_AND, state, ir_con(f, CELL_BUSY));
	ir_br(f, O_EQ, busy, ir_con(f, 0), idle, done);
	ir_at(f, idle);
	struct ref was =
		ir_cmpxchg(f, 8, slot, 0, state, ir_op2(f, O_OR, state, ir_con(f, CELL_BUSY)));
	ir_br(f, O_EQ, was, state, ours, gone);
	ir_at(f, ours);
	ir_store(f, 8, slot, (i32)cell_value_at(m), val);
	ir_store(f, 8, slot, 0, state);
	ir_jmp(f, done);

	ir_at(f, gone);
	take(l, &c, val, done);
	ir_store(f, 8, c.start, 0, ir_con(f, 1));
	struct mem copy = lower_tmp(l, 8);
	lower_store(l, 8, copy, val);
	lower_update(l, m, key, copy);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* The hash map comes first: who stores there meanwhile found the slot taken, and is overtaken. */
struct ref lower_cell_delete(struct lower *l, struct map *m, struct mem key)
{
	struct fn *f = l->f;
	struct cell c;
	struct ref had = ir_var(f), one = ir_con(f, 1);
	struct blk *slots = ir_blk(f), *was_there = ir_blk(f);
	cell_at(l, m, key, &c);
	ir_set(f, had, ir_con(f, 0));
	overflowed(l, &c, slots);
	struct ref r =
		ir_call(f, BPF_FUNC_map_delete_elem, ARGS(ir_map(m->index), lower_addr(l, key)));
	ir_br(f, O_EQ, r, ir_con(f, 0), was_there, slots);
	ir_at(f, was_there);
	ir_set(f, had, one);
	ir_jmp(f, slots);
	ir_at(f, slots);
	for (u32 i = 0; i < CELL_PROBES; i++) {
		struct blk *hit = ir_blk(f), *idle = ir_blk(f), *freed = ir_blk(f),
			   *next = ir_blk(f);
		match(l, &c, i, hit);
		ir_jmp(f, next);
		ir_at(f, hit);
		struct ref state = ir_get(f, c.state);
		struct ref busy = ir_op2(f, O_AND, state, ir_con(f, CELL_BUSY));
		ir_br(f, O_EQ, busy, ir_con(f, 0), idle, freed); /* busy: stored right afterwards */
		ir_at(f, idle);
		struct ref version =
			ir_op2(f, O_AND, ir_addi(f, state, CELL_VERSION), ir_con(f, CELL_VERSIONS));
		struct ref was = ir_cmpxchg(f, 8, ir_get(f, c.slot), 0, state, version);
		ir_br(f, O_EQ, was, state, freed, next);
		ir_at(f, freed);
		ir_set(f, had, one);
		ir_jmp(f, next);
		ir_at(f, next);
	}
	return ir_get(f, had);
}
