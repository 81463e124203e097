/*
 * prep.c - what the register allocator wants to find: no edge from a branch to
 * a phi, only constants that fit their instruction, and cheap values (constants,
 * addresses of slots, maps and functions) made where they are used.
 *
 * A cheap value is made once per stretch without calls and used from there.
 */
#include "ir/pass.h"

typedef VEC(struct ins) ins_vec;

struct prep {
	struct fn *f;
	struct arena tmp;
	struct ins **cheap; /* by temporary: how it is made */
	u32 ntmp;
	ins_vec out, cache;
	struct loc loc;
};

static void split_edge(struct fn *f, struct blk *b, struct blk **to)
{
	struct blk *s = *to, *e = arena_new(f->arena, struct blk);
	i32 at = pred_index(s, b);
	assert(at >= 0);
	e->id = f->nblk++;
	e->jmp = J_JMP;
	e->s1 = s;
	e->loc = b->loc;
	e->idom = b;
	e->depth = MIN(b->depth, s->depth);
	e->unlikely = b->unlikely || s->unlikely;
	vec_add(&e->pred, b);
	s->pred.v[at] = e;
	*to = e;
	e->next = b->next;
	b->next = e;
	if (f->tail == &b->next)
		f->tail = &e->next;
}

static void split_edges(struct fn *f)
{
	for_blk (b, f) {
		if (b->jmp != J_CMP)
			continue;
		if (b->s1->phi)
			split_edge(f, b, &b->s1);
		if (b->s2->phi)
			split_edge(f, b, &b->s2);
	}
	u32 id = 0;
	for_blk (b, f)
		b->id = id++;
	cfg_dominators(f);
}

static struct ref make(struct prep *p, struct ins i)
{
	for (u32 n = 0; n < p->cache.n; n++) {
		struct ins *c = &p->cache.v[n];
		if (c->op == i.op && ref_eq(c->arg[0], i.arg[0]) && c->imm == i.imm)
			return c->to;
	}
	i.to = ir_tmp(p->f);
	i.loc = p->loc;
	vec_add(&p->out, i);
	vec_add(&p->cache, i);
	return i.to;
}

static struct ref make_con(struct prep *p, struct ref con)
{
	return make(p, (struct ins){.op = O_COPY, .w = 8, .arg = {con}});
}

static struct ins *cheap_def(const struct prep *p, struct ref r)
{
	return is_tmp(r) && r.id < p->ntmp ? p->cheap[r.id] : NULL;
}

static void localize(struct prep *p, struct ref *r)
{
	struct ins *d = cheap_def(p, *r);
	if (d && d->op == O_COPY)
		*r = d->arg[0];
	else if (d)
		*r = make(p, *d);
}

static void need_tmp(struct prep *p, struct ref *r)
{
	if (r->kind == R_CON)
		*r = make_con(p, *r);
}

static void need_imm(struct prep *p, struct ref *r, u32 w)
{
	u64 v;
	if (ir_is_con(p->f, *r, &v) && w == 8 && !fits32(v))
		*r = make_con(p, *r);
}

static void far_offset(struct prep *p, struct ins *i)
{
	if (i->imm == (i16)i->imm || i->arg[0].kind == R_SLOT)
		return;
	struct ref con = ir_con(p->f, (u64)(i64)i->imm), sum = ir_tmp(p->f);
	vec_add(&p->out,
		(struct ins){
			.op = O_ADD, .w = 8, .to = sum, .arg = {i->arg[0], con}, .loc = i->loc});
	i->arg[0] = sum;
	i->imm = 0;
}

static void fit_binary(struct prep *p, struct ins *i)
{
	u8 flags = op_info[i->op].flags;
	bool left = i->arg[0].kind == R_CON, right = i->arg[1].kind == R_CON;
	if (left && !right && flags & (F_COMM | F_CMP)) {
		struct ref r = i->arg[0];
		i->arg[0] = i->arg[1];
		i->arg[1] = r;
		if (flags & F_CMP)
			i->op = op_swap(i->op);
	}
	if (flags & F_CMP || (left && right))
		need_tmp(p, &i->arg[0]);
	need_imm(p, &i->arg[1], 8);
}

static void fit(struct prep *p, struct ins *i)
{
	switch ((int)i->op) {
	case O_ADD ... O_SAR:
	case O_EQ ... O_SGE: fit_binary(p, i); break;
	case O_LOAD:
	case O_LOADS:
	case O_ACQUIRE:
		need_tmp(p, &i->arg[0]);
		far_offset(p, i);
		break;
	case O_STORE:
	case O_HIDE:
		need_tmp(p, &i->arg[0]);
		need_imm(p, &i->arg[1], i->w);
		far_offset(p, i);
		break;
	case O_RELEASE:
	case O_XADD:
	case O_CMPXCHG: need_tmp(p, &i->arg[1]); /* fall through */
	case O_XADDF:
	case O_XCHG:
		need_tmp(p, &i->arg[0]);
		far_offset(p, i);
		break;
	default: break;
	}
}

static void fit_arg(struct prep *p, struct ins *i)
{
	struct ins *d = cheap_def(p, i->arg[0]);
	if (!d)
		return;
	if (d->op == O_MAPVAL) {
		i->arg[0] = make(p, *d);
		return;
	}
	i->arg[0] = d->arg[0];
	i->imm = d->op == O_ADDR ? d->imm : 0;
}

static void prep_ins(struct prep *p, struct ins *i)
{
	if (is_tmp(i->to) && p->cheap[i->to.id])
		return;
	p->loc = i->loc;
	u32 nargs = takes_args(i->op) ? i->nargs : 0;
	for (u32 a = nargs; a > 0; a--)
		fit_arg(p, &i[-(i32)a]);
	if (op_info[i->op].nargs > 0 && !is_call(i->op))
		localize(p, &i->arg[0]);
	if (op_info[i->op].nargs > 1)
		localize(p, &i->arg[1]);
	fit(p, i);
	for (u32 a = nargs; a > 0; a--)
		vec_add(&p->out, i[-(i32)a]);
	vec_add(&p->out, *i);
	if (is_call(i->op))
		p->cache.n = 0;
}

static void prep_block(struct prep *p, struct blk *b)
{
	p->out.n = p->cache.n = 0;
	for_ins (i, b)
		if (i->op != O_ARG && i->op != O_NOP)
			prep_ins(p, i);
	p->loc = b->loc;
	for (u32 a = 0; a < 2; a++)
		localize(p, &b->cmp[a]);
	if (b->jmp == J_CMP && b->cond != O_MAY) {
		struct ins cmp = {.op = b->cond, .w = 8, .arg = {b->cmp[0], b->cmp[1]}};
		fit_binary(p, &cmp);
		b->cond = cmp.op;
		b->cmp[0] = cmp.arg[0];
		b->cmp[1] = cmp.arg[1];
	}
	i32 at = b->jmp == J_JMP ? pred_index(b->s1, b) : -1;
	if (at >= 0)
		for_each (phi, b->s1->phi)
			localize(p, &phi->arg[at]);
	ins_vec old = {b->ins.v, b->ins.n, b->ins.cap};
	b->ins.v = p->out.v;
	b->ins.n = p->out.n;
	b->ins.cap = p->out.cap;
	p->out = old;
}

/* Functions only dead code referred to: the verifier refuses what is never called. */
static void drop_unused_fns(struct fn *f)
{
	struct arena tmp = {0};
	u32 *at = arena_newn(&tmp, u32, f->fns.n + 1), n = 0;
	for_blk (b, f)
		for_ins (i, b)
			if (i->arg[0].kind == R_FN)
				at[i->arg[0].id] = 1;
	for (u32 k = 0; k < f->fns.n; k++) {
		if (!at[k]) {
			vec_add(&f->unused, f->fns.v[k]);
			continue;
		}
		at[k] = n;
		f->fns.v[n++] = f->fns.v[k];
	}
	f->fns.n = n;
	for_blk (b, f)
		for_ins (i, b)
			if (i->arg[0].kind == R_FN)
				i->arg[0] = mkref(R_FN, at[i->arg[0].id]);
	arena_free(&tmp);
}

void regs_prepare(struct fn *f)
{
	drop_unused_fns(f);
	split_edges(f);
	struct prep p = {.f = f, .ntmp = f->tmp.n};
	p.cheap = arena_newn(&p.tmp, struct ins *, f->tmp.n + 1);
	for_blk (b, f) {
		for_ins (i, b) {
			bool con = i->op == O_COPY && i->arg[0].kind == R_CON;
			if (!con && !is_remat(i->op))
				continue;
			p.cheap[i->to.id] = arena_new(&p.tmp, struct ins);
			*p.cheap[i->to.id] = *i;
		}
	}
	for_blk (b, f)
		prep_block(&p, b);
	vec_free(&p.out);
	vec_free(&p.cache);
	arena_free(&p.tmp);
}
