/*
 * callid.c - syscall_id() and syscall_in(): whose call a number is, and sets of calls as tables that programs
 * read.
 */
#include "builtin/callid.h"
#include "builtin/common.h"
#include "syscall/calls.h"
#include <errno.h>

u32 call_elements(struct lower *l)
{
	return l->c->host->arch->calls.compat ? CALL_ALL : CALL_TABLE;
}

struct ref call_is_compat(struct lower *l)
{
	struct fn *f = l->f;
	struct host *h = l->c->host;
	u32 off;
	if (!host_compat_word(h, &off))
		return ir_con(f, 0);
	u32 bits = h->arch->calls.compat_bits;
	struct ref word;
	if (host_has(h, FEAT_TASK_BTF)) {
		word = ir_load(f, 4, lower_helper0(l, BPF_FUNC_get_current_task_btf), (i32)off);
	} else {
		struct mem m = lower_tmp(l, 4);
		lower_read(l, m, 4, lower_helper0(l, BPF_FUNC_get_current_task), (i32)off,
			   AS_KERNEL);
		word = lower_load(l, 4, false, m);
	}
	word = ir_op2(f, O_SHR, word, ir_con(f, (u64)__builtin_ctz(bits)));
	return ir_op2(f, O_AND, word, ir_con(f, 1));
}

/* The element of a table of all calls for a number as syscall_id() gives it, or to none. */
struct ref call_index(struct lower *l, struct ref id, struct blk *none)
{
	static const u64 begin[CALL_TABLES] = {0, CALL_ID_COMPAT, CALL_ID_X32};
	struct fn *f = l->f;
	struct ref index = ir_var(f);
	struct blk *done = ir_blk(f);
	u32 n = call_elements(l) / CALL_TABLE;
	for (u32 i = 0; i < n; i++) {
		struct blk *here = ir_blk(f), *next = i + 1 < n ? ir_blk(f) : none;
		struct ref k = i ? ir_addi(f, id, -(i64)begin[i]) : id;
		ir_br(f, O_ULT, k, ir_con(f, CALL_TABLE), here, next);
		ir_at(f, here);
		ir_set(f, index, ir_addi(f, k, i * CALL_TABLE));
		ir_jmp(f, done);
		if (i + 1 < n)
			ir_at(f, next);
	}
	ir_at(f, done);
	return ir_get(f, index);
}

struct ref call_in_set(struct lower *l, struct ref nr, struct str text)
{
	struct fn *f = l->f;
	struct ref found = ir_var(f);
	struct blk *done = ir_blk(f);
	struct map *m = unit_map(l->c, MAP_AUX, "call_set");
	u8 *set = arena_newn(l->c->arena, u8, CALL_ALL);

	err_free(call_set(&l->c->host->arch->calls, text, set));
	m->val_size = call_elements(l);
	m->init = set;
	ir_set(f, found, ir_con(f, 0));
	struct ref index = call_index(l, nr, done);
	struct ref table = ir_op1(f, O_MAPVAL, 8, ir_map(m->index));
	ir_set(f, found, ir_load(f, 1, ir_op2(f, O_ADD, table, index), 0));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, found);
}

bool call_check_set(struct sema *s, struct node *call, u32 i)
{
	u8 set[CALL_ALL];
	struct str text;
	if (!builtin_text(s, call, i, &text))
		return false;
	struct err *e = call_set(&s->c->host->arch->calls, text, set);
	if (e)
		diag_err(s->c->diags, E_OPTION, call_arg(call, i)->loc, e);
	return !e;
}

/* ---- syscall_id(args.id), syscall_in(id, "open,%file") ---- */

/*
 * The number that the kernel gives at the end of rt_sigreturn is -1: the registers are those of the program that
 * goes on. A call by the number -1 has failed.
 */
static struct ref lower_id(struct lower *l, struct node *call, struct mem dst)
{
	enum { UNKNOWN_CALL = -ENOSYS };
	struct fn *f = l->f;
	struct ref id = ir_var(f), nr = lower_value(l, call_arg(call, 0));
	(void)dst;
	nr = ir_op2(f, O_AND, nr, ir_con(f, 0xffffffff));
	ir_set(f, id, nr);
	if (call_arg(call, 1)) {
		struct blk *gone = ir_blk(f), *back = ir_blk(f), *done = ir_blk(f);
		struct ref ret = lower_value(l, call_arg(call, 1));
		ir_br(f, O_EQ, nr, ir_con(f, CALL_GONE), gone, done);
		ir_at(f, gone);
		ir_br(f, O_NE, ret, ir_con(f, (u64)UNKNOWN_CALL), back, done);
		ir_at(f, back);
		ir_set(f, id, ir_con(f, arch_call(l->c->host->arch, STR("rt_sigreturn"))));
		ir_jmp(f, done);
		ir_at(f, done);
		/* Of a 32-bit program it is another number; which of two is not known. */
	}
	struct ref compat = ir_op2(f, O_SHL, call_is_compat(l), ir_con(f, 32));
	return ir_op2(f, O_OR, ir_get(f, id), compat);
}

static bool check_in(struct sema *s, struct node *call)
{
	return call_check_set(s, call, 1);
}

static struct ref lower_in(struct lower *l, struct node *call, struct mem dst)
{
	struct str text = {0};
	(void)dst;
	node_str(call_arg(call, 1), &text);
	return call_in_set(l, lower_value(l, call_arg(call, 0)), text);
}

const struct builtin builtin_callid[] = {
	{"u64 syscall_id(int nr, [int ret])", lower_id,
	 .doc = "In raw_syscalls, sys_enter and sys_exit: the id of the system call for "
		"syscall_in() and columns of kind syscall. Calls of 32-bit programs have their own "
		"numbers, with bit 32 set. ret: the result, at the end of the call."},
	{"bool syscall_in(int id, text set)", lower_in, .check = check_in,
	 .doc = "True if the system call is in a set as of strace: \"open,read\", \"%file\", "
		"\"!%desc\"."},
	{0},
};
