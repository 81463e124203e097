/*
 * live.c - which temporaries are needed at the start and end of each block.
 *
 * A phi's result is not in live_in of its block; its arguments are in live_out
 * of the predecessors.
 */
#include "ir/pass.h"

struct live {
	struct fn *f;
	struct arena tmp;
	u32 words;
	u64 *def; /* [block][words] */
};

static void make_sets(struct fn *f, u32 words)
{
	bool grow = words > f->live_words;
	if (grow)
		f->live_words = words + words / 4;
	for_blk (b, f) {
		if (grow || !b->live_in) {
			b->live_in = arena_newn(f->arena, u64, f->live_words);
			b->live_out = arena_newn(f->arena, u64, f->live_words);
		}
		memset(b->live_in, 0, f->live_words * sizeof(u64));
		memset(b->live_out, 0, f->live_words * sizeof(u64));
	}
}

static void use(struct blk *b, const u64 *def, struct ref r)
{
	if (is_tmp(r) && !bit_get(def, r.id))
		bit_set(b->live_in, r.id);
}

static void local(struct live *l, struct blk *b)
{
	u64 *def = l->def + (size_t)b->id * l->words;
	for_each (p, b->phi) {
		bit_set(def, p->to.id);
		for (u32 i = 0; i < b->pred.n; i++)
			if (is_tmp(p->arg[i]))
				bit_set(b->pred.v[i]->live_out, p->arg[i].id);
	}
	for_ins (i, b) {
		use(b, def, i->arg[0]);
		use(b, def, i->arg[1]);
		if (is_tmp(i->to))
			bit_set(def, i->to.id);
	}
	use(b, def, b->cmp[0]);
	use(b, def, b->cmp[1]);
}

static bool flow(struct live *l, struct blk *b)
{
	const u64 *def = l->def + (size_t)b->id * l->words;
	bool changed = false;
	for (u32 w = 0; w < l->words; w++) {
		u64 out = b->live_out[w];
		if (b->jmp != J_RET)
			out |= b->s1->live_in[w];
		if (b->jmp == J_CMP)
			out |= b->s2->live_in[w];
		b->live_out[w] = out;
		u64 in = b->live_in[w] | (out & ~def[w]);
		changed |= in != b->live_in[w];
		b->live_in[w] = in;
	}
	return changed;
}

void live_run(struct fn *f)
{
	struct live l = {.f = f, .words = bit_words(f->tmp.n + 1)};
	struct blk **order = arena_newn(&l.tmp, struct blk *, f->nblk);
	u32 n = 0;
	for_blk (b, f) {
		b->id = n;
		order[n++] = b;
	}
	assert(n == f->nblk);
	make_sets(f, l.words);
	l.def = arena_newn(&l.tmp, u64, (size_t)f->nblk * l.words);
	for_blk (b, f)
		local(&l, b);
	for (bool changed = true; changed;) {
		changed = false;
		for (u32 i = n; i-- > 0;)
			changed |= flow(&l, order[i]);
	}
	arena_free(&l.tmp);
}
