/*
 * sleeper.c - what a thread that an iterator comes to (ctx.task) does: task_kstack task_ustack task_syscall
 * task_wchan.
 *
 * Such a thread is not the current one. Of one that sleeps, its registers are where the kernel saved them,
 * and user space reads its stack from the process's memory (unwind/task.h). One that runs, or could,
 * changes them meanwhile: it has none.
 */
#include "builtin/common.h"
#include "unwind/program.h"
#include <linux/bpf.h>
#include <linux/btf.h>

/* The iterator's task, to which the verifier knows a way. */
static bool find_task(const struct point *p, struct field *ret)
{
	return p->method->prog_type == BPF_PROG_TYPE_TRACING &&
	       p->method->attach_type == BPF_TRACE_ITER && p->args &&
	       type_field(p->args, STR("task"), ret) && ret->type->kind == T_PTR;
}

/* Control goes to none after the last task, when there is none. */
static struct ref task_of(struct lower *l, struct blk *none)
{
	struct fn *f = l->f;
	struct blk *some = ir_blk(f);
	struct field task;
	bool known = find_task(l->pt, &task);
	assert(known);
	struct ref t = ir_load(f, 8, lower_ctx(l), (i32)(task.bit_off / 8));
	ir_br(f, O_NE, t, ir_con(f, 0), some, none);
	ir_at(f, some);
	return t;
}

static bool check_task(struct sema *s, struct node *call)
{
	struct field task;

	if (!find_task(s->point, &task))
		return sema_fail(s, E_UNSUPPORTED, call->loc,
				 "%.*s is about the task that an iterator comes to: iter:task, for "
				 "example",
				 STRF(call->name));
	return true;
}

/* ---- stacks ---- */

static const struct type *type_kstack(struct sema *s, struct node *call)
{
	return builtin_stack_type(s, call, T_KSTACK);
}

static const struct type *type_ustack(struct sema *s, struct node *call)
{
	return builtin_stack_type(s, call, T_USTACK);
}

static bool check_kstack(struct sema *s, struct node *call)
{
	return check_task(s, call) && builtin_check_stack(s, call);
}

static bool check_ustack(struct sema *s, struct node *call)
{
	if (!check_kstack(s, call))
		return false;
	if (!unwind_task_able(s->c->host))
		return sema_fail(
			s, E_FEATURE, call->loc,
			"%.*s: this kernel does not provide the registers of a task, or cannot "
			"walk a stack by unwind tables ('sonde info' shows what it lacks)",
			STRF(call->name));
	if (point_flags(s->point) & METHOD_PINNED)
		return sema_fail(s, E_CONTEXT, call->loc,
				 "%.*s needs sonde, which has ended when a pinned iterator is read",
				 STRF(call->name));
	return true;
}

/* Of what runs on a CPU the kernel gives some frames that are not the task's any more. */
static struct ref ask_kernel(struct lower *l, struct mem to, u32 bytes, struct ref task)
{
	struct fn *f = l->f;
	struct blk *failed = ir_blk(f), *done = ir_blk(f);
	struct ref n = ir_var(f);

	lower_zero(l, to, bytes);
	ir_set(f, n,
	       ir_call(f, BPF_FUNC_get_task_stack,
		       ARGS(task, lower_addr(l, to), ir_con(f, bytes), ir_con(f, 0))));
	ir_br(f, O_SLT, ir_get(f, n), ir_con(f, 0), failed, done);
	ir_at(f, failed);
	ir_set(f, n, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, n);
}

static struct ref lower_kstack(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	struct blk *done = ir_blk(f);
	struct ref n = ir_var(f);
	u32 bytes = 8 * call->type->count;

	lower_zero(l, dst, offsetof(struct stack_value, ip) + bytes);
	ir_set(f, n, ir_con(f, 0));
	struct ref task = task_of(l, done);
	ir_set(f, n, ask_kernel(l, mem_at(dst, offsetof(struct stack_value, ip)), bytes, task));
	ir_jmp(f, done);
	ir_at(f, done);
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, n)),
		    ir_op2(f, O_SHR, ir_get(f, n), ir_con(f, 3)));
	return REF_NONE;
}

static struct ref lower_ustack(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	struct blk *done = ir_blk(f);

	lower_zero(l, dst, call->type->size);
	unwind_lower_task(l, call, dst, task_of(l, done));
	ir_jmp(f, done);
	ir_at(f, done);
	return REF_NONE;
}

/* ---- what it waits for ---- */

static struct ref lower_wchan(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	struct blk *done = ir_blk(f);
	struct ref at = ir_var(f);
	struct mem frame = lower_scratch(l, 8);

	(void)call, (void)dst;
	ir_set(f, at, ir_con(f, 0));
	struct ref task = task_of(l, done);
	ask_kernel(l, frame, 8, task);
	ir_set(f, at, lower_load(l, 8, false, frame));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, at);
}

static bool call_number(struct host *h, struct field *ret)
{
	struct types *k = host_btf(h);
	const struct type *regs = k ? btf_types_find(k, STR("pt_regs"), T_STRUCT) : NULL;
	return regs &&
	       (type_field(regs, STR("orig_ax"), ret) || type_field(regs, STR("syscallno"), ret));
}

static bool check_syscall(struct sema *s, struct node *call)
{
	struct field nr;

	if (!check_task(s, call))
		return false;
	if (!host_has(s->c->host, FEAT_TASK_REGS) || !call_number(s->c->host, &nr))
		return sema_fail(s, E_FEATURE, call->loc,
				 "%.*s: this kernel does not provide the registers of a task",
				 STRF(call->name));
	return true;
}

static struct ref lower_syscall(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	struct blk *user = ir_blk(f), *done = ir_blk(f);
	struct ref nr = ir_var(f);
	struct field at, mm;
	const struct type *task =
		btf_types_find(host_btf(l->c->host), STR("task_struct"), T_STRUCT);
	bool known = call_number(l->c->host, &at) && type_field(task, STR("mm"), &mm);

	(void)call, (void)dst;
	assert(known);
	ir_set(f, nr, ir_con(f, -1));
	struct ref t = task_of(l, done);
	ir_br(f, O_NE, ir_load(f, 8, t, (i32)(mm.bit_off / 8)), ir_con(f, 0), user, done);
	ir_at(f, user);
	struct ref regs = ir_call(f, BPF_FUNC_task_pt_regs, ARGS(t));
	ir_set(f, nr, ir_op1(f, O_EXTS, 4, ir_load(f, 4, regs, (i32)(at.bit_off / 8))));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, nr);
}

const struct builtin builtin_sleeper[] = {
	{"auto task_kstack", lower_kstack, .type = type_kstack, .check = check_kstack,
	 .doc = "Kernel stack of the iterator's current task (iter:task)."},
	{"auto task_kstack([name mode], [name limit])", lower_kstack, .type = type_kstack,
	 .check = check_kstack,
	 .doc = "The same in a print mode (bpftrace, perf, raw), with at most limit frames (1 to "
		"1024)."},
	{"auto task_ustack", lower_ustack, .type = type_ustack, .check = check_ustack,
	 .doc = "User stack of the iterator's current task (iter:task) if the task sleeps; it is "
		"not stopped. Empty if the task runs, is runnable, or is a kernel thread."},
	{"auto task_ustack([name mode], [name limit])", lower_ustack, .type = type_ustack,
	 .check = check_ustack,
	 .doc = "The same in a print mode (bpftrace, perf, raw, native, lang), with at most limit "
		"frames (1 to 1024)."},
	{"int64 task_syscall", lower_syscall, .check = check_syscall,
	 .doc = "Number of the system call that the iterator's current task is in (iter:task); -1 "
		"if it is in none."},
	{"u64 task_wchan", lower_wchan, .check = check_task,
	 .doc = "Address in the kernel function in which the iterator's current task waits "
		"(iter:task): ksym(task_wchan)."},
	{0},
};
