/* key.c - keys of maps in memory, and the hashes that stand for long ones and for other values. */
#include "core/agg.h"
#include "lower/lower.h"
#include <errno.h>

/* One or two hashes of 64 bits over the words of a key. */
struct hashing {
	struct ref h[2]; /* variables */
	u32 n;
	struct mem key;
};

static void hash_word(struct lower *l, struct hashing *d, struct ref w)
{
	static const u64 mul[2] = {0xff51afd7ed558ccd, 0x87c37b91114253d5};
	struct fn *f = l->f;
	for (u32 i = 0; i < d->n; i++) {
		struct ref x = ir_op2(f, O_MUL, ir_op2(f, O_XOR, ir_get(f, d->h[i]), w),
				      ir_con(f, mul[i]));
		ir_set(f, d->h[i], ir_op2(f, O_XOR, x, ir_op2(f, O_SHR, x, ir_con(f, 29 + 3 * i))));
	}
}

/* Is there a NUL among the bytes of w? Its high bits, not 0. */
static struct ref nul_in(struct fn *f, struct ref w)
{
	struct ref less = ir_op2(f, O_SUB, w, ir_con(f, 0x0101010101010101));
	struct ref not = ir_op2(f, O_XOR, w, ir_con(f, ~0ull));
	return ir_op2(f, O_AND, ir_op2(f, O_AND, less, not ), ir_con(f, 0x8080808080808080));
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
	struct ref at = lower_index(l, from, d->key), base = lower_addr(l, d->key);
	struct blk *head = ir_blk(f), *body = ir_blk(f), *done = ir_blk(f), *next = ir_blk(f);
	ir_jmp(f, head);
	ir_at(f, head);
	lower_round(l, done);
	ir_br(f, O_ULE, ir_get(f, at), ir_con(f, to - 8), body, done);
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
		ir_br(f, O_EQ, nul_in(f, w), ir_con(f, 0), next, done);
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
static struct hashing hash_value(struct lower *l, const struct type *t, struct mem full, u32 size,
				 u32 nhash)
{
	static const u64 seed[2] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f};
	struct fn *f = l->f;
	struct hashing d = {.n = nhash, .key = full};
	u32 n = 0, at = 0;
	const struct field *fields = t->kind == T_TUPLE ? type_fields(t, &n) : NULL;
	for (u32 i = 0; i < nhash; i++)
		d.h[i] = ir_var(f);
	/* Hidden: else how many words were hashed is many paths for the verifier. */
	struct ref one = ir_hide(f, ir_con(f, 1));
	for (u32 i = 0; i < nhash; i++)
		ir_set(f, d.h[i], ir_op2(f, O_MUL, one, ir_con(f, seed[i])));
	if (!fields && hash_piece(l, &d, t, 0))
		at = t->size;
	for (u32 i = 0; i < n && fields[i].bit_off / 8 == at; i++)
		if (hash_piece(l, &d, fields[i].type, at))
			at += fields[i].type->size;
	hash_range(l, &d, at, size, REF_NONE, false);
	return d;
}

static struct mem hash_key(struct lower *l, const struct type *t, struct mem full, u32 size)
{
	struct hashing d = hash_value(l, t, full, size, 2);
	struct mem k = lower_tmp(l, 16);
	for (u32 i = 0; i < d.n; i++)
		lower_store(l, 8, mem_at(k, (i32)(8 * i)), ir_get(l->f, d.h[i]));
	return k;
}

struct ref lower_hash(struct lower *l, struct node *n)
{
	const struct type *t = n->type;
	u32 size = type_is_scalar(t) ? 8 : ALIGN_UP(t->size, 8u);
	struct mem m;
	if (t->kind == T_KSTACK || t->kind == T_USTACK) {
		m = lower_mem(l, n);
	} else {
		m = lower_tmp(l, size);
		lower_zero(l, m, size);
		if (type_is_scalar(t))
			lower_store(l, 8, m, lower_operand(l, n));
		else
			lower_into(l, n, m);
	}
	return ir_get(l->f, hash_value(l, t, m, size, 1).h[0]);
}

struct ref lower_note_key(struct lower *l, const struct map *m, const struct map_key *k)
{
	struct fn *f = l->f;
	return ir_call(f, BPF_FUNC_map_update_elem,
		       ARGS(ir_map(m->keys->index), lower_addr(l, k->mem), lower_addr(l, k->full),
			    ir_con(f, BPF_NOEXIST)));
}

struct ref lower_keep_key(struct lower *l, const struct map *m, const struct map_key *k,
			  struct blk *known, struct blk *refused)
{
	struct fn *f = l->f;
	struct blk *exists = ir_blk(f);
	exists->unlikely = true;
	struct ref r = lower_error(l, lower_note_key(l, m, k));
	ir_br(f, O_EQ, r, ir_con(f, 0), known, exists);
	ir_at(f, exists);
	ir_br(f, O_EQ, r, ir_con(f, stat_error(EEXIST)), known, refused);
	return r;
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

static struct map_key big_key(struct lower *l, const struct map *m, struct node *key)
{
	struct map_key k = {.full = lower_scratch(l, m->keys->val_size)};
	if (m->keys->val_size != m->key->size)
		lower_zero(l, k.full, m->keys->val_size);
	k.full.frames_only = frames_only(m->key);
	lower_into_as(l, key, k.full, m->key);
	k.mem = hash_key(l, m->key, k.full, m->keys->val_size);
	return k;
}

struct map_key lower_key(struct lower *l, const struct map *m, struct node *key)
{
	if (m->keys)
		return big_key(l, m, key);
	struct map_key k = {.mem = lower_tmp(l, m->key_size)};
	lower_into_as(l, key, k.mem, m->key);
	return k;
}

/* ---- as numbers ---- */

/* Of a last word that is not whole the bytes that there are. */
u32 lower_key_words(struct lower *l, struct mem key, u32 size, struct ref *word)
{
	u32 n = 0;
	for (u32 at = 0; at < size; at += 8) {
		u32 left = MIN(size - at, 8u);
		struct ref w = REF_NONE;
		for (u32 done = 0, part; done < left; done += part) {
			part = left - done >= 8   ? 8
			       : left - done >= 4 ? 4
			       : left - done >= 2 ? 2
						  : 1;
			struct ref v = lower_load(l, part, false, mem_at(key, (i32)(at + done)));
			v = ir_op2(l->f, O_SHL, v, ir_con(l->f, 8ull * done));
			w = ref_is(w) ? ir_op2(l->f, O_OR, w, v) : v;
		}
		word[n++] = w;
	}
	return n;
}

struct ref lower_hash_words(struct lower *l, const struct ref *word, u32 n)
{
	struct fn *f = l->f;
	struct ref h = ir_con(f, 0x9e3779b97f4a7c15), mul = ir_con(f, 0xff51afd7ed558ccd);
	for (u32 i = 0; i < n; i++) {
		h = ir_op2(f, O_MUL, ir_op2(f, O_XOR, h, word[i]), mul);
		h = ir_op2(f, O_XOR, h, ir_op2(f, O_SHR, h, ir_con(f, 32)));
	}
	return h;
}
