/*
 * float.c - float and double: comparing, scaling and converting them with integer instructions.
 *
 * Floats only come from memory. They are carried as the 64 bits of a double; a float is widened
 * to one, which is exact. Numbers too small for a float's normal form count as 0.
 */
#include "lower/lower.h"

enum { DOUBLE_BIAS = 1023, DOUBLE_BITS = 52, FLOAT_BITS = 23, FLOAT_BIAS = 127 };
#define SIGN      (1ull << 63)
#define INFINITE  0x7ff0000000000000ull
#define EXP_DELTA (((u64)(DOUBLE_BIAS - FLOAT_BIAS)) << DOUBLE_BITS)

/* value when cond, else other */
static struct ref pick(struct fn *f, enum op cond, struct ref a, struct ref b, struct ref value,
		       struct ref other)
{
	struct ref v = ir_var(f);
	struct blk *yes = ir_blk(f), *done = ir_blk(f);

	ir_set(f, v, other);
	ir_br(f, cond, a, b, yes, done);
	ir_at(f, yes);
	ir_set(f, v, value);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, v);
}

/* Bits of a float -> bits of the double of the same value. */
static struct ref widen(struct fn *f, struct ref bits)
{
	struct ref abs = ir_op2(f, O_AND, bits, ir_con(f, 0x7fffffff)), wide, sign;

	sign = ir_op2(f, O_SHL, ir_op2(f, O_SHR, bits, ir_con(f, 31)), ir_con(f, 63));
	wide = ir_op2(f, O_ADD, ir_op2(f, O_SHL, abs, ir_con(f, DOUBLE_BITS - FLOAT_BITS)),
		      ir_con(f, EXP_DELTA));
	wide = pick(f, O_UGE, abs, ir_con(f, 0x7f800000),
		    ir_op2(f, O_OR, wide, ir_con(f, INFINITE)), wide);
	wide = pick(f, O_ULT, abs, ir_con(f, 1u << FLOAT_BITS), ir_con(f, 0), wide);
	return ir_op2(f, O_OR, wide, sign);
}

/* A float, or an integer literal, as a double. */
static struct ref double_bits(struct lower *l, struct node *n)
{
	double d;
	u64 bits;
	i64 num;

	if (node_int(n, &num)) {
		d = n->type->is_signed ? (double)num : (double)(u64)num;
		memcpy(&bits, &d, sizeof(bits));
		return ir_con(l->f, bits);
	}
	if (n->type->size == sizeof(float))
		return widen(l->f, lower_load(l, 4, false, lower_mem(l, n)));
	return lower_load(l, 8, false, lower_mem(l, n));
}

/* -abs or abs: orders as the values do, and makes one of both zeros. */
static struct ref order(struct fn *f, struct ref bits, struct ref *nan)
{
	struct ref abs = ir_op2(f, O_AND, bits, ir_con(f, ~SIGN));
	struct ref sign = ir_op2(f, O_SAR, bits, ir_con(f, 63));

	*nan = ir_op2(f, O_UGT, abs, ir_con(f, INFINITE));
	return ir_op2(f, O_SUB, ir_op2(f, O_XOR, abs, sign), sign);
}

/* What is not a number is not equal to anything, nor less, nor greater. */
struct ref lower_float_compare(struct lower *l, struct node *n, enum op op)
{
	struct fn *f = l->f;
	struct ref nx, ny, nan, x, y, r;

	x = order(f, double_bits(l, n->a), &nx);
	y = order(f, double_bits(l, n->b), &ny);
	r = ir_op2(f, op, x, y);
	nan = ir_op2(f, O_OR, nx, ny);
	if (op == O_NE)
		return ir_op2(f, O_OR, r, nan);
	return ir_op2(f, O_AND, r, ir_op2(f, O_XOR, nan, ir_con(f, 1)));
}

/*
 * Towards zero, as C converts. What an int64 cannot hold becomes the nearest that it can; what is
 * not a number becomes 0.
 */
struct ref lower_float_to_int(struct lower *l, struct node *n)
{
	struct fn *f = l->f;
	struct ref bits = double_bits(l, n), one = ir_con(f, 1), zero = ir_con(f, 0);
	struct ref abs = ir_op2(f, O_AND, bits, ir_con(f, ~SIGN));
	struct ref sign = ir_op2(f, O_SAR, bits, ir_con(f, 63));
	struct ref exp = ir_op2(f, O_SHR, abs, ir_con(f, DOUBLE_BITS));
	struct ref mant =
		ir_op2(f, O_OR, ir_op2(f, O_AND, abs, ir_con(f, (1ull << DOUBLE_BITS) - 1)),
		       ir_con(f, 1ull << DOUBLE_BITS));
	struct ref last = ir_con(f, DOUBLE_BIAS + DOUBLE_BITS), up, down, m, edge;

	up = ir_op2(f, O_SHL, mant, ir_op2(f, O_AND, ir_op2(f, O_SUB, exp, last), ir_con(f, 63)));
	down = ir_op2(f, O_SHR, mant, ir_op2(f, O_AND, ir_op2(f, O_SUB, last, exp), ir_con(f, 63)));
	m = pick(f, O_UGE, exp, last, up, down);
	m = pick(f, O_ULT, exp, ir_con(f, DOUBLE_BIAS), zero, m);
	m = ir_op2(f, O_SUB, ir_op2(f, O_XOR, m, sign), sign);
	edge = ir_op2(f, O_ADD, ir_con(f, ~SIGN), ir_op2(f, O_AND, sign, one));
	m = pick(f, O_UGE, exp, ir_con(f, DOUBLE_BIAS + 63), edge, m);
	return pick(f, O_UGT, abs, ir_con(f, INFINITE), zero, m);
}

/* The bits of the greatest double whose product with by is less than 2 to the 63rd. */
static u64 scale_limit(u32 by)
{
	double d = 9223372036854775808.0 / by;
	u64 bits;
	memcpy(&bits, &d, sizeof(bits));
	return bits - 1;
}

/*
 * mantissa * by is hi * 2^26 + lo, and the product is that shifted by what the exponent says. Both parts
 * have less than 58 bits, as by has less than 31.
 */
struct ref lower_float_scaled(struct lower *l, struct node *n, u32 by)
{
	enum { HALF = 26 };
	struct fn *f = l->f;
	struct ref bits = double_bits(l, n), zero = ir_con(f, 0), low = ir_con(f, 63);
	struct ref abs = ir_op2(f, O_AND, bits, ir_con(f, ~SIGN));
	struct ref sign = ir_op2(f, O_SAR, bits, low);
	struct ref exp = ir_op2(f, O_SHR, abs, ir_con(f, DOUBLE_BITS));
	struct ref mant =
		ir_op2(f, O_OR, ir_op2(f, O_AND, abs, ir_con(f, (1ull << DOUBLE_BITS) - 1)),
		       ir_con(f, 1ull << DOUBLE_BITS));
	struct ref hi = ir_op2(f, O_MUL, ir_op2(f, O_SHR, mant, ir_con(f, HALF)), ir_con(f, by));
	struct ref lo = ir_op2(f, O_MUL, ir_op2(f, O_AND, mant, ir_con(f, (1ull << HALF) - 1)),
			       ir_con(f, by));
	struct ref unit = ir_con(f, DOUBLE_BIAS + DOUBLE_BITS);
	struct ref left = ir_op2(f, O_AND, ir_op2(f, O_SUB, exp, unit), low);
	struct ref right = ir_op2(f, O_AND, ir_op2(f, O_SUB, unit, exp), low);
	struct ref past = ir_con(f, DOUBLE_BIAS + DOUBLE_BITS - HALF); /* here hi is not shifted */
	struct ref hi_left = ir_op2(f, O_AND, ir_op2(f, O_SUB, exp, past), low);
	struct ref hi_right = ir_op2(f, O_AND, ir_op2(f, O_SUB, past, exp), low);
	struct ref large, small, m;

	large = pick(f, O_UGE, exp, unit, ir_op2(f, O_SHL, lo, left), ir_op2(f, O_SHR, lo, right));
	large = ir_op2(f, O_ADD, ir_op2(f, O_SHL, hi, hi_left), large);
	small = ir_op2(f, O_ADD, hi, ir_op2(f, O_SHR, lo, ir_con(f, HALF)));
	small = ir_op2(f, O_SHR, small, hi_right);
	m = pick(f, O_UGT, exp, past, large, small);
	/* Below that the shift is 64 bits or more. */
	m = pick(f, O_ULE, exp, ir_con(f, DOUBLE_BIAS + DOUBLE_BITS - HALF - 64), zero, m);
	m = ir_op2(f, O_SUB, ir_op2(f, O_XOR, m, sign), sign);
	large = ir_op2(f, O_ADD, ir_con(f, ~SIGN), ir_op2(f, O_AND, sign, ir_con(f, 1)));
	m = pick(f, O_UGT, abs, ir_con(f, scale_limit(by)), large, m);
	return pick(f, O_UGT, abs, ir_con(f, INFINITE), zero, m);
}
