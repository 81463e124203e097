/* types.c - types that are written, literals' types, merging. */
#include "sema/check.h"
#include "source/cdefs.h"
#include "source/typename.h"

static const struct type lits[] = {
	{.kind = T_INT, .size = 1, .align = 1, .is_signed = true, .flex = true},
	{.kind = T_INT, .size = 2, .align = 2, .is_signed = true, .flex = true},
	{.kind = T_INT, .size = 4, .align = 4, .is_signed = true, .flex = true},
	{.kind = T_INT, .size = 8, .align = 8, .is_signed = true, .flex = true},
	{.kind = T_INT, .size = 8, .align = 8, .is_signed = false, .flex = true},
};

/* The smallest signed type that holds the literal; uint64 above INT64_MAX. Negative ones are not
 * flexible. */
const struct type *literal_type(u64 v, bool neg)
{
	i64 i = (i64)v;
	if (!neg && i < 0)
		return &lits[4];
	u32 k = i >= -128 && i <= 127 ? 0 : i >= -32768 && i <= 32767 ? 1 : i == (i32)i ? 2 : 3;
	return neg ? type_int(1u << k, true) : &lits[k];
}

/* Known to the debug information of the probed program. */
static const struct type *program_type(struct sema *s, struct str name, enum type_kind kind,
				       bool near)
{
	const struct probe_type *k = s->v && s->point ? s->point->type : NULL;
	return k && k->type_named ? k->type_named(s->c->host, s->u, s->point, name, kind, near)
				  : NULL;
}

const struct type *sema_type_name(struct sema *s, struct str name, u16 flags)
{
	bool tag = flags & (NF_STRUCT | NF_UNION | NF_ENUM);
	struct types *k = host_btf(s->c->host);
	const struct type *t = cdefs_type(s->c->cdefs, name, flags, false);
	if (!t && !tag)
		t = own_type(s->a, name);
	enum type_kind kind = flags & NF_STRUCT  ? T_STRUCT
			      : flags & NF_UNION ? T_UNION
			      : flags & NF_ENUM  ? T_ENUM
						 : T_NONE;
	/* A program's own types, then what system headers are about; the kernel knows itself best.
	 */
	if (!t)
		t = program_type(s, name, kind, true);
	if (!t && s->v && (point_flags(s->v->points) & PROBE_USER))
		t = cdefs_type(s->c->cdefs, name, flags, true);
	if (!t && k)
		t = btf_types_find(k, name, kind);
	if (!t)
		t = cdefs_type(s->c->cdefs, name, flags, true);
	if (!t)
		t = program_type(s, name, kind, false);
	const struct type *module =
		t && t->kind != T_FWD ? NULL : host_module_type(s->c->host, name, kind);
	return module ? module : t;
}

static const struct type *unknown_type(struct sema *s, const struct node *n)
{
	const char *tag = n->flags & NF_STRUCT  ? "struct "
			  : n->flags & NF_UNION ? "union "
			  : n->flags & NF_ENUM  ? "enum "
						: "";
	struct diag *d = diag_add(s->ds, E_UNKNOWN_TYPE, n->loc,
				  "Cannot resolve unknown type \"%s%.*s\"", tag, STRF(n->name));
	if (!host_btf(s->c->host))
		diag_hint(s->ds, d, "this machine offers %s", "no kernel BTF");
	return &type_error;
}

/* sizeof(NAME) of an enumerator reads like one of a type. */
static const struct type *not_a_type(struct sema *s, struct node *n)
{
	i64 val;
	const struct type *t;
	if ((n->flags & (NF_STRUCT | NF_UNION | NF_ENUM)) ||
	    !known_enumerator(s, n->name, &val, &t))
		return unknown_type(s, n);
	n->kind = N_NAME;
	return check_expr(s, n);
}

/* Numbers in probes of the kernel may be addresses of either: a process's name of a file, a struct. */
static enum space probe_space(const struct sema *s)
{
	return s->v && point_flags(s->v->points) & PROBE_USER ? AS_USER : AS_NONE;
}

const struct type *type_of_node(struct sema *s, struct node *n)
{
	const struct type *t;
	switch (n->kind) {
	case N_TPTR:
		t = type_of_node(s, n->a);
		return !t || type_is_error(t) ? t : type_ptr(s->a, t, probe_space(s));
	case N_TARRAY:
		t = type_of_node(s, n->a);
		if (!t || type_is_error(t))
			return t;
		if (t->kind == T_STRING)
			return type_string(s->a, (u32)n->num);
		return type_array(s->a, t, n->flags & NF_NOSIZE ? 0 : (u32)n->num);
	case N_TYPE:
		if (n->a && is_type_node(n->a))
			return type_or_value(s, n->a);
		if (n->a)
			return check_expr(s, n->a);
		t = sema_type_name(s, n->name, n->flags);
		return t ? t : not_a_type(s, n);
	default: return check_expr(s, n);
	}
}

/* A bare name there is parsed as a type's, but may be a builtin's. */
const struct type *type_or_value(struct sema *s, struct node *n)
{
	bool arity;
	if (n->kind == N_TYPE && !n->a && !(n->flags & (NF_STRUCT | NF_UNION | NF_ENUM)) &&
	    (builtin_is_own(n->name) ||
	     (!sema_type_name(s, n->name, 0) && builtin_find(s->c, n->name, 0, &arity) && arity)))
		n->kind = N_NAME;
	return type_of_node(s, n);
}

/* The kernel refused this body's typed loads. */
static bool is_untyped(const struct sema *s)
{
	return s->v && s->v->points->code_refused;
}

const struct type *with_space(struct sema *s, const struct type *t, enum space space)
{
	if (space == AS_BTF && is_untyped(s))
		space = AS_KERNEL;
	if (t->space == space)
		return t;
	struct type *c = arena_new(s->a, struct type);
	*c = *t;
	c->space = (u8)space;
	return c;
}

const struct type *value_type(struct sema *s, const struct type *t, enum space space, bool user)
{
	switch (t->kind) {
	case T_PTR:
		if (user || space == AS_USER)
			return with_space(s, t, AS_USER);
		if (space == AS_BTF && t->base && type_is_record(t->base) && t->space != AS_USER)
			return with_space(s, t, AS_BTF);
		if (t->space == AS_BTF && (space != AS_BTF || is_untyped(s)))
			return with_space(s, t, AS_KERNEL);
		/* Of a struct the script defines; elsewhere its address decides. */
		if (t->space == AS_NONE && (space == AS_KERNEL || space == AS_BTF) &&
		    probe_space(s) == AS_USER)
			return with_space(s, t, AS_KERNEL);
		if (t->space == AS_KERNEL && space == AS_NONE && probe_space(s) == AS_NONE)
			return with_space(s, t, AS_NONE); /* its struct may be a process's */
		return t;
	case T_ARRAY:
		if (t->base->kind == T_INT && t->base->is_char && t->count) {
			struct type *str = arena_new(s->a, struct type);
			*str = *type_string(s->a, t->count);
			str->space = (u8)space;
			str->whole = true;
			return str;
		}
		return with_space(s, t, space);
	case T_STRUCT:
	case T_UNION: return with_space(s, t, space);
	default: return t;
	}
}

const struct type *stored_type(struct sema *s, const struct type *t)
{
	switch (t->kind) {
	case T_PTR:
		return t->space == AS_BTF || t->space == AS_CTX ? with_space(s, t, AS_KERNEL) : t;
	case T_STRING:
	case T_ARRAY:
	case T_STRUCT:
	case T_UNION: return with_space(s, t, AS_NONE);
	default: return t;
	}
}

bool same_type(const struct type *a, const struct type *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->flex == b->flex && a->space == b->space && type_eq(a, b);
}

static const struct type *merge_int(const struct type *x, const struct type *y)
{
	if (x->kind == T_ENUM && y->kind == T_ENUM && str_eq(x->name, y->name))
		return x;
	if (x->flex != y->flex) { /* a literal adopts the other's type when it fits */
		const struct type *lit = x->flex ? x : y, *t = x->flex ? y : x;
		if (t->is_signed == lit->is_signed)
			return lit->size > t->size ? type_int(lit->size, t->is_signed) : t;
		if (!t->is_signed) /* non-negative: needs size bytes signed, so the same unsigned
				      holds it */
			return lit->size > t->size ? type_int(lit->size, false) : t;
	} else if (x->flex) {
		if (x->is_signed == y->is_signed)
			return x->size >= y->size ? x : y;
		return x->is_signed ? y : x; /* uint64 literal: the other is non-negative too */
	}
	if (x->is_signed == y->is_signed)
		return type_int(MAX(x->size, y->size), x->is_signed);
	const struct type *sg = x->is_signed ? x : y, *un = x->is_signed ? y : x;
	if (sg->size > un->size)
		return type_int(sg->size, true);
	return type_int(MIN(un->size * 2, 8u), true);
}

static const struct type *merge_tuple(struct arena *a, const struct type *x, const struct type *y)
{
	if (x->nfield != y->nfield || x->nfield > 64)
		return NULL;
	if (x->name.n || y->name.n) /* of strf(): written as one of them */
		return type_eq(x, y) ? x : NULL;
	const struct type *elem[64];
	struct str names[64];
	for (u32 i = 0; i < x->nfield; i++) {
		const struct field *fy = &y->field[i];
		if (x->kind == T_RECORD && !str_eq(x->field[i].name, fy->name)) {
			fy = NULL;
			for (u32 j = 0; j < y->nfield; j++)
				if (str_eq(x->field[i].name, y->field[j].name))
					fy = &y->field[j];
			if (!fy)
				return NULL;
		}
		elem[i] = type_merge(a, x->field[i].type, fy->type);
		names[i] = x->field[i].name;
		if (!elem[i])
			return NULL;
	}
	return type_tuple(a, x->nfield, elem, x->kind == T_RECORD ? names : NULL);
}

const struct type *type_merge(struct arena *a, const struct type *x, const struct type *y)
{
	if (!x || x == y || type_is_error(x))
		return y;
	if (!y || type_is_error(y))
		return x;
	if (type_is_int(x) && type_is_int(y))
		return merge_int(x, y);
	if (x->kind == T_PTR && y->flex)
		return x;
	if (y->kind == T_PTR && x->flex)
		return y;
	if (x->kind == T_PROBE && y->kind == T_PROBE)
		return x->count >= y->count ? x : y;
	if (x->kind == T_PROBE && y->kind == T_STRING)
		return type_string(a, MAX(x->count, y->size));
	if (y->kind == T_PROBE && x->kind == T_STRING)
		return type_string(a, MAX(y->count, x->size));
	if (x->kind != y->kind)
		return NULL;
	switch (x->kind) {
	case T_STRING:
	case T_BUF:
	case T_INET: return x->size >= y->size ? x : y;
	case T_TUPLE:
	case T_RECORD: return merge_tuple(a, x, y);
	case T_KSTACK:
	case T_USTACK:
		if (x->mode != y->mode)
			return NULL;
		return x->count >= y->count ? x : y;
	case T_PTR:
		if (x->space == y->space)
			return x;
		return x->space == AS_BTF   ? y
		       : y->space == AS_BTF ? x
					    : type_copy_as(a, x, AS_NONE);
	default:
		if (!(type_flags(x) & TF_SIGN))
			return type_eq(x, y) ? x : NULL;
		if (x->flex != y->flex)
			return x->flex ? y : x;
		return x->is_signed ? x : y; /* signed and unsigned observations: signed */
	}
}
