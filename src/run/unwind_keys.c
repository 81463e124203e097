/*
 * unwind_keys.c - keys of maps with stacks that user space finished: keys that stand for one stack
 * become one.
 */
#include "base/tab.h"
#include "core/agg.h"
#include "run/run.h"
#include <string.h>

/* The callers take the mark's place, as far as there is room. True: that was done. */
static bool finish_stack(struct session *s, const struct type *t, u8 *p)
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
	const u64 *tail = unwind_tail(s, last, &ntail);
	ntail = MIN(ntail, t->count - head.n + 1);
	memset(at, 0, sizeof(u64));
	if (ntail)
		memcpy(at, tail, ntail * sizeof(u64));
	head.n += ntail - 1;
	memcpy(p, &head, sizeof(head));
	return true;
}

static bool finish(struct session *s, const struct type *t, u8 *p)
{
	bool any = false;
	if (t->kind == T_USTACK)
		return finish_stack(s, t, p);
	if (t->kind != T_TUPLE && t->kind != T_RECORD)
		return false;
	for (u32 i = 0; i < t->nfield; i++)
		any |= finish(s, t->field[i].type, p + t->field[i].bit_off / 8);
	return any;
}

u32 unwind_finish_keys(struct session *s, const struct unwind_rows *r)
{
	struct tab seen = {0};
	bool any = false;
	u32 n = 0;
	bool on = unwind_on(s);
	for (u32 i = 0; on && i < r->n; i++)
		any |= finish(s, r->key, r->keys + (size_t)i * r->key_size);
	if (!any)
		return r->n;
	for (u32 i = 0; i < r->n; i++) {
		u8 *key = r->keys + (size_t)i * r->key_size;
		u8 *val = r->vals + (size_t)i * r->val_size;
		struct str text = str_n((char *)key, r->key_size);
		u64 *into = tab_get(&seen, text);
		if (into && r->agg)
			r->agg->merge(r->val, into, (const u64 *)(void *)val);
		if (into) /* of plain values the first stays */
			continue;
		u8 *to_key = r->keys + (size_t)n * r->key_size;
		u8 *to_val = r->vals + (size_t)n * r->val_size;
		memmove(to_key, key, r->key_size);
		memmove(to_val, val, r->val_size);
		n++;
		tab_add(&seen, str_n((char *)to_key, r->key_size), to_val);
	}
	tab_free(&seen);
	return n;
}
