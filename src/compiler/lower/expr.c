/* expr.c - expressions. */
#include "core/store.h"
#include "lower/lower.h"

static const struct type *node_type(const struct node *n)
{
	assert(n->type);
	return n->type;
}

/* ---- variables ---- */

struct mem lower_var_mem(struct lower *l, const struct var *v)
{
	if (v->captured && v->frame >= 0)
		return lower_shared(l, (u32)v->frame);
	if (l->f != l->main &&
	    v->mem.base.kind != R_SLOT) /* scratch memory, through this function's own base */
		return mem_of(ir_get(l->f, l->scratch), v->mem.off);
	return v->mem;
}

void lower_var_set(struct lower *l, struct var *v, struct ref val)
{
	if (v->captured) {
		lower_store(l, 8, lower_var_mem(l, v), val);
		return;
	}
	if (!ref_is(v->ref) || v->fn != l->f) {
		v->ref = ir_var(l->f);
		v->fn = l->f;
	}
	ir_set(l->f, v->ref, val);
}

struct ref lower_var_get(struct lower *l, const struct var *v)
{
	if (v->captured)
		return lower_load(l, 8, false, lower_var_mem(l, v));
	return ref_is(v->ref) && v->fn == l->f ? ir_get(l->f, v->ref) : ir_con(l->f, 0);
}

/* ---- places ---- */

static struct place deref(struct lower *l, struct node *n, const struct type **to)
{
	const struct type *t = node_type(n);
	struct ref p = lower_pointer(l, n);
	enum space space = t->space;
	while (t->base->kind == T_PTR) {
		p = lower_read_scalar(l, &type_u64, p, 0, space == AS_BTF ? AS_KERNEL : space);
		t = t->base;
	}
	*to = t->base;
	return (struct place){.base = p, .space = space};
}

static struct place index_place(struct lower *l, struct node *n)
{
	const struct type *t = node_type(n->a);
	struct fn *f = l->f;
	struct place p;
	u32 size;
	if (t->kind == T_PTR) {
		p = (struct place){.base = lower_pointer(l, n->a),
				   .space = t->space == AS_BTF ? AS_KERNEL : t->space};
		size = t->base->size;
	} else {
		p = lower_place(l, n->a);
		size = t->kind == T_STRING ? 1 : t->base->size;
	}
	if (n->b->kind == N_NUM) {
		p.off += (i32)((i64)n->b->num * size);
		return p;
	}
	u32 count = t->kind == T_ARRAY ? t->count : t->kind == T_STRING ? t->size : 0;
	struct ref i = lower_value(l, n->b);
	struct ref off = ir_op2(f, O_MUL, i, ir_con(f, size));
	if (p.space == AS_STACK || p.space == AS_MAP || p.space == AS_CTX) {
		/* The verifier wants bounds right here, and no variable offsets into the stack or
		 * context. */
		struct mem m = lower_scratch(l, t->size);
		lower_read(l, m, t->size, p.base, p.off, p.space);
		struct ref v = ir_var(f);
		struct blk *bad = ir_blk(f), *go = ir_blk(f);
		ir_set(f, v, i);
		bad->unlikely = true;
		ir_br(f, O_ULT, i, ir_con(f, count), go, bad);
		ir_at(f, bad);
		lower_warn(l, n->loc,
			   "Array access out of bounds. This can lead to unexpected results. 0 is "
			   "being used as the result.");
		lower_zero(l, m, t->size);
		ir_set(f, v, ir_con(f, 0));
		ir_jmp(f, go);
		ir_at(f, go);
		off = ir_op2(f, O_MUL, ir_get(f, v), ir_con(f, size));
		return (struct place){.base = ir_op2(f, O_ADD, lower_addr(l, m), off),
				      .space = AS_MAP};
	}
	if (count) { /* what lies behind it is read, as in C */
		struct blk *bad = ir_blk(f), *go = ir_blk(f);
		bad->unlikely = true;
		ir_br(f, O_ULT, i, ir_con(f, count), go, bad);
		ir_at(f, bad);
		lower_warn(l, n->loc,
			   "Array access out of bounds. This can lead to unexpected results.");
		ir_jmp(f, go);
		ir_at(f, go);
	}
	p.base = ir_op2(f, O_ADD, p.off ? ir_addi(f, p.base, p.off) : p.base, off);
	p.off = 0;
	if (p.space == AS_BTF)
		p.space = AS_KERNEL;
	return p;
}

static struct place member_place(struct lower *l, struct node *n)
{
	const struct type *t = node_type(n->a), *to = t;
	struct place p = t->kind == T_PTR ? deref(l, n->a, &to) : lower_place(l, n->a);
	const struct field *fd = n->field;
	if (fd->bit_len) {
		p.bit_off = fd->bit_off % 64;
		p.off += (i32)(fd->bit_off / 64 * 8);
		p.bit_len = fd->bit_len;
	} else {
		p.off += (i32)(fd->bit_off / 8);
	}
	if (p.space == AS_BTF && type_is_record(to) && to->kind == T_UNION)
		p.space = AS_KERNEL;
	return p;
}

static i32 args_index(struct lower *l, const struct node *n)
{
	u32 nf, i = 0;
	const struct field *fd = type_fields(l->pt->args, &nf);
	while (i < nf && !str_eq(fd[i].name, n->name))
		i++;
	assert(i < nf);
	return (i32)i;
}

static struct arg_at arg_at(struct lower *l, i32 n)
{
	const struct method *w = l->pt->method;
	struct arg_at at = w->arg_at(l->f, l->pt, n, REF_NONE, 0);
	if (!at.need)
		return at;
	struct mem into = lower_tmp(l, at.need);
	return w->arg_at(l->f, l->pt, n, into.base, into.off);
}

/* Where something that is no scalar lies. */
struct place lower_arg_place(struct lower *l, i32 n, const struct type *t)
{
	struct arg_at at = arg_at(l, n);
	assert(!type_is_scalar(t) && at.space != AS_NONE);
	return (struct place){.base = at.ref, .off = at.off, .space = at.space};
}

/* A scalar member of args, or retval, as the way to the probe finds it; read once per run. */
static struct ref placed_value(struct lower *l, i32 n, const struct type *t)
{
	struct cache_key key = {CACHE_VALUE, (u32)n};
	struct ref r = lower_cached(l, key);
	if (ref_is(r))
		return r;
	struct arg_at at = arg_at(l, n);
	if (at.typed)
		at.ref = lower_number(l, at.ref);
	r = at.space == AS_NONE ? lower_convert(l, at.ref, &type_u64, t)
				: lower_read_scalar(l, t, at.ref, at.off, at.space);
	return lower_cache_put(l, key, r);
}

/*
 * A struct passed by value: the context of a typed program holds its words, to be loaded whole. A
 * floating point number in a word, of a probe's note.
 */
static struct place typed_place(struct lower *l, struct node *n)
{
	u32 size = ALIGN_UP(node_type(n)->size, 8u);
	struct mem m = lower_tmp(l, size);
	i32 off = (i32)(n->field->bit_off / 8);
	if (node_type(n)->kind == T_FLOAT) {
		lower_store(l, 8, m, lower_arg(l, args_index(l, n)));
		return (struct place){.base = m.base, .off = m.off, .space = AS_STACK};
	}
	assert(l->pt->method->flags & METHOD_TYPED);
	for (u32 i = 0; i < size; i += 8)
		ir_store(l->f, 8, m.base, m.off + (i32)i,
			 ir_load(l->f, 8, lower_ctx(l), off + (i32)i));
	return (struct place){.base = m.base, .off = m.off, .space = AS_STACK};
}

struct place lower_place(struct lower *l, struct node *n)
{
	const struct type *t = node_type(n);
	switch (n->kind) {
	case N_MEMBER:
		if (!builtin_is_args(n->a) || l->pt->args_space == AS_CTX)
			return member_place(l, n);
		if (l->pt->method->arg_at)
			return lower_arg_place(l, args_index(l, n), t);
		if (!type_is_scalar(t) && !type_is_error(t))
			return typed_place(l, n);
		break;
	case N_INDEX: return index_place(l, n);
	case N_UNARY:
		if (n->op == TK_STAR && type_is_int(node_type(n->a)))
			return (struct place){.base = lower_value(l, n->a),
					      .space = lower_space(l)};
		if (n->op == TK_STAR)
			return (struct place){.base = lower_pointer(l, n->a),
					      .space = node_type(n->a)->space == AS_BTF
							       ? AS_KERNEL
							       : node_type(n->a)->space};
		break;
	case N_ELEM: {
		struct place p = lower_place(l, n->a);
		p.off += (i32)(node_type(n->a)->field[n->num].bit_off / 8);
		return p;
	}
	default: break;
	}
	if (lower_has_place(n))
		return n->fn->place(l, n);
	assert(!type_is_scalar(t) || type_is_error(t));
	struct mem m = lower_mem(l, n);
	return (struct place){.base = m.base, .off = m.off, .space = AS_STACK};
}

/* ---- arithmetic ---- */

/* Added to a zero by an atomic instruction, it is any number to the verifier. */
struct ref lower_number(struct lower *l, struct ref v)
{
	u32 mark = ir_slot_mark(l->f);
	struct mem tmp = lower_tmp(l, 8);
	lower_store(l, 8, tmp, ir_con(l->f, 0));
	ir_xadd(l->f, 8, tmp.base, tmp.off, v);
	v = lower_load(l, 8, false, tmp);
	if (tmp.base.kind == R_SLOT)
		ir_slot_release(l->f, mark);
	return v;
}

struct ref lower_convert(struct lower *l, struct ref val, const struct type *from,
			 const struct type *to)
{
	if (to->kind == T_BOOL && from->kind != T_BOOL)
		return ir_op2(l->f, O_NE, val, ir_con(l->f, 0));
	if (is_known_pointer(from) && !is_known_pointer(to))
		val = lower_number(l, val);
	if (!type_is_int(to) || to->size >= 8)
		return val;
	bool fits = type_is_int(from) &&
		    (from->is_signed == to->is_signed ? from->size <= to->size
						      : !from->is_signed && from->size < to->size);
	if (fits || from->kind == T_BOOL)
		return val;
	return ir_op1(l->f, to->is_signed ? O_EXTS : O_EXTU, to->size, val);
}

static struct ref magnitude(struct lower *l, struct ref x, struct ref *sign)
{
	struct fn *f = l->f;
	*sign = ir_op2(f, O_SAR, x, ir_con(f, 63));
	return ir_op2(f, O_SUB, ir_op2(f, O_XOR, x, *sign), *sign);
}

static struct ref divide(struct lower *l, struct node *n, bool mod, bool sign, struct ref x,
			 struct ref y)
{
	struct fn *f = l->f;
	u64 k;
	struct ref out = ir_var(f);
	struct blk *done = NULL;
	if (!ir_is_con(f, y, &k) || !k) {
		struct blk *bad = ir_blk(f), *go = ir_blk(f);
		done = ir_blk(f);
		bad->unlikely = true;
		ir_br(f, O_NE, y, ir_con(f, 0), go, bad);
		ir_at(f, bad);
		lower_warn(l, n->loc,
			   "Divide or modulo by 0 detected. This can lead to unexpected results. 1 "
			   "is being used as the result.");
		ir_set(f, out, ir_con(f, 1));
		ir_jmp(f, done);
		ir_at(f, go);
	}
	struct ref r;
	if (!sign) {
		r = ir_op2(f, mod ? O_UMOD : O_UDIV, x, y);
	} else { /* eBPF divides unsigned: magnitudes, then the sign */
		struct ref sx, sy;
		struct ref ax = magnitude(l, x, &sx), ay = magnitude(l, y, &sy);
		r = ir_op2(f, mod ? O_UMOD : O_UDIV, ax, ay);
		struct ref s = mod ? sx : ir_op2(f, O_XOR, sx, sy);
		r = ir_op2(f, O_SUB, ir_op2(f, O_XOR, r, s), s);
	}
	if (!done)
		return r;
	ir_set(f, out, r);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, out);
}

/* Both unsigned, literals adopting the other side: unsigned; else signed. */
static bool signed_pair(const struct type *x, const struct type *y)
{
	bool ux = !x->is_signed || x->flex, uy = !y->is_signed || y->flex;
	return !(ux && uy);
}

static enum op compare_op(enum token op, bool sign)
{
	switch ((int)op) {
	case TK_EQ: return O_EQ;
	case TK_NE: return O_NE;
	case TK_LT: return sign ? O_SLT : O_ULT;
	case TK_LE: return sign ? O_SLE : O_ULE;
	case TK_GT: return sign ? O_SGT : O_UGT;
	case TK_GE: return sign ? O_SGE : O_UGE;
	}
	return O_NOP;
}

struct ref lower_arith(struct lower *l, struct node *n, enum token op, struct ref x, struct ref y,
		       const struct type *tx, const struct type *ty)
{
	struct fn *f = l->f;
	bool sign = signed_pair(tx, ty);
	if (tx->kind == T_PTR && type_is_int(ty) && (op == TK_PLUS || op == TK_MINUS))
		y = ir_op2(f, O_MUL, y, ir_con(f, tx->base && tx->base->size ? tx->base->size : 1));
	else if (ty->kind == T_PTR && type_is_int(tx) && op == TK_PLUS)
		x = ir_op2(f, O_MUL, x, ir_con(f, ty->base && ty->base->size ? ty->base->size : 1));
	switch ((int)op) {
	case TK_PLUS: return ir_op2(f, O_ADD, x, y);
	case TK_MINUS: return ir_op2(f, O_SUB, x, y);
	case TK_STAR: return ir_op2(f, O_MUL, x, y);
	case TK_SLASH: return divide(l, n, false, sign, x, y);
	case TK_PERCENT: return divide(l, n, true, sign, x, y);
	case TK_AMP: return ir_op2(f, O_AND, x, y);
	case TK_PIPE: return ir_op2(f, O_OR, x, y);
	case TK_CARET: return ir_op2(f, O_XOR, x, y);
	case TK_SHL: return ir_op2(f, O_SHL, x, y);
	case TK_SHR: return ir_op2(f, tx->is_signed ? O_SAR : O_SHR, x, y);
	}
	return ir_op2(f, compare_op(op, sign), x, y);
}

static bool in_memory(const struct type *t)
{
	return !type_is_scalar(t);
}

/* ---- conditions ---- */

static struct ref string_cond(struct lower *l, struct node *n)
{
	struct str s;
	if (node_str(n, &s))
		return ir_con(l->f, s.n != 0);
	return lower_load(l, 1, false, lower_mem(l, n));
}

static struct ref lower_cond(struct lower *l, struct node *n)
{
	return in_memory(node_type(n)) ? string_cond(l, n) : lower_value(l, n);
}

void lower_branch(struct lower *l, struct node *n, struct blk *yes, struct blk *no)
{
	struct fn *f = l->f;
	struct lower_cache *kept;
	if (n->kind == N_BINARY && (n->op == TK_ANDAND || n->op == TK_OROR)) {
		struct blk *more = ir_blk(f);
		bool and = n->op == TK_ANDAND;
		lower_branch(l, n->a, and? more : yes, and? no : more);
		ir_at(f, more);
		kept = lower_may_skip_begin(l);
		lower_branch(l, n->b, yes, no);
		lower_may_skip_end(l, kept);
		return;
	}
	if (n->kind == N_UNARY && n->op == TK_NOT) {
		lower_branch(l, n->a, no, yes);
		return;
	}
	bool cmp = n->kind == N_BINARY && node_type(n)->kind == T_BOOL &&
		   !in_memory(node_type(n->a)) && !in_memory(node_type(n->b));
	if (cmp) {
		struct ref x = lower_value(l, n->a), y = lower_value(l, n->b);
		enum op op = compare_op(n->op, signed_pair(node_type(n->a), node_type(n->b)));
		ir_br(f, op, x, y, yes, no);
		return;
	}
	ir_br(f, O_NE, lower_cond(l, n), ir_con(f, 0), yes, no);
}

static struct ref branch_value(struct lower *l, struct node *n)
{
	struct fn *f = l->f;
	struct ref v = ir_var(f);
	struct blk *yes = ir_blk(f), *no = ir_blk(f), *done = ir_blk(f);
	lower_branch(l, n, yes, no);
	ir_at(f, yes);
	ir_set(f, v, ir_con(f, 1));
	ir_jmp(f, done);
	ir_at(f, no);
	ir_set(f, v, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, v);
}

/* One of two values or memory contents, by the node's condition; COND and IF. */
static void choose(struct lower *l, struct node *n, struct mem dst, const struct type *as,
		   struct ref var)
{
	struct fn *f = l->f;
	struct blk *yes = ir_blk(f), *no = ir_blk(f), *done = ir_blk(f);
	struct lower_cache *kept;
	struct ref once = REF_NONE; /* of a ?: c */
	if (n->kind == N_COND && !n->b) {
		assert(ref_is(var)); /* what a condition takes is a scalar */
		once = lower_value(l, n->a);
		ir_br(f, O_NE, once, ir_con(f, 0), yes, no);
	} else {
		lower_branch(l, n->a, yes, no);
	}
	for (u32 side = 0; side < 2; side++) {
		struct node *arm = side ? n->c : n->b;
		ir_at(f, side ? no : yes);
		kept = lower_may_skip_begin(l);
		if (!side && ref_is(once))
			ir_set(f, var, lower_convert(l, once, node_type(n->a), as));
		else if (arm && (arm->kind == N_BLOCK || arm->kind == N_IF) &&
			 !(arm->flags & NF_PAREN))
			lower_block_into(l, arm, mem_untold(dst), as, var);
		else if (arm && as->kind == T_NONE)
			lower_value(l, arm);
		else if (arm && ref_is(var))
			ir_set(f, var, lower_convert(l, lower_value(l, arm), node_type(arm), as));
		else if (arm)
			lower_into_as(l, arm, mem_untold(dst), as);
		lower_may_skip_end(l, kept);
		ir_jmp(f, done);
	}
	ir_at(f, done);
}

void lower_block_into(struct lower *l, struct node *n, struct mem dst, const struct type *as,
		      struct ref var)
{
	if (n->kind == N_IF || n->kind == N_COND) {
		choose(l, n, dst, as, var);
		return;
	}
	struct node *last = n->a, **cut = &n->a;
	while (last && last->next) {
		cut = &last->next;
		last = last->next;
	}
	if (!(n->flags & NF_VALUE) || !last || as->kind == T_NONE) {
		lower_block(l, n);
		return;
	}
	*cut = NULL; /* all but the value */
	lower_block(l, n);
	*cut = last;
	if (ref_is(var))
		ir_set(l->f, var,
		       lower_convert(l, lower_value(l, last->a), node_type(last->a), as));
	else
		lower_into_as(l, last->a, dst, as);
}

static struct ref choice_value(struct lower *l, struct node *n)
{
	struct ref var = ir_var(l->f);
	lower_block_into(l, n, MEM_NONE, node_type(n), var);
	return node_type(n)->kind == T_NONE ? REF_NONE : ir_get(l->f, var);
}

/* ---- scalars ---- */

static struct ref binary_value(struct lower *l, struct node *n)
{
	if (n->op == TK_ANDAND || n->op == TK_OROR)
		return branch_value(l, n);
	if (node_type(n->a)->kind == T_FLOAT || node_type(n->b)->kind == T_FLOAT)
		return lower_float_compare(l, n, compare_op(n->op, true));
	if (in_memory(node_type(n->a)) || in_memory(node_type(n->b)))
		return lower_memeq(l, n, n->op == TK_NE);
	bool compare = node_type(n)->kind == T_BOOL;
	struct ref x = compare ? lower_value(l, n->a) : lower_operand(l, n->a);
	struct ref y = compare ? lower_value(l, n->b) : lower_operand(l, n->b);
	return lower_arith(l, n, n->op, x, y, node_type(n->a), node_type(n->b));
}

/* What - and ~ make of a narrow unsigned value has its width. */
static struct ref complement(struct lower *l, const struct node *n, struct ref v)
{
	const struct type *t = node_type(n);
	bool narrow = t->kind == T_INT && !t->is_signed && t->size < 8;
	return narrow ? lower_convert(l, v, &type_u64, t) : v;
}

static struct ref address_value(struct lower *l, struct node *n)
{
	if (n->kind == N_MAP)
		return n->map->store->find(l, n->map, n->a);
	struct mem m = lower_var_mem(l, n->var);
	return lower_addr(l, m);
}

static struct ref unary_value(struct lower *l, struct node *n)
{
	struct fn *f = l->f;
	switch ((int)n->op) {
	case TK_MINUS: return complement(l, n->a, ir_op1(f, O_NEG, 8, lower_value(l, n->a)));
	case TK_TILDE:
		return complement(l, n->a,
				  ir_op2(f, O_XOR, lower_value(l, n->a), ir_con(f, ~0ull)));
	case TK_AMP: return address_value(l, n->a);
	case TK_NOT: return ir_op2(f, O_EQ, lower_cond(l, n->a), ir_con(f, 0));
	}
	return lower_read_place(l, node_type(n), lower_place(l, n));
}

/* Text or an array behind an event's fixed part. */
static struct ref data_pointer(struct lower *l, struct node *n)
{
	struct fn *f = l->f;
	struct place p = lower_place(l, n);
	struct ref v = lower_read_scalar(l, &type_u32, p.base, p.off, p.space);
	struct ref off = ir_op2(f, O_AND, v, ir_con(f, 0xffff));
	if (n->field->data_loc == 2) /* relative to the end of the field */
		off = ir_addi(f, off, p.off + 4);
	return ir_op2(f, O_ADD, p.base, off);
}

/*
 * A value out of a typed program's context. The verifier knows pointers to structs there, also
 * where the script's type does not say so; numbers are made of those. address: see lower_pointer.
 */
struct ref lower_arg_value(struct lower *l, i32 i, const struct type *t, bool address)
{
	if (l->pt->method->arg_at && (i != ARG_RET || l->pt->ret))
		return placed_value(l, i, t);
	struct ref v = lower_convert(l, lower_arg(l, i), &type_u64, t);
	bool hidden = (l->pt->method->flags & METHOD_TYPED) && !l->pt->code_refused &&
		      t->kind == T_PTR && t->base && type_is_record(t->base) &&
		      !is_known_pointer(t);
	return hidden && !address ? lower_number(l, v) : v;
}

static struct ref member_value(struct lower *l, struct node *n, bool address)
{
	if (builtin_is_args(n->a) && l->pt->args_space != AS_CTX)
		return lower_arg_value(l, args_index(l, n), node_type(n), address);
	if (n->field->data_loc) {
		struct ref p = data_pointer(l, n);
		return l->pt->args_space == AS_CTX && !address ? lower_number(l, p) : p;
	}
	return lower_read_place(l, node_type(n), lower_place(l, n));
}

static struct ref cast_value(struct lower *l, struct node *n)
{
	const struct type *from = node_type(n->b), *to = node_type(n);
	if (from->kind == T_FLOAT)
		return lower_convert(l, lower_float_to_int(l, n->b), &type_i64, to);
	if (from->kind == T_STRING)
		return ir_op2(l->f, O_NE, string_cond(l, n->b), ir_con(l->f, 0));
	if (from->kind == T_ARRAY && to->kind != T_PTR) {
		struct mem m = lower_mem(l, n->b);
		u32 w = from->size == 1 || from->size == 2 || from->size == 4 ? from->size : 8;
		if (from->size != w) { /* 3, 5, 6, 7 bytes */
			struct mem tmp = lower_tmp(l, 8);
			lower_zero(l, tmp, 8);
			lower_copy(l, tmp, m, from->size);
			m = tmp;
		}
		return lower_convert(l, lower_load(l, w, false, m), type_int(w, false), to);
	}
	if (from->kind == T_ARRAY) { /* its address */
		struct place p = lower_place(l, n->b);
		return p.base.kind == R_SLOT ? ir_addr(l->f, p.base, p.off)
					     : ir_addi(l->f, p.base, p.off);
	}
	return lower_convert(l, lower_value(l, n->b), from, to);
}

static struct ref call_value(struct lower *l, struct node *n)
{
	struct ref r = REF_NONE;
	assert(n->fn);
	if (n->fn->lower)
		r = n->fn->lower(l, n, MEM_NONE);
	else if (n->fn->flags & B_ASYNC)
		lower_record(l, n, n->kind == N_CALL ? n->a : NULL, lower_schema(l, n->fn, n->loc));
	if (n->fn->flags & B_END) {
		lower_end_probe(l);
		ir_at(l->f, ir_blk(l->f));
	}
	return r;
}

struct ref lower_value(struct lower *l, struct node *n)
{
	struct loc was = l->f->loc;
	struct ref r = REF_NONE;
	l->f->loc = n->loc;
	switch (n->kind) {
	case N_NUM:
	case N_BOOL: r = ir_con(l->f, n->num); break;
	case N_VAR: r = lower_var_get(l, n->var); break;
	case N_MAP: r = lower_map_value(l, n); break;
	case N_NAME:
	case N_CALL: r = call_value(l, n); break;
	case N_FNCALL: r = lower_fncall(l, n); break;
	case N_CCALL: r = lower_ccall(l, n); break;
	case N_UNARY: r = unary_value(l, n); break;
	case N_INCDEC: r = lower_incdec(l, n, true); break;
	case N_BINARY: r = binary_value(l, n); break;
	case N_COND:
	case N_IF:
	case N_BLOCK: r = choice_value(l, n); break;
	case N_MEMBER:
		if (node_type(n->a)->kind != T_RECORD)
			r = member_value(l, n, false);
		else
			r = lower_read_place(l, node_type(n), member_place(l, n));
		break;
	case N_ELEM:
	case N_INDEX: r = lower_read_place(l, node_type(n), lower_place(l, n)); break;
	case N_CAST: r = cast_value(l, n); break;
	case N_COMPTIME: r = lower_value(l, n->a); break;
	default: assert(!"a scalar expression"); break;
	}
	l->f->loc = was;
	return r;
}

struct ref lower_operand(struct lower *l, struct node *n)
{
	struct ref v = lower_value(l, n);
	return is_known_pointer(node_type(n)) ? lower_number(l, v) : v;
}

struct ref lower_pointer(struct lower *l, struct node *n)
{
	if (n->kind == N_CAST && node_type(n)->kind == T_PTR && node_type(n->b)->kind == T_PTR)
		return lower_pointer(l, n->b);
	if (n->kind == N_MEMBER && node_type(n->a)->kind != T_RECORD)
		return member_value(l, n, true);
	return lower_value(l, n);
}

struct ref lower_at_most(struct lower *l, struct ref v, u64 max)
{
	struct fn *f = l->f;
	struct ref out = ir_var(f);
	struct blk *big = ir_blk(f), *go = ir_blk(f);
	ir_set(f, out, v);
	ir_br(f, O_UGT, v, ir_con(f, max), big, go);
	ir_at(f, big);
	ir_set(f, out, ir_con(f, max));
	ir_jmp(f, go);
	ir_at(f, go);
	return ir_get(f, out);
}

struct ref lower_length(struct lower *l, struct node *n, u64 max)
{
	struct fn *f = l->f;
	i64 k;
	if (node_int(n, &k))
		return ir_con(f, (u64)MIN((u64)k, max));
	return lower_at_most(l, lower_value(l, n), max);
}
