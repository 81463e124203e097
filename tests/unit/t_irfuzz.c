/*
 * t_irfuzz.c - random functions, run twice: by an interpreter of the IR as the
 * builder left it, and as emitted bytecode by vm/. Results and memory must agree.
 */
#include "ir/pass.h"
#include "test.h"
#include "vm/vm.h"
#include <bpf/bpf.h>

/* With sanitizers a program takes ten times as long. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
enum { PROGRAMS = 800 };
#define HAVE_PROGRAMS
#endif
#endif
#ifndef HAVE_PROGRAMS
enum { PROGRAMS = 4000 };
#endif
enum { HELPER_ARGS = 3, NVAR = 8, NSLOT = 4, POOL = 64, KERNEL_PROGRAMS = 200 };
static const u32 helper_nargs[8] = {0, 5, 3, 2};

/* ---- what both share ---- */

struct world { /* what a program can see and change, besides its own stack */
	u64 ctx[8], map[32];
	u64 calls, steps;
	u64 pid_tgid; /* what helper 14 returns */
};

/* The helpers: 1 mixes five numbers and counts; 2 the same without memory; 3 reads and writes *p. */
static u64 world_call(struct world *w, u32 helper, const u64 *arg, u64 *p)
{
	u64 h = helper * 0x9e3779b97f4a7c15ull;
	u32 first = 0;
	if (helper == BPF_FUNC_get_current_pid_tgid)
		return w->pid_tgid;
	if (helper == 3) {
		h ^= *p;
		*p = h * 3 + 1;
		first = 1;
	}
	for (u32 i = first; i < helper_nargs[helper]; i++)
		h = (h ^ arg[i]) * 0xff51afd7ed558ccdull + (h >> 29);
	if (helper != 2)
		h += ++w->calls;
	return h;
}

static u64 fetch(u64 at, u32 size)
{
	u64 v = 0;
	memcpy(&v, (void *)(uintptr_t)at, size);
	return v;
}

static void put(u64 at, u32 size, u64 v)
{
	memcpy((void *)(uintptr_t)at, &v, size);
}

/* ---- the IR, directly ---- */

struct frame {
	const struct fn *f;
	struct world *w;
	u64 *tmp, var[64], mem[64], arg[5];
};

static u64 ir_exec(const struct fn *f, struct world *w, const u64 *arg);

static u64 value(struct frame *fr, struct ref r)
{
	switch ((enum ref_kind)r.kind) {
	case R_TMP: return fr->tmp[r.id];
	case R_CON: return fr->f->con.v[r.id];
	case R_SLOT: return (u64)(uintptr_t)fr->mem + 512 + (u64)fr->f->slot.v[r.id].off;
	case R_MAP: return 0x1000 + r.id;
	default: return 0;
	}
}

static u64 exec_call(struct frame *fr, const struct ins *i)
{
	u64 a[5] = {0};
	for (u32 n = 0; n < i->nargs; n++)
		a[n] = value(fr, i[(i32)n - i->nargs].arg[0]);
	if (i->op == O_CALLFN)
		return ir_exec(fr->f->fns.v[i->arg[0].id], fr->w, a);
	return world_call(fr->w, (u32)i->imm, a, (u64 *)(uintptr_t)a[0]);
}

static u64 exec_atomic(struct frame *fr, const struct ins *i, u64 at)
{
	u64 old = fetch(at, i->w), v = value(fr, i->arg[1]);
	if (i->op == O_CMPXCHG) {
		u64 want = value(fr, i[-1].arg[0]);
		if (old == (i->w == 4 ? (u32)want : want))
			put(at, i->w, v);
	} else {
		put(at, i->w, i->op == O_XCHG ? v : old + v);
	}
	return old;
}

static u64 exec_ins(struct frame *fr, const struct ins *i)
{
	u64 a = value(fr, i->arg[0]), b = value(fr, i->arg[1]);
	bool var = i->arg[0].kind == R_SLOT && fr->f->slot.v[i->arg[0].id].promote;
	struct ins ext = {.op = O_EXTS, .w = i->w};
	switch (i->op) {
	case O_ACQUIRE: return fetch(a + (u64)i->imm, i->w);
	case O_RELEASE: put(a + (u64)i->imm, i->w, b); return 0;
	case O_LOAD: return var ? fr->var[i->arg[0].id] : fetch(a + (u64)i->imm, i->w);
	case O_LOADS: return fold_eval(&ext, fetch(a + (u64)i->imm, i->w), 0);
	case O_STORE:
		if (var)
			fr->var[i->arg[0].id] = b;
		else
			put(a + (u64)i->imm, i->w, b);
		return 0;
	case O_HIDE: put(a + (u64)i->imm, i->w, b); return fetch(a + (u64)i->imm, i->w);
	case O_XADD ... O_CMPXCHG: return exec_atomic(fr, i, a + (u64)i->imm);
	case O_CALL ... O_CALLFN: return exec_call(fr, i);
	case O_CTX: return fr->arg[0];
	case O_PARAM: return fr->arg[i->imm];
	case O_ADDR: return a + (u64)i->imm;
	case O_MAPVAL: return (u64)(uintptr_t)fr->w->map + (u64)i->imm;
	case O_COPY:
	case O_MAPFD: return a;
	case O_NOP:
	case O_ARG:
	case O_FNADDR: return 0;
	default: return fold_eval(i, a, b);
	}
}

/* All read before any is written. */
static void exec_phis(struct frame *fr, const struct blk *b, const struct blk *from)
{
	u64 v[256];
	u32 n = 0;
	i32 at = b->phi ? pred_index(b, from) : 0;
	for_each (p, b->phi)
		if (n < countof(v))
			v[n++] = value(fr, p->arg[at]);
	n = 0;
	for_each (p, b->phi)
		fr->tmp[p->to.id] = v[n++];
}

static u64 ir_exec(const struct fn *f, struct world *w, const u64 *arg)
{
	struct frame fr = {.f = f, .w = w};
	fr.tmp = calloc(f->tmp.n + 1, sizeof(u64));
	memcpy(fr.arg, arg, sizeof(fr.arg));
	const struct blk *b = f->entry;
	while (b->jmp != J_RET && w->steps < 200000) {
		for_ins (i, b) {
			u64 v = exec_ins(&fr, i);
			if (is_tmp(i->to))
				fr.tmp[i->to.id] = v;
			w->steps++;
		}
		struct ins cmp = {.op = b->cond, .w = 8};
		bool yes = b->jmp == J_JMP || b->cond == O_MAY ||
			   fold_eval(&cmp, value(&fr, b->cmp[0]), value(&fr, b->cmp[1]));
		const struct blk *from = b;
		b = yes ? b->s1 : b->s2;
		exec_phis(&fr, b, from);
		w->steps++;
	}
	for_ins (i, b) {
		u64 v = exec_ins(&fr, i);
		if (is_tmp(i->to))
			fr.tmp[i->to.id] = v;
	}
	u64 ret = value(&fr, b->cmp[0]);
	free(fr.tmp);
	return ret;
}

/* ---- the generator ---- */

struct gen {
	struct fn *f, *callee;
	u64 seed;
	struct ref pool[POOL], var[NVAR], slot[NSLOT], ctx;
	u32 npool, depth, left;
	bool real; /* only what the kernel's verifier accepts */
};

static u32 rnd(struct gen *g, u32 n)
{
	g->seed ^= g->seed << 13;
	g->seed ^= g->seed >> 7;
	g->seed ^= g->seed << 17;
	return (u32)(g->seed >> 33) % n;
}

static struct ref constant(struct gen *g)
{
	static const u64 v[] = {0,          1,     2,     3,          4,
				7,          8,     16,    63,         64,
				255,        256,   65535, 0x7fffffff, 0x80000000,
				0xffffffff, ~0ull, ~1ull, 1ull << 63, 0x123456789abcdefull};
	return ir_con(g->f, rnd(g, 5) ? v[rnd(g, countof(v))] : (u64)rnd(g, 1000) - 500);
}

static struct ref pick(struct gen *g)
{
	if (!g->npool || rnd(g, 4) == 0)
		return rnd(g, 2) ? constant(g) : ir_get(g->f, g->var[rnd(g, NVAR)]);
	return g->pool[rnd(g, g->npool)];
}

static struct ref keep(struct gen *g, struct ref r)
{
	if (g->npool < POOL)
		g->pool[g->npool++] = r;
	else
		g->pool[rnd(g, POOL)] = r; /* dominance: callers restore their own part */
	return r;
}

static u32 width(struct gen *g)
{
	return 1u << rnd(g, 4);
}

/* An address that may be used with up to 8 bytes, sometimes with a variable index. */
static struct ref address(struct gen *g, i32 *off)
{
	*off = (i32)rnd(g, 3) * 8;
	struct ref base;
	switch (g->real ? 3 * rnd(g, 2) : rnd(g, 4)) {
	case 0: return g->slot[rnd(g, NSLOT)];
	case 1: base = ir_addr(g->f, g->slot[rnd(g, NSLOT)], 0); break;
	case 2: return ref_is(g->ctx) ? g->ctx : g->slot[0];
	default: base = ir_op1(g->f, O_MAPVAL, 8, ir_map(0)); break;
	}
	if (rnd(g, 2)) {
		struct ref i = ir_op2(g->f, O_AND, pick(g), ir_con(g->f, 1));
		base = ir_op2(g->f, O_ADD, base, ir_op2(g->f, O_SHL, i, ir_con(g->f, 3)));
		*off = 8;
	}
	return rnd(g, 3) ? base : ir_addi(g->f, base, 8);
}

/*
 * Not on the stack where the kernel runs it: 6.18's verifier takes the second
 * round of a loop around an atomic there for the first one, and drops branches.
 */
static struct ref atomic_address(struct gen *g, i32 *off)
{
	struct ref p = address(g, off);
	return g->real ? ir_op1(g->f, O_MAPVAL, 8, ir_map(0)) : p;
}

static struct ref slot8(struct gen *g)
{
	struct ref s = g->slot[rnd(g, NSLOT)];
	return rnd(g, 2) ? s : ir_addr(g->f, s, 8);
}

static struct ref expr(struct gen *g)
{
	struct fn *f = g->f;
	i32 off;
	u32 k = rnd(g, 30);
	if (k < 14)
		return ir_op2(f, O_ADD + rnd(g, O_SAR - O_ADD + 1), pick(g), pick(g));
	if (k < 17)
		return ir_op2(f, O_EQ + rnd(g, O_SGE - O_EQ + 1), pick(g), pick(g));
	if (k < 20)
		return ir_op1(f, O_EXTS + rnd(g, 2), width(g), pick(g));
	if (k == 20)
		return ir_op1(f, rnd(g, 2) ? O_NEG : O_COPY, 8, pick(g));
	if (k == 21)
		return rnd(g, 2) ? ir_op1(f, O_BSWAP, 2u << rnd(g, 3), pick(g))
				 : ir_hide(f, pick(g));
	struct ref p = k < 25 ? address(g, &off) : k < 27 ? atomic_address(g, &off) : REF_NONE;
	if (k < 24)
		return ir_load(f, width(g), p, off);
	if (k < 25 && !g->real && !rnd(g, 4))
		return ir_acquire(f, width(g), p, off);
	if (k < 25)
		return ir_loads(f, width(g), p, off);
	if (k < 26)
		return ir_atomic(f, rnd(g, 2) ? O_XADDF : O_XCHG, 4u << rnd(g, 2), p, off, pick(g));
	if (k < 27)
		return ir_cmpxchg(f, 4u << rnd(g, 2), p, off, pick(g), pick(g));
	struct ref a[5];
	for (u32 i = 0; i < 5; i++)
		a[i] = pick(g);
	if (g->real && (k == 27 || !g->callee || rnd(g, 2)))
		return rnd(g, 2) ? ir_callp(f, BPF_FUNC_get_current_pid_tgid, 0, NULL)
				 : ir_call(f, BPF_FUNC_get_current_pid_tgid, rnd(g, 6), a);
	if (g->real)
		return ir_callfn(f, g->callee, 3, a);
	if (k == 27)
		return ir_callp(f, 2, helper_nargs[2], a);
	if (k == 28 && g->callee)
		return ir_callfn(f, g->callee, 3, a);
	if (rnd(g, 2))
		return ir_call(f, 1, helper_nargs[1], a);
	a[0] = slot8(g);
	return ir_call(f, 3, helper_nargs[3], a);
}

static void stmts(struct gen *g);

static void scope(struct gen *g)
{
	struct ref saved[POOL];
	u32 n = g->npool;
	memcpy(saved, g->pool, sizeof(saved));
	g->depth++;
	stmts(g);
	g->depth--;
	memcpy(g->pool, saved, sizeof(saved));
	g->npool = n;
}

static void gen_if(struct gen *g)
{
	struct fn *f = g->f;
	struct blk *yes = ir_blk(f), *no = ir_blk(f), *end = ir_blk(f);
	no->unlikely = rnd(g, 4) == 0;
	ir_br(f, O_EQ + rnd(g, 10), pick(g), pick(g), yes, rnd(g, 3) ? no : end);
	ir_at(f, yes);
	scope(g);
	if (rnd(g, 10) == 0)
		ir_ret(f, pick(g));
	else
		ir_jmp(f, end);
	ir_at(f, no);
	scope(g);
	ir_jmp(f, end);
	ir_at(f, end);
}

/* v = a && b, then a branch on v: what && becomes. */
static void gen_and(struct gen *g)
{
	struct fn *f = g->f;
	struct blk *b2 = ir_blk(f), *set = ir_blk(f), *join = ir_blk(f), *t = ir_blk(f),
		   *e = ir_blk(f);
	struct ref v = g->var[rnd(g, NVAR)], a = pick(g), b = pick(g);
	ir_set(f, v, ir_con(f, 0));
	ir_br(f, O_EQ + rnd(g, 10), a, b, b2, join);
	ir_at(f, b2);
	ir_br(f, O_NE, b, ir_con(f, 0), set, join);
	ir_at(f, set);
	ir_set(f, v, ir_con(f, 1));
	ir_jmp(f, join);
	ir_at(f, join);
	ir_br(f, O_NE, ir_get(f, v), ir_con(f, 0), t, e);
	ir_at(f, t);
	scope(g);
	ir_jmp(f, e);
	ir_at(f, e);
}

static void gen_loop(struct gen *g)
{
	struct fn *f = g->f;
	struct ref i = ir_var(f), n = ir_con(f, 1 + rnd(g, 5));
	struct blk *head = ir_blk(f), *body = ir_blk(f), *end = ir_blk(f);
	ir_set(f, i, ir_con(f, 0));
	ir_jmp(f, head);
	ir_at(f, head);
	ir_br(f, O_ULT, ir_get(f, i), n, body, end);
	ir_at(f, body);
	if (rnd(g, 2)) { /* a swap, for the phis */
		struct ref a = g->var[rnd(g, NVAR)], b = g->var[rnd(g, NVAR)], x = ir_get(f, a);
		ir_set(f, a, ir_get(f, b));
		ir_set(f, b, x);
	}
	scope(g);
	ir_set(f, i, ir_addi(f, ir_get(f, i), 1));
	if (rnd(g, 5) == 0) {
		struct blk *go = ir_blk(f);
		ir_br(f, O_EQ + rnd(g, 10), pick(g), pick(g), end, go);
		ir_at(f, go);
	}
	ir_jmp(f, head);
	ir_at(f, end);
}

static void gen_store(struct gen *g)
{
	i32 off;
	if (rnd(g, 4) == 0) {
		struct ref p = atomic_address(g, &off);
		ir_xadd(g->f, 4u << rnd(g, 2), p, off, pick(g));
	} else {
		struct ref p = address(g, &off);
		if (!g->real && !rnd(g, 4))
			ir_release(g->f, width(g), p, off, pick(g));
		else
			ir_store(g->f, width(g), p, off, pick(g));
	}
}

static void stmts(struct gen *g)
{
	for (u32 n = 1 + rnd(g, 8); n-- && g->left;) {
		g->left--;
		u32 k = rnd(g, 20);
		if (k < 9)
			keep(g, expr(g));
		else if (k < 13)
			ir_set(g->f, g->var[rnd(g, NVAR)], rnd(g, 2) ? pick(g) : expr(g));
		else if (k < 15)
			gen_store(g);
		else if (k < 17 && g->depth < 5)
			gen_if(g);
		else if (k == 17 && g->depth < 5)
			gen_and(g);
		else if (k == 18 && g->depth < 3)
			gen_loop(g);
		else
			keep(g, expr(g));
	}
}

static struct fn *generate(struct arena *a, u64 *seed, struct fn *callee, bool real)
{
	struct gen g = {.f = ir_fn(a, callee ? STR("main") : STR("sub")),
			.callee = callee,
			.seed = *seed,
			.real = real};
	struct fn *f = g.f;
	f->callback = !callee;
	g.left = !callee ? 3 + rnd(&g, 20) : real ? 5 + rnd(&g, 60) : 10 + rnd(&g, 120);
	for (u32 i = 0; i < (callee ? 0u : 3u); i++)
		keep(&g, ir_param(f, i));
	if (callee)
		g.ctx = ir_ctx(f);
	for (u32 i = 0; i < NVAR; i++)
		g.var[i] = ir_var(f);
	for (u32 i = 0; i < NSLOT; i++) {
		g.slot[i] = ir_slot(f, 32);
		for (i32 k = 0; k < 4; k++)
			ir_store(f, 8, g.slot[i], k * 8, ir_con(f, (u64)k * i));
	}
	for (u32 i = 0; callee && i < 6; i++)
		keep(&g, ir_load(f, 8, g.ctx, (i32)i * 8));
	while (g.left)
		stmts(&g);
	struct ref sum = ir_con(f, 0);
	for (u32 i = 0; i < NVAR; i++)
		sum = ir_op2(f, O_ADD, ir_op2(f, O_MUL, sum, ir_con(f, 31)), ir_get(f, g.var[i]));
	for (u32 i = 0; i < g.npool; i++)
		sum = ir_op2(f, O_XOR, sum, g.pool[i]);
	ir_ret(f, sum);
	*seed = g.seed;
	return f;
}

/* ---- comparing ---- */

static void fill(struct world *w, u64 seed)
{
	memset(w, 0, sizeof(*w));
	for (u32 i = 0; i < countof(w->ctx); i++)
		w->ctx[i] = i & 1 ? seed * (i + 3) * 0x2545f4914f6cdd1dull : seed % (i + 5);
	for (u32 i = 0; i < countof(w->map); i++)
		w->map[i] = i * seed;
}

static bool round_trip(const struct fn *f)
{
	struct arena a = {0};
	AUTO_SB one = {0};
	AUTO_SB two = {0};
	u32 line;
	const char *msg;
	ir_print(f, &one);
	struct fn *g = ir_parse(&a, sb_str(&one), &line, &msg);
	bool same = false;
	if (!g) {
		printf("# parse: line %u: %s\n", line, msg);
	} else {
		ir_print(g, &two);
		same = str_eq(sb_str(&one), sb_str(&two));
		struct fn **all;
		u32 n;
		ir_all_fns(g, &all, &n);
		for (u32 i = 0; i < n; i++)
			ir_fn_free(all[i]);
		free(all);
	}
	if (!same)
		printf("# round trip:\n%s\n# gives\n%s\n", one.s, two.s ? two.s : "");
	arena_free(&a);
	return same;
}

static bool same_world(const struct world *a, const struct world *b)
{
	return !memcmp(a->ctx, b->ctx, sizeof(a->ctx)) && !memcmp(a->map, b->map, sizeof(a->map)) &&
	       a->calls == b->calls;
}

/* The same function after a pass, still interpreted. */
static bool still(const struct fn *f, u64 seed, const char *pass, u64 want, const struct world *w)
{
	struct world now;
	fill(&now, seed);
	u64 arg[5] = {(u64)(uintptr_t)now.ctx};
	u64 r = ir_exec(f, &now, arg);
	if (r == want && same_world(&now, w))
		return true;
	printf("# seed %llu: wrong after %s\n", seed, pass);
	return false;
}

/* ---- bytecode ---- */

static u64 answer(void *arg, struct vm *v, u32 helper, const u64 a[5])
{
	u64 *p = helper == 3 ? vm_mem(v, a[0], 8, true) : NULL;
	return helper == 3 && !p ? 0 : world_call(arg, helper, a, p);
}

/* False: it could not be loaded, or did something that it may not. */
static bool run_code(const struct code *c, struct world *w, u64 *ret)
{
	static const u32 helpers[] = {1, 2, 3};
	struct vm_spec spec = {
		.ncpu = 1,
		.budget = 4000000,
		.strict = true,
		.env = {.arg = w, .helper = helpers, .nhelper = countof(helpers), .call = answer},
	};
	struct vm_map_spec mem = {STR("map"), BPF_MAP_TYPE_ARRAY, 4, sizeof(w->map), 1, 0, 0};
	struct vm *v = vm_new(&spec);
	u32 map[2] = {0}, prog;
	struct err *e = vm_map_new(v, &mem, &map[0]);
	struct vm_prog_spec p = {STR("t_irfuzz"), c, map, countof(map), true};
	if (!e)
		e = vm_prog_load(v, &p, &prog);
	if (!e) {
		memcpy(vm_map_mem(v, map[0]), w->map, sizeof(w->map));
		e = vm_prog_run(v, prog, w->ctx, sizeof(w->ctx), ret);
		memcpy(w->map, vm_map_mem(v, map[0]), sizeof(w->map));
	}
	if (e)
		printf("# %s\n", e->msg);
	err_free(e);
	vm_free(v);
	return !e;
}

struct totals {
	u32 ran, too_big, insns;
};

static bool one(u64 seed, u32 passes, struct totals *t)
{
	struct arena a = {0};
	u64 s = seed * 0x9e3779b97f4a7c15ull + 1;
	struct fn *sub = generate(&a, &s, NULL, false), *f = generate(&a, &s, sub, false);
	struct world w1[2], w2;
	u64 arg[5], r1[2];
	bool ok = true;
	for (u32 k = 0; k < 2; k++) {
		fill(&w1[k], seed + k);
		memcpy(arg, (u64[5]){(u64)(uintptr_t)w1[k].ctx}, sizeof(arg));
		r1[k] = ir_exec(f, &w1[k], arg);
	}
	if (seed % 16 == 0)
		ok &= round_trip(f);
	struct fn *both[2] = {sub, f};
	for (const struct ir_pass *p = ir_passes; p->name; p++) {
		if (passes && !strcmp(p->name, "opt"))
			continue;
		for (u32 k = 0; k < 2; k++) {
			p->run(both[k]);
			ir_check(both[k], p->name);
		}
		if (strcmp(p->name, "regs") && w1[0].steps < 200000)
			ok &= still(f, seed, p->name, r1[0], &w1[0]);
	}
	if (seed % 16 == 0)
		ok &= round_trip(f);
	struct code c;
	u32 stack;
	bool fits = ir_emit(f, &a, &c, &stack);
	t->too_big += !fits;
	for (u32 k = 0; k < 2 && fits; k++) {
		if (w1[k].steps >= 200000)
			continue;
		u64 r2 = 0;
		fill(&w2, seed + k);
		bool same = run_code(&c, &w2, &r2) && r1[k] == r2 && same_world(&w1[k], &w2);
		if (!same)
			printf("# seed %llu: %llx, should be %llx\n", seed, r2, r1[k]);
		ok &= same;
		t->ran++;
	}
	if (getenv("IR_DUMP") && fits) {
		AUTO_SB out = {0};
		ir_print(f, &out);
		ir_disasm(&c, NULL, &out);
		puts(out.s);
	}
	t->insns += fits ? c.ninsn : 0;
	ir_fn_free(f);
	ir_fn_free(sub);
	arena_free(&a);
	return ok;
}

static void many(u32 passes)
{
	struct totals t = {0};
	u32 bad = 0;
	const char *env = getenv("IR_SEED");
	const char *to = getenv("IR_LAST");
	u64 first = env ? strtoull(env, NULL, 0) : 1;
	u64 last = to ? strtoull(to, NULL, 0) : env ? first : PROGRAMS;
	for (u64 seed = first; seed <= last && bad < 5; seed++)
		bad += !one(seed, passes, &t);
	printf("# %u runs agree, %u instructions, %u programs did not fit the stack\n", t.ran,
	       t.insns, t.too_big);
	CHECK(bad == 0);
	CHECK(env || t.ran > PROGRAMS);
}

TEST(ir_random)
{
	many(0);
}

TEST(ir_random_plain)
{
	many(1);
}

/* ---- the same against the kernel: does its verifier take them, do they compute the same ---- */

static bool load_and_run(struct code *c, int map, const u64 *ctx, u32 *ret, bool *too_large)
{
	static char log[1 << 16];
	for (u32 i = 0; i < c->nreloc; i++)
		c->insn[c->reloc[i].insn].imm = map;
	LIBBPF_OPTS(bpf_prog_load_opts, o, .log_buf = log, .log_size = sizeof(log), .log_level = 4);
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "t_irfuzz", "GPL", c->insn, c->ninsn,
			       &o);
	if (fd < 0) {
		o.log_level = 1;
		fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "t", "GPL", c->insn, c->ninsn, &o);
		size_t n = strlen(log);
		if (strstr(log, "program is too large")) { /* a million steps: loops within loops */
			*too_large = true;
			return true;
		}
		printf("# %s\n", log + (n > 2000 ? n - 2000 : 0));
		return false;
	}
	LIBBPF_OPTS(bpf_test_run_opts, r, .ctx_in = ctx, .ctx_size_in = sizeof(u64[8]));
	int bad = bpf_prog_test_run_opts(fd, &r);
	*ret = r.retval;
	close(fd);
	return !bad;
}

static bool one_real(u64 seed, int map)
{
	struct arena a = {0};
	u64 s = seed * 0xd1342543de82ef95ull + 1, val[32];
	struct fn *sub = generate(&a, &s, NULL, true), *f = generate(&a, &s, sub, true);
	struct world w;
	u32 key = 0, stack, got = 0;
	struct code c;
	fill(&w, seed);
	w.pid_tgid = (u64)getpid() << 32 | (u32)getpid();
	bool too_large = false, ok = !bpf_map_update_elem(map, &key, w.map, 0);
	u64 ctx[8], arg[5] = {(u64)(uintptr_t)w.ctx};
	memcpy(ctx, w.ctx, sizeof(ctx));
	u64 want = ir_exec(f, &w, arg);
	ir_run(f);
	if (ir_emit(f, &a, &c, &stack)) {
		ok &= load_and_run(&c, map, ctx, &got, &too_large);
		ok &= !bpf_map_lookup_elem(map, &key, val);
		bool same = too_large || (got == (u32)want && !memcmp(val, w.map, sizeof(val)));
		if (!ok || !same)
			printf("# kernel, seed %llu: %x, should be %x\n", seed, got, (u32)want);
		ok &= same;
	}
	ir_fn_free(f);
	ir_fn_free(sub);
	arena_free(&a);
	return ok;
}

TEST(ir_random_kernel)
{
	if (geteuid()) {
		test_skip("not root");
		return;
	}
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "t_irfuzz", 4, sizeof(u64[32]), 1, NULL);
	CHECK(map >= 0);
	const char *env = getenv("IR_SEED"), *to = getenv("IR_LAST");
	u64 first = env ? strtoull(env, NULL, 0) : 1;
	u64 last = to ? strtoull(to, NULL, 0) : env ? first : KERNEL_PROGRAMS;
	u32 bad = 0;
	for (u64 seed = first; seed <= last && bad < 3; seed++)
		bad += !one_real(seed, map);
	CHECK(bad == 0);
	close(map);
}
