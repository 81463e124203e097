/*
 * dwprologue.c - parameters by what the function's first instructions do with them.
 *
 * Of a parameter that has a place in the function's frame debug information tells where it will be, and not where it
 * is. LLVM marks the instruction at which the prologue ends: up to there only what the compiler made for itself has
 * run, which moves parameters from where callers put them to their places. These instructions are followed here, and
 * the place at the prologue's end is written in terms of what registers and memory held at the first instruction. That
 * is right whatever convention the function has, and refused where an instruction is not known.
 */
#include "arch/arch.h"
#include "types/dw.h"
#include <gelf.h>

enum { MAX_PROLOGUE = 1024, MAX_STORES = 128, NREG = 33, VECTOR = 17 };

/* A value in terms of the function's entry. */
struct known {
	enum known_kind { UNKNOWN, SUM, MEMORY, CONSTANT, IN_VECTOR } kind : 8;
	u8 reg;   /* SUM: reg + v; MEMORY: what is there */
	u8 size;  /* bytes, the lower ones, that are known */
	u8 skip;  /* SUM: bytes that it was moved to the right by, of all of it */
	bool cut; /* SUM, MEMORY: only the bits of mask */
	i64 v;
	u64 mask;
};
struct store {
	i64 at; /* from the stack pointer at the entry */
	u32 size;
	struct known what;
};
struct dw_prologue {
	u64 end;
	u8 sp;
	struct known reg[NREG];
	u32 nstore;
	struct store store[MAX_STORES];
};

/* ---- running it ---- */

static bool is_whole(const struct known *k)
{
	return !k->cut && !k->skip && k->size == 8;
}

static bool is_frame(const struct dw_prologue *p, const struct known *addr)
{
	return addr->kind == SUM && addr->reg == p->sp && is_whole(addr) && addr->v < 0;
}

/* The last store to a byte of the frame. */
static const struct store *store_at(const struct dw_prologue *p, i64 at)
{
	for (u32 i = p->nstore; i-- > 0;)
		if (at >= p->store[i].at && at < p->store[i].at + p->store[i].size)
			return &p->store[i];
	return NULL;
}

static struct known load(const struct dw_prologue *p, struct known addr, u32 size)
{
	struct known ret = {.kind = UNKNOWN};
	if (addr.kind != SUM || !is_whole(&addr))
		return ret;
	if (!is_frame(p, &addr)) {
		ret = (struct known){
			.kind = MEMORY, .reg = addr.reg, .size = (u8)size, .v = addr.v};
		return ret;
	}
	const struct store *s = store_at(p, addr.v);
	for (u32 i = 1; s && i < size; i++)
		if (store_at(p, addr.v + i) != s)
			return ret;
	if (!s || s->at != addr.v)
		return ret;
	ret = s->what;
	ret.size = (u8)MIN(ret.size, size);
	return ret;
}

static bool keep(struct dw_prologue *p, i64 at, u32 size, struct known what)
{
	if (p->nstore == MAX_STORES || at + (i64)size > 0)
		return false;
	p->store[p->nstore++] = (struct store){at, size, what};
	return true;
}

static struct known moved(struct known k, i64 by)
{
	if (k.kind == CONSTANT || (k.kind == SUM && is_whole(&k)))
		k.v = (i64)((u64)k.v + (u64)by); /* damaged files may have any numbers */
	else
		k.kind = UNKNOWN;
	return k;
}

static struct known masked(struct known k, u64 mask, u8 size)
{
	k.size = MIN(k.size, size);
	if ((k.kind != SUM && k.kind != MEMORY) || k.skip)
		return (struct known){.kind = UNKNOWN};
	k.mask = k.cut ? k.mask & mask : mask;
	k.cut = true;
	return k;
}

/* By whole bytes, of a value that is known up to the end. */
static struct known shifted(struct known k, u64 bits, u8 size)
{
	u8 by = (u8)(bits / 8);
	if (k.size < size || bits % 8 || by >= size || (k.kind != SUM && k.kind != MEMORY) || k.cut)
		return (struct known){.kind = UNKNOWN};
	k.size = (u8)(size - by);
	k.skip = k.kind == SUM ? (u8)(k.skip + by) : 0;
	k.v += k.kind == MEMORY ? by : 0;
	return k;
}

static bool step(struct dw_prologue *p, const struct move *m)
{
	struct known from = m->from < NREG ? p->reg[m->from] : (struct known){.kind = UNKNOWN},
		     to = {.kind = UNKNOWN};
	from.size = m->size ? MIN(from.size, m->size) : from.size;
	switch (m->kind) {
	case MOVE_NOTHING: return true;
	case MOVE_COPY: to = from; break;
	case MOVE_CONST: to = (struct known){.kind = CONSTANT, .size = m->size, .v = m->v}; break;
	case MOVE_ADD: to = moved(from, m->v); break;
	case MOVE_MASK: to = masked(p->reg[m->to], (u64)m->v, m->size); break;
	case MOVE_SHIFT: to = shifted(m->to < NREG ? p->reg[m->to] : to, (u64)m->v, m->size); break;
	case MOVE_LOAD:
		if (m->from < NREG)
			to = load(p, moved(p->reg[m->from], m->v), m->size);
		break;
	case MOVE_SPOIL: break;
	case MOVE_FILL: from = to; /* fall through */
	case MOVE_STORE:
		to = m->to < NREG ? moved(p->reg[m->to], m->v) : to;
		return is_frame(p, &to) && keep(p, to.v, m->size, from);
	case MOVE_PUSH:
		p->reg[p->sp] = moved(p->reg[p->sp], -8);
		return is_frame(p, &p->reg[p->sp]) && keep(p, p->reg[p->sp].v, 8, from);
	}
	if (m->to >= NREG || (m->to == p->sp && !is_frame(p, &to)))
		return false;
	p->reg[m->to] = to;
	return true;
}

static bool follow(struct dw_prologue *p, const struct arch *a, const u8 *code, u32 n)
{
	struct move m;
	for (u32 at = 0; at < n; at += m.len)
		if (!a->move(code + at, n - at, &m) || m.len > n - at || !step(p, &m))
			return false;
	return true;
}

/* ---- where it is ---- */

/* The first row at an address or behind it. */
static size_t find_row(Dwarf_Lines *table, size_t n, u64 addr)
{
	size_t from = 0, end = n;
	while (from < end) {
		size_t mid = from + (end - from) / 2;
		Dwarf_Addr at = 0;
		dwarf_lineaddr(dwarf_onesrcline(table, mid), &at);
		if (at < addr)
			from = mid + 1;
		else
			end = mid;
	}
	return from;
}

static bool find_end(struct debug *d, const struct dw_spot *s, u64 *ret)
{
	Dwarf_Die unit = s->unit, lines = dw_with_lines(d, &unit), func = s->func;
	Dwarf_Lines *table;
	Dwarf_Addr at;
	bool is_end;
	size_t n;
	if (dwarf_getsrclines(&lines, &table, &n))
		return false;
	for (size_t i = find_row(table, n, s->pc); i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(table, i);
		if (dwarf_lineaddr(row, &at) || at - s->pc > MAX_PROLOGUE ||
		    dwarf_haspc(&func, at) <= 0)
			return false;
		if (!dwarf_lineprologueend(row, &is_end) && is_end) {
			*ret = at;
			return true;
		}
	}
	return false;
}

static const u8 *code_at(struct debug *d, u64 addr, u32 n)
{
	Elf *elf = d->main ? d->main : d->elf;
	Elf_Scn *scn = NULL;
	GElf_Shdr h;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &h) || h.sh_type != SHT_PROGBITS ||
		    !(h.sh_flags & SHF_EXECINSTR) || addr < h.sh_addr ||
		    addr - h.sh_addr > h.sh_size || n > h.sh_size - (addr - h.sh_addr))
			continue;
		Elf_Data *data = elf_getdata_rawchunk(elf, (i64)(h.sh_offset + (addr - h.sh_addr)),
						      n, ELF_T_BYTE);
		return data && data->d_size == n ? data->d_buf : NULL;
	}
	return NULL;
}

/* The instructions before end. */
static const struct dw_prologue *up_to(struct debug *d, const struct dw_spot *s, u64 end)
{
	const struct arch *a = arch_of(d->machine);
	const u8 *code = code_at(d, s->pc, (u32)(end - s->pc));
	struct dw_prologue *p = arena_new(d->arena, struct dw_prologue);
	p->end = end;
	p->sp = a->c_calls.sp;
	for (u8 i = 0; i < NREG; i++)
		p->reg[i] = i < VECTOR - 1
				    ? (struct known){.kind = SUM, .reg = i, .size = 8}
				    : (struct known){.kind = IN_VECTOR, .reg = i, .size = 16};
	return code && follow(p, a, code, (u32)(end - s->pc)) ? p : NULL;
}

const struct dw_prologue *dw_prologue_of(struct debug *d, const struct dw_spot *s)
{
	const struct arch *a = arch_of(d->machine);
	u64 end;
	return a && a->move && find_end(d, s, &end) && end > s->pc ? up_to(d, s, end) : NULL;
}

/* ---- places ---- */

struct places {
	struct debug *d;
	const struct dw_prologue *p;
	u32 n;
	struct debug_piece v[DEBUG_PIECES];
	bool vector; /* some of it is in a vector register */
};

static bool put(struct places *to, bool value, u32 size, const struct debug_op *op, u32 n)
{
	if (to->n == DEBUG_PIECES)
		return false;
	struct debug_op *kept = arena_newn(to->d->arena, struct debug_op, n);
	memcpy(kept, op, n * sizeof(*op));
	to->v[to->n++] = (struct debug_piece){value, size, n, kept};
	return true;
}

/* size bytes of a value, without the first skip ones. */
static bool put_known(struct places *to, const struct known *k, u32 skip, u32 size)
{
	struct debug_op op[8];
	u32 n = 0;
	if (k->kind == IN_VECTOR) {
		to->vector = true;
		return false;
	}
	if (k->kind == UNKNOWN || skip + size > k->size)
		return false;
	bool loads = k->kind == MEMORY && k->cut;
	if (loads && (skip || size > 8 || size & (size - 1)))
		return false;
	if (k->kind != CONSTANT)
		op[n++] = (struct debug_op){DO_REG, k->reg};
	op[n++] = (struct debug_op){DO_CONST, (u64)k->v + (k->kind == MEMORY ? skip : 0)};
	if (k->kind != CONSTANT)
		op[n++] = (struct debug_op){DO_ADD, 0};
	if (k->kind == MEMORY && !loads)
		return put(to, false, size, op, n);
	if (loads)
		op[n++] = (struct debug_op){DO_LOAD, size};
	if (k->cut) {
		op[n++] = (struct debug_op){DO_CONST, k->mask};
		op[n++] = (struct debug_op){DO_AND, 0};
	}
	if (skip + k->skip) {
		op[n++] = (struct debug_op){DO_CONST, 8 * (skip + k->skip)};
		op[n++] = (struct debug_op){DO_SHR, 0};
	}
	return put(to, true, size, op, n);
}

/* Which bytes of a value mean something: compilers move no padding. */
static void mark_used(const struct type *t, u64 at, u64 *used, u32 depth)
{
	u32 n = 0;
	const struct field *f = type_is_record(t) ? type_fields(t, &n) : NULL;
	if (at >= DEBUG_MAX_VALUE)
		return;
	if (t->kind == T_ARRAY && t->base && t->base->size && depth < 16) {
		for (u32 i = 0; i < t->count && i < DEBUG_MAX_VALUE; i++)
			mark_used(t->base, at + (u64)i * t->base->size, used, depth + 1);
		return;
	}
	for (u32 i = 0; i < n && depth < 16; i++)
		mark_used(f[i].type, at + f[i].bit_off / 8, used, depth + 1);
	for (u64 i = at; !n && i < at + t->size && i < DEBUG_MAX_VALUE; i++)
		*used |= 1ull << i;
}

/* Part of a value that lies in the frame at the prologue's end. */
static bool put_frame(struct places *to, const struct type *t, i64 at, u32 skip, u32 size)
{
	static const struct known nothing = {.kind = CONSTANT, .size = DEBUG_MAX_VALUE};
	u64 used = 0;
	mark_used(t, 0, &used, 0);
	for (u32 i = 0, end; i < size; i = end) {
		bool padding = !(used >> (skip + i) & 1);
		const struct store *s = store_at(to->p, at + i);
		const struct known *k = padding ? &nothing : s ? &s->what : NULL;
		for (end = i + 1; end < size && padding == !(used >> (skip + end) & 1) &&
				  (padding || store_at(to->p, at + end) == s);)
			end++;
		u32 from = padding ? 0 : s ? (u32)(at + i - s->at) : 0;
		/* No more than a word in one piece. */
		if (padding || (k && k->kind != MEMORY))
			end = MIN(end, i + 8 - from % 8);
		if (!k || !put_known(to, k, from, end - i))
			return false;
	}
	return true;
}

static bool run_one(const struct dw_prologue *p, const struct debug_op *op, struct known *v, u32 *n)
{
	switch ((enum debug_op_kind)op->kind) {
	case DO_CONST:
		v[(*n)++] = (struct known){.kind = CONSTANT, .size = 8, .v = (i64)op->v};
		return true;
	case DO_REG:
		v[(*n)++] = op->v < NREG ? p->reg[op->v] : (struct known){.kind = UNKNOWN};
		return true;
	case DO_LOAD: v[*n - 1] = load(p, v[*n - 1], (u32)op->v); return true;
	case DO_ADD: {
		struct known a = v[*n - 2], b = v[*n - 1];
		v[--*n - 1] = b.kind == CONSTANT   ? moved(a, b.v)
			      : a.kind == CONSTANT ? moved(b, a.v)
						   : (struct known){.kind = UNKNOWN};
		return true;
	}
	case DO_AND: {
		struct known a = v[*n - 2], b = v[*n - 1];
		v[--*n - 1] = b.kind == CONSTANT ? masked(a, (u64)b.v, 8)
						 : (struct known){.kind = UNKNOWN};
		return true;
	}
	default: return false;
	}
}

static bool run_piece(const struct dw_prologue *p, const struct debug_piece *from,
		      struct known *ret)
{
	struct known v[DEBUG_STACK];
	u32 n = 0;
	for (u32 i = 0; i < from->nop; i++)
		if (!run_one(p, &from->op[i], v, &n))
			return false;
	*ret = v[0];
	return n == 1;
}

static bool put_piece(struct places *to, const struct debug_piece *from, const struct type *t,
		      u32 skip, u32 size)
{
	struct known k;
	if (!run_piece(to->p, from, &k))
		return false;
	if (from->value)
		return put_known(to, &k, 0, size);
	if (is_frame(to->p, &k))
		return t->size <= DEBUG_MAX_VALUE && put_frame(to, t, k.v, skip, size);
	bool is_loaded = k.kind == MEMORY; /* the address itself, by the caller */
	if ((k.kind != SUM && !is_loaded) || !is_whole(&k))
		return false;
	const struct debug_op op[] = {
		{DO_REG, k.reg}, {DO_CONST, (u64)k.v}, {DO_ADD, 0}, {DO_LOAD, 8}};
	return put(to, false, size, op, countof(op) - !is_loaded);
}

/* The first address within the prologue at which a list has a place, where it has none for the end. */
static const struct dw_prologue *at_first_place(struct debug *d, const struct dw_spot *s, u64 end,
						Dwarf_Die *param)
{
	Dwarf_Attribute a;
	Dwarf_Addr base, from, to;
	Dwarf_Op *ops;
	size_t n;
	u64 first = end;
	if (!dwarf_attr_integrate(param, DW_AT_location, &a))
		return NULL;
	for (ptrdiff_t at = 0; (at = dwarf_getlocations(&a, at, &base, &from, &to, &ops, &n)) > 0;)
		if (from > s->pc && from < first)
			first = from;
	return first < end ? up_to(d, s, first) : NULL;
}

bool dw_moves(const struct dw_prologue *p, Dwarf_Die *param)
{
	Dwarf_Attribute a;
	Dwarf_Op *op;
	size_t n;
	if (!dwarf_attr_integrate(param, DW_AT_location, &a) || dwarf_getlocation(&a, &op, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		u64 reg = op[i].atom >= DW_OP_reg0 && op[i].atom <= DW_OP_reg31
				  ? op[i].atom - DW_OP_reg0
			  : op[i].atom >= DW_OP_breg0 && op[i].atom <= DW_OP_breg31
				  ? op[i].atom - DW_OP_breg0
				  : NREG;
		const struct known *k = reg < NREG ? &p->reg[reg] : NULL;
		if (k && !(k->kind == IN_VECTOR && k->reg == reg) &&
		    !(k->kind == SUM && is_whole(k) && k->reg == reg && !k->v))
			return true;
	}
	return false;
}

enum dw_found dw_by_prologue(struct debug *d, const struct dw_spot *s, const struct dw_prologue *p,
			     Dwarf_Die *param, struct debug_var *v)
{
	struct dw_spot at = *s;
	struct debug_var body = {.name = v->name, .type = v->type};
	struct places to = {.d = d, .p = p};
	at.pc = p->end;
	at.at_entry = false;
	u32 size = v->type->size, done = 0;
	if (dw_holds(d, &at, param) == DW_HOLDS_ELSEWHERE) {
		to.p = at_first_place(d, s, p->end, param);
		at.pc = to.p ? to.p->end : at.pc;
	}
	if (!to.p || !size || !dw_place(d, &at, param, &body) || body.why)
		return DW_UNFOUND;
	for (u32 i = 0; i < body.loc.npiece && done < size; i++) {
		const struct debug_piece *from = &body.loc.piece[i];
		u32 n = from->size ? MIN(from->size, size - done) : size - done;
		if (!put_piece(&to, from, v->type, done, n))
			return to.vector ? DW_FOUND_IN_VECTOR : DW_UNFOUND;
		done += n;
	}
	if (to.n == 1)
		to.v[0].size = 0;
	struct debug_piece *kept = arena_newn(d->arena, struct debug_piece, to.n);
	memcpy(kept, to.v, to.n * sizeof(*kept));
	v->loc = (struct debug_loc){to.n, kept};
	v->why = NULL;
	return DW_FOUND;
}
