/*
 * enter.c - the beginning of a program: which of its points fired, by a number that the context holds.
 *
 * An event may have another number in programs of another kind (struct twin): it is then the same point's. If a method's
 * enter() leaves events out, their numbers are from a table of their own, and may be those of other events here:
 *
 *	native:	a point has the number: enter (leaves: left); go
 *	miss:	a twin here has the number: go, or count
 *		a twin elsewhere has it: enter (leaves: go, or count); out
 *	left:	a twin elsewhere has it: go, or count; out
 *
 * Few numbers are compared, many are looked up in a table.
 */
#include "lower/lower.h"

enum { FEW = 4, UNREADABLE = 0xfffffffe };

struct number {
	u64 nr;
	u32 to; /* point.id, or UNREADABLE */
};
struct numbers {
	struct number *v;
	u32 n;
};

/* The value of nr in the table of numbers into id; to no if it has none. */
static void look_up(struct lower *l, const struct numbers *of, struct ref nr, struct ref id,
		    struct blk *no)
{
	struct fn *f = l->f;
	u64 least = of->v[0].nr, most = of->v[0].nr;
	for (u32 i = 1; i < of->n; i++) {
		least = MIN(least, of->v[i].nr);
		most = MAX(most, of->v[i].nr);
	}
	u32 n = (u32)(most - least + 1);
	u32 *table = arena_newn(l->c->arena, u32, n);
	for (u32 i = 0; i < of->n; i++)
		table[of->v[i].nr - least] = of->v[i].to + 1;
	struct map *m = unit_map(l->c, MAP_AUX, "points");
	m->val_size = 4 * n;
	m->init = table;
	struct blk *in = ir_blk(f), *found = ir_blk(f);
	struct ref k = least ? ir_addi(f, nr, -(i64)least) : nr;
	ir_br(f, O_ULT, k, ir_con(f, n), in, no);
	ir_at(f, in);
	struct ref base = ir_op1(f, O_MAPVAL, 8, ir_map(m->index));
	struct ref at = ir_op2(f, O_ADD, base, ir_op2(f, O_SHL, k, ir_con(f, 2)));
	struct ref word = ir_load(f, 4, at, 0);
	ir_br(f, O_NE, word, ir_con(f, 0), found, no);
	ir_at(f, found);
	ir_set(f, id, ir_addi(f, word, -1));
}

/* Goes on where nr is one of the numbers, with what it stands for in id; else to no. */
static void find(struct lower *l, const struct numbers *of, struct ref nr, struct ref id,
		 struct blk *no)
{
	struct fn *f = l->f;
	if (!of->n) {
		ir_jmp(f, no);
		ir_at(f, ir_blk(f));
		return;
	}
	if (of->n > FEW) {
		look_up(l, of, nr, id, no);
		return;
	}
	struct blk *found = ir_blk(f);
	for (u32 i = 0; i < of->n; i++) {
		bool last = i + 1 == of->n;
		struct blk *next = last ? no : ir_blk(f), *yes = ir_blk(f);
		ir_br(f, O_EQ, nr, ir_con(f, of->v[i].nr), yes, next);
		ir_at(f, yes);
		ir_set(f, id, ir_con(f, of->v[i].to));
		ir_jmp(f, found);
		if (!last)
			ir_at(f, next);
	}
	ir_at(f, found);
}

static struct numbers points_of(struct lower *l)
{
	const struct which *w = l->pt->method->which;
	struct numbers r = {arena_newn(l->c->arena, struct number, l->v->npoint), 0};
	for (const struct point *p = l->pt; p; p = p->next) {
		u32 nr = w->of(l->c->host, p);
		if (nr != w->n)
			r.v[r.n++] = (struct number){nr, p->id};
	}
	return r;
}

static struct numbers twins_of(struct lower *l, bool elsewhere)
{
	const struct which *w = l->pt->method->which;
	struct numbers r = {0};
	struct twin t;
	for (const struct point *p = l->pt; p && w->twin; p = p->next)
		for (u32 i = 0; w->twin(l->c->host, p, i, &t); i++) {
			struct number k = {t.nr, t.readable ? p->id : UNREADABLE};
			if (t.elsewhere == elsewhere)
				arena_push(l->c->arena, r.v, r.n, k);
		}
	return r;
}

static bool any_readable(const struct numbers *of)
{
	for (u32 i = 0; i < of->n; i++)
		if (of->v[i].to != UNREADABLE)
			return true;
	return false;
}

static bool overlap(const struct numbers *a, const struct numbers *b)
{
	for (u32 i = 0; i < a->n; i++)
		for (u32 k = 0; k < b->n; k++)
			if (a->v[i].nr == b->v[k].nr)
				return true;
	return false;
}

struct entry {
	struct numbers points, here, there; /* twins: where enter() goes on, and where it leaves */
	struct ref nr, id, elsewhere;
	struct blk *go, *count, *out;
};

/* A twin is delivered, if the body can read it, or counted. */
static void take_twin(struct lower *l, const struct entry *e, u64 elsewhere)
{
	struct fn *f = l->f;
	if (ref_is(e->elsewhere))
		ir_set(f, e->elsewhere, ir_con(f, elsewhere));
	ir_br(f, O_EQ, ir_get(f, e->id), ir_con(f, UNREADABLE), e->count, e->go);
}

static void find_twins(struct lower *l, const struct entry *e, struct blk *miss, struct blk *left)
{
	struct fn *f = l->f;
	struct blk *others = ir_blk(f), *take = ir_blk(f);
	e->count->unlikely = miss->unlikely = others->unlikely = take->unlikely = true;
	ir_at(f, miss);
	find(l, &e->here, e->nr, e->id, others);
	take_twin(l, e, 0);
	ir_at(f, others);
	find(l, &e->there, e->nr, e->id, e->out);
	l->pt->method->enter(f, l->c->host, l->pt, take);
	ir_jmp(f, e->out);
	if (left != e->out) {
		left->unlikely = true;
		ir_at(f, left);
		find(l, &e->there, e->nr, e->id, e->out);
		ir_jmp(f, take);
	}
	ir_at(f, take);
	take_twin(l, e, 1);
	ir_at(f, e->count);
	lower_stat(l, STAT_FOREIGN);
	ir_jmp(f, e->out);
}

static void enter_one_of(struct lower *l, struct blk *out)
{
	const struct method *method = l->pt->method;
	struct fn *f = l->f;
	struct entry e = {
		.points = points_of(l), .here = twins_of(l, false), .there = twins_of(l, true)};
	bool twins = e.here.n || e.there.n;
	struct blk *miss = twins ? ir_blk(f) : out, *left = out;
	e.nr = method->which->number(f, l->pt);
	e.id = ir_var(f);
	e.go = ir_blk(f);
	e.count = ir_blk(f);
	e.out = out;
	if (overlap(&e.points, &e.there))
		left = ir_blk(f);
	if (l->pt->members && any_readable(&e.there) && method->which->twin_arg)
		e.elsewhere = ir_var(f);
	find(l, &e.points, e.nr, e.id, miss);
	if (method->enter)
		method->enter(f, l->c->host, l->pt, left);
	if (ref_is(e.elsewhere))
		ir_set(f, e.elsewhere, ir_con(f, 0));
	ir_jmp(f, e.go);
	if (twins)
		find_twins(l, &e, miss, left);
	ir_at(f, e.go);
	l->which = ir_get(f, e.id);
	if (ref_is(e.elsewhere))
		l->elsewhere = ir_get(f, e.elsewhere);
}

void lower_which(struct lower *l, struct blk *out)
{
	const struct method *method = l->pt->method;
	if (l->pt->unreadable) {
		lower_stat(l, STAT_FOREIGN);
		ir_jmp(l->f, out);
		ir_at(l->f, ir_blk(l->f));
		return;
	}
	if (method->which && method->which->of) {
		enter_one_of(l, out);
		return;
	}
	if (method->which)
		l->which = method->which->number(l->f, l->pt);
	if (method->enter)
		method->enter(l->f, l->c->host, l->pt, out);
}
