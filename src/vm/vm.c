/* vm.c - a machine: its regions of memory, its programs, and running them. */
#include "base/alloc.h"
#include "vm/inside.h"
#include <stdio.h>
#include <sys/mman.h>

/* ---- memory ---- */

/* Small ones are of the heap, where sanitizers see what is beside them. */
enum { HEAP_BYTES = 1 << 17 };

void *pages_new(u64 bytes)
{
	if (bytes <= HEAP_BYTES)
		return xcalloc(MAX(bytes, 1u), 1);
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void pages_free(void *p, u64 bytes)
{
	if (bytes <= HEAP_BYTES)
		free(p);
	else if (p)
		munmap(p, bytes);
}

u32 region_new(struct vm *v, void *mem, u64 size, u64 wsize)
{
	assert(v->nregion < MAX_REGIONS);
	assert(size <= REGION_MASK && wsize <= size);
	v->region = xrealloc(v->region, (v->nregion + 1) * sizeof(*v->region));
	v->region[v->nregion] = (struct region){mem, size, wsize};
	return v->nregion++;
}

u64 vm_region(struct vm *v, void *mem, size_t size, bool writable)
{
	assert(!v->depth); /* exec.c keeps where the regions are */
	return region_addr(region_new(v, mem, size, writable ? size : 0), 0);
}

void vm_fail(struct vm *v, const char *what, u64 addr, u64 size)
{
	if (!v->fault.what)
		v->fault = (struct fault){what, addr, size, -1};
}

void *vm_mem(struct vm *v, u64 addr, size_t n, bool write)
{
	u64 at = region_of(addr), off = addr & REGION_MASK;
	if (at < v->nregion) {
		const struct region *g = &v->region[at];
		u64 size = write ? g->wsize : g->size;
		if (off <= size && n <= size - off)
			return g->mem ? g->mem + off : (u8 *)v->stack; /* n is 0 */
	}
	vm_fail(v, write ? "a helper's write" : "a helper's read", addr, n);
	return NULL;
}

/* ---- a machine ---- */

struct vm *vm_new(const struct vm_spec *s)
{
	struct vm *v = xcalloc(1, sizeof(*v));
	assert(s->ncpu > 0);
	v->spec = *s;
	v->spec.budget = s->budget ? MIN(s->budget, (u64)INT64_MAX) : VM_BUDGET;
	v->random = s->seed * 0x9e3779b97f4a7c15ull + 1;
	region_new(v, v->stack, sizeof(v->stack), sizeof(v->stack));
	region_new(v, NULL, 0, 0);
	region_new(v, &v->key, sizeof(v->key), 0);
	region_new(v, NULL, 0, 0);
	region_new(v, NULL, 0, 0);
	assert(v->nregion == REGION_OTHERS);
	return v;
}

static void prog_free(struct vm_prog *p)
{
	free(p->name);
	free(p->insn);
	free(p->fn);
}

void vm_free(struct vm *v)
{
	if (!v)
		return;
	for (u32 i = 0; i < v->nprog; i++)
		prog_free(&v->prog[i]);
	for (u32 i = 0; i < v->nmap; i++)
		map_free(&v->map[i]);
	free(v->prog);
	free(v->map);
	free(v->region);
	free(v);
}

void vm_set_cpu(struct vm *v, u32 cpu)
{
	assert(cpu < v->spec.ncpu);
	v->cpu = cpu;
}

/* ---- programs ---- */

struct err *vm_prog_load(struct vm *v, const struct vm_prog_spec *s, u32 *ret)
{
	struct vm_prog p = {.writes_context = s->writes_context};
	struct err *e = decode(v, s, &p);
	if (e) {
		prog_free(&p);
		return e;
	}
	p.name = xcalloc(s->name.n + 1, 1);
	memcpy(p.name, s->name.s, s->name.n);
	v->prog = xrealloc(v->prog, (v->nprog + 1) * sizeof(*v->prog));
	v->prog[v->nprog] = p;
	*ret = v->nprog++;
	return NULL;
}

static struct err *failure(const struct vm *v)
{
	const struct fault *f = &v->fault;
	char where[40] = "", at[64] = "";
	if (f->insn >= 0)
		snprintf(where, sizeof(where), "instruction %lld: ", f->insn);
	if (f->size || f->addr)
		snprintf(at, sizeof(at), " of %llu bytes at 0x%llx is outside its memory", f->size,
			 f->addr);
	return err_new("program %s: %s%s%s", v->run->name, where, f->what, at);
}

struct err *vm_prog_run(struct vm *v, u32 prog, void *ctx, size_t n, u64 *retval)
{
	assert(prog < v->nprog);
	assert(!v->depth);
	v->run = &v->prog[prog];
	v->region[REGION_CTX] = (struct region){ctx, n, v->run->writes_context ? n : 0};
	v->left = (i64)v->spec.budget;
	v->loops_left = VM_MAX_LOOPS;
	v->fault.what = NULL;
	u64 r0 = vm_exec(v, 0, (u64[5]){region_addr(REGION_CTX, 0)});
	if (v->nopen)
		ring_close(v);
	if (v->fault.what)
		return failure(v);
	*retval = r0;
	return NULL;
}
