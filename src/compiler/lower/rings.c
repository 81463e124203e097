/*
 * rings.c - the kernel half of kern/rings.h: claim room on this CPU, draw a turn, finish.
 *
 * Who comes first gets the first half of a ring. Of the second half each program that makes records
 * has a share, so that one with very many of them leaves room for the others'. u->shares has, for
 * each CPU and program:
 *
 *	u64 last	end of what it claimed last in the second half
 *	u64 used	bytes claimed there; 0 again when the reader is past last
 *
 * While the ring is less than half full nothing of this is looked at. Where programs interrupt each
 * other, used may be off by their records: a share is then a little smaller or larger, and what is
 * refused counts as lost as ever.
 */
#include "kern/rings.h"
#include "lower/lower.h"

enum {
	CLAIM_TRIES = 3,  /* it fails when another program claims in between */
	WAKE_EVERY = 8,   /* the reader is woken each time that this part of a ring was filled */
	SHORT_RECORD = 8, /* a record of at most this part of a ring may be claimed before its
			     length is known */
	SHARE_LAST = 0,
	SHARE_USED = 8,
	SHARE_SIZE = 16,
};

void lower_rings(struct lower *l, u32 n, u32 bytes)
{
	struct unit *u = l->u;
	u->ring = unit_map(l->c, MAP_RING, "rings");
	u->ring->flags = BPF_F_MMAPABLE;
	u->ring->max_entries = n;
	u->ring->val_size = RINGS_DATA + bytes;
	u->ring_size = bytes;
	u->turns = unit_map(l->c, MAP_AUX, "turns");
	u->turns->flags = BPF_F_MMAPABLE;
	u->turns->val_size = 64; /* a cache line of its own */
	u64 *first = arena_newn(l->c->arena, u64, u->turns->val_size / sizeof(u64));
	first[RINGS_TURNS / 8] = RINGS_FIRST_TURN;
	first[RINGS_SHARE / 8] = ~0ull;
	u->turns->init = first;
	u->wake = unit_map(l->c, MAP_AUX, "wake");
	u->wake->map_type = BPF_MAP_TYPE_RINGBUF;
	u->wake->key_size = 0;
	u->wake->max_entries = l->c->host->page_size;
}

/* Bytes of each program's share; nprog: how many have one. */
void lower_share(struct unit *u, u32 nprog)
{
	u64 *first = u->turns ? (u64 *)(uintptr_t)u->turns->init : NULL;
	if (first && nprog > 1)
		first[RINGS_SHARE / 8] = u->ring_size / 2 / nprog;
}

/* Begin and end run alone. */
static bool has_share(const struct prog *g)
{
	return !(point_flags(g->points) & PROBE_ONCE);
}

/* Does the program have others beside it? */
static bool shares_ring(struct lower *l)
{
	const struct unit *u = l->u;
	u32 n = 0;
	for (u32 i = 0; i < u->nprog && n < 2; i++)
		n += has_share(u->prog[i]);
	return n > 1 && has_share(l->prog);
}

bool lower_fits_ring(const struct lower *l, u32 size)
{
	return size <= l->u->ring_size / SHORT_RECORD;
}

/* The CPU's; one that came after the start shares the first ring, which is safe, too. */
static struct ref ring_number(struct lower *l)
{
	struct fn *f = l->f;
	struct ref cpu = ir_callp(f, BPF_FUNC_get_smp_processor_id, 0, NULL);
	if (l->u->ring->max_entries == l->c->host->ncpu)
		return cpu;
	struct ref n = ir_var(f);
	struct blk *late = ir_blk(f), *go = ir_blk(f);
	late->unlikely = true;
	ir_set(f, n, cpu);
	ir_br(f, O_ULT, cpu, ir_con(f, l->u->ring->max_entries), go, late);
	ir_at(f, late);
	ir_set(f, n, ir_con(f, 0));
	ir_jmp(f, go);
	ir_at(f, go);
	return ir_get(f, n);
}

static struct ref this_ring(struct lower *l, struct blk *none)
{
	struct fn *f = l->f;
	struct blk *found = ir_blk(f);
	struct mem key = lower_tmp(l, 8);
	lower_store(l, 4, key, ring_number(l));
	struct ref p = ir_call(f, BPF_FUNC_map_lookup_elem,
			       ARGS(ir_map(l->u->ring->index), lower_addr(l, key)));
	ir_br(f, O_NE, p, ir_con(f, 0), found, none);
	ir_at(f, found);
	return p;
}

static u32 share_stride(const struct unit *u)
{
	return ALIGN_UP(SHARE_SIZE * u->nprog, 64u); /* no cache line of two CPUs */
}

/* What this CPU and program have in u->shares. */
static struct ref this_share(struct lower *l)
{
	struct fn *f = l->f;
	struct unit *u = l->u;
	u32 cpus = 1, stride = share_stride(u);
	while (cpus < l->c->host->ncpu)
		cpus *= 2;
	if (!u->shares) {
		u->shares = unit_map(l->c, MAP_AUX, "shares");
		u->shares->val_size = cpus * stride;
	}
	struct ref cpu = ir_callp(f, BPF_FUNC_get_smp_processor_id, 0, NULL);
	struct ref at =
		ir_op2(f, O_MUL, ir_op2(f, O_AND, cpu, ir_con(f, cpus - 1)), ir_con(f, stride));
	struct ref p = ir_op2(f, O_ADD, ir_op1(f, O_MAPVAL, 8, ir_map(u->shares->index)), at);
	return ir_addi(f, p, (i32)(SHARE_SIZE * l->prog->index));
}

/* The ring would be more than half full: to room when the program has something of its share left.
 * One record it may always have. */
static void use_share(struct lower *l, const struct claim *c, struct ref end, struct blk *room,
		      struct blk *full)
{
	struct fn *f = l->f;
	struct blk *fits = ir_blk(f), *past = ir_blk(f), *known = ir_blk(f), *more = ir_blk(f),
		   *own = ir_blk(f);
	struct ref taken = ir_load(f, 8, c->ring, RINGS_TAKEN), zero = ir_con(f, 0);
	ir_br(f, O_ULE, ir_op2(f, O_SUB, end, taken), ir_con(f, l->u->ring_size), fits, full);
	ir_at(f, fits);
	struct ref p = this_share(l), used = ir_var(f);
	ir_set(f, used, ir_load(f, 8, p, SHARE_USED));
	ir_br(f, O_UGE, taken, ir_load(f, 8, p, SHARE_LAST), past, known);
	ir_at(f, past);
	ir_set(f, used, zero);
	ir_jmp(f, known);
	ir_at(f, known);
	struct ref sum = ir_op2(f, O_ADD, ir_get(f, used), c->size);
	struct ref turns = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->turns->index));
	ir_br(f, O_ULE, sum, ir_load(f, 8, turns, RINGS_SHARE), own, more);
	ir_at(f, more);
	ir_br(f, O_EQ, ir_get(f, used), zero, own, full);
	ir_at(f, own);
	ir_store(f, 8, p, SHARE_USED, sum);
	ir_store(f, 8, p, SHARE_LAST, end);
	ir_jmp(f, room);
}

/* The record turned out shorter: it was counted when the ring was more than half full. */
static void return_share(struct lower *l, const struct claim *c, struct ref end)
{
	struct fn *f = l->f;
	struct blk *tight = ir_blk(f), *go = ir_blk(f);
	tight->unlikely = true;
	struct ref fill = ir_op2(f, O_SUB, c->end, ir_load(f, 8, c->ring, RINGS_TAKEN));
	ir_br(f, O_ULE, fill, ir_con(f, l->u->ring_size / 2), go, tight);
	ir_at(f, tight);
	struct ref p = this_share(l), less = ir_op2(f, O_SUB, c->end, end);
	ir_store(f, 8, p, SHARE_USED, ir_op2(f, O_SUB, ir_load(f, 8, p, SHARE_USED), less));
	ir_store(f, 8, p, SHARE_LAST, end);
	ir_jmp(f, go);
	ir_at(f, go);
}

/* The number of the record, or 0 when another program claimed room behind it meanwhile. */
static struct ref draw_turn(struct lower *l, const struct claim *c)
{
	struct fn *f = l->f;
	struct blk *late = ir_blk(f), *go = ir_blk(f);
	struct ref turn = ir_var(f);
	struct ref turns = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->turns->index));
	ir_set(f, turn, ir_atomic(f, O_XADDF, 8, turns, 0, ir_con(f, 1)));
	late->unlikely = true;
	ir_br(f, O_EQ, ir_load(f, 8, c->ring, RINGS_MADE), c->end, go, late);
	ir_at(f, late);
	ir_set(f, turn, ir_con(f, 0));
	ir_jmp(f, go);
	ir_at(f, go);
	return ir_op2(f, O_SHL, ir_get(f, turn), ir_con(f, RINGS_TURN));
}

void lower_claim(struct lower *l, struct ref size, u32 most, struct blk *full, struct claim *c)
{
	struct fn *f = l->f;
	struct map *m = l->u->ring;
	struct blk *got = ir_blk(f);
	struct ref at = ir_var(f);
	u32 bytes = l->u->ring_size;
	assert(most < RINGS_LONGEST && most % 8 == 0);
	m->val_size = MAX(m->val_size, RINGS_DATA + bytes + (u32)ALIGN_UP(most, 64u));
	c->size = size;
	c->ring = this_ring(l, full);
	c->shared = shares_ring(l);
	l->claims |= has_share(l->prog);
	for (u32 i = 0; i < CLAIM_TRIES; i++) {
		struct blk *room = ir_blk(f), *again = i + 1 < CLAIM_TRIES ? ir_blk(f) : full;
		again->unlikely = true;
		room->unlikely = i > 0;
		struct ref made = ir_load(f, 8, c->ring, RINGS_MADE);
		struct ref end = ir_op2(f, O_ADD, made, size);
		struct ref fill = ir_op2(f, O_SUB, end, ir_load(f, 8, c->ring, RINGS_TAKEN));
		if (i == 0 && c->shared) {
			struct blk *tight = ir_blk(f);
			tight->unlikely = true;
			ir_br(f, O_ULE, fill, ir_con(f, bytes / 2), room, tight);
			ir_at(f, tight);
			use_share(l, c, end, room, full);
		} else {
			ir_br(f, O_ULE, fill, ir_con(f, bytes), room, full);
		}
		ir_at(f, room);
		ir_set(f, at, made);
		struct ref was = ir_cmpxchg(f, 8, c->ring, RINGS_MADE, made, end);
		ir_br(f, O_EQ, was, made, got, again);
		if (again != full)
			ir_at(f, again);
	}
	ir_at(f, got);
	c->at = ir_get(f, at);
	c->end = ir_op2(f, O_ADD, c->at, size);
	c->turn = draw_turn(l, c);
	/* A multiple of 8, which the verifier has to see where the last store is an exchange. */
	struct ref off = ir_op2(f, O_AND, c->at, ir_con(f, bytes - 8));
	c->rec = (struct mem){.base = ir_op2(f, O_ADD, c->ring, off),
			      .off = RINGS_DATA + RINGS_WORD,
			      .loose = true};
}

void lower_shrink(struct lower *l, struct claim *c, struct ref size)
{
	struct fn *f = l->f;
	struct blk *less = ir_blk(f), *go = ir_blk(f);
	struct ref now = ir_var(f);
	struct ref end = ir_op2(f, O_ADD, c->at, size);
	ir_set(f, now, c->size);
	struct ref was = ir_cmpxchg(f, 8, c->ring, RINGS_MADE, c->end, end);
	ir_br(f, O_EQ, was, c->end, less, go);
	ir_at(f, less);
	if (c->shared)
		return_share(l, c, end);
	ir_set(f, now, size);
	ir_jmp(f, go);
	ir_at(f, go);
	c->size = ir_get(f, now);
	c->end = ir_op2(f, O_ADD, c->at, c->size);
}

static void wake(struct lower *l)
{
	struct fn *f = l->f;
	struct mem any = lower_tmp(l, 8);
	lower_store(l, 8, any, ir_con(f, 0));
	ir_call(f, BPF_FUNC_ringbuf_output,
		ARGS(ir_map(l->u->wake->index), lower_addr(l, any), ir_con(f, 8),
		     ir_con(f, BPF_RB_FORCE_WAKEUP)));
}

static void wake_at_times(struct lower *l, const struct claim *c)
{
	struct fn *f = l->f;
	struct blk *step = ir_blk(f), *go = ir_blk(f);
	step->unlikely = true;
	struct ref crossed = ir_op2(f, O_XOR, c->at, c->end);
	ir_br(f, O_UGE, crossed, ir_con(f, l->u->ring_size / WAKE_EVERY), step, go);
	ir_at(f, step);
	wake(l);
	ir_jmp(f, go);
	ir_at(f, go);
}

void lower_finish(struct lower *l, const struct claim *c, bool now)
{
	struct fn *f = l->f;
	struct ref words = ir_op2(f, O_SHR, c->size, ir_con(f, 3));
	lower_release(l, c->rec.base, c->rec.off - RINGS_WORD, ir_op2(f, O_OR, c->turn, words));
	if (now)
		wake(l);
	else
		wake_at_times(l, c);
}
