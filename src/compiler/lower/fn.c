/*
 * fn.c - calls of the script's functions: BPF subprograms.
 *
 * The first register hands on the frame (lower.h), the next four the first scalar arguments. Other
 * arguments, and results that are not scalars, travel in scratch memory: a function never runs
 * twice at once, since none may call itself.
 */
#include "lower/lower.h"

static bool in_register(const struct fninst *i, u32 k)
{
	const struct var *v = i->param[k];
	return type_is_scalar(v->type) && !v->captured && k < FN_REG_PARAMS;
}

/* The subprogram, built when the program first calls it. */
static struct fn *subprogram(struct lower *l, struct fninst *i)
{
	if (i->ir && i->ir_prog == l->prog)
		return i->ir;
	struct saved s;
	struct fn *f = lower_enter(l, &s, NULL, arena_strz(&l->c->scratch, i->fn->name), 0);
	struct fn *root = l->root;
	struct fninst *inst = l->inst;
	i->ir = f;
	i->ir_prog = l->prog;
	f->nparam = 1;
	l->root = f;
	l->inst = i;
	l->rounds = 1; /* walked through at each call */
	for (u32 k = 0; k < i->nparam; k++)
		if (in_register(i, k)) {
			lower_var_set(l, i->param[k], ir_param(f, k + 1));
			f->nparam = MAX(f->nparam, k + 2);
		}
	lower_block(l, i->fn->c);
	lower_leave(l, &s);
	l->root = root;
	l->inst = inst;
	return f;
}

/* Arguments may call functions themselves: all values first, then memory. */
static u32 pass_args(struct lower *l, struct node *n, const struct fninst *i,
		     struct ref arg[static 1 + FN_REG_PARAMS])
{
	struct ref val[MAX_FN_PARAMS];
	struct mem mem[MAX_FN_PARAMS];
	u32 k = 0, nreg = 1;
	for (struct node *a = n->a; a; a = a->next, k++) {
		const struct type *t = i->param[k]->type;
		if (type_is_scalar(t)) {
			val[k] = lower_convert(l, lower_value(l, a), a->type, t);
		} else {
			mem[k] = lower_tmp(l, t->size);
			lower_into_as(l, a, mem[k], t);
		}
	}
	for (u32 j = 0; j < FN_REG_PARAMS; j++)
		arg[1 + j] = ir_con(l->f, 0);
	for (k = 0; k < i->nparam; k++) {
		struct var *v = i->param[k];
		if (in_register(i, k)) {
			arg[1 + k] = val[k];
			nreg = MAX(nreg, k + 2);
		} else if (type_is_scalar(v->type)) {
			lower_store(l, 8, lower_var_mem(l, v), val[k]);
		} else {
			lower_copy(l, lower_var_mem(l, v), mem[k], v->type->size);
		}
	}
	return nreg;
}

/* The call; gives the result when it is a scalar. */
static struct ref call(struct lower *l, struct node *n)
{
	struct fninst *i = n->any;
	struct ref arg[1 + FN_REG_PARAMS];
	u32 nreg = pass_args(l, n, i, arg);
	arg[0] = lower_addr(l, l->frame);
	struct fn *f = subprogram(l, i);
	struct ref r = ir_callfn(l->f, f, nreg, arg);
	lower_after_call(l);
	return r;
}

struct ref lower_fncall(struct lower *l, struct node *n)
{
	return call(l, n);
}

void lower_fncall_into(struct lower *l, struct node *n, struct mem dst, const struct type *as)
{
	struct fninst *i = n->any;
	call(l, n);
	lower_convert_mem(l, lower_shared(l, i->result), i->ret, dst, as);
}

/* return inside a function: from its own code, or from a loop body of it. */
void lower_fn_return(struct lower *l, struct node *value)
{
	const struct fninst *i = l->inst;
	struct fn *f = l->f;
	struct ref r = ir_con(f, 0);
	if (value && type_is_scalar(i->ret))
		r = lower_convert(l, lower_value(l, value), value->type, i->ret);
	else if (value)
		lower_into_as(l, value, lower_shared(l, i->result), i->ret);
	if (f == l->root) {
		ir_ret(f, r);
		return;
	}
	lower_store(l, 8, lower_shared(l, SHARED_RETVAL), r);
	lower_store(l, 8, lower_shared(l, SHARED_STOP), ir_con(f, STOP_FN));
	ir_ret(f, ir_con(f, 1));
}
