/* typed.c - tracing programs: the context is an array of u64, typed by BTF. */
#include "probe/common.h"
#include <unistd.h>

static bool is_struct_ptr(const struct type *t)
{
	return t->kind == T_PTR && t->base && type_is_record(t->base);
}

/*
 * What a slot holds: pointers to structs are trusted by the verifier, others are plain numbers to it. BTF of
 * most kernels does not say which of them are __user, so their addresses decide.
 */
static const struct type *slot_type(struct arena *a, const struct type *t)
{
	if (!t)
		return &type_u64;
	if (is_struct_ptr(t) && t->space != AS_USER)
		return type_copy_as(a, t, AS_BTF);
	return t->kind == T_PTR && t->space == AS_KERNEL ? type_copy_as(a, t, AS_NONE) : t;
}

void typed_args(struct arena *a, struct point *p, const struct type *fn, u32 skip)
{
	u32 n, kept = 0, slot = 0;
	const struct field *from = type_fields(fn, &n);
	struct field *to = arena_newn(a, struct field, n + 1);
	for (u32 i = 0; i < n; i++) {
		u32 size = from[i].type->size;
		if (i >= skip) {
			to[kept] = from[i];
			to[kept].type = slot_type(a, from[i].type);
			to[kept++].bit_off = slot * 64;
		}
		if (i >= skip)
			slot += type_is_record(from[i].type) && size > 8 && size <= 16 ? 2 : 1;
	}
	struct type *t = arena_new(a, struct type);
	*t = (struct type){
		.kind = T_STRUCT, .size = slot * 8, .align = 8, .nfield = kept, .field = to};
	t->name = str_z(arena_fmt(a, "%s_%.*s_args", p->type->name, STRF(p->name)));
	p->args = t;
	p->args_space = AS_BTF; /* keeps pointers trusted */
	p->narg = kept;
	p->ret = fn->base && fn->base->kind != T_NONE ? slot_type(a, fn->base) : NULL;
}

/* Linux 6.1 lets programs load pointers to structs, to plain void and to integers, and no others.
 */
bool typed_loads(struct host *h, const struct type *t)
{
	const struct type *to = t && t->kind == T_PTR ? t->base : NULL;
	if (!to || type_is_record(to) || type_is_int(to) || (to->kind == T_NONE && !to->qual))
		return true;
	return host_has(h, to->kind == T_NONE ? FEAT_CONST_POINTER : FEAT_FUNC_POINTER);
}

struct ref typed_slot(struct fn *f, i32 off, bool direct)
{
	if (direct)
		return ir_load(f, 8, ir_ctx(f), off);
	u32 mark = ir_slot_mark(f);
	struct ref slot = ir_slot(f, 8);
	assert(ref_is(slot));
	ir_call(f, BPF_FUNC_probe_read_kernel,
		ARGS(slot, ir_con(f, 8), ir_addi(f, ir_ctx(f), off)));
	struct ref v = ir_load(f, 8, slot, 0);
	ir_slot_release(f, mark);
	return v;
}

struct ref typed_fetch(struct fn *f, struct host *h, const struct point *p, int n)
{
	assert(p->args);
	if (n == ARG_RET) { /* fexit: behind the arguments */
		bool direct = typed_loads(h, p->ret);
		return fit_value(f, typed_slot(f, (i32)p->args->size, direct), p->ret);
	}
	u32 count;
	const struct field *field = type_fields(p->args, &count);
	if (n < 0 || (u32)n >= count)
		return ir_con(f, 0);
	const struct type *t = field[n].type;
	bool direct = typed_loads(h, t) && !(p->copied && t->kind == T_PTR && !is_struct_ptr(t));
	return fit_value(f, typed_slot(f, (i32)(field[n].bit_off / 8), direct), t);
}

struct err *typed_attach(struct host *h, struct unit *u, struct attach *a)
{
	(void)h, (void)u;
	int fd;
	struct err *e = bpf_link_tracing(a->fd, a->prog->points->method->attach_type, 0, &fd);
	if (!e)
		link_add(&a->links, fd, -1);
	return e;
}

bool typed_recurses(struct str func)
{
	static const char *const names[] = {
		"_raw_spin_lock*", "_raw_spin_unlock*", "queued_spin_lock_slowpath",
		"migrate_disable", "migrate_enable",    "__bpf_*",
		"bpf_trampoline*", "rcu_read_*"};
	for (u32 i = 0; i < countof(names); i++)
		if (str_glob(str_z(names[i]), func))
			return true;
	return false;
}

struct err *typed_no_modules(void)
{
	return err_new("this kernel has no BTF of modules, which typed probes need (Linux 5.11 and "
		       "CONFIG_DEBUG_INFO_BTF_MODULES): use a kprobe or a tracepoint");
}

struct err *typed_btf(struct host *h, struct str module, struct types **ret)
{
	if (h->btf_file)
		return err_new(
			"probes of this type are found by numbers in the kernel's own BTF, not "
			"in that of --btf");
	struct types *k = host_btf(h);
	if (!k)
		return err_new("this kernel has no BTF (/sys/kernel/btf/vmlinux), which typed "
			       "probes need");
	*ret = k;
	if (!module.n || str_is(module, "vmlinux"))
		return NULL;
	switch (host_module_types(h, module)) {
	case MODULE_TYPED: return host_module_btf(h, module, ret);
	case MODULE_UNTYPED: return typed_no_modules();
	case MODULE_NONE: break;
	}
	return err_new(
		"module %.*s is not loaded, or has no BTF (/sys/kernel/btf/%.*s does not exist)",
		STRF(module), STRF(module));
}
