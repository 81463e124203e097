/* expr.c - types of expressions. */
#include "core/agg.h"
#include "sema/check.h"
#include "sema/fold.h"
#include "source/cdefs.h"
#include "types/dwarf.h"

static const struct type *unknown(struct sema *s)
{
	return s->final ? &type_error : NULL;
}

static bool settled(const struct type *t)
{
	return t && !type_is_error(t);
}

static bool number(const struct type *t)
{
	return type_is_int(t) || t->kind == T_BOOL;
}

static struct node *as_type(struct sema *s, struct node *n, const struct type *to)
{
	struct node *t = node_new(s->a, N_TYPE, n->loc), *c = node_new(s->a, N_CAST, n->loc);
	t->type = c->type = to;
	c->a = t;
	c->b = n;
	c->next = n->next;
	n->next = NULL;
	return c;
}

struct node *as_text(struct sema *s, struct node *n)
{
	return as_type(s, n, type_string(s->a, n->type->count));
}

static bool is_probe(const struct node *n)
{
	return n->type->kind == T_PROBE;
}

/* ---- operators ---- */

const struct type *binary_type(struct sema *s, enum token op, const struct node *n,
			       const struct type *x, const struct type *y)
{
	if (op == TK_ANDAND || op == TK_OROR)
		return &type_bool;
	if (op == TK_EQ || op == TK_NE || op == TK_LT || op == TK_GT || op == TK_LE ||
	    op == TK_GE) {
		bool ok = check_compare(s, op, n, x, y);
		return ok ? &type_bool : unknown(s);
	}
	if (number(x) && number(y))
		return arith_type(op, x, y);
	if (x->kind == T_PTR && number(y) && (op == TK_PLUS || op == TK_MINUS))
		return stored_type(s, x);
	if (y->kind == T_PTR && number(x) && op == TK_PLUS)
		return stored_type(s, y);
	bool ptr_bits =
		op == TK_AMP || op == TK_PIPE || op == TK_CARET || op == TK_PERCENT || op == TK_SHR;
	if (ptr_bits && (x->kind == T_PTR || number(x)) && (y->kind == T_PTR || number(y)))
		return &type_u64;
	compare_mismatch(s, n, op, x, y);
	return unknown(s);
}

static const struct type *check_binary(struct sema *s, struct node *n)
{
	bool logic = n->op == TK_ANDAND || n->op == TK_OROR;
	if (logic) {
		check_cond(s, n->a);
		check_cond(s, n->b);
	} else {
		check_expr(s, n->a);
		check_expr(s, n->b);
	}
	if (!settled(n->a->type) || !settled(n->b->type))
		return unknown(s);
	if (fold_binary(s, n))
		return n->type;
	if (n->op != TK_EQ && n->op != TK_NE && !logic) {
		warn_address(s, n->a);
		warn_address(s, n->b);
	}
	if (is_probe(n->a) && (is_probe(n->b) || n->b->type->kind == T_STRING))
		n->a = as_text(s, n->a);
	if (is_probe(n->b) && n->a->type->kind == T_STRING)
		n->b = as_text(s, n->b);
	if (n->op == TK_PLUS && n->a->kind == N_STR && n->b->kind == N_STR) {
		node_set_str(
			s, n,
			str_z(arena_fmt(s->a, "%.*s%.*s", STRF(n->a->name), STRF(n->b->name))));
		return n->type;
	}
	if (n->op == TK_PLUS && n->a->kind == N_STR && n->b->kind == N_NUM) {
		if (n->b->num >= n->a->name.n)
			diag_add(s->ds, W_LENGTH, n->loc, "literal string will always be empty");
		node_set_str(s, n, str_from(n->a->name, (u32)MIN(n->b->num, n->a->name.n)));
		return n->type;
	}
	return binary_type(s, n->op, n, n->a->type, n->b->type);
}

/* &$v, &@m[k]: where it is in BPF memory, which is read like other kernel memory. */
static const struct type *check_address(struct sema *s, struct node *n, const struct type *t)
{
	if (n->a->kind == N_VAR && n->a->var) {
		n->a->var->captured = true; /* in memory, not a register */
		return type_ptr(s->a, stored_type(s, t), AS_KERNEL);
	}
	if (n->a->kind == N_MAP)
		mapuse(s->c, n->a->map)->used_whole = true;
	if (n->a->kind == N_MAP && n->a->map->val && !type_is_agg(n->a->map->val))
		return type_ptr(s->a, t, AS_KERNEL);
	sema_fail(s, E_TYPE, n->loc,
		  "The & operator only takes the address of a variable or of a map's value");
	return unknown(s);
}

/* n: what is about to get a value by other means than an assignment. */
void var_mark_set(struct sema *s, struct node *n)
{
	struct var *v = n && n->kind == N_VAR ? var_find(s, n) : NULL;
	if (v)
		v->set = s->round;
}

static const struct type *check_unary(struct sema *s, struct node *n)
{
	if (n->op == TK_AMP)
		var_mark_set(s, n->a);
	if (n->op == TK_NOT)
		check_cond(s, n->a);
	const struct type *t = check_expr(s, n->a);
	if (!settled(t))
		return unknown(s);
	switch ((int)n->op) {
	case TK_NOT:
		if (is_lit(n->a)) {
			node_set_num(n, !n->a->num, &type_bool);
			return n->type;
		}
		return &type_bool;
	case TK_MINUS:
	case TK_TILDE:
		if (fold_sign(s, n))
			return n->type;
		if (number(t))
			return type_int(8, t->is_signed);
		break;
	case TK_STAR:
		if (type_is_int(t)) /* an address as a number: of a number like itself */
			return t->flex ? type_int(t->size, t->is_signed) : t;
		if (t->kind == T_PTR && t->base && t->base->kind != T_NONE &&
		    t->base->kind != T_FWD && t->base->kind != T_FUNC)
			return value_type(s, t->base, t->space, false);
		if (t->kind == T_PTR && t->flex)
			return &type_u64;
		break;
	case TK_AMP: return check_address(s, n, t);
	}
	if (s->final) {
		AUTO_SB name = {0};
		type_name(t, &name);
		diag_add(s->ds, E_TYPE, n->loc,
			 "The %s operator can not be used on expressions of type '%s'",
			 token_text(n->op), name.s);
	}
	return unknown(s);
}

void check_cond(struct sema *s, struct node *n)
{
	const struct type *t = check_expr(s, n);
	if (!settled(t) || number(t) || t->kind == T_PTR || t->kind == T_KSYM || n->kind == N_STR)
		return;
	if (n->kind == N_RECORD && n->a && !n->a->next) { /* (comm = "bash") */
		if (s->final)
			diag_hint(s->ds,
				  diag_add(s->ds, E_COND, n->loc,
					   "Invalid condition: this makes a record with the field "
					   "'%.*s'",
					   STRF(n->a->name)),
				  "'=' assigns, '==' compares: %.*s == ...", STRF(n->a->name));
		return;
	}
	AUTO_SB name = {0};
	type_name(t, &name);
	const char *base = t->kind == T_STRING ? "string" : name.s;
	sema_fail(s, E_COND, n->loc, "Invalid condition: %s", base);
}

/* ---- members, elements, casts ---- */

static const struct type *no_field(struct sema *s, const struct node *n, const struct type *t)
{
	if (!s->final)
		return NULL;
	AUTO_SB name = {0};
	type_name(t, &name);
	struct diag *d;
	if (t->kind == T_RECORD)
		d = diag_add(s->ds, E_UNKNOWN_FIELD, n->loc,
			     "Record does not contain a field named '%.*s'", STRF(n->name));
	else if (type_is_record(t) && !t->size && !t->nfield)
		d = diag_add(s->ds, E_UNKNOWN_FIELD, n->loc,
			     "'%s' is declared but not defined: its members are unknown", name.s);
	else
		d = diag_add(s->ds, E_UNKNOWN_FIELD, n->loc,
			     "Struct/union of type '%s' does not contain a field named '%.*s'",
			     name.s, STRF(n->name));
	struct str near = type_near_field(t, n->name);
	struct str field = n->name;
	if (builtin_is_args(n->a) && str_starts(field, STR("common_")))
		diag_hint(s->ds, d, "%s",
			  "the kernel does not let programs read the fields that all tracepoints "
			  "have in common");
	else if (near.n && n->a->kind == N_NAME)
		diag_hint(s->ds, d, "did you mean '%.*s.%.*s'?", STRF(n->a->name), STRF(near));
	else if (near.n)
		diag_hint(s->ds, d, "did you mean '%.*s'?", STRF(near));
	else if (builtin_is_args(n->a) && s->point->debug && s->point->debug->at_entry)
		diag_hint(s->ds, d, "%s",
			  "where a function begins only its parameters are known; at a source "
			  "line, uprobe:path@file:line, its variables are, too");
	return &type_error;
}

/* A parameter or variable that debug information knows, and programs cannot read. */
static const struct type *lost_field(struct sema *s, const struct node *n, const struct field *f)
{
	if (!s->final)
		return NULL;
	struct diag *d = diag_add(s->ds, E_CONTEXT, n->loc, "args.%.*s %s", STRF(n->name), f->lost);
	bool at_entry = s->point->debug && s->point->debug->at_entry;
	if (at_entry && f->type && f->type->kind == T_FLOAT)
		diag_hint(s->ds, d, "%s",
			  "a program compiled without optimisation keeps it in memory after the "
			  "first instructions: probe a source line, uprobe:path@file:line");
	return &type_error;
}

static const struct type *field_value(struct sema *s, struct node *n, const struct type *base,
				      enum space space)
{
	struct field f;
	if (!type_field(base, n->name, &f))
		return no_field(s, n, base);
	if (f.lost)
		return lost_field(s, n, &f);
	if (!n->field || n->field->bit_off != f.bit_off || n->field->type != f.type) {
		struct field *copy = arena_new(s->a, struct field);
		*copy = f;
		n->field = copy;
	}
	if (f.data_loc) /* text or an array behind the event: a pointer to it */
		return type_ptr(s->a, f.type->kind == T_ARRAY ? f.type->base : &type_i8, AS_KERNEL);
	if (f.bit_len && f.type->kind != T_ENUM)
		return type_int(f.type->size ? f.type->size : 8, f.type->is_signed);
	return value_type(s, f.type, space, f.user);
}

void warn_address(struct sema *s, const struct node *n)
{
	const struct type *t = n->type;
	bool text = n->kind == N_MEMBER && n->field && n->field->data_loc && t && t->kind == T_PTR;
	if (!s->final || !text || t->base->size != 1 || !builtin_is_args(n->a))
		return;
	struct diag *d = diag_add(
		s->ds, W_ADDRESS, n->loc,
		"args.%.*s is an address, which differs from one event to the next", STRF(n->name));
	diag_hint(s->ds, d, "its text is str(args.%.*s)", STRF(n->name));
}

/* A literal of a record of literals: config.max_strlen. */
static bool fold_member(struct node *n)
{
	for (struct node *f = n->a->kind == N_RECORD ? n->a->a : NULL; f; f = f->next) {
		if (!str_eq(f->name, n->name) || (!is_lit(f->a) && f->a->kind != N_STR))
			continue;
		struct node *next = n->next;
		struct loc loc = n->loc;
		*n = *f->a;
		n->next = next;
		n->loc = loc;
		return true;
	}
	return false;
}

/* n: a part of a tuple or record of nothing but literals becomes that literal. */
static bool fold_part(struct node *n, struct str name, u64 at)
{
	struct node *part = NULL;
	u64 i = 0;
	if (n->a->kind != N_TUPLE && n->a->kind != N_RECORD)
		return false;
	for (struct node *e = n->a->a; e; e = e->next, i++) {
		struct node *v = n->a->kind == N_RECORD ? e->a : e;
		if (!is_lit(v) && v->kind != N_STR)
			return false;
		if (n->a->kind == N_RECORD ? name.n && str_eq(e->name, name) : i == at)
			part = v;
	}
	if (!part)
		return false;
	struct node *next = n->next;
	*n = *part;
	n->next = next;
	return true;
}

/*
 * The script's own definition of a struct that others define, too, is what the script means. NULL:
 * there is none, or it says the same of this member.
 */
static const struct type *own_record(struct sema *s, const struct node *n, const struct type *t)
{
	u16 tag = t->kind == T_UNION ? NF_UNION : NF_STRUCT;
	const struct type *own = t->name.n ? cdefs_type(s->c->cdefs, t->name, tag, false) : NULL;
	struct field mine, theirs;
	if (!own || own == t || !type_is_record(own) || !own->size)
		return NULL;
	bool same = type_field(own, n->name, &mine) && type_field(t, n->name, &theirs) &&
		    mine.bit_off == theirs.bit_off && mine.bit_len == theirs.bit_len &&
		    mine.type->kind == theirs.type->kind && mine.type->size == theirs.type->size;
	return same ? NULL : own;
}

static const struct type *check_member(struct sema *s, struct node *n)
{
	const struct type *t = check_expr(s, n->a);
	if (!settled(t))
		return unknown(s);
	if (fold_member(n))
		return n->type;
	while (t->kind == T_PTR && t->base && t->base->kind == T_PTR)
		t = t->base;
	if (t->kind == T_PTR && t->base && t->base->kind == T_FWD) { /* defined elsewhere */
		const struct type *full =
			sema_type_name(s, t->base->name, t->base->count ? NF_UNION : NF_STRUCT);
		if (full && type_is_record(full)) {
			t = type_ptr(s->a, full, t->space == AS_BTF ? AS_KERNEL : t->space);
			n->a = as_type(s, n->a, t);
		}
	}
	if (t->kind == T_PTR && t->base && type_is_record(t->base)) {
		const struct type *own = own_record(s, n, t->base);
		if (own) { /* the verifier knows the other one */
			t = type_ptr(s->a, own, t->space == AS_BTF ? AS_KERNEL : t->space);
			n->a = as_type(s, n->a, t);
		}
		return field_value(s, n, t->base, t->space);
	}
	if (type_is_record(t))
		return field_value(s, n, t, t->space);
	if (t->kind == T_RECORD) {
		const struct type *f = field_value(s, n, t, AS_STACK);
		return fold_part(n, n->field && settled(f) ? n->field->name : (struct str){0}, 0)
			       ? n->type
			       : f;
	}
	if (s->final) {
		AUTO_SB name = {0};
		type_name(t, &name);
		diag_add(s->ds, E_TYPE, n->loc,
			 "Can not access field '%.*s' on expression of type '%s'", STRF(n->name),
			 name.s);
	}
	return unknown(s);
}

static const struct type *check_elem(struct sema *s, struct node *n)
{
	const struct type *t = check_expr(s, n->a);
	if (!settled(t))
		return unknown(s);
	AUTO_SB name = {0};
	type_name(t, &name);
	if (t->kind != T_TUPLE) {
		sema_fail(s, E_TYPE, n->loc,
			  "Can not access index '%llu' on expression of type '%s'", n->num, name.s);
		return unknown(s);
	}
	if (n->num >= t->nfield) {
		sema_fail(s, E_RANGE, n->loc,
			  "Invalid tuple index: %llu. Found %u elements in tuple.", n->num,
			  t->nfield);
		return unknown(s);
	}
	return fold_part(n, (struct str){0}, n->num) ? n->type : t->field[n->num].type;
}

static const struct type *check_index(struct sema *s, struct node *n)
{
	const struct type *t = check_expr(s, n->a), *i = check_expr(s, n->b);
	if (!settled(t) || !settled(i))
		return unknown(s);
	if (is_probe(n->a)) {
		n->a = as_text(s, n->a);
		t = n->a->type;
	}
	if (t->kind == T_TUPLE && n->b->kind == N_NUM) { /* another spelling of t.0 */
		n->kind = N_ELEM;
		n->num = n->b->num;
		n->b = NULL;
		return check_elem(s, n);
	}
	if (t->kind == T_TUPLE) {
		sema_fail(s, E_TYPE, n->loc,
			  "An element of a tuple is named by an integer literal");
		return unknown(s);
	}
	if (!type_is_int(i)) {
		sema_fail(s, E_TYPE, n->b->loc,
			  "The array index operator [] only accepts integer indices");
		return unknown(s);
	}
	u32 count = t->kind == T_ARRAY ? t->count : t->kind == T_STRING ? t->size : 0;
	if (count && n->b->kind == N_NUM && n->b->num >= count) {
		sema_fail(s, E_RANGE, n->loc,
			  "the index %lld is out of bounds for array of size %u", (i64)n->b->num,
			  count);
		return unknown(s);
	}
	if (t->kind == T_STRING && n->a->kind == N_STR && n->b->kind == N_NUM) {
		u8 c = n->b->num < n->a->name.n ? (u8)n->a->name.s[n->b->num] : 0;
		set_literal(n, c);
		return n->type;
	}
	if (t->kind == T_STRING)
		return &type_i8;
	if (t->kind == T_ARRAY)
		return value_type(s, t->base, t->space, false);
	if (t->kind == T_PTR && t->base && t->base->size)
		return value_type(s, t->base, t->space == AS_BTF ? AS_KERNEL : t->space, false);
	AUTO_SB name = {0};
	type_name(t, &name);
	sema_fail(s, E_TYPE, n->loc,
		  "The array index operator [] can only be used on arrays and pointers, found %s.",
		  name.s);
	return unknown(s);
}

static bool castable(const struct type *to, const struct type *from)
{
	bool num_from = number(from) || from->kind == T_PTR || from->kind == T_KSYM ||
			from->kind == T_USERNAME;
	if (to->kind == T_BOOL)
		return num_from || from->kind == T_STRING;
	if (type_is_int(to))
		return num_from || from->kind == T_FLOAT ||
		       (from->kind == T_ARRAY && from->size <= 8);
	if (to->kind == T_PTR)
		return num_from || from->kind == T_ARRAY;
	if (to->kind == T_KSYM)
		return num_from;
	if (to->kind == T_ARRAY)
		return number(from) || from->kind == T_ARRAY || from->kind == T_STRING;
	if (to->kind == T_STRING)
		return from->kind == T_STRING || from->kind == T_ARRAY || from->kind == T_PROBE;
	return type_eq(to, from);
}

/* Is there an enumerator with it? */
static bool has_value(const struct type *t, u64 val)
{
	for (u32 i = 0; i < t->nenum; i++)
		if (t->enums[i].val == (i64)val)
			return true;
	return !t->nenum;
}

/*
 * A literal gets a type by a cast, an aggregation becomes a number; what has its type from the machine,
 * or from who uses the macro, may have another one elsewhere. Casts of tools follow from what their users type.
 */
static void warn_same(struct sema *s, const struct node *n, const struct type *to)
{
	const struct node *v = n->b;
	bool agg = v->kind == N_MAP && v->map && v->map->val && type_is_agg(v->map->val);
	bool machine = v->kind == N_MEMBER || v->kind == N_INDEX || v->kind == N_NAME;
	bool macro = s->ds->from && s->ds->from[n->loc.src].len;
	if (s->final && !agg && !machine && !macro && !is_lit(v) && to->kind != T_STRING &&
	    type_eq(to, v->type) && !diags_embedded(s->ds, n->loc))
		diag_add(s->ds, W_CAST, n->loc,
			 "Unnecessary cast: expression is already of type %s",
			 type_namez(s->a, to));
}

static const struct type *check_cast(struct sema *s, struct node *n)
{
	bool made = n->a->kind == N_TYPE && !n->a->a && !n->a->name.n; /* by as_type() */
	const struct type *to = made ? n->a->type : type_of_node(s, n->a);
	n->a->type = to;
	const struct type *from = check_expr(s, n->b);
	if (!settled(from) || !settled(to))
		return unknown(s);
	if (!castable(to, from)) {
		AUTO_SB a = {0};
		AUTO_SB b = {0};
		type_name(from, &a);
		type_name(to, &b);
		sema_fail(s, E_TYPE, n->loc, "Cannot cast from \"%s\" to \"%s\"", a.s, b.s);
		return unknown(s);
	}
	if (!made)
		warn_same(s, n, to);
	if (to->kind == T_ARRAY && !to->count && to->base->size)
		return type_array(s->a, to->base, from->size / to->base->size);
	if (to->kind == T_STRING && !to->size && from->kind == T_PROBE)
		return type_string(s->a, from->count);
	if (to->kind == T_STRING && !to->size)
		return from;
	if (to->kind == T_PTR && from->kind == T_PTR) {
		bool same = type_eq(to, from);
		enum space sp =
			from->space == AS_BTF && !same ? AS_KERNEL : (enum space)from->space;
		return with_space(s, to, sp);
	}
	if (to->kind == T_ENUM && n->b->kind == N_NUM && !has_value(to, n->b->num)) {
		AUTO_SB name = {0};
		type_name(to, &name);
		sema_fail(s, E_RANGE, n->loc, "%s has no enumerator of the value %lld", name.s,
			  (i64)n->b->num);
		return unknown(s);
	}
	if (type_is_int(to) && n->b->kind == N_NUM)
		set_typed(n, n->b->num, to);
	return to;
}

/* ---- composites ---- */

static const struct type *check_tuple(struct sema *s, struct node *n)
{
	enum { MAX_ELEMS = 64 };
	const struct type *elem[MAX_ELEMS];
	struct str names[MAX_ELEMS];
	u32 k = 0;
	bool ok = true;
	for (struct node *e = n->a; e; e = e->next, k++) {
		struct node *v = n->kind == N_RECORD ? e->a : e;
		const struct type *t = check_expr(s, v);
		if (k == MAX_ELEMS) {
			sema_fail(s, E_LIMIT, n->loc, "more than %d elements", MAX_ELEMS);
			return unknown(s);
		}
		if (settled(t) && (t->kind == T_NONE || type_is_agg(t))) {
			sema_fail(s, E_TYPE, e->loc, "this has no value that a tuple could hold");
			ok = false;
		}
		if (!settled(t))
			ok = false;
		else
			elem[k] = stored_type(s, t);
		names[k] = e->name;
		e->type = t;
		warn_address(s, v);
	}
	if (!ok)
		return unknown(s);
	return k ? type_tuple(s->a, k, elem, n->kind == N_RECORD ? names : NULL) : &type_none;
}

static const struct type *check_choice(struct sema *s, struct node *n, struct node *x,
				       struct node *y)
{
	const struct type *a = x->type, *b = y->type;
	if (!settled(a) || !settled(b))
		return unknown(s);
	const struct type *t = type_merge(s->a, a, b);
	if (t)
		return t->kind == T_NONE ? t : t->kind == T_PTR ? t : stored_type(s, t);
	AUTO_SB l = {0};
	AUTO_SB r = {0};
	type_name(a, &l);
	type_name(b, &r);
	sema_fail(s, E_TYPE, n->loc,
		  "Branches must return the same type or compatible types: have type '%s' and '%s'",
		  l.s, r.s);
	return unknown(s);
}

static const struct type *check_cond_expr(struct sema *s, struct node *n)
{
	check_cond(s, n->a);
	if (n->b)
		check_expr(s, n->b);
	check_expr(s, n->c);
	struct node *yes = n->b ? n->b : n->a;
	if (n->a->kind == N_NUM || n->a->kind == N_BOOL) { /* the other branch goes away */
		struct node *next = n->next, *pick = n->a->num ? yes : n->c;
		const struct type *other = (n->a->num ? n->c : yes)->type;
		struct loc loc = n->loc;
		if (!settled(pick->type))
			return unknown(s);
		/* ... but has its say about the type. */
		if (!is_lit(pick) && settled(other) && type_is_int(pick->type) &&
		    type_is_int(other)) {
			const struct type *t = type_merge(s->a, pick->type, other);
			if (t && !type_eq(t, pick->type))
				pick = as_type(s, pick, t);
		}
		*n = *pick;
		n->next = next;
		n->loc = loc;
		return n->type;
	}
	return check_choice(s, n, yes, n->c);
}

bool check_comptime_if(struct sema *s, struct node *n)
{
	s->comptime++;
	check_cond(s, n->a);
	s->comptime--;
	const struct node *cond = n->a;
	if (!settled(cond->type))
		return false;
	if (!is_lit(cond) && cond->kind != N_STR)
		return sema_fail(s, E_LITERAL, cond->loc, "Unable to resolve comptime expression");
	bool yes = cond->kind == N_STR ? cond->name.n > 0 : cond->num != 0;
	struct node *next = n->next, *taken = yes ? n->b : n->c;
	struct loc loc = n->loc;
	*n = taken ? *taken : (struct node){.kind = N_BLOCK, .loc = loc, .type = &type_none};
	n->next = next;
	return true;
}

/* The statement that is a block's value, always an EXPR; NULL: there is none. */
static struct node *value_stmt(struct sema *s, struct node *block)
{
	struct node *last = block->a;
	while (last && last->next)
		last = last->next;
	if (!last || !(block->flags & NF_VALUE))
		return NULL;
	if (last->kind == N_IF || last->kind == N_BLOCK) {
		struct node *in = node_new(s->a, N_EXPR, last->loc);
		*in = *last;
		*last = (struct node){.kind = N_EXPR, .loc = in->loc, .a = in};
	}
	return last;
}

/* Value of a block or if expression. */
static const struct type *check_value_block(struct sema *s, struct node *n)
{
	if (n->kind == N_BLOCK) {
		struct node *last = value_stmt(s, n);
		if (last)
			last->flags |= NF_USED;
		check_block(s, n);
		return last ? last->a->type : &type_none;
	}
	if (n->flags & NF_COMPTIME)
		return check_comptime_if(s, n) ? check_value_block(s, n) : unknown(s);
	check_cond(s, n->a);
	n->b->type = check_value_block(s, n->b);
	if (!n->c)
		return &type_none;
	n->c->type = check_value_block(s, n->c);
	return check_choice(s, n, n->b, n->c);
}

/* Has each CPU a copy, although all could share one? */
static bool wants_copies(const struct map *m)
{
	return m->declared && (m->map_type == BPF_MAP_TYPE_PERCPU_HASH ||
			       m->map_type == BPF_MAP_TYPE_LRU_PERCPU_HASH);
}

/* Can an element be sent to user space as it is in memory? Only where there is one copy of it. */
static bool shows_whole(const struct map *m)
{
	const struct agg *agg = agg_of(m->val);
	return !wants_copies(m) && agg->adds && !agg->has_int;
}

void check_copies(struct sema *s, struct loc loc, const struct map *m, const char *doing)
{
	const struct agg *agg = m->val ? agg_of(m->val) : NULL;
	bool copies = agg && (!agg->adds || wants_copies(m));
	if (copies && s->final && !host_has(s->c->host, FEAT_PERCPU_LOOKUP))
		sema_fail(s, E_FEATURE, loc, "%s %s needs %s, %s", doing, m->name.s,
			  feature_what(FEAT_PERCPU_LOOKUP),
			  feature_lacks(s->c->host, FEAT_PERCPU_LOOKUP));
}

static const struct type *check_map_read(struct sema *s, struct node *n)
{
	struct map *m = map_get(s, n);
	bool show = s->show;
	s->show = false;
	map_use_key(s, m, n, n->a);
	if (!mapuse(s->c, m)->assigned && s->final) {
		map_unknown(s, m, n->loc);
		return &type_error;
	}
	if (!m->val)
		return unknown(s);
	if (!type_is_agg(m->val))
		return m->val;
	mapuse(s->c, m)->read = true;
	if (show && shows_whole(m))
		return m->val;
	const struct agg *agg = agg_of(m->val);
	if (!agg->has_int) {
		AUTO_SB name = {0};
		type_name(m->val, &name);
		sema_fail(s, E_AGG, n->loc,
			  "Map %s holds %s, which has no integer value; print() shows it",
			  m->name.s, name.s);
		return unknown(s);
	}
	check_copies(s, n->loc, m, "reading");
	return type_int(8, m->val->is_signed);
}

static const struct type *check_incdec(struct sema *s, struct node *n)
{
	const struct type *t;
	if (n->a->kind == N_MAP) {
		struct map *m = map_get(s, n->a);
		map_use_key(s, m, n->a, n->a->a);
		mapuse(s->c, m)->used_whole = true;
		if (m->val && type_is_agg(m->val)) {
			sema_fail(s, E_AGG, n->loc,
				  "%s holds an aggregation, which only its own function can change",
				  m->name.s);
			return unknown(s);
		}
		const struct type *v = !m->val || m->val->flex ? &type_i64 : m->val;
		if (v->kind == T_INT)
			v = type_int(8, v->is_signed || n->op == TK_DEC);
		map_assign(s, m, v, n);
		t = n->a->type = m->val ? m->val : &type_i64;
	} else {
		var_mark_set(s, n->a);
		t = check_expr(s, n->a);
		if (settled(t) && n->a->kind == N_VAR && n->a->var && type_is_int(t))
			var_assign(s, n->a->var,
				   n->a->var->fixed ? t
						    : type_int(8, t->is_signed || n->op == TK_DEC),
				   n);
	}
	if (!settled(t))
		return unknown(s);
	if (!type_is_int(t) && t->kind != T_PTR) {
		AUTO_SB name = {0};
		type_name(t, &name);
		sema_fail(s, E_TYPE, n->loc,
			  "The %s operator can not be used on expressions of type '%s'",
			  token_text(n->op), name.s);
		return unknown(s);
	}
	return t->kind == T_PTR ? t : type_int(8, t->is_signed);
}

/* *arg: is there something whose type other statements decide, too? */
static bool see_var(struct node *n, void *arg)
{
	if (n->kind == N_VAR || n->kind == N_MAP)
		*(bool *)arg = true;
	return true;
}

static const struct type *check_sizes(struct sema *s, struct node *n)
{
	const struct type *t = type_or_value(s, n->a);
	bool may_grow = false;
	if (!settled(t))
		return unknown(s);
	if (!s->sizes && !s->comptime) {
		node_walk(n->a, see_var, &may_grow);
		s->later |= may_grow;
	}
	if (may_grow)
		return NULL;
	/* As a value of a script an enum has 64 bits; a member of a struct keeps its own. */
	u64 v = t->kind == T_ENUM && n->a->kind != N_MEMBER ? 8 : t->size;
	if (n->kind == N_OFFSETOF) {
		v = 0;
		for (struct node *f = n->b; f; f = f->next) {
			struct field fd;
			if (!type_is_record(t) || !type_field(t, f->name, &fd)) {
				f->a = n->a;
				return no_field(s, f, t);
			}
			v += fd.bit_off / 8;
			t = fd.type;
		}
	}
	node_set_num(n, v, &type_u64);
	return n->type;
}

static const struct type *check_param(struct sema *s, struct node *n)
{
	if (n->kind == N_NPARAM) {
		set_literal(n, s->c->nparam);
		return n->type;
	}
	if (n->num > s->c->nparam) {
		if (s->final)
			diag_add(s->ds, W_PARAM, n->loc,
				 "Positional parameter $%llu is empty or not provided.", n->num);
		else
			return NULL;
		set_literal(n, 0);
		return n->type;
	}
	struct str text = s->c->params[n->num - 1];
	i64 i;
	u64 u;
	const char *why;
	if (str_u64(text, &u) || compile_language(s->c)->number(text, &u, &why))
		set_literal(n, (__int128)u);
	else if (str_i64(text, &i))
		set_literal(n, i);
	else
		node_set_str(s, n, text);
	return n->type;
}

static const struct type *check_var(struct sema *s, struct node *n)
{
	struct var *v = var_find(s, n);
	if (!v) {
		var_unknown(s, n);
		return unknown(s);
	}
	n->var = v;
	v->used = true;
	if (s->final && v->empty && v->fixed && v->set != s->round && !v->mark) {
		diag_add(s->ds, W_UNUSED, n->loc, "Variable used before it was assigned: $%.*s",
			 STRF(n->name));
		v->empty = v->set != 0 ? false : v->empty;
	}
	if (!v->type && s->final) {
		sema_fail(s, E_UNDEF_VAR, n->loc,
			  "Could not resolve the type of this variable: $%.*s", STRF(n->name));
		return &type_error;
	}
	return v->type;
}

static const struct type *check_comptime(struct sema *s, struct node *n)
{
	s->comptime++;
	const struct type *t = check_expr(s, n->a);
	s->comptime--;
	if (!settled(t))
		return unknown(s);
	if (!is_lit(n->a) && n->a->kind != N_STR) {
		sema_fail(s, E_LITERAL, n->loc, "Unable to resolve comptime expression");
		return unknown(s);
	}
	struct node *next = n->next;
	*n = *n->a;
	n->next = next;
	return n->type;
}

static const struct type *expr_type(struct sema *s, struct node *n)
{
	switch (n->kind) {
	case N_NUM: return n->type ? n->type : literal_type(n->num, n->flags & NF_NEG);
	case N_BOOL: return &type_bool;
	case N_STR:
		if (n->name.n > s->u->config.max_strlen)
			sema_fail(s, E_STRING, n->loc, "String is too long (over %llu bytes): %.*s",
				  s->u->config.max_strlen, STRF(n->name));
		return type_string(s->a, n->name.n + 1);
	case N_VAR: return check_var(s, n);
	case N_PARAM:
	case N_NPARAM: return check_param(s, n);
	case N_MAP: return check_map_read(s, n);
	case N_NAME: return check_name(s, n);
	case N_CALL: return check_call(s, n);
	case N_FNCALL: return check_fncall(s, n);
	case N_CCALL: return check_ccall(s, n);
	case N_UNARY: return check_unary(s, n);
	case N_INCDEC: return check_incdec(s, n);
	case N_BINARY: return check_binary(s, n);
	case N_COND: return check_cond_expr(s, n);
	case N_MEMBER: return check_member(s, n);
	case N_ELEM: return check_elem(s, n);
	case N_INDEX: return check_index(s, n);
	case N_CAST: return check_cast(s, n);
	case N_TUPLE:
	case N_RECORD: return check_tuple(s, n);
	case N_SIZEOF:
	case N_OFFSETOF: return check_sizes(s, n);
	case N_COMPTIME: return check_comptime(s, n);
	case N_BLOCK:
	case N_IF: return check_value_block(s, n);
	case N_TYPEINFO: return check_typeinfo(s, n);
	case N_TYPE:
	case N_TPTR:
	case N_TARRAY:
		sema_fail(s, E_TYPE, n->loc, "a type is not allowed here");
		return unknown(s);
	case N_PROGRAM:
	case N_CDEF:
	case N_CONFIG:
	case N_SET:
	case N_OPTIONS:
	case N_OPTION:
	case N_TABLE:
	case N_COLUMN:
	case N_IMPORT:
	case N_MAPDECL:
	case N_MACRO:
	case N_FN:
	case N_PROBE:
	case N_POINT:
	case N_EXPR:
	case N_ASSIGN:
	case N_DISCARD:
	case N_LET:
	case N_WHILE:
	case N_UNROLL:
	case N_FOR:
	case N_RANGE:
	case N_BREAK:
	case N_CONTINUE:
	case N_RETURN: break;
	case N_RFIELD: sema_fail(s, E_SYNTAX, n->loc, "only emit() takes arguments by name"); break;
	}
	return unknown(s);
}

const struct type *check_expr(struct sema *s, struct node *n)
{
	const struct type *t = expr_type(s, n);
	assert(t || !s->final);
	n->type = t;
	return t;
}
