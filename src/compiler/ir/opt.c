/*
 * opt.c - fold, copies, equal values, branches, dead code, until nothing changes.
 *
 * Equal values: one hash table of the pure operations seen, in reverse
 * postorder; one is replaced by an equal one whose block dominates it. Nothing
 * is ever moved up, so what a branch protects stays behind it. Loads are not merged.
 */
#include "ir/pass.h"

enum { ROUNDS_MAX = 10, LOOKS_MAX = 32 }; /* LOOKS_MAX: at equal values in places that do not do */

struct value {
	const struct ins *ins; /* with its O_ARGs in front */
	const struct blk *b;
	u32 next; /* index + 1 of the next in the chain */
};

struct opt {
	struct fn *f;
	struct arena tmp;
	struct fold fold;
	struct ref *rep; /* by temporary: what to use instead */
	VEC(struct value) value;
	u32 *hash, nhash;
	bool changed;
};

static struct ref find(const struct opt *o, struct ref r)
{
	while (is_tmp(r) && ref_is(o->rep[r.id]))
		r = o->rep[r.id];
	return r;
}

static void replace(struct opt *o, struct ref *r)
{
	struct ref to = find(o, *r);
	if (!ref_eq(to, *r))
		*r = to;
}

static u32 mix(u32 h, u32 v)
{
	return (h ^ v) * 0x9e3779b1u;
}

static u32 hash_ref(u32 h, struct ref r)
{
	return mix(h, r.id << 3 | r.kind) ^ h >> 15;
}

static u32 hash_ins(const struct ins *i)
{
	u32 h = mix(i->op, i->w) + (u32)i->imm;
	for (u32 a = 0; a < 2; a++)
		h = hash_ref(h, i->arg[a]);
	for (u32 a = 1; takes_args(i->op) && a <= i->nargs; a++)
		h = hash_ref(h, i[-(i32)a].arg[0]);
	return mix(h, i->nargs) >> 7;
}

static bool same(const struct ins *x, const struct ins *y)
{
	if (x->op != y->op || x->w != y->w || x->imm != y->imm || x->nargs != y->nargs)
		return false;
	if (!ref_eq(x->arg[0], y->arg[0]) || !ref_eq(x->arg[1], y->arg[1]))
		return false;
	for (u32 a = 1; takes_args(x->op) && a <= x->nargs; a++)
		if (!ref_eq(x[-(i32)a].arg[0], y[-(i32)a].arg[0]))
			return false;
	return true;
}

static void remove_ins(struct ins *i)
{
	for (u32 a = 1; takes_args(i->op) && a <= i->nargs; a++)
		i[-(i32)a] = (struct ins){.op = O_NOP};
	*i = (struct ins){.op = O_NOP};
}

/* An equal value computed before, in a dominating place; else i is remembered. */
static struct ref number_value(struct opt *o, const struct blk *b, const struct ins *i)
{
	u32 *slot = &o->hash[hash_ins(i) % o->nhash];
	u32 looks = 0;
	for (u32 v = *slot; v && looks < LOOKS_MAX; v = o->value.v[v - 1].next) {
		if (!same(o->value.v[v - 1].ins, i))
			continue;
		if (dominates(o->value.v[v - 1].b, b))
			return o->value.v[v - 1].ins->to;
		looks++;
	}
	vec_add(&o->value, (struct value){i, b, *slot});
	*slot = o->value.n;
	return REF_NONE;
}

static void drop(struct opt *o, struct ins *i, struct ref by)
{
	o->rep[i->to.id] = by;
	remove_ins(i);
	o->changed = true;
}

static void opt_ins(struct opt *o, struct blk *b, struct ins *i)
{
	struct ins before = *i;
	struct ref val;
	for (u32 a = 0; a < 2; a++)
		replace(o, &i->arg[a]);
	if (fold_ins(&o->fold, i, &val)) {
		drop(o, i, val);
		return;
	}
	o->changed |= before.op != i->op || !ref_eq(before.arg[0], i->arg[0]) ||
		      !ref_eq(before.arg[1], i->arg[1]);
	if (op_info[i->op].flags & F_PURE) {
		val = number_value(o, b, i);
		if (ref_is(val)) {
			drop(o, i, val);
			return;
		}
	}
	if (is_tmp(i->to)) {
		o->fold.def[i->to.id] = i;
		o->fold.bits[i->to.id] = fold_bits_of(&o->fold, i);
	}
}

/* All arguments are one value (or the phi itself): that value. */
static struct ref phi_value(struct opt *o, const struct blk *b, const struct phi *p)
{
	struct ref val = REF_NONE;
	for (u32 i = 0; i < b->pred.n; i++) {
		struct ref r = find(o, p->arg[i]);
		if (ref_eq(r, p->to) || (ref_is(val) && ref_eq(r, val)))
			continue;
		if (ref_is(val))
			return REF_NONE;
		val = r;
	}
	return val;
}

static bool same_phi(const struct opt *o, const struct blk *b, const struct phi *x,
		     const struct phi *y)
{
	for (u32 i = 0; i < b->pred.n; i++) {
		struct ref rx = find(o, x->arg[i]), ry = find(o, y->arg[i]);
		if (!ref_eq(rx, ry) && !(ref_eq(rx, x->to) && ref_eq(ry, y->to)))
			return false;
	}
	return true;
}

static void opt_phis(struct opt *o, struct blk *b)
{
	for (struct phi **at = &b->phi, *p; (p = *at);) {
		struct ref val = phi_value(o, b, p);
		for (struct phi *q = b->phi; !ref_is(val) && q != p; q = q->next)
			if (same_phi(o, b, p, q))
				val = q->to;
		if (!ref_is(val)) {
			at = &p->next;
			continue;
		}
		o->rep[p->to.id] = val;
		o->changed = true;
		*at = p->next;
	}
	for_each (p, b->phi) {
		u8 bits = 0;
		for (u32 i = 0; i < b->pred.n; i++) {
			struct ref r = find(o, p->arg[i]);
			u8 of = fold_bits(&o->fold, r);
			bits = MAX(bits, of);
		}
		o->fold.bits[p->to.id] = bits;
	}
}

static void count_uses(struct opt *o, u32 *nuse)
{
	for_blk (b, o->f) {
		for_each (p, b->phi)
			for (u32 i = 0; i < b->pred.n; i++)
				if (is_tmp(p->arg[i]))
					nuse[p->arg[i].id]++;
		for_ins (i, b)
			for (u32 a = 0; a < 2; a++)
				if (is_tmp(i->arg[a]))
					nuse[i->arg[a].id]++;
		for (u32 a = 0; a < 2; a++)
			if (is_tmp(b->cmp[a]))
				nuse[b->cmp[a].id]++;
	}
}

static void replace_all(struct opt *o)
{
	for_blk (b, o->f) {
		for_each (p, b->phi)
			for (u32 i = 0; i < b->pred.n; i++)
				replace(o, &p->arg[i]);
		for_ins (i, b)
			for (u32 a = 0; a < 2; a++)
				replace(o, &i->arg[a]);
		replace(o, &b->cmp[0]);
		replace(o, &b->cmp[1]);
	}
}

static void values(struct opt *o)
{
	struct fn *f = o->f;
	u32 n = f->tmp.n, nins = 16;
	for_blk (b, f)
		nins += b->ins.n;
	o->fold = (struct fold){.f = f};
	o->fold.def = arena_newn(&o->tmp, struct ins *, n + 1);
	o->fold.nuse = arena_newn(&o->tmp, u32, n + 1);
	o->fold.bits = arena_newn(&o->tmp, u8, n + 1);
	o->rep = arena_newn(&o->tmp, struct ref, n + 1);
	o->nhash = nins | 1;
	o->hash = arena_newn(&o->tmp, u32, o->nhash);
	o->value.n = 0;
	memset(o->fold.bits, 64, n + 1);
	count_uses(o, o->fold.nuse);
	bool *reached = arena_newn(&o->tmp, bool, f->nblk);
	for_blk (b, f) {
		reached[b->id] = b == f->entry;
		for (u32 i = 0; i < b->pred.n; i++)
			reached[b->id] |= b->pred.v[i]->id < b->id && reached[b->pred.v[i]->id];
		if (!reached[b->id])
			continue; /* a branch above was just decided */
		opt_phis(o, b);
		for_ins (i, b)
			if (i->op != O_NOP)
				opt_ins(o, b, i);
		replace(o, &b->cmp[0]);
		replace(o, &b->cmp[1]);
		enum jmp before = b->jmp;
		fold_jump(&o->fold, b);
		o->changed |= before != b->jmp;
	}
	replace_all(o);
}

/* ---- dead code ---- */

struct dead {
	struct fn *f;
	const struct ins **def;
	const struct phi **phi;
	const struct blk **phi_blk;
	bool *live;
	u32 *work, n;
};

static void mark(struct dead *d, struct ref r)
{
	if (!is_tmp(r) || d->live[r.id])
		return;
	d->live[r.id] = true;
	d->work[d->n++] = r.id;
}

static void mark_args(struct dead *d, const struct ins *i)
{
	mark(d, i->arg[0]);
	mark(d, i->arg[1]);
	for (u32 a = 1; takes_args(i->op) && a <= i->nargs; a++)
		mark(d, i[-(i32)a].arg[0]);
}

static void mark_live(struct dead *d)
{
	for_blk (b, d->f) {
		for_each (p, b->phi) {
			d->phi[p->to.id] = p;
			d->phi_blk[p->to.id] = b;
		}
		for_ins (i, b) {
			if (is_tmp(i->to))
				d->def[i->to.id] = i;
			if (op_info[i->op].flags & F_EFFECT && i->op != O_ARG)
				mark_args(d, i);
		}
		mark(d, b->cmp[0]);
		mark(d, b->cmp[1]);
	}
	while (d->n) {
		u32 t = d->work[--d->n];
		if (d->def[t])
			mark_args(d, d->def[t]);
		for (u32 i = 0; d->phi[t] && i < d->phi_blk[t]->pred.n; i++)
			mark(d, d->phi[t]->arg[i]);
	}
}

static void sweep(struct dead *d)
{
	for_blk (b, d->f) {
		for (struct phi **at = &b->phi; *at;) {
			if (d->live[(*at)->to.id])
				at = &(*at)->next;
			else
				*at = (*at)->next;
		}
		for_ins (i, b) {
			if (i->op == O_NOP || i->op == O_ARG)
				continue;
			bool unused = !is_tmp(i->to) || !d->live[i->to.id];
			if (!(op_info[i->op].flags & F_EFFECT) && unused)
				remove_ins(i);
			else if (i->op == O_XADDF && unused)
				i->op = O_XADD, i->to = REF_NONE;
		}
		blk_sweep(b);
	}
}

static void dead_code(struct fn *f)
{
	struct arena tmp = {0};
	u32 n = f->tmp.n + 1;
	struct dead d = {
		.f = f,
		.def = arena_newn(&tmp, const struct ins *, n),
		.phi = arena_newn(&tmp, const struct phi *, n),
		.phi_blk = arena_newn(&tmp, const struct blk *, n),
		.live = arena_newn(&tmp, bool, n),
		.work = arena_newn(&tmp, u32, n),
	};
	mark_live(&d);
	sweep(&d);
	arena_free(&tmp);
}

/* ---- threading: a block that only asks about a phi, from where the answer is known ---- */

static u32 phi_uses(const struct blk *b, const struct phi *p)
{
	u32 n = 0;
	for (u32 a = 0; a < 2; a++)
		n += ref_eq(b->cmp[a], p->to);
	for (u32 s = 0; s < 2; s++) {
		const struct blk *to = s ? b->s2 : b->s1;
		i32 at = pred_index(to, b);
		for_each (q, to->phi)
			n += ref_eq(q->arg[at], p->to);
	}
	return n;
}

/* The phis of b are used nowhere but in its jump and by its successors' phis. */
static bool only_here(const struct blk *b, const u32 *nuse)
{
	for_each (p, b->phi)
		if (phi_uses(b, p) != nuse[p->to.id])
			return false;
	return true;
}

static struct ref from_pred(const struct blk *b, struct ref r, u32 at)
{
	for_each (p, b->phi)
		if (ref_eq(p->to, r))
			return p->arg[at];
	return r;
}

static bool thread_pred(struct fn *f, struct blk *b, u32 at, u32 *nuse)
{
	struct blk *pred = b->pred.v[at];
	struct ref r[2] = {from_pred(b, b->cmp[0], at), from_pred(b, b->cmp[1], at)};
	u64 v[2];
	if (pred == b || !ir_is_con(f, r[0], &v[0]) || !ir_is_con(f, r[1], &v[1]))
		return false;
	struct ins cmp = {.op = b->cond, .w = 8};
	struct blk *to = fold_eval(&cmp, v[0], v[1]) ? b->s1 : b->s2;
	if (to == b || pred_index(to, pred) >= 0)
		return false;
	u32 from = (u32)pred_index(to, b);
	pred_add(f, to, pred);
	for_each (p, to->phi) {
		struct ref arg = from_pred(b, p->arg[from], at);
		p->arg[to->pred.n - 1] = arg;
		if (is_tmp(arg))
			nuse[arg.id]++;
	}
	for_each (p, b->phi)
		if (is_tmp(p->arg[at]))
			nuse[p->arg[at].id]--;
	if (pred->s1 == b)
		pred->s1 = to;
	else
		pred->s2 = to;
	pred_remove(b, at);
	return true;
}

static bool thread_jumps(struct opt *o)
{
	bool changed = false;
	u32 *nuse = arena_newn(&o->tmp, u32, o->f->tmp.n + 1);
	count_uses(o, nuse);
	for_blk (b, o->f) {
		if (b->jmp != J_CMP || b->cond == O_MAY || b->ins.n || !b->phi || b->s1 == b ||
		    b->s2 == b)
			continue;
		if (!only_here(b, nuse))
			continue;
		for (u32 i = b->pred.n; i-- > 0 && b->pred.n;)
			changed |= thread_pred(o->f, b, i, nuse);
	}
	return changed;
}

/* ---- temporaries numbered anew, without gaps ---- */

static void renumber_ref(const u32 *map, struct ref *r)
{
	if (is_tmp(*r))
		*r = mkref(R_TMP, map[r->id]);
}

static void renumber(struct fn *f)
{
	struct arena tmp = {0};
	u32 *map = arena_newn(&tmp, u32, f->tmp.n + 1), n = 0;
	for_blk (b, f) {
		for_each (p, b->phi)
			map[p->to.id] = n++;
		for_ins (i, b)
			if (is_tmp(i->to))
				map[i->to.id] = n++;
	}
	for_blk (b, f) {
		for_each (p, b->phi) {
			renumber_ref(map, &p->to);
			for (u32 i = 0; i < b->pred.n; i++)
				renumber_ref(map, &p->arg[i]);
		}
		for_ins (i, b) {
			renumber_ref(map, &i->to);
			renumber_ref(map, &i->arg[0]);
			renumber_ref(map, &i->arg[1]);
		}
		renumber_ref(map, &b->cmp[0]);
		renumber_ref(map, &b->cmp[1]);
	}
	assert(n <= f->tmp.n);
	f->tmp.n = n;
	arena_free(&tmp);
}

void opt_run(struct fn *f)
{
	struct opt o = {.f = f};
	for (u32 round = 0; round < ROUNDS_MAX; round++) {
		o.changed = demand_run(f);
		values(&o);
		dead_code(f);
		cfg_run(f);
		if (thread_jumps(&o)) {
			cfg_run(f);
			o.changed = true;
		}
		arena_free(&o.tmp);
		if (!o.changed)
			break;
	}
	vec_free(&o.value);
	values(&o); /* copies left by joining blocks */
	dead_code(f);
	cfg_run(f);
	arena_free(&o.tmp);
	vec_free(&o.value);
	renumber(f);
}
