/* plan.c - how each map is kept: per CPU or shared, its key, its limit, and by which store. */
#include "sema/plan.h"
#include "core/agg.h"
#include "core/store.h"
#include "sema/check.h"

enum {
	MAX_HASH_BYTES =
		64 << 20, /* of one map with large values: fewer elements instead of more memory */
	MIN_KEYS = 64,
	SPARE = 4,       /* so many times the keys that there can be */
	KEY_LIMIT = 512, /* of old kernels */
	KEY_HASH = 16,
	FEW_MAPS = 40, /* so many have maps of their own */
	GROWN_KEYS =
		1 << 16,   /* of an aggregation that takes memory as it fills: 1 MiB of buckets */
	GROWN_EACH = 8128, /* with what the kernel adds two pages: it finds those at any time */
	LARGE_EACH = 512,  /* to make 4096 of these beforehand takes 5 ms and more */
	PLACES_MAX =
		64, /* in a body that find an element by code of their own, some 200 instructions */
};

/* Integers take 8 bytes in maps, so that atomic adds work and widths never matter to a reader. */
static const struct type *widened(const struct type *t)
{
	return t->kind == T_INT ? type_int(8, t->is_signed) : t;
}

/* One copy for all CPUs: atomic additions. */
static bool can_share(const struct type *t)
{
	const struct agg *agg = agg_of(t);
	return agg && agg->adds;
}

/* One copy per CPU, unless the script itself reads the sum or deletes it where there is no element
 * to delete, or a copy is large and keyed. */
static bool wants_percpu(const struct map *m, const struct mapuse *use)
{
	if (!type_is_agg(m->val))
		return false;
	if (m->declared)
		return m->map_type == BPF_MAP_TYPE_PERCPU_HASH ||
		       m->map_type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	if (!can_share(m->val))
		return true;
	bool large = agg_of(m->val)->buckets;
	return !use->read && (m->scalar ? !use->touched : !large);
}

/*
 * Kernels that limit keys get hashes of them, and a second map with the keys. So do long keys of
 * aggregations: hashing what a key holds is cheaper than what the kernel does with all of it.
 */
static void plan_big_key(struct compile *c, struct map *m)
{
	bool fits = m->key_size <= KEY_LIMIT || host_has(c->host, FEAT_BIG_KEYS);
	if (fits && (!m->adds || m->key_size <= KEY_SHORT))
		return;
	struct map *k = arena_new(c->arena, struct map);
	*k = (struct map){.name = str_z(arena_fmt(c->arena, "%.*s_keys", STRF(m->name))),
			  .role = MAP_AUX};
	k->map_type = BPF_MAP_TYPE_HASH;
	k->key_size = KEY_HASH;
	k->val_size = ALIGN_UP(m->key_size, 8u);
	m->keys = k;
	m->key_size = KEY_HASH;
}

static void plan_key(struct compile *c, struct map *m)
{
	m->key = widened(m->key);
	m->key_size = m->key->kind == T_INT ? 8 : m->key->size;
	plan_big_key(c, m);
}

/* An array of one element that user space maps. */
static struct map *new_memory(struct compile *c, const char *name, u32 size)
{
	struct map *t = arena_new(c->arena, struct map);
	*t = (struct map){.name = str_z(name), .role = MAP_AUX};
	t->map_type = BPF_MAP_TYPE_ARRAY;
	t->flags = BPF_F_MMAPABLE;
	t->key_size = 4;
	t->max_entries = 1;
	t->val_size = size;
	return t;
}

struct map *plan_memory(struct compile *c, const struct map *m, const char *what, u32 size)
{
	return new_memory(c, arena_fmt(c->arena, "%.*s_%s", STRF(m->name), what), size);
}

bool plan_exact_limit(const struct compile *c)
{
	const struct config *g = &c->unit->config;
	return g->map_keys_set && g->max_map_keys <= MAP_KEYS;
}

/* ---- what keys there are ---- */

/* How many values this part of a key can have; 0: nobody knows. */
static u64 key_values(const struct unit *u, const struct node *n)
{
	u64 all = 1;
	switch (n->kind) {
	case N_NUM:
	case N_STR:
	case N_BOOL: return 1;
	case N_TUPLE:
		for (const struct node *e = n->a; e && all <= MAP_KEYS; e = e->next)
			all *= key_values(u, e);
		return all;
	default: return n->type && n->type->kind == T_PROBE ? u->nprobe : 0;
	}
}

static void note_keys(const struct unit *u, struct mapuse *use, const struct node *key)
{
	u64 n = key_values(u, key) + use->nkey;
	use->any_key |= n == use->nkey || n > MAP_KEYS;
	use->nkey = (u32)MIN(n, (u64)MAP_KEYS);
}

/* ---- bodies that are long ---- */

struct crowd {
	struct compile *c;
	u64 places; /* that find an element by its key */
};

static bool count_places(struct node *n, void *arg)
{
	struct crowd *all = arg, inner = {.c = all->c};
	all->places += n->kind == N_MAP && n->map && mapuse(all->c, n->map)->keyed;
	if (n->kind != N_UNROLL)
		return true;
	node_walk(n->b, count_places, &inner);
	all->places += inner.places * n->a->num;
	return false;
}

static bool note_crowd(struct node *n, void *arg)
{
	struct crowd *all = arg;
	if (n->kind == N_MAP && n->map)
		mapuse(all->c, n->map)->crowded = true;
	return true;
}

static void walk_body(const struct variant *v, node_cb *cb, struct crowd *all)
{
	node_walk(v->probe, cb, all);
	for (const struct fninst *f = v->fns; f; f = f->next)
		node_walk(f->fn, cb, all);
}

static bool note_key(struct node *n, void *arg)
{
	struct crowd *all = arg;
	if (n->kind != N_MAP || !n->map)
		return true;
	struct mapuse *use = mapuse(all->c, n->map);
	use->by_others |= !(n->a && n->a->fn && n->a->fn->role == ROLE_CPU);
	if (n->a)
		note_keys(all->c->unit, use, n->a);
	return true;
}

static void look_at_bodies(struct compile *c)
{
	for (u32 i = 0; i < c->nvariant; i++) {
		struct crowd all = {.c = c};
		walk_body(c->variant[i], note_key, &all);
		walk_body(c->variant[i], count_places, &all);
		if (all.places > PLACES_MAX)
			walk_body(c->variant[i], note_crowd, &all);
	}
}

/* Does what let says of its kind go with how the map is used? */
static void check_declared(struct compile *c, const struct map *m)
{
	struct diags *ds = c->diags;
	if (m->scalar)
		diag_add(ds, W_UNUSED, m->loc,
			 "%s is used without a key: the size that it is declared with is ignored",
			 m->name.s);
	if (type_is_agg(m->val) && !m->percpu && !can_share(m->val))
		diag_add(ds, E_TYPE, m->loc, "Incompatible map types: %s needs a percpuhash",
			 m->name.s);
	if (!type_is_agg(m->val) && (m->map_type == BPF_MAP_TYPE_PERCPU_HASH ||
				     m->map_type == BPF_MAP_TYPE_LRU_PERCPU_HASH))
		diag_add(ds, E_TYPE, m->loc,
			 "Incompatible map types: %s holds plain values, which a per-CPU map would "
			 "scatter",
			 m->name.s);
}

static const struct store *choose_store(struct compile *c, const struct map *m)
{
	const struct mapuse use = *mapuse(c, m);
	const struct store *const *s = stores;
	while (!(*s)->fits(c, m, &use))
		s++;
	return *s;
}

/*
 * Other maps than aggregations take memory as they fill where the script wants it, and, unless it
 * wants the opposite, where their elements are large, or only what cells leave over comes to them.
 */
static bool plain_grows(const struct compile *c, const struct map *m, u64 each)
{
	const struct config *g = &c->unit->config;
	if (g->prealloc_set)
		return !g->prealloc_maps;
	return !plan_exact_limit(c) && (each >= LARGE_EACH || m->own);
}

/*
 * An aggregation is not to lose counts because its keys were more than somebody thought. Copies per
 * CPU are made beforehand: the kernel does not always find memory for them while a program runs.
 */
static bool grows(const struct compile *c, const struct map *m, u64 each)
{
	bool wanted = type_is_agg(m->val) ? !plan_exact_limit(c) : plain_grows(c, m, each);
	return wanted && !m->declared && !m->percpu && each <= GROWN_EACH &&
	       host_has(c->host, FEAT_GROWS);
}

/* What hashes stand for is one copy for all CPUs, even where the values are not. */
static bool keys_grow(const struct compile *c, const struct map *m)
{
	return m->flags ||
	       (!plan_exact_limit(c) && !m->declared && m->keys->val_size >= LARGE_EACH &&
		m->keys->val_size <= GROWN_EACH && host_has(c->host, FEAT_GROWS));
}

/* Of a keyed map: of the memory that we may have, such maps together take three eighths at most. */
static u64 most_bytes(const struct compile *c)
{
	u64 all = host_memory(c->host) / 8 * 3, n = 0;
	for (u32 i = 0; i < c->unit->nmap; i++)
		n += c->unit->map[i]->role == MAP_USER && !c->unit->map[i]->scalar;
	return MIN((u64)MAX_HASH_BYTES, all / MAX(n, 1ull));
}

/* Of what is known to be little, most stays free: baseline.c tells by that whether a map fills. */
static bool has_few_keys(const struct map *m, const struct mapuse *use)
{
	return !m->declared && use->nkey && !use->any_key && !use->used_whole &&
	       use->nkey <= MAP_KEYS / SPARE;
}

/*
 * How many elements it may have: as declared, as set, as there can be keys, or as many as take a
 * bounded amount of memory.
 */
static void plan_limit(struct compile *c, struct map *m)
{
	const struct mapuse use = *mapuse(c, m);
	bool few = !c->unit->config.map_keys_set && has_few_keys(m, &use);
	const struct config *g = &c->unit->config;
	u32 copies = m->percpu ? c->host->ncpu : 1;
	u64 each = m->key_size + (u64)m->val_size * copies + (m->keys ? m->keys->val_size : 0);
	u64 n = g->max_map_keys, room = most_bytes(c) / each;
	room = MAX(room, (u64)MIN_KEYS);
	if (few) {
		n = MAX(use.nkey * SPARE, (u32)MIN_KEYS);
	} else if (grows(c, m, each)) {
		m->flags = BPF_F_NO_PREALLOC;
		n = g->map_keys_set || !type_is_agg(m->val) ? n : GROWN_KEYS;
	}
	if (!m->declared)
		m->max_entries = (u32)(g->map_keys_set ? n : MIN(n, room));
	if (m->keys) {
		m->keys->max_entries = m->max_entries;
		m->keys->flags = keys_grow(c, m) ? BPF_F_NO_PREALLOC : 0;
	}
}

static bool plan_map(struct compile *c, struct map *m)
{
	if (!m->val || (!m->key && !m->scalar)) {
		/* An option, or a probe that is missing, may have left out what uses it. */
		if (!c->getopts && !c->nskipped)
			diag_add(c->diags, W_UNUSED, m->loc, "Unused map: %s", m->name.s);
		return false;
	}
	m->shown = m->val;
	m->val = widened(m->val);
	const struct mapuse use = *mapuse(c, m);
	m->percpu = wants_percpu(m, &use);
	m->adds = type_is_agg(m->val) && !use.read && !use.touched && !m->declared;
	m->counter = m->val->kind == T_INT && !use.replaced;
	if (m->declared)
		check_declared(c, m);
	const struct agg *agg = agg_of(m->val);
	m->val_size = ALIGN_UP(agg ? agg->words(m->val) * 8 : m->val->size, 8u);
	if (m->scalar) {
		m->key_size = 4;
		m->max_entries = 1;
	} else {
		plan_key(c, m);
	}
	m->store = choose_store(c, m);
	m->store->plan(c, m);
	if (!m->scalar && !m->store->bounded)
		plan_limit(c, m);
	return true;
}

static void unit_add_map(struct compile *c, struct map *m)
{
	struct unit *u = c->unit;
	m->index = u->nmap;
	arena_push(c->arena, u->map, u->nmap, m);
}

/* A program may name 64 maps of the kernel's: what is one element lies in one map then. */
static void share_memory(struct compile *c)
{
	enum { CACHE_LINE = 64, MOST = 1 << 30 };
	struct unit *u = c->unit;
	struct map *all = new_memory(c, "memory", 0);
	for (u32 i = 0; i < u->nmap; i++) {
		struct map *m = u->map[i];
		bool ours = m->role == MAP_USER || (m->role == MAP_AUX && m->flags);
		if (!ours || m->map_type != BPF_MAP_TYPE_ARRAY || all->val_size > MOST ||
		    m->val_size > MOST)
			continue;
		m->in = all;
		m->at = all->val_size;
		all->val_size += ALIGN_UP(m->val_size, (u32)CACHE_LINE);
	}
	if (all->val_size)
		unit_add_map(c, all);
}

bool sema_plan(struct compile *c)
{
	struct unit *u = c->unit;
	u32 n = 0;
	look_at_bodies(c);
	for (u32 i = 0; i < u->nmap; i++) {
		struct map *m = u->map[i];
		if (m->role == MAP_USER && !plan_map(c, m))
			continue;
		m->index = n;
		u->map[n++] = m;
	}
	u->nmap = n;
	for (u32 i = 0; i < n; i++) {
		if (u->map[i]->keys)
			unit_add_map(c, u->map[i]->keys);
		if (u->map[i]->own)
			unit_add_map(c, u->map[i]->own);
	}
	if (u->nmap > FEW_MAPS)
		share_memory(c);
	return !c->diags->nerror;
}

static const char *map_type_name(u32 t)
{
	switch (t) {
	case BPF_MAP_TYPE_HASH: return "hash";
	case BPF_MAP_TYPE_ARRAY: return "array";
	case BPF_MAP_TYPE_PERCPU_HASH: return "percpu_hash";
	case BPF_MAP_TYPE_PERCPU_ARRAY: return "percpu_array";
	case BPF_MAP_TYPE_LRU_HASH: return "lru_hash";
	case BPF_MAP_TYPE_LRU_PERCPU_HASH: return "lru_percpu_hash";
	case BPF_MAP_TYPE_RINGBUF: return "ringbuf";
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY: return "perf_event_array";
	default: return "map";
	}
}

void sema_dump_plan(const struct compile *c, struct sb *out)
{
	const struct unit *u = c->unit;
	for (u32 i = 0; i < u->nmap; i++) {
		const struct map *m = u->map[i];
		sb_fmt(out, "map %.*s: %s, %u elements%s, key %u bytes", STRF(m->name),
		       map_type_name(m->map_type), m->max_entries,
		       m->flags & BPF_F_NO_PREALLOC ? " as it fills" : "", m->key_size);
		if (m->key) {
			sb_z(out, " ");
			type_name(m->key, out);
		}
		sb_fmt(out, ", value %u bytes", m->val_size);
		if (m->shown) {
			sb_z(out, " ");
			type_name(m->shown, out);
		}
		sb_char(out, '\n');
	}
	for (u32 i = 0; i < c->nvariant; i++) {
		const struct variant *v = c->variant[i];
		sb_fmt(out, "body %u: %u point%s%s\n", i, v->npoint, v->npoint == 1 ? "" : "s",
		       v->per_point ? ", a program each" : "");
		for (const struct point *p = v->points; p; p = p->next)
			sb_fmt(out, "  %.*s\n", STRF(p->text));
	}
}
