/* stack.c - kstack, ustack and dw_ustack: call stacks as values. */
#include "builtin/common.h"
#include "core/recorded.h"
#include "unwind/program.h"
#include <linux/bpf.h>

enum {
	MAX_SKIP = 64,
	MOST_OWN = 7, /* frames that stand for the program where a trampoline runs it: 2 or 3 */
	CALL = 32,    /* a function calls its trampoline within its first bytes */
};

static bool find_mode(struct str name, enum stack_mode *ret)
{
	for (u32 i = 0; stack_modes[i]; i++)
		if (str_is(name, stack_modes[i])) {
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

/* What stands behind the limit. */
static i64 skipped(const struct node *call)
{
	struct node *limit = limit_arg(call), *n = limit ? limit->next : NULL;
	i64 frames = 0;

	return n && node_int(n, &frames) && frames > 0 ? MIN(frames, MAX_SKIP) : 0;
}

/* Those of interpreted languages, or the others. */
static bool chooses_frames(const struct node *call)
{
	return str_is(call->name, "ustack") || str_is(call->name, "dw_ustack") ||
	       str_is(call->name, "task_ustack");
}

const struct type *builtin_stack_type(struct sema *s, struct node *call, enum type_kind kind)
{
	enum stack_mode mode = (enum stack_mode)s->u->config.stack_mode;
	struct node *n = call_arg(call, 0), *limit = limit_arg(call);
	i64 frames = DEFAULT_FRAMES;

	if (n && n->kind == N_NAME)
		find_mode(n->name, &mode);
	if (!str_is(call->name, "ustack") && mode == STACK_BUILD_ID)
		mode = STACK_RAW; /* as the default of a script for user stacks */
	if (!chooses_frames(call) && (mode == STACK_NATIVE || mode == STACK_LANG))
		mode = STACK_BPFTRACE;
	if (limit && (!node_int(limit, &frames) || frames < 1 || frames > MAX_FRAMES))
		frames = DEFAULT_FRAMES;
	return type_stack(s->a, kind, mode, (u32)frames);
}

static const struct type *type_kstack(struct sema *s, struct node *call)
{
	return builtin_stack_type(s, call, T_KSTACK);
}

/* By tables wherever the kernel can, but for build ids, which only it knows. One frame is no walk.
 */
static bool by_tables(struct host *h, const struct type *t)
{
	return t->count > 1 && t->mode != STACK_BUILD_ID && unwind_able(h);
}

static const struct type *type_ustack(struct sema *s, struct node *call)
{
	const struct type *t = builtin_stack_type(s, call, T_USTACK);

	s->v->calls_back |= by_tables(s->c->host, t);
	return t;
}

static const struct type *type_fp_ustack(struct sema *s, struct node *call)
{
	return builtin_stack_type(s, call, T_USTACK);
}

static bool check_mode(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 0);
	enum stack_mode mode;

	if (!n || n->kind != N_NAME)
		return true;
	if (!find_mode(n->name, &mode))
		return sema_fail(
			s, E_UNKNOWN_NAME, n->loc,
			"%.*s: invalid stack mode '%.*s': valid modes are %s", STRF(call->name),
			STRF(n->name),
			str_is(call->name, "dw_ustack")
				? "bpftrace, raw, perf, function, native and lang"
			: chooses_frames(call)
				? "bpftrace, raw, perf, build_id, function, native and lang"
				: "bpftrace, raw, perf, function, and build_id");
	if ((mode == STACK_NATIVE || mode == STACK_LANG) && !chooses_frames(call))
		return sema_fail(s, E_UNSUPPORTED, n->loc,
				 "'%.*s' stack mode can only be used for ustack and dw_ustack",
				 STRF(n->name));
	if (mode == STACK_BUILD_ID && !str_is(call->name, "ustack"))
		return sema_fail(s, E_UNSUPPORTED, n->loc,
				 "'build_id' stack mode can only be used for ustack");
	return true;
}

bool builtin_check_stack(struct sema *s, struct node *call)
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

static bool check_kstack(struct sema *s, struct node *call)
{
	struct node *limit = limit_arg(call), *skip = limit ? limit->next : NULL;
	i64 frames;

	if (skip && (!node_int(skip, &frames) || frames < 0 || frames > MAX_SKIP))
		return sema_fail(s, E_RANGE, skip->loc,
				 "%.*s: invalid frames to skip: it must be a literal from 0 to %d",
				 STRF(call->name), MAX_SKIP);
	return builtin_check_stack(s, call);
}

static bool check_dw_ustack(struct sema *s, struct node *call)
{
	if (!unwind_able(s->c->host))
		return sema_fail(
			s, E_FEATURE, call->loc,
			"dw_ustack: this kernel cannot walk a stack by unwind tables ('sonde info' "
			"shows what it lacks); ustack follows frame pointers");
	return builtin_check_stack(s, call);
}

/*
 * The kernel's walk into frames, of so many bytes; how many are filled into var n.
 * The limit is the size of the buffer, so unwinding stops there (65 ns per frame). The helper
 * zeroes what it does not fill, also when it fails: equal stacks are equal map keys.
 */
static void ask_kernel(struct lower *l, struct mem frames, u32 size, u64 flags, struct ref n)
{
	struct fn *f = l->f;
	u32 type = l->pt->method->prog_type;
	bool raw = type == BPF_PROG_TYPE_RAW_TRACEPOINT || type == BPF_PROG_TYPE_TRACING;
	struct blk *failed = ir_blk(f), *done = ir_blk(f);

	if (raw &&
	    frames.base.kind == R_SLOT) /* before 6.3 the helper of these takes only bytes that
					       were stored before */
		lower_zero(l, frames, size);
	ir_set(f, n,
	       ir_call(f, BPF_FUNC_get_stack,
		       ARGS(lower_ctx(l), lower_addr(l, frames), ir_con(f, size),
			    ir_con(f, flags))));
	ir_br(f, O_SLT, ir_get(f, n), ir_con(f, 0), failed, done);
	ir_at(f, failed);
	ir_set(f, n, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, done);
}

static void put_head(struct lower *l, struct node *call, struct mem dst, struct ref n,
		     struct ref pid)
{
	u32 frame = stack_frame_size((enum stack_mode)call->type->mode);

	n = ir_op2(l->f, O_SHR, ir_get(l->f, n), ir_con(l->f, frame == 8 ? 3 : 5));
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, n)), n);
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, pid)), pid);
}

static u32 frames_size(const struct node *call)
{
	return call->type->count * stack_frame_size((enum stack_mode)call->type->mode);
}

/* Is the program run by a trampoline, which stands on the stack, as does the program? */
static bool on_trampoline(const struct lower *l)
{
	u32 flags = point_flags(l->pt);

	return l->pt->method->prog_type == BPF_PROG_TYPE_TRACING &&
	       (flags & (PROBE_FUNC | METHOD_TYPED)) == (PROBE_FUNC | METHOD_TYPED);
}

/*
 * How many frames of our own begin a stack of the kernel's, into a variable: which is the first in
 * the probed function. Kernels differ, so it is looked for. Newer ones may jump to the trampoline:
 * then the function is not there, and takes the trampoline's place, behind the program. caller: a
 * variable for the frame behind it, or none.
 */
static struct ref own_frames(struct lower *l, struct ref frames, struct ref caller)
{
	struct fn *f = l->f;
	struct ref own = ir_var(f), func = lower_arg(l, ARG_FUNC), ip;
	struct blk *done = ir_blk(f);

	for (u32 i = 0; i <= MOST_OWN; i++) {
		struct blk *here = ir_blk(f), *next = ir_blk(f);
		ip = ir_load(f, 8, frames, (i32)(8 * i));
		ir_br(f, O_ULE, ir_op2(f, O_SUB, ip, func), ir_con(f, CALL), here, next);
		ir_at(f, here);
		ir_set(f, own, ir_con(f, i));
		if (ref_is(caller))
			ir_set(f, caller, ir_load(f, 8, frames, (i32)(8 * i + 8)));
		ir_jmp(f, done);
		ir_at(f, next);
	}
	ir_set(f, own, ir_con(f, 1));
	ir_store(f, 8, frames, 8, func);
	if (ref_is(caller))
		ir_set(f, caller, ir_load(f, 8, frames, 16));
	ir_jmp(f, done);
	ir_at(f, done);
	return own;
}

struct ref builtin_kernel_caller(struct lower *l)
{
	enum { FRAMES = MOST_OWN + 2 };
	struct fn *f = l->f;
	struct mem frames = lower_scratch(l, 8 * FRAMES);
	struct ref caller = ir_var(f), n = ir_var(f);

	ir_set(f, caller, ir_con(f, 0));
	ask_kernel(l, frames, 8 * FRAMES, 0, n);
	own_frames(l, lower_addr(l, frames), caller);
	return ir_get(f, caller);
}

/* The kernel's walk without what is to be left out, by a copy: before 5.18 its own way of skipping
 * takes from the limit. */
static void ask_behind(struct lower *l, struct node *call, struct mem frames, struct ref n)
{
	struct fn *f = l->f;
	u32 skip = (u32)skipped(call), size = frames_size(call);
	u32 most = size + 8 * (skip + (on_trampoline(l) ? MOST_OWN : 0));
	struct mem all = lower_scratch(l, most);
	struct ref out = ir_con(f, skip), from = lower_addr(l, all);
	struct blk *some = ir_blk(f), *more = ir_blk(f), *none = ir_blk(f), *done = ir_blk(f);

	ask_kernel(l, all, most, 0, n);
	if (on_trampoline(l))
		out = ir_addi(f, ir_get(f, own_frames(l, from, REF_NONE)), (i32)skip);
	out = ir_op2(f, O_SHL, out, ir_con(f, 3));
	ir_call(f, BPF_FUNC_probe_read_kernel,
		ARGS(lower_addr(l, frames), ir_con(f, size), ir_op2(f, O_ADD, from, out)));
	ir_br(f, O_ULT, out, ir_get(f, n), some, none);
	ir_at(f, some);
	ir_set(f, n, ir_op2(f, O_SUB, ir_get(f, n), out));
	ir_br(f, O_UGT, ir_get(f, n), ir_con(f, size), more, done);
	ir_at(f, more);
	ir_set(f, n, ir_con(f, size));
	ir_jmp(f, done);
	ir_at(f, none);
	ir_set(f, n, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, done);
}

/* struct stack_value at dst. */
static struct ref put_stack(struct lower *l, struct node *call, struct mem dst, u64 flags,
			    struct ref pid)
{
	struct fn *f = l->f;
	struct ref n = ir_var(f);
	struct blk *slow = ir_blk(f), *done = ir_blk(f);
	struct mem frames = mem_at(dst, offsetof(struct stack_value, ip));

	if (!(flags & BPF_F_USER_STACK) || !unwind_frames(l, call, frames, n, slow, done))
		ir_jmp(f, slow);
	ir_at(f, slow);
	ask_kernel(l, frames, frames_size(call), flags, n);
	ir_jmp(f, done);
	ir_at(f, done);
	put_head(l, call, dst, n, pid);
	return REF_NONE;
}

static struct ref lower_kstack(struct lower *l, struct node *call, struct mem dst)
{
	struct ref n;

	if (!on_trampoline(l) && !skipped(call))
		return put_stack(l, call, dst, 0, ir_con(l->f, 0));
	n = ir_var(l->f);
	ask_behind(l, call, mem_at(dst, offsetof(struct stack_value, ip)), n);
	put_head(l, call, dst, n, ir_con(l->f, 0));
	return REF_NONE;
}

static struct ref lower_fp_ustack(struct lower *l, struct node *call, struct mem dst)
{
	u64 flags = call->type->mode == STACK_BUILD_ID ? BPF_F_USER_BUILD_ID : 0;

	if (l->c->host->recording && call->type->mode == STACK_LANG)
		flags |= RECORDED_STACK_LANG;
	return put_stack(l, call, dst, BPF_F_USER_STACK | flags, builtin_pid(l));
}

static struct ref lower_ustack(struct lower *l, struct node *call, struct mem dst)
{
	if (!by_tables(l->c->host, call->type))
		return lower_fp_ustack(l, call, dst);
	struct fn *f = l->f;
	struct blk *other = ir_blk(f), *done = ir_blk(f);
	struct ref n = ir_var(f), pid = builtin_pid(l);
	struct lower_cache *kept;

	unwind_lower(l, call, dst, pid, other);
	ir_jmp(f, done);
	ir_at(f, other); /* programs of 32 bits */
	other->unlikely = true;
	kept = lower_may_skip_begin(l);
	ask_kernel(l, mem_at(dst, offsetof(struct stack_value, ip)), frames_size(call),
		   BPF_F_USER_STACK, n);
	put_head(l, call, dst, n, pid);
	lower_may_skip_end(l, kept);
	ir_jmp(f, done);
	ir_at(f, done);
	return REF_NONE;
}

const struct builtin builtin_stack[] = {
	{"auto kstack", lower_kstack, B_OWN, .asks = USE_KSTACK, .type = type_kstack,
	 .doc = "Kernel stack, at most 127 frames."},
	{"auto kstack([name mode], [name limit], [name skip])", lower_kstack, .asks = USE_KSTACK,
	 .type = type_kstack, .check = check_kstack,
	 .doc = "Kernel stack in a print mode (bpftrace, perf, raw), with at most limit frames (1 "
		"to 1024), without the first skip frames (0 to 64): kstack(5, 1) begins with the "
		"caller of a probed function."},
	{"auto ustack", lower_ustack, B_OWN, .asks = USE_USTACK, .type = type_ustack,
	 .doc = "User stack of the current process, at most 127 frames, with and without frame "
		"pointers (by unwind tables)."},
	{"auto ustack([name mode], [name limit])", lower_ustack, .asks = USE_USTACK,
	 .type = type_ustack, .check = builtin_check_stack,
	 .doc = "User stack in a print mode (bpftrace, perf, raw, build_id), with at most limit "
		"frames (1 to 1024). Mode native shows the interpreter's own functions, mode lang "
		"only the functions of the interpreted program."},
	{"auto fp_ustack", lower_fp_ustack, .asks = USE_USTACK, .type = type_fp_ustack,
	 .doc = "User stack by frame pointers only, as the kernel walks it."},
	{"auto fp_ustack([name mode], [name limit])", lower_fp_ustack, .asks = USE_USTACK,
	 .type = type_fp_ustack, .check = builtin_check_stack,
	 .doc = "The same in a print mode (bpftrace, perf, raw), with at most limit frames (1 to "
		"1024)."},
	{"auto dw_ustack", lower_ustack, .asks = USE_USTACK, .needs = FEAT_LOOP,
	 .type = type_ustack, .check = check_dw_ustack,
	 .doc = "The same as ustack, but an error if the kernel cannot walk stacks by unwind "
		"tables."},
	{"auto dw_ustack([name mode], [name limit])", lower_ustack, .asks = USE_USTACK,
	 .needs = FEAT_LOOP, .type = type_ustack, .check = check_dw_ustack,
	 .doc = "The same in a print mode (bpftrace, perf, raw), with at most limit frames (1 to "
		"1024)."},
	{0},
};
