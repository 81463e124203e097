/*
 * tp_raw.c - tracepoints without perf events, where the meaning is the same.
 *
 * A perf tracepoint costs 50 ns more per event and 60 to 100 ms to close. So a body that reads no
 * fields runs straight on the raw tracepoint, and many system calls' tracepoints become one typed
 * program on raw_syscalls' tracepoint, which looks its number up in a table.
 *
 * The fields of syscalls:* events are the call's number and arguments, or its number and result. The
 * kernel has no such events for calls of 32-bit and x32 programs: programs find those by the numbers that
 * the calls have there. A few system calls that are not hot keep perf events, which cost the other system calls less; but not where kstack is
 * wanted of a kernel that has no kernel stack for these events.
 *
 * Since Linux 7.2 a program can be preempted there, and until it goes on, the kernel skips it for all
 * that runs on that CPU. The perf events of raw_syscalls are the ones where it cannot: one program on
 * them serves all tracepoints of system calls.
 */
#include "probe/common.h"
#include <linux/btf.h>

enum { MANY_CALLS = 8, NSYSCALL = 512 };

static bool is_call(const struct point *p)
{
	return str_is(p->target, "syscalls");
}

bool call_is_enter(const struct point *p)
{
	return str_starts(p->name, STR("sys_enter_"));
}

/* ---- names of system calls ---- */

/* Where the kernel's function, which names the event, is not called like the system call. */
static const struct {
	const char *event, *call;
} other_names[] = {
	{"newstat", "stat"},           {"newfstat", "fstat"},
	{"newlstat", "lstat"},         {"newuname", "uname"},
	{"sendfile64", "sendfile"},    {"umount", "umount2"},
	{"fadvise64_64", "fadvise64"}, {"arm64_personality", "personality"},
};

struct str call_of_event(struct str event)
{
	struct str name = str_from(event, str_starts(event, STR("sys_enter_")) ? 10 : 9);
	for (u32 i = 0; i < countof(other_names); i++)
		if (str_is(name, other_names[i].event))
			name = str_z(other_names[i].call);
	return name;
}

static u32 call_number(struct host *h, const struct point *p)
{
	u32 nr = arch_call(h->arch, call_of_event(p->name));
	return nr < h->arch->calls.n ? nr : NSYSCALL;
}

/*
 * Hot system calls: either they are a large part of all that a busy machine does, or so short that
 * the event would cost more than the call. Per event, raw programs cost 85 ns where perf events
 * cost 135, but all the other system calls 85 too, not 40: they pay off when half of the calls are
 * meant (docs/internals.md).
 */
static const char *const hot_calls[] = {
	/* files and memory */
	"read",
	"write",
	"pread64",
	"pwrite64",
	"readv",
	"writev",
	"lseek",
	"open",
	"openat",
	"close",
	"stat",
	"fstat",
	"lstat",
	"newfstatat",
	"statx",
	"access",
	"faccessat",
	"fcntl",
	"readlink",
	"mmap",
	"munmap",
	"brk",
	"mprotect",
	"madvise",
	"getdents64",
	/* waiting and talking */
	"futex",
	"poll",
	"ppoll",
	"select",
	"pselect6",
	"epoll_wait",
	"epoll_pwait",
	"epoll_ctl",
	"recvfrom",
	"recvmsg",
	"sendto",
	"sendmsg",
	"ioctl",
	"nanosleep",
	"clock_nanosleep",
	"io_uring_enter",
	"sched_yield",
	/* short */
	"getpid",
	"getppid",
	"gettid",
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"getpgrp",
	"umask",
	"alarm",
	"time",
	"gettimeofday",
	"clock_gettime",
	"getcpu",
	"getrandom",
	"rt_sigprocmask",
	"rt_sigaction",
	"rt_sigreturn",
	"sigaltstack",
	"set_robust_list",
	"membarrier",
	"rseq",
};

static bool is_hot(struct host *h, u32 nr)
{
	const char *name = arch_call_name(&h->arch->calls, nr);
	for (u32 i = 0; name && nr < NSYSCALL && i < countof(hot_calls); i++)
		if (!strcmp(name, hot_calls[i]))
			return true;
	return false;
}

/* ---- one program for many system calls ---- */

static struct ref calls_which(struct fn *f, const struct point *p)
{
	if (call_is_enter(p))
		return ir_load(f, 8, ir_ctx(f), 8);
	struct ref regs = ir_load(f, 8, ir_ctx(f), 0);
	return ir_load(f, f->arch->calls.nr_size, regs, f->arch->calls.nr);
}

/* The word there of the current task. */
static struct ref task_word(struct fn *f, struct host *h, u32 off)
{
	if (host_has(h, FEAT_TASK_BTF))
		return ir_load(f, 4, ir_callp(f, BPF_FUNC_get_current_task_btf, 0, NULL), (i32)off);
	u32 mark = ir_slot_mark(f);
	struct ref slot = ir_slot(f, 4), task = ir_call(f, BPF_FUNC_get_current_task, 0, NULL);
	assert(ref_is(slot)); /* this is the start of the program */
	ir_call(f, BPF_FUNC_probe_read_kernel, ARGS(slot, ir_con(f, 4), ir_addi(f, task, off)));
	struct ref word = ir_load(f, 4, slot, 0);
	ir_slot_release(f, mark);
	return word;
}

/* Leave when this is a call of a 32-bit program. */
static void calls_enter(struct fn *f, struct host *h, const struct point *points, struct blk *out)
{
	(void)points;
	u32 off = 0;
	if (!h->arch->calls.status_compat || !host_compat_word(h, &off))
		return;
	struct ref compat =
		ir_op2(f, O_AND, task_word(f, h, off), ir_con(f, h->arch->calls.status_compat));
	struct blk *native = ir_blk(f);
	ir_br(f, O_EQ, compat, ir_con(f, 0), native, out);
	ir_at(f, native);
}

/* Do these registers have the value that says so? */
static struct ref reg_test(struct fn *f, struct ref regs, const struct arch_test *t)
{
	struct ref v = ir_load(f, 8, regs, t->off);
	return t->mask == ~0ull ? v : ir_op2(f, O_AND, v, ir_con(f, t->mask));
}

/*
 * The same, cheaper where nothing else asks for the task (a call of a helper costs 8 ns): by what
 * calls of 64-bit programs leave in the registers. Where it is not there, the task is asked.
 */
static void calls_enter_by_regs(struct fn *f, struct host *h, const struct point *points,
				struct blk *out)
{
	const struct arch_calls *c = &h->arch->calls;
	struct ref regs = ir_load(f, 8, ir_ctx(f), 0);
	struct blk *ask = c->status_compat ? ir_blk(f) : out, *native = ir_blk(f), *next;
	for (u32 i = 0; i < c->nsame; i++) {
		next = ir_blk(f);
		ir_br(f, O_EQ, ir_load(f, 8, regs, c->same[i].a), ir_load(f, 8, regs, c->same[i].b),
		      next, ask);
		ir_at(f, next);
	}
	ir_br(f, O_EQ, reg_test(f, regs, &h->arch->native), ir_con(f, h->arch->native.value),
	      native, ask);
	if (c->status_compat) {
		ask->unlikely = true;
		ir_at(f, ask);
		calls_enter(f, h, points, out);
		ir_jmp(f, native);
	}
	ir_at(f, native);
}

/* Field 0 is the number, the next ones the arguments or the result. */
struct ref call_arg_of(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (n == 0)
		return calls_which(f, p);
	if (!call_is_enter(p))
		return ir_load(f, 8, ir_ctx(f), 8);
	assert(n >= 1 && n <= ARCH_CALL_ARGS);
	return ir_load(f, 8, ir_load(f, 8, ir_ctx(f), 0), h->arch->calls.arg[n - 1]);
}

/* ---- the same on a perf event ---- */

/* struct trace_event_raw_sys_enter and _exit: id, then the arguments or the result. */
enum { EVENT_ID = 8, EVENT_ARG = 16 };

static struct ref event_which(struct fn *f, const struct point *p)
{
	(void)p;
	return ir_load(f, 8, ir_ctx(f), EVENT_ID);
}

static struct ref event_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	(void)h, (void)p;
	return ir_load(f, 8, ir_ctx(f), n ? EVENT_ARG + (n - 1) * 8 : EVENT_ID);
}

static struct ref event_twin_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (!call_is_enter(p))
		return event_arg(f, h, p, n);
	return call_narrow_arg(f, p, n, ir_ctx(f), EVENT_ARG + (n - 1) * 8);
}

static struct err *event_attach(struct host *h, struct unit *u, struct attach *a)
{
	(void)u;
	return tracepoint_start(h, a, STR("raw_syscalls"),
				call_is_enter(a->prog->points) ? STR("sys_enter")
							       : STR("sys_exit"));
}

/* What the raw tracepoint passes: the registers, then the number or the result. */
static struct ref raw_event_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	(void)h;
	if (n)
		return ir_load(f, 8, ir_ctx(f),
			       str_is(p->name, "sys_enter") ? EVENT_ID : EVENT_ARG);
	return ir_callp(f, BPF_FUNC_task_pt_regs,
			ARGS(ir_callp(f, BPF_FUNC_get_current_task_btf, 0, NULL)));
}

static struct err *raw_event_attach(struct host *h, struct unit *u, struct attach *a)
{
	(void)u;
	return tracepoint_start(h, a, STR("raw_syscalls"), a->prog->points->name);
}

static struct err *raw_attach(struct host *h, struct unit *u, struct attach *a,
			      const struct point *p)
{
	(void)h, (void)u;
	int fd;
	char name[128];
	snprintf(name, sizeof(name), "%.*s", STRF(p->name));
	struct err *e = bpf_raw_tp(a->fd, name, &fd);
	if (!e)
		link_add(&a->links, fd, -1);
	return e;
}

struct err *rawtp_attach_names(struct host *h, struct unit *u, struct attach *a)
{
	return attach_points(h, u, a, raw_attach);
}

/* ---- the choice ---- */

static u32 tracepoint_id(struct host *h, const char *name)
{
	struct types *k = host_btf(h);
	return k ? btf_types_id(k, str_z(name), BTF_KIND_TYPEDEF) : 0;
}

bool calls_preempted(struct host *h, const struct point *p)
{
	return (is_call(p) || str_is(p->target, "raw_syscalls")) &&
	       host_has(h, FEAT_CALLS_PREEMPTED);
}

/* Only 32-bit programs have it. */
static bool is_compat_call(struct host *h, const struct point *p)
{
	struct twin t;
	return call_number(h, p) == NSYSCALL && call_twin(h, p, 0, &t);
}

/* Each has a number, and its fields are those that all have. */
static bool all_plain(const struct ask *q)
{
	for (const struct point *p = q->points; p; p = p->next)
		if ((call_number(q->h, p) == NSYSCALL && !is_compat_call(q->h, p)) ||
		    (p->args && p->args->nfield > 7))
			return false;
	return true;
}

static bool calls_event_fits(const struct ask *q)
{
	u32 off;
	struct host *h = q->h;
	if (!is_call(q->points) || !calls_preempted(h, q->points) || !all_plain(q) ||
	    (h->arch->calls.status_compat && !host_compat_word(h, &off)))
		return false;
	for (struct point *p = q->points; p; p = p->next)
		p->args_space = AS_KERNEL; /* each by event_arg() */
	return true;
}

static bool raw_calls_event_fits(const struct ask *q)
{
	struct point *p = q->points;
	bool ours = p->btf_id && !p->next &&
		    (str_is(p->name, "sys_enter") || str_is(p->name, "sys_exit"));
	if (!ours || (q->use & (USE_REGS | USE_PROGRAM)) || !host_has(q->h, FEAT_CALLS_PREEMPTED) ||
	    !host_has(q->h, FEAT_TASK_REGS) || !host_has(q->h, FEAT_TASK_BTF))
		return false;
	p->btf_id = 0;
	return true;
}

/* A program for a hot call may as well look for others: most of its cost is paid. */
static bool any_hot(struct host *h, const struct point *p)
{
	for (; p; p = p->next)
		if (is_hot(h, call_number(h, p)) || is_compat_call(h, p))
			return true;
	return false;
}

/* task: the method that asks for the current task, or the other. */
static bool choose_calls(const struct ask *q, bool task)
{
	u32 off;
	struct host *h = q->h;
	bool hot = !(q->use & (USE_KSTACK | USE_REGS)), no_stack = (q->use & USE_KSTACK) != 0;
	bool status = h->arch->calls.status_compat != 0;
	bool asks = status && (q->use & (USE_TASK | USE_IDS | USE_USTACK));
	if (asks != task || !is_call(q->points) || calls_preempted(h, q->points))
		return false;
	hot = hot && any_hot(h, q->points);
	no_stack = no_stack && !host_has(h, FEAT_CALL_KSTACK);
	bool wanted = hot || q->n >= MANY_CALLS || no_stack;
	if (!wanted || !host_has(h, FEAT_TP_BTF) || (status && !host_compat_word(h, &off)))
		return false;
	u32 id = tracepoint_id(h, call_is_enter(q->points) ? "btf_trace_sys_enter"
							   : "btf_trace_sys_exit");
	if (id && !all_plain(q))
		return false;
	for (struct point *p = q->points; p && id; p = p->next) {
		p->btf_id = id;
		p->args_space = AS_KERNEL; /* each by call_arg_of() */
	}
	return id;
}

static bool calls_fits(const struct ask *q)
{
	return choose_calls(q, true);
}

static bool calls_by_regs_fits(const struct ask *q)
{
	return choose_calls(q, false);
}

/* Fields are not read; and a raw program's stack has frames of its own on top. */
static bool raw_fits(const struct ask *q)
{
	/* Recordings of what machines had before that are compiled as they always were. */
	if (is_call(q->points) || (q->h->recorded && !host_has(q->h, FEAT_TP_BTF)) ||
	    (q->use & (USE_ARGS | USE_ARGN | USE_RETVAL | USE_KSTACK)) ||
	    calls_preempted(q->h, q->points))
		return false;
	for (const struct point *p = q->points; p; p = p->next)
		if (!tracepoint_id(q->h, arena_fmt(q->h->arena, "btf_trace_%.*s", STRF(p->name))))
			return false;
	return true;
}

/* ---- the methods ---- */

static const struct which which_call = {calls_which, call_number, NSYSCALL, call_twin,
					call_twin_arg};

#define CALLS_METHOD                                                                               \
	.prog_type = BPF_PROG_TYPE_TRACING, .attach_type = BPF_TRACE_RAW_TP, .which = &which_call, \
	.arg = call_arg_of, .attach = rawtp_attach
const struct method method_calls = {
	CALLS_METHOD,
	.flags = METHOD_TASK,
	.fits = calls_fits,
	.enter = calls_enter,
};
const struct method method_calls_by_regs = {
	CALLS_METHOD,
	.fits = calls_by_regs_fits,
	.enter = calls_enter_by_regs,
};

static const struct which which_event = {event_which, call_number, NSYSCALL, call_twin,
					 event_twin_arg};

const struct method method_calls_event = {
	.prog_type = BPF_PROG_TYPE_TRACEPOINT,
	.flags = METHOD_LINGERS | METHOD_TASK,
	.which = &which_event,
	.fits = calls_event_fits,
	.enter = calls_enter,
	.arg = event_arg,
	.attach = event_attach,
};

const struct method method_raw_calls_event = {
	.prog_type = BPF_PROG_TYPE_TRACEPOINT,
	.flags = METHOD_LINGERS | METHOD_TASK,
	.fits = raw_calls_event_fits,
	.arg = raw_event_arg,
	.attach = raw_event_attach,
};

const struct method method_tp_raw = {
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.fits = raw_fits,
	.attach = rawtp_attach_names,
};
