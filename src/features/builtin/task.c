/*
 * task.c - the current task and its relatives: curtask comm ppid pcomm leader_tid leader_comm.
 *
 * Members of task_struct are loaded directly where the kernel lets us (0 ns instead of 25 each),
 * else through probe_read_kernel.
 */
#include "builtin/common.h"
#include <linux/bpf.h>

enum { COMM = 16 };

static const struct type *task_struct(struct host *h)
{
	struct types *k = host_btf(h);

	return k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
}

static enum space task_space(const struct compile *c, const struct variant *v)
{
	bool typed = !(v && v->points->code_refused) && task_struct(c->host) &&
		     host_has(c->host, FEAT_TASK_BTF);

	return typed ? AS_BTF : AS_KERNEL;
}

static struct ref task(struct lower *l)
{
	bool typed = task_space(l->c, l->v) == AS_BTF;

	return lower_helper0(l, typed ? BPF_FUNC_get_current_task_btf : BPF_FUNC_get_current_task);
}

/* The call's task argument, else the current task. */
static struct ref subject(struct lower *l, struct node *call, enum space *space)
{
	struct node *arg = call_arg(call, 0);

	*space = task_space(l->c, l->v);
	if (!arg)
		return task(l);
	*space = arg->type->kind == T_PTR && arg->type->space == AS_BTF ? AS_BTF : AS_KERNEL;
	return lower_value(l, arg);
}

static u32 offset(const struct field *m)
{
	return m->bit_off / 8;
}

/* tgid or pid as the first pid namespace has them; none when a helper gives them as cheaply. */
struct ref builtin_task_id(struct lower *l, const char *member)
{
	struct field m;
	struct cache_key helper = {CACHE_HELPER, BPF_FUNC_get_current_pid_tgid};
	struct ref id;

	if (!l->v->task || task_space(l->c, l->v) != AS_BTF || ref_is(lower_cached(l, helper)) ||
	    !type_field(task_struct(l->c->host), str_z(member), &m) || m.type->size != 4)
		return REF_NONE;
	struct cache_key key = {CACHE_TASK_ID, offset(&m)};
	id = lower_cached(l, key);
	if (ref_is(id))
		return id;
	id = lower_read_scalar(l, &type_u32, task(l), (i32)offset(&m), AS_BTF);
	return lower_cache_put(l, key, id);
}

/* Follow a pointer member of task_struct. */
static struct ref follow(struct lower *l, struct ref from, const char *member, enum space space)
{
	struct field m;

	if (!type_field(task_struct(l->c->host), str_z(member), &m))
		return ir_con(l->f, 0); /* check_task() has reported it */
	return lower_read_scalar(l, m.type, from, (i32)offset(&m), space);
}

/* ---- ids in the pid namespaces between the first one and the task's own ---- */

/* struct pid: .level, and .numbers: a struct upid for each level. */
struct pid_layout {
	u32 level, numbers, upid, nr, ns, inum; /* offsets; upid: size */
};

static bool member(struct types *k, const char *of, const char *name, struct field *m)
{
	const struct type *t = btf_types_find(k, str_z(of), T_STRUCT);

	return t && type_field(t, str_z(name), m);
}

static bool pid_layout(struct host *h, struct pid_layout *ret)
{
	struct types *k = host_btf(h);
	struct field m, ns;

	if (!k || !task_struct(h) || !type_field(task_struct(h), STR("thread_pid"), &m) ||
	    !member(k, "pid_namespace", "ns", &ns) || !member(k, "ns_common", "inum", &m))
		return false;
	ret->inum = offset(&ns) + offset(&m);
	if (!member(k, "upid", "nr", &m) || !member(k, "upid", "ns", &ns))
		return false;
	ret->nr = offset(&m);
	ret->ns = offset(&ns);
	ret->upid = btf_types_find(k, STR("upid"), T_STRUCT)->size;
	if (!member(k, "pid", "level", &m) || !member(k, "pid", "numbers", &ns))
		return false;
	ret->level = offset(&m);
	ret->numbers = offset(&ns);
	return true;
}

static struct ref number_at(struct lower *l, struct ref pid, struct ref at)
{
	return lower_read_scalar(l, &type_u32, ir_op2(l->f, O_ADD, pid, at), 0, AS_KERNEL);
}

/*
 * Process and thread id of the current task in the pid namespace ino into var ids, when that is
 * above the task's own: the kernel's helper knows only the latter.
 */
void builtin_outer_ids(struct lower *l, u64 ino, struct ref ids)
{
	enum { DEPTH = 6 };
	struct fn *f = l->f;
	struct pid_layout p;

	if (!pid_layout(l->c->host, &p))
		return;
	struct blk *found = ir_blk(f), *done = ir_blk(f);
	struct ref t = ir_call(f, BPF_FUNC_get_current_task, 0, NULL), at = ir_var(f);
	struct ref pid = follow(l, t, "thread_pid", AS_KERNEL);
	struct ref leader =
		follow(l, follow(l, t, "group_leader", AS_KERNEL), "thread_pid", AS_KERNEL);
	struct ref level = lower_read_scalar(l, &type_u32, pid, (i32)p.level, AS_KERNEL);
	for (u32 i = 1; i <= DEPTH; i++) {
		struct blk *deeper = ir_blk(f), *next = ir_blk(f);
		u32 upid = p.numbers + i * p.upid;
		ir_br(f, O_ULT, ir_con(f, i), level, deeper, done);
		ir_at(f, deeper);
		struct ref ns = lower_read_scalar(l, &type_u64, pid, (i32)(upid + p.ns), AS_KERNEL);
		struct ref inum = lower_read_scalar(l, &type_u32, ns, (i32)p.inum, AS_KERNEL);
		ir_set(f, at, ir_con(f, upid + p.nr));
		ir_br(f, O_EQ, inum, ir_con(f, ino), found, next);
		ir_at(f, next);
	}
	ir_jmp(f, done);
	ir_at(f, found);
	struct ref hi = ir_op2(f, O_SHL, number_at(l, leader, ir_get(f, at)), ir_con(f, 32));
	ir_set(f, ids, ir_op2(f, O_OR, hi, number_at(l, pid, ir_get(f, at))));
	ir_jmp(f, done);
	ir_at(f, done);
}

static struct ref lower_curtask(struct lower *l, struct node *call, struct mem dst)
{
	(void)call, (void)dst;
	return task(l);
}

static const struct type *type_curtask(struct sema *s, struct node *call)
{
	const struct type *t = task_struct(s->c->host);

	(void)call;
	return type_ptr(s->a, t ? t : &type_none, task_space(s->c, s->v));
}

/*
 * comm of a task into dst: two direct loads where comm is padded with zeros. It is since
 * Linux 5.17, the version that also brought bpf_loop; with garbage behind the text, equal names
 * would be different map keys.
 */
static void put_comm(struct lower *l, struct ref t, enum space space, bool current, struct mem dst)
{
	struct field m;
	bool known =
		task_struct(l->c->host) && type_field(task_struct(l->c->host), STR("comm"), &m);

	bool loose = dst.loose;
	u32 w = loose || dst.off % 8 == 0 ? 8 : 4; /* bytes at a time */
	if (known && space == AS_BTF && offset(&m) % 8 == 0 && (loose || dst.off % 4 == 0) &&
	    host_has(l->c->host, FEAT_LOOP)) {
		for (u32 i = 0; i < COMM; i += w)
			lower_store(l, w, mem_at(dst, (i32)i),
				    lower_read_scalar(l, type_int(w, false), t,
						      (i32)(offset(&m) + i), space));
	} else if (current) {
		/* the helper of some kernels (6.1) leaves what was behind the text */
		if (!mem_untold(dst).nopad)
			lower_zero(l, dst, COMM);
		ir_call(l->f, BPF_FUNC_get_current_comm,
			ARGS(lower_addr(l, dst), ir_con(l->f, COMM)));
	} else if (known) {
		lower_read_str(l, dst, COMM, ir_addi(l->f, t, offset(&m)), AS_KERNEL);
	} else {
		lower_zero(l, dst, COMM);
	}
}

static struct ref lower_comm(struct lower *l, struct node *call, struct mem dst)
{
	bool typed = task_space(l->c, l->v) == AS_BTF;

	(void)call;
	put_comm(l, typed ? task(l) : REF_NONE, task_space(l->c, l->v), true, dst);
	return REF_NONE;
}

static struct ref lower_pcomm(struct lower *l, struct node *call, struct mem dst)
{
	enum space space;
	struct ref t = subject(l, call, &space);

	put_comm(l, follow(l, t, "real_parent", space), space, false, dst);
	return REF_NONE;
}

static struct ref lower_leader_comm(struct lower *l, struct node *call, struct mem dst)
{
	enum space space;
	struct ref t = subject(l, call, &space);

	put_comm(l, follow(l, t, "group_leader", space), space, false, dst);
	return REF_NONE;
}

static struct ref lower_ppid(struct lower *l, struct node *call, struct mem dst)
{
	enum space space;
	struct ref t = subject(l, call, &space);

	(void)dst;
	return follow(l, follow(l, t, "real_parent", space), "tgid", space);
}

static struct ref lower_leader_tid(struct lower *l, struct node *call, struct mem dst)
{
	enum space space;
	struct ref t = subject(l, call, &space);

	(void)dst;
	return follow(l, follow(l, t, "group_leader", space), "pid", space);
}

static bool check_task(struct sema *s, struct node *call)
{
	static const char *const members[] = {"real_parent", "group_leader", "tgid", "pid", "comm"};
	const struct type *t = task_struct(s->c->host);
	struct node *arg = call_arg(call, 0);
	struct field m;

	if (arg && arg->type->kind != T_PTR && !type_is_int(arg->type))
		return sema_fail(s, E_TYPE, arg->loc,
				 "%.*s() expects a pointer to a struct task_struct (%s provided)",
				 STRF(call->name), builtin_kind(arg->type));
	for (u32 i = 0; i < countof(members); i++)
		if (!t || !type_field(t, str_z(members[i]), &m))
			return sema_fail(s, E_FEATURE, call->loc,
					 "%.*s needs the kernel's BTF: %s of struct task_struct",
					 STRF(call->name), members[i]);
	return true;
}

const struct builtin builtin_task[] = {
	{"auto curtask", lower_curtask, .role = ROLE_TASK, .asks = USE_TASK, .type = type_curtask,
	 .doc = "The current task: struct task_struct *."},
	{"string[16] comm", lower_comm, B_ROW, .asks = USE_TASK,
	 .doc = "Name of the current thread."},
	{"int32 ppid", lower_ppid, .asks = USE_TASK, .needs = FEAT_BTF, .check = check_task,
	 .doc = "Process id of the parent."},
	{"int32 ppid(any task)", lower_ppid, .needs = FEAT_BTF, .check = check_task,
	 .doc = "Process id of a task's parent."},
	{"string[16] pcomm", lower_pcomm, .asks = USE_TASK, .needs = FEAT_BTF, .check = check_task,
	 .doc = "Name of the parent."},
	{"string[16] pcomm(any task)", lower_pcomm, .needs = FEAT_BTF, .check = check_task,
	 .doc = "Name of a task's parent."},
	{"int32 leader_tid", lower_leader_tid, .asks = USE_TASK, .needs = FEAT_BTF,
	 .check = check_task, .doc = "Thread id of the thread group's leader."},
	{"int32 leader_tid(any task)", lower_leader_tid, .needs = FEAT_BTF, .check = check_task,
	 .doc = "Thread id of the leader of a task's thread group."},
	{"string[16] leader_comm", lower_leader_comm, .asks = USE_TASK, .needs = FEAT_BTF,
	 .check = check_task, .doc = "Name of the thread group's leader."},
	{"string[16] leader_comm(any task)", lower_leader_comm, .needs = FEAT_BTF,
	 .check = check_task, .doc = "Name of the leader of a task's thread group."},
	{0},
};
