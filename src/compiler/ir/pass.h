/*
 * pass.h - what the passes of ir/ share: walking operands, liveness, parallel moves.
 *
 * Private to this folder. Invariants: after cfg, block ids are positions in
 * reverse postorder and an edge from one block to another exists at most once;
 * after ssa no promotable slot is touched; the O_ARGs of a call stand directly
 * before it, O_CTX and O_PARAM at the very top of the entry block.
 */
#pragma once
#include "ir/ir.h"

#define for_blk(b, f) for (struct blk *b = (f)->blks; b; b = b->next)
#define for_ins(i, b)                                                                             \
	for (struct ins *i = (b)->ins.v, *i##_end = (b)->ins.n ? i + (b)->ins.n : i; i < i##_end; \
	     i++)
#define for_each(x, head) for (typeof(&*(head)) x = (head); x; x = x->next)

static inline struct ref mkref(enum ref_kind kind, u32 id)
{
	return (struct ref){.kind = kind & 7, .id = id & 0x1fffffff};
}
static inline bool is_tmp(struct ref r)
{
	return r.kind == R_TMP;
}
static inline bool is_call(enum op op)
{
	return op == O_CALL || op == O_CALLP || op == O_KFUNC || op == O_CALLFN;
}
static inline bool takes_args(enum op op) /* O_ARGs stand before it */
{
	return is_call(op) || op == O_CMPXCHG;
}
static inline bool is_mem(enum op op) /* arg[0] is an address, .imm an offset */
{
	return op == O_LOAD || op == O_LOADS || (op >= O_ACQUIRE && op <= O_CMPXCHG);
}
static inline bool has_width(enum op op)
{
	return is_mem(op) || op == O_EXTS || op == O_EXTU || op == O_BSWAP;
}
static inline bool fits32(u64 v) /* as a sign-extended immediate */
{
	return (i64)v == (i32)v;
}
static inline bool bit_get(const u64 *s, u32 i)
{
	return s[i / 64] >> (i % 64) & 1;
}
static inline void bit_set(u64 *s, u32 i)
{
	s[i / 64] |= 1ull << (i % 64);
}
static inline void bit_clear(u64 *s, u32 i)
{
	s[i / 64] &= ~(1ull << (i % 64));
}
static inline u32 bit_words(u32 n)
{
	return (n + 63) / 64;
}

/* build.c */
struct ref ir_tmp(struct fn *f);
void ir_raw(struct fn *f, struct blk *b, struct ins i); /* at the end, as it is */
enum op op_swap(enum op cmp);                           /* a < b -> b > a */
enum op op_not(enum op cmp);                            /* a < b -> a >= b */
void ir_all_fns(struct fn *f, struct fn ***list,
		u32 *n); /* f and all it refers to, once; free(*list) */

/* helpers.c */
bool helper_find(struct str name, u32 *id);

/* cfg.c */
void cfg_run(struct fn *f);
void cfg_dominators(struct fn *f); /* ids are positions, no block before its dominator */
bool dominates(const struct blk *a, const struct blk *b); /* also when equal */
void blk_sweep(struct blk *b);                            /* take out the O_NOPs */
i32 pred_index(const struct blk *b, const struct blk *pred);
void pred_remove(struct blk *b, u32 at);                      /* with the phi arguments */
void pred_add(struct fn *f, struct blk *b, struct blk *pred); /* phi arguments: REF_NONE */

/* ssa.c, slots.c, demand.c, opt.c, fold.c */
void ssa_run(struct fn *f);
void slots_run(struct fn *f);
bool demand_run(struct fn *f); /* in opt's rounds; true: there was something */
void opt_run(struct fn *f);

struct fold {
	struct fn *f;
	struct ins **def; /* by temporary; NULL: a phi */
	u32 *nuse;
	u8 *bits; /* values below 1 << bits */
};
/* Simplify i in place; true and *ret when its value is an operand that exists already. */
bool fold_ins(struct fold *o, struct ins *i, struct ref *ret);
void fold_jump(struct fold *o, struct blk *b);
u8 fold_bits(const struct fold *o, struct ref r);
u8 fold_bits_of(const struct fold *o, const struct ins *i);
u64 fold_eval(const struct ins *i, u64 a, u64 b); /* an F_FOLD operation on constants */

/* live.c, prep.c, spill.c, regs.c */
void live_run(struct fn *f);
/* Temporaries live at some place: v[0..n) in no order, at[t] - 1 is where t stands. */
struct live_set {
	u32 *v, *at, n;
};
struct live_set live_set(struct arena *a, u32 ntmp);
void live_set_to(struct live_set *s, u32 n, const u32 *v); /* these instead */
void live_add(struct live_set *s, u32 t);
void live_drop(struct live_set *s, u32 t);
static inline bool live_has(const struct live_set *s, u32 t)
{
	return s->at[t] != 0;
}
void regs_run(struct fn *f);
void regs_prepare(struct fn *f);
const struct blk *regs_check(const struct fn *f); /* where two live temporaries share a register */
static inline bool is_remat(enum op op)           /* cheaper to do again than to keep */
{
	return op == O_ADDR || op == O_MAPFD || op == O_MAPVAL || op == O_FNADDR;
}

/* Of a temporary. */
enum life {
	LIFE_WHOLE, /* all of it */
	LIFE_PART,  /* it stands in for part of a spilled one's */
	LIFE_POINT, /* for one instruction: never spilled */
};
struct spill {
	struct fn *f;
	VEC(u32) slot; /* by temporary: its slot + 1; 0: not spilled */
	/* By temporary: the slot + 1 it is stored to once made, and still has a register. */
	VEC(u32) home;
	VEC(enum life) life; /* by temporary */
	u32 first;           /* slots from here on are spills */
};
void spill_rewrite(struct spill *s, const bool *chosen);
void spill_drop_unread(struct spill *s); /* stores to slots that got no place */
void spill_layout(struct spill *s);      /* offsets; slots never live at once share one */

/* moves.c - parallel moves: all sources are read before any destination is written. */
enum at_kind { AT_REG, AT_STACK, AT_REF };
struct at {
	enum at_kind kind : 8;
	i32 n;          /* register; offset from r10; AT_REF: added to a slot's address */
	struct ref ref; /* AT_REF: constant, slot, map, function */
};
struct move {
	struct at to, from;
};
struct moves {
	VEC(struct move) v;
	u16 busy; /* registers that must survive, besides the sources not yet read */
};
struct at at_of(const struct fn *f, struct ref r, i32 off);
static inline struct at at_reg(i32 n)
{
	return (struct at){AT_REG, n, REF_NONE};
}
void moves_add(struct moves *m, struct at to, struct at from);
void moves_phi(const struct fn *f, const struct blk *b, struct moves *m); /* at the end of b */
/* Reorder into steps to be done one after the other; false when a scratch register is missing. */
bool moves_order(const struct fn *f, struct moves *m);
