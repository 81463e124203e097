/*
 * spellings.c - what is written otherwise, put into our words on the tree: scripts of other years, and the
 * inner names of bpftrace's library.
 *
 * Always: names that have another one today (builtin.today); delete(@a[1], @b[2]), which is one
 * delete() per map. At compatibility level 0.17 also: variables belong to the whole probe, however
 * deep they are set; delete(@a, @b) is about two maps.
 */
#include "source/rows.h"
#include "source/source.h"

struct old {
	struct compile *c;
	struct arena *a;
	bool compat;
	struct node *own; /* LETs of variables that the probe is to declare */
	struct tab declared;
};

/* ---- variables ---- */

static bool note_declared(struct node *n, void *arg)
{
	struct old *o = arg;
	if (n->kind == N_LET || n->kind == N_FOR)
		tab_set(&o->declared, n->name, n);
	return true;
}

static bool note_assigned(struct node *n, void *arg)
{
	struct old *o = arg;
	if (n->kind != N_ASSIGN || n->op != TK_ASSIGN || n->a->kind != N_VAR || n->a->mark ||
	    tab_get(&o->declared, n->a->name))
		return true;
	struct node *let = node_new(o->a, N_LET, n->a->loc);
	let->name = n->a->name;
	let->num = n->a->loc.pos;
	let->next = o->own;
	o->own = let;
	tab_set(&o->declared, let->name, let);
	return true;
}

/* A declaration in front for every variable that is set somewhere below and declared nowhere. */
static void declare_all(struct old *o, struct node *body)
{
	o->own = NULL;
	o->declared = (struct tab){0};
	node_walk(body, note_declared, o);
	for (struct node *n = body->a; n; n = n->next) /* these are the probe's already */
		if (n->kind == N_ASSIGN && n->op == TK_ASSIGN && n->a->kind == N_VAR)
			tab_set(&o->declared, n->a->name, n);
	node_walk(body, note_assigned, o);
	tab_free(&o->declared);
	struct node **tail = &o->own;
	while (*tail)
		tail = &(*tail)->next;
	*tail = body->a;
	body->a = o->own;
}

/* ---- calls ---- */

/* Is it a list of maps, rather than a map and a key? */
static bool deletes_several(const struct old *o, const struct node *call)
{
	u32 n = 0;
	bool keyed = false;
	if (call->kind != N_CALL || builtin_role(call) != ROLE_DELETE)
		return false;
	for (const struct node *a = call->a; a; a = a->next, n++) {
		if (a->kind != N_MAP)
			return false;
		keyed |= n == 0 && a->a;
	}
	return n > 2 || (n == 2 && (keyed || o->compat));
}

static void split_delete(struct old *o, struct node *n)
{
	struct node *block = node_new(o->a, N_BLOCK, n->loc), **tail = &block->a;
	diag_add(o->c->diags, W_DEPRECATED, n->loc,
		 "delete() of several maps is an old spelling: delete(@map, key); for each");
	for (struct node *arg = n->a->a, *next; arg; arg = next) {
		next = arg->next;
		arg->next = NULL;
		struct node *call = node_new(o->a, N_CALL, arg->loc);
		struct node *stmt = node_new(o->a, N_EXPR, arg->loc);
		call->name = n->a->name;
		call->a = arg;
		stmt->a = call;
		*tail = stmt;
		tail = &stmt->next;
	}
	block->next = n->next;
	*n = *block;
}

/* Arguments that only the row understands say nothing in any spelling. */
static bool is_word(struct old *o, const struct node *call, u32 i)
{
	const struct builtin *b = call->kind == N_CALL ? builtin_named(call->name) : NULL;
	const struct sig *g = b ? builtin_sig(o->c, b) : NULL;
	return g && i < g->nmax && g->kind[i] == SIG_NAME;
}

/* A variable's row is not about the call of a function. */
static void rename_old(struct old *o, struct node *n)
{
	const struct builtin *b = builtin_named(n->name);
	bool variable = b && !strchr(b->sig, '(');
	if (!b || !b->today || (variable && n->kind == N_CALL))
		return;
	diag_add(o->c->diags, W_DEPRECATED, n->loc, "%.*s is an old spelling of %s", STRF(n->name),
		 b->today);
	n->name = str_z(b->today);
}

/* bpftrace's library is made of __builtin_NAME: what NAME is, where no row has the whole name. */
static struct str inner_name(struct str name)
{
	struct str prefix = STR("__builtin_"), rest = str_from(name, MIN(name.n, prefix.n));
	bool inner = str_starts(name, prefix) && !builtin_named(name) && builtin_named(rest);
	return inner ? rest : name;
}

static bool see(struct node *n, void *arg)
{
	struct old *o = arg;
	if (n->kind == N_NAME || n->kind == N_CALL) {
		n->name = inner_name(n->name);
		rename_old(o, n);
	}
	if (n->kind == N_EXPR && deletes_several(o, n->a))
		split_delete(o, n);
	if (n->kind != N_CALL && n->kind != N_OFFSETOF)
		return true;
	u32 i = 0;
	for (struct node *k = n->a; k; k = k->next, i++)
		if (!is_word(o, n, i))
			node_walk(k, see, o);
	return false; /* of offsetof, the rest names members */
}

bool source_spellings(struct compile *c)
{
	struct old o = {.c = c, .a = c->arena, .compat = c->unit->config.compat};
	for (struct node *n = c->tree->a; n; n = n->next) {
		if (n->kind != N_PROBE && n->kind != N_FN)
			continue;
		if (n->kind == N_PROBE && n->b)
			node_walk(n->b, see, &o);
		node_walk(n->c, see, &o);
		if (o.compat && n->kind == N_PROBE)
			declare_all(&o, n->c);
	}
	return true;
}
