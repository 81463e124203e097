/* map.c - whole maps and single elements: delete has_key find len clear zero. */
#include "builtin/common.h"
#include "core/store.h"
#include "report/report.h"
#include "sema/check.h"
#include "sema/mapuse.h"
#include <linux/bpf.h>

static struct ref lower_delete(struct lower *l, struct node *call, struct mem dst)
{
	struct map *m = sema_map(call->a);

	(void)dst;
	return m->store->remove(l, m, call_arg(call, 1));
}

static bool check_delete_scalar(struct sema *s, struct node *call)
{
	check_copies(s, call->loc, sema_map(call->a), "deleting");
	if (!mapuse(s->c, sema_map(call->a))->keyed)
		return true;
	return sema_fail(s, E_MAP_SHAPE, call->loc,
			 "call to delete() with a single argument expects a map without explicit "
			 "keys (scalar map)");
}

/* delete(@m[k]) is the old spelling of delete(@m, k): turned into it before the key gets a type. */
static const struct type *type_delete_old(struct sema *s, struct node *call)
{
	struct node *m = call->a;

	if (m->kind == N_MAP && m->a) {
		m->next = m->a;
		m->a = NULL;
		s->changed = true;
	}
	return &type_bool;
}

static bool check_delete_old(struct sema *s, struct node *call)
{
	return sema_fail(s, E_TYPE, call->a->loc, "delete() expects a map and a key");
}

static struct ref lower_has_key(struct lower *l, struct node *call, struct mem dst)
{
	struct map *m = sema_map(call->a);
	struct node *key = call_arg(call, 1);

	(void)dst;
	if (m->store->has)
		return m->store->has(l, m, key);
	return ir_op2(l->f, O_NE, m->store->find(l, m, key), ir_con(l->f, 0));
}

/* ---- find ---- */

/* The variable takes the type of the map's values, as if by assignment. */
static const struct type *type_find(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 2);
	const struct map *m = sema_map(call->a);

	n->var = n->kind == N_VAR ? var_find(s, n) : NULL;
	if (n->var && m->val && !type_is_agg(m->val)) {
		var_assign(s, n->var, m->val, n);
		n->type = n->var->type;
	}
	return &type_bool;
}

static bool check_find(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 2);
	const struct map *m = sema_map(call->a);

	if (n->kind != N_VAR)
		return sema_fail(s, E_TYPE, n->loc,
				 "find() expects a variable to put the value into");
	if (!n->var)
		return sema_fail(s, E_UNDEF_VAR, n->loc, "Undefined or undeclared variable: $%.*s",
				 STRF(n->name));
	if (m->val && type_is_agg(m->val))
		return sema_fail(s, E_AGG, call->a->loc, "find() cannot copy an aggregation (%s)",
				 type_namez(s->a, m->val));
	return true;
}

/* The value at p into a variable, which may be wider. */
static void set_from_value(struct lower *l, struct var *v, const struct type *t, struct ref p)
{
	struct mem to;

	if (type_is_scalar(t)) {
		lower_var_set(l, v,
			      lower_convert(l, lower_read_scalar(l, t, p, 0, AS_MAP), t, v->type));
		return;
	}
	to = lower_var_mem(l, v);
	if (v->type->size > t->size)
		lower_zero(l, to, v->type->size);
	lower_copy(l, to, mem_of(p, 0), MIN(v->type->size, t->size));
}

static struct ref lower_find(struct lower *l, struct node *call, struct mem dst)
{
	struct map *m = sema_map(call->a);
	struct fn *f = l->f;
	struct ref there = ir_var(f), p = m->store->find(l, m, call_arg(call, 1));
	struct blk *yes = ir_blk(f), *no = ir_blk(f), *done = ir_blk(f);
	struct lower_cache *kept;

	(void)dst;
	ir_br(f, O_NE, p, ir_con(f, 0), yes, no);
	ir_at(f, yes);
	kept = lower_may_skip_begin(l);
	set_from_value(l, call_arg(call, 2)->var, m->val, p);
	lower_may_skip_end(l, kept);
	ir_set(f, there, ir_con(f, 1));
	ir_jmp(f, done);
	ir_at(f, no);
	ir_set(f, there, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, there);
}

/* ---- len ---- */
static bool check_len_map(struct sema *s, struct node *call)
{
	if (mapuse(s->c, sema_map(call->a))->keyed)
		return true;
	return sema_fail(s, E_MAP_SHAPE, call->a->loc,
			 "call to len() expects a map with explicit keys (non-scalar map)");
}

/* bpf_for_each_map_elem returns how many elements it went through; the callback has nothing to do.
 */
static struct ref lower_len_map(struct lower *l, struct node *call, struct mem dst)
{
	const struct map *m = sema_map(call->a);
	struct fn *f = l->f, *cb = ir_fn(f->arena, STR("len_element"));

	(void)dst;
	cb->callback = true;
	cb->nparam = 4;
	cb->loc = f->loc;
	ir_ret(cb, ir_con(cb, 0));
	return m->store->each(l, m, cb, ir_con(f, 0));
}

static bool check_len(struct sema *s, struct node *call)
{
	const struct type *t = call->a->type;

	switch (t->kind) {
	case T_KSTACK:
	case T_USTACK:
	case T_BUF:
	case T_STRING: return true;
	case T_ARRAY: node_set_num(call, t->count, &type_i64); return true;
	case T_TUPLE: node_set_num(call, t->nfield, &type_i64); return true;
	default: break;
	}
	return sema_fail(s, E_TYPE, call->a->loc,
			 "call to len() expects a map, a stack, a string, a buffer, an array or a "
			 "tuple (%s provided)",
			 type_namez(s->a, t));
}

static struct ref lower_len(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	if (call->a->type->kind == T_STRING)
		return builtin_strlen(l, call, dst);
	_Static_assert(offsetof(struct stack_value, n) == 0, "as in buffers");
	return lower_load(l, 4, false, lower_mem(l, call->a));
}

/* ---- clear, zero ---- */
static void handle_clear(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			 u64 ts);
static void handle_zero(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			u64 ts);

static struct ref lower_on_map(struct lower *l, struct node *call, struct mem dst)
{
	struct schema *sc = lower_schema(l, call->fn, call->loc);

	(void)dst;
	sc->map = sema_map(call->a);
	sc->map->cleared |= call->fn->handle == handle_clear;
	sc->map->zeroed |= call->fn->handle == handle_zero;
	lower_record(l, call, NULL, sc);
	return REF_NONE;
}

static void handle_clear(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			 u64 ts)
{
	(void)v, (void)n, (void)ts;
	report_clear_map(r, sc->map);
}

static void handle_zero(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			u64 ts)
{
	(void)v, (void)n, (void)ts;
	report_zero_map(r, sc->map);
}

const struct builtin builtin_map[] = {
	{"bool delete(map m, any key)", lower_delete, B_STMT_OK | B_ELEMENT, .role = ROLE_DELETE,
	 .doc = "Removes the element with this key. True if it existed."},
	{"bool delete(map m)", lower_delete, B_STMT_OK, .check = check_delete_scalar,
	 .doc = "Removes the value of a map without keys. True if it existed."},
	{"bool delete(type element)", lower_delete, B_STMT_OK | B_OLD | B_ELEMENT,
	 .type = type_delete_old, .check = check_delete_old,
	 .doc = "Old spelling of delete(@m, key): delete(@m[key])."},
	{"bool has_key(map m, any key)", lower_has_key, B_ELEMENT,
	 .doc = "True if the map has an element with this key."},
	{"bool find(map m, any key, type var)", lower_find, B_STMT_OK | B_SETS, .type = type_find,
	 .check = check_find,
	 .doc = "Copies the element with this key into a variable and returns true. If the element "
		"does not exist, returns false and leaves the variable unchanged."},
	{"int64 len(map m)", lower_len_map, .needs = FEAT_FOR_EACH, .check = check_len_map,
	 .doc = "Number of elements of a map."},
	{"int64 len(any value)", lower_len, .role = ROLE_LEN, .check = check_len,
	 .doc = "Frames of a stack, characters of a string, bytes of a buffer, elements of an "
		"array or tuple."},
	{"void clear(map m)", lower_on_map, B_ASYNC | B_TIMED, .handle = handle_clear,
	 .doc = "Removes all elements of a map."},
	{"void zero(map m)", lower_on_map, B_ASYNC, .handle = handle_zero,
	 .doc = "Sets all values of a map to 0."},
	{0},
};
