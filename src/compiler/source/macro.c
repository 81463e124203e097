/*
 * macro.c - macros of the language, expanded on the tree before anything has a type.
 *
 * A use becomes a copy of the macro's block, or of the expression in it when that is all. In the
 * copy, parameters are replaced by the arguments, and variables that the macro declares carry the
 * number of the expansion, which keeps them apart from all others. The places of what the macro
 * itself says lie in a source of their own per expansion (diags_add_expansion), so that every
 * report about it, now or later, ends with where it came from. Arguments keep their places.
 */
#include "kern/host.h"
#include "source/cdefs.h"
#include "source/rows.h"
#include "source/source.h"
#include "source/typename.h"

enum {
	MAX_CHAIN = 64,      /* macros in macros */
	MAX_NODES = 1 << 20, /* that expansions make */
	MAX_HEIGHT = 4000,   /* of a tree, which passes walk by recursion */
	MAX_EXPANSIONS = MAX_SOURCES / 2,
};

struct macro {
	struct node *def;
	VEC(struct str) own; /* variables that its body declares */
	u32 narg;
	struct macro *next; /* the same name, in order of definition */
	bool bad;           /* reported */
};

/* Macros that are being expanded, innermost first. */
struct chain {
	struct str name;
	const struct macro *m;
	const struct chain *outer;
	u32 depth;
};

struct macros {
	struct compile *c;
	struct arena *a;
	struct diags *ds;
	struct tab names;
	const struct chain *chain;
	u32 nexpansion, nnode;
	bool full; /* a limit was reached and reported */
};

/* One copy being made. */
struct use {
	struct macros *x;
	const struct macro *m;
	struct node *call;
	u32 mark;
	u16 src;
	bool bad;
};

/* ---- definitions ---- */

static struct node *param_at(const struct macro *m, const struct node *n, struct node *call,
			     struct node **arg)
{
	struct node *a = call && call->kind == N_CALL ? call->a : NULL;
	for (struct node *p = m->def->a; p; p = p->next, a = a ? a->next : NULL)
		if (p->kind == n->kind && str_eq(p->name, n->name)) {
			if (arg)
				*arg = a;
			return p;
		}
	return NULL;
}

static void add_own(struct macro *m, struct str name)
{
	struct node var = {.kind = N_VAR, .name = name};
	if (param_at(m, &var, NULL, NULL))
		return;
	for (u32 i = 0; i < m->own.n; i++)
		if (str_eq(m->own.v[i], name))
			return;
	vec_add(&m->own, name);
}

static bool note_own(struct node *n, void *arg)
{
	if (n->kind == N_LET || n->kind == N_FOR)
		add_own(arg, n->name);
	else if (n->kind == N_ASSIGN && n->op == TK_ASSIGN && n->a->kind == N_VAR)
		add_own(arg, n->a->name);
	return true;
}

static bool is_own(const struct macro *m, struct str name)
{
	for (u32 i = 0; i < m->own.n; i++)
		if (str_eq(m->own.v[i], name))
			return true;
	return false;
}

static void no_jump(struct macros *x, const struct node *n, const char *what)
{
	diag_add(x->ds, E_CONTROL, n->loc, "'%s' statement is not allowed in a macro", what);
}

struct jumps {
	struct macros *x;
	bool loop;
};

static bool note_jump(struct node *n, void *arg)
{
	struct jumps *j = arg;
	if (n->kind == N_FOR || n->kind == N_WHILE) {
		struct jumps in = {j->x, true};
		node_walk(n->b, note_jump, &in);
		return false;
	}
	if (n->kind == N_RETURN)
		no_jump(j->x, n, "return");
	else if (n->kind == N_BREAK && !j->loop)
		no_jump(j->x, n, "break");
	else if (n->kind == N_CONTINUE && !j->loop)
		no_jump(j->x, n, "continue");
	return true;
}

/* Would every use that the later one takes go to the earlier one? */
static bool hides(const struct macro *first, const struct macro *later)
{
	const struct node *p = first->def->a, *q = later->def->a;
	for (; p && q; p = p->next, q = q->next)
		if (p->kind != N_NAME && p->kind != q->kind)
			return false;
	return !p && !q;
}

static void check_params(struct macros *x, struct macro *m)
{
	for (struct node *p = m->def->a; p; p = p->next) {
		if (p->kind == N_NAME && builtin_is_own(p->name)) {
			diag_add(x->ds, E_SYNTAX, p->loc,
				 "builtin '%.*s' can't be used as a macro argument", STRF(p->name));
			m->bad = true;
		}
		for (struct node *q = m->def->a; q != p; q = q->next)
			if (q->kind == p->kind && str_eq(q->name, p->name))
				diag_note(x->ds,
					  diag_add(x->ds, E_SHADOW, p->loc,
						   "Two parameters of the macro have the name %.*s",
						   STRF(p->name)),
					  q->loc, "This is the first one.");
	}
}

/* "macro NAME", for messages. */
static struct loc head_of(const struct node *def)
{
	struct loc l = def->loc;
	u32 end = (u32)(def->name.s ? def->name.n + 6 : 0);
	l.len = (u16)MIN(end, 0xffffu);
	return l;
}

static void define(struct macros *x, struct node *def)
{
	struct macro *m = arena_new(x->a, struct macro);
	m->def = def;
	m->narg = node_count(def->a);
	check_params(x, m);
	node_walk(def->b, note_own, m);
	struct jumps j = {x, false};
	node_walk(def->b, note_jump, &j);
	struct macro *first = tab_get(&x->names, def->name), *last = NULL;
	for (struct macro *o = first; o; o = o->next) {
		last = o;
		if (!hides(o, m))
			continue;
		struct diag *d = diag_add(x->ds, E_SHADOW, head_of(def),
					  "Redefinition of macro: %.*s", STRF(def->name));
		diag_note(x->ds, d, head_of(o->def), "This is the original definition.");
		break;
	}
	if (last)
		last->next = m;
	else
		tab_set(&x->names, def->name, m);
}

/* ---- which macro a use means ---- */

static const char *arg_kind(const struct node *n)
{
	return n->kind == N_VAR            ? "a variable"
	       : n->kind == N_MAP && !n->a ? "a map"
	       : is_type_node(n)           ? "a type"
					   : "an expression";
}

static bool arg_fits(const struct node *param, const struct node *arg)
{
	switch ((int)param->kind) { /* the parser makes no others */
	case N_VAR: return arg->kind == N_VAR;
	case N_MAP: return arg->kind == N_MAP && !arg->a;
	}
	return true;
}

static const struct node *misfit(const struct macro *m, const struct node *call,
				 const struct node **param)
{
	const struct node *arg = call->kind == N_CALL ? call->a : NULL;
	for (*param = m->def->a; *param && arg; *param = (*param)->next, arg = arg->next)
		if (!arg_fits(*param, arg))
			return arg;
	return NULL;
}

static const struct macro *pick(struct macros *x, const struct node *call)
{
	const struct node *param;
	u32 n = call_nargs(call);
	for (const struct macro *m = tab_get(&x->names, call->name); m; m = m->next)
		if (m->narg == n && !misfit(m, call, &param))
			return m;
	return NULL;
}

static void no_match(struct macros *x, const struct node *call)
{
	u32 n = call_nargs(call);
	const struct macro *m = tab_get(&x->names, call->name), *near = m;
	for (; m; m = m->next)
		if (m->narg == n) {
			near = m;
			break;
		}
	struct diag *d = diag_add(x->ds, near->narg == n ? E_TYPE : E_ARITY, call->loc,
				  "Call to %.*s() has arguments that do not match any definition.",
				  STRF(call->name));
	if (near->narg != n) {
		diag_note(x->ds, d, head_of(near->def),
			  "The closest definition of %.*s() has a different number of arguments. "
			  "Expected: %u but got %u",
			  STRF(call->name), near->narg, n);
		return;
	}
	const struct node *param, *arg = misfit(near, call, &param);
	assert(arg);
	diag_note(x->ds, d, arg->loc, "%.*s() expects %s for %s%.*s but got %s.", STRF(call->name),
		  arg_kind(param), param->kind == N_VAR ? "$" : "@", STRF(param->name),
		  arg_kind(arg));
	diag_note(x->ds, d, param->loc, "This is the argument in the closest definition.");
}

static bool has_row(struct macros *x, const struct node *call)
{
	bool arity = false;
	return builtin_pick(x->c, call->name, call, &arity) && arity;
}

/* ---- copying ---- */

static u32 height(const struct node *n, u32 *count)
{
	u32 most = 0;
	const struct node *kids[] = {n->a, n->b, n->c};
	++*count;
	for (u32 i = 0; i < 3; i++)
		for (const struct node *k = kids[i]; k; k = k->next) {
			u32 h = height(k, count);
			most = MAX(most, h);
		}
	return most + 1;
}

static bool too_much(struct macros *x, struct loc loc, const char *what)
{
	if (!x->full)
		diag_add(x->ds, E_LIMIT, loc, "macros expand to too much (%s)", what);
	x->full = true;
	return true;
}

static void put(struct node *n, const struct node *made)
{
	struct node *next = n->next;
	*n = *made;
	n->next = next;
}

/* A copy of the argument in place of the parameter that n names. */
static void put_arg(struct use *u, struct node *n, const struct node *arg)
{
	u16 paren = n->flags & NF_PAREN;
	u32 count = 0;
	height(arg, &count);
	u->x->nnode += count;
	if (u->x->nnode > MAX_NODES) {
		u->bad = too_much(u->x, u->call->loc, "argument in argument");
		return;
	}
	put(n, node_clone(u->x->a, arg));
	n->flags |= paren;
}

/* A type of the language, or one that has a definition in the script, the kernel or a module. */
static bool is_type_name(const struct compile *c, struct str name)
{
	struct types *k = host_btf(c->host);
	return own_type(c->arena, name) || cdefs_type(c->cdefs, name, 0, false) ||
	       cdefs_type(c->cdefs, name, 0, true) || (k && btf_types_find(k, name, T_NONE)) ||
	       host_module_type(c->host, name, T_NONE);
}

/* A name that can only be a type's: where an expression may stand too, a bare name is either. */
static bool names_type(struct use *u, const struct node *arg)
{
	return arg->kind == N_NAME && is_type_name(u->x->c, arg->name) &&
	       !(builtin_is_own(arg->name) || has_row(u->x, arg));
}

/* n stands where a type must (strict) or may stand. True: it was a parameter. */
static bool type_param(struct use *u, struct node *n, bool strict)
{
	struct node key = {.kind = N_NAME, .name = n->name}, *arg = NULL;
	if (n->kind != N_TYPE || n->a || (n->flags & (NF_STRUCT | NF_UNION | NF_ENUM)) ||
	    !param_at(u->m, &key, u->call, &arg))
		return false;
	assert(arg);
	if (arg->kind == N_NAME && (strict || names_type(u, arg))) {
		n->name = arg->name;
		n->loc = arg->loc;
		return true;
	}
	if (strict && !is_type_node(arg)) {
		struct diag *d = diag_add(u->x->ds, E_TYPE, arg->loc,
					  "%.*s() needs a type for %.*s, and this is none",
					  STRF(u->m->def->name), STRF(n->name));
		diag_note(u->x->ds, d, n->loc, "It stands here as one.");
		u->bad = true;
		return true;
	}
	put_arg(u, n, arg);
	return true;
}

static void map_in_body(struct use *u, struct node *n)
{
	struct node *arg = NULL;
	if (param_at(u->m, n, u->call, &arg)) {
		n->name = arg->name;
		return;
	}
	diag_add(u->x->ds, E_CONTEXT, n->loc,
		 "Unhygienic access to map: @%.*s. Maps must be passed into the macro as "
		 "arguments.",
		 STRF(n->name));
	u->bad = true;
}

static void var_in_body(struct use *u, struct node *n)
{
	struct node key = {.kind = N_VAR, .name = n->name}, *arg = NULL;
	if (param_at(u->m, &key, u->call, &arg)) {
		n->name = arg->name;
		n->mark = arg->mark;
	} else if (is_own(u->m, n->name)) {
		n->mark = u->mark;
	}
}

static bool instantiate(struct node *n, void *p)
{
	struct use *u = p;
	struct node *arg = NULL;
	n->loc.src = u->src;
	switch ((int)n->kind) { /* the rest stays as it is */
	case N_VAR:
	case N_LET:
	case N_FOR: var_in_body(u, n); break;
	case N_MAP: map_in_body(u, n); break;
	case N_NAME:
		if (!param_at(u->m, n, u->call, &arg))
			break;
		put_arg(u, n, arg);
		return false;
	}
	switch ((int)n->kind) { /* types below */
	case N_LET:
		if (!n->a || !type_param(u, n->a, true))
			break;
		if (n->b)
			node_walk(n->b, instantiate, u);
		return false;
	case N_CAST:
		if (!type_param(u, n->a, true))
			break;
		node_walk(n->b, instantiate, u);
		return false;
	case N_TPTR:
	case N_TARRAY: return !type_param(u, n->a, true);
	case N_TYPE:
	case N_SIZEOF:
	case N_TYPEINFO: return n->a && !type_param(u, n->a, false);
	case N_OFFSETOF: /* the path is no expression */
		if (!type_param(u, n->a, false))
			node_walk(n->a, instantiate, u);
		for (struct node *f = n->b; f; f = f->next)
			f->loc.src = u->src;
		return false;
	}
	return true;
}

/* ---- uses ---- */

static bool see(struct node *n, void *arg);

static void recursive(struct macros *x, const struct node *call)
{
	AUTO_SB b = {0};
	const struct chain *up[MAX_CHAIN + 1];
	u32 n = 0;
	for (const struct chain *c = x->chain; c; c = c->outer)
		up[n++] = c;
	while (n--)
		sb_fmt(&b, "%.*s > ", STRF(up[n]->name));
	sb_add(&b, call->name);
	diag_add(x->ds, E_LIMIT, call->loc, "Recursive macro call detected. Call chain: %s", b.s);
}

/* May it be expanded here? */
static bool allowed(struct macros *x, const struct macro *m, const struct node *call)
{
	for (const struct chain *c = x->chain; c; c = c->outer)
		if (c->m == m) {
			recursive(x, call);
			return false;
		}
	if (x->chain && x->chain->depth >= MAX_CHAIN)
		return !too_much(x, call->loc, "macro in macro in macro");
	if (++x->nexpansion > MAX_EXPANSIONS)
		return !too_much(x, call->loc, "expansions");
	return !m->bad && !x->full;
}

/* What could not be expanded was reported; a number stands for it. */
static void give_up(struct node *n)
{
	struct node num = {.kind = N_NUM, .loc = n->loc, .type = &type_error};
	put(n, &num);
}

/* What a block is for: itself, or the expression that is all it holds. */
static struct node *essence(struct node *body, struct loc use)
{
	struct node *only = (body->flags & NF_VALUE) && !body->a->next ? body->a : NULL;
	if (only && only->kind == N_EXPR)
		only = only->a;
	/* A name is its value then, and can no longer be assigned or named. */
	if (only && only->kind != N_VAR && (only->kind != N_MAP || only->a))
		return only;
	body->loc = use;
	return body;
}

static void expand(struct macros *x, const struct macro *m, struct node *n)
{
	for (struct node *arg = n->kind == N_CALL ? n->a : NULL; arg; arg = arg->next)
		node_walk(arg, see, x);
	if (!allowed(x, m, n)) {
		give_up(n);
		return;
	}
	struct use u = {.x = x, .m = m, .call = n, .mark = x->nexpansion};
	u.src = diags_add_expansion(x->ds, m->def->loc, n->loc);
	struct node *body = node_clone(x->a, m->def->b);
	u32 count = 0;
	height(body, &count);
	x->nnode += count;
	node_walk(body, instantiate, &u);
	count = 0;
	if (!u.bad && height(body, &count) > MAX_HEIGHT)
		u.bad = too_much(x, n->loc, "nested too deeply");
	if (x->nnode > MAX_NODES)
		u.bad = too_much(x, n->loc, "statements");
	if (u.bad) {
		give_up(n);
		return;
	}
	struct chain link = {n->name, m, x->chain, x->chain ? x->chain->depth + 1 : 1};
	x->chain = &link;
	node_walk(body, see, x);
	x->chain = link.outer;
	put(n, essence(body, n->loc));
	n->flags |= NF_PAREN; /* one operand, whatever it is */
}

static bool see(struct node *n, void *arg)
{
	struct macros *x = arg;
	if (x->full)
		return false;
	if (n->kind == N_OFFSETOF) {
		node_walk(n->a, see, x);
		return false;
	}
	if ((n->kind != N_NAME && n->kind != N_CALL) || !tab_get(&x->names, n->name) ||
	    (n->kind == N_NAME && builtin_is_own(n->name)))
		return true;
	const struct macro *m = pick(x, n);
	if (m) {
		expand(x, m, n);
		return false;
	}
	if (!has_row(x, n)) {
		no_match(x, n);
		give_up(n);
	}
	return true;
}

/* A macro without a value is a statement, not an expression. */
static bool flatten(struct node *n, void *arg)
{
	(void)arg;
	if (n->kind == N_EXPR && n->a->kind == N_BLOCK && !(n->a->flags & NF_VALUE) &&
	    !(n->flags & NF_VALUE)) {
		put(n, n->a);
		n->flags &= ~NF_PAREN;
	}
	return true;
}

bool source_macros(struct compile *c)
{
	struct macros x = {.c = c, .a = c->arena, .ds = c->diags};
	u32 nerror = c->diags->nerror;
	for (struct node *n = c->tree->a; n; n = n->next)
		if (n->kind == N_MACRO)
			define(&x, n);
	for (struct node *n = x.names.n ? c->tree->a : NULL; n; n = n->next) {
		if (n->kind != N_PROBE && n->kind != N_FN)
			continue;
		if (n->b && n->kind == N_PROBE)
			node_walk(n->b, see, &x);
		node_walk(n->c, see, &x);
		node_walk(n->c, flatten, &x);
	}
	for (u32 i = 0; i < x.names.n; i++)
		for (struct macro *m = x.names.v[i].val; m; m = m->next)
			vec_free(&m->own);
	tab_free(&x.names);
	return c->diags->nerror == nerror;
}
