#include "sym/symcache.h"
#include "base/alloc.h"
#include "base/vec.h"

struct symcache_slot {
	u64 addr;
	const struct symbol *sym;
	bool taken;
};

void symcache_free(struct symcache *k)
{
	arena_free(&k->arena);
	free(k->slot);
	vec_free(&k->wanted);
	*k = (struct symcache){0};
}

void symcache_forget(struct symcache *k)
{
	struct addresses wanted = k->wanted;
	k->wanted = (struct addresses){0};
	symcache_free(k);
	k->wanted = wanted;
}

static struct symcache_slot *find(const struct symcache *k, u64 addr)
{
	u32 mask = k->nslot - 1;
	for (u32 i = (u32)(addr * 0x9e3779b97f4a7c15ull >> 32) & mask;; i = (i + 1) & mask)
		if (!k->slot[i].taken || k->slot[i].addr == addr)
			return &k->slot[i];
}

static void more_slots(struct symcache *k)
{
	struct symcache old = *k;
	k->nslot = k->nslot ? k->nslot * 2 : 64;
	k->slot = xcalloc(k->nslot, sizeof(*k->slot));
	for (u32 i = 0; i < old.nslot; i++)
		if (old.slot[i].taken)
			*find(k, old.slot[i].addr) = old.slot[i];
	free(old.slot);
}

static void put(struct symcache *k, u64 addr, const struct symbol *sym)
{
	if (2 * (k->n + 1) > k->nslot)
		more_slots(k);
	struct symcache_slot *at = find(k, addr);
	k->n += !at->taken;
	*at = (struct symcache_slot){addr, sym, true};
}

bool symcache_get(const struct symcache *k, u64 addr, const struct symbol **sym)
{
	const struct symcache_slot *at = k->n ? find(k, addr) : NULL;
	if (!at || !at->taken)
		return false;
	*sym = at->sym;
	return true;
}

void symcache_want(struct symcache *k, u64 addr)
{
	vec_add(&k->wanted, addr);
}

bool symcache_wants(const struct symcache *k)
{
	return k->wanted.n;
}

static int by_value(const void *pa, const void *pb)
{
	const u64 *a = pa, *b = pb;
	return (*a > *b) - (*a < *b);
}

static void sort_wanted(struct symcache *k)
{
	u32 n = 0;
	u64 *v = k->wanted.v;
	qsort(v, k->wanted.n, sizeof(*v), by_value);
	for (u32 i = 0; i < k->wanted.n; i++)
		if (!n || v[i] != v[n - 1])
			v[n++] = v[i];
	k->wanted.n = n;
}

struct err *symcache_read(struct symcache *k, struct host *h, const char *path)
{
	sort_wanted(k);
	AUTO_FREE const struct symbol **of = xcalloc(k->wanted.n, sizeof(*of));
	struct err *e = elf_read_names(h, &k->arena, path, &k->wanted, of);
	if (e)
		return e;
	for (u32 i = 0; i < k->wanted.n; i++) {
		put(k, k->wanted.v[i], of[i]);
		if (of[i] && (!i || of[i] != of[i - 1]))
			k->bytes += sizeof(struct symbol) + of[i]->name.n;
	}
	vec_free(&k->wanted);
	return NULL;
}

void symcache_give_up(struct symcache *k)
{
	for (u32 i = 0; i < k->wanted.n; i++)
		put(k, k->wanted.v[i], NULL);
	vec_free(&k->wanted);
}

size_t symcache_bytes(const struct symcache *k)
{
	return k->bytes + k->nslot * sizeof(*k->slot);
}
