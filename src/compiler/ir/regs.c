/*
 * regs.c - every temporary gets r0-r9 or a place on the stack.
 *
 * Blocks are walked in an order that meets definitions before uses; as the
 * function is in SSA form, what is live at a definition has its register
 * already, so one walk colours everything. A temporary keeps one register all
 * its life: the verifier's knowledge about it stays with it. What lives across
 * a call may only be in r6-r9. When no register is left, the live temporary
 * that is cheapest to keep in memory is spilled (uses weighed by loop depth,
 * per length of life), the code rewritten, and the walk repeated.
 *
 * Hints keep moves away: the register an argument will be passed in, the one
 * of a dying first operand, the one of phi relatives.
 */
#include "ir/pass.h"

/* By itself: in newer compilers a value this large makes every enumerator beside it unsigned. */
enum { COST_KEEP = 0xffffffff };
enum {
	NREG = 10,
	CALLER_SAVED = 0x3f,
	COST_BOUNDS = 64, /* a bounds-checked value: before Linux 5.15 a spill forgets the bounds */
	RUNS_MAX = 500,
	RUNS_LOW = 30,
};

struct regs {
	struct fn *f;
	struct arena tmp;
	struct spill spill;
	VEC(bool) low; /* by temporary: crosses no call, and is to stay out of r6-r9 if it can */
	bool all_low, again; /* something became low */
	/* by temporary */
	u16 *forbid;
	u32 *cost, *len, *end, (*want)[NREG], *class;
	bool *bounds, *chosen,
		*survivor; /* survivor: would do in the register of what crosses a call */
	u32 nchosen;
	i8 *class_reg;
	u16 *class_forbid; /* what one of the class may not have */
	/* by instruction: bit 0, 1: that operand is used here for the last time */
	u8 *kill;
	u32 *base; /* by block: its first index into kill */
	u32 owner[NREG];
	u16 occupied;
	struct live_set live;
};

static u32 weight(const struct blk *b)
{
	u32 w = 8;
	for (u32 i = 0; i < b->depth && i < 4; i++)
		w *= 8;
	return b->unlikely ? w / 8 : w;
}

static void add_cost(struct regs *r, struct ref t, u32 w)
{
	u64 c = (u64)r->cost[t.id] + w;
	r->cost[t.id] = (u32)MIN(c, COST_KEEP - 1);
}

/* ---- the walk backwards: costs, hints, last uses ---- */

static void scan_use(struct regs *r, struct ref t, u32 at, u32 w, u8 *kill, u8 bit)
{
	if (!is_tmp(t))
		return;
	add_cost(r, t, w);
	r->f->tmp.v[t.id].nuse++;
	if (live_has(&r->live, t.id))
		return;
	live_add(&r->live, t.id);
	r->end[t.id] = at;
	if (kill)
		*kill |= bit;
}

static void scan_call(struct regs *r, u16 clobbers)
{
	for (u32 i = 0; i < r->live.n; i++)
		r->forbid[r->live.v[i]] |= clobbers;
}

static void scan_args(struct regs *r, const struct ins *i, u32 w)
{
	for (u32 a = 0; a < i->nargs; a++) {
		struct ref t = i[(i32)a - i->nargs].arg[0];
		if (is_tmp(t))
			r->want[t.id][is_call(i->op) ? a + 1 : 0] += w;
	}
}

static void scan_def(struct regs *r, const struct ins *i, u32 at, u32 w)
{
	u32 t = i->to.id;
	add_cost(r, i->to, w);
	r->f->tmp.v[t].ndef++;
	if (live_has(&r->live, t))
		r->len[t] += r->end[t] - at;
	live_drop(&r->live, t);
	if (is_call(i->op) || i->op == O_CMPXCHG)
		r->want[t][0] += w;
	else if (i->op == O_CTX || i->op == O_PARAM)
		r->want[t][i->imm + 1] += w;
	u64 v;
	if ((i->op == O_AND || i->op == O_UMOD) && ir_is_con(r->f, i->arg[1], &v))
		r->bounds[t] = true;
}

/*
 * Of a + b that lives across a call one operand would do in r6-r9 already, if it costs nothing to have it
 * there: it is read from memory, or made of something that lives on, so that it is copied anyway.
 */
static void pass_survival(struct regs *r, const struct ins *i, u8 kill, u32 w)
{
	u32 t = is_tmp(i->to) ? i->to.id : 0;
	if (!is_tmp(i->to))
		return;
	if (r->survivor[t] &&
	    (i->op == O_LOAD || (!is_mem(i->op) && is_tmp(i->arg[0]) && !(kill & 1))))
		for (u32 n = 6; n < NREG; n++)
			r->want[t][n] += w;
	if (!(op_info[i->op].flags & F_COMM) || !(r->forbid[t] & CALLER_SAVED))
		return;
	for (u32 a = 0; a < 2; a++)
		if (is_tmp(i->arg[a]) && kill & 1u << a)
			r->survivor[i->arg[a].id] = true;
}

/* The first operand would like to be where the result wants to be. */
static void pass_wishes(struct regs *r, const struct ins *i)
{
	if (is_mem(i->op) || !is_tmp(i->arg[0]) || !is_tmp(i->to))
		return;
	for (u32 n = 0; n < NREG; n++)
		r->want[i->arg[0].id][n] += r->want[i->to.id][n] / 2;
}

static void scan_ins(struct regs *r, struct blk *b, u32 n)
{
	struct ins *i = &b->ins.v[n];
	u8 *kill = &r->kill[r->base[b->id] + n];
	u32 w = weight(b);
	if (is_tmp(i->to))
		scan_def(r, i, n, w);
	if (is_call(i->op))
		scan_call(r, CALLER_SAVED);
	if (takes_args(i->op))
		scan_args(r, i, w);
	scan_use(r, i->arg[1], n, w, kill, 2);
	scan_use(r, i->arg[0], n, w, kill, 1);
	if (*kill & 1)
		pass_wishes(r, i);
	pass_survival(r, i, *kill, w);
	if (i->op == O_CMPXCHG)
		scan_call(r, 1);
}

static void scan_block(struct regs *r, struct blk *b)
{
	u32 w = weight(b);
	live_set_to(&r->live, b->live_out.n, b->live_out.v);
	for (u32 i = 0; i < r->live.n; i++)
		r->end[r->live.v[i]] = b->ins.n + 1;
	if (b->jmp == J_RET && is_tmp(b->cmp[0]))
		r->want[b->cmp[0].id][0] += w;
	for (u32 a = 0; a < 2; a++) {
		scan_use(r, b->cmp[a], b->ins.n + 1, w, NULL, 0);
		if (b->jmp == J_CMP && b->cond != O_EQ && b->cond != O_NE && is_tmp(b->cmp[a]))
			r->bounds[b->cmp[a].id] = true;
	}
	for (u32 n = b->ins.n; n-- > 0;)
		scan_ins(r, b, n);
	for_each (p, b->phi) {
		add_cost(r, p->to, w);
		r->f->tmp.v[p->to.id].ndef++;
		for (u32 i = 0; i < b->pred.n; i++)
			if (is_tmp(p->arg[i]))
				r->f->tmp.v[p->arg[i].id].nuse++;
	}
	for (u32 i = 0; i < r->live.n; i++)
		r->len[r->live.v[i]] += r->end[r->live.v[i]];
}

static u32 class_of(struct regs *r, u32 t)
{
	while (r->class[t] != t)
		t = r->class[t] = r->class[r->class[t]];
	return t;
}

static void classes(struct regs *r)
{
	for (u32 t = 0; t < r->f->tmp.n; t++) {
		r->class[t] = t;
		r->class_reg[t] = -1;
	}
	for_blk (b, r->f)
		for_each (p, b->phi)
			for (u32 i = 0; i < b->pred.n; i++)
				if (is_tmp(p->arg[i]))
					r->class[class_of(r, p->arg[i].id)] = class_of(r, p->to.id);
	for (u32 t = 0; t < r->f->tmp.n; t++)
		r->class_forbid[class_of(r, t)] |= r->forbid[t];
}

static void scan(struct regs *r)
{
	struct fn *f = r->f;
	u32 n = f->tmp.n + 1, nins = 1;
	arena_reset(&r->tmp);
	r->forbid = arena_newn(&r->tmp, u16, n);
	r->cost = arena_newn(&r->tmp, u32, n);
	r->len = arena_newn(&r->tmp, u32, n);
	r->end = arena_newn(&r->tmp, u32, n);
	r->want = arena_alloc(&r->tmp, n * sizeof(*r->want), sizeof(u32));
	r->class = arena_newn(&r->tmp, u32, n);
	r->class_reg = arena_newn(&r->tmp, i8, n);
	r->class_forbid = arena_newn(&r->tmp, u16, n);
	r->bounds = arena_newn(&r->tmp, bool, n);
	r->chosen = arena_newn(&r->tmp, bool, n);
	r->survivor = arena_newn(&r->tmp, bool, n);
	r->live = live_set(&r->tmp, n);
	r->base = arena_newn(&r->tmp, u32, f->nblk);
	for_blk (b, f) {
		r->base[b->id] = nins;
		nins += b->ins.n;
	}
	r->kill = arena_newn(&r->tmp, u8, nins);
	for (u32 t = 0; t < f->tmp.n; t++) {
		bool slot = t < r->spill.slot.n && r->spill.slot.v[t];
		f->tmp.v[t] =
			(struct tmp){.reg = -1, .spill = slot ? -8 * (i32)r->spill.slot.v[t] : 0};
	}
	struct blk **order = arena_newn(&r->tmp, struct blk *, f->nblk);
	for_blk (b, f)
		order[b->id] = b;
	for (u32 i = f->nblk; i-- > 0;)
		scan_block(r, order[i]);
	for (u32 t = 0; t < f->tmp.n; t++) {
		if (t < r->spill.life.n && r->spill.life.v[t] == LIFE_POINT)
			r->cost[t] = COST_KEEP;
		else if (r->bounds[t])
			add_cost(r, mkref(R_TMP, t),
				 r->cost[t] < 1 << 24 ? r->cost[t] * COST_BOUNDS : 0);
	}
	classes(r);
}

/* ---- the walk forwards: registers ---- */

static bool is_spilled(const struct regs *r, u32 t)
{
	return r->chosen[t] || (t < r->spill.slot.n && r->spill.slot.v[t]);
}

static void release(struct regs *r, struct ref t)
{
	if (!is_tmp(t))
		return;
	i32 reg = r->f->tmp.v[t.id].reg;
	if (reg >= 0 && r->occupied >> reg & 1 && r->owner[reg] == t.id)
		r->occupied &= (u16) ~(1u << reg);
}

static void occupy(struct regs *r, u32 t, i32 reg)
{
	r->f->tmp.v[t].reg = reg;
	r->owner[reg] = t;
	r->occupied |= (u16)(1u << reg);
	r->class_reg[class_of(r, t)] = (i8)reg;
}

static bool cheaper(const struct regs *r, u32 a, u32 b)
{
	return (u64)r->cost[a] * (r->len[b] + 1) < (u64)r->cost[b] * (r->len[a] + 1);
}

static void choose(struct regs *r, u32 t)
{
	r->chosen[t] = true;
	r->nchosen++;
	r->f->tmp.v[t].reg = -1;
}

static bool is_low(const struct regs *r, u32 t)
{
	return r->all_low || (t < r->low.n && r->low.v[t]);
}

/* Somebody who would do with r0-r5 has what t needs: the next run knows. */
static bool send_low(struct regs *r, u32 t)
{
	for (i32 reg = 6; reg < NREG; reg++) {
		u32 o = r->owner[reg];
		if (r->forbid[o] & CALLER_SAVED || is_low(r, o))
			continue;
		while (r->low.n <= o)
			vec_add(&r->low, false);
		r->low.v[o] = true;
		r->again = true;
		r->f->tmp.v[o].reg = -1;
		occupy(r, t, reg);
		return true;
	}
	return false;
}

/* No register for t: spill it, or the owner of one it could have. */
static void make_room(struct regs *r, u32 t)
{
	u32 victim = t;
	if (send_low(r, t))
		return;
	for (i32 reg = 0; reg < NREG; reg++) {
		u32 o = r->owner[reg];
		if (r->forbid[t] >> reg & 1 || r->cost[o] == COST_KEEP)
			continue;
		if (r->cost[victim] == COST_KEEP || cheaper(r, o, victim))
			victim = o;
	}
	assert(r->cost[victim] != COST_KEEP);
	i32 reg = r->f->tmp.v[victim].reg;
	choose(r, victim);
	if (victim != t)
		occupy(r, t, reg);
}

static void assign(struct regs *r, struct ref to, i32 like, u32 w)
{
	static const u8 order[NREG] = {0, 5, 4, 3, 2, 1, 6, 7, 8, 9};
	u32 t = to.id;
	if (is_spilled(r, t))
		return;
	u16 no = r->forbid[t] | r->occupied;
	if (is_low(r, t) && !(r->forbid[t] & CALLER_SAVED) && (~no & CALLER_SAVED))
		no |= 0x3ff & ~CALLER_SAVED;
	i32 best = -1, kin = r->class_reg[class_of(r, t)];
	u64 score = 0;
	for (u32 n = 0; n < NREG; n++) {
		i32 reg = order[n];
		if (no >> reg & 1)
			continue;
		u64 s = 1 + 2 * (u64)r->want[t][reg] + (reg == kin ? w / 8 : 0) +
			(reg == like ? w : 0);
		s += reg < 6 ? w / 2 : 0;
		if (s > score) {
			score = s;
			best = reg;
		}
	}
	if (best >= 0)
		occupy(r, t, best);
	else
		make_room(r, t);
}

/* Operands that must outlive the instruction: the result may not take their register. */
static u8 late_uses(const struct ins *i)
{
	u8 flags = op_info[i->op].flags;
	if (flags & F_CMP || (ref_is(i->arg[1]) && ref_eq(i->arg[0], i->arg[1])))
		return 3;
	if (i->op == O_XADDF || i->op == O_XCHG)
		return 1;
	if (i->op >= O_ADD && i->op <= O_SAR && !(flags & F_COMM))
		return 2;
	return 0;
}

static void color_ins(struct regs *r, struct blk *b, u32 n)
{
	struct ins *i = &b->ins.v[n];
	u8 kill = r->kill[r->base[b->id] + n], late = late_uses(i);
	i32 like = -1;
	bool top = i->op == O_CTX || i->op == O_PARAM;
	if (!is_mem(i->op) && is_tmp(i->arg[0]) && kill & 1)
		like = r->f->tmp.v[i->arg[0].id].reg;
	if (op_info[i->op].flags & F_COMM && is_tmp(i->arg[1]) && kill & 2 &&
	    (like < 0 || r->forbid[i->to.id] >> like & 1))
		like = r->f->tmp.v[i->arg[1].id].reg;
	for (u8 a = 0; a < 2; a++)
		if (kill & ~late & 1u << a)
			release(r, i->arg[a]);
	if (is_tmp(i->to))
		assign(r, i->to, like, weight(b));
	for (u8 a = 0; a < 2; a++)
		if (kill & late & 1u << a)
			release(r, i->arg[a]);
	if (is_tmp(i->to) && !r->f->tmp.v[i->to.id].nuse && !top)
		release(r, i->to);
}

/* A phi would like the register of an argument, and arguments not met yet the phi's. */
static void color_phi(struct regs *r, struct blk *b, struct phi *p)
{
	const struct tmp *tmp = r->f->tmp.v;
	for (u32 i = 0; i < b->pred.n; i++)
		if (is_tmp(p->arg[i]) && tmp[p->arg[i].id].reg >= 0)
			r->want[p->to.id][tmp[p->arg[i].id].reg] += 2 * weight(b->pred.v[i]);
	/* What becomes of it behind the loop crosses a call: rather there at once than by a copy on each way out. */
	if (b->depth && r->class_forbid[class_of(r, p->to.id)] & CALLER_SAVED &&
	    !(r->forbid[p->to.id] & CALLER_SAVED))
		for (u32 n = 6; n < NREG; n++)
			r->want[p->to.id][n] += weight(b);
	assign(r, p->to, -1, weight(b));
	i32 reg = tmp[p->to.id].reg;
	for (u32 i = 0; reg >= 0 && i < b->pred.n; i++)
		if (is_tmp(p->arg[i]) && tmp[p->arg[i].id].reg < 0)
			r->want[p->arg[i].id][reg] += 2 * weight(b->pred.v[i]);
}

static void color_block(struct regs *r, struct blk *b)
{
	r->occupied = 0;
	for (u32 i = 0; i < b->live_in.n; i++) {
		u32 t = b->live_in.v[i];
		i32 reg = r->f->tmp.v[t].reg;
		if (reg < 0)
			continue;
		r->owner[reg] = t;
		r->occupied |= (u16)(1u << reg);
	}
	for_each (p, b->phi)
		color_phi(r, b, p);
	for_each (p, b->phi)
		if (!r->f->tmp.v[p->to.id].nuse)
			release(r, p->to);
	for (u32 n = 0; n < b->ins.n; n++)
		color_ins(r, b, n);
}

/* What is cheaper to spill: victim (or none yet) or t, if that has a register to give. */
static u32 cheaper_of(const struct regs *r, u32 victim, u32 t)
{
	if (r->f->tmp.v[t].reg < 0 || r->cost[t] == COST_KEEP)
		return victim;
	if (victim == r->f->tmp.n || cheaper(r, t, victim))
		return t;
	return cheaper(r, victim, t) ? victim : MIN(victim, t);
}

/* Moves at the end of b need a scratch register and have none: something has to make room. */
static void check_edge(struct regs *r, struct blk *b)
{
	struct moves m = {0};
	moves_phi(r->f, b, &m);
	bool ok = moves_order(r->f, &m);
	vec_free(&m.v);
	if (ok)
		return;
	u32 victim = r->f->tmp.n;
	for (u32 i = 0; i < b->s1->live_in.n; i++)
		victim = cheaper_of(r, victim, b->s1->live_in.v[i]);
	for_each (p, b->s1->phi)
		victim = cheaper_of(r, victim, p->to.id);
	i32 at = pred_index(b->s1, b);
	for_each (p, b->s1->phi)
		if (victim == r->f->tmp.n && is_tmp(p->arg[at]))
			victim = cheaper_of(r, victim, p->arg[at].id);
	assert(victim < r->f->tmp.n);
	choose(r, victim);
}

static void check_edges(struct regs *r)
{
	for_blk (b, r->f)
		if (!r->nchosen)
			check_edge(r, b);
}

static void color(struct regs *r)
{
	r->nchosen = 0;
	r->again = false;
	for_blk (b, r->f)
		color_block(r, b);
	if (!r->nchosen && !r->again)
		check_edges(r);
	if (r->nchosen || r->again)
		return;
	/* Slots that share their place may need more moves. */
	u32 stack = r->f->stack;
	spill_layout(&r->spill);
	check_edges(r);
	if (r->nchosen)
		r->f->stack = stack;
}

void regs_run(struct fn *f)
{
	struct regs r = {.f = f, .spill = {.f = f, .first = f->slot.n}};
	regs_prepare(f);
	r.spill.first = f->slot.n;
	bool done = false;
	for (u32 run = 0; !done; run++) {
		assert(run < RUNS_MAX);
		r.all_low = run > RUNS_LOW;
		live_run(f);
		scan(&r);
		color(&r);
		done = !r.nchosen && !r.again;
		if (r.nchosen && !r.again)
			spill_rewrite(&r.spill, r.chosen);
	}
	spill_drop_unread(&r.spill);
	f->allocated = true;
	vec_free(&r.low);
	vec_free(&r.spill.slot);
	vec_free(&r.spill.home);
	vec_free(&r.spill.life);
	arena_free(&r.tmp);
}

/* ---- verification ---- */

/* Nothing that is live lies in one of these registers; except: it may. */
static bool are_free(const struct fn *f, const struct live_set *live, u16 regs, u32 except)
{
	for (u32 i = 0; i < live->n; i++) {
		i32 reg = f->tmp.v[live->v[i]].reg;
		if (reg >= 0 && regs >> reg & 1 && live->v[i] != except)
			return false;
	}
	return true;
}

static bool is_free(const struct fn *f, const struct live_set *live, u32 t)
{
	i32 reg = f->tmp.v[t].reg;
	return reg < 0 || are_free(f, live, (u16)(1u << reg), t);
}

static bool good_block(const struct fn *f, const struct blk *b, struct live_set *live)
{
	bool ok = true;
	live_set_to(live, b->live_out.n, b->live_out.v);
	for (u32 a = 0; a < 2; a++)
		if (is_tmp(b->cmp[a]))
			live_add(live, b->cmp[a].id);
	for (u32 n = b->ins.n; n-- > 0;) {
		const struct ins *i = &b->ins.v[n];
		if (is_tmp(i->to)) {
			live_drop(live, i->to.id);
			ok &= is_free(f, live, i->to.id);
		}
		ok &= !is_call(i->op) || are_free(f, live, CALLER_SAVED, f->tmp.n);
		for (u32 a = 0; a < 2; a++)
			if (is_tmp(i->arg[a]))
				live_add(live, i->arg[a].id);
		ok &= i->op != O_CMPXCHG || are_free(f, live, 1, f->tmp.n);
	}
	for_each (p, b->phi)
		if (f->tmp.v[p->to.id].nuse)
			live_add(live, p->to.id);
	for_each (p, b->phi)
		ok &= is_free(f, live, p->to.id);
	return ok;
}

const struct blk *regs_check(const struct fn *f)
{
	struct arena tmp = {0};
	const struct blk *bad = NULL;
	struct live_set live = live_set(&tmp, f->tmp.n);
	for_blk (b, f)
		if (!good_block(f, b, &live))
			bad = b;
	arena_free(&tmp);
	return bad;
}
