/*
 * trampoline.c - kprobe and kretprobe of a few functions, through BPF trampolines.
 *
 * A call from the function's first bytes instead of a breakpoint or its emulation: a fifth of the
 * cost per event, and returns without a limit of calls in progress. Arguments stay the numbers in
 * the registers. Only where each program is kept from interrupting itself (the helper that reads an
 * argument as a number is younger than that), and not for stacks and registers, which look
 * different here.
 */
#include "probe/common.h"
#include <linux/btf.h>

enum {
	MANY = 4, /* so many are attached and detached faster by other ways */
	MAX_SLOTS = 6,
};

static const struct type *signature(struct host *h, u32 id)
{
	struct types *k = host_btf(h);
	return k && id ? btf_types_func(k, id) : NULL;
}

/* A whole register: narrow arguments come as callers extend them, to 32 bits. */
static struct ref extended(struct fn *f, struct ref v, const struct type *t)
{
	v = fit_value(f, v, t);
	return t->size < 8 ? ir_op1(f, O_EXTU, 4, v) : v;
}

/* As a number: what is loaded from the context may be a pointer to the verifier. */
static struct ref by_helper(struct fn *f, int n)
{
	u32 mark = ir_slot_mark(f);
	struct ref slot = ir_slot(f, 8);
	assert(ref_is(slot));
	ir_store(f, 8, slot, 0, ir_con(f, 0));
	if (n == ARG_RET)
		ir_call(f, BPF_FUNC_get_func_ret, ARGS(ir_ctx(f), slot));
	else
		ir_call(f, BPF_FUNC_get_func_arg, ARGS(ir_ctx(f), ir_con(f, (u64)n), slot));
	struct ref v = ir_load(f, 8, slot, 0);
	ir_slot_release(f, mark);
	return v;
}

static bool is_number(const struct type *t)
{
	return t && (type_is_int(t) || t->kind == T_BOOL) && t->size <= 8;
}

static struct ref trampoline_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	u32 count;
	if (n == ARG_FUNC)
		return ir_callp(f, BPF_FUNC_get_func_ip, ARGS(ir_ctx(f)));
	if (n == ARG_RET)
		return by_helper(f, n);
	const struct field *v = type_fields(signature(h, p->btf_id), &count);
	for (u32 i = 0; i < count; i++)
		if (v[i].bit_off / 64 == (u32)n && is_number(v[i].type))
			return extended(f, ir_load(f, 8, ir_ctx(f), n * 8), v[i].type);
	return by_helper(f, n);
}

/* A function of the kernel itself whose arguments are all in registers; 0: not so. */
static u32 plain_function(struct host *h, const struct point *p)
{
	struct types *k = host_btf(h);
	bool core = !p->extra.n && (!p->target.n || str_is(p->target, "vmlinux"));
	if (!k || !core || p->has_addr || p->offset || typed_recurses(p->name))
		return 0;
	u32 id = btf_types_id(k, p->name, BTF_KIND_FUNC), n;
	const struct type *fn = signature(h, id);
	if (!fn)
		return 0;
	const struct field *v = type_fields(fn, &n);
	for (u32 i = 0; i < n; i++)
		if (type_is_record(v[i].type) || v[i].type->size > 8)
			return 0;
	return n <= MAX_SLOTS ? id : 0;
}

static bool trampoline_fits(const struct ask *q)
{
	if (q->h->recorded || q->n >= MANY || (q->use & (USE_KSTACK | USE_REGS | USE_PROGRAM)))
		return false;
	for (const struct point *p = q->points; p; p = p->next)
		if (!plain_function(q->h, p))
			return false;
	if (!host_has(q->h, FEAT_FUNC_ARG))
		return false;
	for (struct point *p = q->points; p; p = p->next)
		p->btf_id = plain_function(q->h, p);
	return true;
}

#define TRAMPOLINE_METHOD                                                             \
	.prog_type = BPF_PROG_TYPE_TRACING, .flags = METHOD_TYPED | METHOD_BY_NUMBER, \
	.fits = trampoline_fits, .arg = trampoline_arg, .attach = typed_attach

const struct method method_trampoline_entry = {TRAMPOLINE_METHOD, .attach_type = BPF_TRACE_FENTRY};
const struct method method_trampoline_return = {TRAMPOLINE_METHOD, .attach_type = BPF_TRACE_FEXIT};
