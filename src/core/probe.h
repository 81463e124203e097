/*
 * probe.h - probe types, and methods to attach them.
 *
 * What a script writes is a probe type: how its text is read, what a wildcard matches, what args is. How
 * that reaches the kernel is a method: a type of program, a context, an attachment. A probe type has several
 * methods, in order of price; the compiler takes the first that fits what a body asks for, and when
 * the kernel refuses that one, the next. The core knows nothing of a probe but these two structs.
 */
#pragma once
#include "base/err.h"
#include "base/vec.h"
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
	const struct probe_type *type;
	const struct method *method; /* the probe type's last until one is chosen */
	struct str text; /* whole probe text as "probe" shows it: "tracepoint:sched:sched_switch" */
	struct str target; /* module, binary, category */
	struct str name;   /* function, event; "" when by address */
	/* usdt: the program's name for a group; profile, interval: unit; watchpoint: mode; uprobe:
	 * language. */
	struct str extra;
	struct str plain; /* the text with a demangled name, for lists; or {NULL} */
	struct str like;  /* of a search for "*": names that are not str_like() need not be given */
	u64 offset, addr, period;
	u32 id; /* index into unit.probe_name */
	bool has_addr;
	bool late; /* attached when the program of -c is mapped: .addr is relative to .target */
	bool wild; /* one of those that a wildcard matched */
	bool code_refused; /* its body was, by the kernel: no typed loads */
	bool old;          /* user probes: .pid has an older file of the path .target mapped */
	bool beside;       /* for events that another point's method does not see: PROBE_BESIDE */
	bool unreadable; /* such a point: the body cannot read its arguments; its events are only counted */
	bool copied; /* by a helper: typed arguments that old kernels let no program load */
	int pid;     /* user probes: .target is a path as this process sees it; 0: as we do */
	enum abi abi : 8;
	/* T_STRUCT that "args" reads (tracepoint: the context itself), or NULL. */
	const struct type *args;
	const struct type *ret; /* type of retval, or NULL: u64 */
	enum space args_space;  /* AS_CTX: args is the context; else arg(n) gives each value */
	u32 narg;               /* arg0..: how many there are; 0: as the registers allow */
	u64 members;            /* of args that the body reads, a bit for each of the first 64 */
	u32 btf_id;             /* attach_btf_id of typed programs */
	const struct debug_func *debug; /* user probes: what debug information says of the place */
	const char *no_args, *no_ret;   /* why args, retval are not known; NULL: nothing to say */
	const char *remark;             /* to be told when it is attached; NULL: nothing */
	void *priv;           /* the probe type's, from expand to attach (of the host's arena) */
	struct loc loc, body; /* its text's, the whole probe's */
	struct point *next;
};

static inline u32 point_count(const struct point *p)
{
	u32 n = 0;
	for (; p; p = p->next)
		n++;
	return n;
}

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
	USE_KEPT = 1 << 12,   /* what a recording kept of its events */
};

#define ALL_MEMBERS (~0ull) /* point.members: too many to tell */

enum { ARG_RET = -1, ARG_FUNC = -2 };
/* Of a probe type, or of a method; point_flags() has both. */
enum probe_flags {
	PROBE_USER = 1 << 0,   /* pointers from the context are user pointers */
	PROBE_KERNEL = 1 << 1, /* ... kernel pointers */
	PROBE_RETVAL = 1 << 2, /* has retval */
	PROBE_ARGN = 1 << 3,   /* has arg0.. */
	PROBE_FUNC = 1 << 4,   /* has func */
	PROBE_ONCE = 1 << 5,   /* runs in sonde's own process (begin, end): not subject to -p */
	/* -p is a filter in the program; else the attachment is per process. */
	PROBE_PIDFILTER = 1 << 6,
	PROBE_STACKS = 1 << 7,     /* kstack and ustack mean something here */
	PROBE_NOBODY = 1 << 8,     /* in the name of no process: not subject to -p, --cgroup */
	PROBE_CTX_ARGS = 1 << 9,   /* ctx is another name of args */
	PROBE_SPLIT = 1 << 10,     /* points that differ in .extra do not share a program */
	PROBE_RAW_ARGN = 1 << 11,  /* arg0.. are registers, whatever args says */
	PROBE_SIGNATURE = 1 << 12, /* types() finds what a program is loaded for */
	PROBE_FIRST = 1 << 13,     /* attached before the others, in the script's order */
	PROBE_MACHINE = 1 << 14,   /* of the machine's: meant by a wildcard for probe types */
	/* What a wildcard matches is one attachment where the kernel can do that, and counts as one
	 * for max_probes. */
	PROBE_MULTI = 1 << 15,

	METHOD_REGS =
		1 << 16, /* the context is struct pt_regs: reg(), argN by the calling convention */
	METHOD_TYPED = 1 << 17,     /* tracing program: the context is an array of typed u64 */
	METHOD_EVENT = 1 << 18,     /* perf event program: context is struct bpf_perf_event_data */
	METHOD_LINGERS = 1 << 19,   /* detaching takes the kernel tens of milliseconds */
	METHOD_TASK = 1 << 20,      /* enter() asks for the current task */
	METHOD_PINNED = 1 << 21,    /* runs when we have ended: printf writes to a file */
	METHOD_BY_NUMBER = 1 << 22, /* arg0.. are there as if the context were registers */
	PROBE_OVERRIDE = 1 << 23,   /* the function may return at once instead */
	METHOD_SLEEPS =
		1 << 26, /* its programs may wait for user memory, where FEAT_SLEEPABLE is */
	PROBE_REPORTS = 1 << 25, /* what it prints are reports, each time the next one */
	METHOD_BESIDE = 1 << 29, /* of a point that is beside another */
	/* Methods may not see all events: expand() with .beside set gives points for the others of p, with their methods. */
	PROBE_BESIDE = 1 << 28,
	PROBE_SYNONYM =
		1 << 24, /* other words for another probe type's points: not in lists of all */
	PROBE_RECORDED =
		1 << 27, /* of a recording: what a body asks of an event was kept, or is refused */
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

/* A program on its way to its points. */
struct attach {
	const struct prog *prog;
	int fd;                     /* of the loaded program */
	struct link *links;         /* what attaching made; the runtime takes them over */
	bool done;                  /* it worked, but for what was left out */
	u32 unattached;             /* points of a wildcard that had to be left out */
	struct err *unattached_why; /* of the first */
	const struct point *failed; /* that an err speaks of; NULL: the only one, or all */
	const char *remark;         /* what is to be told of places that were found; or NULL */
};

/* What a script writes. */
struct probe_type {
	const char *name, *alias[3];
	const char *syntax; /* "kprobe[:module]:function[+offset]", for help and errors */
	const char *doc;
	u32 flags;
	u16 needs; /* enum feature */
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
	 * runs; then p may match everything. What there is to remark goes to ds, unless it is NULL.
	 * expand NULL: points are concrete as written. An err is a failure to look; no match is no
	 * err.
	 */
	struct err *(*expand)(struct host *h, struct unit *u, struct diags *ds,
			      const struct point *p, point_cb *cb, void *arg);
	/* Nothing matches p: what of the kernel's that takes, when it is not there. NULL: nothing. */
	const char *(*lacks)(struct host *h, const struct point *p);
	/* Fill p->args, ret, narg, btf_id from BTF, DWARF or tracefs, as far as a body asks for it
	 * (use: enum point_use). NULL: this probe type has no arguments. */
	struct err *(*types)(struct host *h, struct unit *u, struct point *p, u32 use);
	/* A type that the probed program knows; near: where it is probed. NULL: none. */
	const struct type *(*type_named)(struct host *h, struct unit *u, const struct point *p,
					 struct str name, enum type_kind kind, bool near);
	/* In order of price; ended by NULL. The last one always fits. */
	const struct method *const *methods;
};

/* What a body wants of the points that share it. */
struct ask {
	struct host *h;
	struct unit *u;
	struct point *points;
	u32 n;
	u32 use; /* enum point_use */
};

/* The same event under another number. */
struct twin {
	u64 nr;
	bool elsewhere; /* where enter() leaves: nr may be the number of another event elsewhere */
	bool readable;  /* its arguments are what the body at the point reads */
};

/* Several points in one program, told apart by a number that the context holds. */
struct which {
	struct ref (*number)(struct fn *f, const struct point *points); /* code that gives it */
	u32 (*of)(struct host *h, const struct point *p); /* a point's; NULL: it is .id */
	u32 n;                                            /* numbers are below that */
	/*
	 * Number i of the events that are p's under other numbers: of programs of another probe type, which are delivered
	 * if the body can read them, or else counted (STAT_FOREIGN). False if there are no more. NULL if no event
	 * has another number, or if enter() is NULL.
	 */
	bool (*twin)(struct host *h, const struct point *p, u32 i, struct twin *ret);
	/* arg() for a twin that is elsewhere. */
	struct ref (*twin_arg)(struct fn *f, struct host *h, const struct point *p, int n);
};

/* How points are attached. */
struct method {
	u32 prog_type, attach_type, flags;
	enum prog_phase phase : 8;
	/* NULL: always. True: it is taken; may have changed the points' types and places. */
	bool (*fits)(const struct ask *ask);
	/*
	 * The expected attach type to load g with, when it depends on the kernel and on how many
	 * points there are (multi links). NULL: .attach_type. attach() copes with programs that
	 * were loaded with .attach_type.
	 */
	u32 (*load_as)(struct host *h, const struct unit *u, const struct prog *g);
	/*
	 * Attach a->prog to all its points, adding to a->links (also when it fails half-way: the
	 * caller undoes them). NULL: the runtime runs the program itself (begin, end).
	 */
	struct err *(*attach)(struct host *h, struct unit *u, struct attach *a);
	const struct which *which; /* NULL: a program is for one point, or does not ask */
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
	/* With PROBE_USER and METHOD_REGS; NULL: FRAMES_ELSE. */
	enum frames (*frames)(const struct point *p);
	/* How often it fires on a CPU, per second. NULL: nobody knows. */
	u64 (*rate)(const struct point *p);
};

static inline u32 point_flags(const struct point *p)
{
	return p->type->flags | p->method->flags;
}

/* The method that fits all that the probe type can do. */
static inline const struct method *probe_last_method(const struct probe_type *k)
{
	const struct method *const *w = k->methods;
	while (w[1])
		w++;
	return *w;
}

/* What the kernel has refused so far of a body of the script: the next try does without. */
struct refusal {
	struct loc body;
	const struct method *method; /* NULL: loads through typed pointers, our own ring buffers */
	bool asleep;                 /* nothing but that it may sleep */
};
struct refused {
	const struct refusal *v;
	u32 n;
};
typedef VEC(struct refusal) refusals; /* by who tries */
/* The next try of the body at p is to do without its method, or, after the last of them, without what the
 * verifier may not like. False: that was tried, or it was not the verifier. */
bool refuse(refusals *v, const struct point *p, bool by_verifier);
/* The same without sleeping. */
void refuse_sleep(refusals *v, const struct point *p);
static inline bool was_refused(const struct refused *r, struct loc body, const struct method *w)
{
	for (u32 i = 0; i < r->n; i++)
		if (r->v[i].body.pos == body.pos && r->v[i].body.src == body.src &&
		    r->v[i].method == w && !r->v[i].asleep)
			return true;
	return false;
}
static inline bool was_kept_awake(const struct refused *r, struct loc body)
{
	for (u32 i = 0; i < r->n; i++)
		if (r->v[i].body.pos == body.pos && r->v[i].body.src == body.src && r->v[i].asleep)
			return true;
	return false;
}

/* probe/registry.c: every probe type, ended by NULL, in the order -l lists them. */
extern const struct probe_type *const probe_types[];
/* The probe type that takes their place while a script is compiled for a recording (core/recorded.h). */
extern const struct probe_type *const recorded_types[];
/* By name or alias, case-insensitive except that U is usdt and u is uprobe. NULL: none. */
const struct probe_type *probe_type_find(struct str name);
