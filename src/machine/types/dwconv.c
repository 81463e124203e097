/*
 * dwconv.c - where calling conventions put parameters and results.
 *
 * Needed at the first instruction of a function, where debug information of code that is not
 * optimised tells only where parameters will be later. x86-64: integers and pointers, and structs
 * of up to 16 bytes of them, in six registers, the rest on the stack; aarch64: eight registers, and
 * larger structs by their address. Floating point numbers are in registers that the kernel does not
 * hand to probes, but for those that find no room there.
 */
#include "arch/arch.h"
#include "types/dw.h"

static const char floats[] =
	"is in a floating point register, which the kernel does not show to probes";
static const char mixed[] = "is a struct with floating point members, which are in registers that "
			    "the kernel does not show to probes";
static const char unknown[] = "has a place that cannot be known, because a parameter before it is "
			      "not understood";

static const char as_rust[] = "has a place that cannot be known: Rust passes such values in a way "
			      "of its own";
static const char no_type[] = "has a type that cannot be read: a part of the debug information "
			      "is damaged or in a file that is missing";

/* NULL: not known for this machine. */
static const struct arch_convention *convention(const struct debug *d)
{
	const struct arch *a = arch_of(d->machine);
	return a ? &a->c_calls : NULL;
}

enum pass_kind { PASS_INT, PASS_FLOAT, PASS_MIXED, PASS_MEMORY, PASS_POINTER, PASS_NOTHING };

/* Most members of a struct of floating point numbers that is passed in as many registers. */
enum { MAX_HOMOGENEOUS = 4 };

/* Which halves of a value of up to 16 bytes hold integers and which floating point numbers. */
struct halves {
	bool whole[2], flt[2], memory;
};

static void look(const struct type *t, u64 at, struct halves *h, int depth)
{
	if (depth > 16 || at + t->size > 16) {
		h->memory = true;
		return;
	}
	if (type_is_record(t)) {
		u32 n;
		const struct field *f = type_fields(t, &n);
		for (u32 i = 0; i < n && !h->memory; i++)
			look(f[i].type, at + f[i].bit_off / 8, h, depth + 1);
		return;
	}
	if (t->kind == T_ARRAY) {
		for (u32 i = 0; i < t->count && t->base->size && i < 16; i++)
			look(t->base, at + (u64)i * t->base->size, h, depth + 1);
		return;
	}
	bool flt = t->kind == T_FLOAT;
	if (flt && t->size > 8) /* long double */
		h->memory = true;
	u32 k = MIN((u32)at / 8, 1u);
	h->flt[k] |= flt;
	h->whole[k] |= !flt;
}

/* Members of a struct of nothing but floating point numbers of one size; 0: it is none of those. */
static u32 homogeneous(const struct type *t, u32 *size, int depth)
{
	u32 n, sum = 0;
	if (t->kind == T_FLOAT && (!*size || *size == t->size)) {
		*size = t->size;
		return 1;
	}
	if (depth > 16)
		return 0;
	if (t->kind == T_ARRAY)
		return t->count > MAX_HOMOGENEOUS
			       ? 0
			       : t->count * homogeneous(t->base, size, depth + 1);
	if (!type_is_record(t))
		return 0;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++) {
		u32 one = homogeneous(f[i].type, size, depth + 1);
		if (!one)
			return 0;
		sum = t->kind == T_UNION ? MAX(sum, one) : sum + one;
	}
	return sum > MAX_HOMOGENEOUS ? 0 : sum;
}

/* Alignment as conventions count it: what the members need, not what was asked for the whole. */
static u32 natural_align(struct debug *d, Dwarf_Die *die, const struct type *t, int depth)
{
	u32 n, most = 8;
	u64 asked;
	Dwarf_Die c;
	if (t->kind == T_ARRAY && depth && depth < 16 && t->align <= 8) /* else it is a vector */
		return natural_align(d, NULL, t->base, depth + 1);
	if (!type_is_record(t))
		return t->size >= 16 ? 16 : 8;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n && depth < 16; i++) {
		u32 align = natural_align(d, NULL, f[i].type, depth + 1);
		most = MAX(most, align);
	}
	bool more = die && dw_child(d, die, &c);
	for (; more; more = dw_next(d, &c))
		if (dwarf_tag(&c) == DW_TAG_member && dw_udata(&c, DW_AT_alignment, &asked) &&
		    asked >= 16)
			most = 16;
	return most;
}

/* The type's DIE behind typedefs and qualifiers. */
static bool peeled(struct debug *d, Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Die t;
	if (!dw_ref(d, die, DW_AT_type, &t))
		return false;
	for (int i = 0; i < DW_DEPTH; i++) {
		int tag = dwarf_tag(&t);
		*ret = t;
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type && tag != DW_TAG_restrict_type)
			return true;
		if (!dw_ref(d, ret, DW_AT_type, &t))
			return false;
	}
	return false;
}

/* What somebody wrote, not the compiler for itself. */
static bool is_written(Dwarf_Die *method)
{
	u64 how = 0;
	return !dw_flag(method, DW_AT_artificial) &&
	       !(dw_udata(method, DW_AT_defaulted, &how) && how == DW_DEFAULTED_in_class);
}

/* A constructor from another object of the class: its parameter is a reference to one. */
static bool copies(struct debug *d, Dwarf_Die *class, Dwarf_Die *method)
{
	Dwarf_Die p, t;
	bool more = dw_child(d, method, &p);
	for (; more; more = dw_next(d, &p)) {
		if (dwarf_tag(&p) != DW_TAG_formal_parameter || dw_flag(&p, DW_AT_artificial))
			continue;
		int tag = dw_ref(d, &p, DW_AT_type, &t) ? dwarf_tag(&t) : 0;
		if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
			return false;
		return peeled(d, &t, &p) && p.addr == class->addr;
	}
	return false;
}

/*
 * C++ classes that cannot be copied byte by byte are passed and returned by address. Some
 * compilers say so; else it follows from destructors, copying constructors and virtual functions
 * of the class, its bases and its members.
 */
static bool by_address(struct debug *d, Dwarf_Die *class, int depth)
{
	u64 cc;
	Dwarf_Die c, t;
	int tag = dwarf_tag(class);
	if (dw_udata(class, DW_AT_calling_convention, &cc))
		return cc == DW_CC_pass_by_reference;
	if ((tag != DW_TAG_structure_type && tag != DW_TAG_class_type) || depth > 8)
		return false;
	struct str name = dw_str(dwarf_diename(class));
	bool more = dw_child(d, class, &c);
	for (; more; more = dw_next(d, &c)) {
		struct str is = dw_str(dwarf_diename(&c));
		switch (dwarf_tag(&c)) {
		case DW_TAG_subprogram:
			if (!is_written(&c))
				break;
			if (str_starts(is, STR("~")) || (str_eq(is, name) && copies(d, class, &c)))
				return true;
			break;
		case DW_TAG_member:
			if (str_starts(is, STR("_vptr")))
				return true;
			if (dw_flag(&c, DW_AT_external) || dw_flag(&c, DW_AT_declaration))
				break;
			/* fall through */
		case DW_TAG_inheritance:
			if (peeled(d, &c, &t) && by_address(d, &t, depth + 1))
				return true;
			break;
		}
	}
	return false;
}

bool dw_is_by_address(struct debug *d, Dwarf_Die *param)
{
	Dwarf_Die type;
	return peeled(d, param, &type) && by_address(d, &type, 0);
}

static enum pass_kind kind_of(struct debug *d, Dwarf_Die *holder, const struct type *t)
{
	const struct arch_convention *c = convention(d);
	struct halves h = {0};
	Dwarf_Die die;
	bool is_die = peeled(d, holder, &die);
	assert(c);
	if (is_die && by_address(d, &die, 0))
		return PASS_POINTER;
	if (is_die && dwarf_tag(&die) == DW_TAG_array_type && dw_flag(&die, DW_AT_GNU_vector))
		return PASS_FLOAT;
	if (t->kind == T_FLOAT && t->size > 8 && c->large_by_pointer)
		return PASS_FLOAT;
	bool parts = type_is_record(t) || t->kind == T_ARRAY;
	if (!parts && t->kind != T_FLOAT)
		return t->size ? PASS_INT : PASS_NOTHING;
	u32 one = 0;
	if (c->large_by_pointer && homogeneous(t, &one, 0))
		return PASS_FLOAT;
	look(t, 0, &h, 0);
	bool any_flt = h.flt[0] || h.flt[1], any_int = h.whole[0] || h.whole[1];
	if (t->size > 16 || h.memory)
		return c->large_by_pointer && parts ? PASS_POINTER : PASS_MEMORY;
	if (!any_flt && !any_int)
		return PASS_NOTHING;
	if (c->large_by_pointer)
		return PASS_INT;
	/* An integer beside a float in one half makes that half an integer. */
	bool flt = (h.flt[0] && !h.whole[0]) || (h.flt[1] && !h.whole[1]);
	return !flt ? PASS_INT : !any_int ? PASS_FLOAT : PASS_MIXED;
}

/* ---- Rust ---- */

/*
 * Rust's own convention is not C's, and functions of both look alike here. They agree on single
 * numbers, on pairs of which the second is in the second word, on what is larger than two words,
 * and on arrays and the like that fit into one word. The rest is refused.
 */
struct leaves {
	u32 n;
	u64 second; /* where the second begins */
	bool other; /* an array, a union, an enum with data */
};

static void count_leaves(const struct type *t, u64 at, struct leaves *l, int depth)
{
	u32 n = 0;
	if (!t->size)
		return;
	if (t->kind == T_ARRAY || t->kind == T_UNION || depth > 16) {
		l->other = true;
		return;
	}
	if (!type_is_record(t)) {
		l->second = l->n == 1 ? at : l->second;
		l->n++;
		return;
	}
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++) {
		l->other |= !f[i].name.n || f[i].type->kind == T_NONE; /* a variant */
		count_leaves(f[i].type, at + f[i].bit_off / 8, l, depth + 1);
	}
}

static bool has_variants(struct debug *d, Dwarf_Die *type)
{
	Dwarf_Die c;
	for (bool more = dw_child(d, type, &c); more; more = dw_next(d, &c))
		if (dwarf_tag(&c) == DW_TAG_variant_part)
			return true;
	return false;
}

static bool is_like_c(struct debug *d, Dwarf_Die *holder, const struct type *t)
{
	struct leaves l = {0};
	Dwarf_Die die;
	if (t->size > 16 || !(type_is_record(t) || t->kind == T_ARRAY))
		return true;
	count_leaves(t, 0, &l, 0);
	if (peeled(d, holder, &die) && has_variants(d, &die))
		return false;
	if (!l.other && l.n == 2)
		return l.second >= 8;
	return l.n == 1 && !l.other ? true : t->size <= 8 && (l.other || l.n > 2);
}

/* How many registers of floating point numbers a PASS_FLOAT takes. */
static u32 nfloat(const struct arch_convention *c, const struct type *t)
{
	u32 one = 0, n = type_is_record(t) ? homogeneous(t, &one, 0) : 1;
	return c->large_by_pointer ? MAX(n, 1u) : type_is_record(t) && t->size > 8 ? 2 : 1;
}

const char *dw_in_vectors(const struct type *t)
{
	return type_is_record(t) ? mixed : floats;
}

/* n registers as one value. */
static void in_registers(struct debug *d, struct debug_var *v, const u8 *reg, u32 size)
{
	u32 n = size > 8 ? 2 : 1;
	struct debug_piece *p = arena_newn(d->arena, struct debug_piece, n);
	for (u32 i = 0; i < n; i++) {
		struct debug_op *op = arena_new(d->arena, struct debug_op);
		*op = (struct debug_op){DO_REG, reg[i]};
		p[i] = (struct debug_piece){true, n > 1 ? MIN(size - i * 8, 8u) : 0, 1, op};
	}
	v->loc = (struct debug_loc){n, p};
}

/* At the address base + off; base is a register. */
static void in_memory(struct debug *d, struct debug_var *v, u8 base, u64 off)
{
	struct dw_ops o = {0};
	dw_op(&o, DO_REG, base);
	dw_op(&o, DO_CONST, off);
	dw_op(&o, DO_ADD, 0);
	dw_one(d, v, &o, false);
}

bool dw_passes(const struct debug *d, u64 reg)
{
	const struct arch *a = arch_of(d->machine);
	const struct arch_convention *c = convention(d);
	if (!c || arch_dwarf(a, reg) < 0) /* those of floating point numbers */
		return true;
	for (u32 i = 0; i < c->nreg; i++)
		if (c->reg[i] == reg)
			return true;
	return false;
}

void dw_pass_begin(struct dw_pass *p, struct debug *d, const struct dw_spot *s)
{
	Dwarf_Die func = s->func, unit = s->unit;
	const struct arch_convention *c = convention(d);
	*p = (struct dw_pass){.d = d, .lang = dwarf_srclang(&unit)};
	p->lost = !c || p->lang == DW_LANG_Go;
	const struct type *ret = dw_type_of(d, &func);
	if (p->lost || !ret->size)
		return;
	enum pass_kind k = kind_of(d, &func, ret);
	if (p->lang == DW_LANG_Rust && ret->size > 8 && !is_like_c(d, &func, ret)) {
		p->lost = true; /* perhaps by an address in the first register */
		return;
	}
	bool hidden = k == PASS_POINTER || (k == PASS_MEMORY && ret->kind != T_FLOAT);
	if (p->lang == DW_LANG_Rust && type_is_record(ret) && ret->size > 16)
		hidden = true;
	if (hidden && c->hidden_is_first)
		p->nreg++;
}

static void on_stack(struct dw_pass *p, const struct arch_convention *c, struct debug_var *v,
		     u64 align)
{
	p->stack = (p->stack + align - 1) & ~(align - 1);
	in_memory(p->d, v, c->sp, c->skip + p->stack);
	p->stack += ((u64)v->type->size + 7) & ~7ull;
}

static void by_pointer(struct dw_pass *p, const struct arch_convention *c, struct debug_var *v)
{
	if (p->nreg < c->nreg) {
		in_memory(p->d, v, c->reg[p->nreg++], 0);
		return;
	}
	struct dw_ops o = {0};
	dw_op(&o, DO_REG, c->sp);
	dw_op(&o, DO_CONST, c->skip + p->stack);
	dw_op(&o, DO_ADD, 0);
	dw_op(&o, DO_LOAD, 8);
	dw_one(p->d, v, &o, false);
	p->stack += 8;
}

static void integers(struct dw_pass *p, const struct arch_convention *c, struct debug_var *v,
		     u32 align)
{
	u32 need = v->type->size > 8 ? 2 : 1;
	if (c->large_by_pointer && align == 16) /* begins at an even register */
		p->nreg += p->nreg & 1;
	if (p->nreg + need <= c->nreg) {
		in_registers(p->d, v, c->reg + p->nreg, v->type->size);
		p->nreg += need;
		return;
	}
	if (c->large_by_pointer) /* aarch64: no later one goes into a register either */
		p->nreg = c->nreg;
	on_stack(p, c, v, align);
}

/* Where there is no room for both words of a value, C puts both on the stack, and Rust one. */
static bool is_split(const struct dw_pass *p, const struct arch_convention *c, enum pass_kind k,
		     u32 size)
{
	if (size <= 8 || size > 16)
		return false;
	switch (k) {
	case PASS_INT: return p->nreg + 1 == c->nreg;
	case PASS_FLOAT: return p->nvec + 1 == c->nvec;
	case PASS_MIXED: return p->nreg == c->nreg || p->nvec == c->nvec;
	case PASS_MEMORY:
	case PASS_POINTER:
	case PASS_NOTHING: break;
	}
	return false;
}

static void place_by(struct dw_pass *p, Dwarf_Die *param, struct debug_var *v, enum pass_kind k)
{
	const struct arch_convention *c = convention(p->d);
	Dwarf_Die die;
	u32 align = natural_align(p->d, peeled(p->d, param, &die) ? &die : NULL, v->type, 0);
	switch (k) {
	case PASS_INT: integers(p, c, v, align); break;
	case PASS_FLOAT:
		v->why = dw_in_vectors(v->type);
		if (p->nvec + nfloat(c, v->type) <= c->nvec) {
			p->nvec += nfloat(c, v->type);
			break;
		}
		v->why = NULL;
		if (c->large_by_pointer) /* as of the others */
			p->nvec = c->nvec;
		on_stack(p, c, v, align);
		break;
	case PASS_MIXED:
		if (p->nreg == c->nreg || p->nvec == c->nvec) {
			on_stack(p, c, v, align);
			break;
		}
		v->why = mixed;
		p->nreg++;
		p->nvec++;
		break;
	case PASS_MEMORY: on_stack(p, c, v, align); break;
	case PASS_POINTER: by_pointer(p, c, v); break;
	case PASS_NOTHING: v->why = "has no size, so it is not passed at all"; break;
	}
}

void dw_pass_next(struct dw_pass *p, Dwarf_Die *param, struct debug_var *v)
{
	const struct arch_convention *c = convention(p->d);
	bool bad = v->type->kind == T_ERROR;
	if (p->lost || bad) {
		v->why = bad ? no_type : unknown;
		p->lost = true;
		return;
	}
	assert(c);
	enum pass_kind k = kind_of(p->d, param, v->type);
	bool rust = p->lang == DW_LANG_Rust;
	if (rust && v->type->size > 16 && k == PASS_MEMORY)
		k = PASS_POINTER;
	if (rust && (!is_like_c(p->d, param, v->type) || is_split(p, c, k, v->type->size))) {
		v->why = as_rust;
		p->lost = true;
		return;
	}
	place_by(p, param, v, k);
}

void dw_return(struct debug *d, const struct dw_spot *s, struct debug_var *ret)
{
	const struct arch_convention *c = convention(d);
	Dwarf_Die func = s->func, unit = s->unit, t;
	if (!dw_ref(d, &func, DW_AT_type, &t))
		return;
	ret->type = dw_type_of(d, &func);
	ret->name = STR("retval");
	if (ret->type->kind == T_ERROR) {
		ret->why = no_type;
		return;
	}
	if (!c || dwarf_srclang(&unit) == DW_LANG_Go) {
		ret->type = NULL;
		return;
	}
	ret->why = dw_no_result(d, s);
	if (ret->why)
		return;
	enum pass_kind k = kind_of(d, &func, ret->type);
	bool rust = dwarf_srclang(&unit) == DW_LANG_Rust;
	if (rust && type_is_record(ret->type) && k == PASS_MEMORY)
		k = PASS_POINTER;
	if (rust && !is_like_c(d, &func, ret->type)) {
		ret->why = as_rust;
		return;
	}
	switch (k) {
	case PASS_INT: in_registers(d, ret, c->ret, ret->type->size); break;
	case PASS_FLOAT: ret->why = dw_in_vectors(ret->type); break;
	case PASS_MIXED: ret->why = mixed; break;
	case PASS_MEMORY:
	case PASS_POINTER:
		if (ret->type->kind == T_FLOAT)
			ret->why = floats;
		else if (c->hidden_is_first)
			in_memory(d, ret, c->ret[0], 0);
		else
			ret->why = "is written to an address that is not known at the return";
		break;
	case PASS_NOTHING: ret->type = NULL; break;
	}
}
