/* build.c - the builder: appends instructions to the current block. */
#include "ir/pass.h"

const struct op_info op_info[OP_COUNT] = {
#define O(op, name, nargs, flags) {name, nargs, flags},
#include "ir/ops.def"
};

enum op op_swap(enum op cmp)
{
	switch ((int)cmp) {
	case O_EQ: return O_EQ;
	case O_NE: return O_NE;
	case O_ULT: return O_UGT;
	case O_ULE: return O_UGE;
	case O_UGT: return O_ULT;
	case O_UGE: return O_ULE;
	case O_SLT: return O_SGT;
	case O_SLE: return O_SGE;
	case O_SGT: return O_SLT;
	case O_SGE: return O_SLE;
	default: break;
	}
	abort();
}

enum op op_not(enum op cmp)
{
	switch ((int)cmp) {
	case O_EQ: return O_NE;
	case O_NE: return O_EQ;
	case O_ULT: return O_UGE;
	case O_ULE: return O_UGT;
	case O_UGT: return O_ULE;
	case O_UGE: return O_ULT;
	case O_SLT: return O_SGE;
	case O_SLE: return O_SGT;
	case O_SGT: return O_SLE;
	case O_SGE: return O_SLT;
	default: break;
	}
	abort();
}

static void add_all(struct fn *f, struct fn ***list, u32 *n, u32 *cap)
{
	for (u32 i = 0; i < *n; i++)
		if ((*list)[i] == f)
			return;
	if (*n == *cap)
		*list = vec_grow(*list, *n, cap, sizeof(**list));
	(*list)[(*n)++] = f;
	for (u32 i = 0; i < f->fns.n; i++)
		add_all(f->fns.v[i], list, n, cap);
}

void ir_all_fns(struct fn *f, struct fn ***list, u32 *n)
{
	u32 cap = 0;
	*list = NULL;
	*n = 0;
	add_all(f, list, n, &cap);
}

struct fn *ir_fn(struct arena *a, struct str name)
{
	struct fn *f = arena_new(a, struct fn);
	f->name = name;
	f->arena = a;
	f->tail = &f->blks;
	f->entry = ir_blk(f);
	f->cur = f->entry;
	return f;
}

struct fn *ir_fn_ext(struct arena *a, struct str name, const struct ext *x, u32 nparam, u32 stack)
{
	assert(x->ninsn);
	struct fn *f = arena_new(a, struct fn);
	*f = (struct fn){.name = name,
			 .arena = a,
			 .callback = true,
			 .nparam = nparam,
			 .stack = stack,
			 .ssa = true,
			 .allocated = true,
			 .ext = x};
	return f;
}

void ir_fn_free(struct fn *f)
{
	if (!f)
		return;
	for_blk (b, f) {
		vec_free(&b->ins);
		vec_free(&b->pred);
		vec_free(&b->live_in);
		vec_free(&b->live_out);
	}
	vec_free(&f->tmp);
	vec_free(&f->con);
	vec_free(&f->slot);
	for (u32 i = 0; i < f->fns.n; i++)
		ir_fn_free(f->fns.v[i]);
	for (u32 i = 0; i < f->unused.n; i++)
		ir_fn_free(f->unused.v[i]);
	vec_free(&f->fns);
	vec_free(&f->unused);
}

struct ref ir_tmp(struct fn *f)
{
	vec_add(&f->tmp, (struct tmp){.reg = -1});
	return mkref(R_TMP, f->tmp.n - 1);
}

/* Where v is in con_at, or could be. */
static u32 con_slot(const struct fn *f, u64 v)
{
	u32 mask = f->ncon_at - 1, at = (u32)((v * 0x9e3779b97f4a7c15) >> 32) & mask;
	while (at < f->ncon_at && f->con_at[at] && f->con.v[f->con_at[at] - 1] != v)
		at = (at + 1) & mask;
	return at;
}

static void more_slots(struct fn *f)
{
	f->ncon_at = MAX(32, 2 * f->ncon_at);
	f->con_at = arena_newn(f->arena, u32, f->ncon_at);
	for (u32 i = 0; i < f->con.n; i++)
		f->con_at[con_slot(f, f->con.v[i])] = i + 1;
}

struct ref ir_con(struct fn *f, u64 v)
{
	u32 at = con_slot(f, v);
	if (at < f->ncon_at && f->con_at[at])
		return mkref(R_CON, f->con_at[at] - 1);
	if (2 * f->con.n >= f->ncon_at) {
		more_slots(f);
		at = con_slot(f, v);
	}
	vec_add(&f->con, v);
	f->con_at[at] = f->con.n;
	return mkref(R_CON, f->con.n - 1);
}

bool ir_is_con(const struct fn *f, struct ref r, u64 *v)
{
	if (r.kind != R_CON)
		return false;
	*v = f->con.v[r.id];
	return true;
}

struct ref ir_fnref(struct fn *f, struct fn *callee)
{
	for (u32 i = 0; i < f->fns.n; i++)
		if (f->fns.v[i] == callee)
			return mkref(R_FN, i);
	vec_add(&f->fns, callee);
	return mkref(R_FN, f->fns.n - 1);
}

void ir_raw(struct fn *f, struct blk *b, struct ins i)
{
	(void)f;
	vec_add(&b->ins, i);
}

static struct blk *need_cur(struct fn *f)
{
	if (!f->cur)
		f->cur = ir_blk(f); /* never reached: cfg drops it */
	return f->cur;
}

static struct ref add(struct fn *f, struct ins i, bool result)
{
	struct blk *b = need_cur(f);
	i.loc = f->loc;
	if (!i.w)
		i.w = 8;
	if (result)
		i.to = ir_tmp(f);
	vec_add(&b->ins, i);
	return i.to;
}

struct ref ir_op1(struct fn *f, enum op op, u32 w, struct ref a)
{
	assert(op_info[op].nargs == 1);
	return add(f, (struct ins){.op = op, .w = (u8)w, .arg = {a}}, true);
}

struct ref ir_op2(struct fn *f, enum op op, struct ref a, struct ref b)
{
	assert(op_info[op].nargs == 2);
	assert(!(op_info[op].flags & F_EFFECT));
	return add(f, (struct ins){.op = op, .arg = {a, b}}, true);
}

struct ref ir_addi(struct fn *f, struct ref a, i64 n)
{
	return n ? ir_op2(f, O_ADD, a, ir_con(f, (u64)n)) : a;
}

/* CTX and PARAM stand together at the top of the entry block, each at most once. */
static struct ref at_top(struct fn *f, enum op op, i32 imm)
{
	struct blk *b = f->entry;
	u32 at = 0;
	for (; at < b->ins.n; at++) {
		struct ins *i = &b->ins.v[at];
		if (i->op != O_CTX && i->op != O_PARAM)
			break;
		if (i->op == op && i->imm == imm)
			return i->to;
	}
	struct ins i = {.op = op, .w = 8, .imm = imm, .to = ir_tmp(f), .loc = f->loc};
	vec_add(&b->ins, i);
	memmove(&b->ins.v[at + 1], &b->ins.v[at], (b->ins.n - 1 - at) * sizeof(i));
	b->ins.v[at] = i;
	return i.to;
}

struct ref ir_ctx(struct fn *f)
{
	if (ref_is(f->ctx))
		return f->ctx;
	return at_top(f, O_CTX, 0);
}

struct ref ir_param(struct fn *f, u32 n)
{
	assert(n < 5);
	f->nparam = MAX(f->nparam, n + 1);
	return at_top(f, O_PARAM, (i32)n);
}

struct ref ir_addr(struct fn *f, struct ref slot, i32 off)
{
	assert(slot.kind == R_SLOT);
	return add(f, (struct ins){.op = O_ADDR, .arg = {slot}, .imm = off}, true);
}

struct ref ir_load(struct fn *f, u32 w, struct ref base, i32 off)
{
	return add(f, (struct ins){.op = O_LOAD, .w = (u8)w, .arg = {base}, .imm = off}, true);
}

struct ref ir_loads(struct fn *f, u32 w, struct ref base, i32 off)
{
	return add(f, (struct ins){.op = O_LOADS, .w = (u8)w, .arg = {base}, .imm = off}, true);
}

void ir_store(struct fn *f, u32 w, struct ref base, i32 off, struct ref val)
{
	add(f, (struct ins){.op = O_STORE, .w = (u8)w, .arg = {base, val}, .imm = off}, false);
}

struct ref ir_hide(struct fn *f, struct ref v)
{
	enum { HALF = 4 }; /* the kernel keeps what it knows of a slot's first bytes */
	u32 mark = ir_slot_mark(f);
	struct ref slot = ir_slot(f, 8);
	ir_slot_release(f, mark);
	if (!ref_is(slot))
		return v;
	return add(f, (struct ins){.op = O_HIDE, .w = 4, .arg = {slot, v}, .imm = HALF}, true);
}

void ir_xadd(struct fn *f, u32 w, struct ref base, i32 off, struct ref val)
{
	add(f, (struct ins){.op = O_XADD, .w = (u8)w, .arg = {base, val}, .imm = off}, false);
}

struct ref ir_acquire(struct fn *f, u32 w, struct ref base, i32 off)
{
	return add(f, (struct ins){.op = O_ACQUIRE, .w = (u8)w, .arg = {base}, .imm = off}, true);
}

void ir_release(struct fn *f, u32 w, struct ref base, i32 off, struct ref val)
{
	add(f, (struct ins){.op = O_RELEASE, .w = (u8)w, .arg = {base, val}, .imm = off}, false);
}

struct ref ir_atomic(struct fn *f, enum op op, u32 w, struct ref base, i32 off, struct ref val)
{
	assert(op == O_XADDF || op == O_XCHG);
	return add(f, (struct ins){.op = op, .w = (u8)w, .arg = {base, val}, .imm = off}, true);
}

static void put_args(struct fn *f, u32 n, const struct ref *args)
{
	assert(n <= 5);
	for (u32 i = 0; i < n; i++)
		add(f, (struct ins){.op = O_ARG, .arg = {args[i]}}, false);
}

struct ref ir_cmpxchg(struct fn *f, u32 w, struct ref base, i32 off, struct ref expect,
		      struct ref val)
{
	put_args(f, 1, &expect);
	struct ins i = {.op = O_CMPXCHG, .w = (u8)w, .nargs = 1, .arg = {base, val}, .imm = off};
	return add(f, i, true);
}

static struct ref call(struct fn *f, enum op op, i32 imm, u32 n, const struct ref *args)
{
	put_args(f, n, args);
	return add(f, (struct ins){.op = op, .nargs = (u16)n, .imm = imm}, true);
}

/* The address is the third argument. */
static bool reads_user(u32 helper)
{
	return helper == BPF_FUNC_probe_read_user || helper == BPF_FUNC_probe_read_user_str ||
	       helper == BPF_FUNC_copy_from_user;
}

struct ref ir_call(struct fn *f, u32 helper, u32 n, const struct ref *args)
{
	if (f->user_mask && reads_user(helper)) {
		struct ref plain = ir_op2(f, O_AND, args[2], ir_con(f, f->user_mask));
		return call(f, O_CALL, (i32)helper, n, (struct ref[]){args[0], args[1], plain});
	}
	return call(f, O_CALL, (i32)helper, n, args);
}

struct ref ir_callp(struct fn *f, u32 helper, u32 n, const struct ref *args)
{
	return call(f, O_CALLP, (i32)helper, n, args);
}

struct ref ir_kfunc(struct fn *f, u32 btf_id, u32 n, const struct ref *args)
{
	return call(f, O_KFUNC, (i32)btf_id, n, args);
}

struct ref ir_callfn(struct fn *f, struct fn *callee, u32 n, const struct ref *args)
{
	struct ref r = ir_fnref(f, callee);
	put_args(f, n, args);
	return add(f, (struct ins){.op = O_CALLFN, .nargs = (u16)n, .arg = {r}}, true);
}

struct ref ir_var(struct fn *f)
{
	vec_add(&f->slot, (struct slot){.promote = true, .size = 8});
	return mkref(R_SLOT, f->slot.n - 1);
}

void ir_set(struct fn *f, struct ref var, struct ref val)
{
	assert(var.kind == R_SLOT);
	assert(f->slot.v[var.id].promote);
	ir_store(f, 8, var, 0, val);
}

struct ref ir_get(struct fn *f, struct ref var)
{
	assert(var.kind == R_SLOT);
	assert(f->slot.v[var.id].promote);
	return ir_load(f, 8, var, 0);
}

struct ref ir_slot(struct fn *f, u32 size)
{
	u32 bytes = ALIGN_UP(size, 8);
	u32 spare = bytes == 8 ? 16 : 0; /* a word for a helper: out of the room for spills */
	if (bytes > IR_STACK_MAX || f->stack_at + bytes > IR_STACK_MAX - IR_SPILL_MAX + spare)
		return REF_NONE;
	f->stack_at += bytes;
	f->stack = MAX(f->stack, f->stack_at);
	vec_add(&f->slot, (struct slot){.size = bytes, .off = -(i32)f->stack_at});
	return mkref(R_SLOT, f->slot.n - 1);
}

struct ref ir_slot_last(const struct fn *f)
{
	u32 i = f->slot.n;
	while (i && f->slot.v[i - 1].promote)
		i--;
	assert(i);
	return mkref(R_SLOT, i - 1);
}

u32 ir_slot_mark(const struct fn *f)
{
	return f->stack_at;
}

void ir_slot_release(struct fn *f, u32 mark)
{
	assert(mark <= f->stack_at);
	f->stack_at = mark;
}

struct blk *ir_blk(struct fn *f)
{
	struct blk *b = arena_new(f->arena, struct blk);
	b->id = f->nblk++;
	*f->tail = b;
	f->tail = &b->next;
	return b;
}

void ir_at(struct fn *f, struct blk *b)
{
	assert(b->jmp == J_NONE);
	f->cur = b;
}

static void end(struct fn *f, enum jmp jmp, struct blk *s1, struct blk *s2)
{
	struct blk *b = need_cur(f);
	assert(b->jmp == J_NONE);
	b->jmp = jmp;
	b->s1 = s1;
	b->s2 = s2;
	b->loc = f->loc;
	f->cur = NULL;
}

void ir_jmp(struct fn *f, struct blk *b)
{
	end(f, J_JMP, b, NULL);
}

void ir_br(struct fn *f, enum op cond, struct ref a, struct ref b, struct blk *yes, struct blk *no)
{
	assert(op_info[cond].flags & F_CMP);
	struct blk *c = need_cur(f);
	c->cond = cond;
	c->cmp[0] = a;
	c->cmp[1] = b;
	end(f, J_CMP, yes, no);
}

void ir_may(struct fn *f, struct blk *yes, struct blk *no)
{
	struct ref zero = ir_con(f, 0);
	ir_br(f, O_MAY, zero, zero, yes, no);
}

void ir_ret(struct fn *f, struct ref val)
{
	need_cur(f)->cmp[0] = val;
	end(f, J_RET, NULL, NULL);
}
