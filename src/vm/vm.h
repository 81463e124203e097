/*
 * vm.h - an interpreter of BPF in user space: maps in memory, and programs that run over them.
 *
 * It runs the same instructions that the compiler gives to the kernel, so a script has one meaning
 * wherever it runs. What the kernel knows and a process does not (the time of an event, who caused
 * it, memory, stacks) is answered by the caller through struct vm_env.
 *
 * A program may come from a file that nobody trusts. There is no verifier; instead
 *
 *	- vm_prog_load() refuses unknown instructions, registers and helpers, jumps that leave their
 *	  function, and functions without an end;
 *	- every access to memory is checked when it happens;
 *	- a run that exceeds its budget of instructions ends with an error.
 *
 * So a program can do nothing but change the maps of its own struct vm, and an error says which
 * instruction of which program was wrong. After such an error the maps hold what the program had
 * stored before it.
 *
 * Addresses in programs are not those of the process. An address is the number of a region and an
 * offset in it; it is in the range that no processor uses, so it equals no address that a program
 * reads from the kernel or from a process. The regions are the stack, the context, the values of
 * each map, the keys of each hash map (read-only), a ring buffer's records, and what the caller adds
 * by vm_region(). A pointer that leaves one value of a map can reach another value of the same map,
 * but nothing else.
 *
 * A struct vm is used by one thread at a time; several are independent of each other.
 *
 * The calls, in order of use: vm_new(), vm_map_new() for each map, vm_prog_load() for each program;
 * then for each event vm_set_cpu() and vm_prog_run(), and vm_ring_consume() for its records;
 * vm_map_each() and vm_map_get() read what was counted; vm_free(). Nothing is allocated while
 * programs run.
 *
 * Maps and programs are named by small numbers, as descriptors name those of the kernel. Errors of
 * the map calls have the errno that bpf(2) would give in err.no: ENOENT, EEXIST, E2BIG, EINVAL.
 */
#pragma once
#include "base/err.h"
#include "ir/ir.h"

enum {
	VM_MAX_CALLS = 8,        /* functions that may be in progress: the kernel's limit */
	VM_MAX_INSNS = 1000000,  /* instructions of a program */
	VM_BUDGET = 100000000,   /* default of vm_spec.budget */
	VM_MAX_VALUE = 1 << 30,  /* bytes of one value */
	VM_MAX_FRAMES = 127,     /* of a stack that helpers ask for */
	VM_MAX_LOOPS = 1 << 23,  /* rounds of bpf_loop(); more are E2BIG, as in the kernel */
	VM_MAX_RESERVATIONS = 8, /* of ring buffers, open at the same time */
};

struct vm;

enum vm_space { VM_KERNEL, VM_USER };

/* What the caller answers. Every member may be NULL: programs that need it are then refused. */
struct vm_env {
	void *arg;
	/*
	 * Helpers that call() answers, by their numbers in linux/bpf.h. They take precedence over
	 * those of the interpreter. A helper of neither kind is refused by vm_prog_load(). a[] are
	 * the arguments; an argument that points to memory of the program is used through
	 * vm_mem(). The result becomes r0.
	 */
	const u32 *helper;
	u32 nhelper;
	u64 (*call)(void *arg, struct vm *v, u32 helper, const u64 a[5]);
	/*
	 * Kernel functions. find_kfunc() turns the BTF id in a program into a number of the
	 * caller's, or returns false; it sets *name if it knows the function's name. call_kfunc()
	 * gets that number.
	 */
	bool (*find_kfunc)(void *arg, u32 btf_id, u32 *number, const char **name);
	u64 (*call_kfunc)(void *arg, struct vm *v, u32 number, const u64 a[5]);
	/*
	 * Memory outside the interpreter. Copies up to n bytes from addr on to dst and returns how
	 * many it has from there; less than n means that the next byte cannot be read.
	 */
	size_t (*read)(void *arg, enum vm_space space, u64 addr, void *dst, size_t n);
	/* Loads of kernel addresses by instructions go to read(), too, and give 0 where it fails, as
	 * those of typed pointers do in the kernel. Otherwise they are errors. */
	bool typed_loads;
	/* The current stack, innermost first: up to n addresses to ip. flags are those of bpf_get_stack(): the number of frames
	 * to skip, BPF_F_USER_STACK, and what is in stack_flags. Returns how many, or a negative errno. */
	i32 (*stack)(void *arg, u64 flags, u64 *ip, u32 n);
	u64 stack_flags; /* flags that the kernel does not have */
};

struct vm_spec {
	u32 ncpu;   /* copies in per-CPU maps */
	u64 budget; /* instructions of one run; 0: VM_BUDGET. Code that is skipped may count, too. */
	u64 memory; /* bytes that all maps may take; 0: no limit */
	/* Of hashes and of bpf_get_prandom_u32(): the same seed gives the same results. For programs
	 * that nobody trusts it is random, so that they cannot choose keys of equal hashes. */
	u64 seed;
	/* Overwrite what a call leaves undefined, registers and stack, so that a program that uses it
	 * computes something else than in the kernel. For tests. */
	bool strict;
	struct vm_env env;
};
struct vm *vm_new(const struct vm_spec *s);
void vm_free(struct vm *v); /* NULL is fine */

/* ---- maps ---- */

struct vm_map_spec {
	struct str name;
	u32 type, key_size, val_size, max_entries, flags; /* as in bpf(2) */
	u32 inner_size; /* of a map of maps: the inner maps' value size; they are arrays of one element */
};
/*
 * Arrays, hash maps and LRU hash maps, each also per CPU; stack traces, arrays of maps, ring
 * buffers, perf event arrays, arrays of control groups. A value of a per-CPU map is, for the calls
 * below, one copy for each CPU, each padded to 8 bytes.
 */
struct err *vm_map_new(struct vm *v, const struct vm_map_spec *s, u32 *ret) MUST_USE;
/* The values of an array, each padded to 8 bytes: what mmap(2) of such a map shows. NULL: the map is
 * of another type. */
void *vm_map_mem(struct vm *v, u32 map);
u32 vm_map_val_size(const struct vm *v, u32 map); /* bytes of a value for the calls below */
struct err *vm_map_get(struct vm *v, u32 map, const void *key, void *val) MUST_USE;
/* flags: BPF_ANY, BPF_NOEXIST, BPF_EXIST. The value for an array of maps is an inner map's number. */
struct err *vm_map_put(struct vm *v, u32 map, const void *key, const void *val, u64 flags) MUST_USE;
struct err *vm_map_delete(struct vm *v, u32 map, const void *key) MUST_USE;
/* Get and delete. */
struct err *vm_map_take(struct vm *v, u32 map, const void *key, void *val) MUST_USE;
/* Call fn for each element until it returns false. It may delete the element that it was given. */
typedef bool vm_row_fn(void *arg, const void *key, const void *val);
void vm_map_each(struct vm *v, u32 map, vm_row_fn *fn, void *arg);
u32 vm_map_count(const struct vm *v, u32 map); /* elements; of an array all */
/*
 * Hand over up to max records (0: all) of a ring buffer or perf event array, oldest first, and give
 * their room back to programs. cb NULL drops them. Returns their number.
 */
typedef void vm_record_fn(void *arg, const void *data, size_t n);
u64 vm_ring_consume(struct vm *v, u32 map, u64 max, vm_record_fn *cb, void *arg);

/* ---- programs ---- */

struct vm_prog_spec {
	struct str name;
	const struct code *code;
	const u32 *map; /* by index into the unit's map table: the number of the map here */
	u32 nmap;
	bool writes_context; /* the program may change the context; otherwise it is read-only */
};
/* The interpreter has this helper, or has it if env answers read() and stack(). */
bool vm_helper_is(u32 id);
struct err *vm_prog_load(struct vm *v, const struct vm_prog_spec *s, u32 *ret) MUST_USE;
/* Run a program once, with n bytes of context (r1 points to them). *retval is r0 at its end. */
struct err *vm_prog_run(struct vm *v, u32 prog, void *ctx, size_t n, u64 *retval) MUST_USE;
/* The CPU that the next runs are on, below ncpu: which copy of per-CPU maps they use. */
void vm_set_cpu(struct vm *v, u32 cpu);

/* ---- for the caller's answers ---- */

/* Make size bytes at mem known to programs, until vm_free(). Returns the address for programs. */
u64 vm_region(struct vm *v, void *mem, size_t size, bool writable);
/*
 * Only while a program runs: n bytes at an address of the program, NULL if the program has no such
 * memory. After NULL the run ends with an error, whatever the caller returns.
 */
void *vm_mem(struct vm *v, u64 addr, size_t n, bool write);
