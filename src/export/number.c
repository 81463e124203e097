/* number.c - see number.h. */
#include "export/number.h"
#include "base/alloc.h"

static void grow(struct number_set *s)
{
	struct number_set old = *s;
	s->size = old.size ? old.size * 2 : 256;
	s->slot = xcalloc(s->size, sizeof(*s->slot));
	s->id = xcalloc(s->size, sizeof(*s->id));
	for (u32 i = 0; i < old.size; i++) {
		if (!old.slot[i])
			continue;
		u32 at = (u32)(old.slot[i] * 0x9e3779b97f4a7c15ull >> 32) & (s->size - 1);
		while (s->slot[at])
			at = (at + 1) & (s->size - 1);
		s->slot[at] = old.slot[i];
		s->id[at] = old.id[i];
	}
	free(old.slot);
	free(old.id);
}

u32 number_id(struct number_set *s, u64 n, bool *fresh)
{
	if (s->n * 2 >= s->size)
		grow(s);
	u64 want = n + 1;
	u32 at = (u32)(want * 0x9e3779b97f4a7c15ull >> 32) & (s->size - 1);
	while (s->slot[at] && s->slot[at] != want)
		at = (at + 1) & (s->size - 1);
	*fresh = !s->slot[at];
	if (*fresh) {
		s->slot[at] = want;
		s->id[at] = ++s->n;
	}
	return s->id[at];
}

void number_free(struct number_set *s)
{
	free(s->slot);
	free(s->id);
}
