/*
 * old.c - what scripts of other years mean, put into today's words on the tree.
 *
 * Always: delete(@a[1], @b[2]), which is one delete() per map; name and stack, now probe and
 * kstack. At compatibility level 0.17 also: variables belong to the whole probe, however deep they
 * are set; sarg0 and its kin; delete(@a, @b) is about two maps.
 */
#include "sema/sema.h"

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
	if (call->kind != N_CALL || !str_is(call->name, "delete"))
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
	diag_add(o->c->unit->diags, W_DEPRECATED, n->loc,
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

/* sargN: the word on the stack behind the return address and N others. */
static void stack_argument(struct old *o, struct node *n, u64 k)
{
	struct node *reg = node_new(o->a, N_CALL, n->loc), *sp = node_new(o->a, N_STR, n->loc);
	struct node *sum = node_new(o->a, N_BINARY, n->loc);
	struct node *off = node_new(o->a, N_NUM, n->loc);
	struct node *type = node_new(o->a, N_TYPE, n->loc);
	struct node *ptr = node_new(o->a, N_TPTR, n->loc);
	struct node *cast = node_new(o->a, N_CAST, n->loc);
	reg->name = STR("reg");
	reg->a = sp;
	sp->name = STR("sp");
	off->num = (k + 1) * 8;
	sum->op = TK_PLUS;
	sum->a = reg;
	sum->b = off;
	type->name = STR("uint64");
	ptr->a = type;
	cast->a = ptr;
	cast->b = sum;
	n->kind = N_UNARY;
	n->op = TK_STAR;
	n->a = cast;
	n->name = (struct str){0};
}

static void rename_old(struct old *o, struct node *n)
{
	static const char *const names[][2] = {{"name", "probe"}, {"stack", "kstack"}};
	if (n->kind != N_NAME && n->kind != N_CALL)
		return;
	for (size_t i = 0; i < countof(names); i++) {
		if (!str_is(n->name, names[i][0]) || (!i && n->kind == N_CALL))
			continue;
		diag_add(o->c->unit->diags, W_DEPRECATED, n->loc, "%s is an old spelling of %s",
			 names[i][0], names[i][1]);
		n->name = str_z(names[i][1]);
	}
}

static bool see(struct node *n, void *arg)
{
	struct old *o = arg;
	u64 k;
	if (n->kind == N_OFFSETOF || (n->kind == N_CALL && str_is(n->name, "container_of"))) {
		if (n->a) /* the rest names fields */
			node_walk(n->a, see, o);
		return false;
	}
	rename_old(o, n);
	if (n->kind == N_EXPR && deletes_several(o, n->a))
		split_delete(o, n);
	else if (o->compat && n->kind == N_NAME && n->name.n > 4 &&
		 str_starts(n->name, STR("sarg")) && str_u64(str_from(n->name, 4), &k) && k < 256)
		stack_argument(o, n, k);
	return true;
}

void sema_old(struct compile *c)
{
	struct old o = {.c = c, .a = c->unit->arena, .compat = c->unit->config.compat};
	for (struct node *n = c->tree->a; n; n = n->next) {
		if (n->kind != N_PROBE)
			continue;
		node_walk(n->c, see, &o);
		if (o.compat)
			declare_all(&o, n->c);
	}
}
