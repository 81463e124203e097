/* map.c - access to maps: what operators mean, in all methods to keep one. */
#include "core/agg.h"
#include "core/store.h"
#include "lower/lower.h"
#include <errno.h>

/* Is the element there, as a condition. */
static void branch_found(struct lower *l, struct map *m, struct ref p, struct blk *yes,
			 struct blk *no)
{
	ir_br(l->f, O_NE, m->store->constant ? ir_con(l->f, 1) : p, ir_con(l->f, 0), yes, no);
}

struct ref lower_element(struct lower *l, const struct map *m)
{
	struct ref p = ir_op1(l->f, O_MAPVAL, 8, ir_map(m->in ? m->in->index : m->index));
	return m->in ? ir_addi(l->f, p, m->at) : p;
}

struct ref lower_error(struct lower *l, struct ref r)
{
	return ir_op2(l->f, O_AND, r, ir_con(l->f, STAT_ERROR_MASK));
}

void lower_refused(struct lower *l, const struct map *m, struct ref error)
{
	struct fn *f = l->f;
	struct blk *other = ir_blk(f), *count = ir_blk(f);
	struct ref p = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->stats->index)), one = ir_con(f, 1);
	i32 at = (i32)(8 * stat_map_word(l->u->nprog, m->index));
	other->unlikely = count->unlikely = true;
	ir_br(f, O_EQ, error, ir_con(f, stat_error(E2BIG)), count, other);
	ir_at(f, other);
	ir_store(f, 8, p, at + 8 * STAT_MAP_ERROR, error);
	ir_xadd(f, 8, p, at + 8 * STAT_MAP_OTHER, one);
	ir_jmp(f, count);
	ir_at(f, count);
	ir_xadd(f, 8, p, at + 8 * STAT_MAP_REFUSED, one);
}

static void note_stored(struct lower *l, struct map *m, struct ref p)
{
	if (m->store->stored)
		m->store->stored(l, m, p);
}

void lower_add(struct lower *l, struct map *m, struct node *call, struct ref p, bool percpu)
{
	struct lower_cache *kept;
	/* Programs of user probes can be preempted by others on their CPU: adding must not be torn
	 * apart. */
	bool shared = !percpu || (agg_of(m->val)->adds && (point_flags(l->pt) & PROBE_USER));
	kept = lower_may_skip_begin(l);
	call->type = m->val; /* as merged over the script */
	call->fn->add(l, call, mem_of(p, 0), shared);
	lower_may_skip_end(l, kept);
}

/* ---- reading ---- */

struct ref lower_agg_number(struct lower *l, const struct map *m, struct ref total, struct ref n)
{
	struct fn *f = l->f;
	if (!agg_of(m->val)->mean)
		return total;
	struct ref out = ir_var(f);
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	ir_set(f, out, ir_con(f, 0));
	ir_br(f, O_NE, n, ir_con(f, 0), some, done);
	ir_at(f, some);
	if (m->val->is_signed) {
		struct ref s = ir_op2(f, O_SAR, total, ir_con(f, 63));
		struct ref a = ir_op2(f, O_SUB, ir_op2(f, O_XOR, total, s), s);
		struct ref q = ir_op2(f, O_UDIV, a, n);
		ir_set(f, out, ir_op2(f, O_SUB, ir_op2(f, O_XOR, q, s), s));
	} else {
		ir_set(f, out, ir_op2(f, O_UDIV, total, n));
	}
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, out);
}

struct ref lower_agg_word(struct lower *l, const struct map *m, struct ref p)
{
	struct ref total = ir_load(l->f, 8, p, 0);
	bool mean = agg_of(m->val)->mean;
	return lower_agg_number(l, m, total, mean ? ir_load(l->f, 8, p, 8) : REF_NONE);
}

/* -k: each read of an element that is not there. */
static void tell_missing(struct lower *l, const struct node *n)
{
	if (l->u->config.warnings && n->a)
		lower_warn(l, n->loc, "Can't lookup map element because it does not exist.");
}

struct ref lower_map_value(struct lower *l, struct node *n)
{
	struct fn *f = l->f;
	struct map *m = n->map;
	if (m->store->read) {
		struct ref v = m->store->read(l, m, n->a);
		return type_is_agg(m->val) ? v : lower_convert(l, v, m->val, n->type);
	}
	struct ref p = m->store->find(l, m, n->a), out = ir_var(f);
	struct blk *some = ir_blk(f), *none = ir_blk(f), *done = ir_blk(f);
	ir_set(f, out, ir_con(f, 0));
	branch_found(l, m, p, some, none);
	ir_at(f, none);
	tell_missing(l, n);
	ir_jmp(f, done);
	ir_at(f, some);
	if (type_is_agg(m->val)) {
		ir_set(f, out, lower_agg_word(l, m, p));
	} else {
		struct ref v =
			lower_load(l, MIN(m->val->size, 8u), m->val->is_signed, mem_of(p, 0));
		ir_set(f, out, lower_convert(l, v, m->val, n->type));
	}
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, out);
}

void lower_map_into(struct lower *l, struct node *n, struct mem dst, const struct type *as)
{
	struct fn *f = l->f;
	struct map *m = n->map;
	struct ref p = m->store->find(l, m, n->a);
	struct blk *some = ir_blk(f), *none = ir_blk(f), *done = ir_blk(f);
	u32 size = MIN(m->val->size, as->size);
	branch_found(l, m, p, some, none);
	ir_at(f, some);
	lower_copy(l, dst, mem_of(p, 0), size);
	ir_jmp(f, done);
	ir_at(f, none);
	tell_missing(l, n);
	lower_zero(l, dst, size);
	ir_jmp(f, done);
	ir_at(f, done);
	if (as->size > size)
		lower_zero(l, mem_at(dst, (i32)size), as->size - size);
}

/* ---- storing ---- */

static enum token plain(enum token op)
{
	static const u8 pairs[][2] = {
		{TK_ADDEQ, TK_PLUS},  {TK_SUBEQ, TK_MINUS},   {TK_MULEQ, TK_STAR},
		{TK_DIVEQ, TK_SLASH}, {TK_MODEQ, TK_PERCENT}, {TK_ANDEQ, TK_AMP},
		{TK_OREQ, TK_PIPE},   {TK_XOREQ, TK_CARET},   {TK_SHLEQ, TK_SHL},
		{TK_SHREQ, TK_SHR},
	};
	for (size_t i = 0; i < countof(pairs); i++)
		if (pairs[i][0] == op)
			return (enum token)pairs[i][1];
	return TK_EOF;
}

/* @x op= value. Additions are atomic, so no update is lost. */
static void assign_op(struct lower *l, struct map *m, struct node *n)
{
	struct fn *f = l->f;
	struct ref v = lower_operand(l, n->b);
	struct blk *done = ir_blk(f);
	struct ref p = m->store->element(l, m, n->a->a, done);
	enum token op = plain(n->op);
	bool add = (op == TK_PLUS || op == TK_MINUS) && m->val->kind == T_INT && m->val->size == 8;
	if (add) {
		ir_xadd(f, 8, p, 0, op == TK_MINUS ? ir_op1(f, O_NEG, 8, v) : v);
	} else {
		struct ref old =
			lower_load(l, MIN(m->val->size, 8u), m->val->is_signed, mem_of(p, 0));
		struct ref r = lower_arith(l, n, op, old, v, m->val, n->b->type);
		lower_store(l, MIN(m->val->size, 8u), mem_of(p, 0), r);
	}
	note_stored(l, m, p);
	ir_jmp(f, done);
	ir_at(f, done);
}

static void assign_var(struct lower *l, struct node *n)
{
	struct var *v = n->a->var;
	if (n->op != TK_ASSIGN) {
		struct ref x = lower_var_get(l, v), y = lower_operand(l, n->b);
		struct ref r = lower_arith(l, n, plain(n->op), x, y, v->type, n->b->type);
		lower_var_set(l, v, lower_convert(l, r, &type_i64, v->type));
	} else if (type_is_scalar(v->type)) {
		lower_var_set(l, v, lower_convert(l, lower_value(l, n->b), n->b->type, v->type));
	} else {
		struct mem tmp = lower_tmp(l, v->type->size); /* the value may use the variable */
		lower_into_as(l, n->b, tmp, v->type);
		lower_copy(l, lower_var_mem(l, v), tmp, v->type->size);
	}
}

void lower_assign(struct lower *l, struct node *n)
{
	if (n->a->kind == N_VAR) {
		assign_var(l, n);
		return;
	}
	struct map *m = n->a->map;
	if (type_is_agg(n->b->type))
		m->store->add(l, m, n->a->a, n->b);
	else if (n->op == TK_ASSIGN)
		m->store->assign(l, m, n->a->a, n->b);
	else
		assign_op(l, m, n);
}

static struct ref step_of(struct lower *l, const struct node *n, const struct type *t)
{
	u64 k = t->kind == T_PTR && t->base && t->base->size ? t->base->size : 1;
	return ir_con(l->f, n->op == TK_INC ? k : -k);
}

struct ref lower_incdec(struct lower *l, struct node *n, bool used)
{
	struct fn *f = l->f;
	bool post = n->flags & NF_POST;
	if (n->a->kind == N_VAR) {
		struct var *v = n->a->var;
		struct ref old = lower_var_get(l, v);
		struct ref now = lower_convert(l, ir_op2(f, O_ADD, old, step_of(l, n, v->type)),
					       &type_i64, v->type);
		lower_var_set(l, v, now);
		return post ? old : now;
	}
	struct map *m = n->a->map;
	struct blk *done = ir_blk(f);
	struct ref out = ir_var(f), step = step_of(l, n, m->val);
	ir_set(f, out, ir_con(f, 0));
	struct ref p = m->store->element(l, m, n->a->a, done);
	if (used && host_has(l->c->host, FEAT_ATOMIC)) {
		struct ref old = ir_atomic(f, O_XADDF, 8, p, 0, step);
		ir_set(f, out, post ? old : ir_op2(f, O_ADD, old, step));
	} else {
		if (used) {
			struct ref old = ir_load(f, 8, p, 0);
			ir_set(f, out, post ? old : ir_op2(f, O_ADD, old, step));
		}
		ir_xadd(f, 8, p, 0, step);
	}
	note_stored(l, m, p);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, out);
}
