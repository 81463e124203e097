/* str.c - text: str, strlen, strncmp, strcontains, strstr, buf. */
#include "builtin/common.h"
#include <linux/bpf.h>

enum {
	UNROLL_BYTES = 64,   /* scan this many bytes without a loop */
	LONG_TEXT = 4096,    /* more bytes than this are never scanned one at a time */
	MAX_COMPARED = 1024, /* compare this many bytes of two texts without a loop */
	AT_ONCE = 8,         /* bytes per round of such a loop */
	MAX_NEEDLE = 64,     /* of strstr, strcontains: bytes of a literal */
	MAX_DYN_NEEDLE = 32, /* and of anything else, with its NUL */
	SHORT_HAY = 64,      /* in which a literal is looked for place by place */
	MAX_SCAN = 1024,     /* bytes searched: what the verifier walks through step by step */
};

/* ---- text in memory ---- */

/* A C character: its arrays and pointers are text. */
static bool is_char(const struct type *t)
{
	return t->kind == T_INT && t->size == 1;
}

static bool is_chars(const struct type *t)
{
	return t->kind == T_ARRAY && is_char(t->base);
}

/* An array of characters: its text may end without a NUL. */
static bool may_be_full(const struct type *t)
{
	return is_chars(t) || (t->kind == T_STRING && t->whole);
}

/* string, char[N], char *. */
static bool is_text(const struct type *t)
{
	return t->kind == T_STRING || is_chars(t) || (t->kind == T_PTR && is_char(t->base)) ||
	       type_is_error(t);
}

/* cut: a longer text is marked (no NUL in dst) and counted. */
static void read_str(struct lower *l, struct mem dst, u32 size, struct ref addr, enum space space,
		     bool cut)
{
	struct ref len = lower_read_str(l, dst, size, addr, space);
	if (cut)
		lower_last_char(l, dst, size, len, (struct place){.base = addr, .space = space},
				true);
}

struct text {
	struct mem m;
	u32 size; /* bytes that may be read; text ends at a NUL or there */
	struct str lit;
	bool is_lit; /* lit is the text; m is not set */
};

static u32 max_str(const struct config *c)
{
	return (u32)MAX(c->max_strlen, 1);
}

static struct text text_of(struct lower *l, struct node *n)
{
	struct text x = {0};

	if (node_str(n, &x.lit)) {
		x.is_lit = true;
		x.size = x.lit.n + 1;
	} else if (n->type->kind == T_PTR) {
		x.size = max_str(&l->u->config);
		x.m = lower_tmp(l, x.size);
		read_str(l, x.m, x.size, lower_pointer(l, n), builtin_space(l, n->type), true);
	} else {
		x.size = n->type->size;
		x.m = lower_mem(l, n);
	}
	return x;
}

bool builtin_check_text(struct sema *s, struct node *call, u32 i)
{
	struct node *n = call_arg(call, i);

	if (is_text(n->type))
		return true;
	return sema_fail(s, E_TYPE, n->loc,
			 "%.*s() expects a string, a char array or a char pointer (%s provided)",
			 STRF(call->name), type_namez(s->a, n->type));
}

/* ---- str ---- */

/* str(p, n): n as a literal, or 0. A longer one is cut to max_strlen. */
static u32 str_len(const struct sema *s, const struct node *call)
{
	u32 max = max_str(&s->u->config);
	struct node *n = call_arg(call, 1);
	i64 len;

	if (!n || !node_int(n, &len) || len < 0)
		return max;
	return (u32)MIN((u64)len, max);
}

static const struct type *type_str(struct sema *s, struct node *call)
{
	const struct type *t = call_arg(call, 0)->type;
	u32 n = str_len(s, call);
	struct str text;

	if (n == 0) {
		node_set_str(s, call, STR(""));
		return call->type;
	}
	if (!call_arg(call, 1) && node_str(call_arg(call, 0), &text) && text.n < n) {
		node_set_str(s, call, text); /* str($1) is what the parameter is */
		return call->type;
	}
	if (node_str(call_arg(call, 0), &text)) { /* of a literal, n counts no NUL */
		n = MIN(text.n, n) + 1;
	} else if (t && may_be_full(t)) {
		n = MIN(n, t->size + 1);
	} else if (t && t->kind == T_STRING) {
		n = MIN(n, t->size);
	}
	return type_string(s->a, MAX(n, 1));
}

/* Of str(p, n) and buf(p, n). */
static bool check_length(struct sema *s, const struct node *call, u32 max)
{
	const struct node *n = call_arg(call, 1);
	i64 len;

	if (!n || !node_int(n, &len))
		return true;
	if (len < 0)
		return sema_fail(s, E_RANGE, n->loc,
				 "%.*s() length must not be negative (%lld provided)",
				 STRF(call->name), len);
	if ((u64)len > max)
		diag_add(s->ds, W_LENGTH, n->loc,
			 "length param (%lld) is too long and will be shortened to %u bytes (see "
			 "BPFTRACE_MAX_STRLEN)",
			 len, max);
	return true;
}

static bool check_str(struct sema *s, struct node *call)
{
	struct node *p = call_arg(call, 0);

	if (!builtin_is_addr(p->type) && p->type->kind != T_STRING && !is_chars(p->type))
		return sema_fail(s, E_TYPE, p->loc,
				 "str() expects an integer, a pointer or text (%s provided)",
				 type_namez(s->a, p->type));
	return check_length(s, call, max_str(&s->u->config));
}

/*
 * str(p, n) with an n that is only known now; the helper takes a length of 0. Result: length of the
 * text with its NUL.
 */
static struct ref read_str_n(struct lower *l, struct node *call, struct mem dst, enum space space)
{
	struct node *arg = call_arg(call, 0);
	bool own = !builtin_is_addr(arg->type);
	struct ref n = lower_length(l, call_arg(call, 1), call->type->size);
	struct ref p = own ? lower_addr(l, lower_mem(l, arg)) : lower_pointer(l, arg);

	if (!dst.nopad)
		lower_zero(l, dst, call->type->size);
	return lower_try_read(l, &(struct try_read){.space = own ? AS_KERNEL : space,
						    .str = true,
						    .dst = lower_addr(l, dst),
						    .size = n,
						    .most = call->type->size,
						    .addr = p});
}

/* A literal, or text that is already in BPF memory. */
static void copy_str(struct lower *l, struct node *call, struct mem dst)
{
	struct node *p = call_arg(call, 0);
	u32 size = call->type->size;
	struct str text;

	if (node_str(p, &text)) {
		char *z = arena_newn(l->c->arena, char, size);
		memcpy(z, text.s, MIN(text.n, size - 1));
		lower_bytes(l, dst, z, size);
		return;
	}
	lower_copy(l, dst, lower_mem(l, p), MIN(size, p->type->size));
	if (size > p->type->size ||
	    (call_arg(call, 1) && (size < p->type->size || may_be_full(p->type))))
		lower_store(l, 1, mem_at(dst, (i32)size - 1), ir_con(l->f, 0));
}

static struct ref lower_str(struct lower *l, struct node *call, struct mem dst)
{
	struct node *p = call_arg(call, 0), *n = call_arg(call, 1);
	enum space space = builtin_space(l, p->type);
	i64 len;

	if (n && !node_int(n, &len)) {
		struct ref end = read_str_n(l, call, dst, space);
		if (dst.tail)
			*dst.tail = end;
	} else if (builtin_is_addr(p->type)) {
		read_str(l, dst, call->type->size, lower_pointer(l, p), space, !n);
	} else {
		copy_str(l, call, dst);
	}
	return REF_NONE;
}

/* ---- comparing ---- */

/* Widest load (1, 2, 4 or 8 bytes) of at most left bytes that stays aligned at m. */
static u32 chunk(struct mem m, u32 left)
{
	u32 w = 8;

	while (w > left || (u32)m.off % w)
		w /= 2;
	return w;
}

/* Go to differ unless the n bytes at m are these. */
static void expect_bytes(struct lower *l, struct mem m, const char *z, u32 n, struct blk *differ)
{
	struct fn *f = l->f;

	for (u32 i = 0, w; i < n; i += w) {
		struct blk *same = ir_blk(f);
		u64 want = 0;
		w = chunk(mem_at(m, (i32)i), n - i);
		memcpy(&want, z + i, w);
		ir_br(f, O_EQ, lower_load(l, w, false, mem_at(m, (i32)i)), ir_con(f, want), same,
		      differ);
		ir_at(f, same);
	}
}

/* Both unknown: on after n equal bytes, to differ, or to same at a common NUL. */
static void compare_some(struct lower *l, struct mem a, struct mem b, u32 n, struct blk *same,
			 struct blk *differ)
{
	struct fn *f = l->f;

	for (u32 i = 0; i < n; i++) {
		struct ref x = lower_load(l, 1, false, mem_at(a, (i32)i));
		struct blk *equal = ir_blk(f), *more = ir_blk(f);
		ir_br(f, O_EQ, x, lower_load(l, 1, false, mem_at(b, (i32)i)), equal, differ);
		ir_at(f, equal);
		ir_br(f, O_EQ, x, ir_con(f, 0), same, more);
		ir_at(f, more);
	}
}

/* The same in a loop. n is a multiple of AT_ONCE. */
static void compare_many(struct lower *l, struct mem a, struct mem b, u32 n, struct blk *same,
			 struct blk *differ)
{
	struct fn *f = l->f;
	struct ref i = lower_index(l, 0, a), x = lower_addr(l, a), y = lower_addr(l, b);
	struct blk *test = ir_blk(f), *body = ir_blk(f), *done = ir_blk(f);

	ir_jmp(f, test);
	ir_at(f, test);
	lower_round(l, differ);
	ir_br(f, O_ULT, ir_get(f, i), ir_con(f, n - AT_ONCE + 1), body, done);
	ir_at(f, body);
	compare_some(l, mem_of(ir_op2(f, O_ADD, x, ir_get(f, i)), 0),
		     mem_of(ir_op2(f, O_ADD, y, ir_get(f, i)), 0), AT_ONCE, same, differ);
	ir_set(f, i, ir_addi(f, ir_get(f, i), AT_ONCE));
	ir_jmp(f, test);
	ir_at(f, done);
}

/* Both unknown: to differ, or to same at a common NUL or after n bytes. */
static void compare_bytes(struct lower *l, struct mem a, struct mem b, u32 n, struct blk *same,
			  struct blk *differ)
{
	u32 many = n > MAX_COMPARED ? n - n % AT_ONCE : 0;

	if (a.base.kind == R_SLOT || b.base.kind == R_SLOT)
		many = 0;
	if (many)
		compare_many(l, a, b, many, same, differ);
	compare_some(l, mem_at(a, (i32)many), mem_at(b, (i32)many), n - many, same, differ);
	ir_jmp(l->f, same);
}

/* A comparison's result: 0 in same, 1 in differ. */
static struct ref join_result(struct fn *f, struct blk *same, struct blk *differ)
{
	struct ref result = ir_var(f);
	struct blk *done = ir_blk(f);

	ir_at(f, same);
	ir_set(f, result, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, differ);
	ir_set(f, result, ir_con(f, 1));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, result);
}

/* Both known: 0 equal in the first n bytes, 1 not. */
static u64 fold_ncmp(struct str a, struct str b, u64 n)
{
	u64 na = MIN(a.n, n), nb = MIN(b.n, n);

	return na != nb || memcmp(a.s, b.s, na) != 0;
}

static struct ref lower_strncmp(struct lower *l, struct node *call, struct mem dst)
{
	struct text a = text_of(l, call_arg(call, 0)), b = text_of(l, call_arg(call, 1));
	struct fn *f = l->f;
	struct blk *same, *differ;
	i64 len = 0;
	u32 n;

	(void)dst;
	node_int(call_arg(call, 2), &len);
	if (a.is_lit && b.is_lit)
		return ir_con(f, fold_ncmp(a.lit, b.lit, (u64)len));
	n = (u32)MIN((u64)len, MIN(a.size, b.size));
	same = ir_blk(f);
	differ = ir_blk(f);
	if (a.is_lit || b.is_lit) {
		struct str lit = a.is_lit ? a.lit : b.lit;
		struct text *other = a.is_lit ? &b : &a;
		const char *z = arena_strz(l->c->arena, lit);
		/* A literal longer than the other's memory differs, unless fewer bytes were asked
		 * for. */
		if ((u64)len > other->size && lit.n >= other->size)
			ir_jmp(f, differ);
		else
			expect_bytes(l, other->m, z, MIN(n, lit.n + 1), differ), ir_jmp(f, same);
	} else {
		compare_bytes(l, a.m, b.m, n, same, differ);
	}
	return join_result(f, same, differ);
}

static bool check_strncmp(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 2);
	i64 len;

	for (u32 i = 0; i < 2; i++)
		if (!builtin_check_text(s, call, i))
			return false;
	if (!node_int(n, &len) || len < 0)
		return sema_fail(s, E_LITERAL, n->loc,
				 "Builtin strncmp requires a non-negative literal");
	return true;
}

/* ---- length ---- */

/* Index of the first NUL among size bytes at m; size: there is none. */
static struct ref find_nul_unrolled(struct lower *l, struct mem m, u32 size)
{
	struct fn *f = l->f;
	struct ref at = ir_var(f);
	struct blk *done = ir_blk(f);

	for (u32 i = 0; i < size; i++) {
		struct blk *next = ir_blk(f);
		ir_set(f, at, ir_con(f, i));
		ir_br(f, O_EQ, lower_load(l, 1, false, mem_at(m, (i32)i)), ir_con(f, 0), done,
		      next);
		ir_at(f, next);
	}
	ir_set(f, at, ir_con(f, size));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, at);
}

/* Address of byte i of m; i is below the memory's size. */
static struct ref byte_at(struct lower *l, struct ref base, struct ref i)
{
	return ir_load(l->f, 1, ir_op2(l->f, O_ADD, base, i), 0);
}

/* The same with a loop, for more bytes than one wants to unroll. */
static struct ref find_nul_loop(struct lower *l, struct mem m, u32 size)
{
	struct fn *f = l->f;
	struct ref i = lower_index(l, 0, m), base = lower_addr(l, m);
	struct blk *test = ir_blk(f), *body = ir_blk(f), *more = ir_blk(f), *done = ir_blk(f);

	ir_jmp(f, test);
	ir_at(f, test);
	lower_round(l, done);
	ir_br(f, O_ULT, ir_get(f, i), ir_con(f, size), body, done);
	ir_at(f, body);
	ir_br(f, O_EQ, byte_at(l, base, ir_get(f, i)), ir_con(f, 0), done, more);
	ir_at(f, more);
	ir_set(f, i, ir_addi(f, ir_get(f, i), 1));
	ir_jmp(f, test);
	ir_at(f, done);
	return ir_get(f, i);
}

/*
 * The same for long text, by a helper of the kernel: it copies the text and returns its length. Rounds
 * of a loop would be too many where an enclosing loop repeats them: the kernel ends all loops of a
 * program together, on some kernels after 65,535 rounds.
 */
static struct ref find_nul_copied(struct lower *l, struct mem m, u32 size)
{
	struct fn *f = l->f;
	struct mem to = lower_scratch(l, size + 1);
	struct ref len = lower_try_read(l, &(struct try_read){.space = AS_KERNEL,
							      .str = true,
							      .dst = lower_addr(l, to),
							      .size = ir_con(f, size + 1),
							      .most = size + 1,
							      .addr = lower_addr(l, m)});

	return ir_addi(f, len, -1);
}

struct ref builtin_strlen(struct lower *l, struct node *call, struct mem dst)
{
	struct node *n = call_arg(call, 0);
	struct text x = text_of(l, n);
	u32 most =
		may_be_full(n->type) ? x.size : x.size - 1; /* one that was cut has a mark there */

	(void)dst;
	if (x.is_lit)
		return ir_con(l->f, x.lit.n);
	if (most <= UNROLL_BYTES)
		return find_nul_unrolled(l, x.m, most);
	if (most > LONG_TEXT)
		return find_nul_copied(l, x.m, most);
	return find_nul_loop(l, x.m, most);
}

static bool check_strlen(struct sema *s, struct node *call)
{
	return builtin_check_text(s, call, 0);
}

static bool check_strcap(struct sema *s, struct node *call)
{
	const struct type *t = call_arg(call, 0)->type;

	if (t->kind != T_STRING && !is_chars(t))
		return sema_fail(s, E_TYPE, call_arg(call, 0)->loc,
				 "strcap() expects a string or a char array (%s provided)",
				 type_namez(s->a, t));
	node_set_num(call, t->size, &type_u64);
	return true;
}

/* ---- searching ---- */

/*
 * Does the needle stand at byte i? To yes or no. The haystack's size - i bytes behind i are there:
 * the loop ends early enough. A NUL in the haystack differs from every byte of the needle's text.
 */
static void match_literal(struct lower *l, struct ref base, struct ref i, struct str needle,
			  struct blk *yes, struct blk *no)
{
	struct fn *f = l->f;
	struct ref p = ir_op2(f, O_ADD, base, i);

	for (u32 j = 0; j < needle.n; j++) {
		struct blk *next = ir_blk(f);
		ir_br(f, O_EQ, ir_load(f, 1, p, (i32)j), ir_con(f, (u8)needle.s[j]), next, no);
		ir_at(f, next);
	}
	ir_jmp(f, yes);
}

/* The same with a needle in memory, of at most size bytes; it ends at its NUL. */
static void match_memory(struct lower *l, struct ref base, struct ref i, const struct text *needle,
			 u32 left, struct blk *yes, struct blk *no)
{
	struct fn *f = l->f;
	struct ref p = ir_op2(f, O_ADD, base, i);

	for (u32 j = 0; j < MIN(needle->size, left); j++) {
		struct ref c = lower_load(l, 1, false, mem_at(needle->m, (i32)j));
		struct blk *more = ir_blk(f), *next = ir_blk(f);
		ir_br(f, O_EQ, c, ir_con(f, 0), yes, more);
		ir_at(f, more);
		ir_br(f, O_EQ, ir_load(f, 1, p, (i32)j), c, next, no);
		ir_at(f, next);
	}
	if (needle->size <= left) {
		ir_jmp(f, yes);
		return;
	}
	ir_br(f, O_EQ, lower_load(l, 1, false, mem_at(needle->m, (i32)left)), ir_con(f, 0), yes,
	      no);
}

/* For each byte, at which places of the needle it stands: one bit each. */
static struct map *places_of(struct compile *c, struct str needle)
{
	struct unit *u = c->unit;
	const char *name = arena_fmt(c->arena, "places of %.*s", STRF(needle));
	u64 *bits;
	struct map *m;

	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->role == MAP_AUX && str_is(u->map[i]->name, name))
			return u->map[i];
	bits = arena_newn(c->arena, u64, 256);
	for (u32 i = 0; i < needle.n; i++)
		bits[(u8)needle.s[i]] |= 1ull << i;
	m = unit_map(c, MAP_AUX, name);
	m->val_size = 256 * sizeof(*bits);
	m->init = bits;
	return m;
}

/*
 * A literal in a long text: one step per byte, whatever the needle. Bit n of the state says that the
 * last n + 1 bytes are the needle's first. where: the result is its place; else 0, so that the
 * verifier need not follow what comes next for every place.
 */
static struct ref search_by_bits(struct lower *l, const struct text *h, struct str needle,
				 bool where)
{
	struct fn *f = l->f;
	struct ref base = lower_addr(l, h->m), i = ir_var(f), state = ir_var(f), result = ir_var(f);
	struct ref places = ir_op1(f, O_MAPVAL, 8, ir_map(places_of(l->c, needle)->index)), c, bits;
	struct blk *test = ir_blk(f), *body = ir_blk(f), *look = ir_blk(f), *next = ir_blk(f),
		   *yes = ir_blk(f), *no = ir_blk(f), *done = ir_blk(f);

	ir_set(f, i, ir_con(f, 0));
	ir_set(f, state, ir_con(f, 0));
	ir_jmp(f, test);
	ir_at(f, test);
	ir_br(f, O_ULT, ir_get(f, i), ir_con(f, MIN(h->size, MAX_SCAN)), body, no);
	ir_at(f, body);
	c = byte_at(l, base, ir_get(f, i));
	ir_br(f, O_EQ, c, ir_con(f, 0), no, look);
	ir_at(f, look);
	bits = ir_load(f, 8, ir_op2(f, O_ADD, places, ir_op2(f, O_SHL, c, ir_con(f, 3))), 0);
	ir_set(f, state,
	       ir_op2(f, O_AND, bits,
		      ir_op2(f, O_OR, ir_op2(f, O_SHL, ir_get(f, state), ir_con(f, 1)),
			     ir_con(f, 1))));
	ir_br(f, O_EQ,
	      ir_op2(f, O_AND, ir_op2(f, O_SHR, ir_get(f, state), ir_con(f, needle.n - 1)),
		     ir_con(f, 1)),
	      ir_con(f, 0), next, yes);
	ir_at(f, next);
	ir_set(f, i, ir_addi(f, ir_get(f, i), 1));
	ir_jmp(f, test);
	ir_at(f, yes);
	ir_set(f, result, where ? ir_addi(f, ir_get(f, i), 1 - (i64)needle.n) : ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, no);
	ir_set(f, result, ir_con(f, (u64)-2));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, result);
}

/*
 * Search size bytes at h by trying every place. Near the end fewer bytes are left than the needle
 * may have, so the haystack is copied into memory with zeros behind it. The loop runs over a
 * register that the verifier knows exactly; places of an unrolled search would need a copy of the
 * comparison each.
 */
static struct ref search(struct lower *l, const struct text *h, const struct text *needle)
{
	struct fn *f = l->f;
	u32 size = MIN(h->size, MAX_SCAN), pad = needle->is_lit ? needle->lit.n : needle->size;
	struct mem m = lower_tmp(l, size + pad);
	struct ref i = lower_index(l, 0, m), result = ir_var(f), base;
	struct blk *test = ir_blk(f), *body = ir_blk(f), *yes = ir_blk(f), *no = ir_blk(f),
		   *next = ir_blk(f);
	struct blk *fail = ir_blk(f), *done = ir_blk(f);

	lower_copy(l, m, h->m, size);
	lower_zero(l, mem_at(m, (i32)size), pad);
	base = lower_addr(l, m);
	ir_jmp(f, test);
	ir_at(f, test);
	lower_round(l, fail);
	ir_br(f, O_ULT, ir_get(f, i), ir_con(f, size), body, fail);
	ir_at(f, body);
	if (needle->is_lit)
		match_literal(l, base, ir_get(f, i), needle->lit, yes, no);
	else
		match_memory(l, base, ir_get(f, i), needle, pad, yes, no);
	ir_at(f, yes);
	ir_set(f, result, ir_get(f, i));
	ir_jmp(f, done);
	ir_at(f, no);
	ir_br(f, O_EQ, byte_at(l, base, ir_get(f, i)), ir_con(f, 0), fail, next);
	ir_at(f, next);
	ir_set(f, i, ir_addi(f, ir_get(f, i), 1));
	ir_jmp(f, test);
	ir_at(f, fail);
	ir_set(f, result, ir_con(f, (u64)-2));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, result);
}

static i64 fold_find(struct str h, struct str needle)
{
	i32 at = str_find(h, needle);

	return needle.n == 0 ? 0 : at < 0 ? -2 : at;
}

static struct ref find(struct lower *l, struct node *call, bool where)
{
	struct text h = text_of(l, call_arg(call, 0)), needle = text_of(l, call_arg(call, 1));

	if (needle.is_lit && needle.lit.n == 0)
		return ir_con(l->f, 0);
	if (h.is_lit && needle.is_lit)
		return ir_con(l->f, (u64)fold_find(h.lit, needle.lit));
	if (h.is_lit)
		h.m = lower_mem(l, call_arg(call, 0));
	if (needle.is_lit && h.size > SHORT_HAY)
		return search_by_bits(l, &h, needle.lit, where);
	return search(l, &h, &needle);
}

static struct ref lower_strstr(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	return find(l, call, true);
}

static struct ref lower_strcontains(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	return ir_op2(l->f, O_SGE, find(l, call, false), ir_con(l->f, 0));
}

static bool check_search(struct sema *s, struct node *call)
{
	struct node *needle = call_arg(call, 1);
	struct str text;
	u32 size;

	for (u32 i = 0; i < 2; i++)
		if (!builtin_check_text(s, call, i))
			return false;
	if (node_str(needle, &text)) {
		if (text.n > MAX_NEEDLE)
			return sema_fail(s, E_LIMIT, needle->loc,
					 "%.*s() can look for at most %d bytes", STRF(call->name),
					 MAX_NEEDLE);
		return true;
	}
	size = needle->type->kind == T_PTR ? max_str(&s->u->config) : needle->type->size;
	if (size > MAX_DYN_NEEDLE)
		return sema_fail(s, E_LIMIT, needle->loc,
				 "%.*s() can look for text of at most %d bytes that is not a "
				 "literal; this is %s: use "
				 "str(p, %d)",
				 STRF(call->name), MAX_DYN_NEEDLE, type_namez(s->a, needle->type),
				 MAX_DYN_NEEDLE);
	return true;
}

/* ---- buf ---- */
static u32 max_buf(const struct config *c)
{
	return (u32)MAX(c->max_strlen, 5) - 4;
}

/* Bytes that the argument itself has: 0 when it is an address. */
static u32 own_bytes(const struct type *t)
{
	return t && (t->kind == T_ARRAY || t->kind == T_STRING) ? t->size : 0;
}

static const struct type *type_buf_row(struct sema *s, struct node *call)
{
	u32 own = own_bytes(call_arg(call, 0)->type), max = max_buf(&s->u->config),
	    n = own ? MIN(own, max) : max;
	i64 len;

	if (call_arg(call, 1) && node_int(call_arg(call, 1), &len) && len >= 0)
		n = (u32)MIN((u64)len, n);
	return type_buf(s->a, n);
}

static bool check_buf(struct sema *s, struct node *call)
{
	struct node *p = call_arg(call, 0);

	if (!builtin_is_addr(p->type) && !own_bytes(p->type))
		return sema_fail(
			s, E_TYPE, p->loc,
			"buf() expects an integer, a pointer, an array or a string (%s provided)",
			type_namez(s->a, p->type));
	return check_length(s, call, max_buf(&s->u->config));
}

static struct ref lower_buf(struct lower *l, struct node *call, struct mem dst)
{
	struct node *p = call_arg(call, 0), *n = call_arg(call, 1);
	u32 max = call->type->size - 4;
	enum space space = builtin_space(l, p->type);
	bool own = own_bytes(p->type) != 0;
	struct mem bytes = mem_at(dst, 4);
	struct ref len;
	i64 fixed;

	if (!n || node_int(n, &fixed)) {
		lower_store(l, 4, dst, ir_con(l->f, max));
		if (own)
			lower_copy(l, bytes, lower_raw(l, p), max);
		else
			lower_read(l, bytes, max, lower_pointer(l, p), 0, space);
		return REF_NONE;
	}
	len = lower_length(l, n, max);
	lower_zero(l, bytes, max);
	lower_try_read(l, &(struct try_read){.space = own ? AS_KERNEL : space,
					     .dst = lower_addr(l, bytes),
					     .size = len,
					     .most = max,
					     .addr = own ? lower_addr(l, lower_raw(l, p))
							 : lower_pointer(l, p)});
	lower_store(l, 4, dst, len);
	return REF_NONE;
}

/* ---- str_concat ---- */
enum { MAX_CONCAT = 1024 };

u32 builtin_text_size(const struct config *c, const struct node *n)
{
	return n->type->kind == T_PTR ? max_str(c) : n->type->size;
}

static const struct type *type_concat(struct sema *s, struct node *call)
{
	struct node *a = call_arg(call, 0), *b = call_arg(call, 1);
	u32 size = MAX_CONCAT;

	if (a->type && b->type && is_text(a->type) && is_text(b->type))
		size = builtin_text_size(&s->u->config, a) + builtin_text_size(&s->u->config, b);
	return type_string(s->a, MIN(size, (u32)MAX_CONCAT));
}

static bool check_concat(struct sema *s, struct node *call)
{
	return builtin_check_text(s, call, 0) && builtin_check_text(s, call, 1);
}

struct ref builtin_put_text(struct lower *l, struct node *n, struct ref to, u32 size)
{
	struct fn *f = l->f;
	enum space space = n->type->kind == T_PTR ? builtin_space(l, n->type) : AS_KERNEL;
	struct ref from =
		n->type->kind == T_PTR ? lower_pointer(l, n) : lower_addr(l, lower_mem(l, n));
	struct ref len = lower_try_read(l, &(struct try_read){.space = space,
							      .str = true,
							      .dst = to,
							      .size = ir_con(f, size),
							      .most = size,
							      .addr = from});

	return lower_at_most(l, len, size);
}

/*
 * Put together with room for both at their longest, or one more than can be kept, then cut to the
 * result's size: a cut one has no NUL.
 */
static struct ref lower_concat(struct lower *l, struct node *call, struct mem dst)
{
	struct node *a = call_arg(call, 0), *b = call_arg(call, 1);
	const struct config *c = &l->u->config;
	u32 na = MIN(builtin_text_size(c, a), MAX_CONCAT + 1u),
	    nb = MIN(builtin_text_size(c, b), MAX_CONCAT + 1u);
	u32 size = call->type->size;
	struct fn *f = l->f;
	struct mem m;
	struct ref base, len;

	m = lower_scratch(l, na + nb);
	lower_zero(l, m, na + nb);
	base = lower_addr(l, m);
	len = builtin_put_text(l, a, base, na);
	builtin_put_text(l, b, ir_addi(f, ir_op2(f, O_ADD, base, len), -1), nb);
	lower_copy(l, dst, m, size);
	if (na + nb > size) {
		struct blk *more = ir_blk(f), *done = ir_blk(f);
		struct ref last = lower_load(l, 1, false, mem_at(m, (i32)size - 1));
		more->unlikely = true;
		ir_br(f, O_NE, last, ir_con(f, 0), more, done);
		ir_at(f, more);
		lower_stat(l, STAT_JOINED);
		ir_jmp(f, done);
		ir_at(f, done);
	}
	return REF_NONE;
}

const struct builtin builtin_str[] = {
	{"auto str(ptr p, [int len])", lower_str, .type = type_str, .check = check_str,
	 .doc = "The string at an address, up to its NUL. At most len - 1 bytes, or max_strlen; a "
		"truncated string ends in \"..\"."},
	{"auto buf(ptr p, [int len])", lower_buf, .type = type_buf_row, .check = check_buf,
	 .doc = "Bytes at an address or of an array: len, the array's size, or max_strlen - 4 of "
		"them."},
	{"u64 strlen(any s)", builtin_strlen, .check = check_strlen,
	 .doc = "Length of a string, a char array or the text at a char pointer, without the NUL."},
	{"auto str_concat(any a, any b)", lower_concat, .type = type_concat, .check = check_concat,
	 .doc = "The strings a and b joined. A result of more than 1024 characters is truncated "
		"and ends in \"..\"."},
	{"u64 strcap(any s)", .flags = B_CONST, .check = check_strcap,
	 .doc = "Capacity of a string or char array in bytes, including the NUL."},
	{"u64 strncmp(any a, any b, lit n)", lower_strncmp, .check = check_strncmp,
	 .doc = "0 when the first n bytes of two strings are equal, else 1."},
	{"bool strcontains(any haystack, any needle)", lower_strcontains, .check = check_search,
	 .doc = "True if haystack contains needle."},
	{"int64 strstr(any haystack, any needle)", lower_strstr, .check = check_search,
	 .doc = "Index of the first needle in haystack; -2 if haystack does not contain it."},
	{0},
};
