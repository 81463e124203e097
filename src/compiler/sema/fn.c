/*
 * fn.c - the script's own functions.
 *
 * Every probe body that calls a function gets an instance of it: a clone that is typed with that
 * body, so that builtins of the probe work inside, too. Parameters and result have the declared
 * types. lower/fn.c makes each instance a BPF subprogram.
 */
#include "declare/recorded.h"
#include "sema/check.h"
#include "source/cfile.h"

static struct node *find_fn(const struct compile *c, struct str name)
{
	for (struct node *n = c->tree->a; n; n = n->next)
		if (n->kind == N_FN && str_eq(n->name, name))
			return n;
	return NULL;
}

bool fn_exists(const struct compile *c, struct str name)
{
	return find_fn(c, name) != NULL;
}

/* A type as a function may take or give it; NULL: not known yet. */
static const struct type *declared(struct sema *s, struct node *n)
{
	const struct type *t = type_of_node(s, n);
	if (!t)
		return NULL;
	if (t->kind == T_STRING && !t->size)
		t = type_string(s->a, (u32)s->u->config.max_strlen + 1);
	return t->kind == T_PTR ? stored_type(s, t) : t;
}

static struct fninst *instance(struct sema *s, struct node *def)
{
	for (struct fninst *i = s->v->fns; i; i = i->next)
		if (i->def == def)
			return i;
	struct fninst *i = arena_new(s->a, struct fninst);
	*i = (struct fninst){.def = def, .fn = node_clone(s->a, def), .next = s->v->fns};
	s->v->fns = i;
	s->changed = true;
	if (s->v->points->type->flags & PROBE_RECORDED)
		recorded_spell(s->c, s->v->points, i->fn->c);
	return i;
}

static void grow(struct sema *s, const struct type **at, const struct type *t)
{
	if (t && !same_type(t, *at)) {
		s->changed = true;
		*at = t;
	}
}

/* Type the body once a round, in a scope that holds the parameters only. */
static void check_instance(struct sema *s, struct fninst *i)
{
	struct var *scope = s->scope;
	struct fninst *fn = s->fn;
	u32 loop = s->loop, body = s->body;
	if (i->round == s->round)
		return;
	i->round = s->round;
	i->checking = true;
	s->scope = NULL;
	s->loop = s->body = 0;
	s->fn = i;
	i->nparam = 0;
	for (struct node *p = i->fn->a; p; p = p->next) {
		struct var *v = var_declare(s, p, p->loc);
		grow(s, &v->type, p->a ? declared(s, p->a) : NULL);
		v->fixed |= v->type != NULL;
		var_spoil(s, v);
		v->param = true;
		v->set = s->round;
		v->captured |= i->nparam >= FN_REG_PARAMS; /* in memory, as what loop bodies use */
		if (i->nparam < MAX_FN_PARAMS)
			i->param[i->nparam++] = v;
		else
			sema_fail(s, E_LIMIT, p->loc, "a function takes up to %d parameters",
				  MAX_FN_PARAMS);
	}
	grow(s, &i->ret, declared(s, i->fn->b));
	check_block(s, i->fn->c);
	i->checking = false;
	s->scope = scope;
	s->loop = loop;
	s->body = body;
	s->fn = fn;
}

static bool fits(const struct type *want, const struct type *t)
{
	if (type_is_int(want) || want->kind == T_BOOL)
		return type_is_int(t) || t->kind == T_BOOL;
	if (want->kind == T_PTR)
		return t->kind == T_PTR || type_is_int(t);
	if (want->kind == T_STRING)
		return (t->kind == T_STRING && t->size <= want->size) || t->kind == T_PROBE;
	return type_eq(want, t);
}

static bool check_fit(struct sema *s, struct loc loc, const char *what, const struct type *want,
		      const struct type *t)
{
	if (!want || type_is_error(want) || type_is_error(t) || fits(want, t))
		return true;
	AUTO_SB a = {0};
	AUTO_SB b = {0};
	type_name(want, &a);
	type_name(t, &b);
	return sema_fail(s, E_TYPE, loc, "%s is declared as '%s', found '%s'", what, a.s, b.s);
}

void fn_check_return(struct sema *s, struct node *n)
{
	const struct type *t = n->a ? check_expr(s, n->a) : &type_none, *want = s->fn->ret;
	if (!t || !want)
		return;
	if (!n->a && want->kind != T_NONE)
		sema_fail(s, E_TYPE, n->loc, "The function's result is missing");
	else if (n->a && want->kind == T_NONE)
		sema_fail(s, E_TYPE, n->loc, "The function is declared without a result");
	else if (n->a)
		check_fit(s, n->loc, "The function's result", want, t);
}

/* A call of a script's function; n may still be a CALL. */
const struct type *check_fncall(struct sema *s, struct node *n)
{
	struct fninst *i = n->kind == N_FNCALL ? n->any : instance(s, find_fn(s->c, n->name));
	n->kind = N_FNCALL;
	n->any = i;
	u32 k = 0, want = node_count(i->fn->a), have = node_count(n->a);
	bool known = true;
	for (struct node *a = n->a; a; a = a->next)
		known &= check_expr(s, a) != NULL;
	if (i->checking) {
		sema_fail(s, E_UNSUPPORTED, n->loc,
			  "%.*s() calls itself, which BPF programs cannot do", STRF(n->name));
		return s->final ? &type_error : NULL;
	}
	check_instance(s, i);
	if (have != want) {
		sema_fail(s, E_ARITY, n->loc, "%.*s() requires %u argument%s (%u provided)",
			  STRF(n->name), want, want == 1 ? "" : "s", have);
		return s->final ? &type_error : NULL;
	}
	for (struct node *a = n->a; a && known && k < i->nparam; a = a->next, k++)
		check_fit(s, a->loc,
			  arena_fmt(s->a, "Parameter $%.*s of %.*s()", STRF(i->param[k]->name),
				    STRF(n->name)),
			  i->param[k]->type, a->type);
	return i->ret;
}

/* ---- functions in C ---- */

/* A struct that the C file only declares is the kernel's. */
static const struct type *c_type(struct sema *s, const struct type *t)
{
	struct types *k = host_btf(s->c->host);
	if (t->kind != T_PTR || t->base->kind != T_FWD || !k)
		return t;
	const struct type *known =
		btf_types_find(k, t->base->name, t->base->count ? T_UNION : T_STRUCT);
	return known ? type_ptr(s->a, known, t->space) : t;
}

static bool passes(const struct type *t)
{
	return type_is_int(t) || t->kind == T_BOOL || t->kind == T_PTR;
}

/* Text goes where C wants a pointer to bytes. */
static bool is_text_for(const struct type *want, const struct type *t)
{
	return want->kind == T_PTR && t->kind == T_STRING &&
	       (want->base->kind == T_NONE || want->base->size == 1);
}

static const struct type *no_call(struct sema *s, const struct node *n, const char *what,
				  const struct type *t)
{
	AUTO_SB name = {0};
	type_name(t, &name);
	sema_fail(s, E_TYPE, n->loc, "%.*s() cannot be called from a script: %s has the type '%s'",
		  STRF(n->name), what, name.s);
	return s->final ? &type_error : NULL;
}

const struct type *check_ccall(struct sema *s, struct node *n)
{
	const struct cfn *c = n->kind == N_CCALL ? n->any : cfn_find(s->c, n->name);
	const struct type *ret = c->of->type->base;
	u32 want, have = node_count(n->a), k = 0;
	const struct field *param = type_fields(c->of->type, &want);
	bool known = true;
	n->kind = N_CCALL;
	n->any = (void *)c;
	for (struct node *a = n->a; a; a = a->next)
		known &= check_expr(s, a) != NULL;
	if (have != want) {
		sema_fail(s, E_ARITY, n->loc, "%.*s() requires %u argument%s (%u provided)",
			  STRF(n->name), want, want == 1 ? "" : "s", have);
		return s->final ? &type_error : NULL;
	}
	if (want > OBJECT_MAX_ARGS) {
		sema_fail(s, E_LIMIT, n->loc, "%.*s() takes more than %d arguments", STRF(n->name),
			  OBJECT_MAX_ARGS);
		return s->final ? &type_error : NULL;
	}
	if (!passes(ret) && ret->kind != T_NONE)
		return no_call(s, n, "its result", ret);
	for (struct node *a = n->a; a && known; a = a->next, k++) {
		const struct type *t = param[k].type;
		const char *what = arena_fmt(s->a, "parameter %.*s", STRF(param[k].name));
		if (!passes(t))
			return no_call(s, n, what, t);
		if (!is_text_for(t, a->type))
			check_fit(s, a->loc,
				  arena_fmt(s->a, "Parameter %.*s of %.*s()", STRF(param[k].name),
					    STRF(n->name)),
				  t, a->type);
	}
	return ret->kind == T_NONE ? &type_none : stored_type(s, c_type(s, ret));
}
