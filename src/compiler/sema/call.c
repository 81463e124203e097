/* call.c - calls and builtin variables: the row that is meant, and whether its arguments fit. */
#include "base/alloc.h"
#include "sema/check.h"
#include "sema/deny.h"
#include "source/cdefs.h"
#include "source/cfile.h"
#include <stdarg.h>
#include <stdio.h>

static void literal(struct node *n, enum node_kind kind, const struct type *t)
{
	n->kind = kind;
	n->a = n->b = n->c = NULL;
	n->any = NULL;
	n->flags &= NF_PAREN;
	n->type = t;
}

void node_set_num(struct node *n, u64 v, const struct type *t)
{
	literal(n, t->kind == T_BOOL ? N_BOOL : N_NUM, t);
	n->num = v;
	if (t->is_signed && (i64)v < 0)
		n->flags |= NF_NEG;
}

void node_set_str(struct sema *s, struct node *n, struct str text)
{
	literal(n, N_STR, type_string(s->a, text.n + 1));
	n->name = text;
}

bool sema_fail(struct sema *s, enum diag_code code, struct loc loc, const char *fmt, ...)
{
	if (!s->final)
		return false;
	va_list ap;
	va_start(ap, fmt);
	diag_addv(s->ds, code, loc, fmt, ap);
	va_end(ap);
	return false;
}

u32 sema_string_id(struct sema *s, struct str text)
{
	struct unit *u = s->u;
	for (u32 i = 0; i < u->nstring; i++)
		if (str_is(text, u->strings[i]))
			return i;
	arena_push(s->a, u->strings, u->nstring, arena_strz(s->a, text));
	return u->nstring - 1;
}

struct map *sema_map(struct node *arg)
{
	assert(arg->kind == N_MAP);
	return arg->map;
}

bool sema_func_is_text(struct host *h, const struct point *p)
{
	u32 flags = point_flags(p);
	return (flags & PROBE_USER) && (flags & PROBE_RETVAL) && p->name.n &&
	       !host_has(h, abi_is_go(p->abi) ? FEAT_COOKIE : FEAT_UPROBE_MULTI);
}

/* ---- rows ---- */

static const char *probe_type_wanted(enum sig_kind k)
{
	switch (k) {
	case SIG_INT:
	case SIG_NUM: return "int";
	case SIG_STR: return "string";
	case SIG_PTR: return "pointer, int or string";
	case SIG_LIT: return "int literal";
	case SIG_TEXT:
	case SIG_FMT: return "string literal";
	case SIG_MAP: return "map";
	case SIG_ANY:
	case SIG_SHOW:
	case SIG_NAME:
	case SIG_TYPE: break;
	}
	return "value";
}

static bool probe_type_fits(enum sig_kind k, const struct node *arg)
{
	const struct type *t = arg->type;
	switch (k) {
	case SIG_INT:
		return type_is_int(t) || t->kind == T_BOOL || t->kind == T_PTR || t->kind == T_KSYM;
	case SIG_NUM: return type_is_int(t) || t->kind == T_BOOL;
	case SIG_STR: return t->kind == T_STRING || t->kind == T_PROBE;
	case SIG_PTR:
		return type_is_int(t) || t->kind == T_PTR || t->kind == T_ARRAY ||
		       t->kind == T_STRING || t->kind == T_PROBE;
	case SIG_SHOW: return t->kind != T_NONE && t->kind != T_FUNC && t->kind != T_FWD;
	case SIG_NAME:
	case SIG_ANY:
		return t->kind != T_NONE && t->kind != T_FLOAT && t->kind != T_FUNC &&
		       t->kind != T_FWD;
	case SIG_LIT: return arg->kind == N_NUM;
	case SIG_TEXT:
	case SIG_FMT: return arg->kind == N_STR;
	case SIG_MAP:
	case SIG_TYPE: return true;
	}
	return true;
}

/* str($1) is always the text, str($1 + 2) what is left of it behind two characters. */
static void param_text(struct sema *s, struct node *n)
{
	bool sum = n->kind == N_BINARY && n->op == TK_PLUS && n->b->kind == N_NUM;
	const struct node *p = sum ? n->a : n;
	u64 skip = sum ? n->b->num : 0;
	if (p->kind != N_PARAM)
		return;
	struct str text = STR("");
	if (p->num <= s->c->nparam)
		text = s->c->params[p->num - 1];
	else
		diag_add(s->ds, W_PARAM, p->loc,
			 "Positional parameter $%llu is empty or not provided.", p->num);
	if (skip && skip >= text.n)
		diag_add(s->ds, W_LENGTH, n->loc, "literal string will always be empty");
	node_set_str(s, n, str_from(text, (u32)MIN(skip, text.n)));
}

/* False: a type is not known yet or wrong. */
static bool check_arg(struct sema *s, struct node *call, enum sig_kind kind, struct node *arg)
{
	if (kind == SIG_MAP) {
		if (arg->kind != N_MAP || arg->a)
			return sema_fail(s, E_TYPE, arg->loc,
					 "%.*s() expects a map without a key here",
					 STRF(call->name));
		struct map *m = map_get(s, arg);
		arg->type = &type_none;
		if (mapuse(s->c, m)->assigned || !s->final)
			return true;
		map_unknown(s, m, arg->loc);
		return false;
	}
	bool names = arg->kind == N_NAME || (arg->kind == N_MEMBER && arg->a->kind == N_NAME);
	if (kind == SIG_TYPE || (kind == SIG_NAME && names)) {
		if (is_type_node(arg))
			arg->type = type_of_node(s, arg);
		return true;
	}
	if (kind == SIG_PTR)
		param_text(s, arg);
	s->show = kind == SIG_SHOW && arg->kind == N_MAP;
	bool text = arg->kind == N_STR && (kind == SIG_FMT || kind == SIG_TEXT); /* of any length */
	const struct type *t = text ? type_string(s->a, arg->name.n + 1) : check_expr(s, arg);
	arg->type = t;
	if (!t || type_is_error(t))
		return false;
	if (type_is_agg(t) && arg->kind != N_MAP)
		return sema_fail(s, E_AGG, arg->loc, "%.*s() must be assigned directly to a map",
				 STRF(arg->name));
	if (builtin_is_args(arg) && kind != SIG_TYPE && type_is_record(t))
		return sema_fail(s, E_TYPE, arg->loc, "this probe's args have no members");
	if (probe_type_fits(kind, arg))
		return true;
	if (s->final) {
		AUTO_SB got = {0};
		type_name(t, &got);
		bool lit = kind == SIG_LIT || kind == SIG_TEXT || kind == SIG_FMT;
		struct diag *d = NULL;
		if (kind == SIG_FMT || kind == SIG_TEXT)
			diag_add(s->ds, E_LITERAL, arg->loc,
				 "%.*s() expects a string literal (%s provided)", STRF(call->name),
				 got.s);
		else
			d = diag_add(s->ds, lit ? E_LITERAL : E_TYPE, arg->loc,
				     "%.*s() only supports %s arguments (%s provided)",
				     STRF(call->name), probe_type_wanted(kind), got.s);
		if (d && t->kind == T_FLOAT && (kind == SIG_INT || kind == SIG_NUM))
			diag_hint(s->ds, d, "%s",
				  "make it an integer: (int64)x without its fraction, scaled(x, "
				  "1000) in thousandths");
	}
	return false;
}

static bool check_row_args(struct sema *s, struct node *call, const struct builtin *b,
			   const struct sig *g)
{
	bool ok = true;
	u32 i = 0, added = call_nadded(call);
	struct map *map = NULL;
	for (struct node **at = &call->a; *at; at = &(*at)->next, added ? added-- : i++) {
		struct node *arg = *at;
		enum sig_kind kind = added                              ? SIG_ANY
				     : i < g->nmax                      ? g->kind[i]
				     : g->nmax && g->kind[0] == SIG_FMT ? SIG_SHOW
									: SIG_ANY;
		bool named = !added && i < g->nmax;
		bool key = map && named && str_is(g->arg[i], "key");
		if (!check_arg(s, call, kind, arg)) {
			ok = false;
			continue;
		}
		if (named && (kind == SIG_SHOW || kind == SIG_ANY || kind == SIG_INT))
			warn_address(s, arg);
		if (kind == SIG_MAP) {
			map = arg->map;
			mapuse(s->c, map)->touched |= !(b->flags & B_ASYNC);
			mapuse(s->c, map)->used_whole |= !(b->flags & (B_ASYNC | B_ELEMENT));
		} else if (key)
			map_use_key(s, map, arg, arg);
		else if (!(b->flags & B_ASYNC) && arg->type && arg->type->kind == T_PROBE)
			*at = as_text(s, arg);
	}
	return ok;
}

static void wrong_arity(struct sema *s, struct node *n, const struct sig *g)
{
	if (!s->final)
		return;
	u32 have = call_nargs(n) - call_nadded(n);
	if (g->nmax && g->kind[0] == SIG_MAP && have >= g->nmin && have <= g->nmax)
		diag_add(s->ds, E_TYPE, n->a->loc, "%.*s() expects a map argument", STRF(n->name));
	else if (!g->nmax && !g->dots)
		diag_add(s->ds, E_ARITY, n->loc, "%.*s() requires no arguments (%u provided)",
			 STRF(n->name), have);
	else if (g->nmin == g->nmax && !g->dots)
		diag_add(s->ds, E_ARITY, n->loc, "%.*s() requires %u argument%s (%u provided)",
			 STRF(n->name), g->nmin, g->nmin == 1 ? "" : "s", have);
	else if (have < g->nmin)
		diag_add(s->ds, E_ARITY, n->loc,
			 "%.*s() requires at least %u argument%s (%u provided)", STRF(n->name),
			 g->nmin, g->nmin == 1 ? "" : "s", have);
	else
		diag_add(s->ds, E_ARITY, n->loc, "%.*s() takes up to %u argument%s (%u provided)",
			 STRF(n->name), g->most, g->most == 1 ? "" : "s", have);
}

/* May a probe of the kind have one of the flags? */
static bool probe_type_may(const struct probe_type *k, u32 flags)
{
	for (const struct method *const *w = k->methods; *w; w++)
		if ((k->flags | (*w)->flags) & flags)
			return !(k->flags & (PROBE_SYNONYM | PROBE_RECORDED));
	return false;
}

/* A builtin in a probe of a kind that does not have it: says which kinds do. */
static bool wrong_place(struct sema *s, struct node *n, const struct builtin *b)
{
	const struct probe_type *here = s->v->points->type;
	AUTO_SB list = {0};
	struct diag *d = diag_add(s->ds, E_CONTEXT, n->loc,
				  "The %.*s builtin can not be used with %s probes", STRF(n->name),
				  here->name);
	for (u32 i = 0; probe_types[i]; i++)
		if (probe_type_may(probe_types[i], b->where))
			sb_fmt(&list, "%s%s", list.n ? ", " : "", probe_types[i]->name);
	if (b->role == ROLE_CONTEXT && s->point->args)
		diag_hint(s->ds, d, "the arguments of %s probes are fields of args", here->name);
	else
		diag_hint(s->ds, d, "these probes have it: %s", list.s);
	return false;
}

static bool check_gates(struct sema *s, struct node *n, const struct builtin *b)
{
	if (!s->final)
		return true;
	if (!deny_call(s->c, n, b))
		return false;
	if ((b->flags & B_UNSAFE) && !s->u->config.unsafe) {
		struct diag *d = diag_add(s->ds, E_UNSAFE, n->loc,
					  "%.*s() is an unsafe function being used in safe mode",
					  STRF(n->name));
		diag_hint(s->ds, d, "allow it with %s", "--unsafe");
		return false;
	}
	if (b->where && !(point_flags(s->v->points) & b->where))
		return wrong_place(s, n, b);
	if ((point_flags(s->v->points) & METHOD_PINNED) && (b->flags & B_ASYNC) &&
	    !(b->flags & B_SEQ))
		return sema_fail(
			s, E_CONTEXT, n->loc,
			"%.*s needs sonde, which has ended when a pinned iterator is read; "
			"printf writes to its reader",
			STRF(n->name));
	if (b->needs && !host_has(s->c->host, b->needs))
		return sema_fail(s, E_FEATURE, n->loc, "%.*s needs %s, %s", STRF(n->name),
				 feature_what(b->needs), feature_lacks(s->c->host, b->needs));
	return true;
}

static const struct type *check_row(struct sema *s, struct node *n, const struct builtin *b)
{
	const struct sig *g = builtin_sig(s->c, b);
	n->fn = b;
	for (struct node *arg = n->kind == N_CALL && (b->flags & B_SETS) ? n->a : NULL; arg;
	     arg = arg->next)
		if (!arg->next)
			var_mark_set(s, arg);
	if (n->kind == N_CALL && !check_row_args(s, n, b, g))
		return s->final ? &type_error : NULL;
	if (!check_gates(s, n, b))
		return &type_error;
	const struct type *t = b->type ? b->type(s, n) : g->type;
	if (s->final && t && b->check && n->fn == b && (n->kind == N_CALL || n->kind == N_NAME) &&
	    !b->check(s, n))
		return &type_error;
	if (s->final && !t)
		return &type_error;
	return n->kind == N_CALL || n->kind == N_NAME ? t : n->type;
}

const struct type *check_call(struct sema *s, struct node *n)
{
	bool arity = false;
	if (fn_exists(s->c, n->name))
		return check_fncall(s, n);
	if (cfn_find(s->c, n->name))
		return check_ccall(s, n);
	const struct builtin *b = builtin_pick(s->c, n->name, n, &arity);
	if (!b) {
		for (struct node *arg = n->a; arg; arg = arg->next)
			check_expr(s, arg);
		if (s->final) {
			struct diag *d = diag_add(s->ds, E_UNKNOWN_FUNC, n->loc,
						  "Unknown function: '%.*s'", STRF(n->name));
			struct str near = builtin_near(n->name);
			const struct cfn *c = cfn_find_static(s->c, n->name);
			if (c)
				diag_hint(s->ds, d,
					  "in %s it is static, so clang may have adapted it to its "
					  "callers there; take `static` away",
					  c->file->path);
			else if (near.n)
				diag_hint(s->ds, d, "did you mean '%.*s'?", STRF(near));
		}
		return s->final ? &type_error : NULL;
	}
	if (!arity) {
		wrong_arity(s, n, builtin_sig(s->c, b));
		return s->final ? &type_error : NULL;
	}
	return check_row(s, n, b);
}

bool known_enumerator(struct sema *s, struct str name, i64 *val, const struct type **t)
{
	struct types *k = host_btf(s->c->host);
	const struct cdefs *cd = s->c->cdefs;
	*t = NULL;
	return cdefs_enumerator(cd, name, false, val, t) ||
	       (k && btf_types_enumerator(k, name, val, t)) ||
	       cdefs_enumerator(cd, name, true, val, t) || known_constant(s->c->host, name, val);
}

const struct type *check_name(struct sema *s, struct node *n)
{
	const struct type *t = NULL;
	bool arity = false;
	const struct builtin *b = builtin_pick(s->c, n->name, n, &arity);
	if (b && arity)
		return check_row(s, n, b);
	if (b) {
		wrong_arity(s, n, builtin_sig(s->c, b));
		return s->final ? &type_error : NULL;
	}
	i64 val;
	if (known_enumerator(s, n->name, &val, &t)) {
		node_set_num(n, (u64)val, t ? t : literal_type((u64)val, val < 0));
		return n->type;
	}
	if (s->final) {
		struct diag *d = diag_add(s->ds, E_UNKNOWN_NAME, n->loc,
					  "Unknown identifier: '%.*s'", STRF(n->name));
		struct str near = builtin_near(n->name);
		if (near.n)
			diag_hint(s->ds, d, "did you mean '%.*s'?", STRF(near));
	}
	return s->final ? &type_error : NULL;
}
