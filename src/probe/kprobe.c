/* kprobe.c - kprobe and kretprobe: kernel functions by breakpoint, or many at once by fprobe. */
#include "kern/regs.h"
#include "kern/tracefs.h"
#include "probe/common.h"

enum {
	HELPER_GET_FUNC_IP = 173,
	FEW_RETURNS = 64, /* each by itself */
	FULL_RETURNS = 8, /* more than so many share the memory for calls in progress */
	GROUP = 64,       /* functions in one event of tracefs: the kernel's work on one holds up
			     others who open events */
	SMALL_GROUP = 8,  /* undone before we end */
};

static bool is_return(const struct provider *p)
{
	return p->flags & PF_RETVAL;
}

static struct err *kprobe_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n != 1 && t.n != 2)
		return parts_err(p, "1 or 2 arguments", t.n);
	struct str name = t.v[t.n - 1];
	const char *kind = p->provider->name;
	p->target = t.n == 2 ? arena_str(a, t.v[0]) : STR("");
	if (!name.n)
		return err_new("%s probe type requires the name of a function", kind);
	if (is_return(p->provider) && str_chr(name, '+') >= 0)
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
	u64 from = p->offset ? tracefs_symbol(h, p->name) : 0;
	u64 end = from ? tracefs_symbol_end(h, from) : 0;
	return end && p->offset >= end - from ? offset_outside(p->name, end - from) : NULL;
}

static struct err *kprobe_expand(struct host *h, struct unit *u, const struct point *p,
				 point_cb *cb, void *arg)
{
	struct err *e = p->has_addr ? NULL : check_offset(h, p);
	if (e)
		return e;
	if (!p->has_addr)
		return kernel_functions(h, u, p, cb, arg);
	if (u && !u->config.unsafe)
		return err_new("Probing by address requires --unsafe");
	cb(p, arg);
	return NULL;
}

static struct ref kprobe_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (n != ARG_FUNC)
		return regs_fetch(f, n);
	if (!p->offset && host_has(h, FEAT_FUNC_IP)) /* inside a function it says 0 */
		return ir_callp(f, HELPER_GET_FUNC_IP, ARGS(ir_ctx(f)));
	if (is_return(p->provider)) /* registers no longer tell: this program is for one point */
		return ir_con(f, p->has_addr ? p->addr : tracefs_symbol(h, p->name));
	struct ref ip = ir_load(f, 8, ir_ctx(f), REGS_IP);
	return ir_addi(f, ip, -(i64)p->offset - REGS_KPROBE_SKEW);
}

/* ---- attaching ---- */

static u32 count_points(const struct point *p)
{
	u32 n = 0;
	for (; p; p = p->next)
		n++;
	return n;
}

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
	u32 n = count_points(g->points);
	bool few = n <= (is_return(g->provider) ? FEW_RETURNS : 1u);
	return !few && can_multi(g->points) && host_has(h, FEAT_KPROBE_MULTI);
}

static u32 kprobe_load_as(struct host *h, const struct unit *u, const struct prog *g)
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
static bool attach_multi(struct host *h, struct prog *g, bool core, struct link **list)
{
	VEC(const char *) syms = {0};
	for (const struct point *p = g->points; p; p = p->next)
		if (!core || !p->extra.n)
			vec_add(&syms, arena_strz(h->arena, p->name));
	int fd = -1;
	struct err *e = syms.n ? bpf_link_kprobe_multi(g->fd, syms.v, NULL, syms.n,
						       is_return(g->provider), &fd)
			       : NULL;
	vec_free(&syms);
	bool linked = !e && fd >= 0;
	err_free(e);
	if (linked)
		link_add(list, fd, -1)->missed = MISSED_LINK;
	return linked;
}

/* A link where that is more than an ioctl: it tells what was missed. */
static struct err *attach_perf(struct host *h, struct prog *g, int perf_fd, struct link **list)
{
	int fd = -1;
	bool multi = g->provider->load_as(h, NULL, g);
	if (!multi && host_has(h, FEAT_PERF_LINK))
		err_free(bpf_link_perf(g->fd, perf_fd, 0, &fd));
	if (fd >= 0) {
		link_add(list, fd, perf_fd)->missed = MISSED_LINK;
		return perf_enable(perf_fd);
	}
	struct err *e = perf_start_fd(perf_fd, g, list);
	(*list)->missed = MISSED_LINK; /* not told */
	return e;
}

/* How many calls may be in progress at once in each function. 0: no return probes. */
static u32 calls_of(const struct unit *u, const struct prog *g)
{
	u64 all = u->config.kretprobe_maxactive * FULL_RETURNS, n = count_points(g->points);
	return is_return(g->provider) ? (u32)MIN(u->config.kretprobe_maxactive, MAX(all / n, 64u))
				      : 0;
}

static struct err *attach_return(struct host *h, struct unit *u, struct prog *g, const char *func,
				 struct link **list)
{
	int fd;
	char *event;
	struct err *e = retprobe_open(h, func, calls_of(u, g), &event, &fd);
	if (e)
		return e;
	e = perf_start_fd(fd, g, list);
	(*list)->event = event;
	(*list)->missed = MISSED_TRACEFS;
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

/* With p->priv set, a group has it already. */
static struct err *attach_one(struct host *h, struct unit *u, struct prog *g, const struct point *p,
			      struct link **list)
{
	int fd;
	const char *func = function_of(h, p), *place = func;
	if (p->priv)
		return NULL;
	if (!place && p->name.n) /* one of several functions of the name */
		place = arena_fmt(h->arena, "0x%llx", p->addr);
	if (place && is_return(g->provider)) {
		struct err *e = attach_return(h, u, g, place, list);
		if (!e)
			return NULL;
		err_free(e); /* the other way says better what is wrong */
	}
	struct err *e =
		perf_open_kprobe(h, func, func ? p->offset : p->addr, is_return(g->provider), &fd);
	return e ? e : attach_perf(h, g, fd, list);
}

/* ---- groups: many functions by one event, for kernels without multi links ---- */

/* One event with a program on it; those that could not be defined are left to attach_one(). */
static void attach_group(struct host *h, struct prog *g, struct point **points,
			 struct probe_place *v, u32 n, u32 calls, struct link **list)
{
	int fd, link = -1;
	char *event;
	struct err *e = retprobe_open_all(h, v, n, calls, &event, &fd);
	if (e) {
		err_free(e);
		return;
	}
	if (host_has(h, FEAT_PERF_LINK))
		err_free(bpf_link_perf(g->fd, fd, 0, &link));
	struct link *l = link_add(list, link, fd), *before = l->next;
	l->event = event;
	l->missed = MISSED_TRACEFS;
	l->late = n > SMALL_GROUP;
	e = link >= 0 ? perf_enable(fd) : perf_attach(fd, g->fd);
	if (e) { /* one of them spoils all */
		l->late = false;
		link_undo(h, list, before);
	}
	for (u32 i = 0; i < n && !e; i++)
		if (!v[i].no)
			points[i]->priv = points[i];
	err_free(e);
}

static void attach_groups(struct host *h, struct unit *u, struct prog *g, struct link **list)
{
	u32 all = count_points(g->points), n = 0;
	struct point **points = arena_newn(u->arena, struct point *, all);
	struct probe_place *v = arena_newn(u->arena, struct probe_place, all);
	for (struct point *p = g->points; p; p = p->next) {
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
		attach_group(h, g, points + i, v + i, MIN(n - i, (u32)GROUP), calls_of(u, g), list);
}

static struct err *kprobe_attach(struct host *h, struct unit *u, struct prog *g, struct link **list)
{
	bool multi = g->provider->load_as(h, u, g);
	if (multi) { /* one function that cannot be attached spoils all; breakpoints tell which */
		if (attach_multi(h, g, false, list))
			return NULL;
		bool core = attach_multi(h, g, true, list);
		for (struct point *p = g->points; p && core; p = p->next)
			p->priv = p->extra.n ? NULL : p;
	}
	attach_groups(h, u, g, list);
	return attach_points(h, u, g, attach_one, list);
}

#define KPROBE_FLAGS (PF_KERNEL | PF_REGS | PF_FUNC | PF_PIDFILTER | PF_STACKS)

const struct provider provider_kprobe = {
	.name = "kprobe",
	.alias = {"k"},
	.syntax = "kprobe[:module]:function[+offset]",
	.doc = "Start of a kernel function, or an instruction in it. arg0... are its arguments.",
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.flags = KPROBE_FLAGS | PF_ARGN | PF_LINGERS,
	.needs = FEAT_KPROBE,
	.parse = kprobe_parse,
	.expand = kprobe_expand,
	.arg = kprobe_arg,
	.load_as = kprobe_load_as,
	.choose = trampoline_choose,
	.attach = kprobe_attach,
};

static const struct provider provider_returns;

/* Registers and the way back are not all there in a multi link's return. */
static const struct provider *kretprobe_choose(struct host *h, struct unit *u, struct point *points,
					       u32 n, u32 use)
{
	const struct provider *better = trampoline_choose(h, u, points, n, use);
	if (better)
		return better;
	bool fits = !u->config.plain && !(use & (USE_KSTACK | USE_REGS)) && can_multi(points);
	return fits && host_has(h, FEAT_FPROBE_RETURNS) ? &provider_returns : NULL;
}

const struct provider provider_kretprobe = {
	.name = "kretprobe",
	.alias = {"kr"},
	.syntax = "kretprobe[:module]:function",
	.doc = "Return of a kernel function. retval is its result.",
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.flags = KPROBE_FLAGS | PF_RETVAL | PF_LINGERS,
	.needs = FEAT_KPROBE,
	.parse = kprobe_parse,
	.expand = kprobe_expand,
	.arg = kprobe_arg,
	.load_as = kprobe_load_as,
	.choose = kretprobe_choose,
	.attach = kprobe_attach,
};

/* Through function graph tracing: no breakpoint, and any number of calls in progress. */
static const struct provider provider_returns = {
	.name = "kretprobe",
	.syntax = "kretprobe:function",
	.doc = "Return of a kernel function.",
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.flags = KPROBE_FLAGS | PF_RETVAL | PF_LINGERS,
	.needs = FEAT_KPROBE,
	.parse = kprobe_parse,
	.expand = kprobe_expand,
	.arg = kprobe_arg,
	.load_as = returns_load_as,
	.attach = kprobe_attach,
};
