/* x86_64_move.c - instructions of x86-64 that prologues move parameters with. */
#include "arch/decode.h"
#include "arch/move.h"

enum { VECTOR = 17 }; /* DWARF's number of xmm0 */
enum { NO_BASE = 0xff };

struct code {
	const u8 *p;
	u32 n, at;
	bool bad;
	u8 rex, op;
	bool narrow; /* 66 */
	u8 rep;      /* f2, f3 */
	u8 reg, rm;  /* of ModRM, with the bits of REX; rm is a register where is_reg */
	bool is_reg;
	u8 base; /* else memory at base + disp */
	i64 disp;
};

static u64 number(struct code *c, u32 n)
{
	u64 v = 0;
	for (u32 i = 0; i < n; i++, c->at++) {
		if (c->at >= c->n) {
			c->bad = true;
			return 0;
		}
		v |= (u64)c->p[c->at] << (8 * i);
	}
	return v;
}

static i64 signed_number(struct code *c, u32 n)
{
	u64 v = number(c, n);
	return n == 1 ? (i8)v : n == 2 ? (i16)v : n == 4 ? (i32)v : (i64)v;
}

/* DWARF counts the first eight registers otherwise. */
static u8 dwarf_of(u8 reg)
{
	static const u8 as[8] = {0, 2, 1, 3, 7, 6, 4, 5};
	return reg < 8 ? as[reg] : reg;
}

static void modrm(struct code *c)
{
	u8 m = (u8)number(c, 1), mod = m >> 6, rm = m & 7;
	c->reg = (u8)((m >> 3 & 7) | (c->rex & 4) << 1);
	c->rm = (u8)(rm | (c->rex & 1) << 3);
	c->is_reg = mod == 3;
	if (c->is_reg)
		return;
	c->base = dwarf_of(c->rm);
	if (rm == 4) {
		u8 sib = (u8)number(c, 1);
		bool index = (sib >> 3 & 7) != 4 || c->rex & 2;
		c->base = index || (mod == 0 && (sib & 7) == 5)
				  ? NO_BASE
				  : dwarf_of((u8)((sib & 7) | (c->rex & 1) << 3));
		if (mod == 0 && (sib & 7) == 5)
			mod = 2;
	} else if (mod == 0 && rm == 5) { /* from the instruction pointer */
		c->base = NO_BASE;
		mod = 2;
	}
	c->disp = mod == 1 ? signed_number(c, 1) : mod == 2 ? signed_number(c, 4) : 0;
}

/* One byte of a register is its second one where there is no REX. */
static bool is_high(const struct code *c, u8 reg, u8 size)
{
	return size == 1 && !c->rex && reg >= 4 && reg < 8;
}

/* From other, which is a register or the base of an address, to reg, or the other way. m->size is known. */
static bool move_between(const struct code *c, struct move *m, u8 reg, u8 other, bool to_memory)
{
	m->kind = c->is_reg ? MOVE_COPY : to_memory ? MOVE_STORE : MOVE_LOAD;
	m->to = to_memory ? other : reg;
	m->from = to_memory ? reg : other;
	m->v = c->is_reg ? 0 : c->disp;
	if (other != NO_BASE)
		return true;
	m->kind = MOVE_SPOIL;
	return !to_memory;
}

static bool move_integer(struct code *c, struct move *m, u8 size, bool to_memory)
{
	modrm(c);
	bool extends = c->op == 0x0f;
	if ((!extends && is_high(c, c->reg, size)) || (c->is_reg && is_high(c, c->rm, size)))
		return false;
	u8 reg = dwarf_of(c->reg), other = c->is_reg ? dwarf_of(c->rm) : c->base;
	m->size = size;
	return move_between(c, m, reg, other, to_memory);
}

/* A vector register: the lower size bytes of it. */
static bool move_vector(struct code *c, struct move *m, u8 size, bool to_memory)
{
	modrm(c);
	u8 reg = (u8)(VECTOR + c->reg), other = c->is_reg ? (u8)(VECTOR + c->rm) : c->base;
	m->size = size;
	return move_between(c, m, reg, other, to_memory);
}

static bool behind_0f(struct code *c, struct move *m)
{
	u8 op = (u8)number(c, 1);
	switch (op) {
	case 0x10: /* movups, movupd, movss, movsd */
	case 0x11:
		return move_vector(c, m, c->rep == 0xf3 ? 4 : c->rep == 0xf2 ? 8 : 16, op == 0x11);
	case 0x28: /* movaps, movapd */
	case 0x29: return !c->rep && move_vector(c, m, 16, op == 0x29);
	case 0x7e: return c->rep == 0xf3 && move_vector(c, m, 8, false);
	case 0xd6: return c->narrow && move_vector(c, m, 8, true);
	case 0x57: /* xorps: clears */
		modrm(c);
		*m = (struct move){.kind = MOVE_SPOIL, .to = (u8)(VECTOR + c->reg)};
		return true;
	case 0xb6: /* movz, movs: what is above is not looked at */
	case 0xb7:
	case 0xbe:
	case 0xbf: return move_integer(c, m, op & 1 ? 2 : 1, false);
	}
	return false;
}

/* add, or, adc, sbb, and, sub, xor, cmp with a constant. */
static bool with_constant(struct code *c, struct move *m, u8 size)
{
	modrm(c);
	i64 v = signed_number(c, c->op == 0x81 ? (size == 2 ? 2 : 4) : 1);
	u8 what = c->reg & 7, reg = dwarf_of(c->rm);
	if (!c->is_reg || is_high(c, c->rm, size))
		return false;
	*m = (struct move){.kind = MOVE_SPOIL, .to = reg, .from = reg, .size = size};
	if (what == 7)
		m->kind = MOVE_NOTHING;
	else if ((what == 0 || what == 5) && size == 8)
		*m = (struct move){MOVE_ADD, reg, reg, 8, 0, what ? -v : v};
	else if (what == 4 && v >= 0)
		*m = (struct move){MOVE_MASK, reg, reg, size, 0, v};
	return true;
}

static bool decode(struct code *c, struct move *m)
{
	u8 op = c->op,
	   wide = c->rex & 8  ? 8
		  : c->narrow ? 2
			      : 4,
	   low = (u8)((op & 7) | (c->rex & 1) << 3);
	switch (op) {
	case 0x0f: return behind_0f(c, m);
	case 0x50 ... 0x57:
		*m = (struct move){.kind = MOVE_PUSH, .from = dwarf_of(low)};
		return !c->narrow;
	case 0x31: /* xor of a register with itself, and other things */
	case 0x33:
		modrm(c);
		*m = (struct move){.kind = MOVE_SPOIL, .to = dwarf_of(op == 0x31 ? c->rm : c->reg)};
		return c->is_reg;
	case 0x80: return with_constant(c, m, 1);
	case 0x81:
	case 0x83: return with_constant(c, m, wide);
	case 0x88: return move_integer(c, m, 1, true);
	case 0x89: return move_integer(c, m, wide, true);
	case 0x8a: return move_integer(c, m, 1, false);
	case 0x8b: return move_integer(c, m, wide, false);
	case 0x8d: /* lea */
		modrm(c);
		*m = (struct move){.kind = MOVE_ADD,
				   .to = dwarf_of(c->reg),
				   .from = c->base,
				   .size = 8,
				   .v = c->disp};
		if (c->base == NO_BASE || wide != 8)
			m->kind = MOVE_SPOIL;
		return !c->is_reg;
	case 0x24: /* and al, v */
		*m = (struct move){.kind = MOVE_MASK, .size = 1, .v = (i64)number(c, 1)};
		return true;
	case 0xb8 ... 0xbf:
		*m = (struct move){.kind = MOVE_CONST, .to = dwarf_of(low), .size = wide};
		m->v = (i64)number(c, wide);
		return wide != 2;
	case 0xc1:
		modrm(c);
		*m = (struct move){.kind = MOVE_SHIFT,
				   .to = dwarf_of(c->rm),
				   .size = wide,
				   .v = (i64)number(c, 1)};
		if ((c->reg & 7) != 5) /* shr */
			m->kind = MOVE_SPOIL;
		return c->is_reg;
	case 0xc6:
	case 0xc7:
		modrm(c);
		*m = (struct move){.kind = MOVE_FILL,
				   .to = c->base,
				   .size = op == 0xc6 ? 1 : wide,
				   .v = c->disp};
		number(c, op == 0xc6 ? 1 : wide == 2 ? 2 : 4);
		if (c->is_reg)
			*m = (struct move){.kind = MOVE_SPOIL, .to = dwarf_of(c->rm)};
		return !c->reg && (c->is_reg || c->base != NO_BASE) &&
		       !(c->is_reg && is_high(c, c->rm, m->size));
	}
	return false;
}

bool x86_64_move(const u8 *p, u32 n, struct move *ret)
{
	struct code c = {.p = p, .n = n};
	struct insn i;
	*ret = (struct move){.kind = MOVE_NOTHING};
	if (!x86_64_decode(p, n, &i))
		return false;
	ret->len = i.len;
	if (i.kind == CODE_NOP || i.kind == CODE_NOP5 || i.kind == CODE_ENDBR)
		return true;
	c.n = i.len;
	for (c.op = (u8)number(&c, 1);; c.op = (u8)number(&c, 1)) {
		if (c.op == 0x66)
			c.narrow = true;
		else if (c.op == 0xf2 || c.op == 0xf3)
			c.rep = c.op;
		else
			break;
	}
	if ((c.op & 0xf0) == 0x40) {
		c.rex = c.op;
		c.op = (u8)number(&c, 1);
	}
	bool ok = decode(&c, ret) && !c.bad && c.at == c.n;
	ret->len = i.len;
	return ok;
}
