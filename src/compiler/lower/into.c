/* into.c - values that live in memory: strings, tuples, structs, stacks ... put where the caller
 * wants them. */
#include "lower/lower.h"

static void pad(struct lower *l, struct mem dst, u32 have, const struct type *as)
{
	if (as->size > have)
		lower_zero(l, mem_at(dst, (i32)have), as->size - have);
}

static void put_text(struct lower *l, struct mem dst, struct str s, const struct type *as)
{
	u32 n = MIN(s.n, as->size);
	u32 whole =
		MIN(ALIGN_UP(n + 1, 8u), as->size); /* the NUL and what fills the word come along */
	char buf[64];
	if (whole <= sizeof(buf)) {
		memset(buf, 0, sizeof(buf));
		memcpy(buf, s.s, n);
		lower_bytes(l, dst, buf, whole);
	} else {
		lower_bytes(l, dst, s.s, n);
		whole = n;
		if (whole < as->size) {
			lower_store(l, 1, mem_at(dst, (i32)n), ir_con(l->f, 0));
			whole++;
		}
	}
	if (!dst.nopad)
		pad(l, dst, whole, as);
	if (dst.tail)
		*dst.tail = ir_con(l->f, MIN(s.n + 1, as->size));
}

/* Text of a fixed-size array somewhere in memory. */
static void put_chars(struct lower *l, struct node *n, struct mem dst, const struct type *as)
{
	struct place p = lower_place(l, n);
	u32 size = MIN(n->type->size, as->size);
	if (p.space == AS_STACK || p.space == AS_MAP) {
		lower_copy(l, dst, mem_of(p.base, p.off), size);
	} else if (p.space == AS_CTX && dst.nopad) {
		lower_read(l, dst, size, p.base, p.off, p.space);
	} else { /* bytes behind the NUL may be anything: leave them there */
		struct ref addr = p.base.kind == R_SLOT ? ir_addr(l->f, p.base, p.off)
				  : p.off               ? ir_addi(l->f, p.base, p.off)
							: p.base;
		enum space space = p.space == AS_CTX || p.space == AS_BTF ? AS_KERNEL : p.space;
		if (as->size > size && !dst.nopad)
			lower_zero(l, mem_at(dst, (i32)size), as->size - size);
		struct ref len = lower_read_str(l, dst, size, addr, space);
		if (n->type->whole && size == n->type->size)
			lower_last_char(l, dst, size, len, p, false);
		return;
	}
	pad(l, dst, size, as);
}

static bool has_holes(const struct type *t)
{
	u32 sum = 0, n;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++)
		sum += f[i].type->size;
	return sum != t->size;
}

static void put_tuple(struct lower *l, struct node *n, struct mem dst, const struct type *as)
{
	u32 i = 0;
	if (has_holes(as))
		lower_zero(l, dst, as->size);
	for (struct node *e = n->a; e; e = e->next, i++) {
		u32 k = i;
		if (n->kind == N_RECORD) /* the first assignment fixed the order */
			for (k = 0; k < as->nfield && !str_eq(as->field[k].name, e->name); k++)
				;
		assert(k < as->nfield);
		lower_into_as(l, n->kind == N_RECORD ? e->a : e,
			      mem_at(dst, (i32)(as->field[k].bit_off / 8)), as->field[k].type);
	}
}

/* The text of a probe's id: known, or from a table of all names. */
static void put_probe_text(struct lower *l, struct ref id, struct mem dst, const struct type *as)
{
	struct fn *f = l->f;
	struct unit *u = l->u;
	u64 k;
	if (ir_is_con(f, id, &k)) {
		put_text(l, mem_untold(dst), u->probe_name[k], as);
		return;
	}
	u32 stride = 8;
	for (u32 i = 0; i < u->nprobe; i++)
		stride = MAX(stride, ALIGN_UP(u->probe_name[i].n + 1, 8u));
	if (!u->names) {
		char *init = arena_newn(l->c->arena, char, (size_t)stride * u->nprobe);
		for (u32 i = 0; i < u->nprobe; i++)
			if (u->probe_name[i].n)
				memcpy(init + (size_t)i * stride, u->probe_name[i].s,
				       u->probe_name[i].n);
		u->names = unit_map(l->c, MAP_AUX, "probe_names");
		u->names->val_size = stride * u->nprobe;
		u->names->init = init;
	}
	struct blk *some = ir_blk(f), *none = ir_blk(f), *done = ir_blk(f);
	u32 size = MIN(stride, as->size);
	ir_br(f, O_ULT, id, ir_con(f, u->nprobe), some, none);
	ir_at(f, some);
	struct ref base = ir_op1(f, O_MAPVAL, 8, ir_map(u->names->index));
	struct ref at = ir_op2(f, O_ADD, base, ir_op2(f, O_MUL, id, ir_con(f, stride)));
	lower_copy(l, dst, mem_of(at, 0), size);
	ir_jmp(f, done);
	ir_at(f, none);
	lower_zero(l, dst, size);
	ir_jmp(f, done);
	ir_at(f, done);
	pad(l, dst, size, as);
}

/* A value that is in BPF memory as type from, to dst as type as. */
void lower_convert_mem(struct lower *l, struct mem src, const struct type *from, struct mem dst,
		       const struct type *as)
{
	if (from->kind == T_PROBE && as->kind == T_STRING) {
		put_probe_text(l, lower_load(l, 8, false, src), dst, as);
		return;
	}
	if (type_is_scalar(from)) {
		struct ref v = lower_load(l, MIN(from->size, 8u), from->is_signed, src);
		lower_store(l, as->size, dst, lower_convert(l, v, from, as));
		return;
	}
	if ((from->kind == T_TUPLE || from->kind == T_RECORD) && !type_eq(from, as)) {
		if (has_holes(as))
			lower_zero(l, dst, as->size);
		for (u32 i = 0; i < as->nfield; i++) {
			u32 k = i;
			if (from->kind == T_RECORD)
				for (k = 0; k < from->nfield &&
					    !str_eq(from->field[k].name, as->field[i].name);
				     k++)
					;
			assert(k < from->nfield);
			lower_convert_mem(l, mem_at(src, (i32)(from->field[k].bit_off / 8)),
					  from->field[k].type,
					  mem_at(dst, (i32)(as->field[i].bit_off / 8)),
					  as->field[i].type);
		}
		return;
	}
	u32 size = MIN(from->size, as->size);
	lower_copy(l, dst, src, size);
	pad(l, dst, size, as);
}

static void put_place(struct lower *l, struct node *n, struct mem dst, const struct type *as)
{
	struct place p = lower_place(l, n);
	if (p.space == AS_STACK || p.space == AS_MAP) {
		lower_convert_mem(l, mem_of(p.base, p.off), n->type, dst, as);
		return;
	}
	enum space space = p.space == AS_BTF ? AS_KERNEL : p.space;
	lower_read(l, dst, n->type->size, p.base, p.off, space);
	pad(l, dst, n->type->size, as);
}

static void put_cast(struct lower *l, struct node *n, struct mem dst, const struct type *as)
{
	const struct type *from = n->b->type;
	if (from->kind == T_PROBE) {
		lower_into_as(l, n->b, dst, as);
		return;
	}
	if (type_is_scalar(from)) { /* (uint8[4])int: the same bytes; zeros behind them */
		struct ref v = lower_value(l, n->b);
		u32 w = n->type->size == 1 || n->type->size == 2 || n->type->size == 4 ||
					n->type->size == 8
				? n->type->size
				: 8;
		lower_store(l, w, dst, v);
		pad(l, dst, w, n->type);
		return;
	}
	lower_into_as(l, n->b, dst, from->size == as->size ? from : as);
}

static void put_call(struct lower *l, struct node *n, struct mem dst, const struct type *as)
{
	if (lower_has_place(n)) {
		put_place(l, n, dst, as);
		return;
	}
	assert(n->fn && n->fn->lower);
	n->fn->lower(l, n, dst);
	if (!dst.nopad || as->kind != T_STRING)
		pad(l, dst, n->type->size, as);
}

static void put_memory(struct lower *l, struct node *n, struct mem dst, const struct type *as)
{
	switch (n->kind) {
	case N_STR: put_text(l, dst, n->name, as); break;
	case N_TUPLE:
	case N_RECORD: put_tuple(l, n, dst, as); break;
	case N_VAR: lower_convert_mem(l, lower_var_mem(l, n->var), n->var->type, dst, as); break;
	case N_MAP: lower_map_into(l, n, dst, as); break;
	case N_FNCALL: lower_fncall_into(l, n, dst, as); break;
	case N_NAME:
	case N_CALL: put_call(l, n, dst, as); break;
	case N_COND:
	case N_IF:
	case N_BLOCK: lower_block_into(l, n, dst, as, REF_NONE); break;
	case N_CAST: put_cast(l, n, dst, as); break;
	case N_COMPTIME: lower_into_as(l, n->a, dst, as); break;
	default:
		if (n->type->kind == T_STRING)
			put_chars(l, n, dst, as);
		else
			put_place(l, n, dst, as);
		break;
	}
}

void lower_into_as(struct lower *l, struct node *n, struct mem dst, const struct type *as)
{
	struct loc was = l->f->loc;
	l->f->loc = n->loc;
	if (n->type->kind == T_PROBE && as->kind == T_STRING) {
		put_probe_text(l, lower_value(l, n), dst, as);
	} else if (type_is_scalar(n->type)) {
		struct ref v = lower_convert(l, lower_value(l, n), n->type, as);
		u32 w = as->size == 1 || as->size == 2 || as->size == 4 ? as->size : 8;
		lower_store(l, w, dst, v);
	} else if (n->type->kind != T_NONE) {
		put_memory(l, n, dst, as);
	}
	l->f->loc = was;
}

void lower_into(struct lower *l, struct node *n, struct mem dst)
{
	lower_into_as(l, n, dst, n->type);
}

struct mem lower_text(struct lower *l, struct node *n, struct ref *len)
{
	assert(!type_is_scalar(n->type));
	if (n->kind == N_VAR)
		return lower_var_mem(l, n->var);
	if (n->kind == N_MEMBER || n->kind == N_ELEM || n->kind == N_INDEX) {
		struct place p = lower_place(l, n);
		if (p.space == AS_STACK || p.space == AS_MAP)
			return mem_of(p.base, p.off);
	}
	struct mem m = lower_tmp(l, n->type->size);
	m.tail = len;
	lower_into(l, n, m);
	return mem_untold(m);
}

struct mem lower_mem(struct lower *l, struct node *n)
{
	return lower_text(l, n, NULL);
}

struct mem lower_raw(struct lower *l, struct node *n)
{
	bool place = n->kind == N_MEMBER || n->kind == N_ELEM || n->kind == N_INDEX ||
		     n->kind == N_UNARY;
	if (!place || !n->type->whole)
		return lower_mem(l, n);
	struct place p = lower_place(l, n);
	if (p.space == AS_STACK || p.space == AS_MAP)
		return mem_of(p.base, p.off);
	struct mem m = lower_tmp(l, n->type->size);
	lower_read(l, m, n->type->size, p.base, p.off, p.space == AS_BTF ? AS_KERNEL : p.space);
	return m;
}

/* ---- comparison ---- */

/* More bytes than this are compared in a loop, which keeps programs short. */
enum { LONG_TEXT = 4096, AT_ONCE = 32 };

static bool is_long(struct mem a, struct mem b, u32 size)
{
	return size > LONG_TEXT && !(a.off & 7) && !(b.off & 7) && a.base.kind != R_SLOT &&
	       b.base.kind != R_SLOT;
}

/* Goes to differ unless the first size bytes are equal; size is a multiple of AT_ONCE. */
static void long_equal(struct lower *l, struct mem a, struct mem b, u32 size, struct blk *differ)
{
	struct fn *f = l->f;
	struct ref i = lower_index(l, 0, a), x = lower_addr(l, a), y = lower_addr(l, b);
	struct blk *test = ir_blk(f), *body = ir_blk(f), *done = ir_blk(f);
	ir_jmp(f, test);
	ir_at(f, test);
	lower_round(l, differ);
	ir_br(f, O_ULT, ir_get(f, i), ir_con(f, size - AT_ONCE + 1), body, done);
	ir_at(f, body);
	struct ref p = ir_op2(f, O_ADD, x, ir_get(f, i)), q = ir_op2(f, O_ADD, y, ir_get(f, i));
	for (i32 k = 0; k < AT_ONCE; k += 8) {
		struct blk *same = ir_blk(f);
		ir_br(f, O_EQ, ir_load(f, 8, p, k), ir_load(f, 8, q, k), same, differ);
		ir_at(f, same);
	}
	ir_set(f, i, ir_addi(f, ir_get(f, i), AT_ONCE));
	ir_jmp(f, test);
	ir_at(f, done);
}

static struct ref words_equal(struct lower *l, struct mem a, struct mem b, u32 size,
			      struct blk *differ)
{
	struct fn *f = l->f;
	u32 from = 0;
	if (is_long(a, b, size)) {
		from = size & ~(AT_ONCE - 1u);
		long_equal(l, a, b, from, differ);
	}
	for (u32 i = from, w; i < size; i += w) {
		for (w = 8; w > size - i || ((a.off + (i32)i) & (i32)(w - 1)) ||
			    ((b.off + (i32)i) & (i32)(w - 1));)
			w /= 2;
		struct blk *same = ir_blk(f);
		ir_br(f, O_EQ, ir_load(f, w, a.base, a.off + (i32)i),
		      ir_load(f, w, b.base, b.off + (i32)i), same, differ);
		ir_at(f, same);
	}
	return REF_NONE;
}

/* Text against a literal: its bytes and the NUL; text that is too short to hold them differs. */
static void text_equal(struct lower *l, struct node *n, struct str lit, struct blk *differ)
{
	struct fn *f = l->f;
	u32 size = n->type->size, want = lit.n + 1;
	if (lit.n > size) {
		ir_jmp(f, differ);
		ir_at(f, ir_blk(f));
		return;
	}
	u32 cmp = MIN(want, size);
	struct mem m = lower_mem(l, n);
	for (u32 i = 0, w; i < cmp; i += w) {
		for (w = 8;
		     w > size - i || ((m.off + (i32)i) & (i32)(w - 1)) || w >= 2 * (cmp - i);)
			w /= 2;
		u32 behind = w > cmp - i ? 8 * (w - (cmp - i)) : 0; /* bits that do not matter */
		u64 v = 0;
		for (u32 k = 0; k < w; k++)
			v |= (u64)(u8)(i + k < lit.n ? lit.s[i + k] : 0) << (8 * k);
		struct blk *same = ir_blk(f);
		struct ref word = ir_load(f, w, m.base, m.off + (i32)i);
		if (behind)
			word = ir_op2(f, O_AND, word, ir_con(f, ~0ull >> (64 - 8 * w + behind)));
		ir_br(f, O_EQ, word, ir_con(f, v), same, differ);
		ir_at(f, same);
	}
}

static void strings_equal(struct lower *l, struct node *x, struct node *y, struct blk *differ)
{
	struct fn *f = l->f;
	struct mem a = lower_mem(l, x), b = lower_mem(l, y);
	u32 sa = x->type->size, sb = y->type->size, size = MIN(sa, sb);
	words_equal(l, a, b, size, differ);
	if (sa == sb)
		return;
	struct blk *same = ir_blk(f);
	/* Equal so far; the longer one must have ended too. A text without NUL in the shorter one
	 * was cut: not equal. */
	struct mem last = mem_at(sa > sb ? b : a, (i32)size - 1);
	struct node *shorter = sa > sb ? y : x;
	struct blk *more = shorter->type->whole ? ir_blk(f) : differ;
	ir_br(f, O_EQ, lower_load(l, 1, false, last), ir_con(f, 0), same, more);
	if (more != differ) { /* full: the longer one has to end behind it */
		ir_at(f, more);
		struct mem behind = mem_at(sa > sb ? a : b, (i32)size);
		ir_br(f, O_EQ, lower_load(l, 1, false, behind), ir_con(f, 0), same, differ);
	}
	ir_at(f, same);
}

/* Tuples whose parts differ in width are compared as what could hold both. */
static void bytes_equal(struct lower *l, struct node *x, struct node *y, struct blk *differ)
{
	const struct type *t = NULL;
	bool parts = x->type->kind == T_TUPLE || x->type->kind == T_RECORD;
	if (parts && !type_eq(x->type, y->type))
		t = type_merge(l->c->arena, x->type, y->type);
	if (!t) {
		struct mem a = lower_mem(l, x), b = lower_mem(l, y);
		words_equal(l, a, b, MIN(x->type->size, y->type->size), differ);
		return;
	}
	struct mem a = lower_tmp(l, t->size), b = lower_tmp(l, t->size);
	lower_into_as(l, x, a, t);
	lower_into_as(l, y, b, t);
	words_equal(l, a, b, t->size, differ);
}

struct ref lower_memeq(struct lower *l, struct node *n, bool ne)
{
	struct fn *f = l->f;
	struct ref v = ir_var(f);
	struct blk *differ = ir_blk(f), *done = ir_blk(f);
	struct node *x = n->a, *y = n->b;
	struct str lit;
	struct lower_cache *kept = lower_may_skip_begin(l);
	if (x->type->kind == T_STRING && node_str(y, &lit))
		text_equal(l, x, lit, differ);
	else if (x->type->kind == T_STRING && node_str(x, &lit))
		text_equal(l, y, lit, differ);
	else if (x->type->kind == T_STRING)
		strings_equal(l, x, y, differ);
	else
		bytes_equal(l, x, y, differ);
	ir_set(f, v, ir_con(f, !ne));
	ir_jmp(f, done);
	ir_at(f, differ);
	ir_set(f, v, ir_con(f, ne));
	ir_jmp(f, done);
	ir_at(f, done);
	lower_may_skip_end(l, kept);
	return ir_get(f, v);
}
