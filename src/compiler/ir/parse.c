/* parse.c - the text of text.c back into a function, for tests. */
#include "ir/pass.h"
#include <stdio.h>

enum { PARSE_IDS = 1 << 16 }; /* largest number of a temporary, slot or block */

struct parse {
	struct arena *a;
	struct fn *f;
	struct str line; /* what is left of it */
	const char *msg;
	VEC(struct fn *) fns;
	VEC(struct blk *) blk; /* by number */
	struct blk *cur;
};

static bool fail(struct parse *p, const char *msg)
{
	if (!p->msg)
		p->msg = msg;
	return false;
}

static void skip(struct parse *p)
{
	while (p->line.n && (*p->line.s == ' ' || *p->line.s == '\t'))
		p->line = str_from(p->line, 1);
}

static bool eat(struct parse *p, const char *what)
{
	skip(p);
	struct str w = str_z(what);
	if (!str_starts(p->line, w))
		return false;
	p->line = str_from(p->line, w.n);
	return true;
}

static bool need(struct parse *p, const char *what)
{
	return eat(p, what) || fail(p, "unexpected text");
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

static struct str word(struct parse *p)
{
	skip(p);
	u32 n = 0;
	while (n < p->line.n && is_word(p->line.s[n]))
		n++;
	struct str w = {p->line.s, n};
	p->line = str_from(p->line, n);
	return w;
}

/* An optional sign, then a number. */
static bool number(struct parse *p, u64 *v)
{
	bool minus = eat(p, "-");
	if (!minus)
		eat(p, "+");
	if (!str_u64(word(p), v))
		return fail(p, "number expected");
	if (minus)
		*v = -*v;
	return true;
}

static bool small(struct parse *p, u32 *v)
{
	u64 n;
	if (!number(p, &n))
		return false;
	*v = (u32)n;
	return n < PARSE_IDS || fail(p, "number too large");
}

static bool offset(struct parse *p, i32 *v)
{
	skip(p);
	*v = 0;
	u64 n = 0;
	if (p->line.n && (*p->line.s == '+' || *p->line.s == '-') && !number(p, &n))
		return false;
	*v = (i32)n;
	return true;
}

static struct blk *block(struct parse *p, u32 id)
{
	while (p->blk.n <= id)
		vec_add(&p->blk, (struct blk *)NULL);
	if (!p->blk.v[id]) {
		struct blk *b = arena_new(p->a, struct blk);
		b->id = id;
		p->blk.v[id] = b;
		p->f->nblk = MAX(p->f->nblk, id + 1);
	}
	return p->blk.v[id];
}

static bool block_ref(struct parse *p, struct blk **b)
{
	u32 id;
	if (!need(p, "b") || !small(p, &id))
		return false;
	*b = block(p, id);
	return true;
}

static bool place(struct parse *p, struct tmp *t)
{
	u32 reg;
	u64 off = 0;
	if (!eat(p, ":"))
		return true;
	p->f->allocated = true;
	t->nuse = 1;
	if (eat(p, "r")) {
		if (!small(p, &reg) || reg > 9)
			return fail(p, "register expected");
		t->reg = (i32)reg;
		return true;
	}
	if (!need(p, "[") || !number(p, &off) || !need(p, "]"))
		return false;
	t->spill = (i32)off;
	return true;
}

static bool fn_ref(struct parse *p, struct ref *r)
{
	struct str name = word(p);
	for (u32 i = 0; i < p->fns.n; i++) {
		if (str_eq(p->fns.v[i]->name, name)) {
			*r = ir_fnref(p->f, p->fns.v[i]);
			return true;
		}
	}
	return fail(p, "unknown function");
}

static bool ref(struct parse *p, struct ref *r)
{
	u32 id;
	u64 v;
	*r = REF_NONE;
	if (eat(p, "none"))
		return true;
	if (eat(p, "%")) {
		if (!small(p, &id))
			return false;
		while (p->f->tmp.n <= id)
			ir_tmp(p->f);
		*r = mkref(R_TMP, id);
		return place(p, &p->f->tmp.v[id]);
	}
	if (eat(p, "&"))
		return fn_ref(p, r);
	if (eat(p, "map")) {
		if (!small(p, &id))
			return false;
		*r = ir_map(id);
		return true;
	}
	if (eat(p, "s")) {
		if (!small(p, &id))
			return false;
		*r = mkref(R_SLOT, id);
		return id < p->f->slot.n || fail(p, "unknown slot");
	}
	if (!number(p, &v))
		return false;
	*r = ir_con(p->f, v);
	return true;
}

static bool find_op(struct str w, struct ins *i)
{
	u8 width = 8;
	struct str bare = w;
	if (w.n > 1 && w.s[w.n - 1] >= '1' && w.s[w.n - 1] <= '8') {
		width = (u8)(w.s[w.n - 1] - '0');
		bare.n--;
	}
	for (u32 op = 1; op < OP_COUNT; op++) {
		if (!str_is(has_width(op) ? bare : w, op_info[op].name))
			continue;
		i->op = (enum op)(op & 0xff);
		i->w = has_width(op) ? width : 8;
		return true;
	}
	return false;
}

/* The O_ARGs at the end of the block are the operands of this one. */
static void count_args(struct parse *p, struct ins *i)
{
	u32 n = p->cur->ins.n;
	while (n > 0 && p->cur->ins.v[n - 1].op == O_ARG) {
		n--;
		i->nargs++;
	}
}

static bool operands(struct parse *p, struct ins *i)
{
	u64 v;
	u32 id;
	if (i->op == O_CALL || i->op == O_CALLP) {
		struct str name = word(p);
		if (str_is(name, "helper")) {
			if (!number(p, &v))
				return false;
			id = (u32)v;
		} else if (!helper_find(name, &id)) {
			return fail(p, "unknown helper");
		}
		i->imm = (i32)id;
		return true;
	}
	if (i->op == O_PARAM || i->op == O_KFUNC) {
		if (!number(p, &v))
			return false;
		i->imm = (i32)v;
		return true;
	}
	if (is_mem(i->op)) {
		if (!need(p, "[") || !ref(p, &i->arg[0]) || !offset(p, &i->imm) || !need(p, "]"))
			return false;
		return op_info[i->op].nargs == 1 || (need(p, ",") && ref(p, &i->arg[1]));
	}
	for (u32 a = 0; a < op_info[i->op].nargs; a++)
		if ((a && !need(p, ",")) || !ref(p, &i->arg[a]))
			return false;
	return offset(p, &i->imm);
}

static bool parse_phi(struct parse *p, struct ref to)
{
	struct phi *phi = arena_new(p->a, struct phi), **last = &p->cur->phi;
	while (*last)
		last = &(*last)->next;
	*last = phi;
	phi->to = to;
	phi->arg = arena_newn(p->a, struct ref, 64);
	u32 n = 0;
	do {
		struct blk *pred;
		if (n == 64 || !block_ref(p, &pred) || !ref(p, &phi->arg[n]))
			return fail(p, "bad phi");
		if (n == p->cur->pred.n)
			vec_add(&p->cur->pred, pred);
		else if (p->cur->pred.v[n] != pred)
			return fail(p, "phis name their predecessors in one order");
		n++;
	} while (eat(p, ","));
	p->f->ssa = true;
	return true;
}

static bool parse_ins(struct parse *p, struct str w, struct ref to)
{
	struct ins i = {.to = to};
	if (!find_op(w, &i))
		return fail(p, "unknown operation");
	if (takes_args(i.op))
		count_args(p, &i);
	if (!operands(p, &i))
		return false;
	ir_raw(p->f, p->cur, i);
	return true;
}

static bool parse_br(struct parse *p)
{
	struct blk *b = p->cur;
	struct ins i = {0};
	if (!find_op(word(p), &i) || !(op_info[i.op].flags & F_CMP))
		return fail(p, "comparison expected");
	b->jmp = J_CMP;
	b->cond = i.op;
	return ref(p, &b->cmp[0]) && need(p, ",") && ref(p, &b->cmp[1]) && need(p, ",") &&
	       block_ref(p, &b->s1) && need(p, ",") && block_ref(p, &b->s2);
}

static bool parse_body(struct parse *p)
{
	struct ref to = REF_NONE;
	if (!p->cur || p->cur->jmp != J_NONE)
		return fail(p, "not inside a block");
	if (str_starts(p->line, STR("%")) && (!ref(p, &to) || !need(p, "=")))
		return false;
	struct str w = word(p);
	if (str_is(w, "phi"))
		return parse_phi(p, to);
	if (str_is(w, "br"))
		return parse_br(p);
	if (str_is(w, "jmp")) {
		p->cur->jmp = J_JMP;
		return block_ref(p, &p->cur->s1);
	}
	if (str_is(w, "ret")) {
		p->cur->jmp = J_RET;
		skip(p);
		return !p->line.n || ref(p, &p->cur->cmp[0]);
	}
	return parse_ins(p, w, to);
}

static bool parse_slot(struct parse *p)
{
	u32 id, size;
	u64 off;
	if (!need(p, "s") || !small(p, &id) || !need(p, "="))
		return false;
	while (p->f->slot.n <= id)
		vec_add(&p->f->slot, (struct slot){.promote = true}); /* not named: gone */
	struct slot *s = &p->f->slot.v[id];
	if (eat(p, "var")) {
		s->size = 8;
		return true;
	}
	if (!need(p, "slot") || !small(p, &size) || !need(p, "at") || !number(p, &off))
		return false;
	*s = (struct slot){.size = size, .off = (i32)off};
	return true;
}

static bool parse_label(struct parse *p)
{
	struct blk *b;
	if (!block_ref(p, &b) || !need(p, ":"))
		return false;
	if (b->next || p->f->tail == &b->next)
		return fail(p, "block defined twice");
	b->unlikely = eat(p, "unlikely");
	*p->f->tail = b;
	p->f->tail = &b->next;
	if (!p->f->entry)
		p->f->entry = b;
	p->cur = b;
	return true;
}

/* Every block named must have been written down, with a jump. */
static bool finish(struct parse *p)
{
	if (!p->f)
		return true;
	for (u32 i = 0; i < p->blk.n; i++)
		if (p->blk.v[i] && p->blk.v[i]->jmp == J_NONE)
			return fail(p, "block without a jump or not defined");
	if (!p->f->entry)
		return fail(p, "function without blocks");
	vec_add(&p->fns, p->f);
	p->blk.n = 0;
	p->cur = NULL;
	return true;
}

static bool parse_fn(struct parse *p)
{
	if (!finish(p))
		return false;
	p->f = arena_new(p->a, struct fn);
	p->f->arena = p->a;
	p->f->tail = &p->f->blks;
	p->f->name = arena_str(p->a, word(p));
	p->f->callback = eat(p, "callback");
	if (p->f->callback && !small(p, &p->f->nparam))
		return false;
	if (eat(p, "stack") && !small(p, &p->f->stack))
		return false;
	p->f->stack_at = p->f->stack;
	return true;
}

static bool parse_line(struct parse *p)
{
	i32 comment = str_chr(p->line, ';');
	if (comment >= 0)
		p->line.n = (u32)comment;
	p->line = str_trim(p->line);
	if (!p->line.n)
		return true;
	bool ok;
	if (eat(p, "fn "))
		ok = parse_fn(p);
	else if (!p->f)
		ok = fail(p, "fn expected");
	else if (*p->line.s == 's' && !p->cur)
		ok = parse_slot(p);
	else if (*p->line.s == 'b' && p->line.n > 1 && p->line.s[1] <= '9')
		ok = parse_label(p);
	else
		ok = parse_body(p);
	skip(p);
	return ok && (!p->line.n || fail(p, "text after the instruction"));
}

struct fn *ir_parse(struct arena *a, struct str text, u32 *line, const char **msg)
{
	struct parse p = {.a = a};
	*line = 0;
	bool ok = true;
	while (ok && text.s && str_cut(&text, '\n', &p.line)) {
		++*line;
		ok = parse_line(&p);
	}
	ok = ok && (p.f || fail(&p, "no function")) && finish(&p);
	struct fn *f = ok ? p.f : NULL;
	*msg = p.msg;
	for (u32 i = 0; !ok && i < p.fns.n; i++)
		ir_fn_free(p.fns.v[i]);
	if (!ok && p.f && (!p.fns.n || p.fns.v[p.fns.n - 1] != p.f))
		ir_fn_free(p.f);
	vec_free(&p.fns);
	vec_free(&p.blk);
	return f;
}
