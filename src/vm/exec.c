/*
 * exec.c - runs decoded instructions.
 *
 * Each instruction holds the address of its code, so the end of one jumps to the next directly, and
 * the processor predicts each of these jumps by itself. The macros here are therefore control flow.
 * The code of most operations is generated from ops.def.
 */
#include "vm/inside.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum { POISON = 0x5a };

/* Memory of the program, or NULL. */
static inline __attribute__((always_inline)) u8 *reach(const struct region *g, u32 n, u64 addr,
						       u32 size, bool write)
{
	u64 at = region_of(addr), off = addr & REGION_MASK;
	if (unlikely(at >= n))
		return NULL;
	g += at;
	return likely(off + size <= (write ? g->wsize : g->size)) ? g->mem + off : NULL;
}

/* A load that reaches no region: what typed pointers of the kernel point to, or a failure. */
static __attribute__((noinline, cold)) bool load_typed(struct vm *v, u64 addr, u32 size, u64 *ret)
{
	const struct vm_env *e = &v->spec.env;
	*ret = 0;
	if (!e->typed_loads || !e->read || region_of(addr) < MAX_REGIONS) {
		vm_fail(v, "load", addr, size);
		return false;
	}
	if ((i64)addr < 0 && e->read(e->arg, VM_KERNEL, addr, ret, size) < size)
		*ret = 0;
	return true;
}

/* What the calling convention leaves undefined. */
static void poison_regs(u64 *r)
{
	for (u32 i = 1; i <= 5; i++)
		r[i] = 0xdead0000dead0000ull + i;
}

static bool enter(struct vm *v, u64 *r, u8 **stack)
{
	if (v->depth >= VM_MAX_CALLS) {
		vm_fail(v, "more than 8 functions are in progress", 0, 0);
		return false;
	}
	u64 at = (u64)v->depth++ * IR_STACK_MAX + IR_STACK_MAX;
	*stack = v->stack + at;
	r[10] = region_addr(REGION_STACK, at);
	if (v->spec.strict)
		memset(*stack - IR_STACK_MAX, POISON, IR_STACK_MAX);
	return true;
}

static __attribute__((noinline)) u64 ask(struct vm *v, const struct vm_insn *i, const u64 *a)
{
	const struct vm_env *e = &v->spec.env;
	return e->call(e->arg, v, (u32)i->imm, a);
}

static __attribute__((noinline)) u64 ask_kfunc(struct vm *v, const struct vm_insn *i, const u64 *a)
{
	const struct vm_env *e = &v->spec.env;
	return e->call_kfunc(e->arg, v, (u32)i->imm, a);
}

#define NEXT                  \
	{                     \
		i++;          \
		goto * i->go; \
	}
#define SPEND(n)                           \
	{                                  \
		v->left -= (n);            \
		if (unlikely(v->left < 0)) \
			goto spent;        \
	}

/* A call of anything: result in r0, r1 to r5 are lost. */
#define CALLED(result)                               \
	{                                            \
		u64 x = (result);                    \
		if (unlikely(v->fault.what != NULL)) \
			goto failed;                 \
		if (unlikely(strict))                \
			poison_regs(r);              \
		r[0] = x;                            \
	}                                            \
	NEXT

/* v NULL: only gives the labels. */
static u64 run(struct vm *v, u32 fn, const u64 *args, const void *const **labels)
{
	static const void *const all[VOP_COUNT] = {
#include "vm/labels.def"
	};
	*labels = all;
	if (!v)
		return 0;
	const struct region *const region = v->region;
	const u32 nregion = v->nregion, bottom = v->depth;
	const struct vm_prog *const prog = v->run;
	const bool strict = v->spec.strict;
	const struct vm_insn *i = prog->insn + prog->fn[fn].start;
	struct frame frame[VM_MAX_CALLS + 1], *f;
	u64 r[11], addr;
	u32 size;
	u8 *stack;
	memset(r, strict ? POISON : 0, sizeof(r));
	memcpy(r + 1, args, 5 * sizeof(*r));
	if (!enter(v, r, &stack))
		goto failed;
	SPEND(prog->fn[fn].len)
	goto * i->go;

#include "vm/code.def"

bad_store:
	vm_fail(v, "store", addr, size);
	goto failed;
spent:
	vm_fail(v, "the program ran for too long", 0, 0);
failed:
	if (v->fault.insn < 0)
		v->fault.insn = i - prog->insn;
	v->depth = bottom;
	return 0;
}

u64 vm_exec(struct vm *v, u32 fn, const u64 args[5])
{
	const void *const *labels;
	return run(v, fn, args, &labels);
}

const void *const *vm_labels(void)
{
	const void *const *labels;
	run(NULL, 0, NULL, &labels);
	return labels;
}
