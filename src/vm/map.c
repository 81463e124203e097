/*
 * map.c - maps in memory. Values are in one block, element by element; a value of a per-CPU map is a
 * copy for each CPU. Hash maps have their keys in a second block (hash.c).
 */
#include "base/alloc.h"
#include "vm/inside.h"
#include <errno.h>
#include <stdio.h>

enum { STACK_BYTES = VM_MAX_FRAMES * 8 };

/* ---- making them ---- */

static bool is_percpu(u32 type)
{
	return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static bool is_lru(u32 type)
{
	return type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static bool is_ring(u32 type)
{
	return type == BPF_MAP_TYPE_RINGBUF || type == BPF_MAP_TYPE_PERF_EVENT_ARRAY;
}

/* What bpf(2) refuses with EINVAL, too. */
static const char *unsound(const struct vm_map_spec *s)
{
	switch (s->type) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		if (s->key_size != 4)
			return "the key of an array has 4 bytes";
		break;
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_CGROUP_ARRAY:
		if (s->key_size != 4 || s->val_size != 4)
			return "key and value have 4 bytes";
		break;
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		if (!s->key_size || s->key_size > VM_MAX_VALUE)
			return "the key has no size";
		break;
	case BPF_MAP_TYPE_STACK_TRACE:
		if (s->key_size != 4 || s->val_size % 8 || s->val_size > STACK_BYTES)
			return "the value is no stack";
		break;
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY: return NULL;
	case BPF_MAP_TYPE_RINGBUF:
		return s->max_entries < 64 || (s->max_entries & (s->max_entries - 1))
			       ? "the size of a ring buffer is a power of two"
			       : NULL;
	default: return "maps of this type are not supported";
	}
	if (!s->val_size || s->val_size > VM_MAX_VALUE || !s->max_entries)
		return "it has no size";
	return NULL;
}

/* Bytes of everything, or so many that there is no room. */
static bool allocate(struct vm *v, struct vm_map *m, u64 *bytes)
{
	const struct vm_map_spec *s = &m->spec;
	if (is_ring(s->type))
		return ring_new_map(m, bytes);
	m->copy = ALIGN_UP(s->val_size, 8u);
	u64 stride = (u64)m->copy * (m->percpu ? v->spec.ncpu : 1);
	if (stride > UINT32_MAX || stride * s->max_entries > REGION_MASK)
		return false;
	m->stride = (u32)stride;
	*bytes = stride * s->max_entries;
	m->vals = pages_new(*bytes);
	if (!m->vals)
		return false;
	bool keyed = is_array(m) || s->type == BPF_MAP_TYPE_STACK_TRACE ||
		     s->type == BPF_MAP_TYPE_CGROUP_ARRAY;
	return keyed || hash_new(m, bytes);
}

void map_free(struct vm_map *m)
{
	free(m->name);
	hash_free(m);
	ring_free_map(m);
	pages_free(m->vals, (u64)m->stride * m->spec.max_entries);
}

static bool program_writes(const struct vm_map *m)
{
	return !(m->spec.flags & BPF_F_RDONLY_PROG) && m->spec.type != BPF_MAP_TYPE_ARRAY_OF_MAPS &&
	       m->spec.type != BPF_MAP_TYPE_CGROUP_ARRAY;
}

/* What programs reach: values as they are, the numbers of inner maps and control groups not. */
static void add_regions(struct vm *v, struct vm_map *m)
{
	u64 size = m->size ? 2 * m->size : (u64)m->stride * m->spec.max_entries;
	bool hidden = m->spec.type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
		      m->spec.type == BPF_MAP_TYPE_CGROUP_ARRAY;
	u32 vals =
		region_new(v, m->vals, hidden ? 0 : size, hidden || !program_writes(m) ? 0 : size);
	m->vals_at = region_addr(vals, 0);
	if (is_hash(m))
		m->keys_at = region_addr(
			region_new(v, m->keys, (u64)m->key_stride * m->spec.max_entries, 0), 0);
}

struct err *vm_map_new(struct vm *v, const struct vm_map_spec *s, u32 *ret)
{
	const char *why = unsound(s);
	u64 bytes = 0;
	struct vm_map m = {.spec = *s,
			   .id = v->nmap,
			   .percpu = is_percpu(s->type),
			   .lru = is_lru(s->type),
			   .seed = v->spec.seed};
	if (!why && v->nregion + 2 > MAX_REGIONS)
		why = "there are too many maps";
	if (why)
		return err_new("map %.*s: %s", STRF(s->name), why);
	m.name = xcalloc(s->name.n + 1, 1);
	memcpy(m.name, s->name.s, s->name.n);
	m.spec.name = str_z(m.name);
	bool room = allocate(v, &m, &bytes);
	if (!room || (v->spec.memory && bytes > v->spec.memory - v->bytes)) {
		struct err *e = err_sys(ENOMEM, "map %s: %llu bytes", m.name, bytes);
		map_free(&m);
		return e;
	}
	v->bytes += bytes;
	v->map = xrealloc(v->map, (v->nmap + 1) * sizeof(*v->map));
	add_regions(v, &m);
	v->map[v->nmap] = m;
	*ret = v->nmap++;
	return NULL;
}

/* ---- elements ---- */

static u32 array_index(const void *key)
{
	u32 i;
	memcpy(&i, key, sizeof(i));
	return i;
}

bool elem_used(const struct vm_map *m, u32 i)
{
	u32 id;
	if (is_hash(m))
		return m->state[i] != ELEM_FREE;
	if (m->spec.type == BPF_MAP_TYPE_ARRAY || m->percpu)
		return true;
	memcpy(&id, m->vals + (u64)i * m->stride,
	       sizeof(id)); /* a map, a group, a count of frames */
	return id != 0;
}

i64 elem_find(struct vm_map *m, const void *key)
{
	if (is_hash(m))
		return hash_find(m, key);
	u32 i = array_index(key);
	return i < m->spec.max_entries && m->vals && elem_used(m, i) ? (i64)i : -1;
}

void elem_store(struct vm_map *m, u32 i, const void *val, i32 cpu)
{
	u8 *to = m->vals + (u64)i * m->stride;
	if (!m->percpu)
		memmove(to, val, m->spec.val_size);
	else if (cpu >= 0)
		memmove(to + (u64)cpu * m->copy, val, m->spec.val_size);
	else
		memmove(to, val, m->stride);
}

i32 elem_put(struct vm_map *m, const void *key, const void *val, u64 flags, i32 cpu)
{
	if (flags > BPF_EXIST)
		return -EINVAL;
	if (is_hash(m))
		return hash_put(m, key, val, flags, cpu);
	if (!is_array(m) && m->spec.type != BPF_MAP_TYPE_CGROUP_ARRAY)
		return -EINVAL;
	u32 i = array_index(key);
	if (i >= m->spec.max_entries)
		return -E2BIG;
	if (flags == BPF_NOEXIST)
		return -EEXIST;
	elem_store(m, i, val, cpu);
	return 0;
}

i32 elem_delete(struct vm_map *m, const void *key)
{
	if (is_hash(m))
		return hash_delete(m, key);
	bool table = m->spec.type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
		     m->spec.type == BPF_MAP_TYPE_CGROUP_ARRAY ||
		     m->spec.type == BPF_MAP_TYPE_STACK_TRACE;
	i64 i = table ? elem_find(m, key) : -1;
	if (!table)
		return -EINVAL;
	if (i < 0)
		return array_index(key) < m->spec.max_entries ? -ENOENT : -E2BIG;
	memset(m->vals + (u64)i * m->stride, 0, m->stride);
	return 0;
}

/* ---- for the caller ---- */

static struct vm_map *map_at(struct vm *v, u32 map)
{
	assert(map < v->nmap);
	return &v->map[map];
}

/* In a map of maps and an array of groups, numbers are kept with 1 added: 0 means that there is
 * none. */
static bool is_table(const struct vm_map *m)
{
	return m->spec.type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
	       m->spec.type == BPF_MAP_TYPE_CGROUP_ARRAY;
}

void *vm_map_mem(struct vm *v, u32 map)
{
	struct vm_map *m = map_at(v, map);
	return m->spec.type == BPF_MAP_TYPE_ARRAY ? m->vals : NULL;
}

u32 vm_map_val_size(const struct vm *v, u32 map)
{
	const struct vm_map *m = map_at((struct vm *)(uintptr_t)v, map);
	return m->percpu ? m->stride : m->spec.val_size;
}

static struct err *failed(const struct vm_map *m, const char *what, i32 no)
{
	return no ? err_sys(-no, "%s map %s", what, m->name) : NULL;
}

static void copy_out(const struct vm_map *m, u32 i, void *val)
{
	u32 id;
	memcpy(val, m->vals + (u64)i * m->stride, m->percpu ? m->stride : m->spec.val_size);
	if (!is_table(m))
		return;
	memcpy(&id, val, sizeof(id));
	id--;
	memcpy(val, &id, sizeof(id));
}

struct err *vm_map_get(struct vm *v, u32 map, const void *key, void *val)
{
	struct vm_map *m = map_at(v, map);
	i64 i = elem_find(m, key);
	if (i < 0)
		return failed(m, "read", -ENOENT);
	copy_out(m, (u32)i, val);
	return NULL;
}

static bool fits_inside(const struct vm_map *outer, const struct vm_map *m)
{
	return m->spec.type == BPF_MAP_TYPE_ARRAY && m->spec.max_entries == 1 &&
	       m->spec.val_size == outer->spec.inner_size;
}

struct err *vm_map_put(struct vm *v, u32 map, const void *key, const void *val, u64 flags)
{
	struct vm_map *m = map_at(v, map);
	u32 id;
	if (!is_table(m))
		return failed(m, "write", elem_put(m, key, val, flags, -1));
	memcpy(&id, val, sizeof(id));
	bool inner = m->spec.type == BPF_MAP_TYPE_ARRAY_OF_MAPS;
	if (id == UINT32_MAX || (inner && (id >= v->nmap || !fits_inside(m, &v->map[id]))))
		return failed(m, "write", -EINVAL);
	id++;
	return failed(m, "write", elem_put(m, key, &id, flags, -1));
}

struct err *vm_map_delete(struct vm *v, u32 map, const void *key)
{
	struct vm_map *m = map_at(v, map);
	return failed(m, "delete an element of", elem_delete(m, key));
}

struct err *vm_map_take(struct vm *v, u32 map, const void *key, void *val)
{
	struct err *e = vm_map_get(v, map, key, val);
	return e ? e : vm_map_delete(v, map, key);
}

void vm_map_each(struct vm *v, u32 map, vm_row_fn *fn, void *arg)
{
	struct vm_map *m = map_at(v, map);
	if (!m->vals || m->size)
		return;
	for (u32 i = 0; i < elem_top(m); i++) {
		const void *key = is_hash(m) ? m->keys + (u64)i * m->key_stride : (void *)&i;
		if (elem_used(m, i) && !fn(arg, key, m->vals + (u64)i * m->stride))
			return;
	}
}

u32 vm_map_count(const struct vm *v, u32 map)
{
	const struct vm_map *m = map_at((struct vm *)(uintptr_t)v, map);
	u32 n = 0;
	if (is_hash(m))
		return m->n;
	for (u32 i = 0; i < m->spec.max_entries && m->vals && !m->size; i++)
		n += elem_used(m, i);
	return n;
}

/* ---- for programs ---- */

struct vm_map *map_of(struct vm *v, u64 addr)
{
	u64 id = addr & REGION_MASK;
	if (region_of(addr) == REGION_MAP && id < v->nmap)
		return &v->map[id];
	vm_fail(v, "a helper's argument is no map", 0, 0);
	return NULL;
}

/* ---- stack traces: the value is the frames, innermost first; element i has hash i ---- */

static u32 hash_frames(const u64 *ip, u32 n)
{
	u64 h = n;
	for (u32 i = 0; i < n; i++)
		h = (h ^ ip[i]) * 0xd6e8feb86659fd93ull + (h >> 29);
	return (u32)(h >> 32);
}

i64 stack_id(struct vm *v, struct vm_map *m, u64 flags)
{
	const struct vm_env *e = &v->spec.env;
	u64 known = BPF_F_SKIP_FIELD_MASK | BPF_F_USER_STACK | BPF_F_FAST_STACK_CMP |
		    BPF_F_REUSE_STACKID;
	if (flags & ~known)
		return -EINVAL;
	u32 most = m->spec.val_size / 8;
	i32 n = e->stack(e->arg, flags & (BPF_F_USER_STACK | BPF_F_SKIP_FIELD_MASK), v->frames,
			 most);
	if (n <= 0)
		return n < 0 ? n : -EFAULT;
	assert((u32)n <= most);
	memset(v->frames + n, 0, (most - (u32)n) * sizeof(u64));
	u32 id = hash_frames(v->frames, (u32)n) % m->spec.max_entries;
	u8 *at = m->vals + (u64)id * m->stride;
	if (elem_used(m, id) && memcmp(at, v->frames, m->spec.val_size) &&
	    !(flags & BPF_F_REUSE_STACKID))
		return -EEXIST;
	memcpy(at, v->frames, m->spec.val_size);
	return id;
}
