/*
 * frames.c - user stacks by frame pointers, walked by the program itself.
 *
 * The kernel's bpf_get_stack() reads each frame by two protected loads, about 45 ns per frame. A
 * read of a KiB costs 80 ns and brings several frames at once, so a walk in the program costs a
 * fraction. It shows what the kernel's shows: where that would do something special (kernel
 * threads, 32-bit programs, return addresses that return probes replaced), control goes there.
 */
#include "unwind/program.h"

enum {
	WINDOW = 1024, /* bytes read at once; less up to a multiple of it, so never of two pages */
	FRAME = 16,    /* the caller's frame and the return address */
	NO_FRAME =
		4096, /* nothing is mapped below: small numbers end a stack without a page fault */
	FEW_FRAMES = 4,     /* so many are as cheap by the helper */
	KTHREAD = 0x200000, /* PF_KTHREAD */
};

/* Offsets in task_struct, and of what uprobe_task keeps. */
struct task_at {
	struct field flags, mm, utask, returns;
	bool has_utask;
};

static bool find_task(struct host *h, struct task_at *at)
{
	struct types *k = host_btf(h);
	const struct type *task = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	const struct type *utask = k ? btf_types_find(k, STR("uprobe_task"), T_STRUCT) : NULL;

	if (!task || !type_field(task, STR("flags"), &at->flags) ||
	    !type_field(task, STR("mm"), &at->mm))
		return false;
	at->has_utask = type_field(task, STR("utask"), &at->utask);
	return !at->has_utask ||
	       (utask && type_field(utask, STR("return_instances"), &at->returns));
}

/* Of all points of the program. */
static enum frames frames_at(const struct lower *l)
{
	const struct method *w = l->pt->method;
	u32 flags = point_flags(l->pt);
	enum frames first = FRAMES_SET;

	if (!(flags & METHOD_REGS) || !(flags & PROBE_USER))
		return first;
	first = w->frames ? w->frames(l->pt) : FRAMES_ELSE;
	for (const struct point *pt = l->pt; pt; pt = pt->next)
		if (w->frames && w->frames(pt) != first)
			return FRAMES_ELSE;
	return first;
}

/* Not in loops whose rounds the verifier walks through: each would be a walk for it, too. */
static bool walks(struct lower *l, const struct node *call, enum frames frames, struct task_at *at)
{
	struct host *h = l->c->host;
	u32 least = frames == FRAMES_ENTRY ? 1 : FEW_FRAMES;

	return h->arch->walks_frames && frames != FRAMES_ELSE &&
	       call->type->mode != STACK_BUILD_ID && call->type->count > least && !l->rounds &&
	       !l->pt->code_refused && host_has(h, FEAT_TASK_BTF) && host_has(h, FEAT_TASK_REGS) &&
	       find_task(h, at);
}

static struct ref task_word(struct lower *l, struct ref base, const struct field *m)
{
	return ir_load(l->f, m->type->size, base, (i32)(m->bit_off / 8));
}

/* Go on where a == b is as wanted, else at slow. */
static void expect(struct fn *f, struct ref a, struct ref b, bool equal, struct blk *slow)
{
	struct blk *go = ir_blk(f);

	ir_br(f, equal ? O_EQ : O_NE, a, b, go, slow);
	ir_at(f, go);
}

static void expect_plain_task(struct lower *l, struct ref task, const struct task_at *at,
			      struct blk *slow)
{
	struct fn *f = l->f;
	struct ref zero = ir_con(f, 0), utask;
	struct blk *probed, *go;

	expect(f, ir_op2(f, O_AND, task_word(l, task, &at->flags), ir_con(f, KTHREAD)), zero, true,
	       slow);
	expect(f, task_word(l, task, &at->mm), zero, false, slow);
	if (!at->has_utask)
		return;
	probed = ir_blk(f);
	go = ir_blk(f);
	utask = task_word(l, task, &at->utask);
	ir_br(f, O_EQ, utask, zero, go, probed);
	ir_at(f, probed);
	ir_br(f, O_EQ, task_word(l, utask, &at->returns), zero, go, slow);
	ir_at(f, go);
}

/* What was read of the stack. */
struct window {
	struct ref mem, mask;
	struct ref base, last; /* variables: its address; offset of the last whole frame in it */
};

/* Up to the next multiple of WINDOW, but a frame at least; without a branch. */
static void read_window(struct lower *l, struct window *w, struct ref from, struct blk *failed)
{
	struct fn *f = l->f;
	struct blk *ok = ir_blk(f);
	struct ref room, above;

	room = ir_op2(f, O_SUB, ir_con(f, WINDOW - FRAME), ir_op2(f, O_AND, from, w->mask));
	above = ir_op2(f, O_XOR, ir_op2(f, O_SAR, room, ir_con(f, 63)), ir_con(f, ~0ull));
	room = ir_op2(f, O_AND, ir_op2(f, O_AND, room, above), w->mask);
	ir_set(f, w->last, room);
	ir_br(f, O_EQ,
	      ir_call(f, BPF_FUNC_probe_read_user, ARGS(w->mem, ir_addi(f, room, FRAME), from)),
	      ir_con(f, 0), ok, failed);
	ir_at(f, ok);
	ir_set(f, w->base, from);
}

/*
 * From the frame in var fp on; return addresses go to frames, which are limit, the first of which
 * is there. top: where the next is (aarch64: the next itself), or none. Result: how many bytes of
 * them.
 */
static struct ref walk(struct lower *l, struct ref fp, struct ref top, struct mem mem, u32 limit)
{
	struct fn *f = l->f;
	struct ref at = lower_index(l, 8, mem), in = ir_var(f), off, here, ret;
	struct ref frames = lower_addr(l, mem), last = ir_con(f, 8 * (limit - 1));
	struct window w = {
		.mem = lower_addr(l, lower_scratch(l, WINDOW + FRAME)),
		.mask = ir_con(f, WINDOW - 1),
		.base = ir_var(f),
		.last = ir_var(f),
	};
	struct blk *head = ir_blk(f), *next = ir_blk(f), *near = ir_blk(f), *far = ir_blk(f),
		   *read = ir_blk(f), *frame = ir_blk(f), *done = ir_blk(f), *first = ir_blk(f);

	if (ref_is(top) && l->c->host->arch->unwind.link) {
		ir_store(f, 8, frames, 8, lower_unsigned(l, f, top));
		ir_set(f, at, ir_addi(f, ir_get(f, at), 8));
		ir_jmp(f, first);
	} else if (ref_is(top)) {
		read_window(l, &w, top, first);
		ir_store(f, 8, frames, 8, ir_load(f, 8, w.mem, 0));
		ir_set(f, at, ir_addi(f, ir_get(f, at), 8));
		ir_jmp(f, next);
	} else {
		ir_jmp(f, first);
	}
	ir_at(f, first);
	ir_br(f, O_ULE, ir_get(f, at), last, far, done);

	ir_at(f, head);
	off = ir_op2(f, O_SUB, ir_get(f, fp), ir_get(f, w.base));
	ir_br(f, O_ULE, off, ir_get(f, w.last), near, far);
	ir_at(f, near);
	ir_set(f, in, off);
	ir_jmp(f, frame);

	ir_at(f, far); /* not in what was read */
	ir_br(f, O_UGE, ir_get(f, fp), ir_con(f, NO_FRAME), read, done);
	ir_at(f, read);
	read_window(l, &w, ir_get(f, fp), done);
	ir_set(f, in, ir_con(f, 0));
	ir_jmp(f, frame);

	ir_at(f, frame);
	here = ir_op2(f, O_ADD, w.mem, ir_op2(f, O_AND, ir_get(f, in), w.mask));
	ret = lower_unsigned(l, f, ir_load(f, 8, here, 8));
	ir_store(f, 8, ir_op2(f, O_ADD, frames, ir_get(f, at)), 0, ret);
	ir_set(f, fp, ir_load(f, 8, here, 0));
	ir_set(f, at, ir_addi(f, ir_get(f, at), 8));
	ir_jmp(f, next);
	ir_at(f, next);
	lower_round(l, done);
	ir_br(f, O_ULE, ir_get(f, at), last, head, done);
	ir_at(f, done);
	return ir_get(f, at);
}

bool unwind_frames(struct lower *l, struct node *call, struct mem frames, struct ref n,
		   struct blk *slow, struct blk *done)
{
	enum { IP, FP, MODE, SP, NREG };
	const struct arch *a = l->c->host->arch;
	const i32 at[NREG] = {[IP] = a->ip,
			      [FP] = a->fp,
			      [MODE] = a->native.off,
			      [SP] = a->unwind.link ? a->link : a->sp};
	struct fn *f = l->f;
	struct ref reg[NREG], task, mode;
	struct task_at where;
	enum frames here = frames_at(l);

	if (!walks(l, call, here, &where))
		return false;
	slow->unlikely = true;
	task = lower_helper0(l, BPF_FUNC_get_current_task_btf);
	expect_plain_task(l, task, &where, slow);
	for (u32 i = 0; i < NREG; i++)
		reg[i] = ir_var(f);
	lower_user_regs(l, NREG, at, reg);
	mode = ir_get(f, reg[MODE]);
	if (a->native.mask != ~0ull)
		mode = ir_op2(f, O_AND, mode, ir_con(f, a->native.mask));
	expect(f, mode, ir_con(f, a->native.value), true, slow);
	expect(f, ir_get(f, reg[IP]), ir_con(f, 0), false, slow);
	if (!frames.frames_only)
		lower_zero(l, frames, call->type->count * 8);
	lower_store(l, 8, frames, ir_get(f, reg[IP]));
	ir_set(f, n,
	       walk(l, reg[FP], here == FRAMES_ENTRY ? ir_get(f, reg[SP]) : REF_NONE, frames,
		    call->type->count));
	ir_jmp(f, done);
	return true;
}
