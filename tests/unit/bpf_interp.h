/*
 * bpf_interp.h - runs emitted eBPF inside a test: no verifier, real addresses,
 * helpers of the test's own. Whatever a real call destroys is overwritten.
 */
#pragma once
#include "ir/ir.h"

struct world { /* what a program can see and change, besides its own stack */
	u64 ctx[8], map[32];
	u64 calls, steps;
	u64 pid_tgid; /* what helper 14 returns */
};

/* The helpers: 1 mixes five numbers and counts; 2 the same without memory; 3 reads and writes *(u64
 * *)a. */
static inline u64 world_call(struct world *w, u32 helper, u32 n, const u64 *arg)
{
	u64 h = helper * 0x9e3779b97f4a7c15ull;
	u32 first = 0;
	if (helper == BPF_FUNC_get_current_pid_tgid)
		return w->pid_tgid;
	if (helper == 3) {
		u64 *p = (u64 *)(uintptr_t)arg[0];
		h ^= *p;
		*p = h * 3 + 1;
		first = 1;
	}
	for (u32 i = first; i < n; i++)
		h = (h ^ arg[i]) * 0xff51afd7ed558ccdull + (h >> 29);
	if (helper != 2)
		h += ++w->calls;
	return h;
}

struct bpf_run {
	const struct code *c;
	struct world *w;
	u32 nargs[8]; /* by helper */
	bool bad;
};

static inline u64 bpf_alu(u8 op, u64 a, u64 b, bool wide)
{
	u32 bits = wide ? 63 : 31;
	switch (op) {
	case BPF_ADD: return a + b;
	case BPF_SUB: return a - b;
	case BPF_MUL: return a * b;
	case BPF_DIV: return b ? a / b : 0;
	case BPF_MOD: return b ? a % b : a;
	case BPF_OR: return a | b;
	case BPF_AND: return a & b;
	case BPF_XOR: return a ^ b;
	case BPF_LSH: return a << (b & bits);
	case BPF_RSH: return a >> (b & bits);
	case BPF_ARSH: return wide ? (u64)((i64)a >> (b & 63)) : (u32)((i32)(u32)a >> (b & 31));
	case BPF_NEG: return -a;
	case BPF_MOV: return b;
	default: abort();
	}
}

static inline bool bpf_cond(u8 op, u64 a, u64 b)
{
	switch (op) {
	case BPF_JEQ: return a == b;
	case BPF_JNE: return a != b;
	case BPF_JGT: return a > b;
	case BPF_JGE: return a >= b;
	case BPF_JLT: return a < b;
	case BPF_JLE: return a <= b;
	case BPF_JSGT: return (i64)a > (i64)b;
	case BPF_JSGE: return (i64)a >= (i64)b;
	case BPF_JSLT: return (i64)a < (i64)b;
	case BPF_JSLE: return (i64)a <= (i64)b;
	case BPF_JSET: return a & b;
	default: abort();
	}
}

static inline u32 bpf_size(u8 code)
{
	return BPF_SIZE(code) == BPF_B   ? 1
	       : BPF_SIZE(code) == BPF_H ? 2
	       : BPF_SIZE(code) == BPF_W ? 4
					 : 8;
}

static inline u64 bpf_fetch(u64 at, u32 size)
{
	u64 v = 0;
	memcpy(&v, (void *)(uintptr_t)at, size);
	return v;
}

static inline void bpf_put(u64 at, u32 size, u64 v)
{
	memcpy((void *)(uintptr_t)at, &v, size);
}

static inline void bpf_atomic(const struct bpf_insn *i, u64 *r, u64 at)
{
	u32 size = bpf_size(i->code);
	if (i->imm == ATOMIC_LOAD_ACQUIRE) {
		r[i->dst_reg] = bpf_fetch(r[i->src_reg] + (u64)i->off, size);
		return;
	}
	u64 old = bpf_fetch(at, size), src = r[i->src_reg];
	if (i->imm == BPF_CMPXCHG) {
		if (old == (size == 4 ? (u32)r[0] : r[0]))
			bpf_put(at, size, src);
		r[0] = old;
	} else if (i->imm == ATOMIC_STORE_RELEASE) {
		bpf_put(at, size, src);
	} else if (i->imm == BPF_XCHG) {
		bpf_put(at, size, src);
		r[i->src_reg] = old;
	} else {
		bpf_put(at, size, old + src);
		if (i->imm & BPF_FETCH)
			r[i->src_reg] = old;
	}
}

static inline u64 bpf_imm64(const struct bpf_run *run, u32 at)
{
	const struct bpf_insn *i = &run->c->insn[at];
	for (u32 n = 0; n < run->c->nreloc; n++) {
		const struct reloc *r = &run->c->reloc[n];
		if (r->insn == at)
			return r->kind == RELOC_MAP
				       ? 0x1000 + r->map
				       : (u64)(uintptr_t)run->w->map + (u64)(i64)i[1].imm;
	}
	return (u64)(u32)i[1].imm << 32 | (u32)i->imm;
}

static inline void bpf_alu_insn(const struct bpf_insn *i, u64 *r)
{
	bool wide = BPF_CLASS(i->code) == BPF_ALU64;
	u64 a = r[i->dst_reg], b = BPF_SRC(i->code) == BPF_X ? r[i->src_reg] : (u64)(i64)i->imm;
	if (BPF_OP(i->code) == BPF_END) {
		r[i->dst_reg] = __builtin_bswap64(a) >> (64 - i->imm);
		return;
	}
	if (!wide)
		a = (u32)a, b = (u32)b;
	a = bpf_alu(BPF_OP(i->code), a, b, wide);
	r[i->dst_reg] = wide ? a : (u32)a;
}

static inline u64 bpf_enter(struct bpf_run *run, u32 pc, const u64 *arg)
{
	u64 stack[64], r[11];
	for (u32 i = 0; i < countof(stack); i++)
		stack[i] = 0xbadbad00badbad00ull + i;
	for (u32 i = 0; i < 10; i++)
		r[i] = i >= 1 && i <= 5 ? arg[i - 1] : 0xbad0bad0bad0ull + i;
	r[10] = (u64)(uintptr_t)(stack + countof(stack));
	for (; run->w->steps++ < 1000000 && pc < run->c->ninsn; pc++) {
		const struct bpf_insn *i = &run->c->insn[pc];
		u8 op = BPF_OP(i->code), class = BPF_CLASS(i->code);
		u32 size = bpf_size(i->code);
		u64 src = BPF_SRC(i->code) == BPF_X ? r[i->src_reg] : (u64)(i64)i->imm;
		if (class == BPF_ALU || class == BPF_ALU64) {
			bpf_alu_insn(i, r);
		} else if (class == BPF_LD) {
			r[i->dst_reg] = bpf_imm64(run, pc++);
		} else if (class == BPF_LDX) {
			r[i->dst_reg] = bpf_fetch(r[i->src_reg] + (u64)i->off, size);
		} else if (class == BPF_ST) {
			bpf_put(r[i->dst_reg] + (u64)i->off, size, (u64)(i64)i->imm);
		} else if (class == BPF_STX && BPF_MODE(i->code) == BPF_ATOMIC) {
			bpf_atomic(i, r, r[i->dst_reg] + (u64)i->off);
		} else if (class == BPF_STX) {
			bpf_put(r[i->dst_reg] + (u64)i->off, size, r[i->src_reg]);
		} else if (op == BPF_EXIT) {
			return r[0];
		} else if (op == BPF_JA) {
			pc += (u32)(class == BPF_JMP32 ? i->imm : i->off);
		} else if (op == BPF_CALL) {
			r[0] = i->src_reg == BPF_PSEUDO_CALL
				       ? bpf_enter(run, pc + 1 + (u32)i->imm, r + 1)
				       : world_call(run->w, (u32)i->imm, run->nargs[i->imm], r + 1);
			for (u32 n = 1; n <= 5; n++)
				r[n] = 0xdead0000dead0000ull + n;
		} else if (bpf_cond(op, r[i->dst_reg], src)) {
			pc += (u32)i->off;
		}
	}
	run->bad = true;
	return 0;
}
