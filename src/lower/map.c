/* map.c - access to maps. */
#include "core/agg.h"
#include "core/table.h"
#include "lower/lower.h"
#include <errno.h>

/* ---- keys that hashes stand for ---- */

/* Two hashes of 64 bits over the words of a key. */
struct hashing {
	struct ref h[2]; /* variables */
	struct mem key;
};

static void hash_word(struct lower *l, struct hashing *d, struct ref w)
{
	static const u64 mul[2] = {0xff51afd7ed558ccd, 0x87c37b91114253d5};
	struct fn *f = l->f;
	for (u32 i = 0; i < 2; i++) {
		struct ref x = ir_op2(f, O_MUL, ir_op2(f, O_XOR, ir_get(f, d->h[i]), w),
				      ir_con(f, mul[i]));
		ir_set(f, d->h[i], ir_op2(f, O_XOR, x, ir_op2(f, O_SHR, x, ir_con(f, 29 + 3 * i))));
	}
}

/* The words of [from, to); fewer when limit, a variable, is less; text: until a word with a NUL. */
static void hash_range(struct lower *l, struct hashing *d, u32 from, u32 to, struct ref limit,
		       bool text)
{
	enum { FEW_WORDS = 4 };
	struct fn *f = l->f;
	for (; to - from <= 8 * FEW_WORDS && !ref_is(limit) && from < to; from += 8)
		hash_word(l, d, lower_load(l, 8, false, mem_at(d->key, (i32)from)));
	if (from >= to)
		return;
	struct ref at = ir_var(f), base = lower_addr(l, d->key);
	struct blk *head = ir_blk(f), *body = ir_blk(f), *done = ir_blk(f), *next = ir_blk(f);
	ir_set(f, at, ir_con(f, from));
	ir_jmp(f, head);
	ir_at(f, head);
	ir_br(f, O_ULT, ir_get(f, at), ir_con(f, to), body, done);
	ir_at(f, body);
	if (ref_is(limit)) {
		struct blk *more = ir_blk(f);
		ir_br(f, O_ULT, ir_get(f, at), ir_get(f, limit), more, done);
		ir_at(f, more);
	}
	struct ref w = ir_load(f, 8, ir_op2(f, O_ADD, base, ir_get(f, at)), 0);
	hash_word(l, d, w);
	ir_set(f, at, ir_addi(f, ir_get(f, at), 8));
	if (text) {
		struct ref less = ir_op2(f, O_SUB, w, ir_con(f, 0x0101010101010101));
		struct ref not = ir_op2(f, O_XOR, w, ir_con(f, ~0ull));
		struct ref nul = ir_op2(f, O_AND, ir_op2(f, O_AND, less, not ),
					ir_con(f, 0x8080808080808080));
		ir_br(f, O_EQ, nul, ir_con(f, 0), next, done);
		ir_at(f, next);
	}
	ir_jmp(f, head);
	ir_at(f, done);
}

/* A stack's head and the frames that there are. */
static void hash_stack(struct lower *l, struct hashing *d, const struct type *t, u32 from)
{
	struct fn *f = l->f;
	u32 frame = stack_frame_size((enum stack_mode)t->mode),
	    head = offsetof(struct stack_value, ip);
	hash_range(l, d, from, from + head, REF_NONE, false);
	struct ref n = lower_load(l, 4, false, mem_at(d->key, (i32)from)), limit = ir_var(f);
	n = ir_op2(f, O_MUL, n, ir_con(f, frame));
	ir_set(f, limit, ir_addi(f, n, from + head));
	hash_range(l, d, from + head, from + head + t->count * frame, limit, false);
}

static bool hash_piece(struct lower *l, struct hashing *d, const struct type *t, u32 from)
{
	if (from % 8 || t->size % 8)
		return false;
	if (t->kind == T_KSTACK || t->kind == T_USTACK)
		hash_stack(l, d, t, from);
	else
		hash_range(l, d, from, from + t->size, REF_NONE, t->kind == T_STRING);
	return true;
}

/* Whatever follows from what was hashed (zeros behind a text or a stack) is passed over. */
static struct mem hash_key(struct lower *l, const struct type *t, struct mem full, u32 size)
{
	static const u64 seed[2] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f};
	struct fn *f = l->f;
	struct hashing d = {.h = {ir_var(f), ir_var(f)}, .key = full};
	u32 n = 0, at = 0;
	const struct field *fields = t->kind == T_TUPLE ? type_fields(t, &n) : NULL;
	for (u32 i = 0; i < 2; i++)
		ir_set(f, d.h[i], ir_con(f, seed[i]));
	if (!fields && hash_piece(l, &d, t, 0))
		at = t->size;
	for (u32 i = 0; i < n && fields[i].bit_off / 8 == at; i++)
		if (hash_piece(l, &d, fields[i].type, at))
			at += fields[i].type->size;
	hash_range(l, &d, at, size, REF_NONE, false);
	struct mem k = lower_tmp(l, 16);
	for (u32 i = 0; i < 2; i++)
		lower_store(l, 8, mem_at(k, (i32)(8 * i)), ir_get(f, d.h[i]));
	return k;
}

/* A hashed key is about to be stored: remember what it stands for. */
static void keep_key(struct lower *l, struct map *m, struct mem key)
{
	struct fn *f = l->f;
	if (!m->keys)
		return;
	ir_call(f, BPF_FUNC_map_update_elem,
		ARGS(ir_map(m->keys->index), lower_addr(l, key), lower_addr(l, l->full_key),
		     ir_con(f, BPF_NOEXIST)));
}

/* ... and go to refused when the limit of keys is reached. */
void lower_keep_key(struct lower *l, struct map *m, struct mem key, struct blk *known,
		    struct blk *refused)
{
	struct fn *f = l->f;
	struct blk *exists = ir_blk(f);
	exists->unlikely = true;
	struct ref r = ir_call(f, BPF_FUNC_map_update_elem,
			       ARGS(ir_map(m->keys->index), lower_addr(l, key),
				    lower_addr(l, l->full_key), ir_con(f, BPF_NOEXIST)));
	ir_br(f, O_EQ, r, ir_con(f, 0), known, exists);
	ir_at(f, exists);
	ir_br(f, O_EQ, r, ir_con(f, (u64)-EEXIST), known, refused);
}

/* Is nothing of the stacks in a key hashed but the frames that there are? */
static bool frames_only(const struct type *t)
{
	u32 n = 0;
	const struct field *fields = t->kind == T_TUPLE ? type_fields(t, &n) : NULL;
	bool ok = t->size % 8 == 0;
	for (u32 i = 0; i < n; i++)
		ok &= fields[i].bit_off % 64 == 0 && fields[i].type->size % 8 == 0;
	return ok;
}

static struct mem big_key(struct lower *l, struct map *m, struct node *key)
{
	bool was = l->frames_only;
	l->full_key = lower_scratch(l, m->keys->val_size);
	if (m->keys->val_size != m->key->size)
		lower_zero(l, l->full_key, m->keys->val_size);
	l->frames_only = frames_only(m->key);
	lower_into_as(l, key, l->full_key, m->key);
	l->frames_only = was;
	return hash_key(l, m->key, l->full_key, m->keys->val_size);
}

/* The one element of an array, which is always there: its address is a constant. */
static bool is_constant(const struct map *m)
{
	return m->scalar && m->map_type == BPF_MAP_TYPE_ARRAY;
}

/* Is the element there, as a condition. */
static void branch_found(struct lower *l, struct map *m, struct ref p, struct blk *yes,
			 struct blk *no)
{
	ir_br(l->f, O_NE, is_constant(m) ? ir_con(l->f, 1) : p, ir_con(l->f, 0), yes, no);
}

struct mem lower_key(struct lower *l, struct map *m, struct node *key)
{
	bool nopad = l->nopad, tail = l->want_tail, numbers = l->numbers;
	if (is_constant(m))
		return MEM_NONE;
	l->nopad = l->want_tail = false;
	l->numbers = true;
	struct mem k = m->keys ? big_key(l, m, key) : lower_tmp(l, m->key_size);
	if (m->scalar)
		lower_store(l, 4, k, ir_con(l->f, 0));
	else if (!m->keys)
		lower_into_as(l, key, k, m->key);
	l->numbers = numbers;
	l->nopad = nopad;
	l->want_tail = tail;
	return k;
}

struct ref lower_lookup(struct lower *l, struct map *m, struct mem key)
{
	if (is_constant(m))
		return ir_op1(l->f, O_MAPVAL, 8, ir_map(m->index));
	return ir_call(l->f, BPF_FUNC_map_lookup_elem, ARGS(ir_map(m->index), lower_addr(l, key)));
}

static void count_refused(struct lower *l, struct map *m)
{
	struct ref p = ir_op1(l->f, O_MAPVAL, 8, ir_map(l->u->stats->index));
	ir_xadd(l->f, 8, p, (i32)(8 * stat_map_word(l->u->nprog, m->index)), ir_con(l->f, 1));
}

void lower_update(struct lower *l, struct map *m, struct mem key, struct mem val)
{
	struct fn *f = l->f;
	keep_key(l, m, key);
	struct ref r = ir_call(
		f, BPF_FUNC_map_update_elem,
		ARGS(ir_map(m->index), lower_addr(l, key), lower_addr(l, val), ir_con(f, BPF_ANY)));
	struct blk *bad = ir_blk(f), *go = ir_blk(f);
	bad->unlikely = true;
	ir_br(f, O_EQ, r, ir_con(f, 0), go, bad);
	ir_at(f, bad);
	count_refused(l, m);
	ir_jmp(f, go);
	ir_at(f, go);
}

/* So many zeros: on the stack when they are few, else a map's that is never written. */
static struct mem zeros(struct lower *l, u32 size)
{
	if (size <= 16) {
		struct mem m = lower_tmp(l, size);
		lower_zero(l, m, size);
		return m;
	}
	if (!l->u->zeros)
		l->u->zeros = unit_map(l->u, MAP_AUX, "zeros");
	l->u->zeros->val_size = MAX(l->u->zeros->val_size, size);
	return (struct mem){ir_op1(l->f, O_MAPVAL, 8, ir_map(l->u->zeros->index)), 0};
}

/*
 * Address of the element, made with zeros when it is missing; control goes to full (refusal
 * counted) when there is no room for it.
 */
static struct ref element(struct lower *l, struct map *m, struct mem key, struct blk *full)
{
	struct fn *f = l->f;
	struct ref p = lower_lookup(l, m, key), zero = ir_con(f, 0);
	struct blk *found = ir_blk(f), *make = ir_blk(f);
	if (m->scalar) {
		branch_found(l, m, p, found, full);
		ir_at(f, found);
		return p;
	}
	struct ref v = ir_var(f);
	struct blk *refused = ir_blk(f);
	make->unlikely = refused->unlikely = true;
	ir_set(f, v, p);
	ir_br(f, O_NE, p, zero, found, make);
	ir_at(f, make);
	u32 mark = ir_slot_mark(f);
	struct mem val = zeros(l, m->val_size);
	if (m->keys) {
		struct blk *known = ir_blk(f);
		known->unlikely = true;
		lower_keep_key(l, m, key, known, refused);
		ir_at(f, known);
	}
	ir_call(f, BPF_FUNC_map_update_elem,
		ARGS(ir_map(m->index), lower_addr(l, key), lower_addr(l, val),
		     ir_con(f, BPF_NOEXIST)));
	ir_slot_release(f, mark);
	struct ref again = lower_lookup(l, m, key);
	ir_set(f, v, again);
	ir_br(f, O_NE, again, zero, found, refused);
	ir_at(f, refused);
	count_refused(l, m);
	ir_jmp(f, full);
	ir_at(f, found);
	return ir_get(f, v);
}

/* Of most aggregations a word that is not 0 tells. */
static void set_present(struct lower *l, struct map *m, struct ref p)
{
	bool tells = m->stride && m->val->kind != T_SUM && m->val->kind != T_TSERIES;
	if (m->scalar && !tells)
		ir_store(l->f, 8, p, (i32)m->present, ir_con(l->f, 1));
}

static void add_to(struct lower *l, struct map *m, struct node *call, struct ref p, bool percpu)
{
	u32 nc;
	/* Programs of user probes can be preempted by others on their CPU: adding must not be torn
	 * apart. */
	bool adds = m->val->kind != T_MIN && m->val->kind != T_MAX && m->val->kind != T_TSERIES;
	bool shared = !percpu || (adds && (l->v->provider->flags & PF_USER));
	lower_push(l, &nc);
	call->type = m->val; /* as merged over the script */
	call->fn->add(l, call, (struct mem){p, 0}, shared);
	lower_pop(l, nc);
}

/* One more in a counter that the key's element has at this index. */
static void add_bucket(struct lower *l, struct map *m, struct ref p, struct ref idx)
{
	struct fn *f = l->f;
	struct blk *in = ir_blk(f), *out = ir_blk(f);
	ir_br(f, O_ULT, idx, ir_con(f, m->val_size / 8), in, out);
	ir_at(f, in);
	struct ref at = ir_op2(f, O_ADD, p, ir_op2(f, O_SHL, idx, ir_con(f, 3)));
	ir_xadd(f, 8, at, 0, ir_con(f, 1));
	ir_jmp(f, out);
	ir_at(f, out);
}

/* A histogram whose table has a slot for each bucket of a key. */
static void add_by_bucket(struct lower *l, struct map *m, struct node *call, struct mem key,
			  struct blk *done)
{
	struct fn *f = l->f;
	struct blk *full = ir_blk(f), *refused = ir_blk(f);
	full->unlikely = refused->unlikely = true;
	call->type = m->val;
	struct ref idx = call->fn->bucket(l, call), one = ir_con(f, 1);
	struct ref p = lower_table(l, m, key, idx, full, refused);
	if (l->v->provider->flags & PF_USER)
		ir_xadd(f, 8, p, 0, one);
	else
		ir_store(f, 8, p, 0, ir_op2(f, O_ADD, ir_load(f, 8, p, 0), one));
	ir_jmp(f, done);
	ir_at(f, refused);
	count_refused(l, m);
	ir_jmp(f, done);
	ir_at(f, full);
	add_bucket(l, m, element(l, m, key, done), idx);
	ir_jmp(f, done);
}

static void add_by_table(struct lower *l, struct map *m, struct node *call, struct mem key,
			 struct blk *done)
{
	struct fn *f = l->f;
	struct blk *full = ir_blk(f), *refused = ir_blk(f);
	full->unlikely = refused->unlikely = true;
	add_to(l, m, call, lower_table(l, m, key, REF_NONE, full, refused), true);
	ir_jmp(f, done);
	ir_at(f, refused);
	count_refused(l, m);
	ir_jmp(f, done);
	ir_at(f, full);
	add_to(l, m, call, element(l, m, key, done), m->percpu);
	ir_jmp(f, done);
}

/* This CPU's copy. */
static struct ref slot(struct lower *l, struct map *m)
{
	struct fn *f = l->f;
	struct ref cpu = ir_callp(f, BPF_FUNC_get_smp_processor_id, 0, NULL);
	cpu = ir_op2(f, O_AND, cpu, ir_con(f, m->val_size / m->stride - 1));
	struct ref off = ir_op2(f, O_MUL, cpu, ir_con(f, m->stride));
	return ir_op2(f, O_ADD, ir_op1(f, O_MAPVAL, 8, ir_map(m->index)), off);
}

void lower_agg(struct lower *l, struct node *map, struct node *call)
{
	struct map *m = map->map;
	struct fn *f = l->f;
	struct blk *done = ir_blk(f);
	struct mem key = lower_key(l, m, map->a);
	if (m->table) {
		table_by_bucket(m) ? add_by_bucket(l, m, call, key, done)
				   : add_by_table(l, m, call, key, done);
		ir_at(f, done);
		return;
	}
	struct ref p = m->stride ? slot(l, m) : element(l, m, key, done);
	add_to(l, m, call, p, m->percpu);
	set_present(l, m, p);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* ---- reading ---- */

/* What an aggregation's copy says as an integer. */
struct ref lower_agg_word(struct lower *l, struct map *m, struct ref p)
{
	struct fn *f = l->f;
	struct ref total = ir_load(f, 8, p, 0);
	if (m->val->kind != T_AVG)
		return total;
	struct ref n = ir_load(f, 8, p, 8), out = ir_var(f);
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	ir_set(f, out, ir_con(f, 0));
	ir_br(f, O_NE, n, ir_con(f, 0), some, done);
	ir_at(f, some);
	if (m->val->is_signed) {
		struct ref s = ir_op2(f, O_SAR, total, ir_con(f, 63));
		struct ref a = ir_op2(f, O_SUB, ir_op2(f, O_XOR, total, s), s);
		struct ref q = ir_op2(f, O_UDIV, a, n);
		ir_set(f, out, ir_op2(f, O_SUB, ir_op2(f, O_XOR, q, s), s));
	} else {
		ir_set(f, out, ir_op2(f, O_UDIV, total, n));
	}
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, out);
}

/* Fold the copies of all CPUs (count and sum: add; min, max: compare those that are set; avg:
 * totals and counts). */
static struct ref percpu_value(struct lower *l, struct map *m, struct mem key)
{
	struct fn *f = l->f;
	struct ref cpu = ir_var(f), acc = ir_var(f), num = ir_var(f);
	struct blk *loop = ir_blk(f), *step = ir_blk(f), *next = ir_blk(f), *done = ir_blk(f),
		   *some = ir_blk(f), *take = ir_blk(f);
	struct ref zero = ir_con(f, 0);
	bool minmax = m->val->kind == T_MIN || m->val->kind == T_MAX, avg = m->val->kind == T_AVG;
	ir_set(f, cpu, zero);
	ir_set(f, acc, zero);
	ir_set(f, num, zero);
	ir_jmp(f, loop);
	ir_at(f, loop);
	ir_br(f, O_ULT, ir_get(f, cpu), ir_con(f, l->u->host->ncpu), step, done);
	ir_at(f, step);
	struct ref p = ir_call(f, BPF_FUNC_map_lookup_percpu_elem,
			       ARGS(ir_map(m->index), lower_addr(l, key), ir_get(f, cpu)));
	ir_br(f, O_NE, p, zero, some, next);
	ir_at(f, some);
	struct ref v = ir_load(f, 8, p, 0);
	if (minmax) {
		struct blk *set = ir_blk(f), *compare = ir_blk(f);
		ir_br(f, O_NE, ir_load(f, 8, p, 8), zero, set, next);
		ir_at(f, set);
		ir_br(f, O_EQ, ir_get(f, num), zero, take, compare);
		ir_at(f, compare);
		bool sg = m->val->is_signed;
		enum op op = m->val->kind == T_MAX ? (sg ? O_SGT : O_UGT) : sg ? O_SLT : O_ULT;
		ir_br(f, op, v, ir_get(f, acc), take, next);
		ir_at(f, take);
		ir_set(f, acc, v);
		ir_set(f, num, ir_con(f, 1));
	} else {
		ir_jmp(f, take);
		ir_at(f, take);
		ir_set(f, acc, ir_op2(f, O_ADD, ir_get(f, acc), v));
		if (avg)
			ir_set(f, num, ir_op2(f, O_ADD, ir_get(f, num), ir_load(f, 8, p, 8)));
	}
	ir_jmp(f, next);
	ir_at(f, next);
	ir_set(f, cpu, ir_addi(f, ir_get(f, cpu), 1));
	ir_jmp(f, loop);
	ir_at(f, done);
	return ir_get(f, acc);
}

struct ref lower_map_value(struct lower *l, struct node *n)
{
	struct fn *f = l->f;
	struct map *m = n->map;
	struct mem key = lower_key(l, m, n->a);
	if (m->percpu)
		return percpu_value(l, m, key);
	if (m->cells) {
		struct ref there, v = lower_cell_read(l, m, key, &there);
		return lower_convert(l, v, m->val, n->type);
	}
	struct ref p = lower_lookup(l, m, key), out = ir_var(f);
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	ir_set(f, out, ir_con(f, 0));
	branch_found(l, m, p, some, done);
	ir_at(f, some);
	if (type_is_agg(m->val)) {
		ir_set(f, out, lower_agg_word(l, m, p));
	} else {
		struct ref v =
			lower_load(l, MIN(m->val->size, 8u), m->val->is_signed, (struct mem){p, 0});
		ir_set(f, out, lower_convert(l, v, m->val, n->type));
	}
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, out);
}

void lower_map_into(struct lower *l, struct node *n, struct mem dst, const struct type *as)
{
	struct fn *f = l->f;
	struct map *m = n->map;
	assert(!m->cells);
	struct ref p = lower_lookup(l, m, lower_key(l, m, n->a));
	struct blk *some = ir_blk(f), *none = ir_blk(f), *done = ir_blk(f);
	u32 size = MIN(m->val->size, as->size);
	branch_found(l, m, p, some, none);
	ir_at(f, some);
	lower_copy(l, dst, (struct mem){p, 0}, size);
	ir_jmp(f, done);
	ir_at(f, none);
	lower_zero(l, dst, size);
	ir_jmp(f, done);
	ir_at(f, done);
	if (as->size > size)
		lower_zero(l, mem_at(dst, (i32)size), as->size - size);
}

struct ref lower_delete(struct lower *l, struct map *m, struct mem key)
{
	struct fn *f = l->f;
	if (m->cells)
		return lower_cell_delete(l, m, key);
	if (!m->scalar) {
		struct ref r = ir_call(f, BPF_FUNC_map_delete_elem,
				       ARGS(ir_map(m->index), lower_addr(l, key)));
		return ir_op2(f, O_EQ, r, ir_con(f, 0));
	}
	struct ref p = lower_lookup(l, m, key), had = ir_var(f);
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	ir_set(f, had, ir_con(f, 0));
	branch_found(l, m, p, some, done);
	ir_at(f, some);
	ir_set(f, had, ir_op2(f, O_NE, ir_load(f, 8, p, (i32)m->present), ir_con(f, 0)));
	lower_zero(l, (struct mem){p, 0}, m->val_size);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, had);
}

/* ---- storing ---- */

static void assign_plain(struct lower *l, struct map *m, struct node *target, struct node *value)
{
	struct fn *f = l->f;
	bool scalar_val = type_is_scalar(m->val);
	if (m->cells) {
		struct ref v = lower_convert(l, lower_value(l, value), value->type, m->val);
		lower_cell_store(l, m, lower_key(l, m, target->a), v);
		return;
	}
	if (!m->scalar) {
		struct mem val = lower_tmp(l, m->val_size);
		if (ALIGN_UP(m->val->size, 8u) != m->val->size || m->val->size < m->val_size)
			lower_zero(l, val, m->val_size);
		lower_into_as(l, value, val, m->val);
		struct mem key = lower_key(l, m, target->a);
		lower_update(l, m, key, val);
		return;
	}
	struct ref v = REF_NONE;
	struct mem tmp = MEM_NONE;
	if (scalar_val)
		v = lower_convert(l, lower_value(l, value), value->type, m->val);
	else {
		tmp = lower_tmp(l, m->val->size);
		lower_into_as(l, value, tmp, m->val);
	}
	struct blk *done = ir_blk(f);
	struct ref p = element(l, m, lower_key(l, m, NULL), done);
	if (scalar_val)
		lower_store(l, MIN(m->val->size, 8u), (struct mem){p, 0}, v);
	else
		lower_copy(l, (struct mem){p, 0}, tmp, m->val->size);
	set_present(l, m, p);
	ir_jmp(f, done);
	ir_at(f, done);
}

static enum token plain(enum token op)
{
	static const u8 pairs[][2] = {
		{TK_ADDEQ, TK_PLUS},  {TK_SUBEQ, TK_MINUS},   {TK_MULEQ, TK_STAR},
		{TK_DIVEQ, TK_SLASH}, {TK_MODEQ, TK_PERCENT}, {TK_ANDEQ, TK_AMP},
		{TK_OREQ, TK_PIPE},   {TK_XOREQ, TK_CARET},   {TK_SHLEQ, TK_SHL},
		{TK_SHREQ, TK_SHR},
	};
	for (size_t i = 0; i < countof(pairs); i++)
		if (pairs[i][0] == op)
			return (enum token)pairs[i][1];
	return TK_EOF;
}

/* @x op= value. Additions are atomic, so no update is lost. */
static void assign_op(struct lower *l, struct map *m, struct node *n)
{
	struct fn *f = l->f;
	struct ref v = lower_value(l, n->b);
	struct blk *done = ir_blk(f);
	struct ref p = element(l, m, lower_key(l, m, n->a->a), done);
	enum token op = plain(n->op);
	bool add = (op == TK_PLUS || op == TK_MINUS) && m->val->kind == T_INT && m->val->size == 8;
	if (add) {
		ir_xadd(f, 8, p, 0, op == TK_MINUS ? ir_op1(f, O_NEG, 8, v) : v);
	} else {
		struct ref old =
			lower_load(l, MIN(m->val->size, 8u), m->val->is_signed, (struct mem){p, 0});
		struct ref r = lower_arith(l, n, op, old, v, m->val, n->b->type);
		lower_store(l, MIN(m->val->size, 8u), (struct mem){p, 0}, r);
	}
	set_present(l, m, p);
	ir_jmp(f, done);
	ir_at(f, done);
}

static void assign_var(struct lower *l, struct node *n)
{
	struct var *v = n->a->var;
	if (n->op != TK_ASSIGN) {
		struct ref x = lower_var_get(l, v), y = lower_value(l, n->b);
		struct ref r = lower_arith(l, n, plain(n->op), x, y, v->type, n->b->type);
		lower_var_set(l, v, lower_convert(l, r, &type_i64, v->type));
	} else if (type_is_scalar(v->type)) {
		lower_var_set(l, v, lower_convert(l, lower_value(l, n->b), n->b->type, v->type));
	} else {
		struct mem tmp = lower_tmp(l, v->type->size); /* the value may use the variable */
		lower_into_as(l, n->b, tmp, v->type);
		lower_copy(l, lower_var_mem(l, v), tmp, v->type->size);
	}
}

void lower_assign(struct lower *l, struct node *n)
{
	if (n->a->kind == N_VAR) {
		assign_var(l, n);
		return;
	}
	struct map *m = n->a->map;
	if (type_is_agg(n->b->type))
		lower_agg(l, n->a, n->b);
	else if (n->op == TK_ASSIGN)
		assign_plain(l, m, n->a, n->b);
	else
		assign_op(l, m, n);
}

static struct ref step_of(struct lower *l, const struct node *n, const struct type *t)
{
	u64 k = t->kind == T_PTR && t->base && t->base->size ? t->base->size : 1;
	return ir_con(l->f, n->op == TK_INC ? k : -k);
}

struct ref lower_incdec(struct lower *l, struct node *n, bool used)
{
	struct fn *f = l->f;
	bool post = n->flags & NF_POST;
	if (n->a->kind == N_VAR) {
		struct var *v = n->a->var;
		struct ref old = lower_var_get(l, v);
		struct ref now = lower_convert(l, ir_op2(f, O_ADD, old, step_of(l, n, v->type)),
					       &type_i64, v->type);
		lower_var_set(l, v, now);
		return post ? old : now;
	}
	struct map *m = n->a->map;
	struct blk *done = ir_blk(f);
	struct ref out = ir_var(f), step = step_of(l, n, m->val);
	ir_set(f, out, ir_con(f, 0));
	struct ref p = element(l, m, lower_key(l, m, n->a->a), done);
	if (used && host_has(l->u->host, FEAT_ATOMIC)) {
		struct ref old = ir_atomic(f, O_XADDF, 8, p, 0, step);
		ir_set(f, out, post ? old : ir_op2(f, O_ADD, old, step));
	} else {
		if (used) {
			struct ref old = ir_load(f, 8, p, 0);
			ir_set(f, out, post ? old : ir_op2(f, O_ADD, old, step));
		}
		ir_xadd(f, 8, p, 0, step);
	}
	set_present(l, m, p);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, out);
}
