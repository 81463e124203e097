/* vars.c - builtin variables: who, where and when. */
#include "base/clock.h"
#include "builtin/common.h"
#include "proc/proc.h"
#include <linux/bpf.h>
#include <sys/stat.h>

/* ---- process ids ---- */

/* Does sonde run in a pid namespace of its own? Then ids mean what they mean there. */
static bool own_pid_ns(const struct host *h, struct stat *st)
{
	return proc_own_ns(h, st);
}

struct ref builtin_pid_tgid(struct lower *l)
{
	struct fn *f = l->f;
	const struct cache_key key = {.kind = CACHE_NS_PID};
	struct ref ids = lower_cached(l, key);
	struct stat st;
	struct mem m;

	if (ref_is(ids))
		return ids;
	if (!own_pid_ns(l->c->host, &st))
		return lower_helper0(l, BPF_FUNC_get_current_pid_tgid);
	m = lower_tmp(l, 8); /* struct bpf_pidns_info {u32 pid, tgid}; */
	lower_zero(l, m, 8); /* the helper fails for tasks of other namespaces */
	ir_call(f, BPF_FUNC_get_ns_current_pid_tgid,
		ARGS(ir_con(f, st.st_dev), ir_con(f, st.st_ino), lower_addr(l, m), ir_con(f, 8)));
	struct blk *other = ir_blk(f), *done = ir_blk(f);
	struct lower_cache *kept;
	ids = ir_var(f);
	ir_set(f, ids, lower_load(l, 8, false, m));
	ir_br(f, O_EQ, ir_get(f, ids), ir_con(f, 0), other, done);
	ir_at(f, other);
	kept = lower_may_skip_begin(l);
	builtin_outer_ids(l, st.st_ino, ids); /* 0 for those outside */
	lower_may_skip_end(l, kept);
	ir_jmp(f, done);
	ir_at(f, done);
	return lower_cache_put(l, key, ir_get(f, ids));
}

static struct ref id_of(struct lower *l, struct node *call)
{
	if (builtin_arg_is(call, 0, "init"))
		return lower_helper0(l, BPF_FUNC_get_current_pid_tgid);
	return builtin_pid_tgid(l);
}

/* From the task, when the program has that anyway. */
static struct ref from_task(struct lower *l, struct node *call, const char *member)
{
	struct stat st;

	if (!builtin_arg_is(call, 0, "init") && own_pid_ns(l->c->host, &st))
		return REF_NONE;
	return builtin_task_id(l, member);
}

static struct ref lower_pid(struct lower *l, struct node *call, struct mem dst)
{
	struct ref id = from_task(l, call, "tgid");

	(void)dst;
	if (ref_is(id))
		return id;
	return ir_op2(l->f, O_SHR, id_of(l, call), ir_con(l->f, 32));
}

struct ref builtin_pid(struct lower *l)
{
	struct stat st;
	struct ref id = own_pid_ns(l->c->host, &st) ? REF_NONE : builtin_task_id(l, "tgid");

	return ref_is(id) ? id : ir_op2(l->f, O_SHR, builtin_pid_tgid(l), ir_con(l->f, 32));
}

static struct ref lower_tid(struct lower *l, struct node *call, struct mem dst)
{
	struct ref id = from_task(l, call, "pid");

	(void)dst;
	if (ref_is(id))
		return id;
	return ir_op1(l->f, O_EXTU, 4, id_of(l, call));
}

static bool check_pid(struct sema *s, struct node *call)
{
	if (builtin_arg_is(call, 0, "init") || builtin_arg_is(call, 0, "curr_ns"))
		return true;
	return sema_fail(s, E_LITERAL, call_arg(call, 0)->loc,
			 "%.*s() takes a pid namespace: init or curr_ns", STRF(call->name));
}

static struct ref lower_uid(struct lower *l, struct node *call, struct mem dst)
{
	(void)call, (void)dst;
	return ir_op1(l->f, O_EXTU, 4, lower_helper0(l, BPF_FUNC_get_current_uid_gid));
}

static struct ref lower_gid(struct lower *l, struct node *call, struct mem dst)
{
	(void)call, (void)dst;
	return ir_op2(l->f, O_SHR, lower_helper0(l, BPF_FUNC_get_current_uid_gid),
		      ir_con(l->f, 32));
}

static const struct type *type_username_row(struct sema *s, struct node *call)
{
	(void)s, (void)call;
	return &type_username;
}

static const struct type *type_cpid(struct sema *s, struct node *call)
{
	(void)call;
	(void)s;
	return &type_u64;
}

static bool check_cpid(struct sema *s, struct node *call)
{
	if (!s->u->cpid)
		diag_add(s->ds, W_PARAM, call->loc, "No child command (`-c`); cpid is zero");
	node_set_num(call, s->u->cpid, &type_u64);
	return true;
}

static bool check_self_pid(struct sema *s, struct node *call)
{
	node_set_num(call, s->u->self_pid, &type_u64);
	return true;
}

/* Without processes that were named all are: the call is a literal. */
static bool check_watched(struct sema *s, struct node *call)
{
	struct scope *sc = &s->u->scope;
	if (!sc->npid) {
		node_set_num(call, 1, &type_bool);
		return true;
	}
	sc->asked = true;
	if (!call_arg(call, 0) || scope_in_first_ns(sc))
		return true;
	diag_add(s->ds, E_FEATURE, call->loc,
		 "in a PID namespace of its own a tracer does not know the numbers that the kernel "
		 "has for "
		 "processes, as this script needs them for -p and commands; --cgroup works");
	return false;
}

static const struct type *type_all(struct sema *s, struct node *call)
{
	(void)s, (void)call;
	return &type_bool;
}

static bool check_all(struct sema *s, struct node *call)
{
	s->v->everybody = true;
	node_set_num(call, 1, &type_bool);
	return true;
}

static struct ref lower_watched_row(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	return lower_watched(l, call_arg(call, 0));
}

static const struct type *type_has_cpid(struct sema *s, struct node *call)
{
	node_set_num(call, s->u->cpid != 0, &type_bool);
	return &type_bool;
}

/* ---- the machine ---- */
static struct ref lower_cpu(struct lower *l, struct node *call, struct mem dst)
{
	(void)call, (void)dst;
	return ir_op1(l->f, O_EXTU, 4, lower_helper0(l, BPF_FUNC_get_smp_processor_id));
}

static const struct type *type_ncpus(struct sema *s, struct node *call)
{
	node_set_num(call, s->c->host->ncpu, &type_u64);
	return &type_u64;
}

static struct ref lower_numaid(struct lower *l, struct node *call, struct mem dst)
{
	(void)call, (void)dst;
	return ir_op1(l->f, O_EXTU, 4, lower_helper0(l, BPF_FUNC_get_numa_node_id));
}

static struct ref lower_rand(struct lower *l, struct node *call, struct mem dst)
{
	(void)call, (void)dst;
	return ir_op1(l->f, O_EXTU, 4, ir_call(l->f, BPF_FUNC_get_prandom_u32, 0, NULL));
}

static struct ref lower_cgroup(struct lower *l, struct node *call, struct mem dst)
{
	(void)call, (void)dst;
	return lower_helper0(l, BPF_FUNC_get_current_cgroup_id);
}

static struct ref lower_jiffies(struct lower *l, struct node *call, struct mem dst)
{
	(void)call, (void)dst;
	return ir_call(l->f, BPF_FUNC_jiffies64, 0, NULL);
}

/* ---- clocks ---- */

/*
 * A clock is read once per run of a probe (30 to 40 ns each time): all its events have one time.
 * Not so in loops and in probes of sonde's own (begin, end), where scripts may measure themselves.
 */
static struct ref read_clock(struct lower *l, u32 helper)
{
	if (l->loop || (point_flags(l->pt) & PROBE_ONCE))
		return ir_call(l->f, helper, 0, NULL);
	return lower_helper0(l, helper);
}

/* Nanoseconds by which TAI is ahead of the monotonic clock. */
static i64 tai_ahead(void)
{
	return (i64)(clock_ns(CLOCK_TAI) - now_ns());
}

static struct ref lower_nsecs(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	if (builtin_arg_is(call, 0, "boot"))
		return read_clock(l, BPF_FUNC_ktime_get_boot_ns);
	if (builtin_arg_is(call, 0, "tai") && host_has(l->c->host, FEAT_TAI_NS))
		return read_clock(l, BPF_FUNC_ktime_get_tai_ns);
	if (!builtin_arg_is(call, 0, "sw_tai") && !builtin_arg_is(call, 0, "tai"))
		return read_clock(l, BPF_FUNC_ktime_get_ns);
	return ir_addi(l->f, read_clock(l, BPF_FUNC_ktime_get_ns), tai_ahead());
}

/* A u64 that remembers its clock, for strftime. */
static const struct type *type_nsecs(struct sema *s, struct node *call)
{
	bool tai = builtin_arg_is(call, 0, "tai") || builtin_arg_is(call, 0, "sw_tai");
	struct type *t;

	if (!tai && !builtin_arg_is(call, 0, "boot"))
		return &type_u64;
	t = arena_new(s->a, struct type);
	*t = type_u64;
	t->mode = tai ? STAMP_TAI : STAMP_BOOT;
	return t;
}

static bool check_nsecs(struct sema *s, struct node *call)
{
	static const char *const modes[] = {"monotonic", "boot", "tai", "sw_tai"};
	struct node *n = call_arg(call, 0);

	if (n->kind != N_NAME)
		return sema_fail(s, E_TYPE, call->loc,
				 "nsecs() only supports timestamp_mode arguments (%s provided)",
				 builtin_kind(n->type));
	for (u32 i = 0; i < countof(modes); i++)
		if (str_is(n->name, modes[i]))
			return true;
	return sema_fail(s, E_UNKNOWN_NAME, n->loc, "Invalid timestamp mode: %.*s", STRF(n->name));
}

static struct ref lower_elapsed(struct lower *l, struct node *call, struct mem dst)
{
	(void)call, (void)dst;
	return ir_op2(l->f, O_SUB, read_clock(l, BPF_FUNC_ktime_get_ns), lower_start_ns(l));
}

/* ---- context ---- */
static const struct type *type_ctx(struct sema *s, struct node *call)
{
	u32 flags = s->v ? point_flags(s->v->points) : 0;
	struct types *k = host_btf(s->c->host);
	const struct type *t = NULL;

	(void)call;
	if (k)
		t = btf_types_find(
			k, flags & METHOD_EVENT ? STR("bpf_perf_event_data") : STR("pt_regs"),
			T_STRUCT);
	return type_ptr(s->a, t ? t : &type_none, AS_CTX);
}

static struct ref lower_ctx_row(struct lower *l, struct node *call, struct mem dst)
{
	(void)call, (void)dst;
	return lower_ctx(l);
}

static struct ref lower_usermode(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	const struct arch_test *user = &l->c->host->arch->user;
	u32 flags = point_flags(l->pt);
	struct ref v;

	(void)call, (void)dst;
	if (!(flags & (METHOD_REGS | METHOD_EVENT))) /* sonde itself, or a function of the kernel */
		return ir_con(f, (flags & PROBE_ONCE) != 0);
	v = ir_load(f, 8, lower_ctx(l), user->off);
	return ir_op2(f, O_EQ, ir_op2(f, O_AND, v, ir_con(f, user->mask)), ir_con(f, user->value));
}

const struct builtin builtin_vars[] = {
	{"u32 pid", lower_pid, B_OWN, .asks = USE_IDS,
	 .doc = "Process id (thread group id) of the current task."},
	{"u32 pid(name ns)", lower_pid, .asks = USE_IDS, .check = check_pid,
	 .doc = "Process id in the first pid namespace (init) or in that of the tracer (curr_ns)."},
	{"u32 tid", lower_tid, B_OWN, .asks = USE_IDS, .doc = "Thread id of the current task."},
	{"u32 tid(name ns)", lower_tid, .asks = USE_IDS, .check = check_pid,
	 .doc = "Thread id in the first pid namespace (init) or in that of the tracer (curr_ns)."},
	{"u64 uid", lower_uid, .doc = "User id of the current task."},
	{"u64 gid", lower_gid, .doc = "Group id of the current task."},
	{"auto username", lower_uid, .type = type_username_row,
	 .doc = "User name of the current task; looked up when it is printed."},
	{"auto cpid", .flags = B_CONST, .type = type_cpid, .check = check_cpid,
	 .doc = "Process id of the command started with -c; 0 without one."},
	{"auto has_cpid", .flags = B_CONST, .type = type_has_cpid,
	 .doc = "Was a command started with -c?"},
	{"auto self_pid", .flags = B_CONST, .type = type_cpid, .check = check_self_pid,
	 .doc = "Process id of sonde; 0 if sonde runs in a pid namespace, because pid is in the "
		"first namespace."},
	{"bool watched([int pid])", lower_watched_row, .check = check_watched, .asks = USE_IDS,
	 .doc = "True if the process (default: the current one) is selected by -p, or is the "
		"command or one of its children. True if no process is selected. In a script with "
		"watched(), kernel probes fire for all processes."},
	{"auto all_processes", .flags = B_CONST, .type = type_all, .check = check_all,
	 .doc = "True. In the condition of a probe, it makes the probe fire for all processes, "
		"also with -p, --cgroup or a command."},
	{"u64 cpu", lower_cpu, .role = ROLE_CPU,
	 .doc = "Number of the CPU on which the probe runs."},
	{"auto ncpus", .flags = B_CONST, .type = type_ncpus,
	 .doc = "Number of possible CPUs of this machine."},
	{"u64 numaid", lower_numaid, .doc = "NUMA node on which the probe runs."},
	{"u64 rand", lower_rand, .doc = "Random number of 32 bits."},
	{"u64 cgroup", lower_cgroup, .doc = "Id of the current task's cgroup (version 2)."},
	{"u64 jiffies", lower_jiffies, .needs = FEAT_JIFFIES, .doc = "The kernel's tick counter."},
	{"u64 nsecs", lower_nsecs, B_OWN,
	 .doc = "Nanoseconds since boot, not counting suspend. All reads in one run of a probe "
		"give the same time, except "
		"in loops, begin and end."},
	{"auto nsecs(name clock)", lower_nsecs, .type = type_nsecs, .check = check_nsecs,
	 .doc = "Nanoseconds of a clock: monotonic, boot (counts suspend), tai, sw_tai (tai "
		"without the kernel's helper)."},
	{"u64 elapsed", lower_elapsed, .doc = "Nanoseconds since tracing started."},
	{"auto ctx", lower_ctx_row, B_OWN, .role = ROLE_CONTEXT, .asks = USE_REGS | USE_CTX,
	 .where = METHOD_REGS | METHOD_EVENT, .type = type_ctx,
	 .doc = "The program's context: struct pt_regs * in kprobes and uprobes, struct "
		"bpf_perf_event_data * in events."},
	{"u8 usermode", lower_usermode, .asks = USE_REGS,
	 .where = METHOD_REGS | METHOD_EVENT | PROBE_ONCE | PROBE_SIGNATURE,
	 .doc = "1 when the CPU was executing in user mode. In fentry and fexit 0, in begin and "
		"end 1."},
	{0},
};
