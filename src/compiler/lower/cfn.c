/* cfn.c - calls of imported functions in C, whose code becomes part of the program as it is. */
#include "lower/lower.h"
#include "source/cfile.h"

/* The map that holds the section, or is the map. All programs share it. */
static struct map *data_of(struct lower *l, const struct cfile *file, u32 i)
{
	const struct object_data *d = &file->obj.data[i];
	struct map *m = file->data[i];
	if (m)
		return m;
	m = unit_map(l->c, MAP_AUX, arena_strz(l->c->arena, d->name));
	m->map_type = d->map_type;
	m->key_size = d->key_size;
	m->val_size = d->is_map ? d->val_size : ALIGN_UP(d->val_size, 8);
	m->max_entries = d->max_entries;
	m->flags = d->flags | (d->is_const ? BPF_F_RDONLY_PROG : 0);
	m->frozen = d->is_const;
	if (d->init) {
		u8 *init = arena_alloc(l->c->arena, m->val_size, 8);
		memset(init, 0, m->val_size);
		memcpy(init, d->init, d->val_size);
		m->init = init;
	}
	file->data[i] = m;
	return m;
}

static struct fn *code_of(struct lower *l, struct cfn *c);

static struct ext_ref ref_of(struct lower *l, const struct cfile *file, struct fn *f,
			     const struct object_ref *r)
{
	struct ext_ref x = {.kind = EXT_FN, .insn = r->insn, .off = r->off};
	switch (r->kind) {
	case OBJECT_FN: x.to = ir_fnref(f, code_of(l, &file->fn[r->to])).id; break;
	case OBJECT_KFUNC:
		x.kind = EXT_KFUNC;
		x.to = file->kfunc[r->to];
		break;
	case OBJECT_DATA:
		x.kind = file->obj.data[r->to].is_map ? EXT_MAP : EXT_VALUE;
		x.to = data_of(l, file, r->to)->index;
		break;
	}
	return x;
}

/* The function in this program, with those that it calls. */
static struct fn *code_of(struct lower *l, struct cfn *c)
{
	const struct cfile *file = c->file;
	const struct object_fn *of = c->of;
	struct arena *a = &l->c->scratch;
	if (c->ir && c->ir_prog == l->prog)
		return c->ir;
	u32 narg = 0;
	if (of->type)
		type_fields(of->type, &narg);
	struct ext_ref *ref = arena_newn(a, struct ext_ref, of->nref + 1);
	struct ext *x = arena_new(a, struct ext);
	*x = (struct ext){.insn = &file->obj.insn[of->at],
			  .loc = &file->loc[of->at],
			  .ref = ref,
			  .ninsn = of->ninsn,
			  .nref = of->nref};
	struct fn *f = ir_fn_ext(a, of->name, x, MIN(narg, (u32)OBJECT_MAX_ARGS), of->stack);
	f->loc = file->at;
	c->ir = f;
	c->ir_prog = l->prog;
	for (u32 i = 0; i < of->nref; i++)
		ref[i] = ref_of(l, file, f, &of->ref[i]);
	return f;
}

/* Text is passed as the address of a copy. */
static u32 pass_args(struct lower *l, struct node *n, const struct cfn *c, struct ref *arg)
{
	struct mem mem[OBJECT_MAX_ARGS];
	u32 k = 0, nparam;
	const struct field *param = type_fields(c->of->type, &nparam);
	for (struct node *a = n->a; a; a = a->next, k++) {
		assert(k < OBJECT_MAX_ARGS);
		if (type_is_scalar(a->type)) {
			arg[k] = lower_value(l, a);
			if (param[k].type->kind != T_PTR) /* a pointer stays one */
				arg[k] = lower_convert(l, arg[k], a->type, param[k].type);
		} else {
			arg[k] = REF_NONE;
			mem[k] = lower_tmp(l, a->type->size);
			lower_into(l, a, mem[k]);
		}
	}
	for (u32 i = 0; i < k; i++)
		if (!ref_is(arg[i]))
			arg[i] = lower_addr(l, mem[i]);
	return k;
}

/* Of a result clang defines only the bytes of its type. */
static struct ref widened(struct lower *l, const struct type *t, struct ref r)
{
	if (t->kind == T_NONE)
		return ir_con(l->f, 0);
	if (t->size >= 8)
		return r;
	return ir_op1(l->f, type_is_int(t) && t->is_signed ? O_EXTS : O_EXTU, t->size, r);
}

struct ref lower_ccall(struct lower *l, struct node *n)
{
	struct cfn *c = n->any;
	struct ref arg[OBJECT_MAX_ARGS];
	u32 narg = pass_args(l, n, c, arg);
	struct ref r = ir_callfn(l->f, code_of(l, c), narg, arg);
	return widened(l, c->of->type->base, r);
}
