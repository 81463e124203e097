/*
 * demand.c - how many bits of each value somebody looks at: what only fills the others is not done.
 *
 * An extension is a copy of its operand where nobody looks above its width, and a load needs no
 * sign. Comparisons, addresses and calls look at all bits.
 */
#include "ir/pass.h"

struct demand {
	struct fn *f;
	u8 *bits; /* by temporary: the low ones that are looked at */
	bool changed;
};

static void want(struct demand *d, struct ref r, u32 bits)
{
	if (!is_tmp(r) || d->bits[r.id] >= bits)
		return;
	d->bits[r.id] = (u8)MIN(bits, 64);
	d->changed = true;
}

static u32 of_result(const struct demand *d, const struct ins *i)
{
	return is_tmp(i->to) ? d->bits[i->to.id] : 64;
}

/* By an amount that is known. */
static void want_shifted(struct demand *d, const struct ins *i, u64 n)
{
	u32 bits = of_result(d, i);
	n &= 63;
	if (bits)
		want(d, i->arg[0],
		     i->op != O_SHL ? MIN(bits + (u32)n, 64)
		     : bits > n     ? bits - (u32)n
				    : 0);
}

static void want_args(struct demand *d, const struct ins *i)
{
	u32 bits = of_result(d, i), other = 64;
	u64 v = 0;
	bool con = op_info[i->op].nargs > 1 && ir_is_con(d->f, i->arg[1], &v);
	switch ((int)i->op) {
	case O_AND:
		if (con)
			bits = MIN(bits, v ? 64 - (u32)__builtin_clzll(v) : 0);
		other = bits;
		break;
	case O_COPY:
	case O_ADD:
	case O_SUB:
	case O_MUL:
	case O_OR:
	case O_XOR:
	case O_NEG: other = bits; break;
	case O_SHL:
	case O_SHR:
	case O_SAR:
		if (con) {
			want_shifted(d, i, v);
			return;
		}
		bits = 64;
		break;
	case O_EXTS:
	case O_EXTU: bits = MIN(bits, i->w * 8u); break;
	case O_STORE:
	case O_RELEASE:
	case O_HIDE:
	case O_XADD: bits = 64, other = i->w * 8u; break;
	default: bits = 64; break;
	}
	want(d, i->arg[0], bits);
	want(d, i->arg[1], other);
}

static void want_all(struct demand *d)
{
	for_blk (b, d->f) {
		for_each (p, b->phi)
			for (u32 i = 0; i < b->pred.n; i++)
				want(d, p->arg[i], d->bits[p->to.id]);
		for (u32 n = b->ins.n; n--;)
			want_args(d, &b->ins.v[n]);
		want(d, b->cmp[0], 64);
		want(d, b->cmp[1], 64);
	}
}

/* Uses of values that nobody asks for count as asking: dead code is taken out elsewhere. */
bool demand_run(struct fn *f)
{
	struct arena tmp = {0};
	struct demand d = {.f = f, .bits = arena_newn(&tmp, u8, f->tmp.n + 1)};
	bool less = false;
	do {
		d.changed = false;
		want_all(&d);
	} while (d.changed);
	for_blk (b, f)
		for_ins (i, b) {
			bool ext = i->op == O_EXTS || i->op == O_EXTU;
			if ((!ext && i->op != O_LOADS) || i->w == 8 || d.bits[i->to.id] > i->w * 8u)
				continue;
			*i = (struct ins){.op = ext ? O_COPY : O_LOAD,
					  .w = ext ? 8 : i->w,
					  .to = i->to,
					  .arg = {i->arg[0]},
					  .imm = i->imm,
					  .loc = i->loc};
			less = true;
		}
	arena_free(&tmp);
	return less;
}
