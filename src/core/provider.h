/* provider.h - one file per kind of probe; the core knows only this struct. */
#pragma once
#include "base/err.h"
#include "ir/ir.h"
#include "kern/link.h"
#include "types/type.h"

struct prog;
struct blk;
struct debug_func;
struct unit;

/* Where a function's arguments are. */
enum abi {
	ABI_C,
	ABI_C32,      /* i386: all on the stack */
	ABI_GO,       /* Go's registers */
	ABI_GO_STACK, /* Go before 1.17, and on i386 */
};
static inline bool abi_is_go(enum abi a)
{
	return a == ABI_GO || a == ABI_GO_STACK;
}

/* A place to attach: as written at first, concrete once wildcards are expanded. */
struct point {
	const struct provider *provider;
	struct str text; /* whole probe text as "probe" shows it: "tracepoint:sched:sched_switch" */
	struct str target; /* module, binary, category */
	struct str name;   /* function, event; "" when by address */
	struct str extra;  /* usdt: provider namespace; profile, interval: unit; watchpoint: mode;
			      uprobe: language */
	struct str plain;  /* the text with a demangled name, for lists; or {NULL} */
	u64 offset, addr, period;
	u32 id; /* index into unit.probe_name */
	bool has_addr;
	bool late;   /* attached when the program of -c is mapped: .addr is relative to .target */
	bool wild;   /* one of those that a wildcard matched */
	bool copied; /* by a helper: typed arguments that old kernels let no program load */
	int pid;     /* user probes: .target is a path as this process sees it; 0: as we do */
	enum abi abi : 8;
	const struct type
		*args; /* T_STRUCT that "args" reads (tracepoint: the context itself), or NULL */
	const struct type *ret; /* type of retval, or NULL: u64 */
	enum space args_space;  /* AS_CTX: args is the context; else arg(n) gives each value */
	u32 narg;               /* arg0..: how many there are; 0: as the registers allow */
	u64 members;            /* of args that the body reads, a bit for each of the first 64 */
	u32 btf_id;             /* attach_btf_id of typed programs */
	const struct debug_func *debug; /* user probes: what debug information says of the place */
	const char *no_args, *no_ret;   /* why args, retval are not known; NULL: nothing to say */
	void *priv;                     /* the provider's, from expand to attach (unit arena) */
	struct loc loc;
	struct point *next;
};

typedef bool point_cb(const struct point *p, void *arg); /* false: stop */

/* What a body asks of a probe. */
enum point_use {
	USE_ARGS = 1 << 0,
	USE_ARGN = 1 << 1,
	USE_RETVAL = 1 << 2,
	USE_PROBE = 1 << 3,
	USE_FUNC = 1 << 4,
	USE_KSTACK = 1 << 5,
	USE_REGS = 1 << 6, /* reg(), ctx, usermode */
	USE_USTACK = 1 << 7,
	USE_PROGRAM = 1 << 8, /* what the kernel offers to some types of programs only */
	USE_TASK = 1 << 9,    /* the current task or what is found there */
	USE_CTX = 1 << 10,    /* reg(), ctx: some probes' args in other words */
	USE_IDS = 1 << 11,    /* pid, tid */
};

#define ALL_MEMBERS (~0ull) /* point.members: too many to tell */

enum { ARG_RET = -1, ARG_FUNC = -2 };
enum provider_flags {
	PF_USER = 1 << 0,   /* pointers from the context are user pointers */
	PF_KERNEL = 1 << 1, /* ... kernel pointers */
	PF_REGS = 1 << 2, /* the context is struct pt_regs: reg(), argN by the calling convention */
	PF_RETVAL = 1 << 3, /* has retval */
	PF_ARGN = 1 << 4,   /* has arg0.. */
	PF_FUNC = 1 << 5,   /* has func */
	PF_TYPED = 1 << 6,  /* tracing program: the context is an array of typed u64 */
	PF_ONCE = 1 << 7,   /* runs in sonde's own process (begin, end): not subject to -p */
	PF_PIDFILTER =
		1 << 8,      /* -p is a filter in the program; else the attachment is per process */
	PF_STACKS = 1 << 9,  /* kstack and ustack mean something here */
	PF_EVENT = 1 << 10,  /* perf event program: context is struct bpf_perf_event_data */
	PF_NOBODY = 1 << 13, /* runs in the name of no process: not subject to -p, --cgroup */
	PF_CTX_ARGS = 1 << 12, /* ctx is another name of args */
	PF_LINGERS = 1 << 16,  /* detaching takes the kernel tens of milliseconds */
	PF_SPLIT = 1 << 11,    /* points that differ in .extra do not share a program */
	PF_CHOSEN = 1 << 14, /* see choose: when it cannot be attached, the script is compiled once
				more without such choices */
	PF_TASK = 1 << 15,   /* enter() asks for the current task */
	PF_PINNED = 1 << 18, /* runs when we have ended: printf writes to a file of the kernel */
	PF_RAW_ARGN = 1 << 17, /* arg0.. are registers, whatever args says */
};

/* When a program runs. All but the first are run by sonde itself. */
enum prog_phase {
	PROG_ATTACH,
	PROG_BEGIN,
	PROG_END,
	PROG_SIGNAL, /* when SIGUSR1 comes */
	PROG_ITER,   /* when the link's perf_fd is read */
	PROG_PINNED, /* when others read a file */
	PROG_TEST,   /* instead of PROG_ATTACH, when asked for */
	PROG_BENCH,
};

/* The stack where a user probe fires. */
enum frames {
	FRAMES_ELSE,  /* the kernel knows best: return addresses may be others */
	FRAMES_ENTRY, /* the caller's address is on top, the frame pointer still the caller's */
	FRAMES_SET,
};

/* Where a member of args is. */
struct arg_at {
	struct ref ref; /* the value, or an address with .off */
	i32 off;
	enum space space; /* AS_NONE: it is the value */
	bool typed;       /* the value is a pointer that the verifier knows */
	u32 need;         /* only this is set: ask again with so many bytes to put it into */
};

struct provider {
	const char *name, *alias[3];
	const char *syntax; /* "kprobe[:module]:function[+offset]", for help and errors */
	const char *doc;
	u32 prog_type, attach_type, flags;
	u16 needs; /* enum feature */
	u16 many;  /* enum feature: with it all that a wildcard matches is attached at once, so
		      max_probes counts it once. 0: never */
	enum prog_phase phase : 8;

	/* Beyond needs: NULL, or why it cannot work here. Only `info` asks. NULL: nothing more. */
	struct err *(*able)(struct host *h);
	/*
	 * Split the text after "name:" (quotes and $N already resolved) into target, name, offset,
	 * period; fill p->text with the canonical spelling. Wildcards stay. An err is a mistake in
	 * the text.
	 */
	struct err *(*parse)(struct arena *a, struct point *p, struct str text);
	/*
	 * Call cb for each match, as points with .text and .name/.target/.addr filled. Also what -l
	 * runs; then p may match everything. NULL: points are concrete as written. An err is a
	 * failure to look; no match is no err.
	 */
	struct err *(*expand)(struct host *h, struct unit *u, const struct point *p, point_cb *cb,
			      void *arg);
	/* Fill p->args, ret, narg, btf_id from BTF, DWARF or tracefs. NULL: this probe has no
	 * arguments. */
	struct err *(*types)(struct host *h, struct unit *u, struct point *p);
	/* What takes longer: args and ret from debug information, for bodies that use these. */
	struct err *(*debug)(struct host *h, struct unit *u, struct point *p);
	/* Providers with PF_USER and PF_REGS; NULL: FRAMES_ELSE. */
	enum frames (*frames)(const struct point *p);
	/*
	 * A better provider with the same meaning for n points that share a body, or NULL. use:
	 * enum point_use, what the body needs. May change the points' argument types and places.
	 */
	const struct provider *(*choose)(struct host *h, struct unit *u, struct point *points,
					 u32 n, u32 use);
	/*
	 * Several points in one program, told apart by a number that the context holds. which: emit
	 * code that gives it. number: a point's (below nwhich); NULL: it is the point's id.
	 */
	struct ref (*which)(struct fn *f, const struct point *points);
	u32 (*number)(const struct point *p);
	u32 nwhich;
	/* Emit code that runs next and may go to out, which leaves. NULL: none. */
	void (*enter)(struct fn *f, struct host *h, const struct point *p, struct blk *out);
	/*
	 * Emit code that fetches argument n, ARG_RET or ARG_FUNC from the context, as a 64-bit
	 * value. NULL: none. Never called for a number that narg, flags and type rule out.
	 */
	struct ref (*arg)(struct fn *f, struct host *h, const struct point *p, int n);
	/*
	 * Emit code that finds member n of args, or ARG_RET. into, off: bytes for what is put
	 * together, or REF_NONE. NULL: arg gives every value.
	 */
	struct arg_at (*arg_at)(struct fn *f, const struct point *p, int n, struct ref into,
				i32 off);
	/* A type that the probed program knows; near: where it is probed. NULL: none. */
	const struct type *(*type_named)(struct host *h, struct unit *u, const struct point *p,
					 struct str name, enum type_kind kind, bool near);
	/*
	 * The expected attach type to load g with, when it depends on the kernel and on how many
	 * points there are (multi links). NULL: .attach_type. attach() copes with programs that
	 * were loaded with .attach_type.
	 */
	u32 (*load_as)(struct host *h, const struct unit *u, const struct prog *g);
	/*
	 * Attach g to all its points, adding links to *list (also when it fails half-way: the
	 * caller undoes them). NULL: the runtime runs the program itself (begin, end).
	 */
	struct err *(*attach)(struct host *h, struct unit *u, struct prog *g, struct link **list);
};

/* probe/registry.c: every provider, ended by NULL, in the order -l lists them. */
extern const struct provider *const providers[];
/* By name or alias, case-insensitive except that U is usdt and u is uprobe. NULL: none. */
const struct provider *provider_find(struct str name);
