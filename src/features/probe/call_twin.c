/*
 * call_twin.c - tracepoints of system calls, in 32-bit and x32 programs.
 *
 * The kernel has no such events there. A program that runs for every call finds those by their numbers (call_twin());
 * beside a perf event for one call, programs are attached to the kernel's functions that 32-bit programs enter
 * (call_beside()): by fentry, or by kprobes where the kernel has none. A body that reads arguments which are laid out otherwise there does not get them: the first counts
 * such calls.
 */
#include "kern/tracefs.h"
#include "probe/common.h"
#include <linux/btf.h>

enum { NR_X32 = 1 << 30 };

/*
 * Is it laid out in the same way in a program whose longs and addresses have 4 bytes, and whose 8-byte numbers need be
 * aligned to 4 only?
 */
static bool is_same_layout(const struct type *t, u32 depth)
{
	enum { MAX_DEPTH = 8 };
	u32 n;
	if (t->kind == T_ARRAY)
		return is_same_layout(t->base, depth);
	if (t->kind == T_PTR || depth > MAX_DEPTH)
		return false;
	if (!type_is_record(t)) {
		/* long, size_t and the like are called so; u64 is a long long. */
		return t->size < 8 || str_find(t->name, STR("long long")) >= 0;
	}
	const struct field *f = type_fields(t, &n);
	u32 at = 0;
	for (u32 i = 0; i < n; i++) {
		if (!is_same_layout(f[i].type, depth + 1) ||
		    (t->kind != T_UNION && f[i].bit_off > ALIGN_UP(at, 32u)))
			return false;
		at = MAX(at, f[i].bit_off + (f[i].bit_len ? f[i].bit_len : 8 * f[i].type->size));
	}
	return true;
}

/* Of a call's fields, of which field 0 is the number: may the body read those of a twin? */
static bool can_read(const struct point *p, const struct arch_twin *how)
{
	u32 n = 0;
	const struct field *f = p->args ? type_fields(p->args, &n) : NULL;
	bool enter = call_is_enter(p);
	for (u32 i = 0; i < n; i++) {
		const struct type *t = f[i].type;
		if (i < 63 && !(p->members >> i & 1) && p->members != ALL_MEMBERS)
			continue;
		if (!i || (enter && i > how->same))
			return false;
		if (enter && how->narrow && t->kind == T_PTR && t->base &&
		    !is_same_layout(t->base, 0))
			return false;
	}
	return true;
}

bool call_twin(struct host *h, const struct point *p, u32 i, struct twin *ret)
{
	const struct arch_calls *c = &h->arch->calls;
	struct arch_twin how = {0};
	struct str call = call_of_event(p->name);
	u32 ncompat = 0, nr;
	for (; c->compat && ncompat <= i; ncompat++) {
		nr = arch_twin(c->compat, call, ncompat, &how);
		if (nr == c->compat->n)
			break;
		if (ncompat == i) {
			*ret = (struct twin){nr, true, can_read(p, &how)};
			return true;
		}
	}
	nr = c->x32 ? arch_twin(c->x32, call, i - ncompat, &how) : 0;
	if (!c->x32 || nr == c->x32->n)
		return false;
	how.narrow = nr >= c->x32->narrow_from;
	*ret = (struct twin){NR_X32 | nr, false, can_read(p, &how)};
	return true;
}

/* Field n, of which v has the lower 4 bytes. */
static struct ref narrow(struct fn *f, const struct point *p, int n, struct ref v)
{
	u32 nf;
	const struct field *fd = type_fields(p->args, &nf);
	assert(n > 0 && (u32)n < nf);
	return type_is_int(fd[n].type) && fd[n].type->is_signed ? ir_op1(f, O_EXTS, 4, v) : v;
}

/* A word of a 32-bit program, as wide as the field. */
struct ref call_narrow_arg(struct fn *f, const struct point *p, int n, struct ref base, i32 off)
{
	return narrow(f, p, n, ir_load(f, 4, base, off));
}

struct ref call_twin_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (!call_is_enter(p) || !n)
		return n ? call_arg_of(f, h, p, n) : ir_con(f, 0); /* the number: can_read() */
	return call_narrow_arg(f, p, n, ir_load(f, 8, ir_ctx(f), 0),
			       h->arch->calls.compat->arg[n - 1]);
}

/* ---- beside a perf event ---- */

struct entry {
	struct str name;      /* of the kernel's function */
	struct arch_twin how; /* its arguments */
};

/* The word in the registers that a call begins with, which kprobes get the address of. */
static struct ref twin_word(struct fn *f, i32 off)
{
	u32 mark = ir_slot_mark(f);
	struct ref slot = ir_slot(f, 4);
	assert(ref_is(slot));
	ir_call(f, BPF_FUNC_probe_read_kernel,
		ARGS(slot, ir_con(f, 4), ir_addi(f, regs_fetch(f, 0), off)));
	struct ref v = ir_load(f, 4, slot, 0);
	ir_slot_release(f, mark);
	return v;
}

static struct ref call_probed_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (!call_is_enter(p) || !n)
		return n ? regs_fetch(f, ARG_RET) : ir_con(f, 0); /* as in call_twin_arg() */
	return narrow(f, p, n, twin_word(f, h->arch->calls.compat->arg[n - 1]));
}

static struct err *call_probed_attach(struct host *h, struct unit *u, struct attach *a)
{
	const struct point *p = a->prog->points;
	return kprobe_start(h, u, a, arena_strz(h->arena, p->extra), !call_is_enter(p));
}

/* Names of functions that 32-bit programs' calls may enter; false if there are no more. */
static bool entry_name(struct host *h, const struct point *p, u32 i, struct entry *ret)
{
	/* The 64-bit function itself, and two that differ in structs at most. */
	static const char *const ends[] = {"", "16", "_time32"};
	static const char *const heads[] = {"compat_sys_", "sys_ia32_", "compat_sys_ia32_"};
	enum { NENDS = countof(ends), NHEADS = countof(heads) };
	const struct arch_calls *c = h->arch->calls.compat;
	struct str event = str_from(p->name, call_is_enter(p) ? 10 : 9);
	if (i < NENDS) {
		ret->name = str_z(
			arena_fmt(h->arena, "%ssys_%.*s%s", c->wrapper, STRF(event), ends[i]));
		ret->how = (struct arch_twin){.same = ARCH_CALL_ARGS, .narrow = i > 0};
		return true;
	}
	i -= NENDS;
	if (arch_twin(c, call_of_event(p->name), i / NHEADS, &ret->how) == c->n)
		return false;
	struct str name = ret->how.name ? str_z(ret->how.name) : event;
	ret->name =
		str_z(arena_fmt(h->arena, "%s%s%.*s", c->wrapper, heads[i % NHEADS], STRF(name)));
	return true;
}

/* A point at the function; false: the kernel has none of that name. */
static bool beside_at(struct host *h, const struct point *p, const struct entry *f, struct point *q)
{
	struct types *k = host_has(h, FEAT_FENTRY) ? host_btf(h) : NULL;
	bool enter = call_is_enter(p);
	*q = *p;
	q->args_space = AS_KERNEL; /* each by call_twin_arg(), or call_probed_arg() */
	q->unreadable = !can_read(p, &f->how);
	if (k) {
		q->btf_id = btf_types_id(k, f->name, BTF_KIND_FUNC);
		q->method = enter ? &method_call_compat : &method_call_compat_exit;
		return q->btf_id;
	}
	q->extra = f->name;
	q->method = enter ? &method_call_probed : &method_call_probed_exit;
	return tracefs_symbol(h, f->name);
}

void call_beside(struct host *h, const struct point *p, point_cb *cb, void *arg)
{
	struct entry f;
	if (p->method != &method_tp_perf || !str_is(p->target, "syscalls") || p->wild ||
	    !h->arch->calls.compat || !(host_has(h, FEAT_FENTRY) || host_has(h, FEAT_KPROBE)))
		return;
	for (u32 n = 0; entry_name(h, p, n, &f); n++) {
		struct point q;
		if (beside_at(h, p, &f, &q) && !cb(&q, arg))
			return;
	}
}

/* These points are made, not chosen. */
static bool never_fits(const struct ask *q)
{
	(void)q;
	return false;
}

#define COMPAT_METHOD                                                                   \
	.prog_type = BPF_PROG_TYPE_TRACING, .flags = METHOD_BESIDE, .fits = never_fits, \
	.arg = call_twin_arg, .attach = rawtp_attach
const struct method method_call_compat = {COMPAT_METHOD, .attach_type = BPF_TRACE_FENTRY};
const struct method method_call_compat_exit = {COMPAT_METHOD, .attach_type = BPF_TRACE_FEXIT};

#define PROBED_METHOD                                                               \
	.prog_type = BPF_PROG_TYPE_KPROBE, .flags = METHOD_BESIDE | METHOD_LINGERS, \
	.fits = never_fits, .arg = call_probed_arg, .attach = call_probed_attach
const struct method method_call_probed = {PROBED_METHOD};
const struct method method_call_probed_exit = {PROBED_METHOD};
