/* typeinfo.c - typeinfo(x): what the compiler knows of a type, as a record of literals. */
#include "sema/check.h"

static const char *base_name(const struct type *t)
{
	static const char *const names[T_KINDS] = {
#define T(kind, name, flags) [T_##kind] = name,
#include "types/type.def"
	};
	switch ((int)t->kind) { /* the others are called what they are */
	case T_ENUM: return "int";
	case T_PTR: return "pointer";
	case T_STRUCT:
	case T_UNION: return "c_type";
	case T_MAC: return "mac_address";
	case T_CGROUP_PATH: return "cgroup_path";
	case T_USERNAME: return "username";
	}
	return names[t->kind];
}

/* A map stands for its keys, with a key for its values; nothing of it is read. */
static const struct type *map_type(struct sema *s, struct node *n)
{
	struct map *m = map_get(s, n);
	if (n->a)
		map_use_key(s, m, n, n->a);
	n->type = &type_none;
	if (s->final && !mapuse(s->c, m)->assigned) {
		sema_fail(s, E_UNDEF_MAP, n->loc, "Undefined map: %s", m->name.s);
		return &type_error;
	}
	return !n->a && mapuse(s->c, m)->keyed ? m->key : m->val;
}

static void add_field(struct sema *s, struct node *record, const char *name, struct node *val)
{
	struct node *f = node_new(s->a, N_RFIELD, record->loc), **tail = &record->a;
	f->name = str_z(name);
	f->a = val;
	while (*tail)
		tail = &(*tail)->next;
	*tail = f;
}

static struct node *text(struct sema *s, struct loc loc, struct str str)
{
	struct node *n = node_new(s->a, N_STR, loc);
	node_set_str(s, n, str);
	return n;
}

const struct type *check_typeinfo(struct sema *s, struct node *n)
{
	const struct type *t = n->a->kind == N_MAP ? map_type(s, n->a) : type_or_value(s, n->a);
	if (!t || type_is_error(t))
		return s->final ? &type_error : NULL;
	AUTO_SB full = {0};
	type_name(t, &full);
	struct node *id = node_new(s->a, N_NUM, n->loc);
	struct node *r = node_new(s->a, N_RECORD, n->loc);
	node_set_num(id, 0, &type_u64);
	add_field(s, r, "btf_id", id);
	add_field(s, r, "base_type", text(s, n->loc, str_z(base_name(t))));
	add_field(s, r, "full_type", text(s, n->loc, arena_str(s->a, sb_str(&full))));
	const struct type *as = check_expr(s, r);
	if (!s->final && !s->comptime && !is_type_node(n->a))
		return as; /* t may still grow */
	r->next = n->next;
	r->flags = n->flags & NF_PAREN;
	*n = *r;
	return as;
}
