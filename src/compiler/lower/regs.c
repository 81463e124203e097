/* regs.c - registers of user mode, and addresses in them. */
#include "lower/lower.h"

static void get_regs(struct fn *f, struct ref regs, u32 n, const i32 *at, const struct ref *var)
{
	for (u32 i = 0; i < n; i++)
		ir_set(f, var[i], ir_load(f, 8, regs, at[i]));
}

void lower_user_regs(struct lower *l, u32 n, const i32 *at, const struct ref *var)
{
	struct fn *f = l->f;
	const struct arch_test *user = &l->c->host->arch->user;
	u32 flags = point_flags(l->pt);
	struct lower_cache *kept;
	bool has_regs = (flags & METHOD_REGS) && (flags & (PROBE_USER | METHOD_EVENT));
	struct blk *task = ir_blk(f), *own = ir_blk(f), *done = ir_blk(f);
	struct ref ctx = has_regs ? lower_ctx(l) : REF_NONE, mode;

	if (!has_regs) {
		ir_jmp(f, task);
	} else if (flags & PROBE_USER) {
		ir_jmp(f, own);
	} else {
		mode = ir_op2(f, O_AND, ir_load(f, 8, ctx, user->off), ir_con(f, user->mask));
		ir_br(f, O_EQ, mode, ir_con(f, user->value), own, task);
	}
	ir_at(f, own);
	if (has_regs)
		get_regs(f, ctx, n, at, var);
	ir_jmp(f, done);
	ir_at(f, task);
	kept = lower_may_skip_begin(l);
	get_regs(f,
		 ir_call(f, BPF_FUNC_task_pt_regs,
			 ARGS(lower_helper0(l, BPF_FUNC_get_current_task_btf))),
		 n, at, var);
	lower_may_skip_end(l, kept);
	ir_jmp(f, done);
	ir_at(f, done);
}

void lower_regs_of(struct lower *l, struct ref task, u32 n, const i32 *at, const struct ref *var)
{
	get_regs(l->f, ir_call(l->f, BPF_FUNC_task_pt_regs, ARGS(task)), n, at, var);
}

struct ref lower_unsigned(struct lower *l, struct fn *f, struct ref v)
{
	u64 bits = l->c->host->signed_bits;

	return bits ? ir_op2(f, O_AND, v, ir_con(f, ~bits)) : v;
}
