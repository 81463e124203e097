/*
 * cfi.c - reads call frame information: a CIE says how its FDEs begin, an FDE is a small program
 * that makes the rows of one function.
 */
#include "sym/cfi.h"
#include "arch/arch.h"
#include "base/alloc.h"
#include "types/image.h"
#include <elf.h>

enum {
	MAX_ROWS = 1 << 24,
	MAX_LISTED = 1 << 22,
	MAX_STATES = 16,  /* remembered at once */
	MAX_PADDING = 15, /* bytes between functions that nobody runs */
	CIE_CACHE = 64,
	X86_IP = 16, /* for the PLT, in an expression */
	WORD = 8,
};

/* ---- state of the little machine ---- */

enum how { SAME, LOST, AT_OFFSET, AT_EXPR, IN_REG, OTHER };
struct place {
	enum how how : 8;
	i64 off; /* from the frame's beginning; of IN_REG its number */
	struct bytes expr;
};
struct state {
	bool cfa_expr;
	u64 cfa_reg;
	i64 cfa_off;
	struct bytes expr;
	struct place fp, kept, ra;
};
struct cie {
	size_t at; /* of its length, in the section: who it is */
	u64 code_align, ra_reg;
	i64 data_align;
	u8 enc;
	bool has_aug, signal, good;
	struct state init;
};
struct reader {
	struct cfi *c;
	struct bytes all; /* the section */
	u64 addr;
	bool eh;
	struct cie cache[CIE_CACHE];
	struct state kept[MAX_STATES]; /* remembered by the entry at hand */
};

/* ---- numbers ---- */

static u64 uleb(struct bytes *b)
{
	u64 v = 0;
	for (u32 shift = 0;; shift += 7) {
		u8 x = bytes_u8(b);
		if (shift < 64)
			v |= (u64)(x & 0x7f) << shift;
		if (!(x & 0x80) || b->bad)
			return v;
	}
}

static i64 sleb(struct bytes *b)
{
	u64 v = 0;
	u32 shift = 0;
	u8 x;
	do {
		x = bytes_u8(b);
		if (shift < 64)
			v |= (u64)(x & 0x7f) << shift;
		shift += 7;
	} while (x & 0x80 && !b->bad);
	if (x & 0x40 && shift < 64)
		v |= ~0ull << shift;
	return (i64)v;
}

enum { ENC_ABS = 0x00, ENC_OMIT = 0xff, ENC_INDIRECT = 0x80, ENC_PCREL = 0x10 };

/* A pointer in one of the encodings; b is a part of r->all. False: an encoding that says what only
 * a running process knows. */
static bool pointer(const struct reader *r, struct bytes *b, u8 enc, u64 *ret)
{
	u64 here = r->addr + (u64)(b->p - r->all.p) + b->at, v;
	switch (enc & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c: v = bytes_u64(b); break;
	case 0x01: v = uleb(b); break;
	case 0x02: v = bytes_u16(b); break;
	case 0x03: v = bytes_u32(b); break;
	case 0x09: v = (u64)sleb(b); break;
	case 0x0a: v = (u64)(i64)(i16)bytes_u16(b); break;
	case 0x0b: v = (u64)(i64)(i32)bytes_u32(b); break;
	default: return false;
	}
	u8 how = enc & 0x70;
	if (how != ENC_ABS && how != ENC_PCREL)
		return false;
	*ret = how == ENC_PCREL ? here + v : v;
	return !(enc & ENC_INDIRECT) && !b->bad;
}

static struct bytes block(struct bytes *b)
{
	u64 n = uleb(b);
	const u8 *p = bytes_take(b, n);
	return bytes_of(p ? p : b->p, p ? n : 0);
}

/* ---- expressions ---- */

enum {
	OP_DEREF = 0x06,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
};

/* Register plus a number; the rest of the expression stays in b. */
static bool breg(struct bytes *b, u32 reg, i64 *off)
{
	if (bytes_u8(b) != OP_BREG0 + reg)
		return false;
	*off = sleb(b);
	return !b->bad;
}

static bool fits(i64 off)
{
	i64 limit = (i64)WORD << (UNWIND_OFF_BITS - 1);
	return off % WORD == 0 && off >= -limit && off < limit;
}

/* "the word at reg + off", and what is added to it */
static bool word_at(struct bytes b, u32 reg, i64 *off, u64 *plus)
{
	*plus = 0;
	if (!breg(&b, reg, off) || bytes_u8(&b) != OP_DEREF)
		return false;
	if (b.at < b.n) {
		if (bytes_u8(&b) != OP_PLUS_UCONST)
			return false;
		*plus = uleb(&b);
	}
	return !b.bad && b.at == b.n && fits(*off);
}

/* sp + 8 + (((ip & 15) >= n) << 3), with which linkers describe a whole .plt. */
static bool plt_expr(const struct arch_unwind *u, struct bytes b, u32 *ret)
{
	i64 sp, ip;
	if (!breg(&b, u->sp, &sp) || sp != WORD || !breg(&b, X86_IP, &ip) || ip)
		return false;
	if (bytes_u8(&b) != OP_LIT0 + 15 || bytes_u8(&b) != OP_AND)
		return false;
	u32 n = bytes_u8(&b) - (u32)OP_LIT0;
	static const u8 rest[] = {OP_GE, OP_LIT0 + 3, OP_SHL, OP_PLUS};
	const u8 *p = bytes_take(&b, sizeof(rest));
	*ret = n;
	return p && n < 16 && b.at == b.n && !memcmp(p, rest, sizeof(rest));
}

/* ---- rules ---- */

static u32 fp_rule(const struct arch_unwind *u, const struct place *p)
{
	struct bytes b = p->expr;
	i64 off;
	switch (p->how) {
	case SAME: return UNWIND_FP_SAME;
	case AT_OFFSET:
		if (p->off < 0 && p->off % WORD == 0 && p->off >= -UNWIND_FP_MAX * WORD)
			return (u32)(-p->off / WORD);
		return UNWIND_FP_LOST;
	case AT_EXPR:
		return breg(&b, u->fp, &off) && !off && b.at == b.n ? UNWIND_FP_HERE
								    : UNWIND_FP_LOST;
	case LOST:
	case IN_REG:
	case OTHER: break;
	}
	return UNWIND_FP_LOST;
}

static u32 kept_rule(const struct place *p)
{
	bool near = p->off < 0 && p->off % WORD == 0 && p->off >= -UNWIND_KEPT_MAX * WORD;
	if (p->how == SAME)
		return UNWIND_KEPT_SAME;
	return p->how == AT_OFFSET && near ? (u32)(-p->off / WORD) : UNWIND_KEPT_LOST;
}

static bool at_expr(const struct arch_unwind *u, const struct place *p, i64 want)
{
	struct bytes b = p->expr;
	i64 off;
	return p->how == AT_EXPR && breg(&b, u->sp, &off) && off == want && b.at == b.n;
}

static u32 expr_rule(const struct arch_unwind *u, const struct state *s, u32 where)
{
	i64 off;
	u64 plus;
	u32 n;
	if (plt_expr(u, s->expr, &n))
		return unwind_rule(UNWIND_PLT, (i32)n, where);
	if (word_at(s->expr, u->fp, &off, &plus) && !plus)
		return unwind_rule(UNWIND_FP_AT, (i32)(off / WORD), where);
	if (word_at(s->expr, u->sp, &off, &plus) && (!plus || plus == WORD))
		return unwind_rule(plus ? UNWIND_SP_AT_8 : UNWIND_SP_AT, (i32)(off / WORD), where);
	return UNWIND_UNKNOWN;
}

/* At another register: the one that is followed, or of which the first frame's is known. */
static u32 reg_rule(const struct state *s, u32 where)
{
	i64 limit = (i64)WORD << (UNWIND_REG_OFF_BITS - 1);
	if (s->cfa_reg >= UNWIND_REGS || s->cfa_off < -limit || s->cfa_off >= limit)
		return UNWIND_UNKNOWN;
	return unwind_reg_rule(UNWIND_REG, (u32)s->cfa_reg, (i32)(s->cfa_off / WORD), where);
}

/* The return address in a register: see UNWIND_RA_REG. */
static u32 ra_reg_rule(const struct arch_unwind *u, const struct state *s)
{
	i64 limit = (i64)WORD << (UNWIND_REG_OFF_BITS - 1);
	if (s->cfa_expr || s->cfa_reg != u->sp || s->cfa_off % WORD || s->cfa_off < 0 ||
	    s->cfa_off >= limit || (u64)s->ra.off >= UNWIND_REGS || s->fp.how != SAME ||
	    s->kept.how != SAME)
		return UNWIND_UNKNOWN;
	return unwind_reg_rule(UNWIND_RA_REG, (u32)s->ra.off, (i32)(s->cfa_off / WORD), 0);
}

/* A frame that begins at a register and a number. */
static u32 plain_rule(const struct arch_unwind *u, const struct state *s, u32 where)
{
	if (s->cfa_expr || (s->cfa_reg != u->sp && s->cfa_reg != u->fp) || !fits(s->cfa_off))
		return UNWIND_UNKNOWN;
	return unwind_rule(s->cfa_reg == u->sp ? UNWIND_SP : UNWIND_FP, (i32)(s->cfa_off / WORD),
			   where);
}

/* Where the return address is in a register at first: see UNWIND_LINK_LIVE. */
static u32 link_rule(const struct arch_unwind *u, const struct state *s)
{
	bool pair = s->fp.how == AT_OFFSET;
	i64 below = -(pair ? s->fp.off : s->ra.off) / WORD, up = s->cfa_off / WORD - below;
	if (s->ra.how == SAME && s->fp.how == SAME)
		return plain_rule(u, s, UNWIND_LINK_LIVE);
	if (s->ra.how != AT_OFFSET || s->ra.off % WORD || s->cfa_expr || below <= 0)
		return UNWIND_UNKNOWN;
	if (pair ? s->fp.off != s->ra.off - WORD || below % 2 || up % 2 : s->fp.how != SAME)
		return UNWIND_UNKNOWN;
	i64 where = pair ? below : 2 * below - 1, far = pair ? up + 2 : 2 * up + 1;
	if (where <= UNWIND_LINK_MAX)
		return plain_rule(u, s, (u32)where);
	u32 rule = plain_rule(u, s, (u32)far);
	if (up < 0 || far > UNWIND_LINK_MAX || rule == UNWIND_UNKNOWN)
		return UNWIND_UNKNOWN;
	return unwind_rule(unwind_kind(rule) == UNWIND_SP ? UNWIND_SP_AT : UNWIND_FP_AT,
			   unwind_words(rule), (u32)far);
}

static u32 rule_of(const struct arch_unwind *u, const struct cie *cie, const struct state *s)
{
	i64 off;
	u64 plus;
	if (s->ra.how == LOST)
		return UNWIND_END;
	if (cie->signal && u->link) /* what it says leads to the caller of what was interrupted */
		return UNWIND_SIGNAL;
	if (u->link)
		return link_rule(u, s);
	if (cie->signal) {
		bool known = s->cfa_expr && word_at(s->expr, u->sp, &off, &plus) &&
			     off == u->signal_sp && !plus && at_expr(u, &s->ra, u->signal_ip) &&
			     at_expr(u, &s->fp, u->signal_fp);
		return known ? UNWIND_SIGNAL : UNWIND_UNKNOWN;
	}
	if (s->ra.how == IN_REG)
		return ra_reg_rule(u, s);
	if (s->ra.how != AT_OFFSET || s->ra.off != -WORD)
		return UNWIND_UNKNOWN;
	u32 where = unwind_regs(fp_rule(u, &s->fp), kept_rule(&s->kept));
	if (s->cfa_expr)
		return expr_rule(u, s, where);
	if (s->cfa_reg != u->sp && s->cfa_reg != u->fp && fits(s->cfa_off))
		return reg_rule(s, where);
	return plain_rule(u, s, where);
}

/* ---- instructions ---- */

struct run {
	struct reader *r;
	const struct cie *cie;
	struct bytes b;
	struct state now;
	u32 nkept; /* of r->kept */
	u64 loc, end;
	struct cfi_fde *fde; /* NULL: of a CIE */
	bool good;
};

/* What holds from here on; the last word on an address counts. */
static void put_row(struct run *x, u32 rule)
{
	struct cfi *c = x->r->c;
	if (!x->fde || x->loc >= x->end || x->loc - c->base > UINT32_MAX || x->loc < c->base)
		return;
	u32 pc = (u32)(x->loc - c->base);
	struct cfi_row *last = x->fde->n ? &c->row.v[c->row.n - 1] : NULL;
	if (last && last->pc == pc) {
		last->rule = rule;
	} else if (!last || last->rule != rule) {
		c->full |= c->row.n >= MAX_ROWS;
		if (c->full)
			return;
		vec_add(&c->row, (struct cfi_row){pc, rule});
		x->fde->n++;
	}
}

static void advance(struct run *x, u64 delta)
{
	u64 to = x->loc + delta * x->cie->code_align;
	put_row(x, rule_of(&x->r->c->arch->unwind, x->cie, &x->now));
	x->good &= to >= x->loc;
	x->loc = MAX(x->loc, to);
}

static struct place *place_of(const struct run *x, struct state *s, u64 reg)
{
	const struct arch_unwind *u = &x->r->c->arch->unwind;
	if (reg == u->fp)
		return &s->fp;
	if (reg == x->cie->ra_reg)
		return &s->ra;
	return reg == u->kept ? &s->kept : NULL;
}

static void set_place(struct run *x, u64 reg, enum how how, i64 off, struct bytes expr)
{
	struct place *p = place_of(x, &x->now, reg);
	if (p)
		*p = (struct place){how, off, expr};
}

static void set_how(struct run *x, u64 reg, enum how how)
{
	set_place(x, reg, how, 0, bytes_of(x->b.p, 0));
}

static void set_offset(struct run *x, u64 reg, i64 factor)
{
	set_place(x, reg, AT_OFFSET, (i64)((u64)factor * (u64)x->cie->data_align),
		  bytes_of(x->b.p, 0));
}

static void restore(struct run *x, u64 reg)
{
	struct state init = x->cie->init;
	struct place *p = place_of(x, &x->now, reg);
	if (p)
		*p = *place_of(x, &init, reg);
}

static void set_cfa(struct run *x, u64 reg, i64 off)
{
	x->now.cfa_expr = false;
	x->now.cfa_reg = reg;
	x->now.cfa_off = off;
}

static i64 factored(const struct run *x, i64 v)
{
	return (i64)((u64)v * (u64)x->cie->data_align);
}

static void keep_state(struct run *x)
{
	if (x->nkept == MAX_STATES)
		x->good = false;
	else
		x->r->kept[x->nkept++] = x->now;
}

/* GNU as relies on the rule of the frame being restored, too. */
static void take_state(struct run *x)
{
	if (!x->nkept)
		x->good = false;
	else
		x->now = x->r->kept[--x->nkept];
}

/* Those of the frame's beginning. False: not one of them. */
static bool step_cfa(struct run *x, u8 op)
{
	struct bytes *b = &x->b;
	u64 reg;
	switch (op) {
	case 0x0c: /* def_cfa */
		reg = uleb(b);
		set_cfa(x, reg, (i64)uleb(b));
		break;
	case 0x12: /* def_cfa_sf */
		reg = uleb(b);
		set_cfa(x, reg, factored(x, sleb(b)));
		break;
	case 0x0d: set_cfa(x, uleb(b), x->now.cfa_off); break;
	case 0x0e: set_cfa(x, x->now.cfa_reg, (i64)uleb(b)); break;
	case 0x13: set_cfa(x, x->now.cfa_reg, factored(x, sleb(b))); break;
	case 0x0f:
		x->now.cfa_expr = true;
		x->now.expr = block(b);
		break;
	default: return false;
	}
	return true;
}

/* Those that change where a register is. */
static bool step_register(struct run *x, u8 op)
{
	struct bytes *b = &x->b;
	u64 reg;
	switch (op) {
	case 0x05: /* offset_extended */
		reg = uleb(b);
		set_offset(x, reg, (i64)uleb(b));
		break;
	case 0x11: /* offset_extended_sf */
		reg = uleb(b);
		set_offset(x, reg, sleb(b));
		break;
	case 0x2f: /* GNU_negative_offset_extended */
		reg = uleb(b);
		set_offset(x, reg, (i64)(0 - uleb(b)));
		break;
	case 0x06: restore(x, uleb(b)); break;
	case 0x07: set_how(x, uleb(b), LOST); break;
	case 0x08: set_how(x, uleb(b), SAME); break;
	case 0x09: /* register */
		reg = uleb(b);
		set_place(x, reg, IN_REG, (i64)uleb(b), bytes_of(b->p, 0));
		break;
	case 0x14: /* val_offset */
		set_how(x, uleb(b), OTHER);
		uleb(b);
		break;
	case 0x15: /* val_offset_sf */
		set_how(x, uleb(b), OTHER);
		sleb(b);
		break;
	case 0x10: /* expression */
		reg = uleb(b);
		set_place(x, reg, AT_EXPR, 0, block(b));
		break;
	case 0x16: /* val_expression */
		set_how(x, uleb(b), OTHER);
		block(b);
		break;
	default: return false;
	}
	return true;
}

/* Those that say how a return address is signed: who reads one takes the signature off. */
static bool step_signed(struct run *x, u8 op)
{
	struct bytes *b = &x->b;
	if (!x->r->c->arch->unwind.link)
		return false;
	switch (op) {
	case 0x2b: /* set_ra_state */
		uleb(b);
		sleb(b);
		return true;
	case 0x2c:              /* negate_ra_state_with_pc */
	case 0x2d: return true; /* negate_ra_state */
	default: return false;
	}
}

static void step(struct run *x)
{
	struct bytes *b = &x->b;
	u8 op = bytes_u8(b), low = op & 0x3f;
	switch (op >> 6) {
	case 1: advance(x, low); return;
	case 2: set_offset(x, low, (i64)uleb(b)); return;
	case 3: restore(x, low); return;
	default: break;
	}
	u64 to;
	switch (op) {
	case 0x00: break;
	case 0x01: /* set_loc */
		put_row(x, rule_of(&x->r->c->arch->unwind, x->cie, &x->now));
		x->good &= pointer(x->r, b, x->cie->enc, &to);
		if (x->good && to >= x->loc)
			x->loc = to;
		break;
	case 0x02: advance(x, bytes_u8(b)); break;
	case 0x03: advance(x, bytes_u16(b)); break;
	case 0x04: advance(x, bytes_u32(b)); break;
	case 0x0a: keep_state(x); break;
	case 0x0b: take_state(x); break;
	case 0x2e: uleb(b); break; /* GNU_args_size */
	default: x->good &= step_cfa(x, op) || step_register(x, op) || step_signed(x, op); break;
	}
}

/* The rest of an entry that is not understood has no rule. */
static bool execute(struct run *x)
{
	while (x->good && !x->b.bad && x->b.at < x->b.n && x->loc <= x->end)
		step(x);
	x->good &= !x->b.bad;
	put_row(x, x->good ? rule_of(&x->r->c->arch->unwind, x->cie, &x->now) : UNWIND_UNKNOWN);
	return x->good;
}

/* ---- entries ---- */

/* Data that the letters of the augmentation stand for. */
static bool read_letters(struct reader *r, struct bytes *b, const char *letters, struct cie *cie)
{
	u64 skip;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R': cie->enc = bytes_u8(b); break;
		case 'L': bytes_u8(b); break;
		case 'P': {
			u8 enc = bytes_u8(b);
			if (enc != ENC_OMIT && !pointer(r, b, enc & 0x0f, &skip))
				return false;
			break;
		}
		case 'S': cie->signal = true; break;
		case 'B': /* of signed or tagged frames */
		case 'G': break;
		default: return true; /* what follows has a length, and is skipped */
		}
	}
	return !b->bad;
}

static void read_cie(struct reader *r, struct bytes b, struct cie *cie)
{
	u8 version = bytes_u8(&b);
	const char *aug = bytes_z(&b);
	if (!aug || (version != 1 && version != 3 && version != 4))
		return;
	if (version == 4 && (bytes_u8(&b) != WORD || bytes_u8(&b) != 0))
		return;
	cie->code_align = uleb(&b);
	cie->data_align = sleb(&b);
	cie->ra_reg = version == 1 ? bytes_u8(&b) : uleb(&b);
	if (*aug && *aug != 'z')
		return;
	if (*aug) {
		cie->has_aug = true;
		struct bytes data = block(&b);
		if (!read_letters(r, &data, aug + 1, cie))
			return;
	}
	struct run x = {.r = r, .cie = cie, .b = bytes_of(b.p + b.at, b.n - b.at), .good = !b.bad};
	cie->good = execute(&x);
	cie->init = x.now;
}

/* Length and contents of the entry at r->all.at, which moves on. False: no more. */
static bool entry(struct bytes *all, struct bytes *ret, bool *is64)
{
	u64 n = bytes_u32(all);
	*is64 = n == UINT32_MAX;
	if (*is64)
		n = bytes_u64(all);
	const u8 *p = bytes_take(all, n);
	*ret = bytes_of(p ? p : all->p, p ? n : 0);
	return p != NULL;
}

static const struct cie *cie_at(struct reader *r, u64 at)
{
	struct cie *cie = &r->cache[at / 8 % CIE_CACHE];
	if (cie->at == at + 1)
		return cie;
	struct bytes all = r->all, b;
	bool is64;
	*cie = (struct cie){.at = at + 1};
	bytes_seek(&all, at);
	if (!entry(&all, &b, &is64))
		return cie;
	u64 id = is64 && !r->eh ? bytes_u64(&b) : bytes_u32(&b);
	u64 want = r->eh ? 0 : is64 ? UINT64_MAX : UINT32_MAX;
	if (!b.bad && id == want) {
		struct bytes rest = bytes_of(b.p + b.at, b.n - b.at);
		read_cie(r, rest, cie);
	}
	return cie;
}

static bool read_fde(struct reader *r, const struct cie *cie, struct bytes b)
{
	struct cfi *c = r->c;
	u64 pc, size;
	if (!cie->good || !pointer(r, &b, cie->enc, &pc) || !pointer(r, &b, cie->enc & 0x0f, &size))
		return false;
	if (cie->has_aug)
		block(&b);
	if (!size || !pc) /* of a function that the linker dropped */
		return !b.bad;
	if (b.bad || pc < c->base || pc + size < pc || pc + size - c->base > UINT32_MAX)
		return false;
	struct cfi_fde fde = {.pc = pc, .end = pc + size, .first = c->row.n};
	struct run x = {
		.r = r,
		.cie = cie,
		.b = bytes_of(b.p + b.at, b.n - b.at),
		.now = cie->init,
		.loc = pc,
		.end = pc + size,
		.fde = &fde,
		.good = true,
	};
	bool good = execute(&x);
	if (fde.n)
		vec_add(&c->fde, fde);
	return good;
}

/* The entry at all->at, which moves on; read unless it describes nothing. False: no more. */
static bool read_entry(struct reader *r, struct bytes *all)
{
	struct bytes b;
	bool is64;
	if (all->at >= all->n || r->c->full || !entry(all, &b, &is64))
		return false;
	size_t id_at = (size_t)(b.p - r->all.p);
	if (!b.n) /* the end mark, or one of several */
		return true;
	u64 id = is64 && !r->eh ? bytes_u64(&b) : bytes_u32(&b);
	if (r->eh ? !id : id == (is64 ? UINT64_MAX : UINT32_MAX))
		return true; /* a CIE */
	u64 cie = r->eh ? id_at - id : id;
	struct bytes rest = bytes_of(b.p + b.at, b.n - b.at);
	if (b.bad || (r->eh && id > id_at) || !read_fde(r, cie_at(r, cie), rest))
		r->c->bad++;
	return true;
}

static struct reader *reader_new(struct cfi *c, struct bytes section, u64 addr, bool eh)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	*r = (struct reader){.c = c, .all = section, .addr = addr, .eh = eh};
	return r;
}

void cfi_add(struct cfi *c, struct bytes section, u64 addr, bool eh)
{
	struct reader *r = reader_new(c, section, addr, eh);
	struct bytes all = section;
	while (read_entry(r, &all))
		;
	c->bad += all.at < all.n;
	free(r);
}

/* ---- the table ---- */

static void add_row(struct cfi_rows *r, u32 pc, u32 rule)
{
	if (!r->n || r->v[r->n - 1].rule != rule)
		r->v[r->n++] = (struct cfi_row){pc, rule};
}

/* Nobody called what the program begins with, though that is often not described. */
static void add_gap(const struct cfi *c, struct cfi_rows *r, u64 from, u64 to)
{
	if (c->entry >= from && c->entry < to && c->entry) {
		if (c->entry > from)
			add_row(r, (u32)(from - c->base), UNWIND_NONE);
		add_row(r, (u32)(c->entry - c->base), UNWIND_END);
		from = MIN(to, c->entry + CFI_ENTRY_BYTES);
	}
	if (to - from > MAX_PADDING)
		add_row(r, (u32)(from - c->base), UNWIND_NONE);
}

void cfi_finish(struct cfi *c, struct cfi_rows *ret)
{
	struct cfi_rows r = {0};
	u64 end = c->base;
	r.v = xcalloc((size_t)c->row.n + c->fde.n + 4, sizeof(*r.v));
	cfi_sort(c);
	for (u32 i = 0; i < c->fde.n; i++) {
		const struct cfi_fde *f = &c->fde.v[i];
		if (f->pc < end) /* the same function in another section, or nonsense */
			continue;
		add_gap(c, &r, end, f->pc);
		for (u32 k = 0; k < f->n; k++)
			add_row(&r, c->row.v[f->first + k].pc, c->row.v[f->first + k].rule);
		end = f->end;
	}
	if (r.n && c->entry >= end && c->entry - c->base < UINT32_MAX - CFI_ENTRY_BYTES) {
		add_gap(c, &r, end, c->entry + CFI_ENTRY_BYTES);
		end = c->entry + CFI_ENTRY_BYTES;
	}
	if (r.n)
		add_row(&r, (u32)(end - c->base), UNWIND_NONE);
	vec_free(&c->fde);
	vec_free(&c->row);
	*ret = r;
}

u32 cfi_at(const struct cfi_rows *r, u64 pc)
{
	u32 lo = 0, hi = r->n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (r->v[mid].pc <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? r->v[lo - 1].rule : UNWIND_NONE;
}

u64 cfi_base(const struct image *im)
{
	struct segment s;
	u64 base = UINT64_MAX;
	for (u32 i = 0; image_segment(im, i, &s); i++)
		if (s.type == PT_LOAD)
			base = MIN(base, s.addr);
	return base == UINT64_MAX ? 0 : base;
}

/* ---- the sections of a file ---- */

struct sections {
	struct bytes eh, debug;
	u64 eh_addr, debug_addr;
	/* .eh_frame_hdr: pairs of a function's address and its entry's, from hdr on */
	struct bytes table;
	u64 hdr;
};
enum { TABLE_ENC = 0x3b, PAIR = 8 }; /* the only form that linkers write: 4 bytes, from hdr on */

static struct bytes rest_of_segment(const struct image *im, u64 addr)
{
	struct segment g;
	for (u32 i = 0; image_segment(im, i, &g); i++) {
		if (g.type != PT_LOAD || addr < g.addr || addr - g.addr >= g.filesz)
			continue;
		u64 off = addr - g.addr + g.off, n = g.filesz - (addr - g.addr);
		if (off <= im->n)
			return bytes_of(im->p + off, MIN(n, im->n - off));
	}
	return bytes_of(im->p, 0);
}

/* Found by the program header, because section headers may have been stripped. */
static void find_header(const struct image *im, struct sections *s)
{
	struct segment g;
	for (u32 i = 0; image_segment(im, i, &g); i++) {
		if (g.type != PT_GNU_EH_FRAME)
			continue;
		struct bytes b = rest_of_segment(im, g.addr);
		b.n = MIN(b.n, g.filesz);
		struct reader r = {.all = b, .addr = g.addr, .eh = true};
		u64 eh, n;
		u8 version = bytes_u8(&b), eh_enc = bytes_u8(&b), n_enc = bytes_u8(&b),
		   enc = bytes_u8(&b);
		if (version != 1 || eh_enc == ENC_OMIT || !pointer(&r, &b, eh_enc, &eh))
			return;
		if (!s->eh.n) {
			s->eh = rest_of_segment(im, eh);
			s->eh_addr = eh;
		}
		if (eh != s->eh_addr || enc != TABLE_ENC || !pointer(&r, &b, n_enc, &n))
			return;
		s->hdr = g.addr;
		s->table = bytes_of(b.p + b.at, MIN(n, (b.n - b.at) / PAIR) * PAIR);
		return;
	}
}

static void find_sections(const struct image *im, struct sections *ret)
{
	struct section s;
	*ret = (struct sections){.eh = bytes_of(im->p, 0), .debug = bytes_of(im->p, 0)};
	if (!im->is64 || !arch_of(im->machine))
		return;
	if (image_section_named(im, ".eh_frame", &s)) {
		ret->eh = image_bytes(im, &s);
		ret->eh_addr = s.addr;
	}
	if (image_section_named(im, ".debug_frame", &s) && !(s.flags & SHF_COMPRESSED)) {
		ret->debug = image_bytes(im, &s);
		ret->debug_addr = s.addr;
	}
	find_header(im, ret);
}

void cfi_image(const struct image *im, u64 base, struct cfi_rows *ret)
{
	struct cfi c = {.arch = arch_of(im->machine), .base = base};
	struct sections s;
	find_sections(im, &s);
	cfi_go(&c, im, 0, UINT64_MAX);
	cfi_add(&c, s.eh, s.eh_addr, true);
	cfi_add(&c, s.debug, s.debug_addr, false);
	cfi_bare(&c, im, s.eh.n || s.debug.n);
	cfi_code(&c, im, 0, UINT64_MAX);
	c.entry = image_entry(im);
	cfi_finish(&c, ret);
}

/* ---- part by part ---- */

static int by_listed_pc(const void *pa, const void *pb)
{
	const struct cfi_listed *a = pa, *b = pb;
	if (a->pc != b->pc)
		return a->pc < b->pc ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at); /* .eh_frame first */
}

static bool fde_pc(struct reader *r, size_t at, u64 *pc)
{
	struct bytes all = r->all, b;
	bool is64;
	bytes_seek(&all, at);
	if (!entry(&all, &b, &is64) || !b.n)
		return false;
	size_t id_at = (size_t)(b.p - r->all.p);
	u64 id = is64 && !r->eh ? bytes_u64(&b) : bytes_u32(&b);
	if (b.bad || (r->eh ? !id || id > id_at : id == (is64 ? UINT64_MAX : UINT32_MAX)))
		return false;
	const struct cie *cie = cie_at(r, r->eh ? id_at - id : id);
	struct bytes rest = bytes_of(b.p + b.at, b.n - b.at);
	return cie->good && pointer(r, &rest, cie->enc, pc) && *pc;
}

typedef VEC(struct cfi_listed) listed;
static void list_section(const struct arch *a, struct bytes section, u64 addr, bool eh, u64 base,
			 listed *out)
{
	struct cfi c = {.arch = a, .base = base};
	struct reader *r = reader_new(&c, section, addr, eh);
	struct bytes all = section, b;
	bool is64;
	u64 pc;
	while (all.at < MIN(all.n, (size_t)CFI_DEBUG) && out->n < MAX_LISTED) {
		u32 at = (u32)all.at;
		if (!entry(&all, &b, &is64))
			break;
		if (fde_pc(r, at, &pc) && pc >= base && pc - base <= UINT32_MAX)
			vec_add(out,
				(struct cfi_listed){(u32)(pc - base), eh ? at : at | CFI_DEBUG});
	}
	vec_free(&c.row);
	vec_free(&c.fde);
	free(r);
}

bool cfi_list(const struct image *im, u64 base, struct cfi_list *ret)
{
	struct sections s;
	listed out = {0};
	find_sections(im, &s);
	*ret = (struct cfi_list){0};
	if (s.table.n && !s.debug.n)
		return true;
	list_section(arch_of(im->machine), s.eh, s.eh_addr, true, base, &out);
	list_section(arch_of(im->machine), s.debug, s.debug_addr, false, base, &out);
	if (out.n)
		qsort(out.v, out.n, sizeof(*out.v), by_listed_pc);
	*ret = (struct cfi_list){out.v, out.n};
	return out.n || cfi_go_has(im) || cfi_code_can(im);
}

void cfi_list_free(struct cfi_list *l)
{
	free(l->v);
	*l = (struct cfi_list){0};
}

/* Both kinds of list, seen alike. */
struct index {
	const struct cfi_list *list;
	const struct sections *s;
	u64 base;
	u32 n;
};

static bool index_at(const struct index *x, u32 i, struct cfi_listed *ret)
{
	struct bytes b = x->s->table;
	if (x->list->n) {
		*ret = x->list->v[i];
		return true;
	}
	bytes_seek(&b, (size_t)i * PAIR);
	u64 pc = x->s->hdr + (u64)(i64)(i32)bytes_u32(&b);
	u64 at = x->s->hdr + (u64)(i64)(i32)bytes_u32(&b) - x->s->eh_addr;
	*ret = (struct cfi_listed){(u32)(pc - x->base), (u32)at};
	return pc >= x->base && pc - x->base <= UINT32_MAX && at < x->s->eh.n && at < CFI_DEBUG;
}

/* The last that begins at or before pc, or the first. */
static u32 index_search(const struct index *x, u32 pc)
{
	u32 lo = 0, hi = x->n;
	struct cfi_listed l;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (index_at(x, mid, &l) && l.pc <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : 0;
}

/* Of all rows those of [from, to). */
static void clip(struct cfi_rows *r, u32 from, u32 to)
{
	u32 n = 0;
	struct cfi_row first = {from, cfi_at(r, from)};
	for (u32 i = 0; i < r->n; i++)
		if (r->v[i].pc > from && r->v[i].pc < to)
			r->v[n++] = r->v[i];
	memmove(&r->v[1], &r->v[0], n * sizeof(*r->v));
	r->v[0] = first;
	r->n = n + 1;
}

/* Functions that begin before from may reach into it from further back only where they are nested
 * in others, which compilers do not make. */
void cfi_part(const struct image *im, u64 base, const struct cfi_list *l, u32 from, u32 to,
	      struct cfi_rows *ret)
{
	struct cfi c = {.arch = arch_of(im->machine), .base = base};
	struct sections s;
	struct cfi_listed e;
	find_sections(im, &s);
	struct index x = {l, &s, base, l->n ? l->n : (u32)MIN(s.table.n / PAIR, UINT32_MAX)};
	struct reader *eh = reader_new(&c, s.eh, s.eh_addr, true),
		      *debug = reader_new(&c, s.debug, s.debug_addr, false);
	u32 i = x.n ? index_search(&x, from) : 0;
	cfi_go(&c, im, base + from, base + to);
	while (i && index_at(&x, i - 1, &e) && e.pc == from) /* the first of several */
		i--;
	for (; i < x.n; i++) {
		bool good = index_at(&x, i, &e), past = good && e.pc >= to;
		struct reader *r = e.at & CFI_DEBUG ? debug : eh;
		struct bytes all = r->all;
		bytes_seek(&all, e.at & ~(u32)CFI_DEBUG);
		if (good && !all.bad)
			read_entry(r, &all);
		if (past)
			break;
	}
	free(eh);
	free(debug);
	cfi_bare(&c, im, s.eh.n || s.debug.n);
	cfi_code(&c, im, base + from, base + to);
	c.entry = image_entry(im);
	cfi_finish(&c, ret);
	clip(ret, from, to);
}
