/* keys.c - keys of maps with stacks that user space finished. */
#include "unwind/keys.h"
#include "core/unwind.h"
#include <string.h>

/* The callers take the mark's place, as far as there is room. True: that was done. */
static bool finish_stack(tail_fn *find, void *arg, const struct type *t, u8 *p)
{
	struct stack_value head;
	u64 last;
	u32 ntail;
	memcpy(&head, p, sizeof(head));
	if (t->mode == STACK_BUILD_ID || !head.n || head.n > t->count)
		return false;
	u8 *at = p + sizeof(head) + sizeof(u64) * (head.n - 1);
	memcpy(&last, at, sizeof(last));
	if ((last & UNWIND_MARK_MASK) != UNWIND_MARK)
		return false;
	const u64 *tail = find(arg, last, &ntail);
	ntail = unwind_tail_of(t->mode == STACK_LANG, tail, MIN(ntail, t->count - head.n + 1));
	memset(at, 0, sizeof(u64));
	if (ntail)
		memcpy(at, tail, ntail * sizeof(u64));
	head.n += ntail - 1;
	memcpy(p, &head, sizeof(head));
	return true;
}

bool unwind_finish_key(tail_fn *find, void *arg, const struct type *t, u8 *key)
{
	bool any = false;
	if (t->kind == T_USTACK)
		return finish_stack(find, arg, t, key);
	if (t->kind != T_TUPLE && t->kind != T_RECORD)
		return false;
	for (u32 i = 0; i < t->nfield; i++)
		any |= unwind_finish_key(find, arg, t->field[i].type,
					 key + t->field[i].bit_off / 8);
	return any;
}
