/*
 * inside.h - what the files of vm/ share.
 *
 *	vm.c       a machine, its regions, errors, running a program
 *	decode.c   instructions: checked once, turned into the form that exec.c runs
 *	exec.c     running them
 *	map.c      maps: arrays, stack traces, what all types share
 *	hash.c     hash maps, with and without eviction
 *	ring.c     ring buffers and perf event arrays
 *	help.c     helpers: one function for each that ir/helpers.def names
 */
#pragma once
#include "vm/vm.h"
#include <string.h>

/* ---- addresses: 01, number of the region (21 bits), offset (40 bits) ---- */

enum {
	REGION_SHIFT = 40,
	REGION_FIRST = 1 << 22,
	MAX_REGIONS = 1 << 20,
};
#define REGION_MASK ((1ull << REGION_SHIFT) - 1)

enum {
	REGION_STACK,
	REGION_CTX,
	REGION_KEY, /* the index that bpf_for_each_map_elem() gives for an array */
	REGION_MAP, /* no memory: the offset is a map's number */
	REGION_FN,  /* no memory: the offset is the index of a function of the program */
	REGION_OTHERS,
};

struct region {
	u8 *mem;
	u64 size, wsize; /* bytes that may be read, and written: size or 0 */
};

/* ---- programs ---- */

/* One of these for each instruction of the program, so that jumps keep their offsets. */
struct vm_insn {
	const void *go; /* where exec.c does it */
	u8 dst, src;
	i16 off;
	i32 imm; /* of far jumps the distance, of calls of functions the index of the function */
};
_Static_assert(sizeof(struct vm_insn) == 16, "two fit half a cache line");

struct vm_fn {
	u32 start, len;
};

struct vm_prog {
	char *name;
	struct vm_insn *insn;
	u32 ninsn, nfn;
	struct vm_fn *fn;
	bool writes_context;
};

/* Operations, in the order of the labels in exec.c. */
enum vm_op {
#define A(id, result) VOP_##id##64X, VOP_##id##64K, VOP_##id##32X, VOP_##id##32K,
#define J(id, when)                                                                 \
	VOP_##id##64X, VOP_##id##64K, VOP_##id##32X, VOP_##id##32K, VOP_##id##64XB, \
		VOP_##id##64KB, VOP_##id##32XB, VOP_##id##32KB,
#define U1(id, result) VOP_##id,
#define X1(id, result) VOP_##id,
#define M(id, type, stype)                                                                        \
	VOP_LD##id, VOP_LDS##id, VOP_ST##id, VOP_STI##id, VOP_LDK##id, VOP_LDSK##id, VOP_STK##id, \
		VOP_STIK##id,
#define T(id, stored) VOP_##id##4, VOP_##id##8, VOP_##id##4F, VOP_##id##8F,
#include "vm/ops.def"
	VOP_CMPXCHG4,
	VOP_CMPXCHG8,
	VOP_IMM64,
	VOP_JA,
	VOP_JAB,
	VOP_MAY,
	VOP_CALL,
	VOP_ASK,
	VOP_KFUNC,
	VOP_CALLFN,
	VOP_EXIT,
	VOP_SECOND, /* the second half of VOP_IMM64: no jump leads to it */
	VOP_COUNT
};

/* ---- maps ---- */

struct hash_slot {
	u32 hash, at; /* at: number of the element + 1; 0: free */
};

struct vm_map {
	struct vm_map_spec spec;
	char *name;
	u32 id;
	u32 stride; /* bytes between values: one copy per CPU in per-CPU maps */
	u32 copy;   /* bytes between the copies in one value */
	bool percpu, lru;
	u8 *vals, *keys;
	u64 vals_at, keys_at; /* their addresses for programs */
	u32 key_stride;
	/* hash maps */
	struct hash_slot *slot;
	u32 slot_mask;
	u8 *state;            /* by element: ELEM_FREE ... */
	u32 *unused, nunused; /* elements that were deleted */
	u32 n, top;           /* elements in use; elements below top were used at some time */
	u32 *next,
		*prev; /* of LRU maps, in the order of insertion; next[max_entries] is the oldest */
	u64 seed;
	/* ring buffers */
	u32 *head; /* by 8 bytes of data: the record that begins there */
	u64 made, taken, size;
};
enum { ELEM_FREE, ELEM_USED, ELEM_HIT /* a program found it since it was inserted or spared */ };

/* ---- the machine ---- */

struct fault {
	const char *what; /* NULL: none */
	u64 addr, size;   /* size 0: the sentence says all */
	i64 insn;         /* -1: not known yet */
};

struct frame {
	const struct vm_insn *ret;
	u64 save[4], fp;
	u8 *stack;
};

struct vm {
	struct vm_spec spec;
	struct region *region;
	u32 nregion;
	struct vm_map *map;
	u32 nmap;
	struct vm_prog *prog;
	u32 nprog;
	u64 bytes; /* that maps take */
	/* of the run */
	const struct vm_prog *run;
	u32 cpu, depth;
	i64 left;       /* of the budget */
	u32 loops_left; /* of may_goto */
	struct fault fault;
	struct {
		u32 map;
		u64 pos;
	} open[VM_MAX_RESERVATIONS];
	u32 nopen;
	u64 random;
	u32 key; /* REGION_KEY */
	u64 frames[VM_MAX_FRAMES];
	u8 stack[VM_MAX_CALLS * IR_STACK_MAX];
};

static inline u64 region_addr(u32 region, u64 off)
{
	return ((u64)(REGION_FIRST + region) << REGION_SHIFT) + off;
}
/* The number of the region: one that does not exist if the address is of another kind. */
static inline u64 region_of(u64 addr)
{
	return (addr >> REGION_SHIFT) - REGION_FIRST;
}

/* ---- vm.c ---- */
/* The run ends; the first reason stays. size: of the access at addr, or 0. */
void vm_fail(struct vm *v, const char *what, u64 addr, u64 size);
u32 region_new(struct vm *v, void *mem, u64 size, u64 wsize);
/* Zeroed memory; much of it takes pages only when they are touched. NULL if there is no room for so
 * much. */
void *pages_new(u64 bytes);
void pages_free(void *p, u64 bytes);

/* ---- decode.c ---- */
/* p is freed by the caller, also after an error. */
struct err *decode(struct vm *v, const struct vm_prog_spec *s, struct vm_prog *p) MUST_USE;

/* ---- exec.c ---- */
const void *const *vm_labels(void); /* by enum vm_op */
/* Run function fn of v->run with r1 to r5; gives r0. */
u64 vm_exec(struct vm *v, u32 fn, const u64 args[5]);

/* ---- map.c ---- */
void map_free(struct vm_map *m);               /* what it points to */
struct vm_map *map_of(struct vm *v, u64 addr); /* what a program names by addr; NULL: v failed */
static inline bool is_hash(const struct vm_map *m)
{
	return m->slot != NULL;
}
static inline bool is_array(const struct vm_map *m)
{
	return m->spec.type == BPF_MAP_TYPE_ARRAY || m->spec.type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       m->spec.type == BPF_MAP_TYPE_ARRAY_OF_MAPS;
}
/* Number of the element with that key, or -1. */
i64 elem_find(struct vm_map *m, const void *key);
/* cpu: whose copy of a per-CPU map is stored, the others stay or begin as zeros; -1: all copies are
 * in val. 0 or a negative errno. */
i32 elem_put(struct vm_map *m, const void *key, const void *val, u64 flags, i32 cpu);
/* Write the value of element i. cpu is -1 for the copies of all CPUs. */
void elem_store(struct vm_map *m, u32 i, const void *val, i32 cpu);
i32 elem_delete(struct vm_map *m, const void *key);
bool elem_used(const struct vm_map *m, u32 i);
static inline u32 elem_top(const struct vm_map *m) /* elements are below this number */
{
	return is_hash(m) ? m->top : m->spec.max_entries;
}
/* The address of the copy that belongs to the CPU. */
static inline u64 elem_addr(const struct vm_map *m, u32 i, u32 cpu)
{
	return m->vals_at + (u64)i * m->stride + (m->percpu ? (u64)cpu * m->copy : 0);
}
i64 stack_id(struct vm *v, struct vm_map *m, u64 flags);

/* ---- hash.c ---- */
bool hash_new(struct vm_map *m, u64 *bytes); /* false: no room for so much */
void hash_free(struct vm_map *m);
i64 hash_find(const struct vm_map *m, const void *key);
i32 hash_put(struct vm_map *m, const void *key, const void *val, u64 flags, i32 cpu);
i32 hash_delete(struct vm_map *m, const void *key);

/* ---- ring.c ---- */
enum { PERF_BYTES = 1 << 18 }; /* of a perf event array's buffer */
bool ring_new_map(struct vm_map *m, u64 *bytes);
void ring_free_map(struct vm_map *m);
u64 ring_reserve(struct vm *v, struct vm_map *m, u64 size); /* the address, or 0: it is full */
void ring_finish(struct vm *v, u64 addr, bool discard);
i32 ring_output(struct vm_map *m, const void *data, u64 size);
void ring_close(struct vm *v); /* the run has ended: reservations that are left are an error */

/* ---- help.c ---- */
typedef u64 vm_helper(struct vm *v, const u64 *a);
enum { VM_HELPERS = 256 };
extern vm_helper *const vm_helpers[VM_HELPERS]; /* by id; NULL: the interpreter has none */
/* Does the caller answer what the helper asks for? */
bool vm_helper_works(const struct vm_env *e, u32 id);
