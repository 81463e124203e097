/*
 * spill.c - temporaries that found no register: stored once where they are
 * made, loaded where they are used. Phis, call arguments and parameters use the
 * stack slot directly. Cheap values are made again instead.
 *
 * Slots are 8 bytes, 8-aligned: pointers keep their type there.
 */
#include "ir/pass.h"

enum {
	REUSE = 6,
	REUSE_DEF = 2
}; /* a value loaded or made is used again this many instructions later */

struct copy {
	u32 of, end; /* the spilled temporary; up to where in out */
	struct ref is;
};

struct rewrite {
	struct spill *s;
	const bool *chosen;
	struct ins **cheap;
	u32 ntmp;
	VEC(struct ins) out;
	VEC(struct copy) copy;
};

static void grow(struct spill *s)
{
	while (s->life.n < s->f->tmp.n)
		vec_add(&s->life, LIFE_WHOLE);
	while (s->slot.n < s->f->tmp.n)
		vec_add(&s->slot, 0);
	while (s->home.n < s->f->tmp.n)
		vec_add(&s->home, 0);
}

/* A stand-in for r: the first may serve several instructions, one that was spilled again only one.
 */
static struct ref stand_in(struct rewrite *w, struct ref r, u32 reuse)
{
	struct ref n = ir_tmp(w->s->f);
	grow(w->s);
	bool whole = w->s->life.v[r.id] == LIFE_WHOLE;
	w->s->life.v[n.id] = whole && !w->cheap[r.id] ? LIFE_PART : LIFE_POINT;
	if (whole)
		vec_add(&w->copy, (struct copy){r.id, w->out.n + reuse, n});
	return n;
}

static bool have_copy(const struct rewrite *w, struct ref r, struct ref *ret)
{
	for (u32 i = w->copy.n; i-- > 0;) {
		if (w->copy.v[i].of != r.id || w->out.n > w->copy.v[i].end)
			continue;
		*ret = w->copy.v[i].is;
		return w->s->life.v[ret->id] == LIFE_PART;
	}
	return false;
}

/* The store right after a spilled temporary is made: it reads the register. */
static bool is_home_store(const struct rewrite *w, const struct ins *i)
{
	struct ref v = i->arg[1], to = i->arg[0];
	return i->op == O_STORE && is_tmp(v) && v.id < w->ntmp && to.kind == R_SLOT &&
	       w->s->home.v[v.id] == to.id + 1u;
}

static bool spilled(const struct rewrite *w, struct ref r)
{
	return is_tmp(r) && r.id < w->ntmp && w->chosen[r.id];
}

static struct ref slot_ref(const struct spill *s, u32 tmp)
{
	return mkref(R_SLOT, s->slot.v[tmp] - 1);
}

static struct ref reload(struct rewrite *w, struct ref r, struct loc loc)
{
	struct ref again;
	if (have_copy(w, r, &again))
		return again;
	struct ins i = {.op = O_LOAD, .w = 8};
	if (w->cheap[r.id])
		i = *w->cheap[r.id];
	else
		i.arg[0] = slot_ref(w->s, r.id);
	i.to = stand_in(w, r, REUSE);
	i.loc = loc;
	vec_add(&w->out, i);
	return i.to;
}

/* Call arguments may stay where they are, unless they are made again. */
static void rewrite_uses(struct rewrite *w, struct ins *i)
{
	u32 nargs = takes_args(i->op) ? i->nargs : 0;
	for (u32 a = nargs; a > 0; a--) {
		struct ref *r = &i[-(i32)a].arg[0];
		if (spilled(w, *r) && w->cheap[r->id])
			*r = reload(w, *r, i->loc);
	}
	bool both = ref_eq(i->arg[0], i->arg[1]);
	if (spilled(w, i->arg[0]))
		i->arg[0] = reload(w, i->arg[0], i->loc);
	if (both)
		i->arg[1] = i->arg[0];
	else if (spilled(w, i->arg[1]))
		i->arg[1] = reload(w, i->arg[1], i->loc);
	for (u32 a = nargs; a > 0; a--)
		vec_add(&w->out, i[-(i32)a]);
}

static void rewrite_ins(struct rewrite *w, struct ins i, struct ins *at)
{
	bool def = spilled(w, i.to);
	if (def && w->s->home.v[i.to.id])
		def = false; /* in memory already: stays as it is, only its uses change */
	else if (def && w->cheap[i.to.id])
		return;
	if (is_home_store(w, &i)) {
		vec_add(&w->out, i);
		return;
	}
	rewrite_uses(w, at);
	i = *at;
	if (is_call(i.op))
		w->copy.n = 0;
	struct ref old = i.to;
	if (def && i.op != O_CTX && i.op != O_PARAM)
		i.to = stand_in(w, old, REUSE_DEF);
	vec_add(&w->out, i);
	if (!def || i.op == O_CTX || i.op == O_PARAM)
		return;
	struct ref slot = slot_ref(w->s, old.id);
	w->s->home.v[i.to.id] = slot.id + 1;
	vec_add(&w->out, (struct ins){.op = O_STORE, .w = 8, .arg = {slot, i.to}, .loc = i.loc});
}

static void rewrite_block(struct rewrite *w, struct blk *b)
{
	w->out.n = w->copy.n = 0;
	for_ins (i, b)
		if (i->op != O_ARG)
			rewrite_ins(w, *i, i);
	bool both = ref_eq(b->cmp[0], b->cmp[1]);
	if (spilled(w, b->cmp[0]))
		b->cmp[0] = reload(w, b->cmp[0], b->loc);
	if (both)
		b->cmp[1] = b->cmp[0];
	else if (spilled(w, b->cmp[1]))
		b->cmp[1] = reload(w, b->cmp[1], b->loc);
	i32 at = b->jmp == J_JMP ? pred_index(b->s1, b) : -1;
	if (at >= 0)
		for_each (p, b->s1->phi)
			if (spilled(w, p->arg[at]) && w->cheap[p->arg[at].id])
				p->arg[at] = reload(w, p->arg[at], b->loc);
	b->ins.n = 0;
	for (u32 i = 0; i < w->out.n; i++)
		vec_add(&b->ins, w->out.v[i]);
}

void spill_rewrite(struct spill *s, const bool *chosen)
{
	struct fn *f = s->f;
	struct arena tmp = {0};
	struct rewrite w = {.s = s, .chosen = chosen, .ntmp = f->tmp.n};
	w.cheap = arena_newn(&tmp, struct ins *, f->tmp.n + 1);
	grow(s);
	for_blk (b, f) {
		for_ins (i, b) {
			if (!spilled(&w, i->to))
				continue;
			bool con = i->op == O_COPY && i->arg[0].kind == R_CON;
			bool slot = i->op == O_LOAD && i->arg[0].kind == R_SLOT &&
				    i->arg[0].id >= s->first;
			if (!is_remat(i->op) && !con && !slot)
				continue;
			w.cheap[i->to.id] = arena_new(&tmp, struct ins);
			*w.cheap[i->to.id] = *i;
		}
	}
	for (u32 t = 0; t < w.ntmp; t++) {
		if (!chosen[t] || !s->home.v[t])
			continue;
		struct ins load = {.op = O_LOAD, .w = 8, .arg = {mkref(R_SLOT, s->home.v[t] - 1)}};
		w.cheap[t] = arena_new(&tmp, struct ins);
		*w.cheap[t] = load;
	}
	for (u32 t = 0; t < w.ntmp; t++) {
		if (!chosen[t] || w.cheap[t])
			continue;
		vec_add(&f->slot, (struct slot){.size = 8});
		s->slot.v[t] = f->slot.n;
	}
	for_blk (b, f)
		rewrite_block(&w, b);
	for (u32 t = 0; t < w.ntmp; t++)
		if (chosen[t] && s->home.v[t])
			s->life.v[t] = LIFE_POINT;
	vec_free(&w.out);
	vec_free(&w.copy);
	arena_free(&tmp);
}

/* ---- where on the stack ---- */

struct layout {
	struct spill *s;
	struct arena tmp;
	u32 n, words;
	u64 *in;    /* [block][words]: slots live at its start */
	u64 *live;  /* at the place looked at */
	u64 *clash; /* [slot][words] */
	u64 *used;  /* ever read */
};

/* Index of the spill slot behind an operand: its own, or a spilled temporary's; -1 for others. */
static i32 slot_of(const struct layout *l, struct ref r)
{
	if (r.kind == R_SLOT && r.id >= l->s->first)
		return (i32)(r.id - l->s->first);
	if (is_tmp(r) && l->s->slot.v[r.id])
		return (i32)(l->s->slot.v[r.id] - 1 - l->s->first);
	return -1;
}

static void slot_def(struct layout *l, struct ref r)
{
	i32 n = slot_of(l, r);
	if (n < 0)
		return;
	bit_clear(l->live, (u32)n);
	for (u32 w = 0; w < l->words; w++) {
		for (u64 bits = l->live[w]; bits; bits &= bits - 1) {
			u32 o = w * 64 + (u32)__builtin_ctzll(bits);
			bit_set(l->clash + (u32)n * l->words, o);
			bit_set(l->clash + o * l->words, (u32)n);
		}
	}
}

static void slot_use(struct layout *l, struct ref r)
{
	i32 n = slot_of(l, r);
	if (n < 0)
		return;
	bit_set(l->live, (u32)n);
	bit_set(l->used, (u32)n);
}

static void slot_ins(struct layout *l, const struct ins *i)
{
	if (i->op == O_STORE)
		slot_def(l, i->arg[0]);
	else
		slot_use(l, i->arg[0]);
	if (slot_of(l, i->to) < 0)
		return;
	slot_def(l, i->to); /* a parameter, written without a store */
	bit_set(l->used, (u32)slot_of(l, i->to));
}

static bool slot_flow(struct layout *l, const struct blk *b)
{
	memset(l->live, 0, l->words * sizeof(u64));
	const struct blk *succ[2] = {b->jmp == J_RET ? NULL : b->s1,
				     b->jmp == J_CMP ? b->s2 : NULL};
	for (u32 s = 0; s < 2; s++) {
		for (u32 w = 0; succ[s] && w < l->words; w++)
			l->live[w] |= l->in[succ[s]->id * l->words + w];
		i32 at = succ[s] ? pred_index(succ[s], b) : -1;
		if (at >= 0)
			for_each (p, succ[s]->phi)
				slot_use(l, p->arg[at]);
	}
	for (u32 i = b->ins.n; i-- > 0;)
		slot_ins(l, &b->ins.v[i]);
	u64 *in = l->in + b->id * l->words;
	/* A phi's slot is written before the block: alive at its start as seen from the others. */
	for_each (p, b->phi)
		slot_use(l, p->to);
	for_each (p, b->phi)
		slot_def(l, p->to);
	bool changed = memcmp(in, l->live, l->words * sizeof(u64));
	memcpy(in, l->live, l->words * sizeof(u64));
	return changed;
}

static void place(struct layout *l)
{
	struct fn *f = l->s->f;
	u32 base = ALIGN_UP(f->stack, 8), most = 0;
	u32 *color = arena_newn(&l->tmp, u32, l->n);
	for (u32 n = 0; n < l->n; n++) {
		bool taken = true;
		f->slot.v[l->s->first + n].off = 0;
		if (!bit_get(l->used, n))
			continue;
		for (color[n] = 0; taken; color[n] += taken) {
			taken = false;
			for (u32 o = 0; o < n; o++)
				taken |=
					color[o] == color[n] && bit_get(l->clash + n * l->words, o);
		}
		most = MAX(most, color[n] + 1);
		f->slot.v[l->s->first + n].off = -(i32)(base + 8 * (color[n] + 1));
	}
	f->stack = base + 8 * most;
}

void spill_layout(struct spill *s)
{
	struct fn *f = s->f;
	struct layout l = {.s = s, .n = f->slot.n - s->first};
	if (!l.n)
		return;
	grow(s);
	l.words = bit_words(l.n);
	l.in = arena_newn(&l.tmp, u64, f->nblk * l.words);
	l.live = arena_newn(&l.tmp, u64, l.words);
	l.used = arena_newn(&l.tmp, u64, l.words);
	l.clash = arena_newn(&l.tmp, u64, l.n * l.words);
	struct blk **order = arena_newn(&l.tmp, struct blk *, f->nblk);
	for_blk (b, f)
		order[b->id] = b;
	for (bool changed = true; changed;) {
		changed = false;
		for (u32 i = f->nblk; i-- > 0;)
			changed |= slot_flow(&l, order[i]);
	}
	place(&l);
	for (u32 t = 0; t < f->tmp.n; t++)
		if (s->slot.v[t])
			f->tmp.v[t].spill = f->slot.v[s->slot.v[t] - 1].off;
	arena_free(&l.tmp);
}

void spill_drop_unread(struct spill *s)
{
	for_blk (b, s->f) {
		for_ins (i, b) {
			bool spill = i->op == O_STORE && i->arg[0].kind == R_SLOT &&
				     i->arg[0].id >= s->first;
			if (spill && !s->f->slot.v[i->arg[0].id].off)
				*i = (struct ins){.op = O_NOP};
		}
		blk_sweep(b);
	}
	for (u32 n = s->first; n < s->f->slot.n; n++)
		if (!s->f->slot.v[n].off)
			s->f->slot.v[n].size = 0;
}
