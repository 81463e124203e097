/*
 * forms.c - functions that the compiler changed, and gave another name: name.isra.0 and its like.
 *
 * BTF has a function by the name that is written, and only where its arguments are still where they
 * are expected; the kernel knows it by the other name alone. So trampolines, which are found through
 * BTF, do not find it. A kprobe at the other name does, and reads the arguments that BTF describes.
 */
#include "arch/arch.h"
#include "kern/tracefs.h"
#include "probe/common.h"

struct form_search {
	struct forms *f;
	struct arena *a;
	const struct point *p;
	bool parts;
};

static bool note_form(struct str func, struct str module, void *arg)
{
	struct form_search *s = arg;
	struct str want = s->p->target, rest = str_from(func, s->p->name.n);
	bool part = str_find(rest, STR(".part.")) >= 0;
	if (want.n && !str_glob(want, module.n ? module : STR("vmlinux")))
		return true;
	if (!part && !str_starts(rest, STR(".isra.")) && !str_starts(rest, STR(".constprop.")))
		return true;
	if (part == s->parts && s->f->n < countof(s->f->name)) {
		s->f->name[s->f->n] = arena_str(s->a, func);
		s->f->module[s->f->n++] = arena_str(s->a, module);
	}
	return true;
}

bool function_forms(struct host *h, struct arena *a, const struct point *p, struct forms *ret)
{
	struct form_search s = {.f = ret, .a = a, .p = p};
	struct str glob = str_z(arena_fmt(a, "%.*s.*", STRF(p->name)));
	*ret = (struct forms){0};
	for (u32 i = 0; i < 2 && !ret->n; i++) {
		s.parts = i;
		err_free(tracefs_functions(h, glob, note_form, &s));
	}
	return ret->n;
}

const char *function_forms_text(struct arena *a, const struct point *p, const struct forms *f)
{
	AUTO_SB b = {0};
	bool isra = false, constprop = false, part = false;
	for (u32 i = 0; i < f->n; i++) {
		isra |= str_find(f->name[i], STR(".isra.")) >= 0;
		constprop |= str_find(f->name[i], STR(".constprop.")) >= 0;
		part |= str_find(f->name[i], STR(".part.")) >= 0;
	}
	sb_fmt(&b, "this kernel's compiler made %.*s", STRF(p->name));
	for (u32 i = 0; i < f->n; i++)
		sb_fmt(&b, "%s%.*s", i ? ", " : " into ", STRF(f->name[i]));
	sb_z(&b, f->n > 1 ? ", which are probed" : ", which is probed");
	if (isra)
		sb_z(&b, "; there an argument may be missing, or be the data behind a pointer");
	if (constprop)
		sb_z(&b, "; an argument that is always the same is missing there, and calls with "
			 "others may go elsewhere");
	if (part)
		sb_z(&b, "; it is only the rest of the function, so calls that end before it are "
			 "not seen");
	return arena_strz(a, sb_str(&b));
}

static bool note_any(struct str func, struct str module, void *arg)
{
	(void)func;
	*(bool *)arg |= !module.n;
	return true;
}

bool function_listed(struct host *h, struct str name)
{
	bool there = false;
	err_free(tracefs_functions(h, name, note_any, &there));
	return there;
}

/* ---- fentry and fexit there ---- */

/* Arguments are in registers at the start, and nowhere at the end. */
static bool reaches(const struct ask *q, const struct point *p)
{
	if (p->type->flags & PROBE_RETVAL)
		return !(q->use & (USE_ARGS | USE_ARGN));
	for (u32 i = 0; i < p->args->nfield; i++)
		if (type_is_record(p->args->field[i].type))
			return false;
	return p->args->size <= 8 * q->h->arch->narg;
}

/* As numbers: the verifier knows nothing of registers. */
static void plain_types(struct arena *a, struct point *p)
{
	struct type *t = arena_new(a, struct type);
	struct field *f = arena_newn(a, struct field, p->args->nfield + 1);
	for (u32 i = 0; i < p->args->nfield; i++) {
		f[i] = p->args->field[i];
		if (f[i].type->space == AS_BTF)
			f[i].type = type_copy_as(a, f[i].type, AS_KERNEL);
	}
	*t = *p->args;
	t->field = f;
	p->args = t;
	p->args_space = AS_KERNEL; /* each by form_arg() */
	if (p->ret && p->ret->space == AS_BTF)
		p->ret = type_copy_as(a, p->ret, AS_KERNEL);
}

/* Asked for when the trampoline was refused: the list is not read before. */
static bool form_fits(const struct ask *q)
{
	struct arena *a = q->h->arena;
	struct forms f;
	bool refused = q->h->recorded || q->points->code_refused;
	if (!refused || (q->use & USE_PROGRAM) || !host_has(q->h, FEAT_KPROBE))
		return false;
	for (const struct point *p = q->points; p; p = p->next)
		if (p->wild || !p->args || !reaches(q, p) || function_listed(q->h, p->name) ||
		    !function_forms(q->h, a, p, &f) || f.n > 1)
			return false;
	for (struct point *p = q->points; p; p = p->next) {
		function_forms(q->h, a, p, &f);
		p->remark = function_forms_text(a, p, &f);
		p->name = f.name[0];
		p->btf_id = 0;
		plain_types(a, p);
	}
	return true;
}

static struct ref form_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (n == ARG_RET)
		return fit_value(f, kprobe_arg(f, h, p, n), p->ret);
	if (n < 0)
		return kprobe_arg(f, h, p, n);
	if ((u32)n >= p->args->nfield)
		return ir_con(f, 0);
	const struct field *at = &p->args->field[n];
	return fit_value(f, kprobe_arg(f, h, p, (int)(at->bit_off / 64)), at->type);
}

static struct err *form_attach(struct host *h, struct unit *u, struct attach *a)
{
	struct err *e = kprobe_attach(h, u, a);
	if (!e)
		a->remark = a->prog->points->remark;
	return e;
}

const struct method method_form = {
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.flags = METHOD_REGS | METHOD_LINGERS,
	.fits = form_fits,
	.load_as = kprobe_load_as,
	.attach = form_attach,
	.arg = form_arg,
};
