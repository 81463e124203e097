/* tails.c - callers that user space found; see the header. */
#include "unwind/tails.h"
#include <string.h>

enum { TAILS = 1 << 16, TAIL_BYTES = 16 << 20 };

void tails_init(struct tails *t)
{
	t->tail = arena_newn(&t->arena, struct tail, TAILS);
}

void tails_free(struct tails *t)
{
	tab_free(&t->texts);
	arena_free(&t->arena);
}

void tails_keep(struct tails *t, u64 id, const u64 *frame, u32 n)
{
	struct str key = str_n((const char *)frame, n * sizeof(*frame));
	const u64 *kept = n ? tab_get(&t->texts, key) : frame;
	if (!kept && t->bytes + key.n > TAIL_BYTES) {
		t->no_room++;
		return;
	}
	if (!kept) {
		u64 *copy = arena_newn(&t->arena, u64, n);
		memcpy(copy, frame, key.n);
		t->bytes += key.n;
		tab_add(&t->texts, str_n((const char *)copy, key.n), copy);
		kept = copy;
	}
	t->tail[id % TAILS] = (struct tail){id + 1, n ? kept : NULL, n};
}

const struct tail *tails_get(const struct tails *t, u64 id)
{
	const struct tail *is = &t->tail[id % TAILS];
	return is->id == id + 1 ? is : NULL;
}
