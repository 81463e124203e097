/* cexpr.c - integer constant expressions of C, by precedence climbing. */
#include "cparse/ctok.h"

enum { MAX_DEPTH = 100 };

bool cexpr_fail(struct cexpr *e, const struct ctok *at, const char *why)
{
	if (!e->why) {
		e->why = why;
		e->at = at;
	}
	return false;
}

struct cval cval_as(u64 v, u32 size, bool uns)
{
	u32 drop = size < 8 ? 64 - size * 8 : 0;
	v <<= drop;
	v = uns ? v >> drop : (u64)((i64)v >> drop);
	/* What is narrower than int becomes int. */
	return (struct cval){v, uns && size >= 4, size > 4};
}

static struct cval fit(u64 v, bool uns, bool wide)
{
	return cval_as(v, wide ? 8 : 4, uns);
}

/* C looks for the first of int, unsigned (not for decimals), long ... that holds the value. */
static bool literal(struct cexpr *e, struct cval *ret)
{
	bool uns, wide;
	u64 v;
	struct str text = e->t->text;
	if (!ctok_number(text, &v, &uns, &wide))
		return cexpr_fail(e, e->t, "this is not an integer");
	bool dec = text.s[0] != '0';
	if (!wide && v > INT32_MAX && !uns && !dec && v <= UINT32_MAX)
		uns = true;
	else if (v > (uns ? UINT32_MAX : INT32_MAX))
		wide = true;
	if (v > INT64_MAX)
		uns = true;
	*ret = (struct cval){v, uns, wide || e->wide};
	e->t = e->t->next;
	return true;
}

static bool paren(struct cexpr *e, struct cval *ret)
{
	e->t = e->t->next;
	if (!cexpr_eval(e, ret))
		return false;
	if (!ctok_is(e->t, ")"))
		return cexpr_fail(e, e->t, "expected ')'");
	e->t = e->t->next;
	return true;
}

static bool primary(struct cexpr *e, struct cval *ret)
{
	struct ctok *t = e->t;
	if (!t)
		return cexpr_fail(e, NULL, "expected a number");
	if (t->kind == CT_NUM)
		return literal(e, ret);
	if (t->kind == CT_CHAR) {
		*ret = (struct cval){0, false, e->wide};
		e->t = t->next;
		return ctok_char(t->text, &ret->v) || cexpr_fail(e, t, "expected one character");
	}
	if ((t->kind == CT_IDENT || ctok_is(t, "(")) && e->atom && e->atom(e, ret))
		return true;
	if (e->why)
		return false;
	if (ctok_is(t, "("))
		return paren(e, ret);
	return cexpr_fail(e, t, "this is not an integer constant");
}

static bool unary(struct cexpr *e, struct cval *ret)
{
	struct ctok *t = e->t;
	char op = t && t->kind == CT_PUNCT && t->text.n == 1 ? t->text.s[0] : '\0';
	if (op != '-' && op != '+' && op != '~' && op != '!')
		return primary(e, ret);
	e->t = t->next;
	if (!cexpr_unary(e, ret))
		return false;
	if (op == '-')
		*ret = fit(-ret->v, ret->uns, ret->wide);
	else if (op == '~')
		*ret = fit(~ret->v, ret->uns, ret->wide);
	else if (op == '!')
		*ret = (struct cval){!ret->v, false, e->wide};
	return true;
}

bool cexpr_unary(struct cexpr *e, struct cval *ret)
{
	if (e->depth >= MAX_DEPTH)
		return cexpr_fail(e, e->t, "nested too deeply");
	e->depth++;
	bool ok = unary(e, ret);
	e->depth--;
	return ok;
}

static const struct op {
	const char *text;
	u32 prec;
} ops[] = {
	{"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9},  {"<<", 8},
	{">>", 8}, {"<", 7},  {">", 7},  {"<=", 7}, {">=", 7}, {"==", 6},
	{"!=", 6}, {"&", 5},  {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1},
};

static const struct op *operator_at(const struct ctok *t)
{
	for (size_t i = 0; t && t->kind == CT_PUNCT && i < countof(ops); i++)
		if (str_is(t->text, ops[i].text))
			return &ops[i];
	return NULL;
}

static i32 compare(const char *op, struct cval x, struct cval y, bool uns)
{
	bool lt = uns ? x.v < y.v : (i64)x.v < (i64)y.v;
	switch (op[0]) {
	case '<': return op[1] == '=' ? lt || x.v == y.v : op[1] ? -1 : lt;
	case '>': return op[1] == '=' ? !lt : op[1] ? -1 : !lt && x.v != y.v;
	case '=': return x.v == y.v;
	case '!': return x.v != y.v;
	}
	return -1;
}

static bool divide(struct cexpr *e, const struct ctok *at, struct cval x, struct cval *y, bool mod)
{
	if (!y->v && e->dead) {
		y->v = 0;
		return true;
	}
	if (!y->v)
		return cexpr_fail(e, at, "division by zero");
	if (y->uns)
		y->v = mod ? x.v % y->v : x.v / y->v;
	else if ((i64)y->v == -1)
		y->v = mod ? 0 : -x.v;
	else
		y->v = (u64)(mod ? (i64)x.v % (i64)y->v : (i64)x.v / (i64)y->v);
	return true;
}

/* *x = *x op y */
static bool apply(struct cexpr *e, const struct ctok *at, const char *op, struct cval *x,
		  struct cval y)
{
	bool wide = x->wide || y.wide;
	bool uns = (x->uns && x->wide == wide) || (y.uns && y.wide == wide);
	bool shift = op[1] && op[0] == op[1] && (op[0] == '<' || op[0] == '>');
	if (shift) {
		u32 n = (u32)(y.v & 63);
		u64 v = op[0] == '<' ? x->v << n : x->uns ? x->v >> n : (u64)((i64)x->v >> n);
		*x = fit(v, x->uns, x->wide);
		return true;
	}
	struct cval a = fit(x->v, uns, wide), b = fit(y.v, uns, wide);
	i32 c = compare(op, a, b, uns);
	if (c >= 0) {
		*x = (struct cval){(u64)c, false, e->wide};
		return true;
	}
	u64 v = 0;
	switch (op[0]) {
	case '*': v = a.v * b.v; break;
	case '+': v = a.v + b.v; break;
	case '-': v = a.v - b.v; break;
	case '&': v = a.v & b.v; break;
	case '^': v = a.v ^ b.v; break;
	case '|': v = a.v | b.v; break;
	default:
		b.uns = uns;
		if (!divide(e, at, a, &b, op[0] == '%'))
			return false;
		v = b.v;
	}
	*x = fit(v, uns, wide);
	return true;
}

static bool binary(struct cexpr *e, u32 prec, struct cval *x)
{
	if (!cexpr_unary(e, x))
		return false;
	for (;;) {
		const struct ctok *at = e->t;
		const struct op *op = operator_at(at);
		struct cval y;
		if (!op || op->prec < prec)
			return true;
		bool logic = op->prec <= 2, skip = logic && (op->prec == 2 ? !x->v : x->v != 0);
		e->t = e->t->next;
		e->dead += skip;
		bool ok = binary(e, op->prec + 1, &y);
		e->dead -= skip;
		if (!ok)
			return false;
		if (logic)
			*x = (struct cval){skip ? op->prec == 1 : y.v != 0, false, e->wide};
		else if (!apply(e, at, op->text, x, y))
			return false;
	}
}

static bool choice(struct cexpr *e, struct cval *ret)
{
	struct cval yes, no;
	if (!binary(e, 1, ret))
		return false;
	if (!ctok_is(e->t, "?"))
		return true;
	bool pick = ret->v != 0;
	e->t = e->t->next;
	e->dead += !pick;
	bool ok = cexpr_eval(e, &yes);
	e->dead -= !pick;
	if (!ok)
		return false;
	if (!ctok_is(e->t, ":"))
		return cexpr_fail(e, e->t, "expected ':' of '?'");
	e->t = e->t->next;
	e->dead += pick;
	ok = cexpr_eval(e, &no);
	e->dead -= pick;
	bool wide = yes.wide || no.wide;
	if (ok)
		*ret = fit(pick ? yes.v : no.v,
			   (yes.uns && yes.wide == wide) || (no.uns && no.wide == wide), wide);
	return ok;
}

bool cexpr_eval(struct cexpr *e, struct cval *ret)
{
	if (e->depth >= MAX_DEPTH)
		return cexpr_fail(e, e->t, "nested too deeply");
	e->depth++;
	bool ok = choice(e, ret);
	e->depth--;
	return ok;
}
