/*
 * decode.c - a program's instructions: each is checked and gets its operation.
 *
 * What is checked here need not be when the program runs: that instructions and registers exist, that
 * a jump leads to an instruction of its function, that a function ends by an exit or a jump, that an
 * access by r10 is within the frame, that every helper has somebody who answers.
 */
#include "base/alloc.h"
#include "vm/inside.h"
#include <stdio.h>

enum {
	/* Newer than the headers of many machines: */
	MODE_SX = 0x80, /* BPF_MEMSX */
	JMP_MAY = 0xe0, /* BPF_JCOND */
};

struct decode {
	struct vm *v;
	const struct vm_prog_spec *s;
	const struct code *c;
	struct vm_prog *p;
	u32 *reloc;   /* by instruction: number of its relocation + 1 */
	u32 *fn;      /* by instruction: number of the function that begins there + 1 */
	bool *second; /* by instruction: it is the second half of a constant of 64 bits */
	const char *why;
	char text[96];
};

/* Always false, so that callers can return it. */
static bool bad(struct decode *d, const char *why)
{
	d->why = why;
	return false;
}

/* ---- functions ---- */

static bool mark_fn(struct decode *d, i64 at)
{
	if (at < 0 || at >= d->c->ninsn || d->second[at])
		return bad(d, "the function that is called does not exist");
	d->fn[at] = 1;
	return true;
}

/* Where functions begin: at calls, and where their address is taken. */
static bool find_fns(struct decode *d, u32 *at)
{
	d->fn[0] = 1;
	for (u32 i = 0; i < d->c->ninsn; i++) {
		const struct bpf_insn *in = &d->c->insn[i];
		bool call = in->code == (BPF_JMP | BPF_CALL) && in->src_reg == BPF_PSEUDO_CALL;
		bool wide = in->code == (BPF_LD | BPF_DW | BPF_IMM);
		*at = i;
		if ((call || (wide && in->src_reg == BPF_PSEUDO_FUNC)) &&
		    !mark_fn(d, (i64)i + 1 + in->imm))
			return false;
		i += wide;
	}
	return true;
}

static void number_fns(struct decode *d)
{
	struct vm_prog *p = d->p;
	for (u32 i = 0; i < p->ninsn; i++)
		p->nfn += d->fn[i];
	p->fn = xcalloc(p->nfn, sizeof(*p->fn));
	u32 n = 0;
	for (u32 i = 0; i < p->ninsn; i++) {
		if (!d->fn[i])
			continue;
		p->fn[n++].start = i;
		d->fn[i] = n;
	}
	for (u32 i = 0; i < n; i++)
		p->fn[i].len = (i + 1 < n ? p->fn[i + 1].start : p->ninsn) - p->fn[i].start;
}

/* ---- operands ---- */

static bool can_write(struct decode *d, u32 reg)
{
	return reg < 10 || bad(d, "it writes a register that cannot be written");
}

static bool can_read(struct decode *d, u32 reg)
{
	return reg <= 10 || bad(d, "no such register exists");
}

static bool in_frame(const struct bpf_insn *in, u32 size)
{
	return in->off >= -IR_STACK_MAX && in->off + (i32)size <= 0;
}

static bool jump(struct decode *d, u32 at, i64 distance, const struct vm_fn *f)
{
	i64 to = (i64)at + 1 + distance;
	if (to < f->start || to >= (i64)f->start + f->len)
		return bad(d, "it jumps out of its function");
	if (d->second[to])
		return bad(d, "it jumps into an instruction");
	return true;
}

/* ---- one instruction; *op is its operation ---- */

/* The four forms of an operation stand in this order. */
static u32 form(const struct bpf_insn *in, bool wide)
{
	return (wide ? 0 : 2) + (BPF_SRC(in->code) == BPF_K);
}

static bool unary(struct decode *d, const struct bpf_insn *in, u32 *op)
{
	bool wide = BPF_CLASS(in->code) == BPF_ALU64, be = BPF_SRC(in->code) == BPF_TO_BE;
	if (in->src_reg || in->off)
		return bad(d, "unknown instruction");
	if (BPF_OP(in->code) == BPF_NEG) {
		*op = wide ? VOP_NEG64 : VOP_NEG32;
		return !be && !in->imm ? true : bad(d, "unknown instruction");
	}
	if ((wide && be) || (in->imm != 16 && in->imm != 32 && in->imm != 64))
		return bad(d, "unknown instruction");
	u32 size = in->imm == 16 ? 0 : in->imm == 32 ? 1 : 2;
	*op = (wide || be ? VOP_SWAP16 : VOP_KEEP16) + size;
	return true;
}

static bool extend(struct decode *d, const struct bpf_insn *in, u32 *op)
{
	bool wide = BPF_CLASS(in->code) == BPF_ALU64;
	if (BPF_SRC(in->code) != BPF_X || in->imm)
		return bad(d, "unknown instruction");
	switch (in->off) {
	case 8: *op = wide ? VOP_SX8 : VOP_SX8W; return true;
	case 16: *op = wide ? VOP_SX16 : VOP_SX16W; return true;
	case 32: *op = VOP_SX32; return wide ? true : bad(d, "unknown instruction");
	default: return bad(d, "unknown instruction");
	}
}

static bool arith(struct decode *d, const struct bpf_insn *in, u32 *op)
{
	static const u16 ops[16] = {
		[BPF_ADD >> 4] = VOP_ADD64X, [BPF_SUB >> 4] = VOP_SUB64X,
		[BPF_MUL >> 4] = VOP_MUL64X, [BPF_DIV >> 4] = VOP_DIV64X,
		[BPF_OR >> 4] = VOP_OR64X,   [BPF_AND >> 4] = VOP_AND64X,
		[BPF_LSH >> 4] = VOP_LSH64X, [BPF_RSH >> 4] = VOP_RSH64X,
		[BPF_MOD >> 4] = VOP_MOD64X, [BPF_XOR >> 4] = VOP_XOR64X,
		[BPF_MOV >> 4] = VOP_MOV64X, [BPF_ARSH >> 4] = VOP_ARSH64X,
	};
	u32 what = BPF_OP(in->code);
	bool wide = BPF_CLASS(in->code) == BPF_ALU64, k = BPF_SRC(in->code) == BPF_K;
	bool division = what == BPF_DIV || what == BPF_MOD;
	bool shift = what == BPF_LSH || what == BPF_RSH || what == BPF_ARSH;
	if (!can_write(d, in->dst_reg) || (!k && !can_read(d, in->src_reg)))
		return false;
	if (what == BPF_NEG || what == BPF_END)
		return unary(d, in, op);
	if (what > BPF_ARSH || (k ? in->src_reg : (u32)in->imm))
		return bad(d, "unknown instruction");
	if (what == BPF_MOV && in->off)
		return extend(d, in, op);
	if (in->off && !(division && in->off == 1))
		return bad(d, "unknown instruction");
	if (division && k && !in->imm)
		return bad(d, "it divides by zero");
	if (shift && k && (u32)in->imm >= (wide ? 64 : 32))
		return bad(d, "it shifts by more bits than there are");
	u32 first = ops[what >> 4];
	if (division && in->off)
		first = what == BPF_DIV ? VOP_SDIV64X : VOP_SMOD64X;
	*op = first + form(in, wide);
	return true;
}

/* The operations on memory of one size. */
enum { MEM_LD, MEM_LDS, MEM_ST, MEM_STI, MEM_KEPT };
static u32 mem_op(const struct bpf_insn *in, u32 what, u32 *size)
{
	static const u16 first[] = {[BPF_W >> 3] = VOP_LD4,
				    [BPF_H >> 3] = VOP_LD2,
				    [BPF_B >> 3] = VOP_LD1,
				    [BPF_DW >> 3] = VOP_LD8};
	static const u8 sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8};
	u32 w = BPF_SIZE(in->code) >> 3;
	*size = sizes[w];
	return first[w] + what;
}

static bool load(struct decode *d, const struct bpf_insn *in, u32 *op)
{
	u32 size, mode = BPF_MODE(in->code);
	*op = mem_op(in, mode == MODE_SX ? MEM_LDS : MEM_LD, &size);
	if (!can_write(d, in->dst_reg) || !can_read(d, in->src_reg))
		return false;
	if ((mode != BPF_MEM && (mode != MODE_SX || size == 8)) || in->imm)
		return bad(d, "unknown instruction");
	if (in->src_reg == 10 && in_frame(in, size))
		*op += MEM_KEPT;
	return true;
}

static bool store(struct decode *d, const struct bpf_insn *in, u32 *op)
{
	u32 size;
	bool k = BPF_CLASS(in->code) == BPF_ST;
	*op = mem_op(in, k ? MEM_STI : MEM_ST, &size);
	if (!can_read(d, in->dst_reg) || !can_read(d, in->src_reg))
		return false;
	if (BPF_MODE(in->code) != BPF_MEM || (k ? in->src_reg : (u32)in->imm))
		return bad(d, "unknown instruction");
	if (in->dst_reg == 10 && in_frame(in, size))
		*op += MEM_KEPT;
	return true;
}

/* One thread runs programs and reads what they store, so order is no question. */
static bool ordered(struct decode *d, const struct bpf_insn *in, u32 *op)
{
	u32 size;
	bool take = in->imm == ATOMIC_LOAD_ACQUIRE;
	*op = mem_op(in, take ? MEM_LD : MEM_ST, &size);
	return take ? can_write(d, in->dst_reg) : true;
}

static bool atomic(struct decode *d, const struct bpf_insn *in, u32 *op)
{
	u32 size, fetch = in->imm & BPF_FETCH ? 2 : 0;
	mem_op(in, 0, &size);
	if (!can_read(d, in->dst_reg) || !can_read(d, in->src_reg))
		return false;
	if (in->imm == ATOMIC_LOAD_ACQUIRE || in->imm == ATOMIC_STORE_RELEASE)
		return ordered(d, in, op);
	if (size < 4)
		return bad(d, "unknown instruction");
	switch (in->imm) {
	case BPF_ADD:
	case BPF_ADD | BPF_FETCH: *op = VOP_XADD4; break;
	case BPF_OR:
	case BPF_OR | BPF_FETCH: *op = VOP_OR4; break;
	case BPF_AND:
	case BPF_AND | BPF_FETCH: *op = VOP_AND4; break;
	case BPF_XOR:
	case BPF_XOR | BPF_FETCH: *op = VOP_XOR4; break;
	case BPF_XCHG: *op = VOP_XCHG4; break;
	case BPF_CMPXCHG: *op = VOP_CMPXCHG4 + (size == 8); return true;
	default: return bad(d, "unknown instruction");
	}
	*op += fetch + (size == 8);
	return fetch ? can_write(d, in->src_reg) : true;
}

/* ---- jumps and calls ---- */

static bool answered(const struct vm_env *e, u32 helper)
{
	for (u32 i = 0; i < e->nhelper; i++)
		if (e->helper[i] == helper)
			return true;
	return false;
}

static bool call_helper(struct decode *d, const struct bpf_insn *in, u32 *op)
{
	const struct vm_env *e = &d->v->spec.env;
	u32 id = (u32)in->imm;
	char name[32];
	if (answered(e, id)) {
		*op = VOP_ASK;
		return true;
	}
	*op = VOP_CALL;
	if (id < VM_HELPERS && vm_helpers[id] && vm_helper_works(e, id))
		return true;
	const char *known = ir_helper_name(id, name);
	snprintf(d->text, sizeof(d->text), "%s%s is not available here",
		 known == name ? "" : "helper ", known);
	return bad(d, d->text);
}

static bool call_kfunc(struct decode *d, const struct bpf_insn *in, struct vm_insn *out, u32 *op)
{
	const struct vm_env *e = &d->v->spec.env;
	const char *name = NULL;
	u32 number = 0;
	*op = VOP_KFUNC;
	bool known = e->find_kfunc && in->off == 0 &&
		     e->find_kfunc(e->arg, (u32)in->imm, &number, &name);
	out->imm = (i32)number;
	if (known && e->call_kfunc)
		return true;
	snprintf(d->text, sizeof(d->text), "kernel function %s (BTF id %d) is not available here",
		 name ? name : "unknown", in->imm);
	return bad(d, d->text);
}

static bool call(struct decode *d, const struct bpf_insn *in, u32 at, u32 *op)
{
	struct vm_insn *out = &d->p->insn[at];
	if (BPF_SRC(in->code) != BPF_K || in->dst_reg)
		return bad(d, "unknown instruction");
	switch (in->src_reg) {
	case 0: return in->off ? bad(d, "unknown instruction") : call_helper(d, in, op);
	case BPF_PSEUDO_CALL:
		*op = VOP_CALLFN;
		out->imm = (i32)d->fn[at + 1 + (u32)in->imm] - 1;
		return in->off ? bad(d, "unknown instruction") : true;
	case BPF_PSEUDO_KFUNC_CALL: return call_kfunc(d, in, out, op);
	default: return bad(d, "unknown instruction");
	}
}

static bool branch(struct decode *d, const struct bpf_insn *in, u32 at, const struct vm_fn *f,
		   u32 *op)
{
	static const u16 ops[16] = {
		[BPF_JEQ >> 4] = VOP_JEQ64X,   [BPF_JGT >> 4] = VOP_JGT64X,
		[BPF_JGE >> 4] = VOP_JGE64X,   [BPF_JSET >> 4] = VOP_JSET64X,
		[BPF_JNE >> 4] = VOP_JNE64X,   [BPF_JSGT >> 4] = VOP_JSGT64X,
		[BPF_JSGE >> 4] = VOP_JSGE64X, [BPF_JLT >> 4] = VOP_JLT64X,
		[BPF_JLE >> 4] = VOP_JLE64X,   [BPF_JSLT >> 4] = VOP_JSLT64X,
		[BPF_JSLE >> 4] = VOP_JSLE64X,
	};
	enum { BACKWARD = VOP_JEQ64XB - VOP_JEQ64X };
	bool k = BPF_SRC(in->code) == BPF_K;
	u32 first = ops[BPF_OP(in->code) >> 4];
	if (!first || (k ? in->src_reg : (u32)in->imm))
		return bad(d, "unknown instruction");
	if (!can_read(d, in->dst_reg) || !can_read(d, in->src_reg))
		return false;
	*op = first + form(in, BPF_CLASS(in->code) == BPF_JMP) + (in->off < 0 ? BACKWARD : 0);
	return jump(d, at, in->off, f);
}

static bool flow(struct decode *d, const struct bpf_insn *in, u32 at, const struct vm_fn *f,
		 u32 *op)
{
	struct vm_insn *out = &d->p->insn[at];
	bool far = BPF_CLASS(in->code) == BPF_JMP32, k = BPF_SRC(in->code) == BPF_K;
	i32 distance = far ? in->imm : in->off;
	switch (BPF_OP(in->code)) {
	case BPF_JA:
		if (!k || in->dst_reg || in->src_reg || (far ? in->off : in->imm))
			return bad(d, "unknown instruction");
		*op = distance < 0 ? VOP_JAB : VOP_JA;
		out->imm = distance;
		return jump(d, at, distance, f);
	case BPF_CALL: return far ? bad(d, "unknown instruction") : call(d, in, at, op);
	case BPF_EXIT:
		*op = VOP_EXIT;
		return !far && k && !in->dst_reg && !in->src_reg && !in->off && !in->imm
			       ? true
			       : bad(d, "unknown instruction");
	case JMP_MAY:
		*op = VOP_MAY;
		if (far || !k || in->dst_reg || in->src_reg || in->imm)
			return bad(d, "unknown instruction");
		return jump(d, at, in->off, f);
	default: return branch(d, in, at, f, op);
	}
}

/* ---- constants of 64 bits ---- */

static bool map_address(struct decode *d, const struct reloc *r, u32 off, u64 *ret)
{
	if (r->map >= d->s->nmap || d->s->map[r->map] >= d->v->nmap)
		return bad(d, "it uses a map that does not exist");
	const struct vm_map *m = &d->v->map[d->s->map[r->map]];
	*ret = region_addr(REGION_MAP, m->id);
	if (r->kind == RELOC_MAP)
		return off ? bad(d, "unknown instruction") : true;
	if (m->spec.type != BPF_MAP_TYPE_ARRAY || off >= m->spec.val_size)
		return bad(d, "the map has no value at this place");
	*ret = m->vals_at + off;
	return true;
}

static bool wide(struct decode *d, const struct bpf_insn *in, u32 at)
{
	struct vm_insn *out = &d->p->insn[at];
	if (!can_write(d, in->dst_reg))
		return false;
	if (in->off || in[1].code || in[1].dst_reg || in[1].src_reg || in[1].off)
		return bad(d, "unknown instruction");
	u64 value = (u64)(u32)in[1].imm << 32 | (u32)in->imm;
	if (d->reloc[at]) {
		if (!map_address(d, &d->c->reloc[d->reloc[at] - 1], (u32)in[1].imm, &value))
			return false;
	} else if (in->src_reg == BPF_PSEUDO_FUNC) {
		value = region_addr(REGION_FN, d->fn[at + 1 + (u32)in->imm] - 1);
	} else if (in->src_reg) {
		return bad(d, "it uses a map without a relocation");
	}
	out[0].imm = (i32)(u32)value;
	out[1].imm = (i32)(u32)(value >> 32);
	return true;
}

/* ---- the program ---- */

static bool one(struct decode *d, u32 at, const struct vm_fn *f, u32 *op)
{
	const struct bpf_insn *in = &d->c->insn[at];
	struct vm_insn *out = &d->p->insn[at];
	out->imm = in->imm;
	out->off = in->off;
	out->dst = in->dst_reg;
	out->src = in->src_reg;
	switch (BPF_CLASS(in->code)) {
	case BPF_ALU:
	case BPF_ALU64: return arith(d, in, op);
	case BPF_LDX: return load(d, in, op);
	case BPF_ST: return store(d, in, op);
	case BPF_STX:
		return BPF_MODE(in->code) == BPF_ATOMIC ? atomic(d, in, op) : store(d, in, op);
	case BPF_JMP:
	case BPF_JMP32: return flow(d, in, at, f, op);
	default: *op = VOP_IMM64; return wide(d, in, at);
	}
}

/* The second halves of wide constants: no jump and no function may begin there. */
static bool mark_seconds(struct decode *d, u32 *at)
{
	const struct code *c = d->c;
	for (u32 i = 0; i < c->ninsn; i++) {
		*at = i;
		if (BPF_CLASS(c->insn[i].code) != BPF_LD)
			continue;
		if (c->insn[i].code != (BPF_LD | BPF_DW | BPF_IMM) || i + 1 == c->ninsn)
			return bad(d, "unknown instruction");
		d->second[++i] = true;
	}
	return true;
}

static bool mark_relocs(struct decode *d, u32 *at)
{
	const struct code *c = d->c;
	for (u32 i = 0; i < c->nreloc; i++) {
		u32 insn = *at = c->reloc[i].insn;
		if (insn >= c->ninsn || BPF_CLASS(c->insn[insn].code) != BPF_LD || d->second[insn])
			return bad(d, "a relocation is not at a constant of 64 bits");
		d->reloc[insn] = i + 1;
	}
	return true;
}

/* A function ends so that control does not go on behind it. */
static bool ends(struct decode *d, u32 last)
{
	const struct bpf_insn *in = &d->c->insn[last];
	u32 class = BPF_CLASS(in->code), what = BPF_OP(in->code);
	if ((class == BPF_JMP && what == BPF_EXIT) ||
	    ((class == BPF_JMP || class == BPF_JMP32) && what == BPF_JA))
		return true;
	return bad(d, "the function continues after its last instruction");
}

static bool fn(struct decode *d, const struct vm_fn *f, u32 *at)
{
	const void *const *labels = vm_labels();
	for (u32 i = f->start; i < f->start + f->len; i++) {
		u32 op = VOP_SECOND;
		*at = i;
		if (!one(d, i, f, &op))
			return false;
		d->p->insn[i].go = labels[op];
		if (op == VOP_IMM64)
			d->p->insn[++i].go = labels[VOP_SECOND];
	}
	return ends(d, *at);
}

static bool all(struct decode *d, u32 *at)
{
	if (!mark_seconds(d, at) || !mark_relocs(d, at) || !find_fns(d, at))
		return false;
	number_fns(d);
	for (u32 i = 0; i < d->p->nfn; i++)
		if (!fn(d, &d->p->fn[i], at))
			return false;
	return true;
}

struct err *decode(struct vm *v, const struct vm_prog_spec *s, struct vm_prog *p)
{
	const struct code *c = s->code;
	struct decode d = {.v = v, .s = s, .c = c, .p = p};
	u32 at = 0;
	if (!c->ninsn || c->ninsn > VM_MAX_INSNS)
		return err_new("program %.*s: it has %u instructions", STRF(s->name), c->ninsn);
	p->ninsn = c->ninsn;
	p->insn = xcalloc(c->ninsn, sizeof(*p->insn));
	d.reloc = xcalloc(c->ninsn, sizeof(*d.reloc));
	d.fn = xcalloc(c->ninsn, sizeof(*d.fn));
	d.second = xcalloc(c->ninsn, sizeof(*d.second));
	bool good = all(&d, &at);
	free(d.reloc);
	free(d.fn);
	free(d.second);
	return good ? NULL : err_new("program %.*s: instruction %u: %s", STRF(s->name), at, d.why);
}
