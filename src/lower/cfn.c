/* cfn.c - calls of imported functions in C, whose code becomes part of the program as it is. */
#include "lower/lower.h"
#include "sema/cfile.h"

/* The function in this program, with those that it calls. */
static struct fn *code_of(struct lower *l, struct cfn *c)
{
	const struct cfile *file = c->file;
	const struct object_fn *of = c->of;
	struct arena *a = &l->c->scratch;
	if (c->ir && c->ir_prog == l->prog)
		return c->ir;
	u32 narg = 0;
	if (of->type)
		type_fields(of->type, &narg);
	struct ext_ref *ref = arena_newn(a, struct ext_ref, of->nref + 1);
	struct ext *x = arena_new(a, struct ext);
	*x = (struct ext){.insn = &file->obj.insn[of->at],
			  .loc = &file->loc[of->at],
			  .ref = ref,
			  .ninsn = of->ninsn,
			  .nref = of->nref};
	struct fn *f = ir_fn_ext(a, of->name, x, MIN(narg, (u32)OBJECT_MAX_ARGS), of->stack);
	f->loc = file->at;
	c->ir = f;
	c->ir_prog = l->prog;
	for (u32 i = 0; i < of->nref; i++)
		ref[i] = (struct ext_ref){of->ref[i].insn,
					  ir_fnref(f, code_of(l, &file->fn[of->ref[i].fn])).id};
	return f;
}

/* Text is passed as the address of a copy. */
static u32 pass_args(struct lower *l, struct node *n, const struct cfn *c, struct ref *arg)
{
	struct mem mem[OBJECT_MAX_ARGS];
	u32 k = 0, nparam;
	const struct field *param = type_fields(c->of->type, &nparam);
	for (struct node *a = n->a; a; a = a->next, k++) {
		assert(k < OBJECT_MAX_ARGS);
		if (type_is_scalar(a->type)) {
			arg[k] = lower_convert(l, lower_value(l, a), a->type, param[k].type);
		} else {
			arg[k] = REF_NONE;
			mem[k] = lower_tmp(l, a->type->size);
			lower_into(l, a, mem[k]);
		}
	}
	for (u32 i = 0; i < k; i++)
		if (!ref_is(arg[i]))
			arg[i] = lower_addr(l, mem[i]);
	return k;
}

/* Of a result clang defines only the bytes of its type. */
static struct ref widened(struct lower *l, const struct type *t, struct ref r)
{
	if (t->kind == T_NONE)
		return ir_con(l->f, 0);
	if (t->size >= 8)
		return r;
	return ir_op1(l->f, type_is_int(t) && t->is_signed ? O_EXTS : O_EXTU, t->size, r);
}

struct ref lower_ccall(struct lower *l, struct node *n)
{
	struct cfn *c = n->any;
	struct ref arg[OBJECT_MAX_ARGS];
	bool nopad = l->nopad, tail = l->want_tail;
	l->nopad = l->want_tail = false;
	u32 narg = pass_args(l, n, c, arg);
	struct ref r = ir_callfn(l->f, code_of(l, c), narg, arg);
	l->nopad = nopad;
	l->want_tail = tail;
	return widened(l, c->of->type->base, r);
}
