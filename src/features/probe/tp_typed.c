/*
 * tp_typed.c - well-known tracepoints whose fields are plain functions of their arguments, as typed
 * raw tracepoints.
 *
 * A perf tracepoint fills in all fields for every event, of which most bodies read one or two; and
 * closing it takes the kernel 60 to 100 ms. A row of the table says what the kernel passes and
 * where the fields come from; it counts only where BTF shows the same parameters, and a field only
 * where BTF has the members and tracefs the same kind of field. What a body reads besides keeps the
 * perf event: states of tasks, names of interrupts (which may be missing), addresses of packets.
 */
#include "kern/tracefs.h"
#include "probe/common.h"
#include <linux/btf.h>

enum { MAX_STEPS = 4, COMM = 16 };

/*
 * "field=parameter.member.member", "field=(int)..."; of two with the same name, the first that this
 * kernel has. A row's parameters may be followed by others; of two rows for an event, the first
 * that fits.
 */
struct event {
	const char *category, *name, *params, *fields;
};

#define TASK_P                   \
	"struct task_struct *p", \
		"comm=p.comm pid=p.pid prio=p.prio target_cpu=p.thread_info.cpu target_cpu=p.cpu"
#define SOFTIRQ "unsigned int vec_nr", "vec=vec_nr"
#define HRTIMER "struct hrtimer *hrtimer", "hrtimer=hrtimer"
#define TIMER   "struct timer_list *timer", "timer=timer"
#define FAULT                                                                          \
	"long unsigned int address,struct pt_regs *regs,long unsigned int error_code", \
		"address=address ip=regs.ip error_code=error_code"
#define SKB "struct sk_buff *skb", "skbaddr=skb len=skb.len name=skb.dev.name"

static const struct event events[] = {
	{"sched", "sched_switch", "bool preempt,struct task_struct *prev,struct task_struct *next",
	 "prev_comm=prev.comm prev_pid=prev.pid prev_prio=prev.prio "
	 "next_comm=next.comm next_pid=next.pid next_prio=next.prio"},
	{"sched", "sched_wakeup", TASK_P},
	{"sched", "sched_wakeup_new", TASK_P},
	{"sched", "sched_waking", TASK_P},
	{"sched", "sched_migrate_task", "struct task_struct *p,int dest_cpu",
	 "comm=p.comm pid=p.pid prio=p.prio orig_cpu=p.thread_info.cpu orig_cpu=p.cpu "
	 "dest_cpu=dest_cpu"},
	{"sched", "sched_process_exec",
	 "struct task_struct *p,pid_t old_pid,struct linux_binprm *bprm",
	 "filename=bprm.filename pid=p.pid old_pid=old_pid"},
	{"sched", "sched_process_exit", "struct task_struct *p,bool group_dead",
	 "comm=p.comm pid=p.pid prio=p.prio group_dead=group_dead"},
	{"sched", "sched_process_exit", TASK_P},
	{"sched", "sched_process_free", TASK_P},
	{"sched", "sched_process_fork", "struct task_struct *parent,struct task_struct *child",
	 "parent_comm=parent.comm parent_pid=parent.pid child_comm=child.comm child_pid=child.pid"},
	{"sched", "sched_stat_runtime", "struct task_struct *tsk,u64 runtime",
	 "comm=tsk.comm pid=tsk.pid runtime=runtime"},
	{"task", "task_newtask", "struct task_struct *task,long unsigned int clone_flags",
	 "pid=task.pid comm=task.comm clone_flags=clone_flags "
	 "oom_score_adj=task.signal.oom_score_adj"},
	{"task", "task_newtask", "struct task_struct *task,u64 clone_flags",
	 "pid=task.pid comm=task.comm clone_flags=clone_flags "
	 "oom_score_adj=task.signal.oom_score_adj"},
	{"signal", "signal_generate",
	 "int sig,struct kernel_siginfo *info,struct task_struct *task,int group,int result",
	 "sig=sig comm=task.comm pid=task.pid group=group result=result"},
	{"signal", "signal_deliver", "int sig,struct kernel_siginfo *info,struct k_sigaction *ka",
	 "sig=sig sa_handler=ka.sa.sa_handler sa_flags=ka.sa.sa_flags"},
	{"irq", "irq_handler_entry", "int irq,struct irqaction *action", "irq=irq"},
	{"irq", "irq_handler_exit", "int irq,struct irqaction *action,int ret", "irq=irq ret=ret"},
	{"irq", "softirq_entry", SOFTIRQ},
	{"irq", "softirq_exit", SOFTIRQ},
	{"irq", "softirq_raise", SOFTIRQ},
	{"timer", "hrtimer_expire_entry", HRTIMER " function=hrtimer.function"},
	{"timer", "hrtimer_expire_exit", HRTIMER},
	{"timer", "hrtimer_cancel", HRTIMER},
	{"timer", "timer_expire_entry", TIMER " function=timer.function"},
	{"timer", "timer_expire_exit", TIMER},
	{"timer", "timer_cancel", TIMER},
	{"workqueue", "workqueue_execute_start", "struct work_struct *work",
	 "work=work function=work.func"},
	{"workqueue", "workqueue_execute_end", "struct work_struct *work,work_func_t function",
	 "work=work function=function"},
	{"power", "cpu_idle", "unsigned int state,unsigned int cpu_id",
	 "state=state cpu_id=cpu_id"},
	{"power", "cpu_frequency", "unsigned int frequency,unsigned int cpu_id",
	 "state=frequency cpu_id=cpu_id"},
	{"exceptions", "page_fault_user", FAULT},
	{"exceptions", "page_fault_kernel", FAULT},
	{"kmem", "kmalloc",
	 "long unsigned int call_site,const void *ptr,size_t bytes_req,size_t bytes_alloc,"
	 "gfp_t gfp_flags",
	 "call_site=call_site ptr=ptr bytes_req=bytes_req bytes_alloc=bytes_alloc "
	 "gfp_flags=gfp_flags"},
	{"kmem", "kmem_cache_alloc", "long unsigned int call_site,const void *ptr",
	 "call_site=call_site ptr=ptr"},
	{"kmem", "kfree", "long unsigned int call_site,const void *ptr",
	 "call_site=call_site ptr=ptr"},
	{"kmem", "kmem_cache_free", "long unsigned int call_site,const void *ptr",
	 "call_site=call_site ptr=ptr"},
	{"kmem", "mm_page_alloc",
	 "struct page *page,unsigned int order,gfp_t gfp_flags,int migratetype",
	 "order=order gfp_flags=gfp_flags migratetype=migratetype"},
	{"kmem", "mm_page_free", "struct page *page,unsigned int order", "order=order"},
	{"net", "netif_receive_skb", SKB},
	{"net", "net_dev_queue", SKB},
	{"skb", "kfree_skb", "struct sk_buff *skb,void *location,enum skb_drop_reason reason",
	 "skbaddr=skb location=location reason=reason"},
	{"skb", "kfree_skb", "struct sk_buff *skb,void *location", "skbaddr=skb location=location"},
	{"skb", "consume_skb", "struct sk_buff *skb,void *location",
	 "skbaddr=skb location=location"},
	{"skb", "consume_skb", "struct sk_buff *skb", "skbaddr=skb"},
	{"napi", "napi_poll", "struct napi_struct *napi,int work,int budget",
	 "napi=napi work=work budget=budget"},
	{"raw_syscalls", "sys_enter", "struct pt_regs *regs,long int id", "id=id"},
	{"raw_syscalls", "sys_exit", "struct pt_regs *regs,long int ret",
	 "id=(int)regs.orig_ax ret=ret"},
	{"raw_syscalls", "sys_exit", "struct pt_regs *regs,long int ret",
	 "id=regs.syscallno ret=ret"},
};

/* ---- where a field is ---- */

enum form {
	W_VALUE, /* the last step's value */
	W_PLACE, /* its address */
	W_TEXT,  /* text in kernel memory */
	W_COMM,  /* a task's name that is padded with zeros */
};

struct path {
	enum form form;
	u32 arg;
	const struct type *first, *last; /* of the argument; of what the last step gives */
	bool direct;                     /* the argument can be loaded */
	bool narrow;                     /* as an int */
	u32 nstep;
	i32 off[MAX_STEPS];
};

static const struct type *target(const struct type *t)
{
	return t->kind == T_PTR && t->base && type_is_record(t->base) ? t->base : NULL;
}

/* Members of structs within structs are one step. */
static bool walk(struct str path, struct path *w)
{
	struct str name;
	const struct type *in = NULL;
	w->last = w->first;
	w->nstep = 0;
	while (str_cut(&path, '.', &name)) {
		struct field f;
		bool deeper = in != NULL;
		in = deeper ? in : target(w->last);
		if (!in || !type_field(in, name, &f) || f.bit_len)
			return false;
		if (!deeper && w->nstep == MAX_STEPS)
			return false;
		if (!deeper)
			w->off[w->nstep++] = 0;
		w->off[w->nstep - 1] += (i32)(f.bit_off / 8);
		w->last = f.type;
		in = type_is_record(f.type) ? f.type : NULL;
	}
	return !in;
}

static bool is_text(const struct type *t)
{
	return t->kind == T_ARRAY && t->base->kind == T_INT && t->base->is_char;
}

static bool is_value(const struct type *t)
{
	return type_is_int(t) || t->kind == T_PTR || t->kind == T_BOOL;
}

/* Is what the method leads to what tracefs says of the field? */
static bool fits(struct host *h, const struct field *f, struct path *w)
{
	const struct type *to = f->type, *from = w->last;
	bool chars = from->kind == T_PTR && from->base->is_char;
	if (f->data_loc) {
		w->form = is_text(from) ? W_PLACE : W_VALUE;
		return to == &type_str0 && w->nstep && (is_text(from) || chars);
	}
	if (is_text(to)) {
		bool padded = host_has(h, FEAT_LOOP); /* since Linux 5.17, which has both */
		bool words = !(w->off[w->nstep ? w->nstep - 1 : 0] % 8) && to->count == COMM;
		w->form = padded && words ? W_COMM : W_TEXT;
		return w->nstep && is_text(from) && from->count == to->count;
	}
	w->form = W_VALUE;
	return is_value(to) && is_value(from) && to->size >= 1 && to->size <= 8;
}

/* ---- the choice ---- */

static struct str next_word(struct str *s, char end)
{
	struct str w = {NULL, 0};
	str_cut(s, end, &w);
	return str_trim(w);
}

/* "struct task_struct *prev": is that how BTF declares it? BTF may not know the name. */
static bool same_param(const struct field *f, struct str decl, struct str *name)
{
	u32 n = decl.n;
	while (n && decl.s[n - 1] != ' ' && decl.s[n - 1] != '*')
		n--;
	AUTO_SB b = {0};
	*name = str_from(decl, n);
	type_show_decl(f->type, STR(""), &b);
	return str_eq(str_trim(sb_str(&b)), str_trim((struct str){decl.s, n})) &&
	       (!f->name.n || str_eq(f->name, *name));
}

static bool same_params(const struct type *fn, struct str params)
{
	u32 n, i = 1; /* the first is the kernel's own */
	const struct field *f = type_fields(fn, &n);
	while (params.n) {
		struct str name;
		if (i >= n || !same_param(&f[i++], next_word(&params, ','), &name))
			return false;
	}
	return true;
}

static bool find_param(const struct type *fn, struct str params, struct str name, struct path *w)
{
	u32 n, i = 1;
	const struct field *f = type_fields(fn, &n);
	for (struct str one; params.n; i++) {
		same_param(&f[i], next_word(&params, ','), &one);
		if (!str_eq(one, name))
			continue;
		w->arg = i - 1;
		w->first = f[i].type;
		return true;
	}
	return false;
}

static bool find_method(struct host *h, const struct event *e, const struct type *fn,
			const struct field *f, struct path *w)
{
	struct str rest = str_z(e->fields);
	while (rest.n) {
		struct str path = next_word(&rest, ' '), name = next_word(&path, '=');
		if (!str_eq(name, f->name))
			continue;
		*w = (struct path){.narrow = str_starts(path, STR("(int)"))};
		path = str_from(path, w->narrow ? 5 : 0);
		struct str param = next_word(&path, '.');
		if (find_param(fn, str_z(e->params), param, w) && walk(path, w) && fits(h, f, w)) {
			w->direct = typed_loads(h, w->first);
			return true;
		}
	}
	return false;
}

/* Ways of the members that the body reads; NULL: one has none. */
static struct path *find_methods(struct host *h, struct arena *a, const struct event *e,
				 const struct type *fn, const struct point *p)
{
	u32 n;
	const struct field *f = type_fields(p->args, &n);
	struct path *ways = arena_newn(a, struct path, n + 1);
	for (u32 i = 0; i < n; i++)
		if (i < 64 && (p->members >> i & 1) && !find_method(h, e, fn, &f[i], &ways[i]))
			return NULL;
	return ways;
}

static bool choose_one(struct host *h, struct unit *u, struct point *p)
{
	(void)u;
	struct types *k = host_btf(h);
	u32 id = btf_types_id(k, str_z(arena_fmt(h->arena, "btf_trace_%.*s", STRF(p->name))),
			      BTF_KIND_TYPEDEF);
	const struct type *fn = id ? btf_types_func(k, id) : NULL;
	if (!fn || !p->args)
		return false;
	fn = rawtp_signature(k, h->arena, p->name, fn);
	for (u32 i = 0; i < countof(events); i++) {
		const struct event *e = &events[i];
		if (!str_is(p->name, e->name) || !str_is(p->target, e->category) ||
		    !same_params(fn, str_z(e->params)))
			continue;
		p->priv = find_methods(h, h->arena, e, fn, p);
		p->btf_id = id;
		if (p->priv)
			return true;
	}
	return false;
}

/* ---- code ---- */

static struct arg_at event_arg_at(struct fn *f, const struct point *p, int n, struct ref into,
				  i32 off)
{
	const struct path *w = (const struct path *)p->priv + n;
	assert(n >= 0 && w->first);
	if (w->form == W_COMM && !ref_is(into))
		return (struct arg_at){.need = COMM};
	struct ref v = typed_slot(f, (i32)w->arg * 8, w->direct);
	bool typed = w->nstep ? w->last->kind == T_PTR : target(w->last) != NULL;
	if (!w->nstep)
		return (struct arg_at){.ref = fit_value(f, v, w->first), .typed = typed};
	for (u32 i = 0; i + 1 < w->nstep; i++)
		v = ir_load(f, 8, v, w->off[i]);
	i32 at = w->off[w->nstep - 1];
	switch (w->form) {
	case W_PLACE: return (struct arg_at){.ref = ir_addi(f, v, at)};
	case W_TEXT: return (struct arg_at){.ref = v, .off = at, .space = AS_KERNEL};
	case W_COMM:
		for (i32 i = 0; i < COMM; i += 8)
			ir_store(f, 8, into, off + i, ir_load(f, 8, v, at + i));
		return (struct arg_at){.ref = into, .off = off, .space = AS_STACK};
	case W_VALUE: break;
	}
	v = fit_value(f, ir_load(f, w->last->size, v, at), w->last);
	return (struct arg_at){.ref = w->narrow ? fit_value(f, v, &type_i32) : v, .typed = typed};
}

static bool typed_fits(const struct ask *q)
{
	enum { OTHERS = USE_ARGN | USE_RETVAL | USE_KSTACK | USE_REGS | USE_PROGRAM };
	struct point *points = q->points;
	if (!(q->use & USE_ARGS) || (q->use & OTHERS) || points->members == ALL_MEMBERS ||
	    str_is(points->target, "syscalls") || !host_btf(q->h) || !host_has(q->h, FEAT_TP_BTF) ||
	    calls_preempted(q->h, points))
		return false;
	bool all = true;
	for (struct point *p = points; p && all; p = p->next)
		all = choose_one(q->h, q->u, p);
	for (struct point *p = points; p; p = p->next)
		if (all)
			p->args_space = AS_KERNEL; /* each by event_arg_at() */
		else
			p->priv = NULL, p->btf_id = 0;
	return all;
}

const struct method method_tp_typed = {
	.prog_type = BPF_PROG_TYPE_TRACING,
	.attach_type = BPF_TRACE_RAW_TP,
	.fits = typed_fits,
	.arg_at = event_arg_at,
	.attach = rawtp_attach,
};
