/*
 * syscall.c - syscall_enter(), syscall_exit() and their kin: what of a system call is copied.
 *
 * The programs are the same for all calls. A constant table says, by the number of the call, what to
 * copy of each argument (struct call_plan); each piece goes behind the one before.
 */
#include "builtin/calls.h"
#include "builtin/common.h"
#include "sema/check.h"

enum {
	MAX_CALLS = 512,
	LENGTH = 8, /* of a buffer value, padded: its bytes begin at 4 */
	AT_NR = 4,
	AT_PHASE = 8,
	AT_TID = 12,
	AT_PID = 16,
	AT_LIMIT = 20,
	AT_TIME = 28,
	AT_ARG = 36,
	AT_USED = 100,
	AT_PIECES = 108,
	SIZE = AT_PIECES + CALL_AREA + CALL_PATH + (int)sizeof(struct call_piece) + 8,
	PLAN_WORDS = 8,
};
_Static_assert(sizeof(struct call_plan) == 4 * PLAN_WORDS, "a plan is copied as it is");
_Static_assert(sizeof(struct call_head) == AT_PIECES - 4, "the head is laid out by hand here");
_Static_assert(offsetof(struct call_head, arg) == AT_ARG - 4, "the same");
_Static_assert(LENGTH == 8, "padding");

static const struct type *type_call(struct sema *s, struct node *call)
{
	struct type *t = arena_new(s->a, struct type);
	(void)call;
	*t = *type_buf(s->a, SIZE - 4);
	t->mode = BUF_CALL;
	return t;
}

static bool check_limit(struct sema *s, struct node *call)
{
	i64 limit;
	struct node *n = call_arg(call, 2);
	if (!builtin_lit(s, call, 2, &limit))
		return false;
	if (limit < 0 || limit > CALL_PATH - 1)
		return sema_fail(s, E_RANGE, n->loc, "texts may be 0 to %d bytes long",
				 CALL_PATH - 1);
	return true;
}

static struct map *plans(struct lower *l, enum call_phase phase)
{
	const struct arch_calls *calls = &l->c->host->arch->calls;
	const char *name = phase == CALL_ENTER ? "call_enter" : "call_exit";
	for (u32 i = 0; i < l->u->nmap; i++)
		if (str_is(l->u->map[i]->name, name))
			return l->u->map[i];
	struct call_plan *table = arena_newn(l->c->arena, struct call_plan, MAX_CALLS);
	for (u32 i = 0; i < calls->n && i < MAX_CALLS; i++) {
		const struct call_row *row = call_find(calls->name[i]);
		if (row)
			call_plan(row, phase, &table[i]);
	}
	struct map *m = unit_map(l->c, MAP_AUX, name);
	m->val_size = MAX_CALLS * sizeof(*table);
	m->init = table;
	return m;
}

/* What copying needs. */
struct copying {
	struct lower *l;
	struct fn *f;
	struct ref base; /* of the value */
	struct ref ret;  /* at the exit: of calls that failed only texts are copied */
	u32 limit;
};

static struct ref load(struct copying *c, u32 size, i32 off)
{
	return ir_load(c->f, size, c->base, off);
}

/* Goes on in a new block when a op b holds, else to out. */
static void only_if(struct copying *c, enum op op, struct ref a, u64 b, struct blk *out)
{
	struct blk *go = ir_blk(c->f);
	ir_br(c->f, op, a, ir_con(c->f, b), go, out);
	ir_at(c->f, go);
}

/* Where the next piece goes; to out when the area is full. */
static struct ref next_piece(struct copying *c, struct blk *out)
{
	struct ref used = load(c, 8, AT_USED);
	only_if(c, O_ULE, used, CALL_AREA, out);
	return ir_addi(c->f, ir_op2(c->f, O_ADD, c->base, used), AT_PIECES);
}

/* n bytes are there. */
static void close_piece(struct copying *c, struct ref piece, u32 id, struct ref n)
{
	struct fn *f = c->f;
	ir_store(f, 4, piece, 0, ir_con(f, id));
	ir_store(f, 4, piece, 4, n);
	struct ref more = ir_op2(f, O_AND, ir_addi(f, n, 7 + (i64)sizeof(struct call_piece)),
				 ir_con(f, ~7ull));
	ir_store(f, 8, c->base, AT_USED, ir_op2(f, O_ADD, load(c, 8, AT_USED), more));
}

/* A text of at most size bytes (a value). */
static void copy_text(struct copying *c, u32 id, struct ref addr, struct ref size, struct blk *out)
{
	struct fn *f = c->f;
	struct ref piece = next_piece(c, out);
	struct ref n = ir_call(f, BPF_FUNC_probe_read_user_str,
			       ARGS(ir_addi(f, piece, sizeof(struct call_piece)), size, addr));
	only_if(c, O_SGT, n, 0, out);
	only_if(c, O_ULE, n, CALL_PATH, out);
	close_piece(c, piece, id, n);
}

/* n bytes, at most max. */
static void copy_data(struct copying *c, u32 id, struct ref addr, struct ref n, u32 max,
		      struct blk *out)
{
	struct fn *f = c->f;
	only_if(c, O_SGT, n, 0, out);
	n = ir_hide(f, lower_at_most(c->l, n, max));
	only_if(c, O_ULE, n, max, out);
	struct ref piece = next_piece(c, out);
	struct ref bad = ir_call(f, BPF_FUNC_probe_read_user,
				 ARGS(ir_addi(f, piece, sizeof(struct call_piece)), n, addr));
	only_if(c, O_EQ, bad, 0, out);
	close_piece(c, piece, id, n);
}

/* A word of the process into the value's own memory; 0 when it cannot be read. */
static struct ref user_word(struct copying *c, u32 size, struct ref addr)
{
	struct mem m = lower_tmp(c->l, 8);
	lower_store(c->l, 8, m, ir_con(c->f, 0));
	ir_call(c->f, BPF_FUNC_probe_read_user,
		ARGS(lower_addr(c->l, m), ir_con(c->f, size), addr));
	return lower_load(c->l, 8, false, m);
}

/* Argument i by its word of the plan. */
static void copy_arg(struct copying *c, struct ref plan, u32 i)
{
	struct fn *f = c->f;
	struct blk *done = ir_blk(f), *text = ir_blk(f), *data = ir_blk(f);
	struct ref op = ir_load(f, 1, plan, (i32)(4 * i));
	struct ref addr = load(c, 8, AT_ARG + 8 * (i32)i);
	only_if(c, O_NE, op, COPY_NONE, done);
	only_if(c, O_NE, addr, 0, done);
	ir_br(f, O_ULE, op, ir_con(f, COPY_STR), text, data);

	ir_at(f, text);
	struct ref size = ir_var(f);
	struct blk *path = ir_blk(f), *str = ir_blk(f), *go = ir_blk(f);
	ir_br(f, O_EQ, op, ir_con(f, COPY_PATH), path, str);
	ir_at(f, path);
	ir_set(f, size, ir_con(f, CALL_PATH));
	ir_jmp(f, go);
	ir_at(f, str);
	ir_set(f, size, ir_con(f, MIN(c->limit + 2, (u32)CALL_PATH)));
	ir_jmp(f, go);
	ir_at(f, go);
	copy_text(c, i, addr, ir_get(f, size), done);
	ir_jmp(f, done);

	ir_at(f, data);
	only_if(c, O_SGE, c->ret, 0, done);
	struct ref n = ir_var(f), unit = ir_load(f, 2, plan, (i32)(4 * i + 2));
	struct blk *fixed = ir_blk(f), *counted = ir_blk(f), *ready = ir_blk(f), *sized = ir_blk(f),
		   *times = ir_blk(f);
	ir_br(f, O_EQ, op, ir_con(f, COPY_FIXED), fixed, counted);
	ir_at(f, fixed);
	ir_set(f, n, unit);
	ir_jmp(f, ready);
	ir_at(f, counted);
	struct ref from = ir_op2(f, O_AND, ir_load(f, 1, plan, (i32)(4 * i + 1)), ir_con(f, 7));
	struct ref at = ir_op2(f, O_ADD, c->base, ir_op2(f, O_SHL, from, ir_con(f, 3)));
	struct ref many = ir_load(f, 8, at, AT_ARG);
	ir_br(f, O_EQ, op, ir_con(f, COPY_SIZED), sized, times);
	ir_at(f, sized);
	ir_set(f, n, user_word(c, 4, many));
	ir_jmp(f, ready);
	ir_at(f, times);
	ir_set(f, n, ir_op2(f, O_MUL, many, unit));
	ir_jmp(f, ready);
	ir_at(f, ready);
	struct blk *cut = ir_blk(f), *whole = ir_blk(f);
	ir_br(f, O_EQ, op, ir_con(f, COPY_DATA), cut, whole);
	ir_at(f, cut);
	copy_data(c, i, addr, ir_get(f, n), MAX(c->limit, 1u), done);
	ir_jmp(f, done);
	ir_at(f, whole);
	copy_data(c, i, addr, ir_get(f, n), CALL_PATH, done);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* What vectors point to, and the words of an argv; vec: address, n: elements. */
static void copy_nested(struct copying *c, struct ref vec, struct ref n, bool words)
{
	struct fn *f = c->f;
	struct blk *done = ir_blk(f);
	for (u32 k = 0; k < CALL_MAX_NESTED; k++) {
		struct blk *next = ir_blk(f);
		u32 mark = ir_slot_mark(f);
		if (!words)
			only_if(c, O_UGT, n, k, done);
		struct ref addr = user_word(c, 8, ir_addi(f, vec, words ? 8 * k : 16 * k));
		if (words) {
			only_if(c, O_NE, addr, 0, done);
			copy_text(c, CALL_NESTED + k, addr,
				  ir_con(f, MIN(c->limit + 2, (u32)CALL_PATH)), next);
		} else {
			struct ref len = user_word(c, 8, ir_addi(f, vec, 16 * k + 8));
			copy_data(c, CALL_NESTED + k, addr, len, MAX(c->limit, 1u), next);
		}
		ir_jmp(f, next);
		ir_at(f, next);
		ir_slot_release(f, mark);
	}
	ir_jmp(f, done);
	ir_at(f, done);
}

static void copy_all_nested(struct copying *c, struct ref plan)
{
	struct fn *f = c->f;
	struct blk *done = ir_blk(f), *words = ir_blk(f), *vectors = ir_blk(f), *msg = ir_blk(f),
		   *vec = ir_blk(f), *go = ir_blk(f);
	struct ref op = ir_load(f, 4, plan, 4 * CALL_ARGS);
	only_if(c, O_NE, op, NESTED_NONE, done);
	only_if(c, O_SGE, c->ret, 0, done);
	struct ref i = ir_op2(f, O_AND, ir_load(f, 4, plan, 4 * CALL_ARGS + 4), ir_con(f, 3));
	struct ref at = ir_op2(f, O_ADD, c->base, ir_op2(f, O_SHL, i, ir_con(f, 3)));
	struct ref addr = ir_load(f, 8, at, AT_ARG);
	only_if(c, O_NE, addr, 0, done);
	ir_br(f, O_EQ, op, ir_con(f, NESTED_WORDS), words, vectors);
	ir_at(f, words);
	copy_nested(c, addr, REF_NONE, true);
	ir_jmp(f, done);
	ir_at(f, vectors);
	struct ref base = ir_var(f), n = ir_var(f);
	ir_br(f, O_EQ, op, ir_con(f, NESTED_MSG), msg, vec);
	ir_at(f, msg); /* struct msghdr: msg_iov at 16, msg_iovlen at 24 */
	ir_set(f, base, user_word(c, 8, ir_addi(f, addr, 16)));
	ir_set(f, n, user_word(c, 8, ir_addi(f, addr, 24)));
	ir_jmp(f, go);
	ir_at(f, vec);
	ir_set(f, base, addr);
	ir_set(f, n, ir_load(f, 8, at, AT_ARG + 8));
	ir_jmp(f, go);
	ir_at(f, go);
	copy_nested(c, ir_get(f, base), ir_get(f, n), false);
	ir_jmp(f, done);
	ir_at(f, done);
}

static void put_head(struct lower *l, struct mem dst, enum call_phase phase, struct ref nr)
{
	struct fn *f = l->f;
	struct ref ids = builtin_pid_tgid(l);
	lower_store(l, 4, mem_at(dst, AT_NR), nr);
	lower_store(l, 4, mem_at(dst, AT_PHASE), ir_con(f, phase));
	lower_store(l, 4, mem_at(dst, AT_TID), ids);
	lower_store(l, 4, mem_at(dst, AT_PID), ir_op2(f, O_SHR, ids, ir_con(f, 32)));
	lower_store(l, 8, mem_at(dst, AT_LIMIT), ir_con(f, 0));
	lower_store(l, 8, mem_at(dst, AT_TIME), ir_call(f, BPF_FUNC_ktime_get_ns, 0, NULL));
	lower_store(l, 8, mem_at(dst, AT_USED), ir_con(f, 0));
}

/* All that was copied is the value. */
static void put_length(struct lower *l, struct mem dst, struct ref used)
{
	struct ref n = ir_addi(l->f, lower_at_most(l, used, SIZE - AT_PIECES), AT_PIECES - 4);
	lower_store(l, 4, dst, n);
	if (dst.tail)
		*dst.tail = ir_addi(l->f, n, 4);
}

static struct ref lower_call(struct lower *l, struct node *call, struct mem dst,
			     enum call_phase phase)
{
	const struct arch_calls *calls = &l->c->host->arch->calls;
	struct fn *f = l->f;
	i64 limit = 0;
	struct ref regs = lower_operand(l, call_arg(call, 0));
	struct ref val = lower_operand(l, call_arg(call, 1));
	struct mem word = lower_tmp(l, 8);
	struct blk *done = ir_blk(f);
	struct ref nr = val;

	node_int(call_arg(call, 2), &limit);
	for (u32 i = 0; i < CALL_ARGS; i++) {
		lower_read(l, word, 8, regs, calls->arg[i], AS_KERNEL);
		lower_store(l, 8, mem_at(dst, AT_ARG + 8 * (i32)i), lower_load(l, 8, false, word));
	}
	if (phase == CALL_EXIT) {
		lower_read(l, word, calls->nr_size, regs, calls->nr, AS_KERNEL);
		nr = lower_load(l, calls->nr_size, false, word);
	}
	put_head(l, dst, phase, nr);
	struct ref times = call_arg(call, 3) ? lower_value(l, call_arg(call, 3)) : ir_con(f, 0);
	lower_store(l, 4, mem_at(dst, AT_LIMIT), ir_con(f, (u64)limit));
	lower_store(l, 4, mem_at(dst, AT_LIMIT + 4), times);
	lower_store(l, 8, mem_at(dst, AT_ARG + 8 * CALL_RET),
		    phase == CALL_EXIT ? val : ir_con(f, 0));
	lower_store(l, 8, mem_at(dst, AT_ARG + 8 * CALL_RET + 8), ir_con(f, 0));
	struct copying c = {l, f, lower_addr(l, dst), phase == CALL_EXIT ? val : ir_con(f, 0),
			    (u32)limit};
	only_if(&c, O_ULT, nr, MAX_CALLS, done);
	struct ref table = ir_op1(f, O_MAPVAL, 8, ir_map(plans(l, phase)->index));
	struct ref plan = ir_op2(f, O_ADD, table, ir_op2(f, O_SHL, nr, ir_con(f, 5)));
	for (u32 i = 0; i < CALL_ARGS; i++)
		copy_arg(&c, plan, i);
	copy_all_nested(&c, plan);
	ir_jmp(f, done);
	ir_at(f, done);
	put_length(l, dst, load(&c, 8, AT_USED));
	return REF_NONE;
}

static struct ref lower_call_enter(struct lower *l, struct node *call, struct mem dst)
{
	return lower_call(l, call, dst, CALL_ENTER);
}

static struct ref lower_call_exit(struct lower *l, struct node *call, struct mem dst)
{
	return lower_call(l, call, dst, CALL_EXIT);
}

static struct ref lower_signal(struct lower *l, struct node *call, struct mem dst)
{
	struct ref info = lower_operand(l, call_arg(call, 0));
	put_head(l, dst, CALL_SIGNAL, ir_con(l->f, 0));
	lower_read(l, mem_at(dst, AT_ARG), 8 * CALL_ARGS, info, 0, AS_KERNEL);
	put_length(l, dst, ir_con(l->f, 0));
	return REF_NONE;
}

static struct ref lower_ended(struct lower *l, struct node *call, struct mem dst)
{
	struct ref code = lower_value(l, call_arg(call, 0));
	put_head(l, dst, CALL_ENDED, ir_con(l->f, 0));
	struct ref open = call_arg(call, 1) ? lower_value(l, call_arg(call, 1)) : ir_con(l->f, 1);
	lower_store(l, 8, mem_at(dst, AT_ARG), code);
	lower_store(l, 8, mem_at(dst, AT_ARG + 8), open);
	put_length(l, dst, ir_con(l->f, 0));
	return REF_NONE;
}

/* ---- syscall_in(id, "open,%file") ---- */

static bool check_in(struct sema *s, struct node *call)
{
	u8 set[MAX_CALLS];
	struct str text;
	if (!builtin_text(s, call, 1, &text))
		return false;
	struct err *e = call_set(&s->c->host->arch->calls, text, set, MAX_CALLS);
	if (e)
		diag_err(s->c->diags, E_OPTION, call_arg(call, 1)->loc, e);
	return !e;
}

static struct ref lower_in(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	struct str text = {0};
	struct ref nr = lower_value(l, call_arg(call, 0)), found = ir_var(f);
	struct blk *in = ir_blk(f), *done = ir_blk(f);
	struct map *m = unit_map(l->c, MAP_AUX, "call_set");
	u8 *set = arena_newn(l->c->arena, u8, MAX_CALLS);

	(void)dst;
	node_str(call_arg(call, 1), &text);
	err_free(call_set(&l->c->host->arch->calls, text, set, MAX_CALLS));
	m->val_size = MAX_CALLS;
	m->init = set;
	ir_set(f, found, ir_con(f, 0));
	ir_br(f, O_ULT, nr, ir_con(f, MAX_CALLS), in, done);
	ir_at(f, in);
	struct ref table = ir_op1(f, O_MAPVAL, 8, ir_map(m->index));
	ir_set(f, found, ir_load(f, 1, ir_op2(f, O_ADD, table, nr), 0));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, found);
}

const struct builtin builtin_syscall[] = {
	{"auto syscall_enter(any regs, int id, lit limit)", lower_call_enter, .type = type_call,
	 .check = check_limit,
	 .doc = "In rawtracepoint:sys_enter the system call with its arguments, for a column of "
		"kind "
		"call; of texts limit bytes."},
	{"auto syscall_exit(any regs, int ret, lit limit, [int times])", lower_call_exit,
	 .type = type_call, .check = check_limit,
	 .doc = "In rawtracepoint:sys_exit the system call with its result, for a column of kind "
		"call; times: and how long it took."},
	{"auto syscall_signal(any info)", lower_signal, .type = type_call,
	 .doc = "In rawtracepoint:signal_deliver what came, for a column of kind call."},
	{"auto syscall_ended(int code, [int open])", lower_ended, .type = type_call,
	 .doc = "In tracepoint:sched:sched_process_exit the end of the thread, for a column of "
		"kind "
		"call; open 0: without the call that it was in."},
	{"bool syscall_in(int id, text set)", lower_in, .check = check_in,
	 .doc = "Is the system call one of these: \"open,read\", \"%file\", \"!%desc\", as strace "
		"writes it?"},
	{0},
};
