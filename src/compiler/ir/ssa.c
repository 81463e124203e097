/*
 * ssa.c - promotable slots become temporaries and phis.
 *
 * A phi is placed where definitions meet and the slot is still read. A slot read before it is
 * written is 0. Everything takes time and memory by what is there, slot by slot: most slots of a
 * long function are touched in a block or two.
 */
#include "ir/pass.h"

typedef VEC(struct blk *) blk_vec;

struct where { /* a block that touches a slot; in the order of blocks */
	struct blk *b;
	struct where *next;
};

struct touched {
	struct where *def, **def_tail; /* written there */
	struct where *use;             /* read there before it is written */
	u32 def_in, use_in;            /* the last of each, as id + 1 */
};

struct undo {
	u32 slot;
	struct ref was;
};

struct visit { /* a block on the way down the tree of dominators */
	struct blk *b, *child;
	u32 undo;
};

struct ssa {
	struct fn *f;
	struct arena tmp;
	u32 nslot, first; /* the first temporary that is a phi's */
	struct touched *slot;
	VEC(u32) phi_slot;      /* by temporary, from first on */
	u32 *def, *live, *have; /* by block: slot + 1 that is written; read; has a phi there */
	struct blk **work;
	blk_vec *front;            /* dominance frontier, by block */
	struct blk **child, **kin; /* by block: first below it in the tree; next beside it */
	struct ref *val;           /* by slot: its value here */
	VEC(struct undo) undo;
	struct ref *rep; /* by temporary: a load's value */
};

static bool promoted(const struct ssa *s, const struct ins *i)
{
	return (i->op == O_LOAD || i->op == O_STORE) && i->arg[0].kind == R_SLOT &&
	       s->f->slot.v[i->arg[0].id].promote;
}

static struct where *at(struct ssa *s, struct blk *b, struct where *next)
{
	struct where *w = arena_new(&s->tmp, struct where);
	*w = (struct where){b, next};
	return w;
}

static void note(struct ssa *s, struct blk *b, const struct ins *i)
{
	struct touched *t = &s->slot[i->arg[0].id];
	if (t->def_in == b->id + 1)
		return;
	if (i->op == O_STORE) {
		t->def_in = b->id + 1;
		*t->def_tail = at(s, b, NULL);
		t->def_tail = &(*t->def_tail)->next;
	} else if (t->use_in != b->id + 1) {
		t->use_in = b->id + 1;
		t->use = at(s, b, t->use);
	}
}

static void find_touched(struct ssa *s)
{
	for (u32 i = 0; i < s->nslot; i++)
		s->slot[i].def_tail = &s->slot[i].def;
	for_blk (b, s->f)
		for_ins (i, b)
			if (promoted(s, i))
				note(s, b, i);
}

/* A join is in the frontier of all from its predecessors up to its dominator. */
static void find_fronts(struct ssa *s)
{
	for_blk (b, s->f) {
		for (u32 i = 0; b->pred.n > 1 && i < b->pred.n; i++) {
			for (struct blk *p = b->pred.v[i]; p && p != b->idom; p = p->idom) {
				blk_vec *front = &s->front[p->id];
				if (front->n && front->v[front->n - 1] == b)
					break; /* ... and so are those above */
				vec_add(front, b);
			}
		}
	}
}

/* The blocks at whose start the slot is still to be read. */
static void find_live(struct ssa *s, u32 slot)
{
	u32 n = 0;
	for_each (w, s->slot[slot].use) {
		s->live[w->b->id] = slot + 1;
		s->work[n++] = w->b;
	}
	while (n) {
		const struct blk *b = s->work[--n];
		for (u32 i = 0; i < b->pred.n; i++) {
			struct blk *p = b->pred.v[i];
			if (s->def[p->id] == slot + 1 || s->live[p->id] == slot + 1)
				continue;
			s->live[p->id] = slot + 1;
			s->work[n++] = p;
		}
	}
}

static void add_phi(struct ssa *s, struct blk *b, u32 slot)
{
	struct phi *p = arena_new(s->f->arena, struct phi);
	p->to = ir_tmp(s->f);
	p->arg = arena_newn(s->f->arena, struct ref, b->pred.n);
	p->next = b->phi;
	b->phi = p;
	vec_add(&s->phi_slot, slot);
	s->have[b->id] = slot + 1;
}

static void place_phis(struct ssa *s, u32 slot)
{
	u32 n = 0;
	for_each (w, s->slot[slot].def)
		s->def[w->b->id] = slot + 1;
	find_live(s, slot);
	for_each (w, s->slot[slot].def)
		s->work[n++] = w->b;
	while (n) {
		const blk_vec *front = &s->front[s->work[--n]->id];
		for (u32 i = 0; i < front->n; i++) {
			struct blk *b = front->v[i];
			if (s->have[b->id] == slot + 1 || s->live[b->id] != slot + 1)
				continue;
			add_phi(s, b, slot);
			if (s->def[b->id] != slot + 1)
				s->work[n++] = b;
		}
	}
}

static void replace(const struct ssa *s, struct ref *r)
{
	if (is_tmp(*r) && ref_is(s->rep[r->id]))
		*r = s->rep[r->id];
}

static void set_val(struct ssa *s, u32 slot, struct ref val)
{
	vec_add(&s->undo, (struct undo){slot, s->val[slot]});
	s->val[slot] = val;
}

/* The slot that a phi stands for; -1: it was there before. */
static i64 slot_of(const struct ssa *s, const struct phi *p)
{
	return p->to.id < s->first ? -1 : (i64)s->phi_slot.v[p->to.id - s->first];
}

static void leave_to(const struct ssa *s, const struct blk *b, struct blk *to)
{
	i32 pred = to->phi ? pred_index(to, b) : -1;
	if (pred < 0)
		return;
	for_each (p, to->phi)
		if (slot_of(s, p) >= 0)
			p->arg[pred] = s->val[slot_of(s, p)];
}

static void rename_block(struct ssa *s, struct blk *b)
{
	for_each (p, b->phi)
		if (slot_of(s, p) >= 0)
			set_val(s, (u32)slot_of(s, p), p->to);
	for_ins (i, b) {
		for (u32 a = 0; a < 2; a++)
			replace(s, &i->arg[a]);
		if (!promoted(s, i))
			continue;
		if (i->op == O_STORE)
			set_val(s, i->arg[0].id, i->arg[1]);
		else
			s->rep[i->to.id] = s->val[i->arg[0].id];
		*i = (struct ins){.op = O_NOP};
	}
	replace(s, &b->cmp[0]);
	replace(s, &b->cmp[1]);
	blk_sweep(b);
	if (b->jmp != J_RET)
		leave_to(s, b, b->s1);
	if (b->jmp == J_CMP)
		leave_to(s, b, b->s2);
}

static struct visit enter(struct ssa *s, struct blk *b)
{
	struct visit v = {b, s->child[b->id], s->undo.n};
	rename_block(s, b);
	return v;
}

/* Down the tree of dominators; on the way back values are again what they were. */
static void rename_all(struct ssa *s)
{
	struct visit *path = arena_newn(&s->tmp, struct visit, s->f->nblk);
	u32 n = 0;
	path[n++] = enter(s, s->f->entry);
	while (n) {
		struct visit *v = &path[n - 1];
		if (v->child) {
			struct blk *b = v->child;
			v->child = s->kin[b->id];
			path[n++] = enter(s, b);
			continue;
		}
		while (s->undo.n > v->undo) {
			struct undo u = s->undo.v[--s->undo.n];
			s->val[u.slot] = u.was;
		}
		n--;
	}
	for_blk (b, s->f)
		for_each (p, b->phi)
			for (u32 i = 0; i < b->pred.n; i++)
				replace(s, &p->arg[i]);
}

static void find_tree(struct ssa *s)
{
	for_blk (b, s->f) {
		if (!b->idom)
			continue;
		s->kin[b->id] = s->child[b->idom->id];
		s->child[b->idom->id] = b;
	}
}

void ssa_run(struct fn *f)
{
	struct ssa s = {.f = f, .nslot = f->slot.n, .first = f->tmp.n};
	u32 n = f->nblk;
	f->ssa = true;
	if (!s.nslot)
		return;
	s.slot = arena_newn(&s.tmp, struct touched, s.nslot);
	s.def = arena_newn(&s.tmp, u32, n);
	s.live = arena_newn(&s.tmp, u32, n);
	s.have = arena_newn(&s.tmp, u32, n);
	s.work = arena_newn(&s.tmp, struct blk *, n);
	s.front = arena_newn(&s.tmp, blk_vec, n);
	s.child = arena_newn(&s.tmp, struct blk *, n);
	s.kin = arena_newn(&s.tmp, struct blk *, n);
	find_touched(&s);
	find_fronts(&s);
	for (u32 slot = s.nslot; slot-- > 0;)
		if (s.slot[slot].use)
			place_phis(&s, slot);
	find_tree(&s);
	s.rep = arena_newn(&s.tmp, struct ref, f->tmp.n);
	s.val = arena_newn(&s.tmp, struct ref, s.nslot);
	struct ref zero = ir_con(f, 0);
	for (u32 slot = 0; slot < s.nslot; slot++)
		s.val[slot] = zero;
	rename_all(&s);
	for (u32 i = 0; i < n; i++)
		vec_free(&s.front[i]);
	vec_free(&s.phi_slot);
	vec_free(&s.undo);
	arena_free(&s.tmp);
}
