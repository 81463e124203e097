/* engine_vm.c - see engine_vm.h. Maps and programs have the numbers that the interpreter gives. */
#include "run/engine_vm.h"
#include "base/alloc.h"
#include <errno.h>

static struct err *map_new(void *vm, const struct map_spec *s, u32 inner_size, int *ret)
{
	const struct vm_map_spec spec = {.name = str_z(s->name),
					 .type = s->type,
					 .key_size = s->key_size,
					 .val_size = s->val_size,
					 .max_entries = s->max_entries,
					 .flags = s->flags,
					 .inner_size = inner_size};
	u32 n = 0;
	struct err *e = vm_map_new(vm, &spec, &n);
	if (!e)
		*ret = (int)n;
	return e;
}

static struct err *map_mem(void *vm, int map, size_t size, void **ret)
{
	void *mem = vm_map_mem(vm, (u32)map);
	(void)size;
	if (!mem)
		return err_sys(EINVAL, "values of map %d in memory", map);
	*ret = mem;
	return NULL;
}

static struct err *map_get(void *vm, int map, const void *key, void *val)
{
	return vm_map_get(vm, (u32)map, key, val);
}

static struct err *map_put(void *vm, int map, const void *key, const void *val)
{
	return vm_map_put(vm, (u32)map, key, val, BPF_ANY);
}

static struct err *map_delete(void *vm, int map, const void *key)
{
	return vm_map_delete(vm, (u32)map, key);
}

struct taking {
	struct elements *to;
	const struct map_shape *shape;
	u32 room;
};

static bool take(void *arg, const void *key, const void *val)
{
	struct taking *t = arg;
	struct elements *to = t->to;
	const struct map_shape *s = t->shape;
	assert(to->n < t->room);
	memcpy(to->keys + (size_t)to->n * s->key_size, key, s->key_size);
	memcpy(to->vals + (size_t)to->n * s->val_size, val, s->val_size);
	to->n++;
	return true;
}

static struct err *map_all(void *vm, int map, const struct map_shape *s, struct elements *ret)
{
	struct taking t = {ret, s, vm_map_count(vm, (u32)map)};
	assert(s->val_size <= vm_map_val_size(vm, (u32)map));
	*ret = (struct elements){.keys = xcalloc(MAX(t.room, 1u), s->key_size),
				 .vals = xcalloc(MAX(t.room, 1u), s->val_size)};
	vm_map_each(vm, (u32)map, take, &t);
	return NULL;
}

/* Nobody else has the map. */
static struct err *map_seal(void *vm, int map)
{
	(void)vm, (void)map;
	return NULL;
}

static void map_free(void *vm, struct live_map *m, size_t size)
{
	(void)vm, (void)size;
	*m = (struct live_map){.fd = -1};
}

/* Nothing is refused by what it does: the interpreter checks while it runs. */
static struct err *prog_load(void *vm, const struct engine_prog *p, int *ret, char **log)
{
	u32 *map = xcalloc(p->nmap + 1ul, sizeof(*map)), n = 0;
	(void)log;
	for (u32 i = 0; i < p->nmap; i++)
		map[i] = (u32)p->map[i].fd;
	struct err *e = vm_prog_load(
		vm,
		&(struct vm_prog_spec){
			.name = str_z(p->spec.name), .code = p->code, .map = map, .nmap = p->nmap},
		&n);
	free(map);
	if (!e)
		*ret = (int)n;
	return e;
}

static struct err *prog_run(void *vm, int prog, const u64 *ctx, u32 n, u32 *retval)
{
	u64 r0 = 0;
	struct err *e = vm_prog_run(vm, (u32)prog, (void *)ctx, n * sizeof(*ctx), &r0);
	*retval = (u32)r0;
	return e;
}

static void prog_free(void *vm, int prog)
{
	(void)vm, (void)prog;
}

/* ---- records ---- */

/* What the other engine calls a ring, and this one keeps in a map. */
struct vm_ring {
	struct vm *vm;
	u32 map;
	ring_cb *cb;
	void *arg;
};

static struct err *ring_of(void *vm, const struct ring_spec *s, struct ring **ret)
{
	struct vm_ring *r = xcalloc(1, sizeof(*r));
	assert(!s->own); /* host_init_recording() has no FEAT_RINGS */
	*r = (struct vm_ring){vm, (u32)s->fd, s->cb, s->arg};
	*ret = (struct ring *)r;
	return NULL;
}

static int no_fd(const struct ring *r)
{
	(void)r;
	return -1;
}

static u64 consume(struct ring *ring, u64 max)
{
	const struct vm_ring *r = (const struct vm_ring *)ring;
	return vm_ring_consume(r->vm, r->map, max, r->cb, r->arg);
}

/* Programs run one after the other, each to its end. */
static bool no_wait(const struct ring *r)
{
	(void)r;
	return false;
}

static void ring_drop(struct ring *r)
{
	free(r);
}

const struct engine engine_vm = {
	.map_new = map_new,
	.map_mem = map_mem,
	.map_get = map_get,
	.map_put = map_put,
	.map_delete = map_delete,
	.map_all = map_all,
	.map_seal = map_seal,
	.map_free = map_free,
	.prog_load = prog_load,
	.prog_run = prog_run,
	.prog_free = prog_free,
	.ring_new = ring_of,
	.ring_fd = no_fd,
	.ring_consume = consume,
	.ring_wait = no_wait,
	.ring_free = ring_drop,
};
