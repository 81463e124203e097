/* seen.c - see seen.h. */
#include "rec/seen.h"
#include "base/alloc.h"
#include <string.h>

enum { FIRST_SLOTS = 1024 };

static u32 hash_bytes(const char *p, size_t n)
{
	u64 h = n * 0x9e3779b97f4a7c15ull;
	for (; n >= 8; n -= 8, p += 8) {
		u64 v;
		memcpy(&v, p, 8);
		h = (h ^ v) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	for (; n; n--, p++)
		h = (h ^ (u8)*p) * 0x100000001b3ull;
	return (u32)(h ^ h >> 29);
}

static void seen_grow(struct seen *s)
{
	u32 n = s->nslot ? s->nslot * 2 : FIRST_SLOTS;
	struct seen_slot *old = s->slot;
	s->slot = xcalloc(n, sizeof(*s->slot));
	for (u32 i = 0; i < s->nslot; i++) {
		if (!old[i].id)
			continue;
		u32 at = old[i].hash & (n - 1);
		while (s->slot[at].id)
			at = (at + 1) & (n - 1);
		s->slot[at] = old[i];
	}
	s->nslot = n;
	free(old);
}

u32 seen_id(struct seen *s, const char *p, size_t n, bool *fresh)
{
	if (s->n * 2 >= s->nslot)
		seen_grow(s);
	u32 hash = hash_bytes(p, n), at = hash & (s->nslot - 1);
	struct seen_slot *slot;
	for (; (slot = &s->slot[at])->id; at = (at + 1) & (s->nslot - 1))
		if (slot->hash == hash && slot->n == n && (!n || !memcmp(slot->p, p, n)))
			return *fresh = false, slot->id;
	char *copy = arena_alloc(&s->a, n + 1, 1);
	if (n)
		memcpy(copy, p, n);
	*slot = (struct seen_slot){hash, ++s->last_id, (u32)n, copy};
	s->n++;
	s->bytes += n + sizeof(*slot) * 2;
	*fresh = true;
	return slot->id;
}

void seen_forget(struct seen *s)
{
	free(s->slot);
	arena_free(&s->a);
	*s = (struct seen){.last_id = s->last_id};
}
