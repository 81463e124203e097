/*
 * cfg.c - the shape of a function: which blocks are reached, in what order, who
 * dominates whom. Also shortens it: jumps to jumps, chains of blocks.
 */
#include "ir/pass.h"

bool dominates(const struct blk *a, const struct blk *b)
{
	return b->dom_at - a->dom_at < a->dom_size; /* unsigned: not before it either */
}

i32 pred_index(const struct blk *b, const struct blk *pred)
{
	for (u32 i = 0; i < b->pred.n; i++)
		if (b->pred.v[i] == pred)
			return (i32)i;
	return -1;
}

void pred_remove(struct blk *b, u32 at)
{
	assert(at < b->pred.n);
	u32 after = b->pred.n - at - 1;
	memmove(&b->pred.v[at], &b->pred.v[at + 1], after * sizeof(*b->pred.v));
	for_each (p, b->phi)
		memmove(&p->arg[at], &p->arg[at + 1], after * sizeof(*p->arg));
	b->pred.n--;
}

void pred_add(struct fn *f, struct blk *b, struct blk *pred)
{
	assert(pred_index(b, pred) < 0);
	for_each (p, b->phi) {
		struct ref *arg = arena_newn(f->arena, struct ref, b->pred.n + 1);
		if (b->pred.n)
			memcpy(arg, p->arg, b->pred.n * sizeof(*arg));
		p->arg = arg;
	}
	vec_add(&b->pred, pred);
}

void blk_sweep(struct blk *b)
{
	u32 n = 0;
	for (u32 i = 0; i < b->ins.n; i++)
		if (b->ins.v[i].op != O_NOP)
			b->ins.v[n++] = b->ins.v[i];
	b->ins.n = n;
}

/* Both ways lead to the same place. */
static void drop_branch(struct blk *b)
{
	if (b->jmp != J_CMP || b->s1 != b->s2)
		return;
	assert(!b->s1->phi);
	b->jmp = J_JMP;
	b->s2 = NULL;
	b->cmp[0] = b->cmp[1] = REF_NONE;
}

/* Blocks in postorder, found without recursion. A likely successor comes first in the reverse. */
struct order {
	struct blk **v, **stack;
	u8 *state; /* by id: successors already visited, +1 */
	u32 n, depth;
};

static struct blk *successor(const struct blk *b, u32 i)
{
	struct blk *first = b->s2, *second = b->s1;
	if (b->jmp == J_JMP)
		first = NULL;
	else if (first && second->unlikely && !first->unlikely)
		first = b->s1, second = b->s2;
	return i == 0 ? first : second;
}

static void visit(struct order *o, struct blk *b)
{
	if (!b || o->state[b->id])
		return;
	o->state[b->id] = 1;
	o->stack[o->depth++] = b;
}

static void walk(struct order *o, struct blk *entry)
{
	visit(o, entry);
	while (o->depth) {
		struct blk *b = o->stack[o->depth - 1];
		if (o->state[b->id] < 3 && b->jmp != J_RET) {
			visit(o, successor(b, o->state[b->id]++ - 1));
			continue;
		}
		o->depth--;
		o->v[o->n++] = b;
	}
}

static void take_out(struct blk *b)
{
	vec_free(&b->ins);
	vec_free(&b->pred);
	vec_free(&b->live_in);
	vec_free(&b->live_out);
}

static bool jumps_to(const struct blk *b, const struct blk *to)
{
	return b->jmp != J_RET && (b->s1 == to || (b->jmp == J_CMP && b->s2 == to));
}

/* Keep the predecessors that are reached and still jump here, in their order; then add new ones. */
static void set_preds(struct fn *f, const u8 *reached)
{
	for_blk (b, f)
		for (u32 i = b->pred.n; i-- > 0;)
			if (!reached[b->pred.v[i]->id] || !jumps_to(b->pred.v[i], b))
				pred_remove(b, i);
	for_blk (b, f) {
		struct blk *s[2] = {b->jmp == J_RET ? NULL : b->s1, b->jmp == J_CMP ? b->s2 : NULL};
		for (u32 i = 0; i < 2; i++) {
			if (!s[i] || pred_index(s[i], b) >= 0)
				continue;
			assert(!s[i]->phi);
			vec_add(&s[i]->pred, b);
		}
	}
}

/* Number the blocks in reverse postorder and drop the others. */
static void reorder(struct fn *f)
{
	struct arena tmp = {0};
	struct order o = {
		arena_newn(&tmp, struct blk *, f->nblk),
		arena_newn(&tmp, struct blk *, f->nblk),
		arena_newn(&tmp, u8, f->nblk),
		0,
		0,
	};
	walk(&o, f->entry);
	struct blk *all = f->blks, **tail = &f->blks;
	for (struct blk *b = all, *next; b; b = next) {
		next = b->next;
		if (!o.state[b->id])
			take_out(b);
	}
	for (u32 i = o.n; i-- > 0;) {
		*tail = o.v[i];
		tail = &o.v[i]->next;
	}
	*tail = NULL;
	f->tail = tail;
	set_preds(f, o.state);
	u32 id = 0;
	for_blk (b, f)
		b->id = id++;
	f->nblk = id;
	arena_free(&tmp);
}

/* b does nothing but jump on: let its predecessors go there directly. */
static bool bypass(struct fn *f, struct blk *b)
{
	struct blk *to = b->s1;
	if (b == f->entry || b->jmp != J_JMP || b->ins.n || b->phi || to == b)
		return false;
	bool changed = false;
	i32 from = pred_index(to, b);
	assert(from >= 0);
	for (u32 i = b->pred.n; i-- > 0;) {
		struct blk *p = b->pred.v[i];
		i32 at = pred_index(to, p);
		if (at >= 0 && to->phi)
			continue;
		if (p->s1 == b)
			p->s1 = to;
		if (p->jmp == J_CMP && p->s2 == b)
			p->s2 = to;
		if (at < 0) {
			pred_add(f, to, p);
			for_each (phi, to->phi)
				phi->arg[to->pred.n - 1] = phi->arg[from];
		}
		drop_branch(p);
		pred_remove(b, i);
		changed = true;
	}
	return changed;
}

/* b's only successor has no other predecessor: one block. */
static bool merge(struct fn *f, struct blk *b)
{
	struct blk *s = b->s1;
	if (b->jmp != J_JMP || s->pred.n != 1 || s == b || s == f->entry)
		return false;
	for_each (p, s->phi)
		ir_raw(f, b, (struct ins){.op = O_COPY, .w = 8, .to = p->to, .arg = {p->arg[0]}});
	for_ins (i, s)
		ir_raw(f, b, *i);
	b->jmp = s->jmp;
	b->cond = s->cond;
	b->cmp[0] = s->cmp[0];
	b->cmp[1] = s->cmp[1];
	b->loc = s->loc;
	b->s1 = s->s1;
	b->s2 = s->s2;
	for (u32 i = 0; i < 2; i++) {
		struct blk *t = i ? s->s2 : s->s1;
		i32 at = t ? pred_index(t, s) : -1;
		if (at >= 0)
			t->pred.v[at] = b;
	}
	s->ins.n = 0; /* unreachable now */
	s->pred.n = 0;
	s->phi = NULL;
	s->jmp = J_RET;
	s->s1 = s->s2 = NULL;
	s->cmp[0] = REF_NONE;
	return true;
}

/* Numbers the tree from the top: what a block dominates follows it without a gap. */
static void number_tree(struct fn *f)
{
	struct arena tmp = {0};
	struct blk **order = arena_newn(&tmp, struct blk *, f->nblk);
	u32 *next = arena_newn(&tmp, u32, f->nblk);
	for_blk (b, f) {
		order[b->id] = b;
		b->dom_size = 1;
	}
	for (u32 i = f->nblk; i-- > 1;)
		order[i]->idom->dom_size += order[i]->dom_size;
	f->entry->dom_at = 0;
	for (u32 i = 0; i < f->nblk; i++) {
		struct blk *b = order[i];
		if (b->idom) {
			b->dom_at = next[b->idom->id];
			next[b->idom->id] += b->dom_size;
		}
		next[b->id] = b->dom_at + 1;
	}
	arena_free(&tmp);
}

/* Ancestors of a block: its dominator, and one further up that takes a walk there log(n) steps. */
struct tree {
	struct blk **jump; /* by block */
	u32 *depth;
};

static void hang_below(struct tree *t, struct blk *b, struct blk *d)
{
	struct blk *far = t->jump[d->id];
	u32 *depth = t->depth;
	b->idom = d;
	depth[b->id] = depth[d->id] + 1;
	bool even = depth[d->id] - depth[far->id] == depth[far->id] - depth[t->jump[far->id]->id];
	t->jump[b->id] = even ? t->jump[far->id] : d;
}

static struct blk *meet(const struct tree *t, struct blk *a, struct blk *b)
{
	if (t->depth[a->id] < t->depth[b->id]) {
		struct blk *c = a;
		a = b;
		b = c;
	}
	while (t->depth[a->id] > t->depth[b->id])
		a = t->depth[t->jump[a->id]->id] >= t->depth[b->id] ? t->jump[a->id] : a->idom;
	while (a != b) {
		bool apart = t->jump[a->id] != t->jump[b->id];
		a = apart ? t->jump[a->id] : a->idom;
		b = apart ? t->jump[b->id] : b->idom;
	}
	return a;
}

/* Every jump back goes to a block that dominates it: then those change nothing. */
static bool is_reducible(const struct fn *f)
{
	for_blk (b, f)
		for (u32 i = 0; i < b->pred.n; i++)
			if (b->pred.v[i]->id >= b->id && !dominates(b, b->pred.v[i]))
				return false;
	return true;
}

static struct blk *slow_meet(struct blk *a, struct blk *b)
{
	while (a != b) {
		while (a->id > b->id)
			a = a->idom;
		while (b->id > a->id)
			b = b->idom;
	}
	return a;
}

/* Of loops with several entries, which lowering does not make. */
static void refine(struct fn *f)
{
	f->entry->idom = f->entry;
	for (bool changed = true; changed;) {
		changed = false;
		for (struct blk *b = f->entry->next; b; b = b->next) {
			struct blk *d = b->pred.v[0];
			for (u32 i = 1; i < b->pred.n; i++)
				d = slow_meet(b->pred.v[i], d);
			changed |= b->idom != d;
			b->idom = d;
		}
	}
	f->entry->idom = NULL;
}

void cfg_dominators(struct fn *f)
{
	struct arena tmp = {0};
	struct tree t = {arena_newn(&tmp, struct blk *, f->nblk), arena_newn(&tmp, u32, f->nblk)};
	f->entry->idom = NULL;
	t.jump[f->entry->id] = f->entry;
	for (struct blk *b = f->entry->next; b; b = b->next) {
		struct blk *d = NULL;
		for (u32 i = 0; i < b->pred.n; i++) {
			struct blk *p = b->pred.v[i];
			if (p->id < b->id)
				d = d ? meet(&t, p, d) : p;
		}
		assert(d);
		hang_below(&t, b, d);
	}
	number_tree(f);
	if (!is_reducible(f)) {
		refine(f);
		number_tree(f);
	}
	arena_free(&tmp);
}

/* Loop depth: everything that reaches a back edge without passing its head is inside. */
static void find_loops(struct fn *f)
{
	struct arena tmp = {0};
	struct blk **stack = arena_newn(&tmp, struct blk *, f->nblk);
	u32 *seen = arena_newn(&tmp, u32, f->nblk);
	for_blk (b, f)
		b->depth = 0;
	for_blk (head, f) {
		u32 n = 0;
		for (u32 i = 0; i < head->pred.n; i++)
			if (dominates(head, head->pred.v[i]) &&
			    seen[head->pred.v[i]->id] != head->id + 1) {
				seen[head->pred.v[i]->id] = head->id + 1;
				stack[n++] = head->pred.v[i];
			}
		if (!n)
			continue;
		if (seen[head->id] != head->id + 1)
			head->depth++;
		seen[head->id] = head->id + 1;
		while (n) {
			struct blk *b = stack[--n];
			b->depth++;
			for (u32 i = 0; b != head && i < b->pred.n; i++) {
				struct blk *p = b->pred.v[i];
				if (seen[p->id] != head->id + 1) {
					seen[p->id] = head->id + 1;
					stack[n++] = p;
				}
			}
		}
	}
	arena_free(&tmp);
}

void cfg_run(struct fn *f)
{
	for_blk (b, f)
		drop_branch(b);
	reorder(f);
	bool changed = false;
	for_blk (b, f)
		changed |= bypass(f, b);
	if (changed)
		reorder(f);
	changed = false;
	for_blk (b, f)
		while (merge(f, b))
			changed = true;
	if (changed)
		reorder(f);
	cfg_dominators(f);
	find_loops(f);
}
