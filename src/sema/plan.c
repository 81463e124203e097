/* plan.c - how each map is kept: kernel map type, sizes, per CPU or shared. */
#include "core/agg.h"
#include "core/cell.h"
#include "core/table.h"
#include "kern/regs.h"
#include "sema/check.h"

enum {
	MAX_HASH_BYTES =
		64 << 20, /* of one map with large values: fewer elements instead of more memory */
	MIN_KEYS = 64,
	KEY_LIMIT = 512, /* of old kernels */
	KEY_HASH = 16,
};

/* Integers take 8 bytes in maps, so that atomic adds work and widths never matter to a reader. */
static const struct type *widened(const struct type *t)
{
	return t->kind == T_INT ? type_int(8, t->is_signed) : t;
}

static bool can_share(const struct type *t)
{
	switch (t->kind) {
	case T_COUNT:
	case T_SUM:
	case T_AVG:
	case T_STATS:
	case T_HIST:
	case T_LHIST: return true;
	default: return false;
	}
}

/* One copy per CPU, unless the script itself reads the sum, or a copy is large and keyed. */
static bool wants_percpu(const struct map *m)
{
	if (!type_is_agg(m->val))
		return false;
	if (m->declared)
		return m->map_type == BPF_MAP_TYPE_PERCPU_HASH ||
		       m->map_type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	if (!can_share(m->val))
		return true;
	bool large = m->val->kind == T_HIST || m->val->kind == T_LHIST;
	return !m->read && !(large && !m->scalar);
}

/* Programs do nothing but add to it. */
static bool only_added(const struct map *m)
{
	return type_is_agg(m->val) && !m->read && !m->poked && !m->declared;
}

/*
 * Kernels that limit keys get hashes of them, and a second map with the keys. So do long keys of
 * aggregations: hashing what a key holds is cheaper than what the kernel does with all of it.
 */
static void plan_big_key(struct compile *c, struct map *m)
{
	bool fits = m->key_size <= KEY_LIMIT || host_has(c->unit->host, FEAT_BIG_KEYS);
	if (fits && (!only_added(m) || m->key_size <= TABLE_KEY_MAX))
		return;
	struct map *k = arena_new(c->unit->arena, struct map);
	*k = (struct map){.name = str_z(arena_fmt(c->unit->arena, "%.*s_keys", STRF(m->name))),
			  .role = MAP_AUX,
			  .fd = -1};
	k->map_type = BPF_MAP_TYPE_HASH;
	k->key_size = KEY_HASH;
	k->val_size = ALIGN_UP(m->key_size, 8u);
	k->max_entries = m->max_entries;
	m->keys = k;
	m->key_size = KEY_HASH;
}

static void plan_hash(struct compile *c, struct map *m)
{
	m->key = widened(m->key);
	m->key_size = m->key->kind == T_INT ? 8 : m->key->size;
	if (m->declared) {
		plan_big_key(c, m);
		return;
	}
	m->map_type = m->percpu ? BPF_MAP_TYPE_PERCPU_HASH : BPF_MAP_TYPE_HASH;
	u64 each = m->key_size + m->val_size * (m->percpu ? c->unit->host->ncpu : 1ull);
	u64 room = MAX(MAX_HASH_BYTES / each, (u64)MIN_KEYS);
	m->max_entries = (u32)(c->unit->config.max_map_keys > 4096
				       ? c->unit->config.max_map_keys
				       : MIN(c->unit->config.max_map_keys, room));
	plan_big_key(c, m);
}

/* An array of one element that user space maps. */
static struct map *plan_memory(struct compile *c, const struct map *m, const char *what, u32 size)
{
	struct map *t = arena_new(c->unit->arena, struct map);
	*t = (struct map){.name = str_z(arena_fmt(c->unit->arena, "%.*s_%s", STRF(m->name), what)),
			  .role = MAP_AUX,
			  .fd = -1};
	t->map_type = BPF_MAP_TYPE_ARRAY;
	t->flags = BPF_F_MMAPABLE;
	t->key_size = 4;
	t->max_entries = 1;
	t->val_size = size;
	return t;
}

/*
 * Small keyed aggregations that programs only add to live in a table of ours (core/table.h). A
 * limit below the usual one is kept exactly, so then there is none.
 */
static void plan_table(struct compile *c, struct map *m)
{
	const struct config *g = &c->unit->config;
	if (!only_added(m) || m->scalar || m->key_size > TABLE_KEY_MAX ||
	    !host_has(c->unit->host, FEAT_ATOMIC))
		return;
	if ((!m->keys && g->max_map_keys < 4096) || (m->val_size > 16 && !table_by_bucket(m)))
		return;
	m->table = plan_memory(c, m, "table", cpu_slots(c->unit->host->ncpu) * table_cpu_size(m));
	/* Keys that find no room there are many, so CPUs seldom meet; and this takes a tenth of the
	 * time to make. */
	if (can_share(m->val)) {
		m->percpu = false;
		m->map_type = BPF_MAP_TYPE_HASH;
	}
}

/*
 * Maps of numbers that programs store to, read and delete from, one at a time: core/cell.h. A limit
 * below the usual one is kept exactly, so then there are none.
 */
static void plan_cells(struct compile *c, struct map *m)
{
	bool plain = type_is_scalar(m->val) && !type_is_agg(m->val) && m->val_size == 8;
	if (!plain || m->odd || m->declared || m->keys || m->key_size > CELL_KEY_MAX ||
	    c->unit->config.max_map_keys < 4096)
		return;
	if (!KEEPS_ORDER || !host_has(c->unit->host, FEAT_ATOMIC))
		return;
	m->cells = plan_memory(c, m, "cells", cells_size(m));
}

/*
 * A slot for each CPU, cache lines of its own, so that programs need no helper and nobody a system
 * call.
 */
static void plan_slots(struct compile *c, struct map *m)
{
	enum { CACHE_LINE = 64 };
	if (!only_added(m))
		return;
	m->stride = ALIGN_UP(m->val_size, (u32)CACHE_LINE);
	m->map_type = BPF_MAP_TYPE_ARRAY;
	m->flags = BPF_F_MMAPABLE;
	m->val_size = cpu_slots(c->unit->host->ncpu) * m->stride;
}

static bool plan_map(struct compile *c, struct map *m)
{
	struct diags *ds = c->unit->diags;
	if (!m->val || (!m->key && !m->scalar)) {
		diag_add(ds, W_UNUSED, m->loc, "Unused map: %s", m->name.s);
		return false;
	}
	m->shown = m->val;
	m->val = widened(m->val);
	m->percpu = wants_percpu(m);
	if (m->declared && m->scalar)
		diag_add(ds, E_MAP_SHAPE, m->loc,
			 "%s is declared with a size, but used without a key", m->name.s);
	if (m->declared && type_is_agg(m->val) && !m->percpu && !can_share(m->val))
		diag_add(ds, E_TYPE, m->loc, "Incompatible map types: %s needs a percpuhash",
			 m->name.s);
	if (m->declared && !type_is_agg(m->val) &&
	    (m->map_type == BPF_MAP_TYPE_PERCPU_HASH ||
	     m->map_type == BPF_MAP_TYPE_LRU_PERCPU_HASH))
		diag_add(ds, E_TYPE, m->loc,
			 "Incompatible map types: %s holds plain values, which a per-CPU map would "
			 "scatter",
			 m->name.s);
	const struct agg *agg = agg_of(m->val);
	m->val_size = ALIGN_UP(agg ? agg->words(m->val) * 8 : m->val->size, 8u);
	if (m->scalar) {
		m->present = m->val_size;
		m->val_size += 8;
		m->key_size = 4;
		m->max_entries = 1;
		m->map_type = m->percpu ? BPF_MAP_TYPE_PERCPU_ARRAY : BPF_MAP_TYPE_ARRAY;
		if (m->percpu)
			plan_slots(c, m);
	} else {
		plan_hash(c, m);
		plan_table(c, m);
		plan_cells(c, m);
	}
	return true;
}

static void unit_add_map(struct unit *u, struct map *m)
{
	struct map **grown = arena_newn(u->arena, struct map *, u->nmap + 1);
	memcpy(grown, u->map, u->nmap * sizeof(*grown));
	m->index = u->nmap;
	grown[u->nmap++] = m;
	u->map = grown;
}

bool sema_plan(struct compile *c)
{
	struct unit *u = c->unit;
	u32 n = 0;
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
			unit_add_map(u, u->map[i]->keys);
		if (u->map[i]->table)
			unit_add_map(u, u->map[i]->table);
		if (u->map[i]->cells)
			unit_add_map(u, u->map[i]->cells);
	}
	return !u->diags->nerror;
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
		sb_fmt(out, "map %.*s: %s, %u elements, key %u bytes", STRF(m->name),
		       map_type_name(m->map_type), m->max_entries, m->key_size);
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
