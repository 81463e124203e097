/* fentry.c - fentry and fexit: kernel functions through BPF trampolines, arguments typed by BTF. */
#include "kern/tracefs.h"
#include "probe/common.h"
#include <linux/btf.h>

enum { MAX_SLOTS = 6, HELPER_GET_FUNC_IP = 173 };

static struct err *fentry_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n != 1 && t.n != 2)
		return parts_err(p, "1 or 2 arguments", t.n);
	if (t.n == 2 && str_is(t.v[0], "bpf"))
		return err_new("%s probes on BPF programs are not supported yet",
			       p->provider->name);
	p->name = arena_str(a, t.v[t.n - 1]);
	p->target = t.n == 2 ? arena_str(a, t.v[0]) : STR("");
	if (!p->name.n)
		return err_new("%s probe type requires the name of a function", p->provider->name);
	p->text = probe_text(a, p->provider->name, p->target, p->name, (struct str){0});
	return NULL;
}

struct search {
	struct arena *a;
	const struct point *p;
	point_cb *cb;
	void *arg;
};

static bool give_function(struct str name, u32 id, void *arg)
{
	struct search *s = arg;
	(void)id;
	struct point q = *s->p;
	if (str_is_glob(q.name) && typed_recurses(name))
		return true;
	q.target = q.target.n && !str_is_glob(q.target) ? q.target : STR("vmlinux");
	q.name = arena_str(s->a, name);
	q.text = probe_text(s->a, q.provider->name, q.target, q.name, (struct str){0});
	return s->cb(&q, s->arg);
}

static struct err *fentry_expand(struct host *h, struct unit *u, const struct point *p,
				 point_cb *cb, void *arg)
{
	struct search s = {u ? u->arena : h->arena, p, cb, arg};
	struct types *k;
	struct str module = str_is_glob(p->target) ? STR("") : p->target;
	struct err *e = typed_btf(h, s.a, module, &k);
	if (e)
		return e;
	if (str_is_glob(p->name))
		btf_types_each(k, BTF_KIND_FUNC, p->name, give_function, &s);
	else if (btf_types_id(k, p->name, BTF_KIND_FUNC))
		give_function(p->name, 0, &s);
	return NULL;
}

static struct err *fentry_types(struct host *h, struct unit *u, struct point *p)
{
	struct arena *a = u ? u->arena : h->arena;
	struct types *k;
	struct err *e = typed_btf(h, a, p->target, &k);
	if (e)
		return e;
	p->btf_id = btf_types_id(k, p->name, BTF_KIND_FUNC);
	const struct type *fn = p->btf_id ? btf_types_func(k, p->btf_id) : NULL;
	if (!fn)
		return err_new("BTF has no signature of function %.*s", STRF(p->name));
	typed_args(a, p, fn, 0);
	if (p->args->size > MAX_SLOTS * 8)
		return err_new("%.*s has more than %d arguments, which BPF trampolines do not "
			       "support: use a kprobe",
			       STRF(p->name), MAX_SLOTS);
	return NULL;
}

static struct ref fentry_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (n != ARG_FUNC)
		return typed_fetch(f, p, n);
	if (host_has(h, FEAT_FUNC_IP))
		return ir_callp(f, HELPER_GET_FUNC_IP, ARGS(ir_ctx(f)));
	return ir_con(f, tracefs_symbol(h, p->name));
}

static struct err *fentry_attach(struct host *h, struct unit *u, struct prog *g, struct link **list)
{
	(void)h;
	(void)u;
	int fd;
	struct err *e = bpf_link_tracing(g->fd, g->provider->attach_type, 0, &fd);
	if (!e)
		link_add(list, fd, -1);
	return e;
}

#define TRACING_FLAGS (PF_KERNEL | PF_TYPED | PF_FUNC | PF_PIDFILTER | PF_STACKS)

const struct provider provider_fentry = {
	.name = "fentry",
	.alias = {"f", "kfunc"},
	.syntax = "fentry[:module]:function",
	.doc = "Start of a kernel function, with typed arguments. Cheaper than kprobe.",
	.prog_type = BPF_PROG_TYPE_TRACING,
	.attach_type = BPF_TRACE_FENTRY,
	.flags = TRACING_FLAGS,
	.needs = FEAT_FENTRY,
	.parse = fentry_parse,
	.expand = fentry_expand,
	.types = fentry_types,
	.arg = fentry_arg,
	.attach = fentry_attach,
};

const struct provider provider_fexit = {
	.name = "fexit",
	.alias = {"fr", "kretfunc"},
	.syntax = "fexit[:module]:function",
	.doc = "Return of a kernel function, with typed arguments and result.",
	.prog_type = BPF_PROG_TYPE_TRACING,
	.attach_type = BPF_TRACE_FEXIT,
	.flags = TRACING_FLAGS | PF_RETVAL,
	.needs = FEAT_FENTRY,
	.parse = fentry_parse,
	.expand = fentry_expand,
	.types = fentry_types,
	.arg = fentry_arg,
	.attach = fentry_attach,
};
