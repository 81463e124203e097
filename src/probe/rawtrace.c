/*
 * rawtrace.c - tracepoints without perf events, where the meaning is the same.
 *
 * A perf tracepoint costs 50 ns more per event and 60 to 100 ms to close. So a body that reads no
 * fields runs straight on the raw tracepoint, and many system calls' tracepoints become one typed
 * program on raw_syscalls' tracepoint, which looks its number up in a table.
 *
 * The fields of syscalls:* events are the call's number and arguments, or its number and result;
 * calls of 32-bit programs are left out, as those events leave them out. A few system calls that
 * are not hot keep perf events, which cost the other system calls less; but not where kstack is
 * wanted of a kernel that has no kernel stack for these events.
 */
#include "kern/regs.h"
#include "probe/common.h"
#include <linux/btf.h>

enum { MANY_CALLS = 8, NSYSCALL = 512, TS_COMPAT = 2 };

static bool is_call(const struct point *p)
{
	return str_is(p->target, "syscalls");
}

static bool is_enter(const struct point *p)
{
	return str_starts(p->name, STR("sys_enter_"));
}

/* ---- names of system calls ---- */

static const char *const calls[NSYSCALL] = {
#if defined(__x86_64__)
#define S(nr, name) [nr] = name,
#include "kern/syscalls.def"
#endif
};

/* Where the kernel's function, which names the event, is not called like the system call. */
static const struct {
	const char *event, *call;
} other_names[] = {
	{"newstat", "stat"},   {"newfstat", "fstat"},      {"newlstat", "lstat"},
	{"newuname", "uname"}, {"sendfile64", "sendfile"}, {"umount", "umount2"},
};

static u32 call_number(const struct point *p)
{
	struct str name = str_from(p->name, is_enter(p) ? 10 : 9);
	for (u32 i = 0; i < countof(other_names); i++)
		if (str_is(name, other_names[i].event))
			name = str_z(other_names[i].call);
	for (u32 i = 0; i < NSYSCALL; i++)
		if (calls[i] && str_is(name, calls[i]))
			return i;
	return NSYSCALL;
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

static bool is_hot(u32 nr)
{
	for (u32 i = 0; nr < NSYSCALL && i < countof(hot_calls); i++)
		if (calls[nr] && !strcmp(calls[nr], hot_calls[i]))
			return true;
	return false;
}

/* ---- one program for many system calls ---- */

static struct ref calls_which(struct fn *f, const struct point *p)
{
	if (is_enter(p))
		return ir_load(f, 8, ir_ctx(f), 8);
	struct ref regs = ir_load(f, 8, ir_ctx(f), 0);
	return ir_load(f, 8, regs, REGS_CALL_NR);
}

/* current->thread_info.status says whether this is a 32-bit call. */
static bool status_offset(struct host *h, u32 *off)
{
	struct types *k = host_btf(h);
	const struct type *task = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	struct field info, status;
	if (!task || !type_field(task, STR("thread_info"), &info) ||
	    !type_field(info.type, STR("status"), &status))
		return false;
	*off = (info.bit_off + status.bit_off) / 8;
	return status.type->size == 4;
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
	if (!status_offset(h, &off))
		return;
	struct ref compat = ir_op2(f, O_AND, task_word(f, h, off), ir_con(f, TS_COMPAT));
	struct blk *native = ir_blk(f);
	ir_br(f, O_EQ, compat, ir_con(f, 0), native, out);
	ir_at(f, native);
}

/*
 * The same, cheaper where nothing else asks for the task (a call of a helper costs 8 ns): the
 * instruction of 64-bit calls leaves its own address in cx and the flags in r11, where the kernel
 * looks for them when it returns. Where they are different, the task is asked.
 */
static void calls_enter_by_regs(struct fn *f, struct host *h, const struct point *points,
				struct blk *out)
{
	static const i32 pair[][2] = {{REGS_CX, REGS_IP}, {REGS_R11, REGS_FLAGS}};
	struct ref regs = ir_load(f, 8, ir_ctx(f), 0);
	struct blk *ask = ir_blk(f), *native = ir_blk(f), *next;
	for (u32 i = 0; i < countof(pair); i++) {
		next = ir_blk(f);
		ir_br(f, O_EQ, ir_load(f, 8, regs, pair[i][0]), ir_load(f, 8, regs, pair[i][1]),
		      next, ask);
		ir_at(f, next);
	}
	ir_br(f, O_EQ, ir_load(f, 8, regs, REGS_CS), ir_con(f, REGS_USER_CS), native, ask);
	ask->unlikely = true;
	ir_at(f, ask);
	calls_enter(f, h, points, out);
	ir_jmp(f, native);
	ir_at(f, native);
}

/* Field 0 is the number, the next ones the arguments or the result. */
static struct ref calls_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	(void)h;
	static const u32 regs_at[] = REGS_CALL_ARGS;
	if (n == 0)
		return calls_which(f, p);
	if (!is_enter(p))
		return ir_load(f, 8, ir_ctx(f), 8);
	assert(n >= 1 && (u32)n <= countof(regs_at));
	return ir_load(f, 8, ir_load(f, 8, ir_ctx(f), 0), (i32)regs_at[n - 1]);
}

static struct err *raw_attach(struct host *h, struct unit *u, struct prog *g, const struct point *p,
			      struct link **list)
{
	(void)h, (void)u;
	int fd;
	char name[128];
	snprintf(name, sizeof(name), "%.*s", STRF(p->name));
	struct err *e = bpf_raw_tp(g->fd, name, &fd);
	if (!e)
		link_add(list, fd, -1);
	return e;
}

struct err *rawtp_attach_names(struct host *h, struct unit *u, struct prog *g, struct link **list)
{
	return attach_points(h, u, g, raw_attach, list);
}

#define CALLS_PROVIDER(more_flags, how_to_enter)                                     \
	{                                                                            \
		.name = "tracepoint", .syntax = "tracepoint:syscalls:event",         \
		.doc = "Many system calls' tracepoints by one program.",             \
		.prog_type = BPF_PROG_TYPE_TRACING, .attach_type = BPF_TRACE_RAW_TP, \
		.flags = PF_KERNEL | PF_PIDFILTER | PF_STACKS | (more_flags),        \
		.which = calls_which, .number = call_number, .nwhich = NSYSCALL,     \
		.enter = (how_to_enter), .arg = calls_arg, .attach = rawtp_attach,   \
	}
static const struct provider provider_calls = CALLS_PROVIDER(PF_TASK, calls_enter);
static const struct provider provider_calls_taskless = CALLS_PROVIDER(0, calls_enter_by_regs);

static const struct provider provider_events = {
	.name = "tracepoint",
	.syntax = "tracepoint:category:event",
	.doc = "A tracepoint whose fields are not read.",
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.flags = PF_KERNEL | PF_PIDFILTER | PF_STACKS,
	.attach = rawtp_attach_names,
};

/* ---- the choice ---- */

static u32 tracepoint_id(struct host *h, const char *name)
{
	struct types *k = host_btf(h);
	return k ? btf_types_id(k, str_z(name), BTF_KIND_TYPEDEF) : 0;
}

static const struct provider *choose_calls(struct host *h, struct point *points, u32 n, u32 use)
{
	u32 off;
	bool hot = !(use & (USE_KSTACK | USE_REGS)), no_stack = (use & USE_KSTACK) != 0;
	for (const struct point *p = points; p; p = p->next)
		hot &= is_hot(call_number(p));
	no_stack = no_stack && !host_has(h, FEAT_CALL_KSTACK);
	bool wanted = hot || n >= MANY_CALLS || no_stack;
	if (!wanted || !host_has(h, FEAT_TP_BTF) || !status_offset(h, &off))
		return NULL;
	u32 id = tracepoint_id(h, is_enter(points) ? "btf_trace_sys_enter" : "btf_trace_sys_exit");
	if (!id)
		return NULL;
	for (const struct point *p = points; p; p = p->next)
		if (call_number(p) == NSYSCALL || (p->args && p->args->nfield > 7))
			return NULL;
	for (struct point *p = points; p; p = p->next) {
		p->btf_id = id;
		p->args_space = AS_KERNEL; /* each by calls_arg() */
	}
	bool task = (use & (USE_TASK | USE_IDS | USE_USTACK)) || !REGS_CX;
	return task ? &provider_calls : &provider_calls_taskless;
}

const struct provider *rawtrace_choose(struct host *h, struct unit *u, struct point *points, u32 n,
				       u32 use)
{
	if (h->recorded || u->config.plain)
		return NULL;
	if (is_call(points))
		return choose_calls(h, points, n, use);
	if (use & USE_ARGS)
		return rawevent_choose(h, u, points, use);
	if (use & (USE_ARGN | USE_RETVAL |
		   USE_KSTACK)) /* a raw program's stack has frames of its own on top */
		return NULL;
	for (const struct point *p = points; p; p = p->next)
		if (!tracepoint_id(h, arena_fmt(u->arena, "btf_trace_%.*s", STRF(p->name))))
			return NULL;
	return &provider_events;
}
