/*
 * live.c - which temporaries are needed at the start and end of each block.
 *
 * A phi's result is not in live_in of its block; its arguments are in live_out
 * of the predecessors. From each use up to the definition, one temporary after
 * the other: so the sets are sorted, and cost what they hold.
 */
#include "ir/pass.h"

struct use {
	struct blk *b;
	struct use *next;
};

struct live {
	struct fn *f;
	struct arena tmp;
	const struct blk **def; /* by temporary: where it is made */
	struct use **in, **out; /* by temporary: needed at these blocks' start; end */
};

static void add(struct live *l, struct use **list, struct ref r, struct blk *b)
{
	if (!is_tmp(r) || (list[r.id] && list[r.id]->b == b))
		return;
	struct use *u = arena_new(&l->tmp, struct use);
	*u = (struct use){b, list[r.id]};
	list[r.id] = u;
}

static void use(struct live *l, struct ref r, struct blk *b)
{
	if (is_tmp(r) && l->def[r.id] != b)
		add(l, l->in, r, b);
}

static void find_uses(struct live *l)
{
	for_blk (b, l->f) {
		b->live_in.n = b->live_out.n = 0;
		for_each (p, b->phi)
			l->def[p->to.id] = b;
		for_ins (i, b)
			if (is_tmp(i->to))
				l->def[i->to.id] = b;
	}
	for_blk (b, l->f) {
		for_each (p, b->phi)
			for (u32 i = 0; i < b->pred.n; i++)
				add(l, l->out, p->arg[i], b->pred.v[i]);
		for_ins (i, b) {
			use(l, i->arg[0], b);
			use(l, i->arg[1], b);
		}
		use(l, b->cmp[0], b);
		use(l, b->cmp[1], b);
	}
}

static bool has(u32 n, const u32 *set, u32 t)
{
	return n && set[n - 1] == t;
}

static void spread(struct live *l, u32 t, struct blk **work)
{
	u32 n = 0;
	for_each (u, l->in[t]) {
		vec_add(&u->b->live_in, t);
		work[n++] = u->b;
	}
	for_each (u, l->out[t]) {
		if (!has(u->b->live_out.n, u->b->live_out.v, t))
			vec_add(&u->b->live_out, t);
		if (l->def[t] == u->b || has(u->b->live_in.n, u->b->live_in.v, t))
			continue;
		vec_add(&u->b->live_in, t);
		work[n++] = u->b;
	}
	while (n) {
		const struct blk *b = work[--n];
		for (u32 i = 0; i < b->pred.n; i++) {
			struct blk *p = b->pred.v[i];
			if (!has(p->live_out.n, p->live_out.v, t))
				vec_add(&p->live_out, t);
			if (l->def[t] == p || has(p->live_in.n, p->live_in.v, t))
				continue;
			vec_add(&p->live_in, t);
			work[n++] = p;
		}
	}
}

void live_run(struct fn *f)
{
	struct live l = {.f = f};
	u32 n = 0;
	for_blk (b, f)
		b->id = n++;
	assert(n == f->nblk);
	l.def = arena_newn(&l.tmp, const struct blk *, f->tmp.n + 1);
	l.in = arena_newn(&l.tmp, struct use *, f->tmp.n + 1);
	l.out = arena_newn(&l.tmp, struct use *, f->tmp.n + 1);
	struct blk **work = arena_newn(&l.tmp, struct blk *, f->nblk);
	find_uses(&l);
	for (u32 t = 0; t < f->tmp.n; t++)
		if (l.in[t] || l.out[t])
			spread(&l, t, work);
	arena_free(&l.tmp);
}

/* ---- at one place ---- */

struct live_set live_set(struct arena *a, u32 ntmp)
{
	return (struct live_set){arena_newn(a, u32, ntmp + 1), arena_newn(a, u32, ntmp + 1), 0};
}

void live_add(struct live_set *s, u32 t)
{
	if (s->at[t])
		return;
	s->v[s->n++] = t;
	s->at[t] = s->n;
}

void live_drop(struct live_set *s, u32 t)
{
	u32 at = s->at[t];
	if (!at)
		return;
	u32 last = s->v[--s->n];
	s->v[at - 1] = last;
	s->at[last] = at;
	s->at[t] = 0;
}

void live_set_to(struct live_set *s, u32 n, const u32 *v)
{
	while (s->n)
		s->at[s->v[--s->n]] = 0;
	for (u32 i = 0; i < n; i++)
		live_add(s, v[i]);
}
