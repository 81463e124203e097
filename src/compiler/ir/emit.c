/*
 * emit.c - functions with registers -> eBPF bytecode, relocations, line table.
 *
 * Blocks stand in reverse postorder, unlikely ones at the end. If a jump does
 * not reach in 16 bits all are made long ones (Linux 6.6).
 */
#include "ir/pass.h"

enum { FRAME_ALIGN = 32 }; /* the verifier rounds every frame of a chain of calls up to this */

struct fixup {
	u32 insn;
	const struct blk *to; /* a jump; else a reference to a function */
	const struct fn *fn;
};

struct emit {
	struct fn *f;
	const struct blk *b;
	VEC(struct bpf_insn) insn;
	VEC(struct reloc) reloc;
	VEC(struct code_line) line;
	VEC(struct fixup) fix;
	struct moves moves;
	struct loc loc; /* of the last entry in line */
	bool first, far;
	/* By block id of the current function: where it begins; where a jump to it really goes, past
	 * blocks without code. */
	u32 *at;
	const struct blk **real;
};

static void put(struct emit *e, u32 code, i32 dst, i32 src, i32 off, i64 imm)
{
	assert(dst >= 0 && dst <= 10);
	assert(src >= 0 && src <= 10);
	assert(off == (i16)off);
	struct bpf_insn i = {.code = (u8)code, .off = (i16)off, .imm = (i32)imm};
	i.dst_reg = dst & 0xfu;
	i.src_reg = src & 0xfu;
	vec_add(&e->insn, i);
}

static void put_loc(struct emit *e, struct loc loc)
{
	bool none = !loc.pos && !loc.len && !loc.src;
	bool same = loc.pos == e->loc.pos && loc.len == e->loc.len && loc.src == e->loc.src;
	if (!e->first && (none || same))
		return;
	e->first = false;
	e->loc = loc;
	if (e->line.n && e->line.v[e->line.n - 1].insn == e->insn.n)
		e->line.v[e->line.n - 1].loc = loc; /* the one before came to nothing */
	else
		vec_add(&e->line, (struct code_line){e->insn.n, loc});
}

static i32 reg_of(const struct emit *e, struct ref r)
{
	assert(is_tmp(r));
	assert(e->f->tmp.v[r.id].reg >= 0);
	return e->f->tmp.v[r.id].reg;
}

static void put_imm64(struct emit *e, i32 dst, i32 src, u64 v)
{
	put(e, BPF_LD | BPF_DW | BPF_IMM, dst, src, 0, (i32)(u32)v);
	put(e, 0, 0, 0, 0, (i32)(u32)(v >> 32));
}

static void put_con(struct emit *e, i32 dst, u64 v)
{
	if (fits32(v))
		put(e, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, (i32)v);
	else if (v <= 0xffffffff)
		put(e, BPF_ALU | BPF_MOV | BPF_K, dst, 0, 0, (i32)(u32)v);
	else
		put_imm64(e, dst, 0, v);
}

static void put_mov(struct emit *e, i32 dst, i32 src)
{
	if (dst != src)
		put(e, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void put_map(struct emit *e, i32 dst, u32 map, enum reloc_kind kind, i32 off)
{
	vec_add(&e->reloc, (struct reloc){e->insn.n, kind, map});
	i32 src = kind == RELOC_MAP ? BPF_PSEUDO_MAP_FD : BPF_PSEUDO_MAP_VALUE;
	put_imm64(e, dst, src, (u64)(u32)off << 32);
}

/* An operand that is not a temporary. off: added to a slot's address. */
static void put_ref(struct emit *e, i32 dst, struct ref r, i32 off)
{
	switch ((enum ref_kind)r.kind) {
	case R_CON: put_con(e, dst, e->f->con.v[r.id]); return;
	case R_SLOT:
		put_mov(e, dst, 10);
		put(e, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, e->f->slot.v[r.id].off + off);
		return;
	case R_MAP: put_map(e, dst, r.id, RELOC_MAP, 0); return;
	case R_FN:
		vec_add(&e->fix, (struct fixup){e->insn.n, NULL, e->f->fns.v[r.id]});
		put_imm64(e, dst, BPF_PSEUDO_FUNC, 0);
		return;
	case R_NONE: put_con(e, dst, 0); return;
	case R_TMP: put_mov(e, dst, reg_of(e, r)); return;
	}
}

static void put_step(struct emit *e, struct move m)
{
	u32 st = BPF_MEM | BPF_DW;
	if (m.to.kind == AT_STACK && m.from.kind == AT_REG)
		put(e, BPF_STX | st, 10, m.from.n, m.to.n, 0);
	else if (m.to.kind == AT_STACK)
		put(e, BPF_ST | st, 10, 0, m.to.n, (i64)e->f->con.v[m.from.ref.id]);
	else if (m.from.kind == AT_STACK)
		put(e, BPF_LDX | st, m.to.n, 10, m.from.n, 0);
	else if (m.from.kind == AT_REG)
		put_mov(e, m.to.n, m.from.n);
	else
		put_ref(e, m.to.n, m.from.ref, m.from.n);
}

static void put_moves(struct emit *e)
{
	bool ok = moves_order(e->f, &e->moves);
	assert(ok);
	for (u32 i = 0; i < e->moves.v.n; i++)
		put_step(e, e->moves.v.v[i]);
}

static u32 alu_code(enum op op)
{
	switch ((int)op) {
	case O_ADD: return BPF_ADD;
	case O_SUB: return BPF_SUB;
	case O_MUL: return BPF_MUL;
	case O_UDIV: return BPF_DIV;
	case O_UMOD: return BPF_MOD;
	case O_AND: return BPF_AND;
	case O_OR: return BPF_OR;
	case O_XOR: return BPF_XOR;
	case O_SHL: return BPF_LSH;
	case O_SHR: return BPF_RSH;
	case O_SAR: return BPF_ARSH;
	default: break;
	}
	abort();
}

static u32 jmp_code(enum op op)
{
	switch ((int)op) {
	case O_EQ: return BPF_JEQ;
	case O_NE: return BPF_JNE;
	case O_ULT: return BPF_JLT;
	case O_ULE: return BPF_JLE;
	case O_UGT: return BPF_JGT;
	case O_UGE: return BPF_JGE;
	case O_SLT: return BPF_JSLT;
	case O_SLE: return BPF_JSLE;
	case O_SGT: return BPF_JSGT;
	case O_SGE: return BPF_JSGE;
	default: break;
	}
	abort();
}

static u32 size_code(u32 w)
{
	return w == 1 ? BPF_B : w == 2 ? BPF_H : w == 4 ? BPF_W : BPF_DW;
}

static void put_binary(struct emit *e, const struct ins *i)
{
	struct ref a = i->arg[0], b = i->arg[1];
	i32 d = reg_of(e, i->to);
	u64 v;
	if (is_tmp(b) && d == reg_of(e, b) && !(is_tmp(a) && d == reg_of(e, a))) {
		assert(op_info[i->op].flags & F_COMM);
		a = i->arg[1];
		b = i->arg[0];
	}
	put_ref(e, d, a, 0);
	if (!ir_is_con(e->f, b, &v)) {
		put(e, BPF_ALU64 | alu_code(i->op) | BPF_X, d, reg_of(e, b), 0, 0);
		return;
	}
	if (i->op >= O_SHL && i->op <= O_SAR)
		v &= 63;
	assert(fits32(v));
	if ((i->op == O_UDIV || i->op == O_UMOD) && v == 0) {
		if (i->op == O_UDIV)
			put_con(e, d, 0);
		return;
	}
	put(e, BPF_ALU64 | alu_code(i->op) | BPF_K, d, 0, 0, (i64)v);
}

static void put_sext(struct emit *e, i32 d, u32 w)
{
	if (w == 8)
		return;
	put(e, BPF_ALU64 | BPF_LSH | BPF_K, d, 0, 0, 64 - w * 8);
	put(e, BPF_ALU64 | BPF_ARSH | BPF_K, d, 0, 0, 64 - w * 8);
}

static void put_unary(struct emit *e, const struct ins *i)
{
	i32 d = reg_of(e, i->to);
	if (i->op == O_EXTU && i->w == 4 && is_tmp(i->arg[0])) {
		put(e, BPF_ALU | BPF_MOV | BPF_X, d, reg_of(e, i->arg[0]), 0, 0);
		return;
	}
	put_ref(e, d, i->arg[0], 0);
	if (i->op == O_NEG)
		put(e, BPF_ALU64 | BPF_NEG, d, 0, 0, 0);
	else if (i->op == O_EXTS)
		put_sext(e, d, i->w);
	else if (i->op == O_BSWAP)
		put(e, BPF_ALU | BPF_END | BPF_TO_BE, d, 0, 0, i->w * 8);
	else if (i->op == O_EXTU && i->w == 4)
		put(e, BPF_ALU | BPF_MOV | BPF_X, d, d, 0, 0);
	else if (i->op == O_EXTU && i->w < 4)
		put(e, BPF_ALU64 | BPF_AND | BPF_K, d, 0, 0, i->w == 1 ? 0xff : 0xffff);
}

/* A conditional jump; its offset is patched later or given. */
static void put_jcc(struct emit *e, u32 code, struct ref a, struct ref b, i32 off)
{
	u64 v;
	if (ir_is_con(e->f, b, &v)) {
		assert(fits32(v));
		put(e, BPF_JMP | code | BPF_K, reg_of(e, a), 0, off, (i64)v);
	} else {
		put(e, BPF_JMP | code | BPF_X, reg_of(e, a), reg_of(e, b), off, 0);
	}
}

static void put_cmp(struct emit *e, const struct ins *i)
{
	i32 d = reg_of(e, i->to);
	assert(d != reg_of(e, i->arg[0]));
	assert(!is_tmp(i->arg[1]) || d != reg_of(e, i->arg[1]));
	put_con(e, d, 1);
	put_jcc(e, jmp_code(i->op), i->arg[0], i->arg[1], 1);
	put_con(e, d, 0);
}

static void base_of(const struct emit *e, const struct ins *i, i32 *reg, i32 *off)
{
	bool slot = i->arg[0].kind == R_SLOT;
	*reg = slot ? 10 : reg_of(e, i->arg[0]);
	*off = i->imm + (slot ? e->f->slot.v[i->arg[0].id].off : 0);
}

static void put_store(struct emit *e, const struct ins *i)
{
	i32 base, off;
	u64 v;
	base_of(e, i, &base, &off);
	if (ir_is_con(e->f, i->arg[1], &v))
		put(e, BPF_ST | BPF_MEM | size_code(i->w), base, 0, off, (i32)(u32)v);
	else
		put(e, BPF_STX | BPF_MEM | size_code(i->w), base, reg_of(e, i->arg[1]), off, 0);
}

static void put_atomic(struct emit *e, const struct ins *i)
{
	i32 base, off, src;
	base_of(e, i, &base, &off);
	u32 code = BPF_STX | BPF_ATOMIC | size_code(i->w);
	if (i->op == O_ACQUIRE) {
		put(e, code, reg_of(e, i->to), base, off, ATOMIC_LOAD_ACQUIRE);
		return;
	}
	if (i->op == O_RELEASE) {
		put(e, code, base, reg_of(e, i->arg[1]), off, ATOMIC_STORE_RELEASE);
		return;
	}
	if (i->op == O_XADD) {
		put(e, code, base, reg_of(e, i->arg[1]), off, BPF_ADD);
		return;
	}
	if (i->op == O_CMPXCHG) {
		e->moves.busy = 0x3fe;
		e->moves.v.n = 0;
		moves_add(&e->moves, at_reg(0), at_of(e->f, i[-1].arg[0], i[-1].imm));
		put_moves(e);
		src = reg_of(e, i->arg[1]);
		assert(base != 0);
		assert(src != 0);
		put(e, code, base, src, off, BPF_CMPXCHG);
		put_mov(e, reg_of(e, i->to), 0);
		return;
	}
	src = reg_of(e, i->to);
	assert(src != base);
	put_ref(e, src, i->arg[1], 0);
	put(e, code, base, src, off, i->op == O_XCHG ? BPF_XCHG : BPF_ADD | BPF_FETCH);
}

static void put_call(struct emit *e, const struct ins *i)
{
	e->moves.busy = 0x3c0;
	e->moves.v.n = 0;
	for (i32 a = 0; a < i->nargs; a++) {
		const struct ins *arg = &i[a - i->nargs];
		moves_add(&e->moves, at_reg(a + 1), at_of(e->f, arg->arg[0], arg->imm));
	}
	put_moves(e);
	i32 src = 0, imm = i->imm;
	if (i->op == O_KFUNC)
		src = BPF_PSEUDO_KFUNC_CALL;
	if (i->op == O_CALLFN) {
		src = BPF_PSEUDO_CALL;
		imm = 0;
		vec_add(&e->fix, (struct fixup){e->insn.n, NULL, e->f->fns.v[i->arg[0].id]});
	}
	put(e, BPF_JMP | BPF_CALL, 0, src, 0, imm);
	if (e->f->tmp.v[i->to.id].nuse)
		put_mov(e, reg_of(e, i->to), 0);
}

/* The parameters, all at once: from r1.. to where they live. */
static void put_params(struct emit *e, const struct ins *i, u32 n)
{
	e->moves.v.n = 0;
	e->moves.busy = 0;
	for (u32 p = 0; p < n && (i[p].op == O_CTX || i[p].op == O_PARAM); p++)
		moves_add(&e->moves, at_of(e->f, i[p].to, 0), at_reg(i[p].imm + 1));
	put_moves(e);
}

static void put_ins(struct emit *e, const struct ins *i)
{
	i32 base, off;
	switch (i->op) {
	case O_NOP:
	case O_ARG:
	case O_CTX:
	case O_PARAM:
	case O_MAY: break;
	case O_ADD ... O_SAR: put_binary(e, i); break;
	case O_COPY:
	case O_NEG:
	case O_EXTS:
	case O_EXTU:
	case O_BSWAP: put_unary(e, i); break;
	case O_EQ ... O_SGE: put_cmp(e, i); break;
	case O_ADDR: put_ref(e, reg_of(e, i->to), i->arg[0], i->imm); break;
	case O_MAPFD:
	case O_FNADDR: put_ref(e, reg_of(e, i->to), i->arg[0], 0); break;
	case O_MAPVAL: put_map(e, reg_of(e, i->to), i->arg[0].id, RELOC_MAPVAL, i->imm); break;
	case O_LOAD:
	case O_LOADS:
		base_of(e, i, &base, &off);
		put(e, BPF_LDX | BPF_MEM | size_code(i->w), reg_of(e, i->to), base, off, 0);
		if (i->op == O_LOADS)
			put_sext(e, reg_of(e, i->to), i->w);
		break;
	case O_STORE: put_store(e, i); break;
	case O_HIDE:
		put_store(e, i);
		base_of(e, i, &base, &off);
		put(e, BPF_LDX | BPF_MEM | size_code(i->w), reg_of(e, i->to), base, off, 0);
		break;
	case O_ACQUIRE:
	case O_RELEASE:
	case O_XADD:
	case O_XADDF:
	case O_XCHG:
	case O_CMPXCHG: put_atomic(e, i); break;
	case O_CALL:
	case O_CALLP:
	case O_KFUNC:
	case O_CALLFN: put_call(e, i); break;
	}
}

static void put_jump(struct emit *e, const struct blk *to)
{
	vec_add(&e->fix, (struct fixup){e->insn.n, to, NULL});
	put(e, (e->far ? BPF_JMP32 : BPF_JMP) | BPF_JA, 0, 0, 0, 0);
}

static void put_branch(struct emit *e, u32 code, struct ref a, struct ref b, const struct blk *to)
{
	vec_add(&e->fix, (struct fixup){e->insn.n, to, NULL});
	put_jcc(e, code, a, b, 0);
}

/*
 * x & y, used only by the branch on its being 0, is one instruction with it,
 * unless both that and the jump would be needed: the AND, or NULL.
 */
static const struct ins *bit_test(const struct emit *e, const struct blk *b, const struct blk *next)
{
	const struct fn *f = e->f;
	u64 v;
	if (b->jmp != J_CMP || !b->ins.n || (b->cond != O_EQ && b->cond != O_NE))
		return NULL;
	const struct ins *i = &b->ins.v[b->ins.n - 1];
	if (i->op != O_AND || !ref_eq(i->to, b->cmp[0]) || f->tmp.v[i->to.id].nuse != 1)
		return NULL;
	if (!ir_is_con(f, b->cmp[1], &v) || v || !is_tmp(i->arg[0]))
		return NULL;
	return e->real[(b->cond == O_NE ? b->s1 : b->s2)->id] == next ? NULL : i;
}

/* may_goto (BPF_JCOND) jumps when it may not. */
static void end_may(struct emit *e, const struct blk *b, const struct blk *next)
{
	enum { MAY_GOTO = BPF_JMP | 0xe0 };
	const struct blk *yes = e->real[b->s1->id], *no = e->real[b->s2->id];
	if (e->far) {
		put(e, MAY_GOTO, 0, 0, 1, 0);
		put_jump(e, yes);
		put_jump(e, no);
		return;
	}
	vec_add(&e->fix, (struct fixup){e->insn.n, no, NULL});
	put(e, MAY_GOTO, 0, 0, 0, 0);
	if (yes != next)
		put_jump(e, yes);
}

static void end_compare(struct emit *e, const struct blk *b, const struct blk *next)
{
	const struct ins *test = bit_test(e, b, next);
	const struct blk *s1 = e->real[b->s1->id], *s2 = e->real[b->s2->id], *yes = s1, *no = s2;
	struct ref x = b->cmp[0], y = b->cmp[1];
	u32 code = jmp_code(b->cond);
	if (s1 == s2) {
		if (s1 != next)
			put_jump(e, s1);
		return;
	}
	if (test) {
		yes = b->cond == O_NE ? s1 : s2;
		no = b->cond == O_NE ? s2 : s1;
		x = test->arg[0];
		y = test->arg[1];
		code = BPF_JSET;
	} else if (yes == next) {
		yes = s2;
		no = s1;
		code = jmp_code(op_not(b->cond));
	}
	if (e->far) {
		put_jcc(e, code, x, y, 1);
		put_jump(e, no);
		put_jump(e, yes);
		return;
	}
	put_branch(e, code, x, y, yes);
	if (no != next)
		put_jump(e, no);
}

static void put_end(struct emit *e, const struct blk *b, const struct blk *next)
{
	put_loc(e, b->loc);
	switch (b->jmp) {
	case J_RET:
		put_ref(e, 0, b->cmp[0], 0);
		put(e, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
		break;
	case J_JMP:
		moves_phi(e->f, b, &e->moves);
		put_moves(e);
		if (e->real[b->s1->id] != next)
			put_jump(e, e->real[b->s1->id]);
		break;
	case J_CMP: b->cond == O_MAY ? end_may(e, b, next) : end_compare(e, b, next); break;
	case J_NONE: abort();
	}
}

static void put_block(struct emit *e, const struct blk *b, const struct blk *next)
{
	u32 n = b->ins.n - (bit_test(e, b, next) != NULL);
	e->b = b;
	e->at[b->id] = e->insn.n;
	if (b == e->f->entry) {
		put_loc(e, n ? b->ins.v[0].loc : b->loc);
		put_params(e, b->ins.v, n);
	}
	for (u32 k = 0; k < n; k++) {
		const struct ins *i = &b->ins.v[k];
		if (i->op == O_ARG || i->op == O_CTX || i->op == O_PARAM || i->op == O_NOP)
			continue;
		put_loc(e, i->loc);
		put_ins(e, i);
	}
	put_end(e, b, next);
}

/* Nothing but a jump: the phis behind it need no moves. */
static bool no_code(struct emit *e, const struct blk *b)
{
	if (b == e->f->entry || b->jmp != J_JMP || b->ins.n)
		return false;
	moves_phi(e->f, b, &e->moves);
	return e->moves.v.n == 0;
}

static void find_real(struct emit *e, struct arena *tmp)
{
	u32 n = e->f->nblk;
	bool *skip = arena_newn(tmp, bool, n);
	e->real = arena_newn(tmp, const struct blk *, n);
	for_blk (b, e->f)
		skip[b->id] = no_code(e, b);
	for_blk (b, e->f) {
		const struct blk *to = b;
		for (u32 i = 0; i < n && skip[to->id]; i++)
			to = to->s1;
		e->real[b->id] = skip[to->id] ? b : to;
	}
}

static void put_fn(struct emit *e, struct fn *f, struct arena *tmp)
{
	const struct blk **order = arena_newn(tmp, const struct blk *, f->nblk + 1);
	u32 n = 0;
	e->f = f;
	e->first = true;
	e->at = arena_newn(tmp, u32, f->nblk);
	find_real(e, tmp);
	for (int unlikely = 0; unlikely < 2; unlikely++)
		for_blk (b, f)
			if ((b->unlikely && b != f->entry) == unlikely && e->real[b->id] == b)
				order[n++] = b;
	for (u32 i = 0; i < n; i++)
		put_block(e, order[i], order[i + 1]);
}

/* What the code at insn (already appended) refers to. */
static void put_ext_ref(struct emit *e, const struct fn *f, const struct ext_ref *r, u32 insn)
{
	struct bpf_insn *in = &e->insn.v[insn];
	bool wide = in->code == (BPF_LD | BPF_DW | BPF_IMM);
	assert(wide || in->code == (BPF_JMP | BPF_CALL));
	switch (r->kind) {
	case EXT_FN:
		vec_add(&e->fix, (struct fixup){insn, NULL, f->fns.v[r->to]});
		if (wide)
			in[0].src_reg = BPF_PSEUDO_FUNC;
		break;
	case EXT_MAP:
	case EXT_VALUE:
		assert(wide && r->kind == (r->off ? EXT_VALUE : r->kind));
		vec_add(&e->reloc,
			(struct reloc){insn, r->kind == EXT_MAP ? RELOC_MAP : RELOC_MAPVAL, r->to});
		break;
	case EXT_KFUNC:
		assert(!wide);
		in->src_reg = BPF_PSEUDO_KFUNC_CALL;
		in->imm = (i32)r->to;
		break;
	}
	if (wide) {
		in[0].imm = 0;
		in[1].imm = (i32)r->off;
	}
}

static void put_ext(struct emit *e, const struct fn *f)
{
	const struct ext *x = f->ext;
	u32 at = e->insn.n;
	e->first = true;
	put_loc(e, f->loc);
	for (u32 i = 0; i < x->ninsn; i++) {
		put_loc(e, x->loc[i]);
		vec_add(&e->insn, x->insn[i]);
		if (x->insn[i].code == (BPF_LD | BPF_DW | BPF_IMM)) {
			assert(i + 1 < x->ninsn);
			vec_add(&e->insn, x->insn[++i]);
		}
	}
	for (u32 i = 0; i < x->nref; i++) {
		assert(x->ref[i].insn < x->ninsn);
		put_ext_ref(e, f, &x->ref[i], at + x->ref[i].insn);
	}
}

static bool patch_jumps(struct emit *e, u32 from)
{
	for (u32 i = from; i < e->fix.n; i++) {
		const struct fixup *x = &e->fix.v[i];
		if (!x->to)
			continue;
		struct bpf_insn *insn = &e->insn.v[x->insn];
		i64 off = (i64)e->at[x->to->id] - x->insn - 1;
		if (insn->code == (BPF_JMP32 | BPF_JA))
			insn->imm = (i32)off;
		else if (off != (i16)off)
			return false;
		else
			insn->off = (i16)off;
	}
	return true;
}

static bool put_all(struct emit *e, struct fn **fn, u32 n, struct code_fn *at)
{
	struct arena tmp = {0};
	bool ok = true;
	e->insn.n = e->reloc.n = e->line.n = e->fix.n = 0;
	for (u32 i = 0; i < n && ok; i++) {
		u32 fix = e->fix.n;
		at[i] = (struct code_fn){e->insn.n, fn[i]->name,
					 fn[i]->callback ? fn[i]->nparam : 1, fn[i]->callback};
		if (fn[i]->ext) {
			put_ext(e, fn[i]);
			continue;
		}
		put_fn(e, fn[i], &tmp);
		ok = patch_jumps(e, fix);
	}
	for (u32 i = 0; i < e->fix.n && ok; i++) {
		const struct fixup *x = &e->fix.v[i];
		for (u32 k = 0; x->fn && k < n; k++)
			if (fn[k] == x->fn)
				e->insn.v[x->insn].imm = (i32)at[k].insn - (i32)x->insn - 1;
	}
	arena_free(&tmp);
	return ok;
}

/* Stack of f and the deepest chain of functions it calls or hands to helpers. */
static u32 stack_depth(const struct fn *f)
{
	u32 deepest = 0;
	for (u32 i = 0; i < f->fns.n; i++) {
		u32 depth = stack_depth(f->fns.v[i]);
		deepest = MAX(deepest, depth);
	}
	if (!f->fns.n)
		return f->stack;
	return ALIGN_UP(MAX(f->stack, 1), FRAME_ALIGN) + ALIGN_UP(MAX(deepest, 1), FRAME_ALIGN);
}

static void *keep(struct arena *a, const void *v, size_t bytes)
{
	void *p = arena_alloc(a, bytes + 1, 8);
	if (bytes)
		memcpy(p, v, bytes);
	return p;
}

static int by_insn(const void *a, const void *b)
{
	u32 x = ((const struct reloc *)a)->insn, y = ((const struct reloc *)b)->insn;
	return (x > y) - (x < y);
}

bool ir_emit(struct fn *main, struct arena *a, struct code *ret, u32 *stack)
{
	struct emit e = {0};
	struct fn **all;
	u32 n;
	assert(main->allocated);
	*stack = stack_depth(main);
	if (*stack > IR_STACK_MAX)
		return false;
	ir_all_fns(main, &all, &n);
	struct code_fn *fn = arena_newn(a, struct code_fn, n);
	if (!put_all(&e, all, n, fn)) {
		e.far = true;
		bool ok = put_all(&e, all, n, fn);
		assert(ok);
	}
	if (e.reloc.n)
		qsort(e.reloc.v, e.reloc.n, sizeof(*e.reloc.v), by_insn);
	*ret = (struct code){
		.insn = keep(a, e.insn.v, e.insn.n * sizeof(*e.insn.v)),
		.reloc = keep(a, e.reloc.v, e.reloc.n * sizeof(*e.reloc.v)),
		.line = keep(a, e.line.v, e.line.n * sizeof(*e.line.v)),
		.fn = fn,
		.ninsn = e.insn.n,
		.nreloc = e.reloc.n,
		.nline = e.line.n,
		.nfn = n,
	};
	free(all);
	vec_free(&e.insn);
	vec_free(&e.reloc);
	vec_free(&e.line);
	vec_free(&e.fix);
	vec_free(&e.moves.v);
	return true;
}
