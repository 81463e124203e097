/*
 * dwarf.c - opening DWARF, finding units and functions, what is in scope.
 *
 * The unit that has an address is found by .debug_aranges, and where a compiler writes none by
 * the ranges that every unit names in its first DIE. Only that unit is walked. A damaged file can
 * make DIEs refer in circles: depth and number of DIEs looked at are limited.
 */
#include "types/dw.h"
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

/* ---- DIEs ---- */

bool dw_child(struct debug *d, Dwarf_Die *parent, Dwarf_Die *ret)
{
	if (!d->budget)
		return false;
	d->budget--;
	return dwarf_child(parent, ret) == 0;
}

bool dw_next(struct debug *d, Dwarf_Die *die)
{
	if (!d->budget)
		return false;
	d->budget--;
	return dwarf_siblingof(die, die) == 0;
}

bool dw_ref(struct debug *d, Dwarf_Die *die, unsigned int attr, Dwarf_Die *ret)
{
	Dwarf_Attribute a;
	return dwarf_attr_integrate(die, attr, &a) && dw_formref(d, &a, ret);
}

bool dw_udata(Dwarf_Die *die, unsigned int attr, u64 *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word w;
	if (!dwarf_attr_integrate(die, attr, &a) || dwarf_formudata(&a, &w))
		return false;
	*ret = w;
	return true;
}

bool dw_flag(Dwarf_Die *die, unsigned int attr)
{
	Dwarf_Attribute a;
	bool on;
	return dwarf_attr_integrate(die, attr, &a) && !dwarf_formflag(&a, &on) && on;
}

bool dw_next_unit(Dwarf *dw, Dwarf_CU **cu, Dwarf_Die *ret)
{
	return !dwarf_get_units(dw, *cu, cu, NULL, NULL, ret, NULL);
}

/* ---- opening ---- */

static struct err *no_debug(const struct debug *d)
{
	return err_new("%s has no debug information (compile it with -g, or install its separate "
		       "debug file)",
		       d->path);
}

static bool has_section(Elf *elf, const char *name, const char *packed)
{
	size_t names;
	Elf_Scn *s = NULL;
	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((s = elf_nextscn(elf, s))) {
		GElf_Shdr h;
		const char *n = gelf_getshdr(s, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;
		if (n && h.sh_type != SHT_NOBITS && (!strcmp(n, name) || !strcmp(n, packed)))
			return true;
	}
	return false;
}

static struct err *open_elf(const struct image_file *f, const char *path, int *fd, Elf **ret)
{
	elf_version(EV_CURRENT);
	if (f->member)
		return err_new("%s: debug information of archives' members is not read", path);
	*fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	if (*fd < 0)
		return err_sys(errno, "open %s", path);
	*ret = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
	if (!*ret || elf_kind(*ret) != ELF_K_ELF)
		return err_new("%s: not an ELF file", path);
	return NULL;
}

/* What dwz has moved into a file shared by several programs. */
static struct err *check_alt(const struct debug *d)
{
	const char *name;
	const void *id;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(d->dw, &name, &id);
	if (n <= 0 || dwarf_getalt(d->dw))
		return NULL;
	return err_new("%s: a part of its debug information is in %s, which is not there", d->path,
		       name);
}

static struct err *start(struct debug *d)
{
	GElf_Ehdr eh;
	if (!gelf_getehdr(d->elf, &eh))
		return err_new("%s: not an ELF file", d->path);
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB)
		return err_new("%s is not a 64-bit little-endian program: its debug information "
			       "cannot be used here",
			       d->path);
	d->machine = eh.e_machine;
	d->dw = dwarf_begin_elf(d->elf, DWARF_C_READ, NULL);
	if (!d->dw)
		return err_new("%s: debug information: %s", d->path, dwarf_errmsg(-1));
	return check_alt(d);
}

static struct debug *make(struct arena *a, const char *path)
{
	struct debug *d = arena_new(a, struct debug);
	d->filler.fill = dw_fill;
	d->arena = a;
	d->path = path;
	d->self = "";
	d->fd = d->main_fd = -1;
	return d;
}

static struct err *open_package(struct debug *d, const struct debug_files *f)
{
	int fd = fcntl(f->package->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(errno, "open %s", f->package_path);
	dw_split_package(d, fd, f->package_path);
	return NULL;
}

struct err *debug_open(const char *path, const struct debug_files *f, struct arena *a,
		       struct debug **ret)
{
	struct debug *d = make(a, arena_fmt(a, "%s", path));
	struct err *e = open_elf(f->info, path, &d->fd, &d->elf);
	d->self = arena_fmt(a, "%s", f->info_path);
	if (!e && f->info != f->program)
		e = open_elf(f->program, path, &d->main_fd, &d->main);
	if (!e && !has_section(d->elf, ".debug_info", ".zdebug_info"))
		e = no_debug(d);
	if (!e)
		e = start(d);
	if (!e && f->package)
		e = open_package(d, f);
	if (e)
		debug_close(d);
	else
		*ret = d;
	return e;
}

struct err *debug_open_mem(const void *p, size_t n, struct arena *a, struct debug **ret)
{
	struct debug *d = make(a, "memory");
	elf_version(EV_CURRENT);
	d->elf = elf_memory((char *)p, n);
	bool elf = d->elf && elf_kind(d->elf) == ELF_K_ELF;
	struct err *e = elf ? NULL : err_new("not an ELF file");
	if (!e && !has_section(d->elf, ".debug_info", ".zdebug_info"))
		e = no_debug(d);
	if (!e)
		e = start(d);
	if (e)
		debug_close(d);
	else
		*ret = d;
	return e;
}

void debug_close(struct debug *d)
{
	if (!d)
		return;
	dw_split_end(d);
	if (d->eh)
		dwarf_cfi_end(d->eh);
	if (d->dw)
		dwarf_end(d->dw);
	if (d->elf)
		elf_end(d->elf);
	if (d->main)
		elf_end(d->main);
	if (d->fd >= 0)
		close(d->fd);
	if (d->main_fd >= 0)
		close(d->main_fd);
	for (u32 i = 0; i < d->unit.n; i++)
		vec_free(&d->unit.v[i]->code);
	vec_free(&d->unit);
	vec_free(&d->range);
	vec_free(&d->die);
	vec_free(&d->symbol);
	free(d->type);
	d->dw = NULL;
	d->elf = d->main = NULL;
	d->fd = d->main_fd = -1;
	d->eh = d->cfi = NULL;
	d->type = NULL;
	d->ntype = d->type_cap = 0;
}

/* ---- units ---- */

static void read_ranges(struct debug *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	while (d->budget && dw_next_unit(d->dw, &cu, &die)) {
		Dwarf_Addr base, low, high;
		ptrdiff_t at = 0;
		while (d->budget-- > 1 && (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0)
			vec_add(&d->range, (struct dw_range){low, high, die});
	}
}

static bool find_unit(struct debug *d, u64 addr, Dwarf_Die *ret)
{
	if (dwarf_addrdie(d->dw, addr, ret))
		return true;
	if (!d->ranged)
		read_ranges(d);
	d->ranged = true;
	for (u32 i = 0; i < d->range.n; i++) {
		if (addr < d->range.v[i].low || addr >= d->range.v[i].high)
			continue;
		*ret = d->range.v[i].die;
		return true;
	}
	return false;
}

bool dw_unit_at(struct debug *d, u64 addr, Dwarf_Die *ret)
{
	d->split_why = NULL;
	if (!find_unit(d, addr, ret))
		return false;
	dw_whole(d, ret); /* lines are known without it */
	return true;
}

struct dw_unit *dw_unit_of(struct debug *d, Dwarf_Die *die)
{
	for (u32 i = 0; i < d->unit.n; i++)
		if (d->unit.v[i]->die.addr == die->addr)
			return d->unit.v[i];
	struct dw_unit *u = arena_new(d->arena, struct dw_unit);
	u->die = *die;
	vec_add(&d->unit, u);
	return u;
}

static void add_code(struct dw_unit *u, Dwarf_Die *func)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	for (u32 i = 0; i < 64 && (at = dwarf_ranges(func, at, &base, &low, &high)) > 0; i++)
		if (low < high)
			vec_add(&u->code, (struct dw_code){low, high, *func});
}

static void read_code(struct debug *d, struct dw_unit *u, Dwarf_Die *parent, bool all, int depth)
{
	Dwarf_Die die;
	if (depth > DW_DEPTH || !dw_child(d, parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram)
			add_code(u, &die);
		if (all || tag == DW_TAG_namespace || tag == DW_TAG_module ||
		    tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
			read_code(d, u, &die, all, depth + 1);
	} while (dw_next(d, &die));
}

static const struct dw_code *code_at(const struct dw_unit *u, u64 addr)
{
	for (u32 i = 0; i < u->code.n; i++)
		if (addr >= u->code.v[i].low && addr < u->code.v[i].high)
			return &u->code.v[i];
	return NULL;
}

/* Most functions stand in the unit itself or in a namespace; others are inside functions. */
static const struct dw_code *find_code(struct debug *d, struct dw_unit *u, u64 addr)
{
	const struct dw_code *c = NULL;
	for (u8 level = 1; !c && level <= 2; level++) {
		if (u->read < level) {
			u->code.n = 0;
			read_code(d, u, &u->die, level == 2, 0);
			u->read = level;
		}
		c = code_at(u, addr);
	}
	return c;
}

bool dw_func_at(struct debug *d, Dwarf_Die *unit, u64 addr, Dwarf_Die *ret)
{
	const struct dw_code *c = find_code(d, dw_unit_of(d, unit), addr);
	if (c)
		*ret = c->die;
	return c != NULL;
}

/* ---- what is in scope ---- */

static void add_var(struct debug *d, const struct dw_spot *s, Dwarf_Die *die, dw_vars *out,
		    u32 from)
{
	struct debug_var v = {.name = dw_str(dwarf_diename(die))};
	if (!v.name.n)
		return;
	v.type = dw_type_of(d, die);
	if (!dw_place(d, s, die, &v))
		v.why = "is optimised out there";
	for (u32 i = 0; i < out->n; i++) {
		if (!str_eq(out->v[i].name, v.name))
			continue;
		/* Of one block a declaration may come beside the definition; inner blocks hide. */
		if (i < from || out->v[i].why)
			out->v[i] = v;
		return;
	}
	vec_add(out, v);
}

static bool may_hold(Dwarf_Die *die, u64 pc)
{
	Dwarf_Addr base, low, high;
	return dwarf_haspc(die, pc) > 0 || dwarf_ranges(die, 0, &base, &low, &high) <= 0;
}

static void read_scope(struct debug *d, const struct dw_spot *s, Dwarf_Die *scope, dw_vars *out,
		       int depth)
{
	Dwarf_Die die;
	u32 from = out->n;
	if (depth > DW_DEPTH || !dw_child(d, scope, &die))
		return;
	Dwarf_Die first = die;
	do {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_formal_parameter || tag == DW_TAG_variable)
			add_var(d, s, &die, out, from);
	} while (dw_next(d, &die));
	die = first;
	do {
		int tag = dwarf_tag(&die);
		bool block = tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
			     tag == DW_TAG_catch_block;
		if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&die, s->pc) > 0) {
			out->n = 0; /* of the caller nothing can be named */
			read_scope(d, s, &die, out, depth + 1);
			return;
		}
		if (block && may_hold(&die, s->pc))
			read_scope(d, s, &die, out, depth + 1);
	} while (dw_next(d, &die));
}

u64 debug_near(struct debug *d, u64 addr)
{
	Dwarf_Die unit;
	d->budget = DW_BUDGET;
	if (!dw_unit_at(d, addr, &unit))
		return 0;
	dw_unit_of(d, &unit);
	return (u64)(uintptr_t)unit.addr;
}

struct err *debug_at(struct debug *d, u64 addr, struct debug_func *ret)
{
	struct dw_spot s = {.pc = addr};
	d->budget = DW_BUDGET;
	if (!dw_unit_at(d, addr, &s.unit))
		return err_new("%s has no debug information for address 0x%llx", d->path, addr);
	const struct dw_code *c = find_code(d, dw_unit_of(d, &s.unit), addr);
	if (!c)
		return err_new("%s has no debug information for the function at 0x%llx%s%s",
			       d->path, addr, d->split_why ? ": " : "",
			       d->split_why ? d->split_why : "");
	s.func = c->die;
	Dwarf_Addr entry;
	if (dwarf_entrypc(&s.func, &entry))
		entry = c->low;
	s.at_entry = entry == addr;
	dw_vars v = {0};
	if (s.at_entry)
		dw_params(d, &s, &v);
	else
		read_scope(d, &s, &s.func, &v, 0);
	*ret = (struct debug_func){.name = dw_str(dwarf_diename(&s.func)),
				   .entry = entry,
				   .at_entry = s.at_entry,
				   .nvar = v.n};
	ret->var = arena_newn(d->arena, struct debug_var, v.n + 1);
	if (v.n)
		memcpy(ret->var, v.v, v.n * sizeof(*v.v));
	vec_free(&v);
	dw_return(d, &s, &ret->ret);
	return d->budget ? NULL : err_new("%s: damaged debug information", d->path);
}

/* ---- types by name ---- */

struct wanted {
	struct str name;
	enum type_kind kind;
	Dwarf_Die ret;
};

static bool is_kind(int tag, enum type_kind kind)
{
	bool record = tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
	bool other = tag == DW_TAG_typedef || tag == DW_TAG_base_type;
	switch ((int)kind) {
	case T_STRUCT: return record;
	case T_UNION: return tag == DW_TAG_union_type;
	case T_ENUM: return tag == DW_TAG_enumeration_type;
	}
	return record || other || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static bool search(struct debug *d, Dwarf_Die *parent, struct wanted *w, int depth)
{
	Dwarf_Die die;
	if (depth > DW_DEPTH || !dw_child(d, parent, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);
		if (is_kind(tag, w->kind) && str_eq(dw_str(dwarf_diename(&die)), w->name) &&
		    !dw_flag(&die, DW_AT_declaration)) {
			w->ret = die;
			return true;
		}
		bool inside = tag == DW_TAG_namespace || tag == DW_TAG_module ||
			      tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
		if (inside && search(d, &die, w, depth + 1))
			return true;
	} while (dw_next(d, &die));
	return false;
}

/* In a unit; if that is in another file, what that has is found only if it is kept open. */
static bool search_unit(struct debug *d, Dwarf_Die *unit, struct wanted *w)
{
	struct dw_mark mark = dw_split_mark(d);
	Dwarf_Die type;
	u32 at = 0;
	dw_whole(d, unit);
	if (search(d, unit, w, 0))
		return true;
	while (dw_next_split_type(d, unit, &at, &type))
		if (search(d, &type, w, 0))
			return true;
	dw_split_release(d, mark);
	return false;
}

static bool search_all(struct debug *d, Dwarf *dw, struct wanted *w)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	while (d->budget && dw_next_unit(dw, &cu, &die))
		if (search_unit(d, &die, w))
			return true;
	return false;
}

static bool search_package(struct debug *d, struct wanted *w)
{
	struct dw_mark mark = dw_split_mark(d);
	Dwarf_Die type;
	u32 at = 0;
	while (dw_next_split_type(d, NULL, &at, &type)) {
		if (search(d, &type, w, 0))
			return true;
		dw_split_release(d, mark);
	}
	return false;
}

const struct type *debug_type(struct debug *d, struct str name, enum type_kind kind, bool near)
{
	struct wanted w = {.name = name, .kind = kind};
	bool found = false;
	d->budget = DW_BUDGET;
	for (u32 i = 0; !found && i < d->unit.n; i++) /* the unit of the probe comes first */
		found = search(d, &d->unit.v[i]->die, &w, 0);
	if (!found && !near)
		found = search_all(d, d->dw, &w) || search_package(d, &w);
	Dwarf *alt =
		found || near ? NULL : dwarf_getalt(d->dw); /* what dwz took out of several files */
	if (alt)
		found = search_all(d, alt, &w);
	const struct type *t = found ? dw_type_make(d, &w.ret) : NULL;
	return t && t->kind != T_ERROR ? t : NULL;
}
