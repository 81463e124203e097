/* fentry.c - fentry and fexit: kernel functions through BPF trampolines, arguments typed by BTF. */
#include "kern/tracefs.h"
#include "probe/common.h"
#include <linux/btf.h>
#include <stdlib.h>

enum {
	REG_SLOTS = 6,  /* arguments in registers */
	MAX_SLOTS = 12, /* what the kernel's trampolines take at most */
};

static bool in_program(const struct point *p)
{
	return str_is(p->target, "bpf");
}

static struct err *fentry_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	bool bpf = t.n && str_is(t.v[0], "bpf");
	if (bpf && t.n != 2 && t.n != 3)
		return parts_err(p, "2 or 3 arguments for BPF programs", t.n);
	if (!bpf && t.n != 1 && t.n != 2)
		return parts_err(p, "1 or 2 arguments", t.n);
	p->name = arena_str(a, t.v[t.n - 1]);
	p->target = t.n > 1 ? arena_str(a, t.v[0]) : STR("");
	if (!p->name.n)
		return err_new("%s probe type requires the name of a function", p->type->name);
	if (!bpf && str_chr(p->name, '+') >= 0)
		return err_new("Offset not allowed in a %s: use a kprobe", p->type->name);
	if (t.n == 3 && (!str_u64(t.v[1], &p->addr) || !p->addr || p->addr > UINT32_MAX))
		return err_new("%.*s is not the id of a BPF program", STRF(t.v[1]));
	p->text = probe_text(a, p->type->name, arena_str(a, text), STR(""), STR(""));
	return NULL;
}

struct search {
	struct host *h;
	struct diags *ds; /* or NULL */
	struct arena *a;
	const struct point *p;
	point_cb *cb;
	void *arg;
	struct str module;   /* or "bpf" */
	u32 prog;            /* the id of the BPF program */
	struct str found[4]; /* modules that have the function */
	u32 nfound;
	u32 nbusy; /* left out */
	bool stop;
	bool any; /* there are types of modules */
};

static bool give_function(struct str name, u32 id, void *arg)
{
	struct search *s = arg;
	(void)id;
	struct point q = *s->p;
	if (q.like.n && !str_like(q.like, name))
		return true;
	q.wild = str_is_glob(q.name);
	if (!s->prog && !host_traceable(s->h, name))
		return true;
	if (q.wild && typed_recurses(name)) {
		s->nbusy++;
		return true;
	}
	q.target = s->module;
	q.name = arena_str(s->a, name);
	q.addr = s->prog;
	struct str shown = q.name;
	if (s->prog)
		shown = str_z(arena_fmt(s->a, "%u:%.*s", s->prog, STRF(name)));
	q.text = probe_text(s->a, q.type->name, q.target, shown, (struct str){0});
	s->stop = !s->cb(&q, s->arg);
	return !s->stop;
}

static void give_all(struct search *s, struct types *k)
{
	const struct point *p = s->p;
	if (str_is_glob(p->name))
		btf_types_each(k, BTF_KIND_FUNC, p->name, give_function, s);
	else if (btf_types_id(k, p->name, BTF_KIND_FUNC))
		give_function(p->name, 0, s);
}

/* ---- BPF programs that are in the kernel ---- */

/* Its functions; *type: enum bpf_prog_type. */
static struct err *program_btf(struct arena *a, u32 id, u32 *type, struct types **k)
{
	u32 size;
	void *btf = NULL;
	AUTO_CLOSE int fd = -1;
	struct err *e = bpf_prog_by_id(id, &fd);
	if (!e)
		e = bpf_prog_types(fd, type, &btf, &size);
	if (e)
		return e;
	void *kept = arena_alloc(a, size, 8); /* names stay there */
	memcpy(kept, btf, size);
	free(btf);
	return btf_types_mem(kept, size, a, NULL, k);
}

static struct err *expand_programs(struct search *s)
{
	u32 type;
	struct types *k;
	if (s->p->addr) {
		s->prog = (u32)s->p->addr;
		struct err *e = program_btf(s->a, s->prog, &type, &k);
		if (!e)
			give_all(s, k);
		return e;
	}
	for (u32 id = 0; (id = bpf_prog_after(id)) && !s->stop;) {
		struct err *e = program_btf(s->a, id, &type, &k);
		s->prog = id;
		/* tracing programs cannot be traced themselves */
		if (!e && (type != BPF_PROG_TYPE_TRACING || !str_is_glob(s->p->name)))
			give_all(s, k);
		err_free(e); /* gone meanwhile, or without names */
	}
	return NULL;
}

/* ---- functions of the kernel and its modules ---- */

static bool note_module(struct str func, struct str module, void *arg)
{
	struct search *s = arg;
	(void)func;
	for (u32 i = 0; i < s->nfound; i++)
		if (str_eq(s->found[i], module)) /* several static functions of one name */
			return true;
	if (module.n && s->nfound < countof(s->found))
		s->found[s->nfound++] = arena_str(s->a, module);
	return true;
}

static bool note_types(struct str module, void *arg)
{
	struct search *s = arg;
	struct types *k;
	struct err *e = typed_btf(s->h, module, &k);
	if (!e && btf_types_id(k, s->p->name, BTF_KIND_FUNC))
		note_module(s->p->name, module, s);
	err_free(e);
	return true;
}

/* No module was named, and the kernel itself has no such function. */
static struct err *find_module(struct host *h, struct search *s)
{
	struct types *k;
	host_modules(h, note_types, s);
	if (!s->nfound && !h->functions.s && perf_no_function(h, arena_strz(s->a, s->p->name)))
		return NULL;
	if (!s->nfound)
		err_free(tracefs_functions(h, s->p->name, note_module, s));
	u32 n = s->nfound ? 1 : tracefs_addresses(h, s->p->name, NULL, 0);
	if (n > 1)
		return err_new(
			"the kernel has %u functions of the name %.*s, so its BTF has none; a "
			"kprobe is attached to all of them",
			n, STRF(s->p->name));
	if (!s->nfound)
		return NULL;
	if (s->nfound > 1)
		return err_new("%.*s is in several modules (%.*s, %.*s ...): name one, as in "
			       "%s:%.*s:%.*s",
			       STRF(s->p->name), STRF(s->found[0]), STRF(s->found[1]),
			       s->p->type->name, STRF(s->found[0]), STRF(s->p->name));
	s->module = s->found[0];
	struct err *e = typed_btf(h, s->module, &k);
	if (!e)
		give_all(s, k);
	return e;
}

static bool search_module(struct str name, void *arg)
{
	struct search *s = arg;
	struct types *k;
	s->any = true;
	if (!str_glob(s->p->target, name))
		return true;
	s->module = arena_str(s->a, name);
	struct err *e = typed_btf(s->h, s->module, &k);
	if (!e)
		give_all(s, k);
	err_free(e);
	return !s->stop;
}

static struct err *expand_modules(struct search *s)
{
	bool core = str_glob(s->p->target, STR("vmlinux"));
	host_modules(s->h, search_module, s);
	if (core && !s->stop)
		search_module(STR("vmlinux"), s);
	return s->any ? NULL : typed_no_modules();
}

/* The kernel looks for the function's name again. */
static void tell_doubles(struct host *h, const struct search *s)
{
	const struct point *p = s->p;
	bool may_be = !str_is_glob(p->name) && p->loc.len && s->ds && btf_hides_doubles(h);
	u32 n = may_be ? tracefs_addresses(h, p->name, NULL, 0) : 0;
	if (n < 2)
		return;
	struct diag *d =
		diag_add(s->ds, W_SEVERAL, p->loc,
			 "the kernel has %u functions of the name %.*s, and %s is attached "
			 "to the first that it finds",
			 n, STRF(p->name), p->type->name);
	diag_hint(s->ds, d, "a kprobe is attached to all of them");
}

static struct err *search_functions(struct host *h, struct search *s)
{
	const struct point *p = s->p;
	struct types *k;
	s->module = p->target.n ? p->target : STR("vmlinux");
	if (in_program(p))
		return expand_programs(s);
	bool any = str_is(p->target, "*"); /* lists mean the kernel itself */
	if (str_is_glob(p->target) && !(any && str_is_glob(p->name)))
		return expand_modules(s);
	if (any)
		s->module = STR("vmlinux");
	struct err *e = typed_btf(h, s->module, &k);
	if (e)
		return e;
	bool wild = str_is_glob(p->name);
	if (!wild && !p->target.n && !btf_types_id(k, p->name, BTF_KIND_FUNC))
		return find_module(h, s);
	give_all(s, k);
	if (str_is(s->module, "vmlinux"))
		tell_doubles(h, s);
	return NULL;
}

static struct err *fentry_expand(struct host *h, struct unit *u, struct diags *ds,
				 const struct point *p, point_cb *cb, void *arg)
{
	(void)u;
	struct search s = {.h = h, .ds = ds, .a = h->arena, .p = p, .cb = cb, .arg = arg};
	struct err *e = search_functions(h, &s);
	if (s.nbusy && ds && p->loc.len)
		diag_add(ds, W_NO_PROBE, p->loc,
			 "%u function%s that BPF trampolines go through themselves %s left out of "
			 "this wildcard",
			 s.nbusy, s.nbusy == 1 ? "" : "s", s.nbusy == 1 ? "is" : "are");
	return e;
}

static struct err *fentry_types(struct host *h, struct unit *u, struct point *p, u32 use)
{
	(void)u, (void)use;
	struct arena *a = h->arena;
	u32 type;
	struct types *k;
	struct err *e = in_program(p) ? program_btf(a, (u32)p->addr, &type, &k)
				      : typed_btf(h, p->target, &k);
	if (e)
		return e;
	p->copied = p->code_refused;
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
		return typed_fetch(f, h, p, n);
	if (host_has(h, FEAT_FUNC_IP))
		return ir_callp(f, BPF_FUNC_get_func_ip, ARGS(ir_ctx(f)));
	return ir_con(f, tracefs_symbol(h, p->name));
}

/*
 * Before Linux 6.3 a function of a module was looked for by its name alone: the trampoline could be
 * in another module's. The kernel lists those that have one: "setup [vfat] (1) R  D ...".
 */
static struct err *check_module(struct host *h, const struct point *p)
{
	struct str text, line;
	const char *dir;
	struct err *e = host_tracefs(h, &dir);
	if (!e)
		e = host_read(h, &text, "%s/enabled_functions", dir);
	if (e) { /* cannot be told */
		err_free(e);
		return NULL;
	}
	struct str want =
		str_z(arena_fmt(h->arena, "%.*s [%.*s] ", STRF(p->name), STRF(p->target)));
	while (str_cut(&text, '\n', &line))
		if (str_starts(line, want))
			return NULL;
	return err_new("this kernel finds functions of modules by their names alone (Linux 6.3 "
		       "does not), and another has a %.*s: use kprobe:%.*s:%.*s",
		       STRF(p->name), STRF(p->target), STRF(p->name));
}

static bool in_module(const struct point *p)
{
	return p->target.n && !in_program(p) && !str_is(p->target, "vmlinux");
}

static struct err *fentry_attach(struct host *h, struct unit *u, struct attach *a)
{
	struct link *mark = a->links;
	const struct type *args = a->prog->points->args;
	struct err *e = typed_attach(h, u, a);
	if (!e && in_module(a->prog->points))
		e = check_module(h, a->prog->points);
	if (e && a->prog->points->wild) {
		link_undo(h, &a->links, mark);
		leave_out(a, 1, e);
		return NULL;
	}
	if (e && args && args->size > REG_SLOTS * 8)
		return err_wrap(e,
				"%.*s has arguments on the stack, which needs Linux 6.6; use a "
				"kprobe: ",
				STRF(a->prog->points->name));
	return e;
}

#define FENTRY_METHOD                                                                 \
	.prog_type = BPF_PROG_TYPE_TRACING, .flags = METHOD_TYPED, .arg = fentry_arg, \
	.attach = fentry_attach
static const struct method method_fentry = {FENTRY_METHOD, .attach_type = BPF_TRACE_FENTRY};
static const struct method method_fexit = {FENTRY_METHOD, .attach_type = BPF_TRACE_FEXIT};

#define FENTRY_PROBE \
	.needs = FEAT_FENTRY, .parse = fentry_parse, .expand = fentry_expand, .types = fentry_types
#define FENTRY_FLAGS                                                                  \
	(PROBE_KERNEL | PROBE_MACHINE | PROBE_FUNC | PROBE_PIDFILTER | PROBE_STACKS | \
	 PROBE_SIGNATURE)

const struct probe_type probe_fentry = {
	FENTRY_PROBE,
	.name = "fentry",
	.alias = {"f", "kfunc"},
	.syntax = "fentry[:module]:function, fentry:bpf[:id]:program",
	.doc = "Start of a kernel function, with typed arguments. Cheaper than kprobe.",
	.flags = FENTRY_FLAGS,
	.methods = (const struct method *const[]){&method_form, &method_fentry, NULL},
};

const struct probe_type probe_fexit = {
	FENTRY_PROBE,
	.name = "fexit",
	.alias = {"fr", "kretfunc"},
	.syntax = "fexit[:module]:function",
	.doc = "Return of a kernel function, with typed arguments and result.",
	.flags = FENTRY_FLAGS | PROBE_RETVAL,
	.methods = (const struct method *const[]){&method_form, &method_fexit, NULL},
};
