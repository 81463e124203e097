/* tracepoint.c - tracepoint:category:event, through one perf event for all CPUs. */
#include "kern/tracefs.h"
#include "probe/common.h"
#include "types/format.h"

static struct err *tracepoint_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n == 1 && str_is(t.v[0], "*"))
		t = (struct parts){{STR("*"), STR("*")}, 2};
	if (t.n != 2)
		return parts_err(p, "2 arguments", t.n);
	if (!t.v[0].n || !t.v[1].n)
		return err_new("tracepoint probe type requires a category and an event");
	p->target = arena_str(a, t.v[0]);
	p->name = arena_str(a, t.v[1]);
	p->text = probe_text(a, "tracepoint", p->target, p->name, (struct str){0});
	return NULL;
}

struct search {
	struct arena *a;
	const struct point *p;
	point_cb *cb;
	void *arg;
};

static bool give_event(struct str category, struct str event, void *arg)
{
	struct search *s = arg;
	struct point q = *s->p;
	q.target = arena_str(s->a, category);
	q.name = arena_str(s->a, event);
	if (str_is(category, "syscalls")) /* entries and exits do not share a program */
		q.extra = str_starts(event, STR("sys_enter_")) ? STR("enter") : STR("exit");
	q.text = probe_text(s->a, "tracepoint", q.target, q.name, (struct str){0});
	return s->cb(&q, s->arg);
}

struct err *tracepoint_expand(struct host *h, struct unit *u, struct diags *ds,
			      const struct point *p, point_cb *cb, void *arg)
{
	(void)u, (void)ds;
	struct search s = {h->arena, p, cb, arg};
	if (p->beside) {
		call_beside(h, p, cb, arg);
		return NULL;
	}
	return tracefs_events(h, p->target, p->name, give_event, &s);
}

/* Arguments of system calls: whatever is a pointer there points into the process. */
static const struct type *user_pointers(struct arena *a, const struct type *t)
{
	u32 n;
	const struct field *from = type_fields(t, &n);
	struct field *to = arena_newn(a, struct field, n + 1);
	for (u32 i = 0; i < n; i++) {
		to[i] = from[i];
		if (from[i].type->kind != T_PTR)
			continue;
		to[i].user = 1;
		to[i].type = type_copy_as(a, from[i].type, AS_USER);
	}
	struct type *r = arena_new(a, struct type);
	*r = *t;
	r->field = to;
	r->nfield = n;
	return r;
}

struct err *tracepoint_types(struct host *h, struct unit *u, struct point *p, u32 use)
{
	(void)u, (void)use;
	struct arena *a = h->arena;
	struct str text;
	u64 id;
	struct err *e = tracefs_format(h, p->target, p->name, &text);
	if (e)
		return e;
	struct str name =
		str_z(arena_fmt(a, "_tracepoint_%.*s_%.*s", STRF(p->target), STRF(p->name)));
	e = format_parse(text, name, host_btf(h), a, &id, &p->args);
	if (e)
		return err_wrap(e, "tracepoint %.*s:%.*s: ", STRF(p->target), STRF(p->name));
	if (str_is(p->target, "syscalls"))
		p->args = user_pointers(a, p->args);
	p->args_space = AS_CTX;
	return NULL;
}

struct err *tracepoint_start(struct host *h, struct attach *a, struct str category,
			     struct str event)
{
	struct perf_spec s = {.type = PERF_TYPE_TRACEPOINT, .period = 1, .pid = -1, .cpu = 0};
	struct err *e = tracefs_id(h, category, event, &s.config);
	return e ? e : perf_start(&s, a);
}

static struct err *attach_one(struct host *h, struct unit *u, struct attach *a,
			      const struct point *p)
{
	(void)u;
	return tracepoint_start(h, a, p->target, p->name);
}

static struct err *tracepoint_attach(struct host *h, struct unit *u, struct attach *a)
{
	return attach_points(h, u, a, attach_one);
}

static bool note_any(const struct point *p, void *arg)
{
	(void)p;
	*(bool *)arg = true;
	return false;
}

/* The category of events of single system calls is an option of the kernel's configuration. */
const char *tracepoint_lacks(struct host *h, const struct point *p)
{
	bool any = !str_is(p->target, "syscalls");
	struct point all = {
		.type = p->type, .method = p->method, .target = p->target, .name = STR("*")};
	if (!any)
		err_free(tracepoint_expand(h, NULL, NULL, &all, note_any, &any));
	return any ? NULL
		   : "this kernel has no events of single system calls (CONFIG_FTRACE_SYSCALLS); "
		     "tracepoint:raw_syscalls:sys_enter sees all of them, args.id is the number";
}

struct err *tracepoint_able(struct host *h)
{
	const char *dir;
	return host_tracefs(h, &dir);
}

const struct method method_tp_perf = {
	.prog_type = BPF_PROG_TYPE_TRACEPOINT,
	.flags = METHOD_LINGERS,
	.attach = tracepoint_attach,
};

const struct method *const tracepoint_methods[] = {
	&method_calls_event,
	&method_calls_by_regs,
	&method_calls,
	&method_tp_typed,
	&method_tp_raw,
	&method_call_compat,
	&method_call_compat_exit,
	&method_call_probed,
	&method_call_probed_exit,
	&method_tp_perf,
	NULL,
};

const struct probe_type probe_tracepoint = {
	.name = "tracepoint",
	.alias = {"t"},
	.syntax = "tracepoint:category:event",
	.doc = "A stable event of the kernel. args.FIELD reads its fields.",
	.able = tracepoint_able,
	.flags = PROBE_KERNEL | PROBE_MACHINE | PROBE_PIDFILTER | PROBE_STACKS | PROBE_SPLIT |
		 PROBE_FIRST | PROBE_BESIDE,
	.parse = tracepoint_parse,
	.expand = tracepoint_expand,
	.lacks = tracepoint_lacks,
	.types = tracepoint_types,
	.methods = tracepoint_methods,
};
