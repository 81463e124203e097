/* common.c - reading probe texts, registers, kernel functions. */
#include "probe/common.h"
#include "base/tab.h"
#include "kern/tracefs.h"
#include <linux/btf.h>

void leave_out(struct attach *a, u32 n, struct err *e)
{
	if (!a->unattached_why)
		a->unattached_why = e;
	else
		err_free(e);
	a->unattached += n;
}

struct err *attach_points(struct host *h, struct unit *u, struct attach *a, attach_point *one)
{
	bool only = !a->prog->points->next;
	for (const struct point *p = a->prog->points; p; p = p->next) {
		struct link *mark = a->links;
		struct err *e = one(h, u, a, p);
		if (!e)
			continue;
		link_undo(h, &a->links, mark);
		if (!a->failed && !only)
			a->failed = p;
		if (!p->wild && (only || u->config.missing_probes == MISSING_ERROR)) {
			a->failed = only ? NULL : p;
			return e;
		}
		leave_out(a, 1, e); /* others may be there */
	}
	return NULL;
}

/* ---- texts ---- */

struct parts parts_of(struct str text)
{
	struct parts r = {0};
	struct str rest = text, part;
	if (!text.n)
		return r;
	while (str_cut(&rest, ':', &part)) {
		if (r.n < MAX_PARTS)
			r.v[r.n] = part;
		r.n++;
	}
	return r;
}

struct err *parts_err(const struct point *p, const char *want, u32 found)
{
	return err_new("%s probe type requires %s, found %u", p->type->name, want, found);
}

struct str part_shown(struct str s)
{
	return s.n ? s : STR("(empty)");
}

struct str part_path(struct arena *a, struct str s)
{
	char *path = arena_strz(a, s);
	for (u32 i = 0; i < s.n; i++)
		if (path[i] == '\1')
			path[i] = ':';
	return str_n(path, s.n);
}

struct str probe_text(struct arena *a, const char *kind, struct str x, struct str y, struct str z)
{
	struct str part[] = {str_z(kind), x, y, z};
	u32 n = 0;
	if (str_chr(x, ':') >= 0 && x.s[0] == '/' && (y.n || z.n)) /* a path */
		part[1] = str_z(arena_fmt(a, "\"%.*s\"", STRF(x)));
	for (u32 i = 0; i < countof(part); i++)
		n += part[i].n ? part[i].n + 1 : 0;
	char *to = arena_alloc(a, n + 1, 1), *at = to;
	for (u32 i = 0; i < countof(part); i++) {
		if (!part[i].n)
			continue;
		memcpy(at, part[i].s, part[i].n);
		at += part[i].n;
		*at++ = ':';
	}
	at[-1] = 0;
	return str_n(to, n - 1);
}

struct err *split_offset(const struct point *p, struct str *name, u64 *off)
{
	i32 at = str_chr(*name, '+');
	*off = 0;
	if (at < 0)
		return NULL;
	struct str text = str_from(*name, (u32)at + 1);
	name->n = (u32)at;
	if (!str_u64(text, off))
		return err_new("Invalid offset of %s probe: %.*s", p->type->name,
			       STRF(part_shown(text)));
	return NULL;
}

struct err *offset_outside(struct str func, u64 size)
{
	return err_new("Offset outside the function bounds ('%.*s' size is %llu)", STRF(func),
		       size);
}

/* ---- registers ---- */

struct ref regs_fetch(struct fn *f, int n)
{
	i32 at = n == ARG_RET ? f->arch->ret : arch_arg(f->arch, (u32)n);
	return at < 0 ? ir_con(f, 0) : ir_load(f, 8, ir_ctx(f), at);
}

struct ref fit_value(struct fn *f, struct ref v, const struct type *t)
{
	bool known = t && (type_is_int(t) || t->kind == T_BOOL) && t->size < 8 && t->size;
	if (!known)
		return v;
	const struct type *i = t->kind == T_ENUM && t->base ? t->base : t;
	return ir_op1(f, i->is_signed ? O_EXTS : O_EXTU, t->size, v);
}

/* ---- kernel functions ---- */

enum { MAX_MODULES = 16 };

struct functions {
	struct host *h;
	struct diags *ds; /* or NULL */
	struct arena *a;
	const struct point *p;
	point_cb *cb;
	void *arg;
	struct tab seen;
	bool wild;
	u32 nbusy;
	struct str in[MAX_MODULES]; /* modules that have the function */
	u32 nin;
	bool twice; /* one of them has several of that name */
};

/*
 * What every probe runs into on its way to a program and back, or that runs millions of times per
 * second with interrupts off: caught by a wildcard beside hundreds of others, these can stop a
 * machine. A wildcard that begins like them means them.
 */
static bool is_busy(struct str glob, struct str func)
{
	static const char *const names[] = {
		"_raw_spin_",   "_raw_read_",   "_raw_write_",   "native_queued_spin_",
		"queued_spin_", "queued_read_", "queued_write_", "__pv_queued_",
		"rcu_",         "__rcu_",       "__srcu_",       "srcu_",
		"preempt_",     "migrate_",     "bpf_",          "__bpf_",
		"ftrace_",      "trace_",       "perf_",         "__perf_",
		"kprobe_",      "irq_work_",    "ring_buffer_",  "fprobe_",
		"rethook_"};
	for (u32 i = 0; i < countof(names); i++)
		if (str_starts(func, str_z(names[i])))
			return !str_starts(glob, str_z(names[i]));
	return false;
}

/* func may be a piece of the list: for one name it is the point's. */
static bool give_named(struct functions *s, struct str func, struct str module, struct str target)
{
	struct point q = *s->p;
	q.name = func;
	q.target = target;
	q.wild = s->wild;
	q.extra = arena_str(s->a, module);
	AUTO_SB name = {0};
	sb_add(&name, q.name);
	if (q.offset)
		sb_fmt(&name, "+%llu", q.offset);
	q.text = probe_text(s->a, q.type->name, target, sb_str(&name), (struct str){0});
	return s->cb(&q, s->arg);
}

static bool give_function(struct str func, struct str module, void *arg)
{
	struct functions *s = arg;
	struct str want = s->p->target;
	if (s->p->like.n && !str_like(s->p->like, func))
		return true;
	if (want.n && !str_glob(want, module.n ? module : STR("vmlinux")))
		return true;
	if (s->wild && s->p->loc.len && is_busy(s->p->name, func)) {
		s->nbusy++;
		return true;
	}
	if (!s->wild) {
		for (u32 i = 0; i < s->nin; i++)
			if (str_eq(s->in[i], module)) {
				s->twice |= !module.n;
				return true;
			}
		s->in[s->nin++] = arena_str(s->a, module);
		return s->nin < countof(s->in);
	}
	/* Static functions of one name: the kernel takes the name once. */
	if (tab_add(&s->seen, func, s)) /* the list of functions stays in memory */
		return true;
	struct str target = want;
	if (str_is_glob(want))
		target = arena_str(s->a, module.n ? module : STR("vmlinux"));
	return give_named(s, func, module, target);
}

bool btf_hides_doubles(struct host *h)
{
	struct types *k = host_btf(h);
	return k && !h->recorded && btf_types_id(k, STR("c_start"), BTF_KIND_FUNC);
}

/* Static functions of the kernel that share a name: each by its address. False: it is one. */
static bool give_doubles(struct functions *s, struct unit *u)
{
	const struct point *p = s->p;
	u32 n = u ? tracefs_addresses(s->h, p->name, NULL, 0) : 0;
	if (n < 2)
		return false;
	u64 *addr = arena_newn(s->a, u64, n);
	u32 found = tracefs_addresses(s->h, p->name, addr, n);
	n = MIN(n, found);
	struct point by = *p;
	s->p = &by;
	for (u32 i = 0; i < n; i++) {
		by.has_addr = true;
		by.addr = addr[i] + p->offset;
		s->wild = true; /* one that cannot be probed is left out */
		if (!give_named(s, p->name, STR(""), p->target))
			break;
	}
	s->p = p;
	if (s->ds)
		diag_add(s->ds, W_SEVERAL, p->loc,
			 "the kernel has %u functions of the name %.*s: all are probed", n,
			 STRF(p->name));
	return true;
}

/* Several modules that have it: each by its name. */
static void give_one_name(struct functions *s)
{
	const struct point *p = s->p;
	bool clear = s->nin < 2 && !str_is_glob(p->target);
	for (u32 i = 0; i < s->nin; i++)
		if (!give_named(s, p->name, s->in[i],
				clear        ? p->target
				: s->in[i].n ? s->in[i]
					     : STR("vmlinux")))
			break;
}

/* ---- functions that the compiler changed: forms.c ---- */

/* The name itself is not there, so far as the list says. */
static bool give_forms(struct functions *s, struct unit *u)
{
	struct forms f;
	const struct point *p = s->p;
	if (p->offset || !u || !function_forms(s->h, s->a, p, &f))
		return false;
	for (u32 i = 0; i < f.n; i++)
		if (!give_named(s, f.name[i], f.module[i], p->target))
			break;
	if (s->ds)
		diag_add(s->ds, W_SEVERAL, p->loc, "%s", function_forms_text(s->a, p, &f));
	return true;
}

/* BTF names functions as they are written; only lists and the kernel know what became of them. */
static bool changed_its_name(struct functions *s)
{
	bool listed = s->h->recorded || s->h->functions.n;
	return listed && !function_listed(s->h, s->p->name); /* else it is seen when attaching */
}

/* Other forms that it would have are asked for, too. */
static bool is_lacking(struct host *h, struct arena *a, struct str module, struct str func)
{
	static const char *const tails[] = {"",
					    ".isra.0",
					    ".constprop.0",
					    ".part.0",
					    ".constprop.0.isra.0",
					    ".isra.0.constprop.0"};
	bool lacks = true;
	for (u32 i = 0; i < countof(tails) && lacks; i++) {
		const char *colon = module.n ? ":" : "";
		lacks = perf_no_function(
			h, arena_fmt(a, "%.*s%s%.*s%s", STRF(module), colon, STRF(func), tails[i]));
	}
	return lacks;
}

/* ---- all of it ---- */

/* By the module's types, which are read sooner than the list of functions. */
static bool in_module(struct functions *s)
{
	struct types *k;
	struct str module = s->p->target;
	if (s->wild || !module.n || str_is_glob(module) || str_is(module, "vmlinux"))
		return false;
	struct err *e = host_module_btf(s->h, module, &k);
	bool found = !e && btf_types_id(k, s->p->name, BTF_KIND_FUNC);
	err_free(e);
	if (found)
		give_named(s, s->p->name, module, module);
	return found;
}

/* So says the kernel, where the list was not read yet. No reason is asked for: none without kprobes. */
static bool is_missing(struct host *h, const struct unit *u, const struct point *p)
{
	struct str module = str_is(p->target, "vmlinux") ? STR("") : p->target;
	bool quiet = u && u->config.missing_probes == MISSING_IGNORE;
	if (quiet && p->type->needs == FEAT_KPROBE && !host_has(h, FEAT_KPROBE))
		return true;
	return !h->functions.s && is_lacking(h, h->arena, module, p->name);
}

static void tell_busy(struct diags *ds, const struct point *p, u32 n)
{
	if (n && ds)
		diag_add(ds, W_NO_PROBE, p->loc,
			 "%u function%s that tracing itself goes through %s left out of this "
			 "wildcard. Name them to probe them.",
			 n, n == 1 ? "" : "s", n == 1 ? "is" : "are");
}

struct err *kernel_functions(struct host *h, struct unit *u, struct diags *ds,
			     const struct point *p, point_cb *cb, void *arg)
{
	struct functions s = {.h = h, .ds = ds, .a = h->arena, .p = p, .cb = cb, .arg = arg};
	s.wild = str_is_glob(p->name);
	/* One name: BTF answers in a tenth of the time that the list of functions takes. */
	bool core = !p->target.n || str_is(p->target, "vmlinux");
	struct types *k = s.wild || !core ? NULL : host_btf(h);
	bool unsafe = u && u->config.unsafe;
	if (!s.wild && !host_traceable(h, p->name) && !unsafe) {
		if (ds)
			diag_add(ds, W_NO_PROBE, p->loc,
				 "%.*s is not among the functions of --traceable-functions",
				 STRF(p->name));
		return NULL;
	}
	if (k && btf_types_id(k, p->name, BTF_KIND_FUNC)) {
		if (changed_its_name(&s) && give_forms(&s, u))
			return NULL;
		if (btf_hides_doubles(h) && give_doubles(&s, u))
			return NULL;
		give_named(&s, p->name, STR(""), p->target);
		return NULL;
	}
	if (in_module(&s) || (!s.wild && !str_is_glob(p->target) && is_missing(h, u, p)))
		return NULL;
	struct err *e = tracefs_functions(h, p->name, give_function, &s);
	tab_free(&s.seen);
	bool given = s.wild || (s.nin ? s.twice && core && give_doubles(&s, u) : give_forms(&s, u));
	if (!given)
		give_one_name(&s);
	tell_busy(ds, p, s.nbusy);
	return e;
}
