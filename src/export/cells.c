/* cells.c - see cells.h. */
#include "export/cells.h"

enum { NS_PER_S = 1000000000, COMM_WIDTH = 16 };

struct str cell_name(const struct rec_column *c)
{
	static const struct str args = {"args.", 5};
	return str_starts(c->expr, args) ? str_from(c->expr, args.n) : c->expr;
}

struct str cell_enumerator(const struct rec_file *f, const struct rec_column *c, u64 u)
{
	const struct rec_enum *e = c->enum_id ? rec_enum_of(f, c->enum_id) : NULL;
	for (u32 i = 0; e && i < e->n; i++)
		if (e->v[i].value == u)
			return e->v[i].name;
	return (struct str){0};
}

u64 cell_element(const struct rec_column *c, const struct rec_cell *v, u32 i)
{
	u32 size = c->size / c->count, unused = 64 - 8 * size;
	u64 u = 0;
	assert(size && size <= sizeof(u) && (u64)(i + 1) * size <= v->str.n);
	memcpy(&u, v->str.s + (size_t)i * size, size);
	return c->sign ? (u64)((i64)(u << unused) >> unused) : u;
}

double cell_float(const struct rec_cell *v)
{
	double d;
	memcpy(&d, &v->u, sizeof(d));
	return d;
}

static void put_number(struct sb *b, const struct rec_file *f, const struct rec_column *c, u64 u)
{
	struct str name = cell_enumerator(f, c, u);
	if (name.s)
		sb_visible(b, name);
	else if (c->kind == REC_POINTER)
		sb_fmt(b, "0x%llx", u);
	else if (c->sign)
		sb_i64(b, (i64)u);
	else
		sb_u64(b, u);
}

static void put_list(struct sb *b, const struct rec_file *f, const struct rec_column *c,
		     const struct rec_cell *v)
{
	sb_char(b, '[');
	for (u32 i = 0; i < c->count; i++) {
		if (i)
			sb_char(b, ',');
		put_number(b, f, c, cell_element(c, v, i));
	}
	sb_char(b, ']');
}

void cell_text(struct sb *b, const struct rec_file *f, const struct rec_column *c,
	       const struct rec_cell *v)
{
	if (v->missing) {
		sb_char(b, '?');
		return;
	}
	switch (c->kind) {
	case REC_INT:
	case REC_BOOL:
	case REC_POINTER:
	case REC_ENUM: put_number(b, f, c, v->u); return;
	case REC_FLOAT: sb_fmt(b, "%g", cell_float(v)); return;
	case REC_STRING:
	case REC_NAMED:
		sb_visible(b, v->str);
		if (v->cut)
			sb_z(b, "..");
		return;
	case REC_BYTES:
		for (u32 i = 0; i < v->str.n; i++)
			sb_fmt(b, "%02x", (u8)v->str.s[i]);
		return;
	case REC_ARRAY: put_list(b, f, c, v); return;
	case REC_STACK: return;
	}
}

struct str cell_probe(const struct rec_schema *s)
{
	bool event = str_is(s->type, "tracepoint") && str_starts(s->probe, STR("tracepoint:"));
	return event ? str_from(s->probe, s->type.n + 1) : s->probe;
}

void cell_function(struct sb *b, const struct rec_file *f, u32 id)
{
	const struct rec_frame *fr = rec_frame_of(f, id);
	if (!fr)
		sb_char(b, '?');
	else if (fr->sym.n)
		sb_visible(b, fr->sym);
	else if (fr->text.n)
		sb_visible(b, fr->text);
	else
		sb_fmt(b, "0x%llx", fr->addr);
}

static struct str base_name(struct str path)
{
	for (u32 i = path.n; i; i--)
		if (path.s[i - 1] == '/')
			return str_from(path, i);
	return path;
}

void cell_frame(struct sb *b, const struct rec_file *f, u32 id)
{
	const struct rec_frame *fr = rec_frame_of(f, id);
	struct str file = fr && fr->language.n ? base_name(fr->source) : STR("");
	cell_function(b, f, id);
	if (!file.n || str_eq(file, fr->sym))
		return;
	sb_z(b, " (");
	sb_visible(b, file);
	sb_char(b, ')');
}

/* "+0x12", or where a function without an address is. */
static void put_place(struct sb *b, const struct rec_frame *fr)
{
	if (!fr->language.n) {
		sb_fmt(b, "+0x%llx", fr->sym_off);
		return;
	}
	if (fr->source.n) {
		sb_char(b, '@');
		sb_visible(b, fr->source);
	}
	if (fr->source.n && fr->line)
		sb_fmt(b, ":%u", fr->line);
}

static void put_frame(struct sb *b, const struct rec_file *f, u32 id)
{
	const struct rec_frame *fr = rec_frame_of(f, id);
	const struct rec_mapping *m = fr ? rec_mapping_of(f, fr->mapping) : NULL;
	sb_z(b, "\n\t");
	if (!fr) {
		sb_char(b, '?');
		return;
	}
	sb_fmt(b, "%16llx ", fr->addr);
	if (fr->sym.n) {
		sb_visible(b, fr->sym);
		put_place(b, fr);
	} else {
		sb_z(b, "[unknown]");
	}
	if (m) {
		sb_z(b, " (");
		sb_visible(b, m->path);
		sb_char(b, ')');
	}
}

static void put_stack(struct sb *b, const struct rec_file *f, u32 id)
{
	const struct rec_stack *s = rec_stack_of(f, id);
	for (u32 i = 0; s && i < s->n; i++)
		put_frame(b, f, s->frame[i]);
}

/* "              dd    4711 [001] 12.345678: syscalls:sys_enter_read: fd=3 count=512" */
void cell_row(struct sb *b, const struct rec_file *f, const struct rec_row *r)
{
	const struct rec_schema *s = r->schema;
	AUTO_SB comm = {0};
	sb_visible(&comm, r->task ? r->task->comm : STR("?"));
	sb_fmt(b, "%*s ", COMM_WIDTH, comm.n ? comm.s : "");
	if (r->task)
		sb_fmt(b, "%7u", r->task->tid);
	else
		sb_fmt(b, "%7s", "?");
	sb_fmt(b, " [%03u] %llu.%06llu: ", r->cpu, r->ts / NS_PER_S, r->ts / 1000 % 1000000);
	sb_visible(b, cell_probe(s));
	sb_char(b, ':');
	for (u32 i = 0; i < s->ncolumn; i++) {
		const struct rec_column *c = &s->column[i];
		if (c->kind == REC_STACK)
			continue;
		sb_char(b, ' ');
		sb_visible(b, cell_name(c));
		sb_char(b, '=');
		cell_text(b, f, c, &r->cell[i]);
	}
	for (u32 i = 0; i < s->ncolumn; i++)
		if (s->column[i].kind == REC_STACK && !r->cell[i].missing)
			put_stack(b, f, (u32)r->cell[i].u);
	sb_char(b, '\n');
}
