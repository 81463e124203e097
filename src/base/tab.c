#include "base/tab.h"
#include "base/alloc.h"

/* Open addressing; a slot holds index + 1 into v, 0 is empty. nslot is a power of two, at least
 * twice n. */
static u32 *find(const struct tab *t, struct str key)
{
	u32 mask = t->nslot - 1;
	for (u32 i = (u32)str_hash(key) & mask;; i = (i + 1) & mask)
		if (!t->slot[i] || str_eq(t->v[t->slot[i] - 1].key, key))
			return &t->slot[i];
}

static void rehash(struct tab *t)
{
	free(t->slot);
	t->nslot = t->nslot ? t->nslot * 4 : 16;
	t->slot = xcalloc(t->nslot, sizeof(*t->slot));
	t->cap = t->nslot / 2;
	t->v = reallocarray(t->v, t->cap, sizeof(*t->v));
	if (!t->v)
		out_of_memory();
	u32 mask = t->nslot - 1;
	for (u32 i = 0; i < t->n; i++) { /* all differ */
		u32 at = (u32)str_hash(t->v[i].key) & mask;
		while (t->slot[at])
			at = (at + 1) & mask;
		t->slot[at] = i + 1;
	}
}

void *tab_get(const struct tab *t, struct str key)
{
	u32 at = t->n ? *find(t, key) : 0;
	return at ? t->v[at - 1].val : NULL;
}

void *tab_add(struct tab *t, struct str key, void *val)
{
	assert(val);
	if (t->n == t->cap)
		rehash(t);
	u32 *at = find(t, key);
	if (*at)
		return t->v[*at - 1].val;
	t->v[t->n] = (struct tab_entry){key, val};
	*at = ++t->n;
	return NULL;
}

void tab_set(struct tab *t, struct str key, void *val)
{
	if (tab_add(t, key, val))
		t->v[*find(t, key) - 1].val = val;
}

void tab_free(struct tab *t)
{
	free(t->v);
	free(t->slot);
	*t = (struct tab){0};
}
