/*
 * loop.c - loops.
 *
 * A short loop over a constant range with little in it is a plain loop. Others become a function
 * that bpf_loop or bpf_for_each_map_elem calls; it shares the frame (lower.h) with the main
 * function: the context, the scratch base, captured variables, and a word that says that the whole
 * probe is to end. Nested bodies are handed the same frame. Where bpf_loop is missing, a range is a
 * plain loop with a limit, and reaching the limit is reported.
 */
#include "core/store.h"
#include "lower/lower.h"

enum {
	INLINE_TRIPS = 32,
	INLINE_COST = 1000, /* of all rounds together: the verifier walks through each */
	LIMITED_TRIPS = 4096,
	MAX_LOOPS = 1 << 23,
	MAX_WHILE = 1 << 16, /* far more than the verifier would follow */
};

struct fn *lower_enter(struct lower *l, struct saved *s, struct loop *loop, const char *name,
		       u32 ctx_param)
{
	*s = (struct saved){.f = l->f,
			    .scratch = l->scratch,
			    .frame = l->frame,
			    .loop = l->loop,
			    .rounds = l->rounds,
			    .cache = l->cache};
	struct fn *f = ir_fn(&l->c->scratch, str_z(name));
	f->arch = l->f->arch;
	f->user_mask = l->f->user_mask;
	f->callback = true;
	f->nparam = ctx_param + 1;
	f->loc = l->f->loc;
	l->f = f;
	l->frame = mem_of(ir_param(f, ctx_param), 0);
	f->ctx = ir_load(f, 8, l->frame.base, FRAME_CTX);
	l->scratch = ir_var(f);
	ir_set(f, l->scratch, ir_load(f, 8, l->frame.base, FRAME_SCRATCH));
	l->cache = NULL;
	if (loop)
		*loop = (struct loop){.f = f, .outer = l->loop};
	l->loop = loop;
	return f;
}

void lower_leave(struct lower *l, const struct saved *s)
{
	ir_ret(l->f, ir_con(l->f, 0));
	l->f = s->f;
	l->scratch = s->scratch;
	l->frame = s->frame;
	l->loop = s->loop;
	l->rounds = s->rounds;
	l->cache = s->cache;
}

/* The body may have asked to end the probe. */
void lower_after_call(struct lower *l)
{
	struct fn *f = l->f;
	struct blk *stop = ir_blk(f), *go = ir_blk(f);
	struct ref flag = lower_load(l, 8, false, lower_shared(l, SHARED_STOP));
	stop->unlikely = true;
	ir_br(f, O_NE, flag, ir_con(f, 0), stop, go);
	ir_at(f, stop);
	if (f == l->main) {
		ir_set(f, l->retval, lower_load(l, 8, false, lower_shared(l, SHARED_RETVAL)));
		ir_jmp(f, l->exit);
	} else if (f == l->root) { /* a loop body asked this function to return, or all to end */
		struct blk *mine = ir_blk(f), *all = ir_blk(f);
		ir_br(f, O_EQ, flag, ir_con(f, STOP_FN), mine, all);
		ir_at(f, mine);
		lower_store(l, 8, lower_shared(l, SHARED_STOP), ir_con(f, 0));
		ir_ret(f, lower_load(l, 8, false, lower_shared(l, SHARED_RETVAL)));
		ir_at(f, all);
		ir_ret(f, ir_con(f, 0));
	} else {
		ir_ret(f, ir_con(f, 1));
	}
	ir_at(f, go);
}

static void for_map(struct lower *l, struct node *n)
{
	struct map *m = n->a->map;
	struct saved s;
	struct loop loop;
	struct fn *f = lower_enter(l, &s, &loop, "for_map", 3);
	const struct var *v = n->var;
	const struct field *kv = v->type->field;
	struct mem dst = lower_var_mem(l, v);
	struct ref stored = ir_param(f, 1), key = stored, val = ir_param(f, 2);
	if (m->keys) { /* what the hash stands for */
		struct blk *some = ir_blk(f), *none = ir_blk(f);
		key = ir_call(f, BPF_FUNC_map_lookup_elem, ARGS(ir_map(m->keys->index), key));
		ir_br(f, O_NE, key, ir_con(f, 0), some, none);
		ir_at(f, none);
		ir_ret(f, ir_con(f, 0));
		ir_at(f, some);
	}
	lower_zero(l, dst, v->type->size);
	lower_convert_mem(l, mem_of(key, 0), m->key, mem_at(dst, (i32)(kv[0].bit_off / 8)),
			  kv[0].type);
	struct mem to = mem_at(dst, (i32)(kv[1].bit_off / 8));
	if (type_is_agg(m->val) && m->store->each_value)
		lower_store(l, 8, to, m->store->each_value(l, m, mem_of(stored, 0), val));
	else if (type_is_agg(m->val))
		lower_store(l, 8, to, lower_agg_word(l, m, val));
	else
		lower_convert_mem(l, mem_of(val, 0), m->val, to, kv[1].type);
	lower_block(l, n->b);
	lower_leave(l, &s);
	struct ref frame = lower_addr(l, l->frame);
	m->store->each(l, m, f, frame);
	lower_after_call(l);
}

/* A body that the verifier walks through round by round. */
static void walked_body(struct lower *l, struct loop *loop, struct node *body)
{
	l->loop = loop;
	l->rounds++;
	lower_block(l, body);
	l->rounds--;
	l->loop = loop->outer;
}

static void plain_range(struct lower *l, struct node *n, struct ref lo, struct ref hi, bool sign,
			u64 limit)
{
	struct fn *f = l->f;
	struct ref i = ir_var(f), trips = ir_var(f);
	struct blk *head = ir_blk(f), *body = ir_blk(f), *next = ir_blk(f), *done = ir_blk(f);
	struct loop loop = {.brk = done, .cont = next, .f = f, .outer = l->loop};
	struct lower_cache *kept;
	ir_set(f, i, lo);
	ir_set(f, trips, ir_con(f, 0));
	ir_jmp(f, head);
	ir_at(f, head);
	ir_br(f, sign ? O_SLT : O_ULT, ir_get(f, i), hi, body, done);
	ir_at(f, body);
	kept = lower_may_skip_begin(l);
	if (limit) {
		struct blk *over = ir_blk(f), *go = ir_blk(f);
		over->unlikely = true;
		ir_br(f, O_ULT, ir_get(f, trips), ir_con(f, limit), go, over);
		ir_at(f, over);
		lower_warn(l, n->loc,
			   "This loop was stopped after 4096 rounds: more need bpf_loop, which "
			   "this kernel lacks.");
		ir_jmp(f, done);
		ir_at(f, go);
	}
	lower_var_set(l, n->var, ir_get(f, i));
	walked_body(l, &loop, n->b);
	lower_may_skip_end(l, kept);
	ir_jmp(f, next);
	ir_at(f, next);
	ir_set(f, i, ir_addi(f, ir_get(f, i), 1));
	ir_set(f, trips, ir_addi(f, ir_get(f, trips), 1));
	ir_jmp(f, head);
	ir_at(f, done);
}

/* More rounds were wanted than the kernel makes, and the body did not break off by itself. */
static void warn_cut(struct lower *l, struct node *n, struct ref left, struct ref ran)
{
	struct fn *f = l->f;
	struct blk *all = ir_blk(f), *cut = ir_blk(f), *go = ir_blk(f);
	all->unlikely = cut->unlikely = true;
	ir_br(f, O_EQ, ran, ir_con(f, MAX_LOOPS), all, go);
	ir_at(f, all);
	ir_br(f, O_NE, left, ir_con(f, 0), cut, go);
	ir_at(f, cut);
	lower_warn(l, n->loc,
		   "This loop was stopped after 8388608 rounds, the most that the kernel allows.");
	ir_jmp(f, go);
	ir_at(f, go);
}

/* bpf_loop counts in 32 bits and refuses more than 2^23 rounds: the rest is reported, not dropped
 * in silence. */
static void called_range(struct lower *l, struct node *n, struct ref lo, struct ref hi, bool sign)
{
	struct fn *f = l->f;
	u64 k;
	u32 lo_at = n->var->bound;
	bool lo_const = ir_is_con(f, lo, &k);
	if (!lo_const)
		lower_store(l, 8, lower_shared(l, lo_at), lo);
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	ir_br(f, sign ? O_SLT : O_ULT, lo, hi, some, done);
	ir_at(f, some);
	struct ref trips = ir_op2(f, O_SUB, hi, lo);
	struct ref count = lower_at_most(l, trips, MAX_LOOPS);

	struct saved s;
	struct loop loop;
	struct fn *body = lower_enter(l, &s, &loop, "for_range", 1);
	struct ref from =
		lo_const ? ir_con(body, k) : lower_load(l, 8, false, lower_shared(l, lo_at));
	lower_var_set(l, n->var,
		      ir_op2(body, O_ADD, from, ir_op1(body, O_EXTU, 4, ir_param(body, 0))));
	lower_block(l, n->b);
	lower_leave(l, &s);
	struct ref ran =
		ir_call(f, BPF_FUNC_loop,
			ARGS(count, ir_fnref(f, body), lower_addr(l, l->frame), ir_con(f, 0)));
	lower_after_call(l);
	if (!ir_is_con(f, trips, &k) || k > MAX_LOOPS)
		warn_cut(l, n, ir_op2(f, O_SUB, trips, ran), ran);
	ir_jmp(f, done);
	ir_at(f, done);
}

static bool may_goto(const struct lower *l)
{
	return host_has(l->c->host, FEAT_MAY_GOTO) && !l->pt->code_refused;
}

struct ref lower_index(struct lower *l, u64 first, struct mem m)
{
	struct fn *f = l->f;
	enum { BIAS = 8 }; /* a 0 on the stack it remembers */
	struct ref at = ir_var(f);
	bool hidden = may_goto(l) && m.base.kind != R_SLOT;
	ir_set(f, at,
	       hidden ? ir_addi(f, ir_hide(f, ir_con(f, first + BIAS)), -BIAS) : ir_con(f, first));
	return at;
}

void lower_round(struct lower *l, struct blk *done)
{
	struct blk *go = ir_blk(l->f);
	if (!may_goto(l))
		return;
	ir_may(l->f, go, done);
	ir_at(l->f, go);
}

static u32 body_cost(struct node *body);

/* About how many instructions the verifier walks through for n, without what is below it. */
static bool add_cost(struct node *n, void *arg)
{
	enum {
		COST_NODE = 3,
		COST_CALL = 20,
		COST_RECORD = 100,
		COST_KEY = 150,
		COST_LONG_KEY = 600,
		COST_HIST = 200
	};
	u32 *sum = arg;
	switch ((int)n->kind) {
	case N_MAP: *sum += !n->a ? COST_NODE : n->map->keys ? COST_LONG_KEY : COST_KEY; break;
	case N_CALL:
		*sum += n->fn && n->fn->bucket            ? COST_HIST
			: n->fn && n->fn->flags & B_ASYNC ? COST_RECORD
							  : COST_CALL;
		break;
	case N_FOR:
	case N_WHILE:
	case N_UNROLL: *sum += INLINE_TRIPS * body_cost(n->b); return false;
	default: *sum += COST_NODE; break;
	}
	return true;
}

static u32 body_cost(struct node *body)
{
	u32 sum = 0;
	node_walk(body, add_cost, &sum);
	return sum;
}

void lower_for(struct lower *l, struct node *n)
{
	if (n->a->kind != N_RANGE) {
		for_map(l, n);
		return;
	}
	struct ref lo = lower_value(l, n->a->a), hi = lower_value(l, n->a->b);
	bool sign = n->var->type->is_signed;
	u64 a, b;
	bool few =
		ir_is_con(l->f, lo, &a) && ir_is_con(l->f, hi, &b) && (i64)(b - a) <= INLINE_TRIPS;
	bool calls = host_has(l->c->host, FEAT_LOOP);
	if (few && (!calls || (i64)(b - a) <= 1 || (b - a) * body_cost(n->b) <= INLINE_COST))
		plain_range(l, n, lo, hi, sign, 0);
	else if (calls)
		called_range(l, n, lo, hi, sign);
	else
		plain_range(l, n, lo, hi, sign, LIMITED_TRIPS);
}

/* So many rounds, or until the condition of a while is false, of a function that bpf_loop calls. */
static void called_rounds(struct lower *l, struct node *n, u32 most)
{
	struct fn *f = l->f;
	struct saved s;
	struct loop loop;
	struct fn *body = lower_enter(l, &s, &loop, "rounds", 1);
	if (n->kind == N_WHILE) {
		struct blk *go = ir_blk(body), *no = ir_blk(body);
		lower_branch(l, n->a, go, no);
		ir_at(body, no);
		ir_ret(body, ir_con(body, 1));
		ir_at(body, go);
	}
	lower_block(l, n->b);
	lower_leave(l, &s);
	struct ref ran = ir_call(
		f, BPF_FUNC_loop,
		ARGS(ir_con(f, most), ir_fnref(f, body), lower_addr(l, l->frame), ir_con(f, 0)));
	lower_after_call(l);
	if (n->kind == N_UNROLL)
		return;
	struct blk *cut = ir_blk(f), *go = ir_blk(f);
	cut->unlikely = true;
	ir_br(f, O_EQ, ran, ir_con(f, most), cut, go);
	ir_at(f, cut);
	lower_warn(l, n->loc, "This loop was stopped after 65536 rounds.");
	ir_jmp(f, go);
	ir_at(f, go);
}

void lower_unroll(struct lower *l, struct node *n)
{
	if (n->flags & NF_CALLED) {
		called_rounds(l, n, (u32)n->a->num);
		return;
	}
	for (u64 i = 0; i < n->a->num; i++) {
		struct lower_cache *kept = lower_may_skip_begin(l);
		l->rounds++;
		lower_block(l, n->b);
		l->rounds--;
		lower_may_skip_end(l, kept);
	}
}

void lower_while(struct lower *l, struct node *n)
{
	if (n->flags & NF_CALLED) {
		called_rounds(l, n, MAX_WHILE);
		return;
	}
	struct fn *f = l->f;
	struct blk *head = ir_blk(f), *body = ir_blk(f), *done = ir_blk(f);
	struct loop loop = {.brk = done, .cont = head, .f = f, .outer = l->loop};
	struct lower_cache *kept;
	ir_jmp(f, head);
	ir_at(f, head);
	kept = lower_may_skip_begin(l);
	lower_branch(l, n->a, body, done);
	ir_at(f, body);
	walked_body(l, &loop, n->b);
	lower_may_skip_end(l, kept);
	ir_jmp(f, head);
	ir_at(f, done);
}

void lower_break(struct lower *l, bool cont)
{
	struct loop *loop = l->loop;
	assert(loop);
	if (loop->brk)
		ir_jmp(l->f, cont ? loop->cont : loop->brk);
	else
		ir_ret(l->f, ir_con(l->f, !cont));
}
