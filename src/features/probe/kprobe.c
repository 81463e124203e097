/* kprobe.c - kprobe and kretprobe: kernel functions by breakpoint, or many at once by fprobe. */
#include "kern/tracefs.h"
#include "probe/common.h"
#include "sym/sym.h"
#include <errno.h>

enum {
	FEW_RETURNS = 64, /* each by itself */
	FULL_RETURNS = 8, /* more than so many share the memory for calls in progress */
	GROUP = 64,       /* functions in one event of tracefs: the kernel's work on one holds up
			     others who open events */
	SMALL_GROUP = 8,  /* undone before we end */
};

static bool is_return(const struct probe_type *p)
{
	return p->flags & PROBE_RETVAL;
}

static struct err *kprobe_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n != 1 && t.n != 2)
		return parts_err(p, "1 or 2 arguments", t.n);
	struct str name = t.v[t.n - 1];
	const char *kind = p->type->name;
	p->target = t.n == 2 ? arena_str(a, t.v[0]) : STR("");
	if (!name.n)
		return err_new("%s probe type requires the name of a function", kind);
	if (is_return(p->type) && str_chr(name, '+') >= 0)
		return err_new("Offset not allowed in a %s: it fires when the function returns",
			       kind);
	if (str_u64(name, &p->addr)) {
		if (t.n == 2)
			return err_new("a %s by address takes no module", kind);
		p->has_addr = true;
		p->text = probe_text(a, kind, arena_str(a, name), STR(""), STR(""));
		return NULL;
	}
	struct str shown = arena_str(a, name);
	struct err *e = split_offset(p, &name, &p->offset);
	if (e)
		return e;
	if (p->offset && str_is_glob(name))
		return err_new("Offset not allowed with a wildcard");
	if (!name.n)
		return err_new("%s probe type requires the name of a function before the offset",
			       kind);
	p->name = arena_str(a, name);
	p->text = probe_text(a, kind, p->target, shown, STR(""));
	return NULL;
}

/* The kernel would put it into whatever function lies there. */
static struct err *check_offset(struct host *h, const struct point *p)
{
	struct symbol sym;
	struct err *e = NULL;
	if (p->offset && h->vmlinux) {
		e = elf_symbol(h, h->vmlinux, p->name, &sym);
		if (e)
			return err_wrap(e, "BPFTRACE_VMLINUX: ");
		return p->offset >= sym.size ? offset_outside(p->name, sym.size) : NULL;
	}
	u64 from = p->offset ? tracefs_symbol(h, p->name) : 0;
	u64 end = from ? tracefs_symbol_end(h, from) : 0;
	return end && p->offset >= end - from ? offset_outside(p->name, end - from) : NULL;
}

static struct err *kprobe_expand(struct host *h, struct unit *u, struct diags *ds,
				 const struct point *p, point_cb *cb, void *arg)
{
	struct err *e = p->has_addr ? NULL : check_offset(h, p);
	if (e)
		return e;
	if (!p->has_addr)
		return kernel_functions(h, u, ds, p, cb, arg);
	if (u && !u->config.unsafe)
		return err_new("Probing by address requires --unsafe");
	cb(p, arg);
	return NULL;
}

struct ref kprobe_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (n != ARG_FUNC)
		return regs_fetch(f, n);
	if (!p->offset && host_has(h, FEAT_FUNC_IP)) /* inside a function it says 0 */
		return ir_callp(f, BPF_FUNC_get_func_ip, ARGS(ir_ctx(f)));
	if (is_return(p->type)) /* registers no longer tell: this program is for one point */
		return ir_con(f, p->has_addr ? p->addr : tracefs_symbol(h, p->name));
	struct ref ip = ir_load(f, 8, ir_ctx(f), f->arch->ip);
	return ir_addi(f, ip, -(i64)p->offset - f->arch->kprobe_skew);
}

/* ---- types ---- */

/* BTF that may describe the function; NULL if there is none. */
static struct types *btf_of(struct host *h, const struct point *p)
{
	struct types *k = NULL;
	struct str module = p->target.n ? p->target : p->extra;
	if (!module.n || str_is(module, "vmlinux"))
		return host_btf(h);
	if (host_module_types(h, module) == MODULE_TYPED)
		err_free(host_module_btf(h, module, &k));
	return k;
}

/*
 * A result that is a number has its type's width and sign, so that an int of -1 is negative. Results
 * of other types stay the number in the register (uint64).
 */
static struct err *kretprobe_types(struct host *h, struct unit *u, struct point *p, u32 use)
{
	(void)u;
	struct types *k = (use & USE_RETVAL) && !p->has_addr ? btf_of(h, p) : NULL;
	const struct type *fn = k ? btf_types_find(k, p->name, T_FUNC) : NULL;
	const struct type *t = fn ? fn->base : NULL;
	if (t && type_is_int(t) && t->size <= 8)
		p->ret = type_int(t->size, t->is_signed);
	else if (t && t->kind == T_BOOL)
		p->ret = type_int(t->size, false);
	return NULL;
}

/* ---- attaching ---- */

/* Nothing that only a breakpoint can do. */
static bool can_multi(const struct point *p)
{
	for (; p; p = p->next)
		if (p->has_addr || p->offset || p->target.n)
			return false;
	return true;
}

/*
 * Before 6.14 a multi link can follow as few as four calls at once in each of its functions, and
 * before 6.7 nobody learns what it missed: so few return probes are breakpoints there.
 */
static bool wants_multi(struct host *h, const struct prog *g)
{
	u32 n = point_count(g->points);
	bool few = n <= (is_return(g->points->type) ? FEW_RETURNS : 1u);
	return !few && can_multi(g->points) && host_has(h, FEAT_KPROBE_MULTI);
}

u32 kprobe_load_as(struct host *h, const struct unit *u, const struct prog *g)
{
	(void)u;
	return wants_multi(h, g) ? BPF_TRACE_KPROBE_MULTI : 0;
}

static u32 returns_load_as(struct host *h, const struct unit *u, const struct prog *g)
{
	(void)h, (void)u, (void)g;
	return BPF_TRACE_KPROBE_MULTI;
}

/* core: only functions of vmlinux, for kernels that do not look into modules. */
static bool attach_multi(struct host *h, struct attach *a, bool core)
{
	VEC(const char *) syms = {0};
	for (const struct point *p = a->prog->points; p; p = p->next)
		if (!core || !p->extra.n)
			vec_add(&syms, arena_strz(h->arena, p->name));
	int fd = -1;
	struct err *e = syms.n ? bpf_link_kprobe_multi(a->fd, syms.v, NULL, syms.n,
						       is_return(a->prog->points->type), &fd)
			       : NULL;
	vec_free(&syms);
	bool linked = !e && fd >= 0;
	err_free(e);
	if (linked)
		link_add(&a->links, fd, -1)->missed = MISSED_LINK;
	return linked;
}

/* A link where that is more than an ioctl: it tells what was missed. */
static struct err *attach_perf(struct host *h, struct attach *a, int perf_fd)
{
	int fd = -1;
	const struct method *w = a->prog->points->method;
	bool multi = w->load_as && w->load_as(h, NULL, a->prog);
	if (!multi && host_has(h, FEAT_PERF_LINK))
		err_free(bpf_link_perf(a->fd, perf_fd, 0, &fd));
	if (fd >= 0) {
		link_add(&a->links, fd, perf_fd)->missed = MISSED_LINK;
		return perf_enable(perf_fd);
	}
	struct err *e = perf_start_fd(perf_fd, a);
	a->links->missed = MISSED_LINK; /* not told */
	return e;
}

/* How many calls may be in progress at once in each function. 0: no return probes. */
static u32 calls_of(const struct unit *u, const struct prog *g)
{
	u64 all = u->config.kretprobe_maxactive * FULL_RETURNS, n = point_count(g->points);
	return is_return(g->points->type)
		       ? (u32)MIN(u->config.kretprobe_maxactive, MAX(all / n, 64u))
		       : 0;
}

static struct err *attach_return(struct host *h, struct attach *a, const char *func, u32 calls)
{
	int fd;
	char *event;
	struct err *e = retprobe_open(h, func, calls, &event, &fd);
	if (e)
		return e;
	e = perf_start_fd(fd, a);
	a->links->event = event;
	a->links->missed = MISSED_TRACEFS;
	return e;
}

/* "module:function" where the module was named, or found by a wildcard; NULL: by address. */
static const char *function_of(struct host *h, const struct point *p)
{
	const char *func = p->has_addr ? NULL : arena_strz(h->arena, p->name);
	struct str module = p->wild && p->extra.n ? p->extra : p->target;
	if (func && module.n && !str_is(module, "vmlinux"))
		func = arena_fmt(h->arena, "%.*s:%s", STRF(module), func);
	return func;
}

/* func NULL: by address. place: the same in tracefs's words; NULL: there are none. */
static struct err *attach_at(struct host *h, struct unit *u, struct attach *a,
			     const struct point *p, const char *func, const char *place)
{
	int fd;
	bool ret = is_return(a->prog->points->type);
	if (place && ret) {
		struct err *e = attach_return(h, a, place, calls_of(u, a->prog));
		if (!e)
			return NULL;
		err_free(e); /* the other way says better what is wrong */
	}
	struct err *e = perf_open_kprobe(h, func, func ? p->offset : p->addr, ret, &fd);
	return e ? e : attach_perf(h, a, fd);
}

struct err *kprobe_start(struct host *h, struct unit *u, struct attach *a, const char *func,
			 bool ret)
{
	int fd;
	struct err *e =
		ret ? attach_return(h, a, func,
				    (u32)MIN(u->config.kretprobe_maxactive, (u64)UINT32_MAX))
		    : NULL;
	if (ret && !e)
		return NULL;
	err_free(e); /* the other way says better what is wrong */
	e = perf_open_kprobe(h, func, 0, ret, &fd);
	return e ? e : attach_perf(h, a, fd);
}

/* BTF has a name that the kernel has only with a compiler's ending. */
static struct err *attach_forms(struct host *h, struct unit *u, struct attach *a,
				const struct point *p, struct err *missing)
{
	struct forms f;
	struct err *e = NULL;
	if (p->offset || !function_forms(h, h->arena, p, &f))
		return missing;
	err_free(missing);
	for (u32 i = 0; i < f.n && !e; i++) {
		const char *func = arena_strz(h->arena, f.name[i]);
		e = attach_at(h, u, a, p, func, func);
	}
	if (!e)
		a->remark = function_forms_text(h->arena, p, &f);
	return e;
}

/* With p->priv set, a group has it already. */
static struct err *attach_one(struct host *h, struct unit *u, struct attach *a,
			      const struct point *p)
{
	const char *func = function_of(h, p), *place = func;
	if (p->priv)
		return NULL;
	if (!place && p->name.n) /* one of several functions of the name */
		place = arena_fmt(h->arena, "0x%llx", p->addr);
	struct err *e = attach_at(h, u, a, p, func, place);
	return e && e->no == ENOENT && func ? attach_forms(h, u, a, p, e) : e;
}

/* ---- groups: many functions by one event, for kernels without multi links ---- */

/* One event with a program on it; those that could not be defined are left to attach_one(). */
static void attach_group(struct host *h, struct attach *a, struct point **points,
			 struct probe_place *v, u32 n, u32 calls)
{
	int fd, link = -1;
	char *event;
	struct err *e = retprobe_open_all(h, v, n, calls, &event, &fd);
	if (e) {
		err_free(e);
		return;
	}
	if (host_has(h, FEAT_PERF_LINK))
		err_free(bpf_link_perf(a->fd, fd, 0, &link));
	struct link *l = link_add(&a->links, link, fd), *before = l->next;
	l->event = event;
	l->missed = MISSED_TRACEFS;
	l->late = n > SMALL_GROUP;
	e = link >= 0 ? perf_enable(fd) : perf_attach(fd, a->fd);
	if (e) { /* one of them spoils all */
		l->late = false;
		link_undo(h, &a->links, before);
	}
	for (u32 i = 0; i < n && !e; i++)
		if (!v[i].no)
			points[i]->priv = points[i];
	err_free(e);
}

static void attach_groups(struct host *h, struct unit *u, struct attach *a)
{
	u32 all = point_count(a->prog->points), n = 0;
	struct point **points = arena_newn(h->arena, struct point *, all);
	struct probe_place *v = arena_newn(h->arena, struct probe_place, all);
	for (struct point *p = a->prog->points; p; p = p->next) {
		if (p->has_addr || p->offset || p->priv)
			continue;
		points[n] = p;
		v[n++].func = function_of(h, p);
	}
	if (n < 2)
		return;
	if (n > SMALL_GROUP)
		tracefs_symbols(h, v, n);
	for (u32 i = 0; i < n; i += GROUP)
		attach_group(h, a, points + i, v + i, MIN(n - i, (u32)GROUP), calls_of(u, a->prog));
}

struct err *kprobe_attach(struct host *h, struct unit *u, struct attach *a)
{
	bool multi = a->prog->points->method->load_as(h, u, a->prog);
	if (multi) { /* one function that cannot be attached spoils all; breakpoints tell which */
		if (attach_multi(h, a, false))
			return NULL;
		bool core = attach_multi(h, a, true);
		for (struct point *p = a->prog->points; p && core; p = p->next)
			p->priv = p->extra.n ? NULL : p;
	}
	attach_groups(h, u, a);
	return attach_points(h, u, a, attach_one);
}

#define KPROBE_METHOD                                                             \
	.prog_type = BPF_PROG_TYPE_KPROBE, .flags = METHOD_REGS | METHOD_LINGERS, \
	.arg = kprobe_arg, .attach = kprobe_attach
static const struct method method_kprobe = {KPROBE_METHOD, .load_as = kprobe_load_as};

/* Registers and the way back are not all there in a multi link's return. */
static bool returns_fits(const struct ask *q)
{
	return !(q->use & (USE_KSTACK | USE_REGS)) && can_multi(q->points) &&
	       host_has(q->h, FEAT_FPROBE_RETURNS);
}

/* Through function graph tracing: no breakpoint, and any number of calls in progress. */
static const struct method method_returns = {
	KPROBE_METHOD,
	.load_as = returns_load_as,
	.fits = returns_fits,
};

#define KPROBE_PROBE .needs = FEAT_KPROBE, .parse = kprobe_parse, .expand = kprobe_expand
#define KPROBE_FLAGS (PROBE_KERNEL | PROBE_MACHINE | PROBE_FUNC | PROBE_PIDFILTER | PROBE_STACKS)

const struct probe_type probe_kprobe = {
	KPROBE_PROBE,
	.name = "kprobe",
	.alias = {"k"},
	.syntax = "kprobe[:module]:function[+offset]",
	.doc = "Start of a kernel function, or an instruction in it. arg0... are its arguments.",
	.flags = KPROBE_FLAGS | PROBE_ARGN | PROBE_OVERRIDE,
	.methods = (const struct method *const[]){&method_trampoline_entry, &method_kprobe, NULL},
};

const struct probe_type probe_kretprobe = {
	KPROBE_PROBE,
	.name = "kretprobe",
	.alias = {"kr"},
	.syntax = "kretprobe[:module]:function",
	.doc = "Return of a kernel function. retval is its result.",
	.flags = KPROBE_FLAGS | PROBE_RETVAL | PROBE_FIRST,
	.types = kretprobe_types,
	.methods = (const struct method *const[]){&method_trampoline_return, &method_returns,
						  &method_kprobe, NULL},
};
