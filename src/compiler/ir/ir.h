/*
 * ir.h - the code between the tree and eBPF: SSA values, basic blocks.
 *
 * One class of value (64 bits). Memory is touched only by load, store, atomics
 * and calls, widths are in .w; everything the verifier cares about (which
 * region a pointer points into) is decided before this level, in lower/.
 *
 * Life of a function: the builder below appends instructions to the current
 * block (f->cur); variables are promotable slots, written with ir_set and
 * read with ir_get, so lowering need not think of phis. Then the passes, in the
 * order of ir_passes[]: cfg (drop unreachable blocks, reverse postorder,
 * predecessors), ssa (variables -> temporaries and phis), slots (loads of what was just stored),
 * opt (fold, copies, common subexpressions, branch fusion, dead code), live, regs. ir_emit() joins
 * the functions of one program into bytecode.
 *
 * Memory slots are stack bytes whose offset the builder fixed (see ir_slot);
 * the register allocator spills below them. Slots of disjoint lifetime share
 * bytes by ir_slot_mark/ir_slot_release.
 *
 * Calls clobber r0-r5; values that live across one are in r6-r9 or spilled.
 */
#pragma once
#include "base/diag.h"
#include "base/vec.h"
#include <linux/bpf.h>

enum op {
#define O(op, name, nargs, flags) O_##op,
#include "ir/ops.def"
};
enum {
	OP_COUNT =
#define O(op, name, nargs, flags) +1
#include "ir/ops.def"
};
enum op_flags { F_FOLD = 1, F_COMM = 2, F_EFFECT = 4, F_PURE = 8, F_CMP = 16 };
struct op_info {
	const char *name;
	u8 nargs, flags;
};
extern const struct op_info op_info[OP_COUNT];

enum ref_kind { R_NONE, R_TMP, R_CON, R_SLOT, R_MAP, R_FN };
struct ref {
	u32 kind : 3, id : 29;
};
_Static_assert(sizeof(struct ref) == 4, "refs are passed by value");
#define REF_NONE ((struct ref){0})
static inline bool ref_eq(struct ref a, struct ref b)
{
	return a.kind == b.kind && a.id == b.id;
}
static inline bool ref_is(struct ref a) /* not R_NONE */
{
	return a.kind != R_NONE;
}

struct ins {
	enum op op : 8;
	u8 w;      /* bytes moved by load/store/atomic, width of exts/extu/bswap; else 8 */
	u16 nargs; /* call: how many O_ARG precede it */
	struct ref to, arg[2];
	i32 imm;        /* offset of load/store, helper id of call */
	struct loc loc; /* becomes BTF line info: the verifier log points at the script */
};

struct phi {
	struct ref to;
	struct ref *arg; /* one per predecessor, same order as blk.pred */
	struct phi *next;
};

enum jmp {
	J_NONE,
	J_JMP,
	J_RET,
	J_CMP
}; /* J_CMP: compare .cond cmp[0], cmp[1]: s1 when true, else s2 */

struct blk {
	u32 id;
	struct phi *phi;
	VEC(struct ins) ins;
	enum jmp jmp : 8;
	enum op cond : 8;  /* J_CMP: O_EQ .. O_SGE, O_MAY */
	struct ref cmp[2]; /* J_RET: cmp[0] is the value */
	struct loc loc;    /* of the jump */
	struct blk *s1, *s2;
	VEC(struct blk *) pred;
	struct blk *idom;
	u32 dom_at, dom_size; /* place in the tree of dominators, and how many are below, with it */
	VEC(u32) live_in, live_out; /* temporaries, ascending */
	struct blk *next;           /* order of creation; after cfg: reverse postorder */
	bool unlikely;              /* placed at the end of the code */
	u16 depth;                  /* after cfg: loops around it */
};

struct tmp {
	i32 reg;   /* after regs: 0..9, or -1: spilled */
	i32 spill; /* offset from r10 when spilled */
	u32 ndef, nuse;
};
struct slot {
	bool promote; /* an 8-byte variable: becomes SSA */
	u32 size;
	i32 off; /* from r10, negative; memory slots */
};

enum {
	IR_STACK_MAX = 512,
	IR_SPILL_MAX = 160
}; /* memory slots may use 512 - 160 of the main function's stack */

/* Code made elsewhere, that becomes part of the program as it is. */
enum ext_ref_kind {
	EXT_FN,    /* a call, or a wide load of an address; to: index into fns */
	EXT_MAP,   /* a wide load; to: index into the unit's map table */
	EXT_VALUE, /* ... of the address of byte off of element 0 */
	EXT_KFUNC, /* a call; to: the function's BTF id */
};
struct ext_ref {
	enum ext_ref_kind kind;
	u32 insn, to, off;
};
struct ext {
	const struct bpf_insn *insn;
	const struct loc *loc; /* by instruction; no place: as the one before */
	const struct ext_ref *ref;
	u32 ninsn, nref;
};

struct arch;
struct fn {
	struct str name;
	struct arena *arena;     /* unit's scratch */
	const struct arch *arch; /* whose registers the context holds; nothing here looks inside */
	u64 user_mask; /* of addresses that helpers read from the process; 0: as they are */
	bool callback; /* called by a helper: nparam values in r1.., returns a value */
	u32 nparam;
	struct ref ctx; /* callbacks: where ir_ctx finds the program's context; none: r1 at entry */
	struct blk *entry, *cur, *blks, **tail;
	struct loc loc; /* given to every instruction appended */
	VEC(struct tmp) tmp;
	VEC(u64) con;
	u32 *con_at, ncon_at; /* hash table of .con: index + 1 */
	VEC(struct slot) slot;
	VEC(struct fn *) fns;    /* what R_FN ids mean */
	VEC(struct fn *) unused; /* those that only dead code referred to */
	u32 nblk;
	u32 stack_at, stack;   /* bytes of memory slots in use now; most ever, then with spills */
	bool ssa, allocated;   /* those passes ran */
	const struct ext *ext; /* then it has no blocks, and no pass touches it */
	/*
	 * Copies size bytes (1 to 8) of the process's memory at addr to a slot, and waits for them where the program may;
	 * a failed copy leaves zeros, and is counted. reader is for the function. NULL: a helper that never waits is called.
	 */
	void (*read_user)(void *reader, struct ref slot, u32 size, struct ref addr);
	void *reader;
};

/* Newer than the headers of many machines: what an atomic operation is, in .imm. */
enum { ATOMIC_LOAD_ACQUIRE = 0x100, ATOMIC_STORE_RELEASE = 0x110 };

/* ---- builder ---- */
struct fn *ir_fn(struct arena *a, struct str name); /* with an entry block, current */
/* A function to be called; the references of x are filled in by the caller, with ir_fnref. */
struct fn *ir_fn_ext(struct arena *a, struct str name, const struct ext *x, u32 nparam, u32 stack);
void ir_fn_free(struct fn *f); /* the vectors; the rest is the arena's */
struct ref ir_con(struct fn *f, u64 v);
static inline struct ref ir_map(u32 index) /* index into the unit's map table */
{
	return (struct ref){.kind = R_MAP, .id = index & 0x1fffffff};
}
struct ref ir_fnref(struct fn *f, struct fn *callee);
bool ir_is_con(const struct fn *f, struct ref r, u64 *v);
struct ref ir_op1(struct fn *f, enum op op, u32 w, struct ref a);
struct ref ir_op2(struct fn *f, enum op op, struct ref a, struct ref b);
struct ref ir_addi(struct fn *f, struct ref a, i64 n);
struct ref ir_ctx(struct fn *f);          /* emitted once, at the top of the entry block */
struct ref ir_param(struct fn *f, u32 n); /* the same, for callbacks */
struct ref ir_addr(struct fn *f, struct ref slot, i32 off);
/* base: a temporary, or an R_SLOT (its memory directly). */
struct ref ir_load(struct fn *f, u32 w, struct ref base, i32 off);
struct ref ir_loads(struct fn *f, u32 w, struct ref base, i32 off);
void ir_store(struct fn *f, u32 w, struct ref base, i32 off, struct ref val);
struct ref ir_acquire(struct fn *f, u32 w, struct ref base, i32 off);
void ir_release(struct fn *f, u32 w, struct ref base, i32 off, struct ref val);
/*
 * v, which has 32 bits, without what the verifier knows of it. It follows every path on which a
 * value that memory is addressed by, also through a hash, could differ; so a value found by
 * branches is hidden before.
 */
struct ref ir_hide(struct fn *f, struct ref v);
void ir_xadd(struct fn *f, u32 w, struct ref base, i32 off, struct ref val);
/* op: O_XADDF or O_XCHG. Result: the old value. */
struct ref ir_atomic(struct fn *f, enum op op, u32 w, struct ref base, i32 off, struct ref val);
struct ref ir_cmpxchg(struct fn *f, u32 w, struct ref base, i32 off, struct ref expect,
		      struct ref val);
/* Up to 5 arguments; R_SLOT arguments are passed by address, R_MAP as map pointers, R_FN as
 * function pointers. */
struct ref ir_call(struct fn *f, u32 helper, u32 n, const struct ref *args);
struct ref ir_callp(struct fn *f, u32 helper, u32 n, const struct ref *args); /* O_CALLP */
struct ref ir_kfunc(struct fn *f, u32 btf_id, u32 n, const struct ref *args);
struct ref ir_callfn(struct fn *f, struct fn *callee, u32 n, const struct ref *args);
#define ARGS(...)                                                                        \
	(sizeof((struct ref[]){__VA_ARGS__}) / sizeof(struct ref)), (const struct ref[]) \
	{                                                                                \
		__VA_ARGS__                                                              \
	}
struct ref ir_var(struct fn *f); /* an 8-byte promotable slot, not initialised */
void ir_set(struct fn *f, struct ref var, struct ref val);
struct ref ir_get(struct fn *f, struct ref var);
/* size is rounded up to 8; REF_NONE when the stack budget is used up (then use scratch memory). */
struct ref ir_slot(struct fn *f, u32 size);
struct ref ir_slot_last(const struct fn *f); /* the one in memory that was made last */
u32 ir_slot_mark(const struct fn *f);
void ir_slot_release(struct fn *f, u32 mark); /* slots made since the mark may be reused */
struct blk *ir_blk(struct fn *f);             /* made, not entered */
void ir_at(struct fn *f, struct blk *b);      /* go on building there */
void ir_jmp(struct fn *f, struct blk *b);     /* ends the current block; none is current then */
void ir_br(struct fn *f, enum op cond, struct ref a, struct ref b, struct blk *yes, struct blk *no);
/*
 * To yes, nearly always: to no when the kernel has had enough of this loop (may_goto). With one at
 * its head the verifier walks through a loop as often as states differ, not as often as it runs.
 */
void ir_may(struct fn *f, struct blk *yes, struct blk *no);
void ir_ret(struct fn *f, struct ref val);
/* Instructions appended while no block is current go to an unreachable one. */

/* ---- passes ---- */
struct ir_pass {
	const char *name; /* "cfg", "ssa", "slots", "opt", "live", "regs" */
	void (*run)(struct fn *f);
};
extern const struct ir_pass ir_passes[]; /* ends with {0} */
void ir_run(
	struct fn *f); /* all of them, on f and on every function it refers to, checking between */
void ir_check(const struct fn *f,
	      const char *after); /* asserts every invariant; prints f before it aborts */
void ir_print(const struct fn *f, struct sb *out); /* the text that ir_parse reads; f->fns first */
/* For tests: text -> function. NULL and *line, *msg on a mistake. */
struct fn *ir_parse(struct arena *a, struct str text, u32 *line, const char **msg);

/* ---- emission ---- */
enum reloc_kind { RELOC_MAP, RELOC_MAPVAL };
struct reloc {
	u32 insn; /* of the two-slot ld_imm64; imm of the second is the offset for MAPVAL */
	enum reloc_kind kind;
	u32 map; /* index into the unit's map table */
};
struct code_line {
	u32 insn;
	struct loc loc;
};
struct code_fn {
	u32 insn;
	struct str name;
	u32 narg;
	bool callback;
};
struct code {
	struct bpf_insn *insn;
	const struct reloc *reloc; /* by insn, as lines and functions */
	const struct code_line *line;
	const struct code_fn *fn;
	u32 ninsn, nreloc, nline, nfn;
};
/* main and all functions it refers to, after ir_run; in the arena a. False: too much stack (*stack
 * is what it would need). */
bool ir_emit(struct fn *main, struct arena *a, struct code *ret, u32 *stack);
/* One line per instruction, "12: r1 = *(u64 *)(r10 -8)"; with "; source" lines when ds is given. */
void ir_disasm(const struct code *c, const struct diags *ds, struct sb *out);
/* Names of helpers by id ("map_lookup_elem"), "helper 250" when unknown; rows are in helpers.def.
 */
const char *ir_helper_name(u32 id, char buf[32]);
