/*
 * fold.c - one instruction at a time: constants, identities, cheaper forms.
 *
 * An AND with a constant is never removed because its operand is known to be
 * small: the verifier may need it as a bounds check.
 */
#include "ir/pass.h"

static u64 low(u64 v, u32 w)
{
	return w == 8 ? v : v & ((1ull << w * 8) - 1);
}

static u64 extend(u64 v, u32 w)
{
	u32 shift = 64 - w * 8;
	return (u64)((i64)(v << shift) >> shift);
}

static u64 swap(u64 v, u32 w)
{
	return __builtin_bswap64(v) >> (64 - w * 8);
}

u64 fold_eval(const struct ins *i, u64 a, u64 b)
{
	switch ((int)i->op) {
	case O_ADD: return a + b;
	case O_SUB: return a - b;
	case O_MUL: return a * b;
	case O_UDIV: return b ? a / b : 0;
	case O_UMOD: return b ? a % b : a;
	case O_AND: return a & b;
	case O_OR: return a | b;
	case O_XOR: return a ^ b;
	case O_SHL: return a << (b & 63);
	case O_SHR: return a >> (b & 63);
	case O_SAR: return (u64)((i64)a >> (b & 63));
	case O_NEG: return -a;
	case O_EXTS: return extend(a, i->w);
	case O_EXTU: return low(a, i->w);
	case O_BSWAP: return swap(a, i->w);
	case O_EQ: return a == b;
	case O_NE: return a != b;
	case O_ULT: return a < b;
	case O_ULE: return a <= b;
	case O_UGT: return a > b;
	case O_UGE: return a >= b;
	case O_SLT: return (i64)a < (i64)b;
	case O_SLE: return (i64)a <= (i64)b;
	case O_SGT: return (i64)a > (i64)b;
	case O_SGE: return (i64)a >= (i64)b;
	default: break;
	}
	abort();
}

static bool is_cmp(enum op op)
{
	return op_info[op].flags & F_CMP;
}

static struct ins *def_of(const struct fold *o, struct ref r)
{
	return is_tmp(r) ? o->def[r.id] : NULL;
}

static u8 width_of(u64 v)
{
	return v ? (u8)(64 - __builtin_clzll(v)) : 0;
}

u8 fold_bits(const struct fold *o, struct ref r)
{
	u64 v;
	if (ir_is_con(o->f, r, &v))
		return width_of(v);
	return is_tmp(r) ? o->bits[r.id] : 64;
}

static u8 bits_shift(const struct fold *o, const struct ins *i, u8 a)
{
	u64 n;
	if (!ir_is_con(o->f, i->arg[1], &n))
		return i->op == O_SHR ? a : 64;
	n &= 63;
	if (i->op == O_SHL)
		return (u8)MIN(a + n, 64);
	return a > n ? (u8)(a - n) : 0;
}

u8 fold_bits_of(const struct fold *o, const struct ins *i)
{
	u8 a = op_info[i->op].nargs > 0 ? fold_bits(o, i->arg[0]) : 64;
	u8 b = op_info[i->op].nargs > 1 ? fold_bits(o, i->arg[1]) : 64;
	if (is_cmp(i->op))
		return 1;
	switch ((int)i->op) {
	case O_COPY:
	case O_UDIV: return a;
	case O_ADD: return (u8)MIN(MAX(a, b) + 1, 64);
	case O_MUL: return (u8)MIN(a + b, 64);
	case O_UMOD: return a; /* x % 0 is x */
	case O_AND: return MIN(a, b);
	case O_OR:
	case O_XOR: return MAX(a, b);
	case O_SHL:
	case O_SHR: return bits_shift(o, i, a);
	case O_EXTU: return (u8)MIN(a, i->w * 8);
	case O_EXTS: return a < i->w * 8 ? a : 64;
	case O_BSWAP:
	case O_LOAD:
	case O_ACQUIRE:
	case O_HIDE:
	case O_XADDF:
	case O_XCHG:
	case O_CMPXCHG: return (u8)(i->w * 8);
	default: return 64;
	}
}

static bool set_op1(struct ins *i, enum op op, u32 w, struct ref a)
{
	i->op = op;
	i->w = (u8)w;
	i->arg[0] = a;
	i->arg[1] = REF_NONE;
	return true;
}

static bool set_op2(struct ins *i, enum op op, struct ref a, struct ref b)
{
	i->op = op;
	i->w = 8;
	i->arg[0] = a;
	i->arg[1] = b;
	return true;
}

static bool is_pow2(u64 v)
{
	return v && !(v & (v - 1));
}

/* x op constant. True: i changed, or *ret is set. */
static bool fold_arith_con(struct fold *o, struct ins *i, u64 v, struct ref *ret)
{
	struct fn *f = o->f;
	struct ref x = i->arg[0];
	struct ins *d = def_of(o, x);
	u64 v2;
	switch ((int)i->op) {
	case O_SUB: return set_op2(i, O_ADD, x, ir_con(f, -v));
	case O_ADD:
		if (v == 0)
			return *ret = x, true;
		if (d && d->op == O_ADDR) {
			i->imm = d->imm + (i32)v;
			return set_op1(i, O_ADDR, 8, d->arg[0]);
		}
		if (d && d->op == O_MAPVAL) {
			i->imm = d->imm + (i32)v;
			return set_op1(i, O_MAPVAL, 8, d->arg[0]);
		}
		/* Not when the sum is used elsewhere: it may be what a bounds check is about. */
		if (d && d->op == O_ADD && o->nuse[x.id] == 1 && ir_is_con(f, d->arg[1], &v2))
			return set_op2(i, O_ADD, d->arg[0], ir_con(f, v + v2));
		return false;
	case O_MUL:
		if (v == 0)
			return *ret = i->arg[1], true;
		if (v == 1)
			return *ret = x, true;
		return is_pow2(v) && set_op2(i, O_SHL, x, ir_con(f, (u64)__builtin_ctzll(v)));
	case O_UDIV:
		if (v == 0)
			return *ret = i->arg[1], true;
		if (v == 1)
			return *ret = x, true;
		return is_pow2(v) && set_op2(i, O_SHR, x, ir_con(f, (u64)__builtin_ctzll(v)));
	case O_UMOD:
		if (v == 0)
			return *ret = x, true;
		return is_pow2(v) && set_op2(i, O_AND, x, ir_con(f, v - 1));
	case O_SHL:
	case O_SHR:
	case O_SAR:
		if ((v & 63) == 0)
			return *ret = x, true;
		return v > 63 && set_op2(i, i->op, x, ir_con(f, v & 63));
	default: return false;
	}
}

static bool fold_logic_con(struct fold *o, struct ins *i, u64 v, struct ref *ret)
{
	struct ref x = i->arg[0];
	struct ins *d = def_of(o, x);
	switch ((int)i->op) {
	case O_AND:
		if (v == 0)
			return *ret = i->arg[1], true;
		if (v == ~0ull || (v == 1 && d && is_cmp(d->op)))
			return *ret = x, true;
		return v == 0xffffffff && set_op1(i, O_EXTU, 4, x);
	case O_OR:
		if (v == ~0ull)
			return *ret = i->arg[1], true;
		return v == 0 && (*ret = x, true);
	case O_XOR:
		if (v == 0)
			return *ret = x, true;
		if (v == 1 && d && is_cmp(d->op))
			return set_op2(i, op_not(d->op), d->arg[0], d->arg[1]);
		return false;
	default: return false;
	}
}

/* A comparison with 0 or 1 of a value that is 0 or 1. */
static bool fold_bool(struct fold *o, struct ins *i, u64 v, struct ref *ret)
{
	struct ins *d = def_of(o, i->arg[0]);
	bool same = (i->op == O_NE && v == 0) || (i->op == O_EQ && v == 1);
	bool flip = (i->op == O_EQ && v == 0) || (i->op == O_NE && v == 1);
	if (!same && !flip)
		return false;
	if (flip && d && is_cmp(d->op))
		return set_op2(i, op_not(d->op), d->arg[0], d->arg[1]);
	if (same && fold_bits(o, i->arg[0]) <= 1)
		return *ret = i->arg[0], true;
	return false;
}

static bool fold_cmp_con(struct fold *o, struct ins *i, u64 v, struct ref *ret)
{
	switch ((int)i->op) {
	case O_ULT:
		if (v == 0)
			return *ret = ir_con(o->f, 0), true;
		return false;
	case O_UGE:
		if (v == 0)
			return *ret = ir_con(o->f, 1), true;
		return false;
	case O_UGT: return v == 0 && set_op2(i, O_NE, i->arg[0], i->arg[1]);
	case O_ULE: return v == 0 && set_op2(i, O_EQ, i->arg[0], i->arg[1]);
	case O_EQ:
	case O_NE: return fold_bool(o, i, v, ret);
	default: return false;
	}
}

static bool fold_same(struct fold *o, struct ins *i, struct ref *ret)
{
	switch ((int)i->op) {
	case O_SUB:
	case O_XOR:
	case O_NE:
	case O_ULT:
	case O_UGT:
	case O_SLT:
	case O_SGT: return *ret = ir_con(o->f, 0), true;
	case O_EQ:
	case O_ULE:
	case O_UGE:
	case O_SLE:
	case O_SGE: return *ret = ir_con(o->f, 1), true;
	case O_AND:
	case O_OR: return *ret = i->arg[0], true;
	default: return false;
	}
}

static bool fold_unary(struct fold *o, struct ins *i, struct ref *ret)
{
	struct ref x = i->arg[0];
	struct ins *d = def_of(o, x);
	u8 bits = fold_bits(o, x);
	bool ext = d && (d->op == O_EXTS || d->op == O_EXTU);
	switch ((int)i->op) {
	case O_COPY: return *ret = x, true;
	case O_NEG: return d && d->op == O_NEG && (*ret = d->arg[0], true);
	case O_EXTU:
		if (bits <= i->w * 8)
			return *ret = x, true;
		return ext && i->w <= d->w && set_op1(i, O_EXTU, i->w, d->arg[0]);
	case O_EXTS:
		if (i->w == 8 || bits < i->w * 8)
			return *ret = x, true;
		if (d && (d->op == O_EXTS || d->op == O_LOADS) && d->w <= i->w)
			return *ret = x, true;
		return ext && i->w <= d->w && set_op1(i, O_EXTS, i->w, d->arg[0]);
	case O_BSWAP:
		return d && d->op == O_BSWAP && d->w == i->w && set_op1(i, O_EXTU, i->w, d->arg[0]);
	default: return false;
	}
}

/* Addresses: fold sums into the offset; what is stored need not be extended. */
static bool fold_mem(struct fold *o, struct ins *i)
{
	struct ins *d = def_of(o, i->arg[0]);
	u64 v;
	if (d && d->op == O_ADDR) {
		i->arg[0] = d->arg[0];
		i->imm += d->imm;
		return true;
	}
	if (d && d->op == O_ADD && ir_is_con(o->f, d->arg[1], &v) &&
	    (i64)v + i->imm == (i16)((i64)v + i->imm)) {
		i->arg[0] = d->arg[0];
		i->imm += (i32)v;
		return true;
	}
	if (op_info[i->op].nargs < 2)
		return false;
	d = def_of(o, i->arg[1]);
	if (d && (d->op == O_EXTS || d->op == O_EXTU) && i->w <= d->w && i->op != O_CMPXCHG) {
		i->arg[1] = d->arg[0];
		return true;
	}
	return false;
}

static bool fold_arg(struct fold *o, struct ins *i)
{
	struct ins *d = def_of(o, i->arg[0]);
	if (!d || (d->op != O_MAPFD && d->op != O_FNADDR && !(d->op == O_ADDR && !d->imm)))
		return false;
	i->arg[0] = d->arg[0];
	return true;
}

static bool fold_step(struct fold *o, struct ins *i, struct ref *ret)
{
	u64 a = 0, b = 0;
	u8 flags = op_info[i->op].flags, nargs = op_info[i->op].nargs;
	if (is_mem(i->op))
		return fold_mem(o, i);
	if (i->op == O_ARG)
		return fold_arg(o, i);
	if (i->op == O_COPY)
		return *ret = i->arg[0], true;
	if (!(flags & F_FOLD))
		return false;
	bool con_a = ir_is_con(o->f, i->arg[0], &a);
	bool con_b = nargs > 1 && ir_is_con(o->f, i->arg[1], &b);
	if (con_a && (con_b || nargs == 1))
		return *ret = ir_con(o->f, fold_eval(i, a, b)), true;
	if (nargs == 1)
		return fold_unary(o, i, ret);
	if (con_a && flags & (F_COMM | F_CMP))
		return set_op2(i, is_cmp(i->op) ? op_swap(i->op) : i->op, i->arg[1], i->arg[0]);
	if (ref_eq(i->arg[0], i->arg[1]) && fold_same(o, i, ret))
		return true;
	if (!con_b)
		return false;
	if (is_cmp(i->op))
		return fold_cmp_con(o, i, b, ret);
	return fold_arith_con(o, i, b, ret) || fold_logic_con(o, i, b, ret);
}

bool fold_ins(struct fold *o, struct ins *i, struct ref *ret)
{
	*ret = REF_NONE;
	while (fold_step(o, i, ret))
		if (ref_is(*ret))
			return true;
	return false;
}

void fold_jump(struct fold *o, struct blk *b)
{
	if (b->jmp != J_CMP || b->cond == O_MAY)
		return;
	struct ins cmp = {.op = b->cond, .w = 8, .arg = {b->cmp[0], b->cmp[1]}};
	struct ref val = REF_NONE;
	u64 v;
	while (!ref_is(val)) {
		if (fold_ins(o, &cmp, &val))
			break;
		struct ins *d = def_of(o, cmp.arg[0]);
		if (cmp.op != O_NE || !ir_is_con(o->f, cmp.arg[1], &v) || v || !d || !is_cmp(d->op))
			break;
		set_op2(&cmp, d->op, d->arg[0], d->arg[1]);
	}
	if (is_tmp(val)) { /* x != 0, x being 0 or 1 */
		struct ins *d = def_of(o, val);
		if (d && is_cmp(d->op))
			set_op2(&cmp, d->op, d->arg[0], d->arg[1]);
		else
			set_op2(&cmp, O_NE, val, ir_con(o->f, 0));
	}
	if (!ir_is_con(o->f, val, &v)) {
		b->cond = cmp.op;
		b->cmp[0] = cmp.arg[0];
		b->cmp[1] = cmp.arg[1];
		return;
	}
	struct blk *no = v ? b->s2 : b->s1;
	i32 at = pred_index(no, b);
	assert(at >= 0);
	pred_remove(no, (u32)at);
	b->s1 = v ? b->s1 : b->s2;
	b->s2 = NULL;
	b->jmp = J_JMP;
	b->cmp[0] = b->cmp[1] = REF_NONE;
}
