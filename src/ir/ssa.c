/*
 * ssa.c - promotable slots become temporaries and phis.
 *
 * A phi is placed where definitions meet and the slot is still read. A slot
 * read before it is written is 0.
 */
#include "ir/pass.h"

typedef VEC(struct blk *) blk_vec;

struct ssa {
	struct fn *f;
	struct arena tmp;
	u32 nslot, words;
	u64 *def, *use,
		*live;    /* [block][words]: slots written; read before written; live at entry */
	struct phi **phi; /* [block][slot] */
	struct ref *val;  /* [block][slot]: value at the end of the block */
	struct ref *rep;  /* by temporary: a load's value */
	blk_vec *front;   /* dominance frontier, by block */
};

static bool promoted(const struct ssa *s, const struct ins *i)
{
	return (i->op == O_LOAD || i->op == O_STORE) && i->arg[0].kind == R_SLOT &&
	       s->f->slot.v[i->arg[0].id].promote;
}

static void find_uses(struct ssa *s)
{
	for_blk (b, s->f) {
		u64 *def = s->def + b->id * s->words, *use = s->use + b->id * s->words;
		for_ins (i, b) {
			if (!promoted(s, i))
				continue;
			if (i->op == O_STORE)
				bit_set(def, i->arg[0].id);
			else if (!bit_get(def, i->arg[0].id))
				bit_set(use, i->arg[0].id);
		}
	}
}

static bool flow(struct ssa *s, const struct blk *b)
{
	bool changed = false;
	for (u32 w = 0; w < s->words; w++) {
		u64 out = 0;
		if (b->jmp != J_RET)
			out |= s->live[b->s1->id * s->words + w];
		if (b->jmp == J_CMP)
			out |= s->live[b->s2->id * s->words + w];
		u32 at = b->id * s->words + w;
		u64 in = s->use[at] | (out & ~s->def[at]);
		changed |= in != s->live[at];
		s->live[at] = in;
	}
	return changed;
}

static void find_live(struct ssa *s)
{
	struct blk **order = arena_newn(&s->tmp, struct blk *, s->f->nblk);
	for_blk (b, s->f)
		order[b->id] = b;
	for (bool changed = true; changed;) {
		changed = false;
		for (u32 i = s->f->nblk; i-- > 0;)
			changed |= flow(s, order[i]);
	}
}

static void find_fronts(struct ssa *s)
{
	for_blk (b, s->f) {
		for (u32 i = 0; b->pred.n > 1 && i < b->pred.n; i++) {
			for (struct blk *p = b->pred.v[i]; p && p != b->idom; p = p->idom) {
				blk_vec *front = &s->front[p->id];
				if (!front->n || front->v[front->n - 1] != b)
					vec_add(front, b);
			}
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
	s->phi[b->id * s->nslot + slot] = p;
}

static void place_phis(struct ssa *s)
{
	struct blk **work = arena_newn(&s->tmp, struct blk *, s->f->nblk);
	u32 *queued = arena_newn(&s->tmp, u32, s->f->nblk);
	for (u32 slot = s->nslot; slot-- > 0;) {
		u32 n = 0;
		for_blk (b, s->f) {
			if (!bit_get(s->def + b->id * s->words, slot))
				continue;
			work[n++] = b;
			queued[b->id] = slot + 1;
		}
		while (n) {
			blk_vec *front = &s->front[work[--n]->id];
			for (u32 i = 0; i < front->n; i++) {
				struct blk *b = front->v[i];
				if (s->phi[b->id * s->nslot + slot] ||
				    !bit_get(s->live + b->id * s->words, slot))
					continue;
				add_phi(s, b, slot);
				if (queued[b->id] != slot + 1)
					work[n++] = b;
				queued[b->id] = slot + 1;
			}
		}
	}
}

static void replace(const struct ssa *s, struct ref *r)
{
	if (is_tmp(*r) && ref_is(s->rep[r->id]))
		*r = s->rep[r->id];
}

static void rename_block(struct ssa *s, struct blk *b)
{
	struct ref *val = s->val + b->id * s->nslot;
	struct ref zero = ir_con(s->f, 0);
	for (u32 i = 0; i < s->nslot; i++) {
		struct phi *p = s->phi[b->id * s->nslot + i];
		if (p)
			val[i] = p->to;
		else
			val[i] = b->idom ? s->val[b->idom->id * s->nslot + i] : zero;
	}
	for_ins (i, b) {
		for (u32 a = 0; a < 2; a++)
			replace(s, &i->arg[a]);
		if (!promoted(s, i))
			continue;
		if (i->op == O_STORE)
			val[i->arg[0].id] = i->arg[1];
		else
			s->rep[i->to.id] = val[i->arg[0].id];
		*i = (struct ins){.op = O_NOP};
	}
	replace(s, &b->cmp[0]);
	replace(s, &b->cmp[1]);
	blk_sweep(b);
}

static void fill_phis(struct ssa *s)
{
	for_blk (b, s->f) {
		for_each (p, b->phi)
			for (u32 i = 0; i < b->pred.n; i++)
				replace(s, &p->arg[i]);
		for (u32 slot = 0; slot < s->nslot; slot++) {
			struct phi *p = s->phi[b->id * s->nslot + slot];
			for (u32 i = 0; p && i < b->pred.n; i++)
				p->arg[i] = s->val[b->pred.v[i]->id * s->nslot + slot];
		}
	}
}

void ssa_run(struct fn *f)
{
	struct ssa s = {.f = f, .nslot = f->slot.n, .words = bit_words(f->slot.n)};
	f->ssa = true;
	if (!s.nslot)
		return;
	size_t sets = (size_t)f->nblk * s.words, vals = (size_t)f->nblk * s.nslot;
	s.def = arena_newn(&s.tmp, u64, sets);
	s.use = arena_newn(&s.tmp, u64, sets);
	s.live = arena_newn(&s.tmp, u64, sets);
	s.phi = arena_newn(&s.tmp, struct phi *, vals);
	s.val = arena_newn(&s.tmp, struct ref, vals);
	s.front = arena_newn(&s.tmp, blk_vec, f->nblk);
	find_uses(&s);
	find_live(&s);
	find_fronts(&s);
	place_phis(&s);
	s.rep = arena_newn(&s.tmp, struct ref, f->tmp.n);
	for_blk (b, f)
		rename_block(&s, b);
	fill_phis(&s);
	for (u32 i = 0; i < f->nblk; i++)
		vec_free(&s.front[i]);
	arena_free(&s.tmp);
}
