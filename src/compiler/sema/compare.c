/* compare.c - what can be compared, and comparisons that have the same result always. */
#include "core/agg.h"
#include "sema/check.h"
#include "sema/fold.h"

void compare_mismatch(struct sema *s, const struct node *n, enum token op, const struct type *x,
		      const struct type *y)
{
	if (!s->final)
		return;
	AUTO_SB a = {0};
	AUTO_SB b = {0};
	type_name(x, &a);
	type_name(y, &b);
	struct diag *d =
		diag_add(s->ds, E_TYPE, n->loc, "Type mismatch for '%s': comparing %s with %s",
			 token_text(op), a.s, b.s);
	if (n->kind == N_BINARY) {
		diag_note(s->ds, d, n->a->loc, "left (%s)", a.s);
		diag_note(s->ds, d, n->b->loc, "right (%s)", b.s);
	}
}

static bool number(const struct type *t)
{
	return type_is_int(t) || t->kind == T_BOOL;
}

static bool comparable(struct sema *s, enum token op, const struct type *x, const struct type *y)
{
	bool eq = op == TK_EQ || op == TK_NE;
	bool px = x->kind == T_PTR || x->kind == T_KSYM || x->kind == T_USERNAME;
	bool py = y->kind == T_PTR || y->kind == T_KSYM || y->kind == T_USERNAME;
	if ((number(x) || px) && (number(y) || py))
		return true;
	if (!eq || x->kind != y->kind)
		return false;
	switch (x->kind) {
	case T_STRING: return true;
	case T_ARRAY:
		return x->count == y->count && type_is_int(x->base) && type_is_int(y->base) &&
		       x->size == y->size;
	case T_TUPLE:
	case T_RECORD: return type_merge(s->a, x, y) != NULL;
	case T_BUF: return true; /* they begin with their length */
	case T_KSTACK:
	case T_USTACK:
	case T_TIMESTAMP:
	case T_INET:
	case T_MAC:
	case T_STRUCT:
	case T_UNION: return x->size == y->size;
	default: return false;
	}
}

/* Floats can be compared with each other and with integer literals. */
static bool floats(const struct node *n, const struct type *x, const struct type *y)
{
	if (n->kind != N_BINARY || (x->kind != T_FLOAT && y->kind != T_FLOAT))
		return false;
	return (x->kind == T_FLOAT || is_lit(n->a)) && (y->kind == T_FLOAT || is_lit(n->b));
}

/* Pointers to different things are seldom meant to be equal. */
static void tell_distinct(struct sema *s, const struct node *n, const struct type *x,
			  const struct type *y)
{
	bool plain = x->kind == T_PTR && y->kind == T_PTR && x->base && y->base;
	if (!s->final || !plain || n->kind != N_BINARY || type_eq(x->base, y->base) ||
	    x->base->kind == T_NONE || y->base->kind == T_NONE)
		return;
	AUTO_SB a = {0};
	AUTO_SB b = {0};
	type_name(x->base, &a);
	type_name(y->base, &b);
	diag_add(s->ds, W_CAST, n->loc, "comparison of distinct pointer types: %s, %s", a.s, b.s);
}

/* ---- the same result always ---- */

/* The script has the number itself there: not an option, a parameter or a name that stands for it. */
static bool is_written(const struct sema *s, const struct node *n)
{
	const struct diags *ds = s->ds;
	if (n->kind != N_NUM || n->loc.src >= ds->nsource)
		return false;
	struct str text = ds->source[n->loc.src].text;
	char c = n->loc.pos < text.n ? text.s[n->loc.pos] : '\0';
	return (c >= '0' && c <= '9') || c == '-' || c == '(';
}

/* The result of (a t) op v: 0, 1, or -1 if it depends on the value. */
static int result_of(enum token op, __int128 v, __int128 least, __int128 most)
{
	switch ((int)op) {
	case TK_EQ: return v < least || v > most ? 0 : -1;
	case TK_NE: return v < least || v > most ? 1 : -1;
	case TK_LT: return v <= least ? 0 : v > most ? 1 : -1;
	case TK_GE: return v <= least ? 1 : v > most ? 0 : -1;
	case TK_GT: return v >= most ? 0 : v < least ? 1 : -1;
	case TK_LE: return v >= most ? 1 : v < least ? 0 : -1;
	}
	return -1;
}

static enum token turned(enum token op)
{
	switch ((int)op) {
	case TK_LT: return TK_GT;
	case TK_LE: return TK_GE;
	case TK_GT: return TK_LT;
	case TK_GE: return TK_LE;
	default: return op;
	}
}

/* A register whose type nobody knows: retval, arg0 ... */
static bool is_register(const struct node *n)
{
	const struct builtin *b = n->kind == N_NAME ? n->fn : NULL;
	return b && (b->asks & (USE_RETVAL | USE_ARGN)) && n->type == &type_u64;
}

/* A wildcard's functions have results of several types, and with signed ones the comparison makes sense. */
static bool is_one_of_many(const struct sema *s)
{
	u32 both = PROBE_KERNEL | PROBE_RETVAL;
	return s->point && s->point->wild && (s->point->type->flags & both) == both;
}

static void hint_signed(struct sema *s, struct diag *d, const struct node *n)
{
	if (is_register(n))
		diag_hint(s->ds, d,
			  "%.*s is a whole register here: write (int32)%.*s for an int, "
			  "(int64)%.*s for a long",
			  STRF(n->name), STRF(n->name), STRF(n->name));
	else
		diag_hint(s->ds, d, "a cast to int%u makes it a signed number",
			  n->type->kind == T_PTR ? 64 : n->type->size * 8);
}

/* 64 bits are compared with negative numbers as signed ones: an int in them is never negative. */
static void tell_register(struct sema *s, const struct node *n, const struct node *x)
{
	struct diag *d = diag_add(s->ds, W_COMPARE, n->loc,
				  "this compares all 64 bits of a register, in which an int is "
				  "never negative");
	hint_signed(s, d, x);
}

static void tell_range(struct sema *s, const struct node *n, const struct node *x, bool always,
		       __int128 v)
{
	const struct type *t = x->type;
	u32 bits = t->size * 8;
	const char *what = always ? "true" : "false";
	if (v <= 0 && !t->is_signed) {
		hint_signed(s,
			    diag_add(s->ds, W_COMPARE, n->loc,
				     "this comparison is always %s: '%s' has no negative values",
				     what, type_namez(s->a, t)),
			    x);
		return;
	}
	i64 least = t->is_signed ? -(1ll << (bits - 1)) : 0;
	i64 most = (1ll << (t->is_signed ? bits - 1 : bits)) - 1;
	diag_add(s->ds, W_COMPARE, n->loc,
		 "this comparison is always %s: '%s' has values from %lld to %lld", what,
		 type_namez(s->a, t), least, most);
}

/* x op v, where v is a number in the script. */
static void tell_constant(struct sema *s, const struct node *n, enum token op, const struct node *x,
			  const struct node *lit)
{
	const struct type *t = x->type;
	bool sign = t->is_signed, typed = is_typed(lit) && lit->type->is_signed;
	__int128 v = typed ? (__int128)(i64)lit->num : lit_value(lit), one = 1;
	bool number = type_is_int(t) && !t->flex && t->size <= 8;
	if ((!number && t->kind != T_PTR) || is_lit(x) || is_one_of_many(s))
		return;
	if (t->size == 8 && v < 0 && is_register(x))
		tell_register(s, n, x);
	if (t->size == 8 ? sign || v : sign && v > INT64_MAX)
		return; /* compared in 64 bits, whose sign depends on both */
	u32 bits = t->size * 8;
	int always = result_of(op, v, sign ? -(one << (bits - 1)) : 0,
			       (one << (sign ? bits - 1 : bits)) - 1);
	if (always >= 0)
		tell_range(s, n, x, always, v);
}

static void tell_always(struct sema *s, enum token op, const struct node *n)
{
	if (!s->final || n->kind != N_BINARY)
		return;
	if (is_written(s, n->b))
		tell_constant(s, n, op, n->a, n->b);
	else if (is_written(s, n->a))
		tell_constant(s, n, turned(op), n->b, n->a);
}

bool check_compare(struct sema *s, enum token op, const struct node *n, const struct type *x,
		   const struct type *y)
{
	bool ok = floats(n, x, y) || comparable(s, op, x, y);
	if (!ok) {
		compare_mismatch(s, n, op, x, y);
		return false;
	}
	tell_distinct(s, n, x, y);
	tell_always(s, op, n);
	return true;
}
