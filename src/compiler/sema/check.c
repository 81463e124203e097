/* check.c - statements, and the rounds over the whole program until types no longer change. */
#include "sema/check.h"
#include "core/agg.h"
#include "sema/plan.h"

enum { MAX_ROUNDS = 100, MAX_RETYPES = 8, MAX_UNROLL = 100 };

static void check_stmt(struct sema *s, struct node *n);

void check_block(struct sema *s, struct node *block)
{
	struct var *scope = s->scope;
	bool ended = false;
	for (struct node *n = block->a; n; n = n->next) {
		if (ended && s->final) {
			diag_add(s->ds, W_UNREACHABLE, n->loc, "Unreachable statement.");
			ended = false;
		}
		check_stmt(s, n);
		bool ends = n->kind == N_EXPR && n->a->kind == N_CALL && n->a->fn &&
			    (n->a->fn->flags & B_END); /* exit() */
		ended |= ends || n->kind == N_RETURN || n->kind == N_BREAK || n->kind == N_CONTINUE;
	}
	s->scope = scope;
}

static enum token plain_op(enum token op)
{
	switch ((int)op) {
	case TK_ADDEQ: return TK_PLUS;
	case TK_SUBEQ: return TK_MINUS;
	case TK_MULEQ: return TK_STAR;
	case TK_DIVEQ: return TK_SLASH;
	case TK_MODEQ: return TK_PERCENT;
	case TK_ANDEQ: return TK_AMP;
	case TK_OREQ: return TK_PIPE;
	case TK_XOREQ: return TK_CARET;
	case TK_SHLEQ: return TK_SHL;
	case TK_SHREQ: return TK_SHR;
	}
	return TK_EOF;
}

/* The value that ends up in the target: the right side, or target op right side. */
static const struct type *assigned_type(struct sema *s, struct node *n, const struct type *target)
{
	const struct type *t = check_expr(s, n->b);
	if (!t || type_is_error(t) || n->op == TK_ASSIGN)
		return t;
	if (!target)
		return &type_i64; /* first use of a map: starts at 0 */
	return binary_type(s, plain_op(n->op), n, target, t);
}

static bool storable(struct sema *s, const struct node *n, const struct type *t)
{
	if (builtin_is_args(n->b))
		return sema_fail(s, E_TYPE, n->b->loc, "this probe's args have no members");
	if (t->kind != T_NONE && t->kind != T_FUNC && t->kind != T_FWD)
		return true;
	return sema_fail(s, E_TYPE, n->b->loc,
			 "This expression has no value that could be assigned");
}

static void assign_map(struct sema *s, struct node *n)
{
	struct map *m = map_get(s, n->a);
	map_use_key(s, m, n->a, n->a->a);
	const struct type *was = m->val;
	const struct type *t = assigned_type(s, n, was && !type_is_agg(was) ? was : NULL);
	n->a->type = m->val;
	struct mapuse *use = mapuse(s->c, m);
	use->assigned = true;
	use->used_whole |= n->op != TK_ASSIGN;
	use->replaced |= n->op != TK_ADDEQ && n->op != TK_SUBEQ;
	if (!t || type_is_error(t) || !storable(s, n, t))
		return;
	if (type_is_agg(t) && n->op != TK_ASSIGN) {
		sema_fail(s, E_AGG, n->loc, "an aggregation is assigned with '='");
		return;
	}
	if (!type_is_agg(t) && was && type_is_agg(was)) {
		AUTO_SB name = {0};
		type_name(was, &name);
		sema_fail(
			s, E_AGG, n->loc,
			"Type mismatch for %s: it holds %s, which only its own function can change",
			m->name.s, name.s);
		return;
	}
	warn_address(s, n->b);
	map_assign(s, m, t, n);
	n->a->type = m->val;
}

static void assign_var(struct sema *s, struct node *n)
{
	struct var *v = var_find(s, n->a);
	const struct type *t = assigned_type(s, n, v ? v->type : NULL);
	if (!v && n->op != TK_ASSIGN) {
		var_unknown(s, n->a);
		return;
	}
	if (!v || ((n->a->flags & NF_SEMA) && v == n->a->var))
		v = v ? v : var_declare(s, n->a, n->a->loc);
	n->a->var = v;
	v->set = s->round;
	if (t && type_is_agg(t)) {
		sema_fail(s, E_AGG, n->b->loc, "%.*s() must be assigned directly to a map",
			  STRF(n->b->name));
		return;
	}
	if (t && !type_is_error(t) && storable(s, n, t))
		var_assign(s, v, t->kind == T_PTR ? t : stored_type(s, t), n);
	var_spoil(s, v);
	n->a->type = v->type;
}

static struct node *last_of(const struct node *block)
{
	struct node *last = block->a;
	while (last->next)
		last = last->next;
	return last;
}

/* An aggregation, or a block whose value is one. */
static bool gives_agg(struct sema *s, const struct node *n)
{
	bool arity;
	if (n->kind == N_BLOCK && (n->flags & NF_VALUE)) {
		const struct node *last = last_of(n);
		return gives_agg(s, last->kind == N_EXPR ? last->a : last);
	}
	const struct builtin *b = n->kind == N_CALL ? builtin_pick(s->c, n->name, n, &arity) : NULL;
	return b && (b->flags & B_AGG);
}

/* @x = { ...; count() } becomes { ...; @x = count() }. False: it is something else. */
static bool assign_inside(struct sema *s, struct node *n)
{
	struct node *block = n->b, *next = n->next;
	if (n->op != TK_ASSIGN || n->a->kind != N_MAP || block->kind != N_BLOCK ||
	    !gives_agg(s, block))
		return false;
	struct node *last = last_of(block), *value = last->a;
	if (last->kind != N_EXPR) {
		value = arena_new(s->a, struct node);
		*value = *last;
	}
	*last = *n;
	last->next = NULL;
	last->b = value;
	*n = *block;
	n->flags &= (u16)~NF_VALUE;
	n->next = next;
	return true;
}

static void check_assign(struct sema *s, struct node *n)
{
	if (n->a->kind == N_MAP)
		assign_map(s, n);
	else if (n->a->kind == N_VAR)
		assign_var(s, n);
	else
		sema_fail(s, E_TYPE, n->a->loc, "Only variables and maps can be assigned to");
}

static void check_let(struct sema *s, struct node *n)
{
	const struct type *t = n->b ? check_expr(s, n->b) : NULL;
	struct var *v = var_declare(s, n, n->loc);
	v->empty = !n->b;
	v->set = n->b ? s->round : v->set;
	if (n->a) { /* in every round: it may be typeof() something that grows */
		const struct type *want = type_of_node(s, n->a);
		n->a->type = want;
		if (want && want->kind == T_STRING && !want->size && t && t->kind == T_STRING)
			want = t;
		if (want && !type_is_error(want)) {
			s->changed |= v->fixed && !same_type(want, v->type);
			v->type = want;
			v->fixed = true;
		}
	}
	if (n->b && t && type_is_agg(t))
		sema_fail(s, E_AGG, n->b->loc, "%.*s() must be assigned directly to a map",
			  STRF(n->b->name));
	else if (n->b && t && !type_is_error(t) && storable(s, n, t))
		var_assign(s, v, t->kind == T_PTR ? t : stored_type(s, t), n);
	if (n->a || n->b)
		var_spoil(s, v);
	n->type = v->type;
}

static void check_for(struct sema *s, struct node *n)
{
	const struct type *t = NULL;
	if (n->a->kind == N_RANGE) {
		const struct type *lo = check_expr(s, n->a->a), *hi = check_expr(s, n->a->b);
		if (lo && hi && (!type_is_int(lo) || !type_is_int(hi)))
			sema_fail(s, E_TYPE, n->a->loc, "The bounds of a range must be integers");
		else if (lo && hi)
			t = lo->kind == T_INT && hi->kind == T_INT
				    ? type_merge(s->a, lo, hi)
				    : type_int(8, lo->is_signed && hi->is_signed);
		n->a->type = t ? t : &type_error;
	} else {
		struct map *m = map_get(s, n->a);
		n->a->type = &type_none;
		if (m->scalar)
			sema_fail(s, E_MAP_SHAPE, n->a->loc,
				  "%s has no explicit keys (scalar map), and cannot be used for "
				  "iteration",
				  m->name.s);
		else if (!mapuse(s->c, m)->assigned)
			map_unknown(s, m, n->a->loc);
		mapuse(s->c, m)->read = mapuse(s->c, m)->used_whole = true;
		if (m->key && m->val) {
			const struct agg *agg = agg_of(m->val);
			if (agg && !agg->has_int)
				sema_fail(s, E_AGG, n->a->loc,
					  "a map of histograms or stats cannot be iterated");
			check_copies(s, n->a->loc, m, "iterating over");
			const struct type *kv[2] = {m->key,
						    agg ? type_int(8, m->val->is_signed) : m->val};
			t = type_tuple(s->a, 2, kv, NULL);
		}
		if (s->final && !host_has(s->c->host, FEAT_FOR_EACH))
			sema_fail(s, E_FEATURE, n->loc, "iterating over a map needs %s, %s",
				  feature_what(FEAT_FOR_EACH),
				  feature_lacks(s->c->host, FEAT_FOR_EACH));
	}
	struct var *scope = s->scope;
	s->loop++;
	s->body++;
	struct var *v = var_declare(s, n, n->loc);
	v->loop = true;
	if (t && !type_is_error(t) && !same_type(v->type, t)) {
		v->type = t;
		s->changed = true;
	}
	var_spoil(s, v);
	check_block(s, n->b);
	s->body--;
	s->loop--;
	s->scope = scope;
}

/* Does n lead the verifier far: through a walk of a stack, or the hashing of a long key? */
static bool is_long(struct node *n, void *arg)
{
	const struct type *key = n->kind == N_MAP && n->a && n->map ? n->map->key : NULL;
	*(bool *)arg |= key && key->size > KEY_SHORT;
	*(bool *)arg |=
		(n->kind == N_NAME || n->kind == N_CALL) && n->type && n->type->kind == T_USTACK;
	return true;
}

static bool leaves(struct node *n, void *arg)
{
	*(bool *)arg |= n->kind == N_BREAK || n->kind == N_CONTINUE;
	return n->kind != N_FOR && n->kind != N_WHILE;
}

/*
 * The verifier walks through a while or an unroll round by round, through a body that bpf_loop calls
 * twice. The variables of such a body live in memory, so it must be worth it. What leaves an unroll
 * leaves the loop around it.
 */
static void check_rounds(struct sema *s, struct node *n)
{
	bool far = false, left = false;
	if (!(n->flags & NF_CALLED) && host_has(s->c->host, FEAT_LOOP)) {
		node_walk(n->b, is_long, &far);
		if (far && n->kind == N_UNROLL)
			node_walk(n->b, leaves, &left);
		if (far && !left) {
			n->flags |= NF_CALLED;
			s->changed = true;
		}
	}
	bool called = n->flags & NF_CALLED;
	s->body += called;
	if (n->kind == N_WHILE) {
		check_cond(s, n->a);
		s->loop++;
	}
	check_block(s, n->b);
	s->loop -= n->kind == N_WHILE;
	s->body -= called;
}

static void check_unroll(struct sema *s, struct node *n)
{
	check_expr(s, n->a);
	i64 k = 0;
	if (!node_int(n->a, &k))
		sema_fail(s, E_LITERAL, n->a->loc, "invalid unroll value: it must be a literal");
	else if (k > MAX_UNROLL)
		sema_fail(s, E_RANGE, n->a->loc, "unroll maximum value is %d", MAX_UNROLL);
	else if (k < 1)
		sema_fail(s, E_RANGE, n->a->loc, "unroll minimum value is 1");
	check_rounds(s, n);
}

static void check_stmt_expr(struct sema *s, struct node *n)
{
	const struct type *t = check_expr(s, n->a);
	if (!s->final || !t || type_is_error(t) || (n->flags & NF_USED))
		return;
	if (type_is_agg(t)) {
		diag_add(s->ds, E_AGG, n->loc, "%.*s() must be assigned directly to a map",
			 STRF(n->a->name));
		return;
	}
	bool call = n->a->kind == N_CALL || n->a->kind == N_NAME;
	bool quiet = n->a->kind == N_INCDEC || t->kind == T_NONE ||
		     (call && n->a->fn && (n->a->fn->flags & B_STMT_OK));
	if (!quiet)
		diag_add(s->ds, W_UNUSED, n->loc, "Return value discarded.");
}

static void check_return(struct sema *s, struct node *n)
{
	if (s->fn) {
		fn_check_return(s, n);
		return;
	}
	const struct type *t = n->a ? check_expr(s, n->a) : NULL;
	if (t && !type_is_error(t) && !type_is_int(t) && t->kind != T_BOOL) {
		AUTO_SB name = {0};
		type_name(t, &name);
		sema_fail(s, E_TYPE, n->loc, "Probe return values can only be integers. Found %s",
			  name.s);
	}
}

static void check_stmt(struct sema *s, struct node *n)
{
	switch (n->kind) {
	case N_EXPR: check_stmt_expr(s, n); break;
	case N_ASSIGN:
		if (assign_inside(s, n))
			check_block(s, n);
		else
			check_assign(s, n);
		break;
	case N_DISCARD: check_expr(s, n->a); break;
	case N_LET: check_let(s, n); break;
	case N_BLOCK: check_block(s, n); break;
	case N_IF:
		if (n->flags & NF_COMPTIME) {
			if (check_comptime_if(s, n))
				check_stmt(s, n);
			break;
		}
		check_cond(s, n->a);
		check_block(s, n->b);
		if (n->c)
			n->c->kind == N_IF ? check_stmt(s, n->c) : check_block(s, n->c);
		break;
	case N_WHILE: check_rounds(s, n); break;
	case N_UNROLL: check_unroll(s, n); break;
	case N_FOR: check_for(s, n); break;
	case N_BREAK:
	case N_CONTINUE:
		if (!s->loop)
			sema_fail(s, E_CONTROL, n->loc, "'%s' statement is not allowed in a probe",
				  n->kind == N_BREAK ? "break" : "continue");
		break;
	case N_RETURN: check_return(s, n); break;
	case N_IMPORT: break; /* done by source_import() */
	default: check_expr(s, n); break;
	}
}

static void check_variant(struct sema *s, struct variant *v)
{
	s->v = v;
	s->point = v->points;
	s->scope = NULL;
	s->loop = s->body = 0;
	if (v->probe->b)
		check_cond(s, v->probe->b);
	check_block(s, v->probe->c);
}

static void check_round(struct sema *s)
{
	s->round++;
	for (u32 i = 0; i < s->c->nvariant; i++)
		check_variant(s, s->c->variant[i]);
	/* Only the types of maps that it finds matter: what is wrong there is not reported. */
	for (u32 i = 0; i < s->c->nskipped && !s->final; i++)
		check_variant(s, s->c->skipped[i]);
}

/* What let declares, and nothing ever sets. */
static void tell_unset(const struct sema *s)
{
	for (u32 i = 0; i < s->c->nvariant; i++)
		for (const struct var *v = s->c->variant[i]->vars; v; v = v->next)
			if (v->empty && !v->set && !v->mark)
				diag_add(s->ds, W_UNUSED, v->loc,
					 "Variable $%.*s was never assigned to.", STRF(v->name));
}

/* let @x = hash(10): kind and size; the types come from use. */
static void declare_maps(struct sema *s)
{
	static const struct {
		const char *name;
		u32 type;
	} kinds[] = {{"hash", BPF_MAP_TYPE_HASH},
		     {"lruhash", BPF_MAP_TYPE_LRU_HASH},
		     {"percpuhash", BPF_MAP_TYPE_PERCPU_HASH},
		     {"percpulruhash", BPF_MAP_TYPE_LRU_PERCPU_HASH}};
	for (struct node *n = s->c->tree->a; n; n = n->next) {
		if (n->kind != N_MAPDECL)
			continue;
		struct map *m = map_get(s, n);
		i32 kind = node_word(n->a, kinds);
		if (kind >= 0)
			m->map_type = kinds[kind].type;
		else
			diag_hint(s->ds,
				  diag_add(s->ds, E_UNKNOWN_TYPE, n->a->loc,
					   "Invalid bpf map type: %.*s", STRF(n->a->name)),
				  "Valid map types: %s",
				  "percpulruhash, percpuhash, lruhash, hash");
		m->declared = true;
		m->max_entries = (u32)n->a->num;
		if (!n->a->num)
			diag_add(s->ds, E_RANGE, n->a->loc,
				 "a map needs room for at least one element");
	}
}

/* @x = @x + 1 alone says nothing about the type: integers. */
static bool settle_maps(struct sema *s)
{
	bool any = false;
	for (u32 i = 0; i < s->u->nmap; i++) {
		struct map *m = s->u->map[i];
		if (m->role == MAP_USER && mapuse(s->c, m)->assigned && !m->val) {
			m->val = &type_i64;
			any = true;
		}
	}
	return any;
}

static void widen_all(struct sema *s)
{
	u32 round = 0;
	do {
		s->changed = false;
		check_round(s);
		if (!s->changed && s->sizes == s->later)
			s->changed = settle_maps(s);
	} while (s->changed && ++round < MAX_ROUNDS);
}

static bool is_other_int(const struct type *now, const struct type *fresh)
{
	return now && fresh && now->kind == T_INT && fresh->kind == T_INT && !same_type(now, fresh);
}

/*
 * $a = 3; $b = $a + 1; $a = (uint64)5; makes $b unsigned, too, though it was typed by $a when that
 * was a literal's. So integers are typed once more by nothing but what the others are now. False:
 * all stay as they are.
 */
static bool retype(struct sema *s)
{
	bool any = false;
	s->fresh = NULL;
	s->fresh_val = arena_newn(s->a, const struct type *, s->u->nmap + 1);
	s->afresh = true;
	check_round(s);
	s->afresh = false;
	for (struct var *v = s->fresh; v; v = v->other) {
		if (is_other_int(v->type, v->fresh)) {
			v->type = v->fresh;
			any = true;
		}
		v->fresh = NULL;
	}
	for (u32 i = 0; i < s->u->nmap; i++)
		if (is_other_int(s->u->map[i]->val, s->fresh_val[i])) {
			s->u->map[i]->val = s->fresh_val[i];
			any = true;
		}
	return any;
}

static void settle(struct sema *s)
{
	widen_all(s);
	for (u32 i = 0; s->grew && i < MAX_RETYPES && retype(s); i++)
		widen_all(s);
}

bool sema_check(struct compile *c)
{
	struct sema s = {.c = c, .u = c->unit, .a = c->arena, .ds = c->diags};
	if (c->host->recording && c->diags->nerror) /* what was not kept has no type */
		return false;
	declare_maps(&s);
	settle(&s);
	if (s.later) {
		s.sizes = true;
		settle(&s);
	}
	s.final = true;
	check_round(&s);
	tell_unset(&s);
	return !s.ds->nerror;
}
