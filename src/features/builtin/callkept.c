/* callkept.c - see callkept.h. */
#include "builtin/callkept.h"
#include "builtin/callid.h"
#include "sema/check.h"

enum { LIMIT, FLAGS, RAW, SHALLOW, DUMP };

const struct type *call_type(struct sema *s, struct node *call)
{
	struct type *t = arena_new(s->a, struct type);
	(void)call;
	*t = *type_buf(s->a, CALL_VALUE - 4);
	t->mode = BUF_CALL;
	return t;
}

bool call_check_shown(struct sema *s, struct node *call, enum call_of at, i64 *limit, i64 *flags)
{
	*flags = 0;
	if (!builtin_lit(s, call, at, limit))
		return false;
	if (*limit < 0 || *limit > CALL_PATH - 1)
		return sema_fail(s, E_RANGE, call_arg(call, at)->loc,
				 "texts may be 0 to %d bytes long", CALL_PATH - 1);
	if (call_arg(call, at + FLAGS) && !builtin_lit(s, call, at + FLAGS, flags))
		return false;
	for (u32 i = (u32)at + RAW; i <= (u32)at + SHALLOW; i++)
		if (call_arg(call, i) && !call_check_set(s, call, i))
			return false;
	return true;
}

bool call_dumps(const struct node *call, enum call_of at)
{
	const struct node *dump = call_arg(call, at + DUMP);
	i64 never;
	return dump && !(node_int(dump, &never) && !never);
}

/* What is to be shown of a recorded call must have been copied. */
bool call_check_kept(struct sema *s, struct node *call)
{
	i64 limit = 0, flags = 0, kept_limit, kept_flags;
	const struct type *kept = call_arg(call, 0)->type;
	if (kept->kind != T_BUF || kept->size < CALL_VALUE)
		return sema_fail(s, E_TYPE, call->loc,
				 "syscall_kept() is for queries: they put it in the place of other "
				 "functions");
	if (!builtin_lit(s, call, 1, &kept_limit) || !builtin_lit(s, call, 2, &kept_flags))
		return false;
	if (!call_arg(call, CALL_OF_KEPT))
		return true;
	if (!call_check_shown(s, call, CALL_OF_KEPT, &limit, &flags))
		return false;
	limit = call_dumps(call, CALL_OF_KEPT) ? CALL_DUMPED : limit;
	if (limit > kept_limit)
		return sema_fail(s, E_RECORDING, call->loc,
				 "the recording has %lld bytes of each text; record more with: "
				 "sonde record --set strace --strings %lld",
				 kept_limit, limit);
	if (flags & (CALL_PATHS | CALL_SOCKETS | CALL_WHOLE) & ~kept_flags)
		return sema_fail(s, E_RECORDING, call->loc,
				 "the recording lacks paths of descriptors, or members of "
				 "structures; record them with: sonde record --set strace");
	return true;
}

void call_put_length(struct lower *l, struct mem dst, struct ref used)
{
	struct ref n = ir_addi(l->f, lower_at_most(l, used, CALL_VALUE - AT_PIECES), AT_PIECES - 4);
	lower_store(l, 4, dst, n);
	if (dst.tail)
		*dst.tail = ir_addi(l->f, n, 4);
}

struct ref call_shown_flags(struct lower *l, struct node *call, enum call_of at, struct ref nr,
			    i64 flags)
{
	static const u32 flag[] = {CALL_RAW, CALL_SHALLOW};
	struct ref all = ir_con(l->f, (u64)flags);
	struct str set;
	for (u32 i = 0; i < countof(flag); i++)
		if (call_arg(call, at + RAW + i) && node_str(call_arg(call, at + RAW + i), &set) &&
		    !str_is(set, "none"))
			all = ir_op2(l->f, O_OR, all,
				     ir_op2(l->f, O_MUL, call_in_set(l, nr, set),
					    ir_con(l->f, flag[i])));
	if (!call_dumps(call, at))
		return all;
	struct fn *f = l->f;
	struct ref dump = lower_value(l, call_arg(call, at + DUMP));
	dump = ir_op2(f, O_OR, dump, ir_op2(f, O_SUB, ir_con(f, 0), dump)); /* 1 of all but 0 */
	dump = ir_op2(f, O_SHR, dump, ir_con(f, 63));
	return ir_op2(l->f, O_OR, all, ir_op2(l->f, O_MUL, dump, ir_con(l->f, CALL_DUMP)));
}

/* A call that was recorded, to be shown in another way. */
struct ref call_lower_kept(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	i64 limit, flags = 0;
	lower_copy(l, dst, lower_mem(l, call_arg(call, 0)), CALL_VALUE);
	if (call_arg(call, CALL_OF_KEPT)) {
		struct ref nr = lower_load(l, 4, false, mem_at(dst, AT_NR));
		struct ref compat = lower_load(l, 4, false, mem_at(dst, AT_FLAGS));
		compat = ir_op2(f, O_AND, compat, ir_con(f, CALL_COMPAT));
		struct ref id =
			ir_op2(f, O_SHL, compat, ir_con(f, 32 - __builtin_ctz(CALL_COMPAT)));
		node_int(call_arg(call, CALL_OF_KEPT), &limit);
		if (call_arg(call, CALL_OF_KEPT + FLAGS))
			node_int(call_arg(call, CALL_OF_KEPT + FLAGS), &flags);
		id = ir_op2(f, O_OR, id, nr);
		struct ref shown = call_shown_flags(l, call, CALL_OF_KEPT, id, flags);
		lower_store(l, 4, mem_at(dst, AT_LIMIT), ir_con(f, (u64)limit));
		lower_store(l, 4, mem_at(dst, AT_FLAGS), ir_op2(f, O_OR, shown, compat));
	}
	call_put_length(l, dst, lower_load(l, 8, false, mem_at(dst, AT_USED)));
	return REF_NONE;
}
