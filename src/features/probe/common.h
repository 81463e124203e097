/* common.h - inside probe/: what several probe types and methods need. */
#pragma once
#include "core/unit.h"
#include "kern/bpf.h"
#include "kern/perf.h"
#include "proc/paths.h"

enum { MAX_PARTS = 8 };
struct parts {
	struct str v[MAX_PARTS];
	u32 n; /* how many there are, also above MAX_PARTS */
};
/* Pieces between colons; an empty text has none. */
struct parts parts_of(struct str text);
/* "kprobe probe type requires 1 or 2 arguments, found 3" */
struct err *parts_err(const struct point *p, const char *want, u32 found) MUST_USE;
/* "TYPE:a:b" with the pieces that are not empty. */
struct str probe_text(struct arena *a, const char *kind, struct str x, struct str y, struct str z);
/* What a message shows for a piece that may be empty. */
/* A path with the ':' that were in quotes (str_unquote()). */
struct str part_path(struct arena *a, struct str s);
struct str part_shown(struct str s);
/* "name+0x10" -> name and offset. */
struct err *split_offset(const struct point *p, struct str *name, u64 *off) MUST_USE;
struct err *offset_outside(struct str func, u64 size) MUST_USE;

/* Registers at function entry. n: a number, ARG_RET. */
struct ref regs_fetch(struct fn *f, int n);
/* size bytes of the process's memory at addr; 0 when they cannot be read. */
struct ref user_load(struct fn *f, struct ref addr, u32 size, bool is_signed);
/* Low bytes of v as a value of t. */
struct ref fit_value(struct fn *f, struct ref v, const struct type *t);

/* syscall:NAME of a point that syscall_parse() read and may match several: is the tracepoint with this
 * whole name one of them? Its text then is *text. */
bool syscall_is_event(struct arena *a, const struct point *p, struct str tracepoint,
		      struct str *text);

/* Kernel functions that p names (module in .target, "" any; function in .name), each once. */
struct err *kernel_functions(struct host *h, struct unit *u, struct diags *ds,
			     const struct point *p, point_cb *cb, void *arg);

/* A function that compilers changed has another name: name.isra.0, .constprop.0, .part.0; the last
 * only where there are no others. False: there is none. */
struct forms {
	struct str name[4], module[4];
	u32 n;
};
bool function_forms(struct host *h, struct arena *a, const struct point *p, struct forms *ret);
/* Is the name itself among the functions of the kernel? The list is read for that. */
bool function_listed(struct host *h, struct str name);
/* What is to be told of probing them. */
const char *function_forms_text(struct arena *a, const struct point *p, const struct forms *f);

/* BTF made by pahole before 1.25 or so names functions once that the kernel has several times, such
 * as c_start; newer ones leave those out. */
bool btf_hides_doubles(struct host *h);

/*
 * Attach g to its points one by one. One that fails: of a wildcard's it is left out; else as
 * missing_probes says, all fails, or it is left out. g->failed is the one to speak of.
 */
typedef struct err *attach_point(struct host *h, struct unit *u, struct attach *a,
				 const struct point *p);
struct err *attach_points(struct host *h, struct unit *u, struct attach *a, attach_point *one);
/* n points that a wildcard matched stay without; frees e, the reason, or keeps it. */
void leave_out(struct attach *a, u32 n, struct err *e);

/* ---- tracing programs: typed.c ---- */
/* p->args, narg and ret from a signature whose first skip parameters are left out. */
void typed_args(struct arena *a, struct point *p, const struct type *fn, u32 skip);
struct ref typed_fetch(struct fn *f, struct host *h, const struct point *p, int n);
/* May programs load an argument of this type themselves? Else a helper reads the context. */
bool typed_loads(struct host *h, const struct type *t);
struct ref typed_slot(struct fn *f, i32 off, bool direct);
/* method.attach through a trampoline: to the one function that the program was loaded for. */
struct err *typed_attach(struct host *h, struct unit *u, struct attach *a);
/* Functions that BPF itself calls on the way into a program: a trampoline there would recurse. */
bool typed_recurses(struct str func);
/* vmlinux's BTF, or the module's; e when there is none. */
struct err *typed_btf(struct host *h, struct str module, struct types **ret);
/* That there are none of modules. */
struct err *typed_no_modules(void);

/* The same as fn, with names of parameters where the kernel has them: rawtracepoint.c. */
const struct type *rawtp_signature(struct types *k, struct arena *a, struct str name,
				   const struct type *fn);
/* Attach a typed program to the tracepoint it was loaded for. */
struct err *rawtp_attach(struct host *h, struct unit *u, struct attach *a);
/* ... an untyped one, to tracepoints by their names. */
struct err *rawtp_attach_names(struct host *h, struct unit *u, struct attach *a);

/* ---- methods that a file of their own has ---- */
/* A kprobe's own: kprobe.c. */
struct ref kprobe_arg(struct fn *f, struct host *h, const struct point *p, int n);
u32 kprobe_load_as(struct host *h, const struct unit *u, const struct prog *g);
struct err *kprobe_attach(struct host *h, struct unit *u, struct attach *a);
/* At the start of one function, or at its return, whatever the program's points are. */
struct err *kprobe_start(struct host *h, struct unit *u, struct attach *a, const char *func,
			 bool ret);
extern const struct method method_form; /* of fentry and fexit, where a function has another name */
extern const struct method method_trampoline_entry,
	method_trampoline_return;           /* of kernel functions */
extern const struct method method_switches; /* of software:context-switches */
/* Of tracepoints, in order of price. */
/* A program on an event, for all CPUs: tracepoint.c. */
struct err *tracepoint_start(struct host *h, struct attach *a, struct str category,
			     struct str event);
/* Linux 7.2: at these tracepoints only a perf event of raw_syscalls has programs that are not preempted. */
bool calls_preempted(struct host *h, const struct point *p);
extern const struct method method_raw_calls_event, method_calls_event, method_calls_by_regs,
	method_calls, method_tp_typed, method_tp_raw, method_tp_perf, method_call_compat,
	method_call_compat_exit, method_call_probed, method_call_probed_exit;
extern const struct method *const tracepoint_methods[]; /* those, the cheapest first */
/* A tracepoint's own, of a probe type's callbacks. */
struct err *tracepoint_able(struct host *h);
struct err *tracepoint_expand(struct host *h, struct unit *u, struct diags *ds,
			      const struct point *p, point_cb *cb, void *arg);
const char *tracepoint_lacks(struct host *h, const struct point *p);
struct err *tracepoint_types(struct host *h, struct unit *u, struct point *p, u32 use);
/* The system call of an event sys_enter_X or sys_exit_X, which is not always called X. */
struct str call_of_event(struct str event);
bool call_is_enter(const struct point *p);
/* Field n of a call's event in a program on raw_syscalls' tracepoint: 0 is the number. */
struct ref call_arg_of(struct fn *f, struct host *h, const struct point *p, int n);
/* call_twin.c: of which.twin, which.twin_arg and, for p, the points beside it */
bool call_twin(struct host *h, const struct point *p, u32 i, struct twin *ret);
struct ref call_twin_arg(struct fn *f, struct host *h, const struct point *p, int n);
void call_beside(struct host *h, const struct point *p, point_cb *cb, void *arg);
/* Field n, of which a 32-bit program's word is there. */
struct ref call_narrow_arg(struct fn *f, const struct point *p, int n, struct ref base, i32 off);

/* ---- perf events: perf_common.c ---- */
/* Open an event, attach g, add the link. */
struct err *perf_start(const struct perf_spec *s, struct attach *a);
struct err *perf_start_fd(int perf_fd, struct attach *a); /* takes perf_fd */
/* On every online CPU, or on every thread of the processes traced. */
struct err *perf_start_all(struct host *h, const struct unit *u, struct perf_spec *s,
			   struct attach *a);

/* probe_type.able: can such an event be opened for our own process? */
struct err *perf_able(u32 type, u64 config, u64 addr) MUST_USE;

/* ---- user programs: uattach.c ---- */
struct err *user_able(struct host *h);
/* proc_paths() for the processes of a script. */
struct err *user_paths(struct host *h, const struct unit *u, int pid, struct str target,
		       paths *out);
const char *user_point_path(struct host *h, const struct point *p);
/*
 * Call one for each file that p's target names to any of the processes that are traced, with .pid
 * and .target filled in. Where there are several, errors of single files do not matter.
 */
typedef struct err *user_file(struct point *p, const char *real, void *arg);
struct err *user_files(struct host *h, struct unit *u, struct diags *ds, const struct point *p,
		       user_file *one, void *arg);
/* ---- debug information of user programs: udwarf.c ---- */
/* "path@file:line[:column]": .target is the path, .name "file:line[:column]". False: it is not. */
bool source_parse(struct arena *a, struct point *p, struct str text, struct err **e);
bool is_source(const struct point *p);
struct err *source_expand(struct host *h, struct arena *a, const struct point *p, const char *path,
			  const char *real, point_cb *cb, void *arg);
/* The probe type's and the method's callbacks of the same names; types finds args, or retval of a return probe. */
struct err *user_types(struct host *h, struct unit *u, struct point *p);
struct arg_at user_arg_at(struct fn *f, const struct point *p, int n, struct ref into, i32 off);
const struct type *user_type(struct host *h, struct unit *u, const struct point *p, struct str name,
			     enum type_kind kind, bool near);

/* Attach g to places in files: one multi link per file where the kernel has them, else one perf
 * event each. */
struct user_site {
	const struct point *point;
	const char *path;
	u64 off, sem, cookie;
};
typedef VEC(struct user_site) user_sites;
struct err *user_attach(struct host *h, struct unit *u, struct attach *a, user_sites *sites,
			bool ret);
u32 user_load_as(struct host *h, const struct unit *u, const struct prog *g);
/*
 * A place's cookie: the point's id, and how far behind the function's start the place is. So one
 * program can serve many points (method.which), where the kernel has cookies.
 */
static inline u64 user_cookie(const struct point *p, u64 behind)
{
	return behind << 32 | p->id;
}
extern const struct which user_which;
struct ref user_behind(struct fn *f);
