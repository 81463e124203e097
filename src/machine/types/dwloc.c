/*
 * dwloc.c - DWARF's location expressions as operations that a probe can run.
 *
 * What needs the caller's registers, thread-local storage, branches or typed values is refused
 * with a reason, which becomes part of a sentence: "NAME REASON".
 */
#include "types/dw.h"

static const char gone[] = "is optimised out there";
static const char partly[] = "is partly optimised out there";
static const char bad[] = "has a damaged location";

struct expr {
	struct debug *d;
	const struct dw_spot *s;
	Dwarf_Attribute *attr;
	struct dw_ops o;
	u32 depth;
	bool value; /* the top is the value */
	bool typed; /* the top has been converted to a type */
	u32 nest;   /* frame base inside a frame base */
};

static void refuse(struct expr *x, const char *why)
{
	if (!x->o.why)
		x->o.why = why;
}

void dw_op(struct dw_ops *o, enum debug_op_kind kind, u64 v)
{
	if (o->n == DEBUG_OPS)
		o->why = "has a location that is too long";
	else
		o->op[o->n++] = (struct debug_op){kind, v};
}

/* An operation that takes and gives so many values. */
static void op(struct expr *x, enum debug_op_kind kind, u64 v, u32 takes, u32 gives)
{
	if (x->depth < takes || x->depth - takes + gives > DEBUG_STACK) {
		refuse(x, bad);
		return;
	}
	x->depth = x->depth - takes + gives;
	dw_op(&x->o, kind, v);
}

static void push(struct expr *x, u64 v)
{
	op(x, DO_CONST, v, 0, 1);
}

static void push_reg(struct expr *x, u64 number)
{
	op(x, DO_REG, number, 0, 1);
}

static void add(struct expr *x, u64 v)
{
	if (!v)
		return;
	push(x, v);
	op(x, DO_ADD, 0, 2, 1);
}

/* ---- frames ---- */

static void run(struct expr *x, const Dwarf_Op *v, size_t n);

static bool frame_cfa(Dwarf_CFI *cfi, u64 pc, struct expr *x)
{
	Dwarf_Frame *f;
	Dwarf_Op *v;
	size_t n;
	if (!cfi || dwarf_cfi_addrframe(cfi, pc, &f))
		return false;
	bool ok = !dwarf_frame_cfa(f, &v, &n) && n;
	if (ok)
		run(x, v, n);
	free(f);
	return ok;
}

static void push_cfa(struct expr *x)
{
	struct debug *d = x->d;
	if (!d->cfi_tried) {
		d->eh = dwarf_getcfi_elf(d->main ? d->main : d->elf);
		d->cfi = dwarf_getcfi(d->dw);
		d->cfi_tried = true;
	}
	if (x->nest++ > 2)
		refuse(x, bad);
	else if (!frame_cfa(d->eh, x->s->pc, x) && !frame_cfa(d->cfi, x->s->pc, x))
		refuse(x, "is in a frame that call frame information does not describe");
	x->nest--;
}

static void push_frame_base(struct expr *x)
{
	Dwarf_Attribute a;
	Dwarf_Op *v;
	size_t n;
	Dwarf_Die func = x->s->func;
	if (x->nest++ > 2 || !dwarf_attr_integrate(&func, DW_AT_frame_base, &a) ||
	    dwarf_getlocation_addr(&a, x->s->pc, &v, &n, 1) != 1 || !n) {
		refuse(x, "is in a frame that debug information does not describe");
	} else {
		bool was = x->value;
		run(x, v, n); /* a register stands for what it holds */
		x->value = was;
	}
	x->nest--;
}

/* ---- operations ---- */

/*
 * To an integer of so many bytes: LLVM takes values apart and extends them so. What is known here of the type on the
 * stack ends there: other conversions may follow, and nothing else.
 */
static void convert(struct expr *x, const Dwarf_Op *v)
{
	Dwarf_Die type;
	u64 size = 0, encoding = 0;
	if (!v->number) { /* to the type of addresses: it has its bits */
		x->typed = false;
		return;
	}
	if (!x->attr || dwarf_getlocation_die(x->attr, v, &type) ||
	    !dw_udata(&type, DW_AT_byte_size, &size) || !size ||
	    !dw_udata(&type, DW_AT_encoding, &encoding)) {
		refuse(x, bad);
		return;
	}
	bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	if (!is_signed && encoding != DW_ATE_unsigned && encoding != DW_ATE_unsigned_char &&
	    encoding != DW_ATE_boolean) {
		refuse(x, "has a location with a type that is not understood");
		return;
	}
	x->typed = true;
	if (size >= 8)
		return;
	push(x, 64 - 8 * size);
	op(x, DO_SHL, 0, 2, 1);
	push(x, 64 - 8 * size);
	op(x, is_signed ? DO_SAR : DO_SHR, 0, 2, 1);
}

/* Value of a register when the function began. */
static void entry_value(struct expr *x, const Dwarf_Op *from)
{
	Dwarf_Attribute inner;
	Dwarf_Op *v;
	size_t n;
	if (!x->s->at_entry) {
		refuse(x,
		       "is optimised out there (only its value at the function's entry is known)");
		return;
	}
	if (!x->attr || dwarf_getlocation_attr(x->attr, from, &inner) ||
	    dwarf_getlocation(&inner, &v, &n) || n != 1) {
		refuse(x, bad);
		return;
	}
	bool was = x->value;
	run(x, v, n);
	x->value = was;
}

static bool run_two(struct expr *x, u32 atom)
{
	static const struct {
		u8 atom, kind;
	} two[] = {
		{DW_OP_plus, DO_ADD}, {DW_OP_minus, DO_SUB}, {DW_OP_mul, DO_MUL},
		{DW_OP_and, DO_AND},  {DW_OP_or, DO_OR},     {DW_OP_xor, DO_XOR},
		{DW_OP_shl, DO_SHL},  {DW_OP_shr, DO_SHR},   {DW_OP_shra, DO_SAR},
	};
	for (size_t i = 0; i < countof(two); i++) {
		if (two[i].atom != atom)
			continue;
		op(x, two[i].kind, 0, 2, 1);
		return true;
	}
	return false;
}

static void load(struct expr *x, u64 size)
{
	if (size != 1 && size != 2 && size != 4 && size != 8)
		refuse(x, bad);
	op(x, DO_LOAD, size, 1, 1);
}

static void pick(struct expr *x, u64 k)
{
	if (k >= x->depth)
		refuse(x, bad);
	op(x, DO_PICK, k, 0, 1);
}

static void push_address(struct expr *x, const Dwarf_Op *v)
{
	Dwarf_Attribute a;
	Dwarf_Addr addr = v->number;
	if (v->atom != DW_OP_addr &&
	    (!x->attr || dwarf_getlocation_attr(x->attr, v, &a) || dwarf_formaddr(&a, &addr))) {
		refuse(x, bad);
		return;
	}
	op(x, DO_BIAS, x->s->pc, 0, 1);
	add(x, addr);
}

static bool run_stack(struct expr *x, const Dwarf_Op *v)
{
	switch (v->atom) {
	case DW_OP_dup: pick(x, 0); return true;
	case DW_OP_over: pick(x, 1); return true;
	case DW_OP_pick: pick(x, v->number); return true;
	case DW_OP_drop: op(x, DO_DROP, 0, 1, 0); return true;
	case DW_OP_swap: op(x, DO_SWAP, 0, 2, 2); return true;
	case DW_OP_rot: op(x, DO_ROT, 0, 3, 3); return true;
	case DW_OP_neg: op(x, DO_NEG, 0, 1, 1); return true;
	case DW_OP_not: op(x, DO_NOT, 0, 1, 1); return true;
	case DW_OP_deref: load(x, 8); return true;
	case DW_OP_deref_size: load(x, v->number); return true;
	case DW_OP_plus_uconst: add(x, v->number); return true;
	case DW_OP_nop: return true;
	}
	return false;
}

static bool run_push(struct expr *x, const Dwarf_Op *v)
{
	switch (v->atom) {
	case DW_OP_lit0 ... DW_OP_lit31: push(x, v->atom - DW_OP_lit0); return true;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts: push(x, v->number); return true;
	case DW_OP_reg0 ... DW_OP_reg31:
		x->value = true;
		push_reg(x, v->atom - DW_OP_reg0);
		return true;
	case DW_OP_regx:
		x->value = true;
		push_reg(x, v->number);
		return true;
	case DW_OP_breg0 ... DW_OP_breg31:
		push_reg(x, v->atom - DW_OP_breg0);
		add(x, v->number);
		return true;
	case DW_OP_bregx:
		push_reg(x, v->number);
		add(x, v->number2);
		return true;
	case DW_OP_fbreg:
		push_frame_base(x);
		add(x, v->number);
		return true;
	case DW_OP_call_frame_cfa: push_cfa(x); return true;
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index: push_address(x, v); return true;
	}
	return false;
}

static const char *why_not(u32 atom)
{
	switch (atom) {
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address: return "is thread-local, which cannot be read here";
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return "is optimised out there (a pointer to something that has no address)";
	case DW_OP_bit_piece: return "is taken apart by bits there";
	case DW_OP_GNU_parameter_ref: return gone;
	}
	return "has a location that is not understood";
}

static void run(struct expr *x, const Dwarf_Op *v, size_t n)
{
	for (size_t i = 0; i < n && !x->o.why; i++) {
		u32 atom = v[i].atom;
		if (atom == DW_OP_convert || atom == DW_OP_GNU_convert) {
			convert(x, &v[i]);
			continue;
		}
		if (x->typed && atom != DW_OP_stack_value) {
			refuse(x, "has a location that is not understood");
			return;
		}
		if (run_two(x, atom) || run_stack(x, &v[i]) || run_push(x, &v[i]))
			continue;
		if (atom == DW_OP_entry_value || atom == DW_OP_GNU_entry_value)
			entry_value(x, &v[i]);
		else if (atom == DW_OP_stack_value)
			x->value = true;
		else
			refuse(x, why_not(atom));
	}
}

/* ---- places ---- */

static const struct debug_op *keep(struct debug *d, const struct dw_ops *o)
{
	struct debug_op *v = arena_newn(d->arena, struct debug_op, o->n + 1);
	memcpy(v, o->op, o->n * sizeof(*v));
	return v;
}

void dw_one(struct debug *d, struct debug_var *v, const struct dw_ops *o, bool value)
{
	if (o->why) {
		v->why = o->why;
		return;
	}
	struct debug_piece *p = arena_new(d->arena, struct debug_piece);
	*p = (struct debug_piece){value, 0, o->n, keep(d, o)};
	v->loc = (struct debug_loc){1, p};
}

typedef VEC(struct debug_piece) pieces;

static void add_piece(struct expr *x, pieces *out, u32 size)
{
	if (x->depth != 1 && !x->o.why)
		refuse(x, x->depth ? bad : partly);
	if (out->n == DEBUG_PIECES)
		refuse(x, "is in too many pieces");
	if (x->o.why)
		return;
	vec_add(out, (struct debug_piece){x->value, size, x->o.n, keep(x->d, &x->o)});
	x->o.n = 0;
	x->depth = 0;
	x->value = x->typed = false;
}

/* A block of bytes that is the value itself. */
static void add_bytes(struct expr *x, pieces *out, const u8 *p, size_t n)
{
	if (n > DEBUG_MAX_VALUE) {
		refuse(x, "is too large a constant");
		return;
	}
	for (size_t i = 0; i < n && !x->o.why; i += 8) {
		u64 w = 0;
		u32 size = (u32)MIN(n - i, 8);
		memcpy(&w, p + i, size);
		push(x, w);
		x->value = true;
		add_piece(x, out, size);
	}
}

/* An expression with its pieces. */
static void place(struct expr *x, const Dwarf_Op *v, size_t n, pieces *out)
{
	size_t from = 0;
	if (!n)
		refuse(x, gone);
	for (size_t i = 0; i < n && !x->o.why; i++) {
		if (v[i].atom == DW_OP_piece) {
			run(x, v + from, i - from);
			u64 size = v[i].number;
			if (!size || size > DEBUG_MAX_VALUE)
				refuse(x, "is in pieces that are too large");
			add_piece(x, out, (u32)size);
			from = i + 1;
		} else if (v[i].atom == DW_OP_implicit_value) {
			Dwarf_Block b = {0};
			if (dwarf_getlocation_implicit_value(x->attr, &v[i], &b))
				refuse(x, bad);
			else
				add_bytes(x, out, b.data, b.length);
			from = i + 1;
			if (from < n)
				refuse(x, "has a location that is not understood");
		}
	}
	if (from < n && !x->o.why) {
		run(x, v + from, n - from);
		if (out->n) /* something behind the last piece */
			refuse(x, bad);
		add_piece(x, out, 0);
	}
}

static void finish(struct expr *x, pieces *p, struct debug_var *v)
{
	u64 sum = 0;
	for (u32 i = 0; i < p->n; i++)
		sum += p->v[i].size ? p->v[i].size : v->type->size;
	if (!x->o.why && !p->n)
		refuse(x, gone);
	if (!x->o.why && sum < v->type->size)
		refuse(x, partly);
	v->why = x->o.why;
	if (!v->why) {
		struct debug_piece *to = arena_newn(x->d->arena, struct debug_piece, p->n);
		memcpy(to, p->v, p->n * sizeof(*to));
		v->loc = (struct debug_loc){p->n, to};
	}
	vec_free(p);
}

static void constant(struct expr *x, pieces *p)
{
	Dwarf_Sword w;
	Dwarf_Block b;
	if (!dwarf_formblock(x->attr, &b)) {
		add_bytes(x, p, b.data, b.length);
	} else if (!dwarf_formsdata(x->attr, &w)) {
		push(x, (u64)w);
		x->value = true;
		add_piece(x, p, 0);
	} else {
		refuse(x, "is a constant that is not understood");
	}
}

bool dw_place(struct debug *d, const struct dw_spot *s, Dwarf_Die *die, struct debug_var *v)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;
	pieces p = {0};
	struct expr x = {.d = d, .s = s, .attr = &a};
	if (dwarf_attr_integrate(die, DW_AT_location, &a)) {
		int got = dwarf_getlocation_addr(&a, s->pc, &ops, &n, 1);
		if (got < 0)
			refuse(&x, bad);
		else if (got == 0)
			refuse(&x, gone);
		else
			place(&x, ops, n, &p);
	} else if (dwarf_attr_integrate(die, DW_AT_const_value, &a)) {
		constant(&x, &p);
	} else {
		return false;
	}
	finish(&x, &p, v);
	return true;
}

/* ---- what holds at the entry ---- */

/* Is the frame base the frame of the caller, which is known at the first instruction? */
static bool by_caller_frame(const struct dw_spot *s)
{
	Dwarf_Attribute a;
	Dwarf_Op *v;
	size_t n;
	Dwarf_Die func = s->func;
	return dwarf_attr_integrate(&func, DW_AT_frame_base, &a) &&
	       dwarf_getlocation_addr(&a, s->pc, &v, &n, 1) == 1 && n == 1 &&
	       v->atom == DW_OP_call_frame_cfa;
}

/* Does an operation refer to something that only the function's prologue makes? */
static bool is_made(struct debug *d, const struct dw_spot *s, const Dwarf_Op *v)
{
	switch (v->atom) {
	case DW_OP_reg0 ... DW_OP_reg31: return !dw_passes(d, v->atom - DW_OP_reg0);
	case DW_OP_breg0 ... DW_OP_breg31: return !dw_passes(d, v->atom - DW_OP_breg0);
	case DW_OP_regx:
	case DW_OP_bregx: return !dw_passes(d, v->number);
	case DW_OP_fbreg: return (i64)v->number < 0 || !by_caller_frame(s);
	}
	return false;
}

enum dw_holds dw_holds(struct debug *d, const struct dw_spot *s, Dwarf_Die *param)
{
	Dwarf_Attribute a;
	Dwarf_Op *v;
	size_t n;
	if (!dwarf_attr_integrate(param, DW_AT_location, &a))
		return dwarf_attr_integrate(param, DW_AT_const_value, &a) ? DW_IS_CONST
									  : DW_HOLDS_NOT;
	if (dwarf_getlocation_addr(&a, s->pc, &v, &n, 1) != 1 || !n)
		return DW_HOLDS_ELSEWHERE;
	for (size_t i = 0; i < n; i++)
		if (is_made(d, s, &v[i]))
			return DW_HOLDS_LATER;
	return v[0].atom == DW_OP_fbreg ? DW_HOLDS_STACK : DW_HOLDS;
}
