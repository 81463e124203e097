/*
 * text.c - functions as text; parse.c reads it back.
 *
 *	fn count stack 16
 *	  s0 = var
 *	  s1 = slot 16 at -16
 *	b0:
 *	  %0 = ctx
 *	  %1 = load8 [%0+16]
 *	  store4 [s1-8], %1
 *	  arg map0
 *	  arg s1
 *	  %2 = call map_lookup_elem
 *	  br ne %2, 0, b1, b2
 *	b1: unlikely
 *	  ...
 *	b2:
 *	  %3 = phi b0 %1, b1 5
 *	  ret %3
 *
 * After regs a temporary is followed by its place: %1:r6, %2:[-40]. A callback's
 * first line is "fn name callback 2"; functions referred to come first and are
 * named &name.
 */
#include "ir/pass.h"

static void put_ref(const struct fn *f, struct ref r, struct sb *out)
{
	switch ((enum ref_kind)r.kind) {
	case R_NONE: sb_z(out, "none"); break;
	case R_TMP:
		sb_fmt(out, "%%%u", r.id);
		if (!f->allocated || r.id >= f->tmp.n)
			break;
		if (f->tmp.v[r.id].reg >= 0)
			sb_fmt(out, ":r%d", f->tmp.v[r.id].reg);
		else
			sb_fmt(out, ":[%d]", f->tmp.v[r.id].spill);
		break;
	case R_CON:
		if (r.id >= f->con.n)
			sb_z(out, "con?");
		else if (f->con.v[r.id] + 0x10000 < 0x20000 || fits32(f->con.v[r.id]))
			sb_fmt(out, "%lld", (long long)f->con.v[r.id]);
		else
			sb_fmt(out, "0x%llx", f->con.v[r.id]);
		break;
	case R_SLOT: sb_fmt(out, "s%u", r.id); break;
	case R_MAP: sb_fmt(out, "map%u", r.id); break;
	case R_FN:
		sb_char(out, '&');
		sb_add(out, r.id < f->fns.n ? f->fns.v[r.id]->name : STR("?"));
		break;
	}
}

static void put_plus(i32 n, struct sb *out)
{
	if (n)
		sb_fmt(out, "%+d", n);
}

static void put_name(const struct ins *i, struct sb *out)
{
	sb_z(out, op_info[i->op].name);
	if (has_width(i->op))
		sb_fmt(out, "%u", i->w);
}

static void put_ins(const struct fn *f, const struct ins *i, struct sb *out)
{
	char buf[32];
	sb_z(out, "  ");
	if (ref_is(i->to)) {
		put_ref(f, i->to, out);
		sb_z(out, " = ");
	}
	put_name(i, out);
	if (i->op == O_CALL || i->op == O_CALLP) {
		sb_fmt(out, " %s", ir_helper_name((u32)i->imm, buf));
	} else if (i->op == O_PARAM || i->op == O_KFUNC) {
		sb_fmt(out, " %d", i->imm);
	} else if (is_mem(i->op)) {
		sb_z(out, " [");
		put_ref(f, i->arg[0], out);
		put_plus(i->imm, out);
		sb_char(out, ']');
		if (op_info[i->op].nargs == 2) {
			sb_z(out, ", ");
			put_ref(f, i->arg[1], out);
		}
	} else {
		for (u32 a = 0; a < op_info[i->op].nargs; a++) {
			sb_z(out, a ? ", " : " ");
			put_ref(f, i->arg[a], out);
		}
		put_plus(i->imm, out);
	}
	sb_char(out, '\n');
}

static void put_phi(const struct fn *f, const struct blk *b, const struct phi *p, struct sb *out)
{
	sb_z(out, "  ");
	put_ref(f, p->to, out);
	sb_z(out, " = phi");
	for (u32 i = 0; i < b->pred.n; i++) {
		sb_fmt(out, "%s b%u ", i ? "," : "", b->pred.v[i]->id);
		put_ref(f, p->arg[i], out);
	}
	sb_char(out, '\n');
}

static void put_jump(const struct fn *f, const struct blk *b, struct sb *out)
{
	switch (b->jmp) {
	case J_NONE: sb_z(out, "  (no jump)\n"); break;
	case J_JMP: sb_fmt(out, "  jmp b%u\n", b->s1->id); break;
	case J_RET:
		sb_z(out, "  ret");
		if (ref_is(b->cmp[0])) {
			sb_char(out, ' ');
			put_ref(f, b->cmp[0], out);
		}
		sb_char(out, '\n');
		break;
	case J_CMP:
		sb_fmt(out, "  br %s ", op_info[b->cond].name);
		put_ref(f, b->cmp[0], out);
		sb_z(out, ", ");
		put_ref(f, b->cmp[1], out);
		sb_fmt(out, ", b%u, b%u\n", b->s1->id, b->s2->id);
		break;
	}
}

static void put_fn(const struct fn *f, struct sb *out)
{
	sb_fmt(out, "fn %.*s", STRF(f->name));
	if (f->callback)
		sb_fmt(out, " callback %u", f->nparam);
	if (f->stack)
		sb_fmt(out, " stack %u", f->stack);
	if (f->ext)
		sb_fmt(out, " external %u", f->ext->ninsn);
	sb_char(out, '\n');
	for (u32 i = 0; i < f->slot.n; i++) {
		const struct slot *s = &f->slot.v[i];
		if (!s->size)
			continue;
		if (!s->promote)
			sb_fmt(out, "  s%u = slot %u at %d\n", i, s->size, s->off);
		else if (!f->ssa)
			sb_fmt(out, "  s%u = var\n", i);
	}
	for_blk (b, f) {
		sb_fmt(out, "b%u:%s\n", b->id, b->unlikely ? " unlikely" : "");
		for_each (p, b->phi)
			put_phi(f, b, p, out);
		for_ins (i, b)
			put_ins(f, i, out);
		put_jump(f, b, out);
	}
}

void ir_print(const struct fn *f, struct sb *out)
{
	struct fn **all;
	u32 n;
	ir_all_fns((struct fn *)f, &all, &n);
	while (n-- > 1) {
		put_fn(all[n], out);
		sb_char(out, '\n');
	}
	put_fn(f, out);
	free(all);
}
