/*
 * syscall.c - syscall:NAME and syscall:NAME:return, short for tracepoint:syscalls:sys_enter_NAME and
 * sys_exit_NAME, by the names that system calls have: syscall:stat is the event of sys_newstat.
 */
#include "probe/common.h"

static bool is_return(const struct point *p)
{
	return str_is(p->extra, "exit");
}

static struct str text_of(struct arena *a, const struct point *p, struct str call)
{
	return probe_text(a, "syscall", call, is_return(p) ? STR("return") : STR(""),
			  (struct str){0});
}

static struct err *syscall_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n != 1 && t.n != 2)
		return parts_err(p, "1 or 2 arguments", t.n);
	if (!t.v[0].n)
		return err_new("syscall probe type requires the name of a system call");
	if (t.n == 2 && !str_is(t.v[1], "return"))
		return err_new("only 'return' may follow the name of a system call (got '%.*s')",
			       STRF(t.v[1]));
	p->target = STR("syscalls");
	p->name = arena_str(a, t.v[0]);
	p->extra = t.n == 2 ? STR("exit") : STR("enter");
	p->text = text_of(a, p, p->name);
	return NULL;
}

struct search {
	struct arena *a;
	const struct point *p;
	point_cb *cb;
	void *arg;
};

/* One of all events of system calls. */
static bool give_call(const struct point *event, void *arg)
{
	struct search *s = arg;
	struct str call = call_of_event(event->name);
	if (!str_glob(s->p->name, call))
		return true;
	struct point q = *s->p;
	q.name = event->name;
	q.text = text_of(s->a, s->p, call);
	return s->cb(&q, s->arg);
}

static struct err *syscall_expand(struct host *h, struct unit *u, struct diags *ds,
				  const struct point *p, point_cb *cb, void *arg)
{
	struct search s = {h->arena, p, cb, arg};
	if (p->beside)
		return tracepoint_expand(h, u, ds, p, cb, arg);
	struct point all = *p;
	all.name = is_return(p) ? STR("sys_exit_*") : STR("sys_enter_*");
	all.target = STR("syscalls"); /* a list of all did not parse */
	return tracepoint_expand(h, u, ds, &all, give_call, &s);
}

bool syscall_is_event(struct arena *a, const struct point *p, struct str tracepoint,
		      struct str *text)
{
	struct str prefix = is_return(p) ? STR("tracepoint:syscalls:sys_exit_")
					 : STR("tracepoint:syscalls:sys_enter_");
	if (!str_starts(tracepoint, prefix))
		return false;
	struct str call =
		call_of_event(str_from(tracepoint, (u32)sizeof("tracepoint:syscalls:") - 1));
	*text = text_of(a, p, call);
	return str_glob(p->name, call);
}

const struct probe_type probe_syscall = {
	.name = "syscall",
	.syntax = "syscall:name[:return]",
	.doc = "A system call that begins or returns: short for the tracepoints of syscalls.",
	.able = tracepoint_able,
	.flags = PROBE_KERNEL | PROBE_PIDFILTER | PROBE_STACKS | PROBE_SPLIT | PROBE_FIRST |
		 PROBE_SYNONYM | PROBE_BESIDE,
	.parse = syscall_parse,
	.expand = syscall_expand,
	.lacks = tracepoint_lacks,
	.types = tracepoint_types,
	.methods = tracepoint_methods,
};
