/* fold.c - what is known when the script is compiled: operators on literals. */
#include "sema/fold.h"
#include "sema/check.h"

static bool fold_i128(enum token op, __int128 x, __int128 y, __int128 *r)
{
	u64 a = (u64)x, b = (u64)y;
	bool neg = x < 0 || y < 0;
	switch (op) {
	case TK_PLUS: *r = x + y; return true;
	case TK_MINUS: *r = x - y; return true;
	case TK_STAR: /* of 64-bit numbers: what does not fit is far outside of what a literal holds */
		*r = (__int128)((unsigned __int128)x * (unsigned __int128)y);
		return true;
	case TK_SLASH:
		if (!y)
			return false;
		*r = x / y;
		return true;
	case TK_PERCENT:
		if (!y)
			return false;
		*r = x % y;
		return true;
	case TK_SHL:
		if (y < 0 || y > 63)
			return false;
		*r = x < 0 ? (__int128)(i64)(a << b) : (__int128)(a << b);
		return true;
	case TK_SHR:
		if (y < 0 || y > 63)
			return false;
		*r = x >> y;
		return true;
	case TK_AMP: a &= b; break;
	case TK_PIPE: a |= b; break;
	case TK_CARET: a ^= b; break;
	default: return false;
	}
	*r = neg ? (__int128)(i64)a : (__int128)a;
	return true;
}

static i32 fold_cmp(enum token op, __int128 x, __int128 y)
{
	switch ((int)op) {
	case TK_EQ: return x == y;
	case TK_NE: return x != y;
	case TK_LT: return x < y;
	case TK_LE: return x <= y;
	case TK_GT: return x > y;
	case TK_GE: return x >= y;
	case TK_ANDAND: return x && y;
	case TK_OROR: return x || y;
	}
	return -1;
}

__int128 lit_value(const struct node *n)
{
	return n->flags & NF_NEG ? (__int128)(i64)n->num : (__int128)n->num;
}

void set_literal(struct node *n, __int128 v)
{
	bool neg = v < 0;
	node_set_num(n, (u64)v, literal_type((u64)v, neg));
	if (neg)
		n->flags |= NF_NEG;
}

bool is_lit(const struct node *n)
{
	return n->kind == N_NUM || n->kind == N_BOOL;
}

/* The literal has a type of its own, as that of a cast: it does not adopt another one. */
enum { NF_TYPED = NF_SEMA << 1 };

bool is_typed(const struct node *n)
{
	return n->kind == N_BOOL || (n->flags & NF_TYPED);
}

void set_typed(struct node *n, u64 v, const struct type *t)
{
	u32 unused = 64 - t->size * 8;
	v <<= unused;
	node_set_num(n, t->is_signed ? (u64)((i64)v >> unused) : v >> unused, t);
	n->flags |= NF_TYPED;
}

const struct type *arith_type(enum token op, const struct type *x, const struct type *y)
{
	bool sx = x->is_signed && !(x->flex && !y->is_signed);
	if (op == TK_SHL || op == TK_SHR)
		return type_int(8, sx);
	bool sy = y->is_signed && !(y->flex && !x->is_signed);
	return type_int(8, sx || sy || op == TK_MINUS);
}

/* As the program would compute it: in 64 bits, and by the types. */
static bool fold_typed(struct node *n)
{
	const struct type *tx = n->a->type, *ty = n->b->type;
	bool ux = !tx->is_signed || tx->flex, uy = !ty->is_signed || ty->flex;
	bool sign = n->op == TK_SHR ? tx->is_signed : !(ux && uy);
	u64 a = n->a->num, b = n->b->num;
	__int128 x = sign ? (__int128)(i64)a : (__int128)a,
		 y = sign ? (__int128)(i64)b : (__int128)b;
	i32 yes = fold_cmp(n->op, x, y);
	if (yes >= 0)
		node_set_num(n, (u64)yes, &type_bool);
	else if (fold_i128(n->op, x, y, &x))
		set_typed(n, (u64)x, arith_type(n->op, tx, ty));
	else
		return false;
	return true;
}

static bool no_room(struct sema *s, struct node *n)
{
	sema_fail(s, E_RANGE, n->loc, "unable to fold literals due to overflow or underflow");
	n->type = &type_error;
	return true;
}

bool fold_binary(struct sema *s, struct node *n)
{
	if (n->a->kind == N_STR && n->b->kind == N_STR) {
		i32 yes = fold_cmp(n->op, str_cmp(n->a->name, n->b->name), 0);
		if (yes < 0 || n->op == TK_ANDAND || n->op == TK_OROR)
			return false;
		node_set_num(n, (u64)yes, &type_bool);
		return true;
	}
	if (!is_lit(n->a) || !is_lit(n->b))
		return false;
	if (is_typed(n->a) || is_typed(n->b))
		return fold_typed(n);
	__int128 x = lit_value(n->a), y = lit_value(n->b), r;
	i32 c = fold_cmp(n->op, x, y);
	if (c >= 0) {
		node_set_num(n, (u64)c, &type_bool);
		return true;
	}
	if (!fold_i128(n->op, x, y, &r))
		return no_room(s, n);
	/* bpftrace's overflow goes unnoticed when just one of two factors is negative. */
	if (n->op == TK_STAR && r < INT64_MIN && x <= INT64_MAX && y <= INT64_MAX) {
		diag_add(s->ds, W_CAST, n->loc,
			 "the product does not fit 64 bits and is cut to %lld", (i64)r);
		r = (i64)r;
	}
	if (r < INT64_MIN || r > (__int128)UINT64_MAX)
		return no_room(s, n);
	set_literal(n, r);
	return true;
}

/* -n, ~n */
bool fold_sign(struct sema *s, struct node *n)
{
	const struct node *lit = n->a;
	bool minus = n->op == TK_MINUS;
	if (!is_lit(lit))
		return false;
	if (lit->kind == N_NUM && is_typed(lit)) {
		const struct type *t = lit->type;
		u64 v = minus ? -lit->num : ~lit->num;
		if (!t->is_signed)
			v &= ~0ull >> (64 - t->size * 8);
		set_typed(n, v, type_int(8, t->is_signed));
		return true;
	}
	__int128 v = minus                 ? -lit_value(lit)
		     : lit->flags & NF_NEG ? (__int128)(i64)~lit->num
					   : (__int128)~lit->num;
	if (v < INT64_MIN)
		return no_room(s, n);
	set_literal(n, v);
	return true;
}
