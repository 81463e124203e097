/* vars.c - scratch variables and maps: finding, declaring, widening. */
#include "core/agg.h"
#include "sema/check.h"

struct var *var_find(struct sema *s, const struct node *n)
{
	for (struct var *v = s->scope; v; v = v->outer)
		if (v->mark == n->mark && str_eq(v->name, n->name)) {
			if (v->body < s->body)
				v->captured = true;
			return v;
		}
	return NULL;
}

/* n is the node that declares it: VAR on the left of =, LET or FOR. Made once, found again in later
 * rounds. */
struct var *var_declare(struct sema *s, struct node *n, struct loc loc)
{
	struct var *v = (n->flags & NF_SEMA) ? n->var : NULL;
	if (!v) {
		v = arena_new(s->a, struct var);
		v->name = n->name;
		v->mark = n->mark;
		v->loc = loc;
		v->depth = s->loop;
		v->next = s->v->vars;
		s->v->vars = v;
		n->var = v;
		n->flags |= NF_SEMA;
	}
	v->body = s->body; /* more when a loop turns out to be called */
	for (struct var *o = s->scope; o && s->final; o = o->outer)
		if (str_eq(o->name, n->name) && o->mark == n->mark && n->kind != N_VAR) {
			struct diag *d = diag_add(s->ds, E_SHADOW, loc,
						  "Variable $%.*s was already declared. Variable "
						  "shadowing is not allowed.",
						  STRF(n->name));
			diag_note(s->ds, d, o->loc, "This is the initial declaration.");
			break;
		}
	v->outer = s->scope;
	s->scope = v;
	return v;
}

/* Is it the nearest name so far? least: distance of the best one, and what is too far. */
static bool nearer(struct str name, struct str other, u32 *least)
{
	u32 d = str_distance(name, other, *least);
	if (d >= *least)
		return false;
	*least = d;
	return true;
}

void var_unknown(struct sema *s, const struct node *n)
{
	if (!s->final)
		return;
	struct diag *d = diag_add(s->ds, E_UNDEF_VAR, n->loc,
				  "Undefined or undeclared variable: $%.*s", STRF(n->name));
	u32 least = 1 + (n->name.n + 1) / 3;
	for (const struct var *v = s->scope; v; v = v->outer)
		if (v->mark == n->mark && nearer(n->name, v->name, &least))
			diag_hint(s->ds, d, "did you mean '$%.*s'?", STRF(v->name));
	for (const struct var *v = s->v->vars; v; v = v->next)
		if (v->mark == n->mark && str_eq(v->name, n->name) && v->loc.pos < n->loc.pos)
			diag_hint(
				s->ds, d,
				"$%.*s lives in a block that has ended; declare it in front of it "
				"(let $%.*s;), or run the script with --compat 0.17, where "
				"variables belong to the whole probe",
				STRF(n->name), STRF(n->name));
}

void var_spoil(const struct sema *s, struct var *v)
{
	if (s->final && !v->type)
		v->type = &type_error;
}

struct mention {
	struct str name;
	bool found;
};

static bool note_map(struct node *n, void *arg)
{
	struct mention *m = arg;
	m->found |= n->kind == N_MAP && str_eq(n->name, m->name);
	return !m->found;
}

/* Is it used in a probe of which, with an error, nothing was left? */
static bool map_lost(const struct sema *s, const struct map *m)
{
	struct mention want = {.name = str_from(m->name, 1)};
	for (struct node *n = s->c->tree->a; n && s->ds->nerror; n = n->next) {
		bool kept = n->kind != N_PROBE;
		for (u32 i = 0; i < s->c->nvariant; i++)
			kept |= !memcmp(&s->c->variant[i]->probe->loc, &n->loc, sizeof n->loc);
		if (!kept)
			node_walk(n->c, note_map, &want);
	}
	return want.found;
}

void map_unknown(struct sema *s, const struct map *m, struct loc loc)
{
	if (!s->final || map_lost(s, m))
		return;
	struct diag *d = diag_add(s->ds, E_UNDEF_MAP, loc, "Undefined map: %.*s", STRF(m->name));
	u32 least = 1 + m->name.n / 3;
	for (u32 i = 0; i < s->u->nmap; i++) {
		const struct map *o = s->u->map[i];
		if (o->role == MAP_USER && mapuse(s->c, o)->assigned && o->name.n > 1 &&
		    nearer(m->name, o->name, &least))
			diag_hint(s->ds, d, "did you mean '%.*s'?", STRF(o->name));
	}
}

/* The literal that n assigns as it is; NULL: another value. */
static const struct node *assigned_literal(const struct node *n)
{
	bool plain = n->kind == N_LET || (n->kind == N_ASSIGN && n->op == TK_ASSIGN);
	return plain && n->b && n->b->kind == N_NUM ? n->b : NULL;
}

static bool literal_fits(const struct type *want, const struct node *lit)
{
	u32 bits = want->size * 8 - (want->is_signed ? 1 : 0);
	i64 v = (i64)lit->num;
	if ((lit->flags & NF_NEG) && v < 0)
		return want->is_signed && (bits >= 63 || v >= -(1ll << bits));
	return bits >= 64 || lit->num <= (1ull << bits) - 1;
}

static bool fits_declared(const struct type *want, const struct type *t, const struct node *n)
{
	if (type_is_int(want) && type_is_int(t)) {
		const struct node *lit = assigned_literal(n);
		return !lit || literal_fits(want, lit); /* others: an implicit cast */
	}
	if (want->kind != t->kind)
		return false;
	if (want->kind == T_STRING || want->kind == T_BUF)
		return want->size >= t->size;
	return want->kind == T_PTR || type_eq(want, t);
}

/* What is stored of a value of type t as type want may be another number. */
static void implicit_cast(struct sema *s, const struct node *n, const struct type *t,
			  const struct type *want)
{
	if (!s->final || t->kind != T_INT || want->kind != T_INT || t->flex || assigned_literal(n))
		return;
	bool same = t->is_signed == want->is_signed;
	if (same ? t->size <= want->size : want->is_signed && t->size < want->size)
		return;
	AUTO_SB from = {0};
	AUTO_SB to = {0};
	type_name(t, &from);
	type_name(want, &to);
	diag_add(s->ds, W_CAST, n->b ? n->b->loc : n->loc,
		 "Expression of type: %s being cast to type: %s. This may cause unexpected "
		 "results. Use an explicit cast to suppress this warning.",
		 from.s, to.s);
}

/* A literal that no common type of all that is assigned can hold. */
static bool is_cut(struct sema *s, const struct node *n, const struct type *want)
{
	const struct node *lit = assigned_literal(n);
	return s->final && lit && lit->type->flex && want->kind == T_INT &&
	       !literal_fits(want, lit);
}

static void mismatch(struct sema *s, const struct node *n, struct str name, const char *has,
		     const struct type *want, const struct type *got)
{
	sema_fail(s, E_TYPE, n->loc,
		  "Type mismatch for %.*s: trying to assign value of type '%s' when %s type '%s'",
		  STRF(name), type_namez(s->a, got), has, type_namez(s->a, want));
}

/* In a round that finds types anew: those of the round alone. */
static void assign_afresh(struct sema *s, struct var *v, const struct type *t)
{
	if (v->fixed)
		return;
	if (!v->fresh) {
		v->other = s->fresh;
		s->fresh = v;
	}
	v->fresh = v->fresh ? type_merge(s->a, v->fresh, t) : t;
	if (!v->fresh)
		v->fresh = v->type;
}

/* Integers that others may have been typed by. */
static void note_growth(struct sema *s, const struct type *was)
{
	s->changed = true;
	s->grew |= was && was->kind == T_INT;
}

void var_assign(struct sema *s, struct var *v, const struct type *t, const struct node *n)
{
	if (!t || type_is_error(t))
		return;
	v->set = s->round;
	if (s->afresh) {
		assign_afresh(s, v, t);
		return;
	}
	const struct type *m = NULL;
	if (v->fixed)
		m = fits_declared(v->type, t, n) ? v->type : NULL;
	else
		m = type_merge(s->a, v->type, t);
	if (m && m->kind == T_PTR && v->captured && !v->fixed)
		m = stored_type(s, m);
	if (!m || is_cut(s, n, m)) {
		mismatch(s, n, str_z(arena_fmt(s->a, "$%.*s", STRF(v->name))),
			 "variable already has a", v->type, t);
		return;
	}
	implicit_cast(s, n, t, m);
	if (!same_type(m, v->type)) {
		note_growth(s, v->type);
		v->type = m;
	}
}

static struct map *map_new(struct sema *s, struct str name, struct loc loc)
{
	struct unit *u = s->u;
	struct map *m = arena_new(s->a, struct map);
	*m = (struct map){.name = name, .role = MAP_USER, .index = u->nmap, .loc = loc};
	arena_push(s->a, u->map, u->nmap, m);
	return m;
}

struct map *map_get(struct sema *s, struct node *n)
{
	for (u32 i = 0; i < s->u->nmap; i++) {
		struct str name = str_from(s->u->map[i]->name, 1);
		if (s->u->map[i]->role == MAP_USER && str_eq(name, n->name))
			return n->map = s->u->map[i];
	}
	struct str name = str_z(arena_fmt(s->a, "@%.*s", STRF(n->name)));
	n->map = map_new(s, name, n->loc);
	s->changed = true;
	return n->map;
}

/* Keys and values that stay behind in a map: small integers keep their type, kernel pointers lose
 * their BTF. */
static const struct type *key_type(struct sema *s, struct node *key, struct str map)
{
	const struct type *t = check_expr(s, key);
	if (!t || type_is_error(t))
		return t;
	warn_address(s, key);
	if (!(type_flags(t) & TF_KEY)) {
		AUTO_SB name = {0};
		type_name(t, &name);
		sema_fail(s, E_MAP_KEY, key->loc, "%s cannot be used as a key of @%.*s", name.s,
			  STRF(map));
		return &type_error;
	}
	return stored_type(s, t);
}

void map_use_key(struct sema *s, struct map *m, struct node *at, struct node *key)
{
	bool keyed = key != NULL;
	bool first = !m->key && !m->scalar;
	if (!first && mapuse(s->c, m)->keyed != keyed) {
		const char *with = "with an explicit key (non-scalar map)",
			   *without = "without an explicit key (scalar map)";
		sema_fail(s, E_MAP_SHAPE, at->loc, "%s used as a map %s, previously used %s",
			  m->name.s, keyed ? with : without, keyed ? without : with);
		if (key)
			check_expr(s, key);
		return;
	}
	if (!keyed) {
		m->scalar = true;
		return;
	}
	const struct type *t = key_type(s, key, at->name);
	if (!t || type_is_error(t))
		return;
	mapuse(s->c, m)->keyed = true;
	const struct type *k = type_merge(s->a, m->key, t);
	if (!k) {
		AUTO_SB want = {0};
		AUTO_SB got = {0};
		type_name(m->key, &want);
		type_name(t, &got);
		sema_fail(s, E_MAP_KEY, key->loc,
			  "Argument mismatch for %s: trying to access with arguments: '%s' when "
			  "map expects arguments: '%s'",
			  m->name.s, got.s, want.s);
	} else if (!same_type(k, m->key)) {
		m->key = k;
		s->changed = true;
	}
}

void map_assign(struct sema *s, struct map *m, const struct type *t, const struct node *n)
{
	if (!mapuse(s->c, m)->assigned) {
		mapuse(s->c, m)->assigned = true;
		s->changed = true;
	}
	if (!t || type_is_error(t))
		return;
	t = stored_type(s, t);
	if (s->afresh) {
		const struct type **f = &s->fresh_val[m->index];
		*f = *f ? type_merge(s->a, *f, t) : t;
		return;
	}
	const struct type *v = type_merge(s->a, m->val, t);
	if (!v) {
		if (type_is_agg(m->val) && m->val->kind == t->kind) {
			const char *clash = agg_of(t)->clash;
			sema_fail(s, E_AGG, n->loc, "%s",
				  clash ? clash : "signed and unsigned values in a single map");
			return;
		}
		mismatch(s, n, m->name, "map already has a", m->val, t);
		return;
	}
	if (is_cut(s, n, v)) {
		mismatch(s, n, m->name, "map already has a value", v, t);
		return;
	}
	implicit_cast(s, n, t, v);
	if (!same_type(v, m->val)) {
		note_growth(s, m->val);
		m->val = v;
	}
}
