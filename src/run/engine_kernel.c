/* engine_kernel.c - maps and programs in this machine's kernel; the state is struct host. */
#include "run/engine_kernel.h"
#include <sys/mman.h>

static struct err *map_new(void *host, const struct map_spec *s, u32 inner_size, int *ret)
{
	int inner AUTO_CLOSE = -1;
	(void)host;
	struct err *e = inner_size ? bpf_map_new_inner(inner_size, &inner) : NULL;
	return e ? e : bpf_map_new_outer(s, MAX(inner, 0), ret);
}

static struct err *map_mem(void *host, int map, size_t size, void **ret)
{
	(void)host;
	return bpf_map_mmap(map, size, ret);
}

static struct err *map_get(void *host, int map, const void *key, void *val)
{
	(void)host;
	return bpf_map_get(map, key, val);
}

static struct err *map_put(void *host, int map, const void *key, const void *val)
{
	(void)host;
	return bpf_map_put(map, key, val);
}

static struct err *map_delete(void *host, int map, const void *key)
{
	(void)host;
	return bpf_map_del(map, key);
}

static struct err *map_all(void *host, int map, const struct map_shape *s, struct elements *ret)
{
	(void)host;
	return bpf_map_all(map, s->key_size, s->val_size, s->max_entries, &ret->keys, &ret->vals,
			   &ret->n);
}

static struct err *map_seal(void *host, int map)
{
	(void)host;
	return bpf_map_seal(map);
}

static void map_free(void *host, struct live_map *m, size_t size)
{
	(void)host;
	if (m->mem && size)
		munmap(m->mem, size);
	close_fd(&m->fd);
}

/* The code with the descriptors of its maps. */
static struct bpf_insn *relocate(const struct engine_prog *p, struct arena *a)
{
	const struct code *c = p->code;
	struct bpf_insn *insn = arena_newn(a, struct bpf_insn, c->ninsn);
	memcpy(insn, c->insn, c->ninsn * sizeof(*insn));
	for (u32 i = 0; i < c->nreloc; i++) {
		const struct reloc *r = &c->reloc[i];
		assert(r->insn + 1 < c->ninsn && r->map < p->nmap);
		struct bpf_insn *in = &insn[r->insn];
		assert(in->code == (BPF_LD | BPF_DW | BPF_IMM));
		in->src_reg = r->kind == RELOC_MAP ? BPF_PSEUDO_MAP_FD : BPF_PSEUDO_MAP_VALUE;
		in->imm = p->map[r->map].fd;
	}
	return insn;
}

static struct err *prog_load(void *host, const struct engine_prog *p, int *ret, char **log)
{
	struct arena a = {0};
	struct prog_spec spec = p->spec;
	assert(!spec.insn);
	spec.insn = relocate(p, &a);
	spec.ninsn = p->code->ninsn;
	struct err *e = bpf_prog_new(host, &spec, ret, log);
	arena_free(&a);
	return e;
}

static struct err *prog_run(void *host, int prog, const u64 *ctx, u32 n, u32 *retval)
{
	(void)host;
	return bpf_prog_run(prog, ctx, n, retval);
}

static void prog_free(void *host, int prog)
{
	(void)host;
	close_fd(&prog);
}

static struct err *new_ring(void *host, const struct ring_spec *s, struct ring **ret)
{
	return ring_new(host, s, ret);
}

const struct engine engine_kernel = {
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
	.ring_new = new_ring,
	.ring_fd = ring_fd,
	.ring_consume = ring_consume,
	.ring_wait = ring_wait,
	.ring_free = ring_free,
};
