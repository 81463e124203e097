/*
 * help.c - the helpers that the interpreter has itself: help_NAME(), for the rows of ir/helpers.def
 * that name one. a[0] to a[4] are r1 to r5. Results and errors are those of the kernel; what the
 * verifier would have refused (an argument that is no map, memory that is not there) ends the run.
 */
#include "vm/inside.h"
#include <errno.h>

enum {
	BYTES_PER_INSN = 64, /* of memory that a helper looks at: they count as one instruction */
	PIECE = 256,         /* of a text: most are shorter */
};

static u64 error(i64 no)
{
	return (u64)no;
}

/* A helper with so much to do; false: the budget does not allow it. */
static bool spend(struct vm *v, u64 bytes)
{
	v->left -= (i64)(bytes / BYTES_PER_INSN) + 1;
	if (v->left < 0)
		vm_fail(v, "the program ran for too long", 0, 0);
	return v->left >= 0;
}

/* ---- maps ---- */

/* A map with elements that programs may use. */
static struct vm_map *elements(struct vm *v, u64 addr)
{
	struct vm_map *m = map_of(v, addr);
	if (!m || is_hash(m) || is_array(m))
		return m;
	vm_fail(v, "a helper's argument is a map of another type", 0, 0);
	return NULL;
}

/* One whose elements programs may change. */
static struct vm_map *values(struct vm *v, u64 addr)
{
	struct vm_map *m = elements(v, addr);
	if (!m ||
	    (m->spec.type != BPF_MAP_TYPE_ARRAY_OF_MAPS && !(m->spec.flags & BPF_F_RDONLY_PROG)))
		return m;
	vm_fail(v, "a helper's argument is a map that programs cannot change", 0, 0);
	return NULL;
}

static i64 lookup(struct vm *v, struct vm_map *m, u64 key)
{
	const void *k = m ? vm_mem(v, key, m->spec.key_size, false) : NULL;
	if (!k || !spend(v, m->spec.key_size))
		return -1;
	i64 i = elem_find(m, k);
	if (i >= 0 && m->lru)
		m->state[i] = ELEM_HIT;
	return i;
}

static u64 help_map_lookup(struct vm *v, const u64 *a)
{
	struct vm_map *m = elements(v, a[0]);
	i64 i = lookup(v, m, a[1]);
	u32 inner;
	if (i < 0)
		return 0;
	if (m->spec.type != BPF_MAP_TYPE_ARRAY_OF_MAPS)
		return elem_addr(m, (u32)i, v->cpu);
	memcpy(&inner, m->vals + (u64)i * m->stride, sizeof(inner));
	return region_addr(REGION_MAP, inner - 1);
}

static u64 help_lookup_percpu(struct vm *v, const u64 *a)
{
	struct vm_map *m = elements(v, a[0]);
	i64 i = lookup(v, m, a[1]);
	return i < 0 || !m->percpu || (u32)a[2] >= v->spec.ncpu ? 0
								: elem_addr(m, (u32)i, (u32)a[2]);
}

static u64 help_map_update(struct vm *v, const u64 *a)
{
	struct vm_map *m = values(v, a[0]);
	const void *key = m ? vm_mem(v, a[1], m->spec.key_size, false) : NULL;
	const void *val = key ? vm_mem(v, a[2], m->spec.val_size, false) : NULL;
	if (!val || !spend(v, m->stride))
		return 0;
	return error(elem_put(m, key, val, a[3], (i32)v->cpu));
}

static u64 help_map_delete(struct vm *v, const u64 *a)
{
	struct vm_map *m = values(v, a[0]);
	const void *key = m ? vm_mem(v, a[1], m->spec.key_size, false) : NULL;
	return key && spend(v, m->spec.key_size) ? error(elem_delete(m, key)) : 0;
}

/* ---- functions that helpers call ---- */

static bool find_fn(struct vm *v, u64 addr, u32 *fn)
{
	*fn = (u32)(addr & REGION_MASK);
	if (region_of(addr) == REGION_FN && (addr & REGION_MASK) < v->run->nfn)
		return true;
	vm_fail(v, "a helper's argument is no function", 0, 0);
	return false;
}

static u64 help_loop(struct vm *v, const u64 *a)
{
	u32 fn, n = (u32)a[0], i = 0;
	if (!find_fn(v, a[1], &fn))
		return 0;
	if (a[3])
		return error(-EINVAL);
	if (n > VM_MAX_LOOPS)
		return error(-E2BIG);
	while (i < n && !v->fault.what)
		if (vm_exec(v, fn, (u64[5]){i++, a[2]}))
			break;
	return i;
}

static u64 key_addr(struct vm *v, const struct vm_map *m, u32 i)
{
	v->key = i;
	return is_hash(m) ? m->keys_at + (u64)i * m->key_stride : region_addr(REGION_KEY, 0);
}

/* The function may change the map, and call others that walk through maps. */
static u64 help_each(struct vm *v, const u64 *a)
{
	struct vm_map *m = values(v, a[0]);
	u32 fn, n = 0;
	if (!m || !find_fn(v, a[1], &fn) || !spend(v, elem_top(m)))
		return 0;
	if (a[3])
		return error(-EINVAL);
	for (u32 i = 0; i < elem_top(m) && !v->fault.what; i++) {
		u32 outer = v->key;
		if (!elem_used(m, i))
			continue;
		n++;
		u64 r = vm_exec(v, fn,
				(u64[5]){a[0], key_addr(v, m, i), elem_addr(m, i, v->cpu), a[2]});
		v->key = outer;
		if (r)
			break;
	}
	return n;
}

/* ---- reading memory ---- */

/* Up to n bytes that can be read from addr on. */
static size_t fetch(struct vm *v, enum vm_space space, u64 addr, u8 *to, size_t n)
{
	const struct vm_env *e = &v->spec.env;
	u64 at = region_of(addr), off = addr & REGION_MASK;
	if (at >= v->nregion)
		return e->read(e->arg, space, addr, to, n);
	const struct region *g = &v->region[at];
	if (space == VM_USER || off >= g->size)
		return 0;
	n = MIN(n, g->size - off);
	memmove(to, g->mem + off, n);
	return n;
}

static u64 read_mem(struct vm *v, const u64 *a, enum vm_space space)
{
	u32 n = (u32)a[1];
	u8 *to = vm_mem(v, a[0], n, true);
	if (!to || !spend(v, n) || !n)
		return 0;
	if (fetch(v, space, a[2], to, n) == n)
		return 0;
	memset(to, 0, n);
	return error(-EFAULT);
}

/* Gives the bytes stored, with the NUL. What is behind them stays. */
static u64 read_str(struct vm *v, const u64 *a, enum vm_space space)
{
	u8 piece[PIECE];
	u32 n = (u32)a[1];
	u8 *to = vm_mem(v, a[0], n, true);
	if (!to || !spend(v, n))
		return 0;
	for (u32 at = 0, most, got; at < n; at += most) {
		most = MIN(n - at, (u32)PIECE);
		got = (u32)fetch(v, space, a[2] + at, piece, most);
		const u8 *nul = memchr(piece, 0, got);
		if (!nul && got < most) {
			memset(to, 0, n);
			return error(-EFAULT);
		}
		u32 len = nul ? (u32)(nul - piece) + 1 : most;
		memcpy(to + at, piece, len);
		if (nul)
			return at + len;
	}
	if (n)
		to[n - 1] = 0;
	return n;
}

/* The old helpers take either. */
static enum vm_space space_of(u64 addr)
{
	return (i64)addr < 0 || region_of(addr) < MAX_REGIONS ? VM_KERNEL : VM_USER;
}

static u64 help_read_user(struct vm *v, const u64 *a)
{
	return read_mem(v, a, VM_USER);
}

static u64 help_read_kernel(struct vm *v, const u64 *a)
{
	return read_mem(v, a, VM_KERNEL);
}

static u64 help_probe_read(struct vm *v, const u64 *a)
{
	return read_mem(v, a, space_of(a[2]));
}

static u64 help_read_user_str(struct vm *v, const u64 *a)
{
	return read_str(v, a, VM_USER);
}

static u64 help_read_kernel_str(struct vm *v, const u64 *a)
{
	return read_str(v, a, VM_KERNEL);
}

static u64 help_probe_read_str(struct vm *v, const u64 *a)
{
	return read_str(v, a, space_of(a[2]));
}

/* ---- records ---- */

static struct vm_map *ring(struct vm *v, u64 addr, u32 type)
{
	struct vm_map *m = map_of(v, addr);
	if (!m || m->spec.type == type)
		return m;
	vm_fail(v, "a helper's argument is a map of another type", 0, 0);
	return NULL;
}

static u64 help_ring_reserve(struct vm *v, const u64 *a)
{
	struct vm_map *m = ring(v, a[0], BPF_MAP_TYPE_RINGBUF);
	return m && !a[2] ? ring_reserve(v, m, a[1]) : 0;
}

static u64 help_ring_submit(struct vm *v, const u64 *a)
{
	ring_finish(v, a[0], false);
	return 0;
}

static u64 help_ring_discard(struct vm *v, const u64 *a)
{
	ring_finish(v, a[0], true);
	return 0;
}

static u64 help_ring_output(struct vm *v, const u64 *a)
{
	struct vm_map *m = ring(v, a[0], BPF_MAP_TYPE_RINGBUF);
	const void *data = m ? vm_mem(v, a[1], a[2], false) : NULL;
	if (!data || !spend(v, a[2]))
		return 0;
	if (a[3] & ~(u64)(BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP))
		return error(-EINVAL);
	return error(ring_output(m, data, a[2]));
}

static u64 help_ring_query(struct vm *v, const u64 *a)
{
	const struct vm_map *m = ring(v, a[0], BPF_MAP_TYPE_RINGBUF);
	if (!m)
		return 0;
	switch (a[1]) {
	case BPF_RB_AVAIL_DATA: return m->made - m->taken;
	case BPF_RB_RING_SIZE: return m->size;
	case BPF_RB_CONS_POS: return m->taken;
	case BPF_RB_PROD_POS: return m->made;
	default: return 0;
	}
}

static u64 help_perf_output(struct vm *v, const u64 *a)
{
	struct vm_map *m = ring(v, a[1], BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	const void *data = m ? vm_mem(v, a[3], a[4], false) : NULL;
	if (!data || !spend(v, a[4]))
		return 0;
	return error(a[2] & ~BPF_F_INDEX_MASK ? -EINVAL : ring_output(m, data, a[4]));
}

/* ---- stacks ---- */

static u64 help_stack(struct vm *v, const u64 *a)
{
	const struct vm_env *e = &v->spec.env;
	u32 size = (u32)a[2], most = MIN(size / 8, (u32)VM_MAX_FRAMES);
	u8 *to = vm_mem(v, a[1], size, true);
	if (!to || !spend(v, size))
		return 0;
	i32 n = -EINVAL;
	u64 known = BPF_F_SKIP_FIELD_MASK | BPF_F_USER_STACK | e->stack_flags;
	if (!(size % 8) && !(a[3] & ~known))
		n = e->stack(e->arg, a[3], v->frames, most);
	assert(n <= (i32)most);
	u32 bytes = n > 0 ? (u32)n * 8 : 0;
	memcpy(to, v->frames, bytes);
	memset(to + bytes, 0, size - bytes);
	return n < 0 ? error(n) : bytes;
}

static u64 help_stackid(struct vm *v, const u64 *a)
{
	struct vm_map *m = map_of(v, a[1]);
	if (m && m->spec.type == BPF_MAP_TYPE_STACK_TRACE)
		return spend(v, m->stride) ? error(stack_id(v, m, a[2])) : 0;
	vm_fail(v, "a helper's argument is a map of another type", 0, 0);
	return 0;
}

/* ---- others ---- */

static u64 help_cpu(struct vm *v, const u64 *a)
{
	(void)a;
	return v->cpu;
}

static u64 help_random(struct vm *v, const u64 *a)
{
	(void)a;
	u64 z = v->random += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (u32)(z >> 32);
}

/* The second is text of the program's own, which ends by NUL. */
static u64 help_strncmp(struct vm *v, const u64 *a)
{
	u32 n = (u32)a[1];
	const u8 *x = vm_mem(v, a[0], n, false), *y = NULL;
	if (!x || !spend(v, n))
		return 0;
	for (u32 i = 0; i < n; i++) {
		y = vm_mem(v, a[2] + i, 1, false);
		if (!y)
			return 0;
		if (x[i] != *y || !x[i])
			return (u64)((i64)x[i] - *y);
	}
	return 0;
}

/* ---- the table ---- */

#define help_none NULL
vm_helper *const vm_helpers[VM_HELPERS] = {
#define H(id, name, vm) [id] = help_##vm,
#include "ir/helpers.def"
};

bool vm_helper_is(u32 id)
{
	return id < VM_HELPERS && vm_helpers[id];
}

bool vm_helper_works(const struct vm_env *e, u32 id)
{
	vm_helper *h = vm_helpers[id];
	if (h == help_stack || h == help_stackid)
		return e->stack != NULL;
	bool reads = h == help_read_user || h == help_read_kernel || h == help_probe_read ||
		     h == help_read_user_str || h == help_read_kernel_str ||
		     h == help_probe_read_str;
	return !reads || e->read;
}
