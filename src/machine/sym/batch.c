#include "sym/batch.h"
#include "base/alloc.h"

void batch_init(struct batch *s, const u64 *addr, u32 n)
{
	*s = (struct batch){.addr = addr, .n = n};
	s->holds = xcalloc(n + 1ul, sizeof(*s->holds));
	s->plain = xcalloc(n + 1ul, sizeof(*s->plain));
	s->near = xcalloc(n + 1ul, sizeof(*s->near));
}

void batch_free(struct batch *s)
{
	free(s->holds);
	free(s->plain);
	free(s->near);
}

/* The first address that is not before this one. */
static u32 from(const struct batch *s, u64 addr)
{
	u32 lo = 0, hi = s->n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (s->addr[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool batch_cares(const struct batch *s, u64 addr, u64 size)
{
	u32 i = from(s, addr);
	return i < s->n &&
	       (addr >= s->near[i] || (s->addr[i] - addr < size && addr >= s->holds[i].addr));
}

/* Of several that begin at one address the most public, then the first by name (elf_at()). */
static void better(struct symbol *now, const struct symbol *sym)
{
	bool take = !now->name.n || sym->addr > now->addr;
	if (!take && sym->addr == now->addr)
		take = str_cmp(sym->name, now->name) < 0 ? symbol_preferred(sym, now)
							 : !symbol_preferred(now, sym);
	if (take)
		*now = *sym;
}

void batch_offer(struct batch *s, const struct symbol *sym)
{
	u32 first = from(s, sym->addr);
	if (first == s->n)
		return;
	s->near[first] = MAX(s->near[first], sym->addr);
	if (!sym->size)
		better(&s->plain[first], sym);
	for (u32 i = first; i < s->n && s->addr[i] - sym->addr < sym->size; i++)
		better(&s->holds[i], sym);
}

void batch_end(struct batch *s, batch_cb *cb, void *arg)
{
	struct symbol plain = {0};
	u64 near = 0;
	for (u32 i = 0; i < s->n; i++) {
		struct symbol *best = &s->holds[i];
		near = MAX(near, s->near[i]);
		if (s->plain[i].name.n)
			plain = s->plain[i];
		if (plain.name.n && plain.addr == near) /* it reaches to the next */
			better(best, &plain);
		cb(arg, best->name.n ? best : NULL);
	}
}
