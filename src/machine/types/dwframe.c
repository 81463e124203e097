/* dwframe.c - an address as the source has it: functions that were inlined there, and lines. */
#include "types/dw.h"

enum { MAX_INLINED = 32 };

/* Functions around an address, the outermost first. */
struct chain {
	Dwarf_Die die[MAX_INLINED];
	u32 n;
};

static void descend(struct debug *d, Dwarf_Die *parent, u64 addr, struct chain *c)
{
	Dwarf_Die at = *parent, die;
	for (u32 depth = 0; depth < DW_DEPTH && dw_child(d, &at, &die); depth++) {
		bool found = false;
		do {
			int tag = dwarf_tag(&die);
			if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
			    tag != DW_TAG_try_block && tag != DW_TAG_catch_block)
				continue;
			found = dwarf_haspc(&die, addr) > 0;
		} while (!found && dw_next(d, &die));
		if (!found)
			return;
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine && c->n < MAX_INLINED)
			c->die[c->n++] = die;
		at = die;
	}
}

static struct str name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *z = NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a))
		z = dwarf_formstring(&a);
	return dw_str(z ? z : dwarf_diename(die));
}

/* Where it was called from: its place in the function around it. */
static void call_site(Dwarf_Die *unit, Dwarf_Die *die, struct debug_frame *f)
{
	Dwarf_Files *files;
	size_t n;
	u64 file = 0, line = 0;
	if (dw_udata(die, DW_AT_call_line, &line))
		f->line = (u32)MIN(line, (u64)UINT32_MAX);
	if (dw_udata(die, DW_AT_call_file, &file) && !dwarf_getsrcfiles(unit, &files, &n) &&
	    file < n)
		f->source = dw_str(dwarf_filesrc(files, file, NULL, NULL));
}

static void own_line(Dwarf_Die *unit, u64 addr, struct debug_frame *f)
{
	Dwarf_Line *at = dwarf_getsrc_die(unit, addr);
	int line;
	if (!at || dwarf_lineno(at, &line))
		return;
	f->line = (u32)MAX(line, 0);
	f->source = dw_str(dwarf_linesrc(at, NULL, NULL));
}

u32 debug_frames(struct debug *d, u64 addr, struct debug_frame *v, u32 max)
{
	struct chain c = {.n = 0};
	Dwarf_Die unit, func;
	u32 n = 0;
	d->budget = DW_BUDGET;
	if (!max || !dw_unit_at(d, addr, &unit))
		return 0;
	if (dw_func_at(d, &unit, addr, &func))
		c.die[c.n++] = func;
	if (c.n)
		descend(d, &func, addr, &c);
	struct debug_frame place = {.name = STR("")};
	Dwarf_Die lines = dw_with_lines(d, &unit);
	own_line(&lines, addr, &place);
	if (!c.n && place.line)
		v[n++] = place;
	while (c.n && n < max) {
		Dwarf_Die *die = &c.die[--c.n];
		v[n] = place;
		v[n].name = name_of(die);
		v[n].inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
		n++;
		place = (struct debug_frame){.name = STR("")};
		call_site(&lines, die, &place);
	}
	return n;
}
