/*
 * rawtracepoint.c - rawtracepoint:[module:]event: a tracepoint's own arguments, typed by BTF; without BTF
 * as numbers.
 */
#include "kern/tracefs.h"
#include "probe/common.h"
#include <linux/btf.h>

#define PREFIX "btf_trace_"
enum {
	PREFIX_LEN = sizeof(PREFIX) - 1,
	MAX_ARGS = 12, /* that the kernel hands to untyped programs */
};

static struct err *rawtp_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n != 1 && t.n != 2)
		return parts_err(p, "1 or 2 arguments", t.n);
	if (!t.v[t.n - 1].n)
		return err_new("rawtracepoint probe type requires the name of an event");
	p->target = t.n == 2 ? arena_str(a, t.v[0]) : STR("");
	p->name = arena_str(a, t.v[t.n - 1]);
	p->text = probe_text(a, "rawtracepoint", p->target, p->name, (struct str){0});
	return NULL;
}

struct search {
	struct arena *a;
	const struct point *p;
	point_cb *cb;
	void *arg;
};

static bool give_event(struct str name, u32 id, void *arg)
{
	struct search *s = arg;
	(void)id;
	struct point q = *s->p;
	q.target = q.target.n && !str_is_glob(q.target) ? q.target : STR("vmlinux");
	q.name = arena_str(s->a, str_from(name, PREFIX_LEN));
	q.text = probe_text(s->a, "rawtracepoint", q.target, q.name, (struct str){0});
	return s->cb(&q, s->arg);
}

/* ---- without BTF ---- */

static bool give_untyped(struct search *s, struct str name)
{
	struct point q = *s->p;
	q.name = arena_str(s->a, name);
	q.narg = MAX_ARGS;
	q.no_args = "this kernel has no BTF, which names them; arg0, arg1 ... are there";
	q.text = probe_text(s->a, "rawtracepoint", str_is_glob(q.target) ? STR("") : q.target,
			    q.name, (struct str){0});
	return s->cb(&q, s->arg);
}

/* Most events of tracefs are tracepoints of the same name; these are not. */
static bool give_named(struct str category, struct str event, void *arg)
{
	static const char *const others[] = {"syscalls",  "ftrace",      "kprobes", "uprobes",
					     "synthetic", "user_events", "eprobes"};
	for (u32 i = 0; i < countof(others); i++)
		if (str_is(category, others[i]))
			return true;
	return give_untyped(arg, event);
}

static bool note_event(struct str category, struct str event, void *arg)
{
	(void)event;
	*(bool *)arg |= !str_is(category, "syscalls");
	return !*(bool *)arg;
}

/* A tracepoint may have no event; kallsyms names what the kernel made for it. */
static bool is_tracepoint(struct host *h, struct arena *a, struct str name)
{
	static const char *const made[] = {"__tracepoint_", "__traceiter_", "__bpf_trace_"};
	bool found = false;
	err_free(tracefs_events(h, STR("*"), name, note_event, &found));
	for (u32 i = 0; i < countof(made) && !found; i++)
		found = tracefs_symbol(h, str_z(arena_fmt(a, "%s%.*s", made[i], STRF(name))));
	return found;
}

static struct err *expand_untyped(struct host *h, struct search *s)
{
	if (str_is_glob(s->p->name))
		return tracefs_events(h, STR("*"), s->p->name, give_named, s);
	if (is_tracepoint(h, s->a, s->p->name))
		give_untyped(s, s->p->name);
	return NULL;
}

static struct ref untyped_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	(void)h, (void)p;
	return ir_load(f, 8, ir_ctx(f), n * 8);
}

/* ---- by BTF ---- */

static struct err *rawtp_expand(struct host *h, struct unit *u, struct diags *ds,
				const struct point *p, point_cb *cb, void *arg)
{
	(void)u, (void)ds;
	struct search s = {h->arena, p, cb, arg};
	if (!host_has(h, FEAT_BTF) || h->btf_file)
		return expand_untyped(h, &s);
	struct types *k;
	struct str module = str_is_glob(p->target) ? STR("") : p->target;
	struct err *e = typed_btf(h, module, &k);
	if (e)
		return e;
	struct str glob = str_z(arena_fmt(s.a, PREFIX "%.*s", STRF(p->name)));
	if (str_is_glob(p->name)) {
		btf_types_each(k, BTF_KIND_TYPEDEF, glob, give_event, &s);
	} else {
		u32 id = btf_types_id(k, glob, BTF_KIND_TYPEDEF);
		if (id)
			give_event(glob, id, &s);
	}
	return NULL;
}

/*
 * The typedef's signature has no parameter names; functions that the kernel makes for each
 * tracepoint have the same parameters with names.
 */
const struct type *rawtp_signature(struct types *k, struct arena *a, struct str name,
				   const struct type *fn)
{
	static const char *const made[] = {"__traceiter_", "__probestub_", "__bpf_trace_"};
	u32 want, n;
	type_fields(fn, &want);
	for (u32 i = 0; i < countof(made); i++) {
		u32 id = btf_types_id(k, str_z(arena_fmt(a, "%s%.*s", made[i], STRF(name))),
				      BTF_KIND_FUNC);
		const struct type *f = id ? btf_types_func(k, id) : NULL;
		const struct field *v = f ? type_fields(f, &n) : NULL;
		if (v && n == want && n && v[n - 1].name.n)
			return f;
	}
	return fn;
}

static struct err *rawtp_types(struct host *h, struct unit *u, struct point *p, u32 use)
{
	struct arena *a = h->arena;
	struct types *k;
	(void)u, (void)use;
	if (p->no_args) /* without BTF */
		return NULL;
	struct err *e = typed_btf(h, p->target, &k);
	if (e)
		return e;
	p->copied = p->code_refused;
	p->btf_id = btf_types_id(k, str_z(arena_fmt(a, PREFIX "%.*s", STRF(p->name))),
				 BTF_KIND_TYPEDEF);
	const struct type *fn = p->btf_id ? btf_types_func(k, p->btf_id) : NULL;
	if (!fn)
		return err_new("BTF has no signature of tracepoint %.*s", STRF(p->name));
	typed_args(a, p, rawtp_signature(k, a, p->name, fn),
		   1); /* the first parameter is the tracepoint's own data */
	p->ret = NULL;
	return NULL;
}

static struct ref rawtp_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	return typed_fetch(f, h, p, n);
}

struct err *rawtp_attach(struct host *h, struct unit *u, struct attach *a)
{
	(void)h, (void)u;
	int fd;
	struct err *e = bpf_raw_tp(a->fd, NULL, &fd);
	if (!e)
		link_add(&a->links, fd, -1);
	return e;
}

static bool typed_fits(const struct ask *q)
{
	return q->points->btf_id;
}

static const struct method method_typed = {
	.prog_type = BPF_PROG_TYPE_TRACING,
	.attach_type = BPF_TRACE_RAW_TP,
	.flags = METHOD_TYPED,
	.fits = typed_fits,
	.arg = rawtp_arg,
	.attach = rawtp_attach,
};

static const struct method method_untyped = {
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.arg = untyped_arg,
	.attach = rawtp_attach_names,
};

const struct probe_type probe_rawtracepoint = {
	.name = "rawtracepoint",
	.alias = {"rt"},
	.syntax = "rawtracepoint[:module]:event",
	.doc = "A tracepoint with its original arguments: cheaper than tracepoint, less stable.",
	.flags = PROBE_KERNEL | PROBE_MACHINE | PROBE_ARGN | PROBE_PIDFILTER | PROBE_STACKS |
		 PROBE_SIGNATURE | PROBE_FIRST,
	.parse = rawtp_parse,
	.expand = rawtp_expand,
	.types = rawtp_types,
	.methods = (const struct method *const[]){&method_raw_calls_event, &method_typed,
						  &method_untyped, NULL},
};
