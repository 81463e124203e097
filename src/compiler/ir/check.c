/* check.c - every invariant of a function, asserted between passes. */
#include "ir/pass.h"
#include <stdio.h>

struct check {
	const struct fn *f;
	const char *after;
	const struct blk *b;
	const struct blk **def; /* by temporary: where */
	u32 *at;                /* and at which instruction, from 1; phis are 0 */
	u32 *to, *from;         /* by block: how many jump there; + 1, the last that was seen to */
	bool shaped;            /* cfg ran: order, predecessors and dominators are known */
};

static void __attribute__((noreturn)) broken(const struct check *c, const char *what)
{
	AUTO_SB out = {0};
	ir_print(c->f, &out);
	fprintf(stderr, "ir: after %s: %s (block b%u)\n%s", c->after, what, c->b ? c->b->id : 0,
		out.s);
	abort();
}

static void must(const struct check *c, bool ok, const char *what)
{
	if (!ok)
		broken(c, what);
}

static void define(struct check *c, struct ref to, u32 at)
{
	if (!ref_is(to))
		return;
	must(c, is_tmp(to), "result is not a temporary");
	must(c, to.id < c->f->tmp.n, "temporary out of range");
	must(c, !c->def[to.id], "temporary defined twice");
	c->def[to.id] = c->b;
	c->at[to.id] = at;
}

static void use(const struct check *c, struct ref r, const struct blk *b, u32 at)
{
	const struct fn *f = c->f;
	switch ((enum ref_kind)r.kind) {
	case R_NONE: broken(c, "operand missing");
	case R_MAP: return;
	case R_CON: must(c, r.id < f->con.n, "constant out of range"); return;
	case R_FN: must(c, r.id < f->fns.n, "function out of range"); return;
	case R_SLOT: must(c, r.id < f->slot.n, "slot out of range"); return;
	case R_TMP: break;
	}
	must(c, r.id < f->tmp.n, "temporary out of range");
	if (f->allocated && f->tmp.v[r.id].reg < 0)
		return; /* lives in a spill slot now */
	must(c, c->def[r.id], "temporary used but never defined");
	if (!c->shaped)
		return;
	if (c->def[r.id] == b)
		must(c, c->at[r.id] < at, "temporary used before it is defined");
	else
		must(c, dominates(c->def[r.id], b), "definition does not dominate the use");
}

static void check_slot(const struct check *c, const struct ins *i, struct ref r)
{
	if (r.kind != R_SLOT || r.id >= c->f->slot.n)
		return;
	const struct slot *s = &c->f->slot.v[r.id];
	if (!s->promote) {
		must(c, is_mem(i->op) || i->op == O_ADDR || i->op == O_ARG, "slot as a value");
		return;
	}
	must(c, !c->f->ssa, "promotable slot after ssa");
	must(c, i->op == O_LOAD || i->op == O_STORE, "address of a promotable slot taken");
	must(c, i->w == 8, "promotable slot accessed in part");
	must(c, i->imm == 0, "promotable slot accessed at an offset");
}

static bool good_width(const struct ins *i)
{
	switch ((int)i->op) {
	case O_EXTS:
	case O_EXTU: return i->w == 1 || i->w == 2 || i->w == 4 || i->w == 8;
	case O_BSWAP: return i->w == 2 || i->w == 4 || i->w == 8;
	case O_LOAD:
	case O_LOADS:
	case O_ACQUIRE:
	case O_STORE:
	case O_RELEASE: return i->w == 1 || i->w == 2 || i->w == 4 || i->w == 8;
	case O_HIDE: return i->w == 4;
	case O_XADD:
	case O_XADDF:
	case O_XCHG:
	case O_CMPXCHG: return i->w == 4 || i->w == 8;
	default: return true;
	}
}

static bool has_result(const struct ins *i)
{
	return i->op != O_STORE && i->op != O_RELEASE && i->op != O_XADD && i->op != O_ARG &&
	       i->op != O_NOP;
}

static void check_kinds(const struct check *c, const struct ins *i)
{
	for (u32 a = 0; a < op_info[i->op].nargs; a++) {
		u32 kind = i->arg[a].kind;
		check_slot(c, i, i->arg[a]);
		if (i->op == O_MAPFD || i->op == O_MAPVAL)
			must(c, kind == R_MAP, "map expected");
		else if (i->op == O_FNADDR || i->op == O_CALLFN)
			must(c, kind == R_FN, "function expected");
		else if (i->op == O_ADDR)
			must(c, kind == R_SLOT, "slot expected");
		else if (i->op != O_ARG && (a > 0 || !is_mem(i->op)))
			must(c, kind == R_TMP || kind == R_CON, "value expected");
	}
}

static void check_ins(struct check *c, u32 n)
{
	const struct blk *b = c->b;
	const struct ins *i = &b->ins.v[n];
	must(c, (u32)i->op < OP_COUNT, "unknown operation");
	must(c, good_width(i), "width");
	must(c, has_result(i) == is_tmp(i->to), "result");
	for (u32 a = 0; a < op_info[i->op].nargs; a++)
		use(c, i->arg[a], b, n + 1);
	check_kinds(c, i);
	if (i->op == O_CTX || i->op == O_PARAM) {
		must(c, b == c->f->entry, "ctx or param outside the entry block");
		must(c, n == 0 || i[-1].op == O_CTX || i[-1].op == O_PARAM,
		     "ctx or param not at the top");
		must(c, c->f->callback || i->op == O_CTX, "param outside a callback");
	}
	if (i->op == O_ARG) {
		u32 call = n;
		while (call < b->ins.n && b->ins.v[call].op == O_ARG)
			call++;
		must(c, call < b->ins.n && takes_args(b->ins.v[call].op), "arg without a call");
		must(c, call - n <= b->ins.v[call].nargs, "more args than the call takes");
	}
	if (!takes_args(i->op))
		return;
	must(c, i->nargs <= 5, "too many args");
	must(c, i->op != O_CMPXCHG || i->nargs == 1, "cmpxchg takes one arg");
	must(c, i->nargs <= n, "args missing before a call");
	for (u32 a = 1; a <= i->nargs; a++)
		must(c, i[-(i32)a].op == O_ARG, "args missing before a call");
}

static void check_target(const struct check *c, const struct blk *to)
{
	must(c, to != NULL, "jump to nowhere");
	if (c->shaped)
		c->to[to->id]++;
}

static void check_jump(const struct check *c)
{
	const struct blk *b = c->b;
	switch (b->jmp) {
	case J_NONE: broken(c, "block without a jump");
	case J_RET:
		if (ref_is(b->cmp[0]))
			use(c, b->cmp[0], b, b->ins.n + 1);
		break;
	case J_CMP:
		must(c, op_info[b->cond].flags & F_CMP, "branch without a comparison");
		use(c, b->cmp[0], b, b->ins.n + 1);
		use(c, b->cmp[1], b, b->ins.n + 1);
		check_target(c, b->s2);
		must(c, !c->shaped || b->s1 != b->s2, "branch to one place");
		check_target(c, b->s1);
		break;
	case J_JMP: check_target(c, b->s1); break;
	}
}

static void check_shape(const struct check *c)
{
	const struct blk *b = c->b;
	for (u32 i = 0; i < b->pred.n; i++) {
		const struct blk *p = b->pred.v[i];
		must(c, p->jmp != J_RET && (p->s1 == b || (p->jmp == J_CMP && p->s2 == b)),
		     "predecessor does not jump here");
		must(c, c->from[p->id] != b->id + 1, "predecessor twice");
		c->from[p->id] = b->id + 1;
	}
	must(c, c->to[b->id] == b->pred.n, "jump to a block that does not know of it");
	must(c, (b == c->f->entry) == !b->idom, "dominator");
	must(c, b != c->f->entry || !b->pred.n, "jump to the entry block");
	for_each (p, b->phi)
		for (u32 i = 0; i < b->pred.n; i++)
			use(c, p->arg[i], b->pred.v[i], b->pred.v[i]->ins.n + 1);
}

void ir_check(const struct fn *f, const char *after)
{
	struct arena tmp = {0};
	struct check c = {.f = f, .after = after};
	c.def = arena_newn(&tmp, const struct blk *, f->tmp.n + 1);
	c.at = arena_newn(&tmp, u32, f->tmp.n + 1);
	c.to = arena_newn(&tmp, u32, f->nblk);
	c.from = arena_newn(&tmp, u32, f->nblk);
	c.shaped = f->entry->pred.n || !f->entry->next || f->entry->next->idom;
	must(&c, f->entry == f->blks, "entry block is not the first");
	must(&c, f->stack <= IR_STACK_MAX || f->allocated, "stack");
	for_blk (b, f) {
		c.b = b;
		for_each (p, b->phi)
			define(&c, p->to, 0);
		for (u32 n = 0; n < b->ins.n; n++)
			define(&c, b->ins.v[n].to, n + 1);
	}
	for_blk (b, f) {
		c.b = b;
		for (u32 n = 0; n < b->ins.n; n++)
			check_ins(&c, n);
		if (b->jmp == J_NONE && !c.shaped && !b->ins.n)
			continue; /* made, never entered nor reached */
		check_jump(&c);
	}
	for_blk (b, f) {
		c.b = b;
		if (c.shaped)
			check_shape(&c);
	}
	c.b = f->allocated ? regs_check(f) : NULL;
	must(&c, !c.b, "two live temporaries in one register");
	arena_free(&tmp);
}
