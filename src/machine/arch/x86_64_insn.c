/* x86_64_insn.c - lengths of x86-64 instructions. */
#include "arch/decode.h"

enum { MAX_INSN = 15 };

/* What follows an opcode, besides prefixes. */
enum form {
	NO = 0, /* not an instruction */
	NN = 1, /* nothing */
	M = 2,  /* ModRM and what it asks for */
	B1 = 4, /* a byte */
	B2 = 8, /* two */
	Z = 16, /* four; two with the operand prefix */
	MB = M | B1,
	MZ = M | Z,
};

/* One byte opcodes without prefixes; those that are special stand in decode_one(). */
static const u8 one_byte[256] = {
	M,  M,  M,  M,  B1, Z,  NO, NO, M,  M,  M,  M,  B1, Z,  NO, NO, /* 00 */
	M,  M,  M,  M,  B1, Z,  NO, NO, M,  M,  M,  M,  B1, Z,  NO, NO, /* 10 */
	M,  M,  M,  M,  B1, Z,  NO, NO, M,  M,  M,  M,  B1, Z,  NO, NO, /* 20 */
	M,  M,  M,  M,  B1, Z,  NO, NO, M,  M,  M,  M,  B1, Z,  NO, NO, /* 30 */
	NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* 40: REX */
	NN, NN, NN, NN, NN, NN, NN, NN, NN, NN, NN, NN, NN, NN, NN, NN, /* 50 */
	NO, NO, NO, M,  NO, NO, NO, NO, Z,  MZ, B1, MB, NN, NN, NN, NN, /* 60 */
	B1, B1, B1, B1, B1, B1, B1, B1, B1, B1, B1, B1, B1, B1, B1, B1, /* 70 */
	MB, MZ, NO, MB, M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  /* 80 */
	NN, NN, NN, NN, NN, NN, NN, NN, NN, NN, NO, NN, NN, NN, NN, NN, /* 90 */
	NO, NO, NO, NO, NN, NN, NN, NN, B1, Z,  NN, NN, NN, NN, NN, NN, /* a0 */
	B1, B1, B1, B1, B1, B1, B1, B1, NO, NO, NO, NO, NO, NO, NO, NO, /* b0 */
	MB, MB, B2, NN, NO, NO, MB, MZ, NO, NN, B2, NN, NN, B1, NO, NN, /* c0 */
	M,  M,  M,  M,  NO, NO, NO, NN, M,  M,  M,  M,  M,  M,  M,  M,  /* d0 */
	B1, B1, B1, B1, B1, B1, B1, B1, NO, NO, NO, B1, NN, NN, NN, NN, /* e0 */
	NO, NN, NO, NO, NN, NN, NO, NO, NN, NN, NN, NN, NN, NN, M,  M,  /* f0 */
};

/* Opcodes behind 0f. 38 and 3a lead to tables in which all are M and MB. */
static const u8 two_bytes[256] = {
	M,  M,  M,  M,  NO, NN, NN, NN, NN, NN, NO, NN, NO, M,  NN, MB, /* 00 */
	M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  /* 10 */
	M,  M,  M,  M,  NO, NO, NO, NO, M,  M,  M,  M,  M,  M,  M,  M,  /* 20 */
	NN, NN, NN, NN, NN, NN, NO, NN, NO, NO, NO, NO, NO, NO, NO, NO, /* 30 */
	M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  /* 40 */
	M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  /* 50 */
	M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  /* 60 */
	MB, MB, MB, MB, M,  M,  M,  NN, NO, M,  NO, NO, M,  M,  M,  M,  /* 70 */
	NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* 80: jumps */
	M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  /* 90 */
	NN, NN, NN, M,  MB, M,  NO, NO, NN, NN, NN, M,  MB, M,  M,  M,  /* a0 */
	M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  MB, M,  M,  M,  M,  M,  /* b0 */
	M,  M,  MB, M,  MB, MB, MB, M,  NN, NN, NN, NN, NN, NN, NN, NN, /* c0 */
	M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  /* d0 */
	M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  /* e0 */
	M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  /* f0 */
};

/* An instruction being read. Beyond its end there is only 0, and bad is set. */
struct cursor {
	const u8 *p;
	u32 n, at;
	bool bad;
	bool wide, narrow, short_addr; /* REX.W, 66, 67 */
	bool rep;                      /* f3 */
	bool refused;
	bool jumps; /* by the distance that ends the instruction */
	u8 distance;
	enum code_kind kind;
};

static u8 take(struct cursor *c)
{
	if (c->at >= c->n) {
		c->bad = true;
		return 0;
	}
	return c->p[c->at++];
}

static void skip(struct cursor *c, u32 n)
{
	c->at += n;
	c->bad = c->bad || c->at > c->n;
}

/* The register field, which some opcodes are told apart by. */
static u8 take_modrm(struct cursor *c)
{
	u8 m = take(c), mod = m >> 6, rm = m & 7;
	if (mod == 3)
		return (m >> 3) & 7;
	bool disp32 = mod == 2 || (mod == 0 && rm == 5);
	if (rm == 4) {
		u8 sib = take(c);
		disp32 = disp32 || (mod == 0 && (sib & 7) == 5);
	}
	skip(c, disp32 ? 4 : mod == 1 ? 1 : 0);
	return (m >> 3) & 7;
}

static void take_form(struct cursor *c, u8 form)
{
	if (form == NO)
		c->bad = true;
	if (form & M)
		take_modrm(c);
	if (form & B1)
		skip(c, 1);
	if (form & B2)
		skip(c, 2);
	if (form & Z)
		skip(c, c->narrow && !c->wide ? 2 : 4);
}

static void decode_two(struct cursor *c)
{
	u32 start = c->at;
	u8 op = take(c);
	if (op == 0x38 || op == 0x3a) {
		c->refused = true; /* the kernel knows opcodes of one and two bytes */
		take(c);
		take_form(c, op == 0x38 ? M : MB);
		return;
	}
	if (op >= 0x80 && op <= 0x8f) { /* processors differ in what 66 means here */
		c->bad = c->bad || c->narrow;
		c->jumps = true;
		c->distance = 4;
		skip(c, 4);
		return;
	}
	if (op == 0x1e && c->rep && start + 1 < c->n && (c->p[start + 1] & 0xfe) == 0xfa)
		c->kind = CODE_ENDBR;
	take_form(c, two_bytes[op]);
	if (op == 0x1f && c->at == 5)
		c->kind = CODE_NOP5;
}

/* Input and output, interrupts, halt, and what is no instruction in 64 bits. */
static bool is_refused(u8 op)
{
	switch (op) {
	case 0x06:
	case 0x07:
	case 0x0e:
	case 0x16:
	case 0x17:
	case 0x1e:
	case 0x1f:
	case 0x26:
	case 0x27:
	case 0x2f:
	case 0x37:
	case 0x3f:
	case 0x60 ... 0x62:
	case 0x6c ... 0x6f:
	case 0x82:
	case 0x9a:
	case 0xcc ... 0xcf:
	case 0xd4 ... 0xd6:
	case 0xe4 ... 0xe7:
	case 0xea:
	case 0xec ... 0xf1:
	case 0xf4:
	case 0xfa:
	case 0xfb: return true;
	default: return false;
	}
}

/* How functions of texts begin that look for a byte: vmovd, vpxor, vpbroadcast from a register. */
static bool fills_vector(u8 map, u8 op)
{
	return map == 1   ? op == 0x6e || op == 0xef
	       : map == 2 ? op == 0x7a || op == 0x7b || op == 0x7c
			  : false;
}

/*
 * AVX and its followers: the prefix names the table. The kernel looks at the opcode without it, so
 * it puts no uprobe on vpxor and, worse, takes vpbroadcastb for js and does that instead: the
 * program goes on with wrong data. So they are all refused.
 */
static void decode_vex(struct cursor *c, u8 prefix)
{
	u8 p0 = take(c), map = prefix == 0xc5 ? 1 : p0 & (prefix == 0x62 ? 7 : 0x1f);
	skip(c, prefix == 0xc5 ? 0 : prefix == 0xc4 ? 1 : 2);
	u8 op = take(c);
	c->refused = true;
	u8 form = map == 1 ? two_bytes[op] : map == 3 ? MB : M;
	if (map == 1 && op >= 0x80 && op <= 0x8f)
		form = NO;
	bool known = map >= 1 && (map <= 3 || (prefix == 0x62 && (map == 5 || map == 6)));
	bool of_register = c->at < c->n && c->p[c->at] >= 0xc0; /* no memory */
	c->kind = fills_vector(map, op) && of_register ? CODE_VECTOR : CODE_OTHER;
	take_form(c, known ? form : NO);
}

static enum code_kind kind_of(u8 op)
{
	switch (op) {
	case 0x50 ... 0x57: return CODE_PUSH;
	case 0x90: return CODE_NOP;
	case 0xc2:
	case 0xc3: return CODE_RET;
	case 0xe8: return CODE_CALL;
	case 0xe9:
	case 0xeb: return CODE_JUMP;
	default: return CODE_OTHER;
	}
}

static void decode_one(struct cursor *c, u8 op)
{
	c->kind = kind_of(op);
	c->distance = op == 0xe9                                                 ? 4
		      : op == 0xeb || (op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 ? 1
										 : 0;
	c->jumps = c->distance != 0;
	c->refused = c->refused || (op != 0x62 && is_refused(op));
	switch (op) {
	case 0x0f: decode_two(c); return;
	case 0x62:
	case 0xc4:
	case 0xc5: decode_vex(c, op); return;
	case 0x8f: /* pop; else the start of AMD's XOP */
		if (take_modrm(c) != 0)
			c->bad = true;
		return;
	case 0xa0 ... 0xa3: skip(c, c->short_addr ? 4 : 8); return;
	case 0xb8 ... 0xbf: skip(c, c->wide ? 8 : c->narrow ? 2 : 4); return;
	case 0xc8: skip(c, 3); return;
	case 0xe8:
	case 0xe9: /* as for the jumps behind 0f */
		c->bad = c->bad || (c->narrow && !c->wide);
		skip(c, 4);
		return;
	case 0xf6:
	case 0xf7: {
		bool test = take_modrm(c) < 2;
		if (test)
			take_form(c, op == 0xf6 ? B1 : Z);
		return;
	}
	case 0xff: {
		u8 field = take_modrm(c);
		c->kind = field == 2 || field == 3   ? CODE_CALL
			  : field == 4 || field == 5 ? CODE_JUMP
						     : CODE_OTHER;
		c->bad = c->bad || field == 7;
		return;
	}
	default: take_form(c, one_byte[op]);
	}
}

static bool is_prefix(struct cursor *c, u8 op)
{
	switch (op) {
	case 0x66: c->narrow = true; return true;
	case 0x67: c->short_addr = true; return true;
	case 0xf3: c->rep = true; return true;
	case 0xf0: /* lock; segments that mean nothing any more */
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e: c->refused = true; return true;
	case 0xf2:
	case 0x64:
	case 0x65: return true;
	default: return false;
	}
}

static i64 distance(const struct cursor *c)
{
	u32 v = 0;
	for (u32 i = 0; i < c->distance; i++)
		v |= (u32)c->p[c->at - c->distance + i] << (8 * i);
	return c->distance == 1 ? (i8)v : (i32)v;
}

bool x86_64_decode(const u8 *p, u32 n, struct insn *ret)
{
	struct cursor c = {.p = p, .n = MIN(n, (u32)MAX_INSN)};
	u8 op = take(&c);
	while (!c.bad && is_prefix(&c, op))
		op = take(&c);
	if ((op & 0xf0) == 0x40) { /* REX stands right before the opcode */
		c.wide = op & 8;
		op = take(&c);
		if (is_prefix(&c, op) || (op & 0xf0) == 0x40)
			return false;
	}
	if (!c.bad)
		decode_one(&c, op);
	if (c.bad)
		return false;
	ret->len = c.at;
	ret->kind = c.kind;
	ret->refused = c.refused;
	ret->jumps = c.jumps;
	if (c.jumps)
		ret->to = (i64)ret->at + c.at + distance(&c);
	return true;
}
