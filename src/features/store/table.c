/*
 * table.c - keyed aggregations that programs only add to, in a table of our own: per CPU, open
 * addressing, in memory that user space maps.
 *
 * One array element (map.own) holds a region for each CPU, SLOTS slots and PROBES more, so that a
 * probe never wraps, and behind all a word (store_behind_at()). slot:
 *
 *	u64 tag		0 free, 1 being made, else the key's hash | 2
 *	key		padded with zeros to words; of histograms also the bucket, a word
 *	words		the aggregation's; of histograms the counter of that bucket
 *
 * A program looks at PROBES slots from the hash's place on; when none fits, it uses the kernel's
 * hash map. A key may stand in several slots and in the hash map: readers merge.
 */
#include "base/alloc.h"
#include "base/tab.h"
#include "store/common.h"

enum { SLOTS = 1024, PROBES = 8, KEY_WORDS = KEY_SHORT / 8 + 1, BUSY = 1, TAG = 2 };
_Static_assert((PROBES & (PROBES - 1)) == 0, "fill() bounds a slot's number by a mask");

/* What finds no room. */
static const struct store *behind(const struct map *m)
{
	return m->percpu ? &store_percpu_hash : &store_hash;
}

/* Bytes of the key's words in a slot, without the bucket. */
static u32 key_size(const struct map *m)
{
	return ALIGN_UP(m->key_size, 8u);
}

static bool by_bucket(const struct map *m)
{
	return agg_of(m->val)->buckets;
}

static u32 value_at(const struct map *m)
{
	return 8 + key_size(m) + (by_bucket(m) ? 8 : 0);
}

static u32 slot_size(const struct map *m)
{
	return value_at(m) + (by_bucket(m) ? 8 : m->val_size);
}

static u32 cpu_size(const struct map *m)
{
	return (SLOTS + PROBES) * slot_size(m);
}

static u64 memory_size(const struct map *m, u32 ncpu)
{
	return (u64)ncpu * cpu_size(m) + BEHIND_WORD;
}

/* ---- compiling ---- */

static bool is_small(const struct map *m)
{
	return m->key_size <= KEY_SHORT && (m->val_size <= 16 || by_bucket(m));
}

static bool fits(struct compile *c, const struct map *m, const struct mapuse *use)
{
	return !m->scalar && m->adds && !use->crowded && is_small(m) &&
	       (m->keys || !plan_exact_limit(c)) && host_has(c->host, FEAT_ATOMIC);
}

static void plan(struct compile *c, struct map *m)
{
	/* Keys that find no room here are many, so CPUs seldom meet; and a shared map takes a tenth
	 * of the time to make. */
	if (agg_of(m->val)->adds)
		m->percpu = false;
	behind(m)->plan(c, m);
	m->own = plan_memory(c, m, "table", (u32)memory_size(m, store_cpus(c->host->ncpu)));
}

static bool sound(const struct map *m, u32 ncpu)
{
	return behind(m)->sound(m, ncpu) && agg_of(m->val) && is_small(m) && m->own &&
	       memory_size(m, ncpu) <= m->own->val_size;
}

/* ---- programs ---- */

struct find {
	const struct map *m;
	struct ref key[KEY_WORDS], tag, base, out; /* out: variable, the slot found */
	struct ref taken;                          /* variable: its number, counted from the base */
	u32 nkey, slot_size;
	struct blk *found, *unused; /* it is there; one is free */
};

/* Slot number i from the base: ours, free, or somebody else's. */
static void probe(struct lower *l, struct find *d, u32 i)
{
	struct fn *f = l->f;
	i32 at = (i32)(i * d->slot_size);
	struct blk *same = ir_blk(f), *other = ir_blk(f), *unused = ir_blk(f), *next = ir_blk(f);
	struct ref tag = ir_load(f, 8, d->base, at);
	same->unlikely = i > 0;
	other->unlikely = unused->unlikely = next->unlikely = true;
	ir_br(f, O_EQ, tag, d->tag, same, other);
	ir_at(f, same);
	for (u32 k = 0; k < d->nkey; k++) {
		struct blk *more = ir_blk(f);
		more->unlikely = i > 0;
		ir_br(f, O_EQ, ir_load(f, 8, d->base, at + 8 + (i32)(8 * k)), d->key[k], more,
		      next);
		ir_at(f, more);
	}
	ir_set(f, d->out, ir_addi(f, d->base, at));
	ir_jmp(f, d->found);

	ir_at(f, other);
	ir_br(f, O_EQ, tag, ir_con(f, 0), unused, next);
	ir_at(f, unused);
	ir_set(f, d->taken, ir_con(f, i));
	ir_jmp(f, d->unused);
	ir_at(f, next);
}

/*
 * The free slot becomes ours and gets key and zeros; its tag comes last. Which of them it is must be
 * hidden, or all that follows would be one path each for the verifier. It can only be lost to a
 * program that interrupted this one.
 */
static void fill(struct lower *l, struct find *d, const struct map_key *key, struct blk *full,
		 struct blk *done)
{
	struct fn *f = l->f;
	struct blk *mine = ir_blk(f);
	d->unused->unlikely = mine->unlikely = true;
	ir_at(f, d->unused);
	struct ref i = ir_op2(f, O_AND, ir_hide(f, ir_get(f, d->taken)), ir_con(f, PROBES - 1));
	struct ref slot = ir_op2(f, O_ADD, d->base, ir_op2(f, O_MUL, i, ir_con(f, d->slot_size)));
	struct ref was = ir_cmpxchg(f, 8, slot, 0, ir_con(f, 0), ir_con(f, BUSY));
	ir_br(f, O_EQ, was, ir_con(f, 0), mine, full);
	ir_at(f, mine);
	ir_set(f, d->out, slot);
	if (d->m->keys) {
		struct blk *known = ir_blk(f), *no = ir_blk(f);
		known->unlikely = no->unlikely = true;
		struct ref error = lower_keep_key(l, d->m, key, known, no);
		ir_at(f, no);
		lower_refused(l, d->m, error);
		ir_store(f, 8, slot, 0, ir_con(f, 0));
		ir_jmp(f, done);
		ir_at(f, known);
	}
	for (u32 k = 0; k < d->nkey; k++)
		ir_store(f, 8, slot, 8 + (i32)(8 * k), d->key[k]);
	for (u32 k = 8 + 8 * d->nkey; k < d->slot_size; k += 8)
		ir_store(f, 8, slot, (i32)k, ir_con(f, 0));
	lower_release(l, slot, 0, d->tag);
	ir_jmp(f, d->found);
}

/*
 * Address of the aggregation's words in the key's slot; control goes on there when there is one.
 * Otherwise it goes to full, or to done when the key is refused, which is counted. bucket: of a
 * histogram, or none.
 */
static struct ref find_slot(struct lower *l, const struct map *m, const struct map_key *key,
			    struct ref bucket, struct blk *full, struct blk *done)
{
	struct fn *f = l->f;
	struct find d = {.m = m, .slot_size = slot_size(m)};
	d.found = ir_blk(f);
	d.unused = ir_blk(f);
	d.out = ir_var(f);
	d.taken = ir_var(f);
	d.nkey = lower_key_words(l, key->mem, m->key_size, d.key);
	if (ref_is(bucket))
		d.key[d.nkey++] = bucket;
	/* The words of a long key are hashes: one of them is enough. */
	u32 skip = m->keys ? 1 : 0;
	struct ref h =
		skip && d.nkey == 2 ? d.key[1] : lower_hash_words(l, d.key + skip, d.nkey - skip);
	d.tag = ir_op2(f, O_OR, h, ir_con(f, TAG));
	struct ref cpu = store_this_cpu(l), start = lower_element(l, m->own);
	struct ref region = ir_op2(f, O_MUL, cpu, ir_con(f, cpu_size(m)));
	struct ref at = ir_op2(f, O_AND, ir_op2(f, O_SHR, h, ir_con(f, 20)), ir_con(f, SLOTS - 1));
	struct ref off = ir_op2(f, O_ADD, region, ir_op2(f, O_MUL, at, ir_con(f, d.slot_size)));
	d.base = ir_op2(f, O_ADD, start, off);
	for (u32 i = 0; i < PROBES; i++)
		probe(l, &d, i);
	ir_jmp(f, full);
	fill(l, &d, key, full, done);
	ir_at(f, d.found);
	return ir_addi(f, ir_get(f, d.out), value_at(m));
}

/* More in a counter that the key's element has at this index. */
static void add_bucket(struct lower *l, struct map *m, struct ref p, struct ref idx,
		       struct ref weight)
{
	struct fn *f = l->f;
	struct blk *in = ir_blk(f), *out = ir_blk(f);
	ir_br(f, O_ULT, idx, ir_con(f, m->val_size / 8), in, out);
	ir_at(f, in);
	struct ref at = ir_op2(f, O_ADD, p, ir_op2(f, O_SHL, idx, ir_con(f, 3)));
	ir_xadd(f, 8, at, 0, weight);
	ir_jmp(f, out);
	ir_at(f, out);
}

/* A histogram whose table has a slot for each bucket of a key. */
static void add_by_bucket(struct lower *l, struct map *m, struct node *call,
			  const struct map_key *key, struct blk *done)
{
	struct fn *f = l->f;
	struct blk *full = ir_blk(f);
	full->unlikely = true;
	call->type = m->val;
	/* Many paths lead to it, and much follows: the verifier is to see one. */
	struct ref idx = ir_hide(f, call->fn->bucket(l, call));
	struct ref weight = call->fn->weight ? call->fn->weight(l, call) : ir_con(f, 1);
	struct ref p = find_slot(l, m, key, idx, full, done);
	if (point_flags(l->pt) & PROBE_USER)
		ir_xadd(f, 8, p, 0, weight);
	else
		ir_store(f, 8, p, 0, ir_op2(f, O_ADD, ir_load(f, 8, p, 0), weight));
	ir_jmp(f, done);
	ir_at(f, full);
	add_bucket(l, m, store_hash_element(l, m, key, done), idx, weight);
	ir_jmp(f, done);
}

static void add_whole(struct lower *l, struct map *m, struct node *call, const struct map_key *key,
		      struct blk *done)
{
	struct fn *f = l->f;
	struct blk *full = ir_blk(f);
	full->unlikely = true;
	lower_add(l, m, call, find_slot(l, m, key, REF_NONE, full, done), true);
	ir_jmp(f, done);
	ir_at(f, full);
	lower_add(l, m, call, store_hash_element(l, m, key, done), m->percpu);
	ir_jmp(f, done);
}

static void add(struct lower *l, struct map *m, struct node *key, struct node *call)
{
	struct blk *done = ir_blk(l->f);
	struct map_key k = lower_key(l, m, key);
	by_bucket(m) ? add_by_bucket(l, m, call, &k, done) : add_whole(l, m, call, &k, done);
	ir_at(l->f, done);
}

/* ---- user space ---- */

typedef void slot_cb(void *arg, u8 *slot);

static void each_slot(struct reporter *r, const struct map *m, slot_cb *cb, void *arg)
{
	assert(m->own);
	u32 size = slot_size(m);
	u8 *slot = source_mem(r, m->own);
	for (u32 c = 0; slot && c < r->ncpu; c++)
		for (u32 i = 0; i < SLOTS + PROBES; i++, slot += size) {
			u64 tag = __atomic_load_n((u64 *)(void *)slot, __ATOMIC_ACQUIRE);
			if (tag > BUSY)
				cb(arg, slot);
		}
}

struct gather {
	struct snap *n;
	struct tab index; /* key -> element number + 1 */
	u32 cap, words;
};

static void gather_slot(void *arg, u8 *slot)
{
	struct gather *g = arg;
	struct snap *n = g->n;
	u32 size = n->m->key_size;
	struct str key = str_n((char *)slot + 8, size);
	size_t at = (size_t)(uintptr_t)tab_get(&g->index, key);
	if (!at) {
		assert(n->n < g->cap);
		u8 *copy = n->keys + (size_t)n->n * size;
		memcpy(copy, slot + 8, size);
		at = ++n->n;
		tab_set(&g->index, str_n((char *)copy, size), (void *)(uintptr_t)at);
	}
	u64 *into = n->merged + (at - 1) * g->words, *from = (u64 *)(slot + value_at(n->m));
	if (!by_bucket(n->m))
		n->agg->merge(n->m->val, into, from);
	else if (from[-1] < g->words)
		into[from[-1]] += *from;
}

/* What the table holds, merged with what the map holds. Slots may appear meanwhile: there is room
 * for all. */
static struct err *snapshot(struct reporter *r, const struct map *m, struct snap *n)
{
	struct err *e = store_is_behind(r, m) ? behind(m)->snapshot(r, m, n) : NULL;
	if (e)
		return e;
	struct gather g = {.n = n, .words = n->agg->words(m->val)};
	g.cap = n->n + r->ncpu * (SLOTS + PROBES);
	u8 *keys = xcalloc(g.cap + 1ul, m->key_size);
	u64 *merged = xcalloc(g.cap + 1ul, g.words * sizeof(u64));
	if (n->n) {
		memcpy(keys, n->keys, (size_t)n->n * m->key_size);
		memcpy(merged, n->merged, (size_t)n->n * g.words * sizeof(u64));
	}
	free(n->keys);
	free(n->merged);
	n->keys = keys;
	n->merged = merged;
	for (u32 i = 0; i < n->n; i++)
		tab_set(&g.index, str_n((char *)keys + (size_t)i * m->key_size, m->key_size),
			(void *)(uintptr_t)(i + 1));
	each_slot(r, m, gather_slot, &g);
	tab_free(&g.index);
	return NULL;
}

struct emptying {
	u32 value, size;
	bool keep;
	const u8 *key; /* NULL: all */
	u32 key_size;
};

/* A free slot is free last, so that whoever takes it finds it empty. */
static void empty_slot(void *arg, u8 *slot)
{
	const struct emptying *x = arg;
	if (x->key && memcmp(slot + 8, x->key, x->key_size))
		return;
	memset(slot + x->value, 0, x->size - x->value);
	if (!x->keep)
		__atomic_store_n((u64 *)(void *)slot, 0, __ATOMIC_RELEASE);
}

static struct err *reset(struct reporter *r, const struct map *m, bool keep)
{
	struct emptying x = {.value = value_at(m), .size = slot_size(m), .keep = keep};
	each_slot(r, m, empty_slot, &x);
	return store_is_behind(r, m) ? behind(m)->reset(r, m, keep) : NULL;
}

static void forget(struct reporter *r, const struct map *m, const u8 *key)
{
	struct emptying x = {
		.value = value_at(m), .size = slot_size(m), .key = key, .key_size = m->key_size};
	if (store_is_behind(r, m))
		behind(m)->forget(r, m, key);
	each_slot(r, m, empty_slot, &x);
}

const struct store store_table = {
	.name = "table",
	.fits = fits,
	.plan = plan,
	.sound = sound,
	.add = add,
	.snapshot = snapshot,
	.reset = reset,
	.forget = forget,
};
