/* vars.c - scratch variables and maps: finding, declaring, widening. */
#include "sema/check.h"

struct var *var_find(struct sema *s, struct str name)
{
	for (struct var *v = s->scope; v; v = v->outer)
		if (str_eq(v->name, name)) {
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
		v->loc = loc;
		v->depth = s->loop;
		v->body = s->body;
		v->next = s->v->vars;
		s->v->vars = v;
		n->var = v;
		n->flags |= NF_SEMA;
	}
	for (struct var *o = s->scope; o && s->final; o = o->outer)
		if (str_eq(o->name, n->name) && n->kind != N_VAR) {
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

static bool fits_declared(const struct type *want, const struct type *t)
{
	if (type_is_int(want) && type_is_int(t)) {
		if (t->flex)
			return t->size <= want->size;
		return true; /* an implicit cast; warned about elsewhere */
	}
	if (want->kind != t->kind)
		return false;
	if (want->kind == T_STRING || want->kind == T_BUF)
		return want->size >= t->size;
	return want->kind == T_PTR || type_eq(want, t);
}

void var_assign(struct sema *s, struct var *v, const struct type *t, const struct node *n)
{
	if (!t || type_is_error(t))
		return;
	v->assigned = true;
	const struct type *m = NULL;
	if (v->fixed)
		m = fits_declared(v->type, t) ? v->type : NULL;
	else
		m = type_merge(s->a, v->type, t);
	if (m && m->kind == T_PTR && v->captured && !v->fixed)
		m = stored_type(s, m);
	if (!m) {
		AUTO_SB want = {0};
		AUTO_SB got = {0};
		type_name(v->type, &want);
		type_name(t, &got);
		sema_fail(s, E_TYPE, n->loc,
			  "Type mismatch for $%.*s: trying to assign value of type '%s' when "
			  "variable already has a type '%s'",
			  STRF(v->name), got.s, want.s);
		return;
	}
	if (!same_type(m, v->type)) {
		v->type = m;
		s->changed = true;
	}
}

static struct map *map_new(struct sema *s, struct str name, struct loc loc)
{
	struct unit *u = s->u;
	struct map *m = arena_new(s->a, struct map);
	*m = (struct map){.name = name, .role = MAP_USER, .index = u->nmap, .loc = loc, .fd = -1};
	struct map **grown = arena_newn(s->a, struct map *, u->nmap + 1);
	if (u->nmap)
		memcpy(grown, u->map, u->nmap * sizeof(*grown));
	grown[u->nmap++] = m;
	u->map = grown;
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
	if (!first && m->keyed != keyed) {
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
	m->keyed = true;
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
	if (!m->assigned) {
		m->assigned = true;
		s->changed = true;
	}
	if (!t || type_is_error(t))
		return;
	t = stored_type(s, t);
	const struct type *v = type_merge(s->a, m->val, t);
	if (!v) {
		if (type_is_agg(m->val) && m->val->kind == t->kind) {
			sema_fail(s, E_AGG, n->loc, "%s",
				  t->kind == T_LHIST
					  ? "Different lhist bounds in a single map unsupported"
				  : t->kind == T_HIST
					  ? "Different bits in a single hist unsupported"
					  : "signed and unsigned values in a single map");
			return;
		}
		AUTO_SB want = {0};
		AUTO_SB got = {0};
		type_name(m->val, &want);
		type_name(t, &got);
		sema_fail(s, E_TYPE, n->loc,
			  "Type mismatch for %s: trying to assign value of type '%s' when map "
			  "already has a type '%s'",
			  m->name.s, got.s, want.s);
	} else if (!same_type(v, m->val)) {
		m->val = v;
		s->changed = true;
	}
}
