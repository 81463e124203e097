#include "base/diag.h"
#include "base/alloc.h"
#include <stdarg.h>

static const struct {
	const char *name;
	enum severity sev;
} codes[] = {
#define D(code, sev, text) {#code, SEV_##sev},
#include "base/diag.def"
};
_Static_assert(countof(codes) == D_MAX, "one row per code");

enum {
	TAB = 4,         /* columns of a tab in source lines shown */
	LONG_LINE = 320, /* of a longer one only a part is shown, */
	NEAR = 120,      /* from so much before the place on */
	EXPANSIONS = 3,  /* so many reports with one code at one place of a text */
};

const char *diag_code_name(enum diag_code code)
{
	assert((size_t)code < countof(codes));
	return codes[code].name;
}

enum severity diag_severity(enum diag_code code)
{
	assert((size_t)code < countof(codes));
	return codes[code].sev;
}

static bool same_loc(struct loc a, struct loc b)
{
	return a.pos == b.pos && a.len == b.len && a.src == b.src;
}

/* The same place of a text, in the same expansion of it or in another. */
static bool same_text(const struct diags *ds, struct loc a, struct loc b)
{
	if (a.pos != b.pos || a.len != b.len || (!a.pos && !a.len))
		return false;
	return a.src == b.src || (a.src < ds->nsource && b.src < ds->nsource &&
				  ds->source[a.src].text.s == ds->source[b.src].text.s);
}

static PRINTF(2, 0) char *vtext(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	assert(n >= 0);
	char *s = arena_alloc(a, (size_t)n + 1, 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

u16 diags_add_source(struct diags *ds, struct str name, struct str text)
{
	assert(ds->nsource < UINT16_MAX);
	struct source *v = NULL;
	u32 n = 0, nfrom = 0;
	while (!ds->grows && n < ds->nsource) { /* as it was given */
		struct source given = ds->source[n];
		arena_push(ds->arena, ds->from, nfrom, (struct loc){0});
		arena_push(ds->arena, v, n, given);
	}
	if (ds->grows) {
		v = (struct source *)ds->source;
		n = nfrom = ds->nsource;
	}
	arena_push(ds->arena, ds->from, nfrom, (struct loc){0});
	arena_push(ds->arena, v, n, ((struct source){name, text}));
	ds->grows = true;
	ds->source = v;
	ds->nsource = n;
	return (u16)(n - 1);
}

bool diags_embedded(const struct diags *ds, struct loc loc)
{
	return loc.src < ds->nsource && str_starts(ds->source[loc.src].name, STR(EMBEDDED));
}

bool diags_fixed(const struct diags *ds, struct loc loc)
{
	return (loc.pos || loc.len) && diags_embedded(ds, loc) && (loc.src || loc.pos < ds->nfixed);
}

struct loc diags_said_at(const struct diags *ds, struct loc loc)
{
	return diags_embedded(ds, loc) ? (struct loc){0} : loc;
}

u16 diags_add_expansion(struct diags *ds, struct loc at, struct loc from)
{
	assert(at.src < ds->nsource);
	struct source of = ds->source[at.src];
	u16 src = diags_add_source(ds, of.name, of.text);
	ds->from[src] = from;
	return src;
}

struct diag *diag_addv(struct diags *ds, enum diag_code code, struct loc loc, const char *fmt,
		       va_list ap)
{
	bool warn = diag_severity(code) == SEV_WARN;
	u32 alike = 0;
	for (struct diag *d = ds->head; d; d = d->next) {
		if (d->code != code || !same_text(ds, d->loc, loc))
			continue;
		if (same_loc(d->loc, loc))
			return d;
		if (++alike == EXPANSIONS) {
			d->more++;
			break;
		}
	}
	struct diag *d = arena_new(ds->arena, struct diag);
	d->msg = vtext(ds->arena, fmt, ap);
	d->code = code;
	d->loc = loc;
	if ((warn && ds->no_warn) || alike == EXPANSIONS)
		return d; /* not in the list: never shown */
	if (ds->last)
		ds->last->next = d;
	else
		ds->head = d;
	ds->last = d;
	ds->nwarn += warn;
	ds->nerror += !warn;
	return d;
}

struct diag *diag_add(struct diags *ds, enum diag_code code, struct loc loc, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	struct diag *d = diag_addv(ds, code, loc, fmt, ap);
	va_end(ap);
	return d;
}

void diag_hint(struct diags *ds, struct diag *d, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	d->hint = vtext(ds->arena, fmt, ap);
	va_end(ap);
}

void diag_note(struct diags *ds, struct diag *d, struct loc loc, const char *fmt, ...)
{
	struct diag **at = &d->note;
	for (; *at; at = &(*at)->note)
		if (same_loc((*at)->loc, loc))
			return;
	struct diag *n = arena_new(ds->arena, struct diag);
	va_list ap;
	va_start(ap, fmt);
	n->msg = vtext(ds->arena, fmt, ap);
	va_end(ap);
	n->code = d->code;
	n->loc = loc;
	*at = n;
}

static const struct source *source_of(const struct diags *ds, struct loc loc)
{
	if ((!loc.pos && !loc.len) || loc.src >= ds->nsource)
		return NULL;
	const struct source *s = &ds->source[loc.src];
	if (ds->unseen && diags_fixed(ds, loc))
		return NULL;
	return loc.pos <= s->text.n ? s : NULL;
}

/* Line (from 1) that holds pos, and where it begins. */
static u32 line_at(const struct diags *ds, const struct source *s, u32 pos, u32 *start)
{
	struct diag_near at = {s, 1, 0};
	const char *text = s->text.s, *nl;
	pos = MIN(pos, s->text.n);
	if (ds->near && ds->near->source == s)
		at = *ds->near;
	while (at.start > pos) {
		nl = memrchr(text, '\n', at.start - 1);
		at.start = nl ? (u32)(nl - text) + 1 : 0;
		at.line--;
	}
	while (at.start < pos && (nl = memchr(text + at.start, '\n', pos - at.start))) {
		at.start = (u32)(nl - text) + 1;
		at.line++;
	}
	if (ds->near)
		*ds->near = at;
	*start = at.start;
	return at.line;
}

bool diag_place(const struct diags *ds, struct loc loc, u32 *line, u32 *col)
{
	const struct source *s = source_of(ds, loc);
	u32 start;
	if (!s)
		return false;
	*line = line_at(ds, s, loc.pos, &start);
	*col = loc.pos - start + 1;
	return true;
}

struct str diag_line(const struct diags *ds, struct loc loc)
{
	const struct source *s = source_of(ds, loc);
	u32 start;
	if (!s)
		return (struct str){0};
	line_at(ds, s, loc.pos, &start);
	struct str line = str_from(s->text, start);
	i32 end = str_chr(line, '\n');
	if (end >= 0)
		line.n = (u32)end;
	return line;
}

/* Last line that a place touches. */
static u32 last_line(const struct diags *ds, const struct source *s, struct loc loc)
{
	u32 start;
	return line_at(ds, s, loc.pos + (loc.len ? loc.len - 1u : 0), &start);
}

void diag_place_text(const struct diags *ds, struct loc loc, struct sb *out)
{
	const struct source *s = source_of(ds, loc);
	u32 line, col;
	if (!diag_place(ds, loc, &line, &col))
		return;
	u32 last = last_line(ds, s, loc);
	sb_add(out, s->name);
	if (last != line)
		sb_fmt(out, ":%u-%u", line, last);
	else
		sb_fmt(out, ":%u:%u-%u", line, col, col + MAX(loc.len, 1));
}

void diag_caret_text(const struct diags *ds, struct loc loc, struct sb *out)
{
	const struct source *s = source_of(ds, loc);
	u32 start;
	if (!s || last_line(ds, s, loc) != line_at(ds, s, loc.pos, &start))
		return;
	struct str line = diag_line(ds, loc);
	u32 from = loc.pos - start, to = from + MAX(loc.len, 1);
	if (line.n > LONG_LINE) { /* what is near the place */
		u32 cut = from > NEAR ? MIN(from - NEAR, line.n - LONG_LINE) : 0;
		line = str_n(line.s + cut, LONG_LINE);
		from -= cut;
		to = MIN(to - cut, LONG_LINE);
	}
	for (u32 i = 0; i < line.n; i++) {
		if (line.s[i] == '\t')
			sb_pad(out, ' ', TAB);
		else
			sb_char(out, line.s[i]);
	}
	sb_char(out, '\n');
	for (u32 i = 0; i < to; i++) {
		size_t width = i < line.n && line.s[i] == '\t' ? TAB : 1;
		sb_pad(out, i < from ? ' ' : '~', width);
	}
	sb_char(out, '\n');
}

/* What lies in an expansion ends with the places from which it was expanded. */
static void print_one(const struct diags *ds, const struct diag *d, bool color, struct sb *out)
{
	bool warn = diag_severity(d->code) == SEV_WARN;
	if (color)
		sb_z(out, warn ? "\033[33m" : "\033[31m");
	diag_place_text(ds, d->loc, out);
	if (source_of(ds, d->loc))
		sb_z(out, ": ");
	sb_z(out, warn ? "WARNING: " : "ERROR: ");
	if (ds->codes)
		sb_fmt(out, "[%s] ", diag_code_name(d->code));
	sb_z(out, d->msg);
	if (color)
		sb_z(out, "\033[0m");
	sb_char(out, '\n');
	diag_caret_text(ds, d->loc, out);
	if (d->hint)
		sb_fmt(out, "HINT: %s\n", d->hint);
	for (const struct diag *n = d->note; n; n = n->note) {
		struct diag flat = *n;
		flat.note = NULL;
		print_one(ds, &flat, color, out);
	}
	if (ds->from && source_of(ds, d->loc) && source_of(ds, ds->from[d->loc.src])) {
		struct diag from = {
			.code = d->code, .loc = ds->from[d->loc.src], .msg = "expanded from"};
		print_one(ds, &from, color, out);
	}
	if (d->more)
		sb_fmt(out, "The same in %u more expansion%s.\n", d->more, d->more == 1 ? "" : "s");
}

struct entry {
	const struct diag *d;
	u32 index;
	u16 file; /* the first source with this text */
	bool placeless;
};

static u16 file_of(const struct diags *ds, struct loc loc)
{
	u16 i = 0;
	if (loc.src >= ds->nsource)
		return loc.src;
	while (ds->source[i].text.s != ds->source[loc.src].text.s)
		i++;
	return i;
}

static int by_place(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	if (a->placeless != b->placeless)
		return a->placeless - b->placeless;
	if (!a->placeless && a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (!a->placeless && a->d->loc.pos != b->d->loc.pos)
		return a->d->loc.pos < b->d->loc.pos ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

/* Only sentences whose places are not shown can be the same. */
static bool said_before(const struct entry *v, u32 n)
{
	for (u32 i = 0; v[n].placeless && i < n; i++)
		if (v[i].placeless && v[i].d->code == v[n].d->code &&
		    !strcmp(v[i].d->msg, v[n].d->msg))
			return true;
	return false;
}

static void put_all(const struct diags *ds, bool color, struct sb *out)
{
	u32 n = 0;
	for (const struct diag *d = ds->head; d; d = d->next)
		n++;
	if (!n)
		return;
	struct entry *v AUTO_FREE = xcalloc(n, sizeof(*v));
	n = 0;
	for (const struct diag *d = ds->head; d; d = d->next, n++)
		v[n] = (struct entry){d, n, file_of(ds, d->loc), !source_of(ds, d->loc)};
	qsort(v, n, sizeof(*v), by_place);
	for (u32 i = 0; i < n; i++)
		if (!said_before(v, i)) /* at another place, which is not shown */
			print_one(ds, v[i].d, color, out);
}

void diags_text(const struct diags *ds, struct sb *out)
{
	put_all(ds, false, out);
}

void diags_print(const struct diags *ds, FILE *f, bool color)
{
	AUTO_SB out = {0};
	put_all(ds, color, &out);
	fwrite(out.s, 1, out.n, f);
}
