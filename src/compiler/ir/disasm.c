/* disasm.c - bytecode as text, close to the form the kernel's verifier prints. */
#include "ir/pass.h"

static const char *const alu_name[16] = {
	"+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", "neg", "%=", "^=", "=", "s>>=", "end"};
static const char *const jmp_name[16] = {"",    "==", ">", ">=", "&",  "!=", "s>",
					 "s>=", "",   "",  "<",  "<=", "s<", "s<="};

static const char *size_name(u8 code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B: return "u8";
	case BPF_H: return "u16";
	case BPF_W: return "u32";
	default: return "u64";
	}
}

static void put_imm(struct sb *out, i32 v)
{
	if (v > -10 && v < 10)
		sb_fmt(out, "%d", v);
	else
		sb_fmt(out, "%s0x%x", v < 0 ? "-" : "", v < 0 ? -(u32)v : (u32)v);
}

static void put_alu(const struct bpf_insn *i, struct sb *out)
{
	char r = BPF_CLASS(i->code) == BPF_ALU64 ? 'r' : 'w';
	u8 op = BPF_OP(i->code);
	if (op == BPF_END) {
		sb_fmt(out, "r%u = %s%d r%u", i->dst_reg, BPF_SRC(i->code) ? "be" : "le", i->imm,
		       i->dst_reg);
		return;
	}
	if (op == BPF_NEG) {
		sb_fmt(out, "%c%u = -%c%u", r, i->dst_reg, r, i->dst_reg);
		return;
	}
	const char *name = alu_name[op >> 4];
	sb_fmt(out, "%c%u %s ", r, i->dst_reg, name ? name : "?");
	if (BPF_SRC(i->code) == BPF_X)
		sb_fmt(out, "%c%u", r, i->src_reg);
	else
		put_imm(out, i->imm);
}

static void put_target(const struct code *c, u32 at, struct sb *out)
{
	for (u32 i = 0; i < c->nfn; i++)
		if (c->fn[i].insn == at)
			sb_add(out, c->fn[i].name);
}

static void put_jmp(const struct code *c, u32 at, struct sb *out)
{
	const struct bpf_insn *i = &c->insn[at];
	char buf[32];
	u8 op = BPF_OP(i->code);
	if (op == BPF_EXIT) {
		sb_z(out, "exit");
	} else if (op == BPF_JA) {
		sb_fmt(out, "goto %+d", BPF_CLASS(i->code) == BPF_JMP32 ? i->imm : i->off);
	} else if (op == 0xe0) {
		sb_fmt(out, "may_goto %+d", i->off);
	} else if (op != BPF_CALL) {
		char r = BPF_CLASS(i->code) == BPF_JMP ? 'r' : 'w';
		sb_fmt(out, "if %c%u %s ", r, i->dst_reg,
		       jmp_name[op >> 4] ? jmp_name[op >> 4] : "?");
		if (BPF_SRC(i->code) == BPF_X)
			sb_fmt(out, "%c%u", r, i->src_reg);
		else
			put_imm(out, i->imm);
		sb_fmt(out, " goto %+d", i->off);
	} else if (i->src_reg == BPF_PSEUDO_CALL) {
		sb_fmt(out, "call ");
		put_target(c, (u32)((i32)at + i->imm + 1), out);
		sb_fmt(out, " (%+d)", i->imm);
	} else if (i->src_reg == BPF_PSEUDO_KFUNC_CALL) {
		sb_fmt(out, "call kernel function %d", i->imm);
	} else {
		sb_fmt(out, "call %s", ir_helper_name((u32)i->imm, buf));
	}
}

static void put_atomic(const struct bpf_insn *i, struct sb *out)
{
	int bits = BPF_SIZE(i->code) == BPF_DW ? 64 : 32;
	AUTO_SB m = {0};
	sb_fmt(&m, "*(%s *)(r%u %+d)", size_name(i->code), i->dst_reg, i->off);
	if (i->imm == ATOMIC_LOAD_ACQUIRE)
		sb_fmt(out, "r%u = load_acquire(*(%s *)(r%u %+d))", i->dst_reg, size_name(i->code),
		       i->src_reg, i->off);
	else if (i->imm == ATOMIC_STORE_RELEASE)
		sb_fmt(out, "store_release(%s, r%u)", m.s, i->src_reg);
	else if (i->imm == BPF_CMPXCHG)
		sb_fmt(out, "r0 = atomic%d_cmpxchg(%s, r0, r%u)", bits, m.s, i->src_reg);
	else if (i->imm == BPF_XCHG)
		sb_fmt(out, "r%u = atomic%d_xchg(%s, r%u)", i->src_reg, bits, m.s, i->src_reg);
	else if (i->imm == (BPF_ADD | BPF_FETCH))
		sb_fmt(out, "r%u = atomic%d_fetch_add(%s, r%u)", i->src_reg, bits, m.s, i->src_reg);
	else
		sb_fmt(out, "lock %s %s r%u", m.s, i->imm == BPF_ADD ? "+=" : "?=", i->src_reg);
}

static void put_store(const struct bpf_insn *i, struct sb *out)
{
	if (BPF_MODE(i->code) == BPF_ATOMIC) {
		put_atomic(i, out);
		return;
	}
	sb_fmt(out, "*(%s *)(r%u %+d) = ", size_name(i->code), i->dst_reg, i->off);
	if (BPF_CLASS(i->code) == BPF_STX)
		sb_fmt(out, "r%u", i->src_reg);
	else
		put_imm(out, i->imm);
}

/* Sorted by instruction. */
static const struct reloc *reloc_at(const struct code *c, u32 at)
{
	u32 lo = 0, hi = c->nreloc;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (c->reloc[mid].insn < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->nreloc && c->reloc[lo].insn == at ? &c->reloc[lo] : NULL;
}

static void put_imm64(const struct code *c, u32 at, struct sb *out)
{
	const struct bpf_insn *i = &c->insn[at];
	const struct reloc *r = reloc_at(c, at);
	sb_fmt(out, "r%u = ", i->dst_reg);
	if (i->src_reg == BPF_PSEUDO_FUNC) {
		put_target(c, (u32)((i32)at + i->imm + 1), out);
		sb_fmt(out, " (%+d)", i->imm);
	} else if (i->src_reg == BPF_PSEUDO_MAP_FD) {
		sb_fmt(out, "map[%u]", r ? r->map : (u32)i->imm);
	} else if (i->src_reg == BPF_PSEUDO_MAP_VALUE) {
		sb_fmt(out, "map[%u][0]%+d", r ? r->map : (u32)i->imm, i[1].imm);
	} else {
		sb_fmt(out, "0x%llx ll", (u64)(u32)i[1].imm << 32 | (u32)i->imm);
	}
}

static void put_insn(const struct code *c, u32 at, struct sb *out)
{
	const struct bpf_insn *i = &c->insn[at];
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64: put_alu(i, out); break;
	case BPF_JMP:
	case BPF_JMP32: put_jmp(c, at, out); break;
	case BPF_ST:
	case BPF_STX: put_store(i, out); break;
	case BPF_LDX:
		sb_fmt(out, "r%u = *(%s *)(r%u %+d)", i->dst_reg, size_name(i->code), i->src_reg,
		       i->off);
		break;
	case BPF_LD: put_imm64(c, at, out); break;
	}
}

/* The line of the script an instruction came from, once per line. */
static void put_source(const struct diags *ds, struct loc loc, u32 *last, struct sb *out)
{
	u32 line, col;
	if (!ds || loc.src >= ds->nsource || !diag_place(ds, loc, &line, &col) || line == *last)
		return;
	*last = line;
	sb_fmt(out, "; %.*s\n", STRF(str_trim(diag_line(ds, loc))));
}

void ir_disasm(const struct code *c, const struct diags *ds, struct sb *out)
{
	u32 line = 0, fn = 0, last = 0;
	for (u32 at = 0; at < c->ninsn; at++) {
		if (fn < c->nfn && c->fn[fn].insn == at) {
			sb_fmt(out, "%.*s:\n", STRF(c->fn[fn].name));
			fn++;
			last = 0;
		}
		while (line < c->nline && c->line[line].insn <= at)
			put_source(ds, c->line[line++].loc, &last, out);
		sb_fmt(out, "%u: ", at);
		put_insn(c, at, out);
		sb_char(out, '\n');
		at += c->insn[at].code == (BPF_LD | BPF_DW | BPF_IMM);
	}
}
