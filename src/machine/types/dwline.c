/*
 * dwline.c - addresses of source lines.
 *
 * When a unit's own source fits the name that was asked for, only such units are read: a file that
 * is compiled by itself is seldom included elsewhere. Else all are.
 */
#include "types/dw.h"

struct lines {
	struct str want;
	u32 line, column;
	VEC(u64) addr;
	u32 below, above;  /* nearest lines that have code, 0: none */
	struct str file;   /* the one with code at the line */
	struct str other;  /* another one with code at the line */
	bool other_column; /* the line has code, but at other columns */
	bool any;
};

static bool fits(struct str path, struct str want)
{
	if (str_starts(want, STR("./")))
		want = str_from(want, 2);
	if (!want.n || !str_ends(path, want))
		return false;
	return path.n == want.n || want.s[0] == '/' || path.s[path.n - want.n - 1] == '/';
}

static void note_near(struct lines *l, u32 line)
{
	if (line && line < l->line)
		l->below = MAX(l->below, line);
	else if (line > l->line)
		l->above = l->above ? MIN(l->above, line) : line;
}

static void note_hit(struct lines *l, struct str path, u64 addr)
{
	if (!l->addr.n)
		l->file = path;
	else if (!str_eq(l->file, path))
		l->other = path;
	for (u32 i = 0; i < l->addr.n; i++)
		if (l->addr.v[i] == addr)
			return;
	vec_add(&l->addr, addr);
}

struct row {
	u64 addr;
	u32 line, column;
	bool stmt, end;
};

static bool read_row(Dwarf_Line *from, struct row *r)
{
	Dwarf_Addr addr;
	int line, column = 0;
	if (!from || dwarf_lineaddr(from, &addr) || dwarf_lineno(from, &line) ||
	    dwarf_linebeginstatement(from, &r->stmt) || dwarf_lineendsequence(from, &r->end))
		return false;
	dwarf_linecol(from, &column);
	r->addr = addr;
	r->line = (u32)MAX(line, 0);
	r->column = (u32)MAX(column, 0);
	return true;
}

/* Rows come in the order of addresses. */
static void read_unit(struct debug *d, Dwarf_Die *unit, struct lines *l)
{
	Dwarf_Lines *table;
	size_t n;
	bool inside = false; /* what came before belongs to the line */
	if (dwarf_getsrclines(unit, &table, &n))
		return;
	const char *last = NULL;
	bool last_fits = false;
	for (size_t i = 0; i < n && d->budget; i++, d->budget--) {
		Dwarf_Line *from = dwarf_onesrcline(table, i);
		struct row r;
		if (!read_row(from, &r))
			continue;
		const char *path = dwarf_linesrc(from, NULL, NULL);
		if (path != last)
			last_fits = path && fits(str_z(path), l->want);
		last = path;
		if (r.end || !last_fits) {
			inside = false;
			continue;
		}
		l->any = true;
		if (r.line == l->line && l->column && r.column != l->column)
			l->other_column = true;
		if (r.line != l->line || (l->column && r.column != l->column)) {
			inside = false;
			if (r.stmt)
				note_near(l, r.line);
		} else if (r.stmt && !inside) {
			note_hit(l, str_z(path), r.addr);
			inside = true;
		}
	}
}

static bool is_of(struct debug *d, Dwarf_Die *unit, struct str want)
{
	struct dw_mark mark = dw_split_mark(d);
	Dwarf_Die die = *unit;
	dw_whole(d, &die); /* its name is there */
	bool is = fits(dw_str(dwarf_diename(&die)), want);
	dw_split_release(d, mark);
	return is;
}

static void read_units(struct debug *d, struct lines *l, bool named)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	while (d->budget && dw_next_unit(d->dw, &cu, &die)) {
		if (!named || is_of(d, &die, l->want))
			read_unit(d, &die, l);
	}
}

static struct err *no_line(const struct debug *d, const struct lines *l)
{
	AUTO_SB near = {0};
	if (!l->any)
		return err_new("%s: no source file '%.*s' in its debug information", d->path,
			       STRF(l->want));
	if (l->below)
		sb_fmt(&near, "%u", l->below);
	if (l->above)
		sb_fmt(&near, "%s%u", l->below ? ", " : "", l->above);
	if (l->other_column)
		return err_new("%.*s: no statement begins at column %u of line %u", STRF(l->want),
			       l->column, l->line);
	return err_new("%.*s: no code at line %u; nearest lines with code: %s", STRF(l->want),
		       l->line, near.n ? near.s : "none");
}

static int by_number(const void *pa, const void *pb)
{
	u64 a = *(const u64 *)pa, b = *(const u64 *)pb;
	return a < b ? -1 : a > b;
}

struct err *debug_line(struct debug *d, struct str file, u32 line, u32 column, u64 **addr, u32 *n)
{
	struct lines l = {.want = file, .line = line, .column = column};
	struct err *e = NULL;
	d->budget = DW_BUDGET;
	read_units(d, &l, true);
	if (!l.addr.n)
		read_units(d, &l, false);
	if (!l.addr.n)
		e = no_line(d, &l);
	else if (l.other.n)
		e = err_new("'%.*s' is %.*s and %.*s: write more of the path", STRF(file),
			    STRF(l.file), STRF(l.other));
	if (!e) {
		qsort(l.addr.v, l.addr.n, sizeof(u64), by_number);
		*addr = arena_newn(d->arena, u64, l.addr.n);
		memcpy(*addr, l.addr.v, l.addr.n * sizeof(u64));
		*n = l.addr.n;
	}
	vec_free(&l.addr);
	return e;
}
