/* stack.c - kstack, ustack and dw_ustack: call stacks as values. */
#include "builtin/common.h"
#include "kern/regs.h"
#include <linux/bpf.h>

static const char *const mode_names[] = {
	[STACK_BPFTRACE] = "bpftrace",
	[STACK_PERF] = "perf",
	[STACK_RAW] = "raw",
	[STACK_BUILD_ID] = "build_id",
};

static bool find_mode(struct str name, enum stack_mode *ret)
{
	for (u32 i = 0; i < countof(mode_names); i++)
		if (str_is(name, mode_names[i])) {
			*ret = (enum stack_mode)i;
			return true;
		}
	return false;
}

/* kstack(), kstack(mode), kstack(limit), kstack(mode, limit): the limit's argument, or NULL. */
static struct node *limit_arg(const struct node *call)
{
	struct node *n = call_arg(call, 0);

	return n && n->kind == N_NAME ? call_arg(call, 1) : n;
}

static const struct type *stack_type(struct sema *s, struct node *call, enum type_kind kind)
{
	enum stack_mode mode = (enum stack_mode)s->u->config.stack_mode;
	struct node *n = call_arg(call, 0), *limit = limit_arg(call);
	i64 frames = DEFAULT_FRAMES;

	if (n && n->kind == N_NAME)
		find_mode(n->name, &mode);
	if (!str_is(call->name, "ustack") && mode == STACK_BUILD_ID)
		mode = STACK_RAW; /* as the default of a script for user stacks */
	if (limit && (!node_int(limit, &frames) || frames < 1 || frames > MAX_FRAMES))
		frames = DEFAULT_FRAMES;
	return type_stack(s->a, kind, mode, (u32)frames);
}

static const struct type *type_kstack(struct sema *s, struct node *call)
{
	return stack_type(s, call, T_KSTACK);
}

static const struct type *type_ustack(struct sema *s, struct node *call)
{
	return stack_type(s, call, T_USTACK);
}

static bool check_mode(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 0);
	enum stack_mode mode;

	if (!n || n->kind != N_NAME)
		return true;
	if (!find_mode(n->name, &mode))
		return sema_fail(s, E_UNKNOWN_NAME, n->loc,
				 "%.*s: invalid stack mode '%.*s': valid modes are %s",
				 STRF(call->name), STRF(n->name),
				 str_is(call->name, "dw_ustack")
					 ? "bpftrace, raw and perf"
					 : "bpftrace, raw, perf, and build_id");
	if (mode == STACK_BUILD_ID && !str_is(call->name, "ustack"))
		return sema_fail(s, E_UNSUPPORTED, n->loc,
				 "'build_id' stack mode can only be used for ustack");
	return true;
}

static bool check_stack(struct sema *s, struct node *call)
{
	struct node *limit = limit_arg(call);
	i64 frames;

	if (!check_mode(s, call))
		return false;
	if (!limit)
		return true;
	if (!node_int(limit, &frames) || frames < 1)
		return sema_fail(s, E_RANGE, limit->loc,
				 "%.*s: invalid limit value: it must be a literal from 1 to %d",
				 STRF(call->name), MAX_FRAMES);
	if (frames > MAX_FRAMES)
		return sema_fail(s, E_RANGE, limit->loc,
				 "%.*s([int limit]): limit shouldn't exceed %d, %lld given",
				 STRF(call->name), MAX_FRAMES, frames);
	return true;
}

static bool check_dw_ustack(struct sema *s, struct node *call)
{
	const struct unit *u = s->u;

	if (!REGS_UNWIND)
		return sema_fail(s, E_UNSUPPORTED, call->loc, "dw_ustack is not there for %s",
				 REGS_ARCH);
	if (!u->scope.npid && !u->ndwarf_pid)
		return sema_fail(s, E_FEATURE, call->loc,
				 "dw_ustack requires a target process. Use -p, -c, or --dwarf-pid "
				 "to specify one.");
	return check_stack(s, call);
}

static void get_regs(struct fn *f, struct ref regs, u32 n, const i32 *at, const struct ref *var)
{
	for (u32 i = 0; i < n; i++)
		ir_set(f, var[i], ir_load(f, 8, regs, at[i]));
}

void builtin_user_regs(struct lower *l, u32 n, const i32 *at, const struct ref *var)
{
	struct fn *f = l->f;
	u32 flags = l->v->provider->flags, nc;
	bool has_regs = (flags & PF_REGS) && (flags & (PF_USER | PF_EVENT));
	struct blk *task = ir_blk(f), *own = ir_blk(f), *done = ir_blk(f);
	struct ref ctx = has_regs ? lower_ctx(l) : REF_NONE, mode;

	if (!has_regs) {
		ir_jmp(f, task);
	} else if (flags & PF_USER) {
		ir_jmp(f, own);
	} else {
		mode = ir_op2(f, O_AND, ir_load(f, 8, ctx, REGS_CS), ir_con(f, 3));
		ir_br(f, O_NE, mode, ir_con(f, 0), own, task);
	}
	ir_at(f, own);
	if (has_regs)
		get_regs(f, ctx, n, at, var);
	ir_jmp(f, done);
	ir_at(f, task);
	lower_push(l, &nc);
	get_regs(f,
		 ir_call(f, BPF_FUNC_task_pt_regs,
			 ARGS(lower_helper0(l, BPF_FUNC_get_current_task_btf))),
		 n, at, var);
	lower_pop(l, nc);
	ir_jmp(f, done);
	ir_at(f, done);
}

/*
 * struct stack_value at dst. The limit is the size of the buffer, so unwinding stops there (65 ns
 * per frame). The helper zeroes what it does not fill, also when it fails: equal stacks are equal
 * map keys.
 */
static struct ref put_stack(struct lower *l, struct node *call, struct mem dst, u64 flags,
			    struct ref pid)
{
	struct fn *f = l->f;
	u32 frame = stack_frame_size((enum stack_mode)call->type->mode);
	struct ref n = ir_var(f), got;
	struct blk *slow = ir_blk(f), *failed = ir_blk(f), *done = ir_blk(f);
	struct mem frames = mem_at(dst, offsetof(struct stack_value, ip));

	if (!(flags & BPF_F_USER_STACK) || !builtin_walk_frames(l, call, frames, n, slow, done))
		ir_jmp(f, slow);
	ir_at(f, slow);
	u32 type = l->v->provider->prog_type;
	bool raw = type == BPF_PROG_TYPE_RAW_TRACEPOINT || type == BPF_PROG_TYPE_TRACING;
	if (raw && dst.base.kind == R_SLOT) /* before 6.3 the helper of these takes only bytes that
					       were stored before */
		lower_zero(l, frames, call->type->count * frame);
	got = ir_call(f, BPF_FUNC_get_stack,
		      ARGS(lower_ctx(l), lower_addr(l, frames),
			   ir_con(f, call->type->count * frame), ir_con(f, flags)));
	ir_set(f, n, got);
	ir_br(f, O_SLT, got, ir_con(f, 0), failed, done);
	ir_at(f, failed);
	ir_set(f, n, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, done);
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, n)),
		    ir_op2(f, O_SHR, ir_get(f, n), ir_con(f, frame == 8 ? 3 : 5)));
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, pid)), pid);
	return REF_NONE;
}

static struct ref lower_kstack(struct lower *l, struct node *call, struct mem dst)
{
	return put_stack(l, call, dst, 0, ir_con(l->f, 0));
}

static struct ref lower_ustack(struct lower *l, struct node *call, struct mem dst)
{
	u64 ids = call->type->mode == STACK_BUILD_ID ? BPF_F_USER_BUILD_ID : 0;

	return put_stack(l, call, dst, BPF_F_USER_STACK | ids, builtin_pid(l));
}

static const struct type *type_dw_ustack(struct sema *s, struct node *call)
{
	s->v->calls_back = true;
	return stack_type(s, call, T_USTACK);
}

static struct ref lower_dw_ustack(struct lower *l, struct node *call, struct mem dst)
{
	builtin_unwind(l, call, dst);
	return REF_NONE;
}

const struct builtin builtin_stack[] = {
	{"auto kstack", lower_kstack, .type = type_kstack,
	 .doc = "Kernel stack, at most 127 frames."},
	{"auto kstack([name mode], [name limit])", lower_kstack, .type = type_kstack,
	 .check = check_stack,
	 .doc = "Kernel stack, printed as the mode says (bpftrace, perf, raw), of at most limit "
		"frames (1 to 1024)."},
	{"auto ustack", lower_ustack, .type = type_ustack,
	 .doc = "Stack of the current process, at most 127 frames."},
	{"auto ustack([name mode], [name limit])", lower_ustack, .type = type_ustack,
	 .check = check_stack,
	 .doc = "Stack of the current process, printed as the mode says (bpftrace, perf, raw, "
		"build_id), of at most limit frames (1 to 1024)."},
	{"auto dw_ustack", lower_dw_ustack, .needs = FEAT_LOOP, .type = type_dw_ustack,
	 .check = check_dw_ustack,
	 .doc = "Stack of the current process by its unwind tables, not by frame pointers; the "
		"processes are those of -p, -c and --dwarf-pid."},
	{"auto dw_ustack([name mode], [name limit])", lower_dw_ustack, .needs = FEAT_LOOP,
	 .type = type_dw_ustack, .check = check_dw_ustack,
	 .doc = "The same, printed as the mode says (bpftrace, perf, raw), of at most limit frames "
		"(1 to 1024)."},
	{0},
};
