/*
 * iter.c - iter:name: once for each object that the kernel has of a kind.
 *
 * The program runs in our own process, which reads the iterator. Its context is an array of u64 as
 * in other typed programs, but pointers in it may be null: after the last object the kernel calls
 * once more with none.
 */
#include "probe/common.h"
#include <linux/btf.h>

#define PREFIX "bpf_iter_"
enum { PREFIX_LEN = sizeof(PREFIX) - 1 };

/* These go through one map, which would have to be named. */
static bool needs_target(struct str name)
{
	static const char *const names[] = {"bpf_map_elem", "bpf_sk_storage_map", "sockmap"};
	for (u32 i = 0; i < countof(names); i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

static const struct probe_type probe_pinned;

/* The file, in .extra; a name is one in the usual place. */
static struct err *pin_parse(struct arena *a, struct point *p, struct str file)
{
	u32 base = file.n;
	while (base && file.s[base - 1] != '/')
		base--;
	if (base == file.n)
		return err_new("iter:%.*s: the file name after the second colon is missing",
			       STRF(p->name));
	if (str_chr(str_from(file, base), '.') >= 0)
		return err_new("pin to %.*s: the kernel takes no names with a dot", STRF(file));
	if (str_is_glob(p->name))
		return err_new("a wildcard names many iterators, but %.*s one file", STRF(file));
	p->extra = str_z(arena_fmt(a, "%s%.*s", file.s[0] == '/' ? "" : BPF_PINS, STRF(file)));
	p->type = &probe_pinned;
	p->method = probe_last_method(p->type);
	return NULL;
}

static struct err *iter_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n != 1 && t.n != 2)
		return parts_err(p, "1 or 2 arguments", t.n);
	if (!t.v[0].n)
		return err_new("iter probe type requires the name of an iterator");
	p->name = arena_str(a, t.v[0]);
	p->text =
		probe_text(a, "iter", p->name, t.n == 2 ? arena_str(a, t.v[1]) : STR(""), STR(""));
	return t.n == 2 ? pin_parse(a, p, t.v[1]) : NULL;
}

struct search {
	struct arena *a;
	const struct point *p;
	point_cb *cb;
	void *arg;
};

static bool give_iter(struct str func, u32 id, void *arg)
{
	struct search *s = arg;
	(void)id;
	struct point q = *s->p;
	q.name = arena_str(s->a, str_from(func, PREFIX_LEN));
	if (needs_target(q.name))
		return true;
	q.text = probe_text(s->a, "iter", q.name, STR(""), STR(""));
	return s->cb(&q, s->arg);
}

/* For each iterator the kernel has a structure bpf_iter__NAME and a function bpf_iter_NAME. */
struct own {
	struct types *k;
	struct search *s;
};

static bool give_struct(struct str name, u32 id, void *arg)
{
	struct own *o = arg;
	(void)id;
	struct str func = str_z(
		arena_fmt(o->s->a, PREFIX "%.*s", STRF(str_from(name, sizeof("bpf_iter__") - 1))));
	u32 fn = btf_types_id(o->k, func, BTF_KIND_FUNC);
	return !fn || give_iter(func, fn, o->s);
}

/* What was added after the first ones (5.8 to 5.10). */
static struct err *not_yet(struct str name)
{
	static const struct {
		const char *name, *since;
	} later[] = {{"task_vma", "5.12"}, {"unix", "5.15"}, {"bpf_link", "5.19"},
		     {"cgroup", "6.1"},    {"ksym", "6.0"},  {"kmem_cache", "6.13"},
		     {"dmabuf", "6.16"}};
	for (u32 i = 0; i < countof(later); i++)
		if (str_is(name, later[i].name))
			return err_new("this kernel has no iterator %s (Linux %s has it)",
				       later[i].name, later[i].since);
	return NULL;
}

static struct err *iter_expand(struct host *h, struct unit *u, struct diags *ds,
			       const struct point *p, point_cb *cb, void *arg)
{
	(void)u, (void)ds;
	struct search s = {h->arena, p, cb, arg};
	struct types *k;
	struct err *e = typed_btf(h, STR(""), &k);
	if (e)
		return e;
	if (str_is_glob(p->name)) {
		struct own o = {.k = k, .s = &s};
		btf_types_each(k, BTF_KIND_STRUCT,
			       str_z(arena_fmt(s.a, "bpf_iter__%.*s", STRF(p->name))), give_struct,
			       &o);
		return NULL;
	}
	if (needs_target(p->name))
		return err_new("iter:%.*s goes through one map: that is not supported",
			       STRF(p->name));
	u32 id =
		btf_types_id(k, str_z(arena_fmt(s.a, PREFIX "%.*s", STRF(p->name))), BTF_KIND_FUNC);
	if (!id)
		return not_yet(p->name);
	cb(p, arg);
	return NULL;
}

static const struct type *plain_pointers(struct arena *a, const struct type *t)
{
	struct type *r = arena_new(a, struct type);
	struct field *f = arena_newn(a, struct field, t->nfield + 1);
	for (u32 i = 0; i < t->nfield; i++) {
		f[i] = t->field[i];
		if (f[i].type->space == AS_BTF)
			f[i].type = type_copy_as(a, f[i].type, AS_KERNEL);
	}
	*r = *t;
	r->field = f;
	return r;
}

static struct err *iter_types(struct host *h, struct unit *u, struct point *p, u32 use)
{
	(void)u, (void)use;
	struct arena *a = h->arena;
	struct types *k;
	struct err *e = typed_btf(h, STR(""), &k);
	if (e)
		return e;
	p->btf_id =
		btf_types_id(k, str_z(arena_fmt(a, PREFIX "%.*s", STRF(p->name))), BTF_KIND_FUNC);
	const struct type *fn = p->btf_id ? btf_types_func(k, p->btf_id) : NULL;
	if (!fn)
		return err_new("BTF has no signature of iterator %.*s", STRF(p->name));
	typed_args(a, p, fn, 0);
	p->args_space = AS_KERNEL; /* each by iter_arg() */
	p->ret = NULL;
	p->args = plain_pointers(a, p->args);
	return NULL;
}

static bool is_pointer(const struct point *p, u32 n)
{
	return p->args->field[n].type->kind == T_PTR;
}

/* The first is about the iteration; the objects follow. After the last, they are null. */
static void iter_enter(struct fn *f, struct host *h, const struct point *p, struct blk *out)
{
	(void)h;
	for (u32 i = 1; i < p->args->nfield; i++) {
		if (!is_pointer(p, i))
			continue;
		struct blk *go = ir_blk(f);
		struct ref v = ir_load(f, 8, ir_ctx(f), (i32)(p->args->field[i].bit_off / 8));
		ir_br(f, O_NE, v, ir_con(f, 0), go, out);
		ir_at(f, go);
	}
}

/* To the verifier, what is loaded may be null: no arithmetic before it is compared. */
static struct ref iter_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (n < 0 || (u32)n >= p->args->nfield)
		return ir_con(f, 0);
	struct ref v = typed_fetch(f, h, p, n), kept;
	if (!is_pointer(p, (u32)n))
		return v;
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	kept = ir_var(f);
	ir_set(f, kept, ir_con(f, 0));
	ir_br(f, O_NE, v, ir_con(f, 0), some, done);
	ir_at(f, some);
	ir_set(f, kept, v);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, kept);
}

static struct err *attach_one(struct attach *a, const char *cgroup)
{
	int fd;
	struct err *e = bpf_link_iter(a->fd, cgroup, &fd);
	if (e)
		return e;
	struct link *l = link_add(&a->links, fd, -1);
	return a->prog->phase == PROG_ITER ? bpf_iter_open(fd, &l->perf_fd) : NULL;
}

/* Over control groups: those of --cgroup and --container and all below, else all of version 2. */
static struct err *iter_attach(struct host *h, struct unit *u, struct attach *a)
{
	(void)h;
	const struct scope *s = &u->scope;
	if (!str_is(a->prog->points->name, "cgroup"))
		return attach_one(a, NULL);
	if (!s->ncgroup)
		return attach_one(a, "");
	if (s->ncgroup > 1 && a->prog->phase != PROG_ITER)
		return err_new("pin iter:cgroup: one file is for one control group");
	struct err *e = NULL;
	for (u32 i = s->ncgroup; !e && i--;) /* the last link is read first */
		e = attach_one(a, s->cgroup[i]);
	return e;
}

#define ITER_METHOD                                                                             \
	.prog_type = BPF_PROG_TYPE_TRACING, .attach_type = BPF_TRACE_ITER, .enter = iter_enter, \
	.arg = iter_arg, .attach = iter_attach
static const struct method method_read = {ITER_METHOD, .flags = METHOD_TYPED, .phase = PROG_ITER};
static const struct method method_pinned = {
	ITER_METHOD,
	.flags = METHOD_TYPED | METHOD_PINNED,
	.phase = PROG_PINNED,
};

#define ITER_PROBE                                                                               \
	.name = "iter", .alias = {"it"}, .syntax = "iter:name[:pin]",                            \
	.doc = "Once for each task, open file, mapping ... of the system. ctx.FIELD reads it.",  \
	.flags = PROBE_KERNEL | PROBE_MACHINE | PROBE_CTX_ARGS | PROBE_NOBODY | PROBE_SIGNATURE, \
	.needs = FEAT_BTF, .parse = iter_parse, .expand = iter_expand, .types = iter_types
const struct probe_type probe_iter = {
	ITER_PROBE,
	.methods = (const struct method *const[]){&method_read, NULL},
};
/* Its file runs it: the session ends when it is there. */
static const struct probe_type probe_pinned = {
	ITER_PROBE,
	.methods = (const struct method *const[]){&method_pinned, NULL},
};
