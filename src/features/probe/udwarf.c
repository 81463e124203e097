/*
 * udwarf.c - what debug information knows of user programs: source lines as probes, args and
 * retval by their types.
 */
#include "probe/common.h"
#include "rights/image_ask.h"
#include "sym/debug_ask.h"
#include "sym/sym.h"

/* ---- path@file:line ---- */

bool is_source(const struct point *p)
{
	return str_is(p->extra, "@");
}

static bool number(struct str text, u64 *ret)
{
	return text.n && text.s[0] >= '1' && text.s[0] <= '9' && str_u64(text, ret) &&
	       *ret < 1u << 30;
}

/* "file:line[:column]" */
static bool split_source(struct str text, struct str *file, u64 *line, u64 *column)
{
	struct str rest = text, part;
	str_cut(&rest, ':', file);
	*column = 0;
	if (!file->n || !rest.s || !str_cut(&rest, ':', &part) || !number(part, line))
		return false;
	return !rest.s || number(rest, column);
}

bool source_parse(struct arena *a, struct point *p, struct str text, struct err **e)
{
	struct str file;
	u64 line, column;
	i32 colon = str_chr(text, ':'), at = -1;
	for (i32 i = 0; i < colon; i++)
		if (text.s[i] == '@')
			at = i;
	if (at <= 0)
		return false;
	const char *whole = part_path(a, str_n(text.s, (u32)colon)).s;
	if (!access(whole, F_OK)) /* a file whose name holds an @ */
		return false;
	struct str place = str_from(text, (u32)at + 1);
	if (p->type->flags & PROBE_RETVAL) {
		*e = err_new("a %s fires when a function returns: it takes no source line",
			     p->type->name);
	} else if (!split_source(place, &file, &line, &column)) {
		*e = err_new("after @ come a source file, a line and perhaps a column: "
			     "@file:line[:column]");
	} else {
		p->target = part_path(a, str_n(text.s, (u32)at));
		p->name = arena_str(a, place);
		p->extra = STR("@");
		p->text = str_z(arena_fmt(a, "%s:%.*s", p->type->name, STRF(text)));
	}
	return true;
}

struct err *source_expand(struct host *h, struct arena *a, const struct point *p, const char *path,
			  const char *real, point_cb *cb, void *arg)
{
	struct debug_ask *d;
	struct place_asked at;
	u64 line, column, *addr;
	u32 n;
	bool ok = split_source(p->name, &at.file, &line, &column);
	assert(ok);
	at.line = (u32)line;
	at.column = (u32)column;
	struct err *e = debug_ask_of(h, real, &d);
	if (!e)
		e = debug_ask_line(d, &at, &addr, &n);
	for (u32 i = 0; !e && i < n; i++) {
		struct point q = *p;
		q.target = str_z(path);
		q.has_addr = true;
		e = elf_offset(h, real, addr[i], &q.addr);
		q.text = str_z(arena_fmt(a, "%s:%s:0x%llx", p->type->name, path, addr[i]));
		if (!e && !cb(&q, arg))
			break;
	}
	return e;
}

/* ---- types ---- */

static const char no_float[] =
	"is in a floating point register, which the kernel does not show to probes";
static const char no_floats[] =
	"is a struct with floating point members, which are in registers that the kernel does not "
	"show to probes";

/* Every register that the place of v needs is one that probes have. */
static const char *unreachable(const struct arch *a, const struct debug_var *v)
{
	for (u32 i = 0; i < v->loc.npiece; i++) {
		const struct debug_piece *p = &v->loc.piece[i];
		for (u32 k = 0; k < p->nop; k++)
			if (p->op[k].kind == DO_REG && arch_dwarf(a, p->op[k].v) < 0)
				return type_is_record(v->type) ? no_floats : no_float;
	}
	return NULL;
}

static u32 bytes_needed(const struct debug_var *v)
{
	u32 sum = 0;
	const struct debug_loc *l = &v->loc;
	if (l->npiece == 1 && !l->piece[0].value && !l->piece[0].size)
		return 0;
	if (l->npiece == 1 && type_is_scalar(v->type))
		return 0;
	for (u32 i = 0; i < l->npiece; i++)
		sum += l->piece[i].size ? l->piece[i].size : v->type->size;
	return MAX(sum, v->type->size);
}

static const char *why_lost(const struct arch *a, const struct debug_var *v)
{
	if (v->why)
		return v->why;
	if (v->type->kind == T_ERROR || v->type->kind == T_NONE)
		return "has a type that is missing in the debug information";
	const char *why = unreachable(a, v);
	if (why)
		return why;
	const struct debug_piece *p = v->loc.piece;
	if (bytes_needed(v) > DEBUG_MAX_VALUE ||
	    (v->loc.npiece == 1 && p->value && !p->size && v->type->size > 8))
		return "is not in memory, and is larger than its location";
	return NULL;
}

static struct err *find(struct host *h, const struct point *p, u64 *addr, struct debug_ask **ret)
{
	const char *path = user_point_path(h, p);
	struct image im;
	struct err *e = image_ask(h, path, &im);
	if (e)
		return e;
	if (!image_vaddr(&im, p->addr, h->page_size, addr))
		e = err_new("%s: no code at offset 0x%llx", path, p->addr);
	image_close(&im);
	return e ? e : debug_ask_of(h, path, ret);
}

static void make_args(struct host *h, struct arena *a, struct point *p, const struct debug_func *d)
{
	struct field *f = arena_newn(a, struct field, d->nvar + 1);
	for (u32 i = 0; i < d->nvar; i++)
		f[i] = (struct field){.name = d->var[i].name,
				      .type = d->var[i].type,
				      .bit_off = i * 64,
				      .lost = why_lost(h->arch, &d->var[i])};
	struct type *t = arena_new(a, struct type);
	*t = (struct type){
		.kind = T_STRUCT, .size = d->nvar * 8, .align = 8, .nfield = d->nvar, .field = f};
	t->name = str_z(arena_fmt(a, "uprobe_%.*s_args", STRF(d->name)));
	p->args = t;
	p->args_space = AS_USER;
}

/* Without debug information there is no err: the script may not need it. */
struct err *user_types(struct host *h, struct unit *u, struct point *p)
{
	(void)u;
	struct arena *a = h->arena;
	struct debug_ask *d;
	u64 addr;
	struct debug_func *f = arena_new(a, struct debug_func);
	struct err *e = find(h, p, &addr, &d);
	if (!e)
		e = debug_ask_at(d, addr, f);
	if (e) {
		p->no_args = arena_fmt(a, "%s", e->msg);
		err_free(e);
		return NULL;
	}
	f->place = p->addr;
	p->debug = f;
	if (!(p->type->flags & PROBE_RETVAL)) {
		make_args(h, a, p, f);
		return NULL;
	}
	p->no_args = "arguments are gone when a function returns; keep them in a map at its entry";
	if (!f->ret.type)
		return NULL;
	p->no_ret = why_lost(h->arch, &f->ret);
	p->ret = f->ret.type;
	return NULL;
}

const struct type *user_type(struct host *h, struct unit *u, const struct point *p, struct str name,
			     enum type_kind kind, bool near)
{
	(void)u;
	struct debug_ask *d;
	struct debug_func f;
	u64 addr;
	struct err *e = find(h, p, &addr, &d);
	bool ok = !e;
	err_free(e);
	if (!ok)
		return NULL;
	err_free(debug_ask_at(d, addr, &f)); /* the probe's unit is looked at first */
	return debug_ask_type(d, name, kind, near);
}

/* ---- fetching ---- */

struct stack {
	struct fn *f;
	u64 moved; /* the probe is so far behind the place that debug information was asked about */
	struct ref v[DEBUG_STACK];
	u32 n;
};

static void two(struct stack *s, enum op kind)
{
	s->n--;
	s->v[s->n - 1] = ir_op2(s->f, kind, s->v[s->n - 1], s->v[s->n]);
}

static void step(struct stack *s, const struct debug_op *o)
{
	struct fn *f = s->f;
	struct ref *top = &s->v[s->n ? s->n - 1 : 0], t = s->n ? *top : REF_NONE;
	switch (o->kind) {
	case DO_CONST: s->v[s->n++] = ir_con(f, o->v); break;
	case DO_REG: s->v[s->n++] = ir_load(f, 8, ir_ctx(f), arch_dwarf(f->arch, o->v)); break;
	case DO_BIAS:
		s->v[s->n++] =
			ir_addi(f, ir_load(f, 8, ir_ctx(f), f->arch->ip), -(i64)(o->v + s->moved));
		break;
	case DO_LOAD: *top = user_load(f, t, (u32)o->v, false); break;
	case DO_PICK:
		s->v[s->n] = s->v[s->n - 1 - o->v];
		s->n++;
		break;
	case DO_DROP: s->n--; break;
	case DO_SWAP:
		*top = top[-1];
		top[-1] = t;
		break;
	case DO_ROT:
		*top = top[-1];
		top[-1] = top[-2];
		top[-2] = t;
		break;
	case DO_ADD: two(s, O_ADD); break;
	case DO_SUB: two(s, O_SUB); break;
	case DO_MUL: two(s, O_MUL); break;
	case DO_AND: two(s, O_AND); break;
	case DO_OR: two(s, O_OR); break;
	case DO_XOR: two(s, O_XOR); break;
	case DO_SHL: two(s, O_SHL); break;
	case DO_SHR: two(s, O_SHR); break;
	case DO_SAR: two(s, O_SAR); break;
	case DO_NEG: *top = ir_op1(f, O_NEG, 8, t); break;
	case DO_NOT: *top = ir_op2(f, O_XOR, t, ir_con(f, ~0ull)); break;
	}
}

static struct ref evaluate(struct fn *f, const struct point *at, const struct debug_piece *p)
{
	struct stack s = {.f = f, .moved = at->addr - at->debug->place};
	for (u32 i = 0; i < p->nop; i++)
		step(&s, &p->op[i]);
	assert(s.n);
	return s.v[s.n - 1];
}

/* Store the low bytes of a value: a last piece may be of any size. */
static void store(struct fn *f, struct ref v, u32 size, struct ref into, i32 off)
{
	while (size) {
		u32 w = size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
		while (off & (i32)(w - 1))
			w /= 2;
		ir_store(f, w, into, off, v);
		if (w < size)
			v = ir_op2(f, O_SHR, v, ir_con(f, w * 8));
		size -= w;
		off += (i32)w;
	}
}

struct arg_at user_arg_at(struct fn *f, const struct point *p, int n, struct ref into, i32 off)
{
	assert(p->debug || n == ARG_RET);
	if (!p->debug || (n == ARG_RET && !p->ret))
		return (struct arg_at){.ref = regs_fetch(f, n)};
	const struct debug_var *v = n == ARG_RET ? &p->debug->ret : &p->debug->var[n];
	const struct debug_piece *first = v->loc.piece;
	assert(v->loc.npiece);
	u32 need = bytes_needed(v);
	if (!need && !first->value)
		return (struct arg_at){.ref = evaluate(f, p, first), .space = AS_USER};
	if (!need)
		return (struct arg_at){.ref = fit_value(f, evaluate(f, p, first), v->type)};
	if (!ref_is(into))
		return (struct arg_at){.need = need};
	i32 at = off;
	for (u32 i = 0; i < v->loc.npiece; i++) {
		u32 size = first[i].size ? first[i].size : v->type->size;
		struct ref r = evaluate(f, p, &first[i]);
		if (first[i].value)
			store(f, r, MIN(size, 8u), into, at);
		else
			ir_call(f, BPF_FUNC_probe_read_user,
				ARGS(into.kind == R_SLOT ? ir_addr(f, into, at)
							 : ir_addi(f, into, at),
				     ir_con(f, size), r));
		at += (i32)size;
	}
	return (struct arg_at){.ref = into, .off = off, .space = AS_STACK};
}
