/*
 * moves.c - parallel moves: a call's arguments, phis at the end of a block, the
 * parameters at entry.
 */
#include "ir/pass.h"

struct at at_of(const struct fn *f, struct ref r, i32 off)
{
	if (!is_tmp(r))
		return (struct at){AT_REF, off, r};
	const struct tmp *t = &f->tmp.v[r.id];
	if (t->reg >= 0)
		return at_reg(t->reg);
	return (struct at){AT_STACK, t->spill, REF_NONE};
}

static bool at_eq(struct at a, struct at b)
{
	return a.kind == b.kind && a.n == b.n && ref_eq(a.ref, b.ref);
}

static u16 reg_bit(struct at a)
{
	return a.kind == AT_REG ? (u16)(1u << a.n) : 0;
}

void moves_add(struct moves *m, struct at to, struct at from)
{
	if (at_eq(to, from))
		m->busy |= reg_bit(to);
	else
		vec_add(&m->v, (struct move){to, from});
}

void moves_phi(const struct fn *f, const struct blk *b, struct moves *m)
{
	m->v.n = 0;
	m->busy = 0;
	if (b->jmp != J_JMP || !b->s1->phi)
		return;
	i32 at = pred_index(b->s1, b);
	for (u32 i = 0; i < b->s1->live_in.n; i++)
		m->busy |= reg_bit(at_of(f, mkref(R_TMP, b->s1->live_in.v[i]), 0));
	for_each (p, b->s1->phi)
		moves_add(m, at_of(f, p->to, 0), at_of(f, p->arg[at], 0));
}

static u16 pending(const struct moves *m)
{
	u16 regs = 0;
	for (u32 i = 0; i < m->v.n; i++)
		regs |= reg_bit(m->v.v[i].from);
	return regs;
}

static bool is_source(const struct moves *m, struct at a)
{
	for (u32 i = 0; i < m->v.n; i++)
		if (at_eq(m->v.v[i].from, a))
			return true;
	return false;
}

static bool scratch(const struct moves *m, u16 more, struct at *ret)
{
	u16 taken = m->busy | pending(m) | more;
	for (i32 r = 0; r < 10; r++) {
		if (taken >> r & 1)
			continue;
		*ret = at_reg(r);
		return true;
	}
	return false;
}

static bool needs_scratch(const struct fn *f, const struct move *m)
{
	u64 v;
	if (m->to.kind != AT_STACK || m->from.kind == AT_REG)
		return false;
	return m->from.kind == AT_STACK || !ir_is_con(f, m->from.ref, &v) || !fits32(v);
}

static void take(struct moves *m, u32 at)
{
	memmove(&m->v.v[at], &m->v.v[at + 1], (m->v.n - at - 1) * sizeof(struct move));
	m->v.n--;
}

/* Do move at if nothing still has to be read from its destination. 1: done, 0: blocked, -1: no
 * scratch. */
static int step(const struct fn *f, struct moves *m, u32 at, struct moves *steps)
{
	struct move mv = m->v.v[at];
	struct at tmp;
	if (is_source(m, mv.to))
		return 0;
	if (needs_scratch(f, &mv)) {
		if (!scratch(m, 0, &tmp))
			return -1;
		vec_add(&steps->v, (struct move){tmp, mv.from});
		mv.from = tmp;
	}
	vec_add(&steps->v, mv);
	m->busy |= reg_bit(mv.to);
	take(m, at);
	return 1;
}

/* Only cycles are left: save what the first move overwrites. */
static bool break_cycle(struct moves *m, struct moves *steps)
{
	u32 first = 0;
	while (m->v.v[first].from.kind == AT_REF)
		first++;
	struct at tmp, to = m->v.v[first].to;
	if (!scratch(m, reg_bit(to), &tmp))
		return false;
	vec_add(&steps->v, (struct move){tmp, to});
	for (u32 i = 0; i < m->v.n; i++)
		if (at_eq(m->v.v[i].from, to))
			m->v.v[i].from = tmp;
	return true;
}

/* One round over the moves whose source is (not) an AT_REF. One that finds no scratch register waits
 * for those that free one; -1: there are none of these left. */
static int sweep(const struct fn *f, struct moves *m, bool refs, struct moves *steps)
{
	int progress = 0;
	bool waits = false;
	for (u32 i = 0; i < m->v.n;) {
		int r = (m->v.v[i].from.kind == AT_REF) == refs ? step(f, m, i, steps) : 0;
		waits |= r < 0;
		progress |= r > 0;
		i += r <= 0;
	}
	return progress ? 1 : waits ? -1 : 0;
}

bool moves_order(const struct fn *f, struct moves *m)
{
	struct moves steps = {0};
	bool ok = true;
	while (ok && m->v.n) {
		int r = sweep(f, m, false, &steps);
		bool values = false;
		for (u32 i = 0; i < m->v.n; i++)
			values |= m->v.v[i].from.kind != AT_REF;
		if (r == 0 && values)
			ok = break_cycle(m, &steps);
		else if (r == 0 && m->v.n)
			r = sweep(f, m, true, &steps);
		ok &= r >= 0;
	}
	vec_free(&m->v);
	m->v.v = steps.v.v;
	m->v.n = steps.v.n;
	m->v.cap = steps.v.cap;
	return ok;
}
