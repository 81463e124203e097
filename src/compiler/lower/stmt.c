/* stmt.c - statements. */
#include "lower/lower.h"

static void lower_if(struct lower *l, struct node *n)
{
	struct fn *f = l->f;
	struct blk *yes = ir_blk(f), *no = ir_blk(f), *done = ir_blk(f);
	struct lower_cache *kept;
	if (n->a->kind == N_NUM || n->a->kind == N_BOOL) {
		struct node *taken = n->a->num ? n->b : n->c;
		if (taken)
			taken->kind == N_IF ? lower_if(l, taken) : lower_block(l, taken);
		return;
	}
	lower_branch(l, n->a, yes, no);
	ir_at(f, yes);
	kept = lower_may_skip_begin(l);
	lower_block(l, n->b);
	lower_may_skip_end(l, kept);
	ir_jmp(f, done);
	ir_at(f, no);
	if (n->c)
		n->c->kind == N_IF ? lower_if(l, n->c) : lower_block(l, n->c);
	lower_may_skip_end(l, kept);
	ir_jmp(f, done);
	ir_at(f, done);
}

static void lower_let(struct lower *l, struct node *n)
{
	struct var *v = n->var;
	if (!v->type)
		return;
	if (!n->b) {
		if (type_is_scalar(v->type))
			lower_var_set(l, v, ir_con(l->f, 0));
		else
			lower_zero(l, lower_var_mem(l, v), v->type->size);
		return;
	}
	if (type_is_scalar(v->type))
		lower_var_set(l, v, lower_convert(l, lower_value(l, n->b), n->b->type, v->type));
	else
		lower_into_as(l, n->b, lower_var_mem(l, v), v->type);
}

static void lower_discard(struct lower *l, struct node *n)
{
	if (n->kind == N_INCDEC)
		lower_incdec(l, n, false);
	else if (type_is_scalar(n->type) || n->type->kind == T_NONE)
		lower_value(l, n);
	else
		lower_mem(l, n);
}

static void lower_stmt(struct lower *l, struct node *n)
{
	switch (n->kind) {
	case N_EXPR:
	case N_DISCARD: lower_discard(l, n->a); break;
	case N_ASSIGN: lower_assign(l, n); break;
	case N_LET: lower_let(l, n); break;
	case N_BLOCK: lower_block(l, n); break;
	case N_IF: lower_if(l, n); break;
	case N_WHILE: lower_while(l, n); break;
	case N_UNROLL: lower_unroll(l, n); break;
	case N_FOR: lower_for(l, n); break;
	case N_BREAK: lower_break(l, false); break;
	case N_CONTINUE: lower_break(l, true); break;
	case N_IMPORT: break; /* it was done first of all */
	case N_RETURN:
		if (l->inst)
			lower_fn_return(l, n->a);
		else if (n->a)
			lower_return(l, lower_value(l, n->a));
		else
			lower_end_probe(l);
		break;
	default: lower_discard(l, n); break;
	}
}

/* Temporaries of a statement are free when it ends. */
void lower_block(struct lower *l, struct node *block)
{
	for (struct node *n = block->a; n; n = n->next) {
		u32 mark = ir_slot_mark(l->f), scratch = l->scratch_at;
		l->f->loc = n->loc;
		lower_stmt(l, n);
		ir_slot_release(l->f, mark);
		l->scratch_at = scratch;
		if (n->kind == N_RETURN || n->kind == N_BREAK || n->kind == N_CONTINUE)
			break;
	}
}
