/*
 * slots.c - memory slots: what was stored there a moment ago needs no load, and what nobody reads
 * no store.
 *
 * Within a block, and the one behind it when nothing else leads there. A slot whose address is
 * taken or handed to a call may be changed by any call and by any store through a pointer.
 */
#include "ir/pass.h"

enum { KNOWN_MAX = 32 };

struct known { /* what is at off in a slot, w bytes */
	u32 slot, w;
	i32 off;
	struct ref val;
};

struct slots {
	struct fn *f;
	bool *shared, *read;  /* by slot: its address is somewhere; somebody reads it */
	const struct blk *at; /* known is what holds at its end */
	struct known known[KNOWN_MAX];
	u32 n;
};

static bool is_slot(struct ref r)
{
	return r.kind == R_SLOT;
}

static void note_uses(struct slots *s)
{
	for_blk (b, s->f) {
		for_ins (i, b) {
			bool plain = i->op == O_LOAD || i->op == O_LOADS || i->op == O_STORE;
			if (is_slot(i->arg[0]) && i->op != O_STORE)
				s->read[i->arg[0].id] = true;
			if (is_slot(i->arg[0]) && !plain)
				s->shared[i->arg[0].id] = true;
			if (is_slot(i->arg[1]))
				s->shared[i->arg[1].id] = s->read[i->arg[1].id] = true;
		}
		for (u32 a = 0; a < 2; a++)
			if (is_slot(b->cmp[a]))
				s->shared[b->cmp[a].id] = s->read[b->cmp[a].id] = true;
		for_each (p, b->phi)
			for (u32 i = 0; i < b->pred.n; i++)
				if (is_slot(p->arg[i]))
					s->shared[p->arg[i].id] = s->read[p->arg[i].id] = true;
	}
}

static void forget_shared(struct slots *s)
{
	u32 kept = 0;
	for (u32 k = 0; k < s->n; k++)
		if (!s->shared[s->known[k].slot])
			s->known[kept++] = s->known[k];
	s->n = kept;
}

static void forget_bytes(struct slots *s, u32 slot, i32 off, u32 w)
{
	u32 kept = 0;
	for (u32 k = 0; k < s->n; k++) {
		const struct known *x = &s->known[k];
		bool apart = x->slot != slot || x->off + (i32)x->w <= off || off + (i32)w <= x->off;
		if (apart)
			s->known[kept++] = *x;
	}
	s->n = kept;
}

static void load_known(struct slots *s, struct ins *i)
{
	for (u32 k = 0; k < s->n; k++) {
		const struct known *x = &s->known[k];
		if (x->slot != i->arg[0].id || x->off != i->imm || x->w < i->w)
			continue;
		enum op op = i->w == 8 ? O_COPY : i->op == O_LOADS ? O_EXTS : O_EXTU;
		*i = (struct ins){.op = op, .w = i->w, .to = i->to, .arg = {x->val}, .loc = i->loc};
		return;
	}
}

static void store_known(struct slots *s, const struct ins *i)
{
	u32 slot = i->arg[0].id;
	bool value = i->arg[1].kind == R_TMP || i->arg[1].kind == R_CON;
	forget_bytes(s, slot, i->imm, i->w);
	if (value && s->n < KNOWN_MAX)
		s->known[s->n++] = (struct known){slot, i->w, i->imm, i->arg[1]};
}

static void forward(struct slots *s, struct blk *b)
{
	if (b->pred.n != 1 || b->pred.v[0] != s->at)
		s->n = 0;
	s->at = b;
	for_ins (i, b) {
		bool direct = is_mem(i->op) && is_slot(i->arg[0]);
		if (direct && (i->op == O_LOAD || i->op == O_LOADS))
			load_known(s, i);
		else if (direct && i->op == O_STORE)
			store_known(s, i);
		else if (is_call(i->op) || (is_mem(i->op) && i->op != O_LOAD && i->op != O_LOADS))
			forget_shared(s);
	}
}

static void drop_unread(struct slots *s)
{
	memset(s->read, 0, s->f->slot.n * sizeof(*s->read));
	note_uses(s);
	for_blk (b, s->f) {
		for_ins (i, b)
			if (i->op == O_STORE && is_slot(i->arg[0]) && !s->read[i->arg[0].id])
				*i = (struct ins){.op = O_NOP};
		blk_sweep(b);
	}
}

void slots_run(struct fn *f)
{
	struct arena tmp = {0};
	struct slots s = {.f = f,
			  .shared = arena_newn(&tmp, bool, f->slot.n + 1),
			  .read = arena_newn(&tmp, bool, f->slot.n + 1)};
	note_uses(&s);
	for_blk (b, f)
		forward(&s, b);
	drop_unread(&s);
	arena_free(&tmp);
}
