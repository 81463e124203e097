/*
 * arch.h - what differs from one processor architecture to the next, as data.
 *
 * host->arch is the traced machine's; arch_of() is that of a file, by the number in its ELF header.
 * A recorded machine has its own, so code for one architecture is compiled and tested on another.
 * Offsets count from the beginning of struct pt_regs; -1: there is no such register. Nothing
 * outside of this folder asks the preprocessor what it is compiled for.
 */
#pragma once
#include "arch/insn.h"
#include "arch/move.h"
#include "base/str.h"

enum arch_id { ARCH_X86_64, ARCH_AARCH64, ARCH_COUNT };

enum { ARCH_CALL_ARGS = 6, ARCH_REG_NAMES = 4 };

/* Is a word of struct pt_regs, as far as the mask goes, this value? */
struct arch_test {
	i16 off;
	u64 mask, value;
};
struct arch_pair {
	i16 a, b;
};
/* A register by the names that it has; of assemblers they may stand for its parts, too. */
struct arch_reg {
	const char *name[ARCH_REG_NAMES];
	i16 off;
	u8 size;
	/* Only what stops at an instruction has it, not an event's samples. */
	bool probes_only;
};
struct arch_regs {
	const struct arch_reg *v;
	u32 n;
};
/* Where functions of C have their arguments and results: numbers of DWARF. */
struct arch_convention {
	u8 nreg, reg[8], ret[2], sp;
	u8 skip; /* bytes on the stack before arguments */
	u8 nvec; /* registers of floating point numbers */
	/* Structs of more than 16 bytes are; those of one to four floating point numbers of one
	 * size are in as many registers; 16 bytes that need such alignment begin at an even one. */
	bool large_by_pointer;
	bool hidden_is_first; /* the address of a large result takes an argument's register */
};
/* A system call that other architectures have, and what the C library calls here. */
struct arch_instead {
	const char *call, *instead;
};
/* See i386_twins.def. */
struct arch_twin {
	const char *name, *call;
	u8 same;
	bool narrow;
};
struct arch_calls {
	const char *text; /* names, for arch_call_name(); see call_names.def */
	const u16 *at;    /* where in .text, by number; 0: no name */
	u32 n;
	const char *wrapper; /* kernel functions of system calls are called so, and the name */
	i16 nr, arg[ARCH_CALL_ARGS];
	u8 nr_size;
	u8 clone_tls; /* clone()'s argument for thread-local storage; child_tidptr is the other one of 3, 4 */
	/*
	 * A call of a 64-bit program leaves equal values in each of these pairs of registers. Where
	 * they differ, this bit of thread_info.status says which it is; 0: .native tells, alone.
	 */
	struct arch_pair same[2];
	u32 nsame, status_compat;
	const struct arch_instead *instead; /* up to a NULL */
	/*
	 * Of native calls: those of 32-bit programs (NULL: there are none), and the bits of a member of
	 * thread_info that are set while a task makes one; calls whose number has bit 30 set (NULL: the same).
	 */
	const struct arch_calls *compat, *x32;
	const char *compat_member;
	u32 compat_bits;
	/* Of the others: from this number on, addresses and longs have 32 bits; 0: all of compat. */
	u32 narrow_from;
	const struct arch_twin *twins; /* up to one without a name; or NULL */
};
/* Of a number; NULL: there is no such call. */
static inline const char *arch_call_name(const struct arch_calls *calls, u32 nr)
{
	return nr < calls->n && calls->at[nr] ? calls->text + calls->at[nr] : NULL;
}
struct arch_c {
	const char *macro, *target; /* that compilers and clang -target bpf's users define */
	bool unsigned_char;
	bool bits_align; /* also nameless bit-fields align their struct */
};

/*
 * Code without frame pointer that a runtime copies for each function that it names: CPython's -X
 * perf and -X perf_jit before 3.14. Where it calls, its frame begins at sp + 8 * words.
 */
struct arch_stub {
	u8 code[20], n, words;
};

/* Walking stacks by call frame information: numbers of DWARF; where rt_sigreturn(2) finds
 * registers. */
enum { NO_REG = 0xff };
struct arch_unwind {
	u8 fp, sp;
	u8 kept;   /* where frames begin that begin at neither, deep in a stack; NO_REG: none */
	bool link; /* a call puts the return address into a register */
	u16 signal_fp, signal_kept, signal_link, signal_sp, signal_ip; /* from the stack pointer */
	const struct arch_stub *stub; /* up to one without code; or NULL */
	/* The member of task_struct.thread that the thread pointer of user mode is kept in (NULL: it is
	 * elsewhere), and where glibc has the value of pthread_getspecific(0), from that on; that of
	 * each next key lies 16 bytes behind. Or .keys_by_tid: from where the thread has its number on
	 * (task_struct.clear_child_tid). How far that is from the thread pointer depends on glibc where
	 * the thread's data lies before it. */
	const char *thread_pointer;
	u16 keys;
	bool keys_by_tid;
};

struct arch {
	enum arch_id id;
	const char *name; /* as uname -m has it, and the folders of libraries */
	u16 machine;      /* e_machine of its files */
	u16 machine32;    /* of programs of 32 bits that can be probed, too; 0: none */

	/* struct pt_regs */
	i16 ip, sp, fp;
	i16 link; /* where a call puts the return address; -1: on the stack */
	i16 ret;
	u32 narg, ngo_arg;
	const i16 *arg, *go_arg; /* C; Go from version 1.go_minor on */
	u32 go_minor;
	const i16 *dwarf; /* by DWARF's number */
	u32 ndwarf;
	struct arch_regs reg;          /* for reg() */
	struct arch_test user, native; /* in user mode; running a 64-bit program */

	/*
	 * Addresses of programs: bits that processor and programs may set as they like, in all of
	 * them; and that sign return addresses, as this machine runs now (NULL: none ever).
	 */
	u64 tag_bits;
	u64 (*signed_bits)(void);
	struct arch_unwind unwind;

	struct arch_convention c_calls;
	struct arch_calls calls;
	struct arch_c c;

	/* Operands of USDT notes: "%eax" and "-8(%rbp)", or "w0" and "[sp, 8]". */
	struct arch_regs operand;
	bool att_syntax;

	/* Machine code. */
	bool (*decode)(const u8 *p, u32 n, struct insn *ret);
	bool (*move)(const u8 *p, u32 n, struct move *ret); /* NULL: nothing does that here */
	u8 trap[4], ntrap, trap_skip; /* breakpoint instruction; ip is so far behind it then */
	u8 kprobe_skew;               /* the same at a kprobe */
	void (*nop5)(void),
		(*nop10)(void); /* functions that begin so; NULL where we run elsewhere */

	/* Of a signal's context (ucontext_t) in a system call that was caught: its first arguments, and
	 * what it is to return. NULL where we run elsewhere. */
	void (*call_args)(const void *context, u64 arg[4]);
	void (*call_returns)(void *context, i64 v);

	bool keeps_order;   /* other CPUs see loads, and stores, in the order of the program */
	bool watches_reads; /* a watchpoint can be for reads alone */
	bool walks_frames;  /* {caller's frame, return address}, as ustack walks them */
	u16 ldcache_flags;  /* of its libraries in /etc/ld.so.cache */
};

extern const struct arch arch_x86_64, arch_aarch64;

const struct arch *arch_native(void);
const struct arch *arch_of(u16 machine);          /* NULL: none that we know */
const struct arch *arch_that_runs(u16 machine);   /* also programs of 32 bits */
const struct arch *arch_by_name(struct str name); /* NULL: none that we know */

/* Offset of the n-th argument's register; -1: not in a register. */
static inline i32 arch_arg(const struct arch *a, u32 n)
{
	return n < a->narg ? a->arg[n] : -1;
}
static inline i32 arch_go_arg(const struct arch *a, u32 n)
{
	return n < a->ngo_arg ? a->go_arg[n] : -1;
}
/* Of the register with DWARF's number n. */
static inline i32 arch_dwarf(const struct arch *a, u64 n)
{
	return n < a->ndwarf ? a->dwarf[n] : -1;
}
const struct arch_reg *arch_reg(const struct arch_regs *r, struct str name); /* NULL: none */
/* The number of a system call, or a->calls.n. */
u32 arch_call(const struct arch *a, struct str name);
/*
 * Number i of those that a call has in calls, a table of other programs' calls: how the arguments differ, in *how,
 * and calls->n if there are no more.
 */
u32 arch_twin(const struct arch_calls *calls, struct str call, u32 i, struct arch_twin *how);
/* "open" of sys_enter_open, sys_open, __x64_sys_open: what events and functions of the kernel, of any
 * architecture, are named after; {NULL}: it is none. */
struct str arch_call_of(struct str name);
/* name is the event of a call's entry, want the call; or its wrapper, and the function. */
bool arch_is_of_call(struct str name, struct str want);
/* What programs here call instead of a system call that others have; NULL: nothing. */
const char *arch_instead(const struct arch *a, struct str call);
