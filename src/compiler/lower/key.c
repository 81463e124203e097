/* key.c - keys of maps in memory, and the hashes that stand for long ones. */
#include "core/agg.h"
#include "lower/lower.h"
#include <errno.h>

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

/* Is there a NUL among the bytes of w? Its high bits, not 0. */
static struct ref nul_in(struct fn *f, struct ref w)
{
	struct ref less = ir_op2(f, O_SUB, w, ir_con(f, 0x0101010101010101));
	struct ref not = ir_op2(f, O_XOR, w, ir_con(f, ~0ull));
	return ir_op2(f, O_AND, ir_op2(f, O_AND, less, not ), ir_con(f, 0x8080808080808080));
}

/* What the function below shares with its caller, on the stack. */
enum { HASH_BASE = 0, HASH_STATE = 8, HASH_FRAME = 24 };

/* For bpf_loop: one more of so many words. */
static struct fn *hash_step(struct lower *l, u32 words, bool text)
{
	struct fn *f = ir_fn(&l->c->scratch, STR("hash_step")), *was = l->f;
	struct blk *in = ir_blk(f), *end = ir_blk(f);
	f->callback = true;
	f->nparam = 2;
	f->loc = was->loc;
	l->f = f;
	struct ref i = ir_op1(f, O_EXTU, 4, ir_param(f, 0)), frame = ir_param(f, 1);
	struct hashing d = {.h = {ir_var(f), ir_var(f)}};
	ir_br(f, O_ULT, i, ir_con(f, words), in, end);
	ir_at(f, in);
	struct ref at = ir_op2(f, O_SHL, i, ir_con(f, 3));
	struct ref w = ir_load(f, 8, ir_op2(f, O_ADD, ir_load(f, 8, frame, HASH_BASE), at), 0);
	for (u32 k = 0; k < 2; k++)
		ir_set(f, d.h[k], ir_load(f, 8, frame, HASH_STATE + 8 * (i32)k));
	hash_word(l, &d, w);
	for (u32 k = 0; k < 2; k++)
		ir_store(f, 8, frame, HASH_STATE + 8 * (i32)k, ir_get(f, d.h[k]));
	if (text) {
		struct blk *more = ir_blk(f);
		ir_br(f, O_EQ, nul_in(f, w), ir_con(f, 0), more, end);
		ir_at(f, more);
	}
	ir_ret(f, ir_con(f, 0));
	ir_at(f, end);
	ir_ret(f, ir_con(f, 1));
	l->f = was;
	return f;
}

/*
 * The same as a loop of the kernel's, where the verifier walks through the code many times: through
 * each round of a loop around it and, of one here, through up to 128 for each. False: no room.
 */
static bool hash_by_call(struct lower *l, struct hashing *d, u32 from, u32 to, struct ref limit,
			 bool text)
{
	struct fn *f = l->f;
	u32 mark = ir_slot_mark(f);
	struct ref slot = ir_slot(f, HASH_FRAME), n = ir_con(f, (to - from) / 8);
	if (!ref_is(slot))
		return false;
	if (ref_is(limit))
		n = ir_op2(f, O_SHR, ir_addi(f, ir_get(f, limit), -(i64)from), ir_con(f, 3));
	ir_store(f, 8, slot, HASH_BASE, lower_addr(l, mem_at(d->key, (i32)from)));
	for (u32 k = 0; k < 2; k++)
		ir_store(f, 8, slot, HASH_STATE + 8 * (i32)k, ir_get(f, d->h[k]));
	ir_call(f, BPF_FUNC_loop,
		ARGS(n, ir_fnref(f, hash_step(l, (to - from) / 8, text)), ir_addr(f, slot, 0),
		     ir_con(f, 0)));
	for (u32 k = 0; k < 2; k++)
		ir_set(f, d->h[k], ir_load(f, 8, slot, HASH_STATE + 8 * (i32)k));
	ir_slot_release(f, mark);
	return true;
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
	if (l->rounds && host_has(l->c->host, FEAT_LOOP) &&
	    hash_by_call(l, d, from, to, limit, text))
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

struct ref lower_note_key(struct lower *l, const struct map *m, const struct map_key *k)
{
	struct fn *f = l->f;
	return ir_call(f, BPF_FUNC_map_update_elem,
		       ARGS(ir_map(m->keys->index), lower_addr(l, k->mem), lower_addr(l, k->full),
			    ir_con(f, BPF_NOEXIST)));
}

void lower_keep_key(struct lower *l, const struct map *m, const struct map_key *k,
		    struct blk *known, struct blk *refused)
{
	struct fn *f = l->f;
	struct blk *exists = ir_blk(f);
	exists->unlikely = true;
	struct ref r = lower_note_key(l, m, k);
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
