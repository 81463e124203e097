/*
 * scope.c - the filter that a program begins with: only what the traced processes do counts.
 *
 * One process is a comparison with a constant. Programs that are attached per process need none,
 * except where the kernel lets others through.
 */
#include "lower/lower.h"

enum {
	NS_INFO_SIZE = 8,
	NS_INFO_TGID = 4,       /* struct bpf_pidns_info */
	MAX_FOLLOWED = 1 << 22, /* there are no more process ids */
};

static bool wants_pids(const struct scope *s, u32 flags)
{
	if (!s->npid)
		return false;
	if (flags & PROBE_PIDFILTER)
		return scope_filters(s);
	/* Return probes of one process also fire in others that somebody else traces (seen on 6.1).
	 */
	return (flags & PROBE_USER) && (s->follow || (flags & PROBE_RETVAL));
}

static struct ref current_tgid(struct lower *l)
{
	struct ref id = lower_helper0(l, BPF_FUNC_get_current_pid_tgid);
	return ir_op2(l->f, O_SHR, id, ir_con(l->f, 32));
}

/* Goes to go when the process of this id is in the map; else the code goes on. */
static void if_in_map(struct lower *l, struct ref id, struct blk *go)
{
	struct fn *f = l->f;
	struct blk *miss = ir_blk(f);
	u32 mark = ir_slot_mark(f);
	struct ref key = ir_slot(f, 8);
	ir_store(f, 4, key, 0, id);
	struct ref p =
		ir_call(f, BPF_FUNC_map_lookup_elem, ARGS(ir_map(l->u->scope.pids->index), key));
	ir_slot_release(f, mark);
	ir_br(f, O_NE, p, ir_con(f, 0), go, miss);
	ir_at(f, miss);
}

static void if_equal(struct lower *l, struct ref id, u64 want, struct blk *go)
{
	struct blk *next = ir_blk(l->f);
	ir_br(l->f, O_EQ, id, ir_con(l->f, want), go, next);
	ir_at(l->f, next);
}

/* The current process as pid namespace p->ino knows it; 0 in others. */
static struct ref tgid_in(struct lower *l, const struct scope_pid *p)
{
	struct fn *f = l->f;
	u32 mark = ir_slot_mark(f);
	struct ref info = ir_slot(f, NS_INFO_SIZE);
	ir_store(f, 8, info, 0, ir_con(f, 0));
	ir_call(f, BPF_FUNC_get_ns_current_pid_tgid,
		ARGS(ir_con(f, p->dev), ir_con(f, p->ino), info, ir_con(f, NS_INFO_SIZE)));
	struct ref id = ir_load(f, 4, info, NS_INFO_TGID);
	ir_slot_release(f, mark);
	return id;
}

static bool same_ns(const struct scope_pid *x, const struct scope_pid *y)
{
	return x->ino == y->ino && x->dev == y->dev;
}

/* Each namespace is asked once, at its first process. */
static void if_in_ns(struct lower *l, struct blk *go)
{
	const struct scope *s = &l->u->scope;
	for (u32 i = 0; i < s->npid; i++) {
		bool seen = false;
		for (u32 k = 0; k < i && !seen; k++)
			seen = same_ns(&s->pid[k], &s->pid[i]);
		if (seen)
			continue;
		struct ref id = tgid_in(l, &s->pid[i]);
		for (u32 k = i; k < s->npid; k++)
			if (same_ns(&s->pid[k], &s->pid[i]))
				if_equal(l, id, s->pid[k].id, go);
	}
}

static void filter_pids(struct lower *l, struct blk *out)
{
	const struct scope *s = &l->u->scope;
	struct blk *go = ir_blk(l->f);
	bool first = scope_in_first_ns(s);
	if (s->pids)
		if_in_map(l, current_tgid(l), go);
	if (!first)
		if_in_ns(l, go);
	for (u32 i = 0; i < s->npid && first && !s->pids; i++)
		if_equal(l, current_tgid(l), s->pid[i].id, go);
	ir_jmp(l->f, out);
	ir_at(l->f, go);
}

struct ref lower_watched(struct lower *l, struct node *id)
{
	const struct scope *s = &l->u->scope;
	struct fn *f = l->f;
	struct ref result = ir_var(f);
	struct blk *go = ir_blk(f), *out = ir_blk(f), *done = ir_blk(f);
	if (id) {
		struct ref v = ir_op1(f, O_EXTU, 4, lower_value(l, id));
		assert(scope_in_first_ns(s));
		if (s->pids)
			if_in_map(l, v, go);
		for (u32 i = 0; i < s->npid && !s->pids; i++)
			if_equal(l, v, s->pid[i].id, go);
		ir_jmp(f, out);
		ir_at(f, go);
	} else {
		filter_pids(l, out);
	}
	ir_set(f, result, ir_con(f, 1));
	ir_jmp(f, done);
	ir_at(f, out);
	ir_set(f, result, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, result);
}

static void filter_cgroups(struct lower *l, struct blk *out)
{
	struct fn *f = l->f;
	const struct scope *s = &l->u->scope;
	struct blk *go = ir_blk(f);
	for (u32 i = 0; i < s->ncgroup; i++) /* 1: it is; 0: not; or an error */
		if_equal(l,
			 ir_call(f, BPF_FUNC_current_task_under_cgroup,
				 ARGS(ir_map(s->cgroups->index), ir_con(f, i))),
			 1, go);
	ir_jmp(f, out);
	ir_at(f, go);
}

void lower_scope(struct lower *l, struct blk *out)
{
	const struct scope *s = &l->u->scope;
	u32 flags = point_flags(l->pt);
	if ((flags & (PROBE_ONCE | PROBE_NOBODY)) || l->v->everybody)
		return;
	if (wants_pids(s, flags))
		filter_pids(l, out);
	if (s->ncgroup)
		filter_cgroups(l, out);
}

void lower_scope_maps(struct compile *c)
{
	struct unit *u = c->unit;
	struct scope *s = &u->scope;
	bool many = s->npid > SCOPE_COMPARES && scope_in_first_ns(s);
	if (s->follow || many) {
		s->pids = unit_map(c, MAP_AUX, "pids");
		s->pids->map_type = BPF_MAP_TYPE_HASH;
		s->pids->val_size = 4;
		s->pids->max_entries =
			s->follow ? MAX((u32)MIN(u->config.max_followed, MAX_FOLLOWED), s->npid)
				  : s->npid;
	}
	if (s->ncgroup) {
		s->cgroups = unit_map(c, MAP_AUX, "cgroups");
		s->cgroups->map_type = BPF_MAP_TYPE_CGROUP_ARRAY;
		s->cgroups->val_size = 4;
		s->cgroups->max_entries = s->ncgroup;
	}
}
