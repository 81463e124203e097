/*
 * dwparam.c - parameters at a function's first instruction.
 *
 * Three sources can say where a parameter is at that moment, and each of them is wrong somewhere:
 *
 * - DWARF's place, where it holds at the entry: a list's element for this address, a constant, or a
 *   register in which callers pass parameters. It is right whatever the compiler did to the
 *   function.
 * - DWARF's place in the function's own frame. It holds only after the prologue has stored the
 *   parameter there.
 * - The calling convention. It is right as long as the compiler kept it: always in unoptimised
 *   code; in optimised code for functions that others can call (global symbols), and for those of
 *   gcc whose symbols have no suffix. Local functions may have lost, split or moved parameters.
 *
 * So the first source is used where there is one; for parameters with a place in the frame the
 * convention, if the compiler has kept it, else what the prologue moves there (dwprologue.c), which
 * is asked first for Rust, whose convention is its own; a parameter without a place is optimised
 * out.
 */
#include "arch/arch.h"
#include "types/dw.h"
#include <gelf.h>
#include <libiberty/demangle.h>
#include <stdlib.h>

static const char gone[] = "is optimised out there";
static const char changed[] = "is optimised out at the function's entry: debug information has no "
			      "place for it there";
static const char no_result[] = "may be optimised out: the compiler changed how this function is "
				"called";

/* ---- symbols ---- */

static int by_addr(const void *a, const void *b)
{
	const struct dw_symbol *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* gcc names what it made of a function by a suffix. */
static bool has_suffix(const char *name)
{
	static const char *const marks[] = {".isra.", ".constprop.", ".part."};
	for (size_t i = 0; i < countof(marks); i++)
		if (strstr(name, marks[i]))
			return true;
	return false;
}

/* Such a suffix after which the function may have no result. */
static bool may_drop_result(const char *name)
{
	return strstr(name, ".isra.") || strstr(name, ".part.");
}

static void read_table(struct debug *d, Elf *elf, Elf_Scn *scn, const GElf_Shdr *h)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;
	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, h->sh_link, sym.st_name);
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || !sym.st_shndx || !name)
			continue;
		vec_add(&d->symbol,
			(struct dw_symbol){.addr = sym.st_value,
					   .global = GELF_ST_BIND(sym.st_info) != STB_LOCAL,
					   .suffix = has_suffix(name),
					   .no_result = may_drop_result(name)});
	}
}

static void read_symbols(struct debug *d)
{
	Elf *elf[] = {d->elf, d->main};
	for (size_t i = 0; i < countof(elf) && !d->symbol.n; i++) {
		Elf_Scn *s = NULL;
		GElf_Shdr h;
		while (elf[i] && (s = elf_nextscn(elf[i], s)))
			if (gelf_getshdr(s, &h) && h.sh_type == SHT_SYMTAB)
				read_table(d, elf[i], s, &h);
	}
	if (d->symbol.n)
		qsort(d->symbol.v, d->symbol.n, sizeof(*d->symbol.v), by_addr);
	d->symbols_read = true;
}

/* What all symbols at an address say together. False: there are none. */
static bool symbol_at(struct debug *d, u64 addr, struct dw_symbol *ret)
{
	if (!d->symbols_read)
		read_symbols(d);
	u32 from = 0, end = d->symbol.n;
	while (from < end) {
		u32 mid = from + (end - from) / 2;
		if (d->symbol.v[mid].addr < addr)
			from = mid + 1;
		else
			end = mid;
	}
	*ret = (struct dw_symbol){.addr = addr};
	for (end = from; end < d->symbol.n && d->symbol.v[end].addr == addr; end++) {
		ret->global |= d->symbol.v[end].global;
		ret->suffix |= d->symbol.v[end].suffix;
		ret->no_result |= d->symbol.v[end].no_result;
	}
	return end > from;
}

/* ---- what the compiler did ---- */

/* Set by compilers that optimise: all calls of the function are described. */
static bool has_call_sites(Dwarf_Die *func)
{
	return dw_flag(func, DW_AT_call_all_calls) || dw_flag(func, DW_AT_GNU_all_call_sites);
}

/* LLVM's mark, since version 17. */
static bool is_nocall(Dwarf_Die *func)
{
	u64 cc;
	return dw_udata(func, DW_AT_calling_convention, &cc) && cc == DW_CC_nocall;
}

enum maker { BY_GCC, BY_CLANG, BY_OTHER };

static enum maker maker_of(const struct dw_spot *s)
{
	Dwarf_Attribute a;
	Dwarf_Die unit = s->unit;
	const char *by = dwarf_attr(&unit, DW_AT_producer, &a) ? dwarf_formstring(&a) : NULL;
	if (!by)
		return BY_OTHER;
	return !strncmp(by, "GNU ", 4) ? BY_GCC : strstr(by, "clang version") ? BY_CLANG : BY_OTHER;
}

static bool is_value(Dwarf_Die *param)
{
	Dwarf_Attribute a;
	Dwarf_Op *v;
	size_t n;
	if (dwarf_attr(param, DW_AT_const_value, &a))
		return true;
	if (!dwarf_attr(param, DW_AT_location, &a) || dwarf_getlocation(&a, &v, &n) || !n)
		return false;
	u32 last = v[n - 1].atom;
	return last == DW_OP_stack_value || last == DW_OP_piece ||
	       (last >= DW_OP_reg0 && last <= DW_OP_reg31);
}

/* Parameters that are constants, values without a place, or in registers all the time: nothing of
 * that is in unoptimised code, but in what is inlined there. */
static bool shows_values(struct debug *d, Dwarf_Die *parent, u32 *left, int depth)
{
	Dwarf_Die die;
	if (depth > DW_DEPTH || !dw_child(d, parent, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);
		if (!--*left)
			return false;
		if (tag == DW_TAG_formal_parameter && is_value(&die))
			return true;
		if (tag != DW_TAG_inlined_subroutine && shows_values(d, &die, left, depth + 1))
			return true;
	} while (*left && dw_next(d, &die));
	return false;
}

/* Rust does not say it at functions: other functions of the unit may show it. */
static bool is_unit_optimised(struct debug *d, const struct dw_spot *s)
{
	enum { LOOKED_AT = 20000 };
	Dwarf_Die unit = s->unit;
	u32 left = LOOKED_AT;
	struct dw_unit *u = dw_unit_of(d, &unit);
	if (!u->asked)
		u->optimised = shows_values(d, &unit, &left, 0);
	u->asked = true;
	return u->optimised;
}

/* shown: its parameters show that it is optimised. clang and gcc say so at the function. */
static bool is_optimised(struct debug *d, const struct dw_spot *s, bool shown)
{
	Dwarf_Die func = s->func;
	if (has_call_sites(&func))
		return true;
	switch (maker_of(s)) {
	case BY_CLANG: return false;
	case BY_GCC: return shown;
	case BY_OTHER: break;
	}
	return shown || is_unit_optimised(d, s);
}

static bool keeps_convention(struct debug *d, const struct dw_spot *s, bool optimised)
{
	Dwarf_Die func = s->func;
	struct dw_symbol sym;
	if (is_nocall(&func))
		return false;
	bool known = symbol_at(d, s->pc, &sym);
	if (known && sym.suffix)
		return false;
	if (!optimised)
		return true;
	if (maker_of(s) == BY_GCC)
		return known;
	return known && sym.global && dw_flag(&func, DW_AT_external);
}

const char *dw_no_result(struct debug *d, const struct dw_spot *s)
{
	Dwarf_Die func = s->func;
	Dwarf_Addr entry;
	struct dw_symbol sym;
	bool ok = !dwarf_entrypc(&func, &entry) && symbol_at(d, entry, &sym);
	return is_nocall(&func) || (ok && sym.no_result) ? no_result : NULL;
}

/* ---- parameters that are not there ---- */

/* Where the list of parameters in "n::f(int, std::map<int, int>) const" begins and ends. */
static bool list_in(const char *s, const char **from, const char **end)
{
	int depth = 0;
	*end = strrchr(s, ')');
	for (const char *p = *end; p && p >= s; p--) {
		depth += *p == ')' ? 1 : *p == '(' ? -1 : 0;
		*from = p + 1;
		if (!depth)
			return true;
	}
	return false;
}

static u32 count_listed(const char *from, const char *end)
{
	u32 n = from < end;
	int depth = 0;
	for (const char *p = from; p < end; p++) {
		depth += strchr("(<[{", *p) ? 1 : strchr(")>]}", *p) ? -1 : 0;
		n += *p == ',' && !depth;
	}
	bool dots = end - from >= 3 && !memcmp(end - 3, "...", 3);
	return n - dots;
}

/*
 * clang can leave out a parameter of unoptimised code, a class that is passed by its address. C++
 * names tell how many there are. True if one is missing.
 */
static bool lacks_some(Dwarf_Die *func, u32 n)
{
	Dwarf_Attribute a;
	const char *from, *end;
	const char *name =
		dwarf_attr_integrate(func, DW_AT_linkage_name, &a) ? dwarf_formstring(&a) : NULL;
	char *plain AUTO_FREE = name && !strncmp(name, "_Z", 2)
					? cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI)
					: NULL;
	return plain && list_in(plain, &from, &end) && count_listed(from, end) > n;
}

/* ---- parameters ---- */

struct param {
	Dwarf_Die die;
	enum dw_holds holds;
	bool artificial; /* this */
	bool unknown;    /* the convention does not tell */
	struct debug_var by_dwarf, by_convention;
};
typedef VEC(struct param) params;

/* The copy of an original parameter in a function made from it; false: that has dropped it. */
static bool find_copy(struct debug *d, Dwarf_Die *func, Dwarf_Die *orig, Dwarf_Die *ret)
{
	Dwarf_Die die, from;
	Dwarf_Attribute a;
	if (!dw_child(d, func, &die))
		return false;
	do {
		if (dwarf_tag(&die) == DW_TAG_formal_parameter &&
		    dwarf_attr(&die, DW_AT_abstract_origin, &a) && dw_formref(d, &a, &from) &&
		    from.addr == orig->addr) {
			*ret = die;
			return true;
		}
	} while (dw_next(d, &die));
	return false;
}

/* The register that a place, or its first piece, begins with. */
static bool first_register(const struct debug_var *v, u64 *ret)
{
	const struct debug_piece *p = v->loc.piece;
	if (v->why || !v->loc.npiece || !p->nop || p->op->kind != DO_REG)
		return false;
	*ret = p->op->v;
	return true;
}

static bool is_register(const struct debug_var *v)
{
	u64 reg;
	return first_register(v, &reg) && v->loc.piece->value && v->loc.piece->nop == 1;
}

/* Of a parameter that DWARF and the convention both know: do they mean the same register? */
static bool disagree(const struct param *p)
{
	u64 a, b;
	return p->holds == DW_HOLDS && first_register(&p->by_dwarf, &a) &&
	       first_register(&p->by_convention, &b) && a != b;
}

/* In code that is not optimised all parameters are in the frame, or are addresses that callers
 * gave in registers. */
static bool shows_optimiser(const struct param *p)
{
	return p->holds == DW_HOLDS_NOT || p->holds == DW_IS_CONST ||
	       (p->holds == DW_HOLDS && (p->by_dwarf.why || is_register(&p->by_dwarf)));
}

static void look_at(struct debug *d, const struct dw_spot *s, struct dw_pass *pass, struct param *p)
{
	struct debug_var v = {.name = dw_str(dwarf_diename(&p->die))};
	v.type = dw_type_of(d, &p->die);
	p->by_dwarf = p->by_convention = v;
	p->holds = dw_holds(d, s, &p->die);
	p->artificial = dw_flag(&p->die, DW_AT_artificial);
	if (p->holds >= DW_HOLDS_STACK)
		dw_place(d, s, &p->die, &p->by_dwarf);
	dw_pass_next(pass, &p->die, &p->by_convention);
	p->unknown = pass->lost;
}

static void collect(struct debug *d, const struct dw_spot *s, params *out)
{
	Dwarf_Die func = s->func, die, origin;
	Dwarf_Attribute a;
	struct dw_pass pass;
	bool is_copy = dwarf_attr(&func, DW_AT_abstract_origin, &a) && dw_formref(d, &a, &origin);
	dw_pass_begin(&pass, d, s);
	if (!dw_child(d, is_copy ? &origin : &func, &die))
		return;
	do {
		struct param p = {.die = die};
		if (dwarf_tag(&die) != DW_TAG_formal_parameter ||
		    (pass.lang == DW_LANG_Go && dw_flag(&die, DW_AT_variable_parameter)))
			continue; /* Go lists results, too */
		bool found = is_copy && find_copy(d, &func, &die, &p.die);
		/* Constructors of complete objects lack what those of base classes are given. */
		if (is_copy && !found && dw_flag(&die, DW_AT_artificial))
			continue;
		look_at(d, s, &pass, &p);
		vec_add(out, p);
	} while (dw_next(d, &die));
}

static struct debug_var at_entry(const struct param *p, bool keeps, bool optimised)
{
	struct debug_var v = p->by_convention;
	switch (p->holds) {
	case DW_HOLDS:
	case DW_IS_CONST: return p->by_dwarf;
	case DW_HOLDS_STACK: return keeps && !p->unknown ? v : p->by_dwarf;
	case DW_HOLDS_NOT: v.why = gone; break;
	case DW_HOLDS_ELSEWHERE: v.why = optimised ? gone : keeps ? v.why : changed; break;
	case DW_HOLDS_LATER: v.why = keeps ? v.why : changed; break;
	}
	return v;
}

static bool is_memory(const struct debug_loc *l)
{
	for (u32 i = 0; i < l->npiece; i++)
		if (l->piece[i].value)
			return false;
	return true;
}

/* Of what is passed by its address, with the address on the stack, LLVM may say for optimised code that it is there. */
static bool is_on_stack(const struct debug *d, const struct debug_var *v)
{
	const struct debug_piece *p = v->loc.piece;
	return !p->value && p->op->kind == DO_REG && p->op->v == arch_of(d->machine)->c_calls.sp &&
	       p->op[p->nop - 1].kind == DO_ADD;
}

/* A function that parameters are asked for, one after the other. */
struct entry {
	struct debug *d;
	const struct dw_spot *s;
	bool keeps, optimised, rust, followed;
	const struct dw_prologue *prologue;
};

static const struct dw_prologue *prologue_of(struct entry *e)
{
	if (!e->followed)
		e->prologue = dw_prologue_of(e->d, e->s);
	e->followed = true;
	return e->prologue;
}

/*
 * What holds at the entry holds in all of the function, or so debug information says: LLVM may give the one place that
 * the prologue puts a parameter into.
 */
static void ask_moves(struct entry *e, struct param *p, struct debug_var *v)
{
	if (!prologue_of(e) || !dw_moves(e->prologue, &p->die))
		return;
	struct debug_var found = *v;
	if (dw_by_prologue(e->d, e->s, e->prologue, &p->die, &found) == DW_FOUND)
		*v = found;
	else
		v->why = changed;
}

/*
 * By the instructions of the prologue, if that can tell more. Values that optimised code has elsewhere may be those of
 * the function's first statements, which leave no instruction behind; structs in memory are not.
 */
static void ask_prologue(struct entry *e, struct param *p, struct debug_var *v)
{
	struct debug_var found = *v;
	if (p->holds == DW_HOLDS && !v->why)
		ask_moves(e, p, v);
	if (p->holds != DW_HOLDS_LATER && p->holds != DW_HOLDS_ELSEWHERE)
		return;
	if (!e->rust && e->keeps && (!v->why || p->holds == DW_HOLDS_ELSEWHERE))
		return;
	if (!prologue_of(e) || v->type->kind == T_ERROR)
		return;
	switch (dw_by_prologue(e->d, e->s, e->prologue, &p->die, &found)) {
	case DW_UNFOUND: return;
	case DW_FOUND_IN_VECTOR: v->why = dw_in_vectors(v->type); return;
	case DW_FOUND: break;
	}
	bool by_address = e->rust ? v->type->size > 8 : dw_is_by_address(e->d, &p->die);
	if (e->optimised && by_address && is_on_stack(e->d, &found))
		v->why = changed;
	else if (p->holds == DW_HOLDS_LATER || !e->optimised || is_memory(&found.loc))
		*v = found;
}

void dw_params(struct debug *d, const struct dw_spot *s, dw_vars *out)
{
	params v = {0};
	Dwarf_Die func = s->func;
	bool optimised = false, differs = false;
	u32 written = 0;
	collect(d, s, &v);
	for (u32 i = 0; i < v.n; i++) {
		optimised |= shows_optimiser(&v.v[i]);
		differs |= disagree(&v.v[i]);
		written += !v.v[i].artificial;
	}
	optimised = is_optimised(d, s, optimised);
	differs |= maker_of(s) == BY_CLANG && lacks_some(&func, written);
	struct entry e = {.d = d, .s = s, .optimised = optimised};
	Dwarf_Die unit = s->unit;
	e.rust = dwarf_srclang(&unit) == DW_LANG_Rust;
	e.keeps = !differs && keeps_convention(d, s, optimised);
	for (u32 i = 0; i < v.n; i++) {
		struct debug_var var = at_entry(&v.v[i], e.keeps, optimised);
		ask_prologue(&e, &v.v[i], &var);
		if (var.name.n)
			vec_add(out, var);
	}
	vec_free(&v);
}
