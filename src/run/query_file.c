/* query_file.c - see query_file.h. */
#include "run/query_file.h"
#include "base/alloc.h"
#include "base/vec.h"

enum {
	MAX_ROW = 1 << 20,    /* bytes of a row in memory */
	NAMED_TEXT = 128,     /* of what stood for a number */
	MAX_PROBES = 1 << 16, /* of all files */
};

/* ---- types ---- */

static const struct type *enum_type(struct arena *a, const struct rec_file *f,
				    const struct rec_column *c)
{
	const struct rec_enum *e = rec_enum_of(f, c->enum_id);
	const struct type *base = type_int(c->size, c->sign);
	struct type *t = arena_new(a, struct type);
	if (!e)
		return base;
	struct enumerator *v = arena_newn(a, struct enumerator, e->n + 1);
	for (u32 i = 0; i < e->n; i++)
		v[i] = (struct enumerator){e->v[i].name, (i64)e->v[i].value};
	*t = (struct type){.kind = T_ENUM,
			   .size = c->size,
			   .align = c->size,
			   .is_signed = c->sign,
			   .name = e->name,
			   .base = base,
			   .nenum = e->n,
			   .enums = v};
	return t;
}

static bool is_int_size(u32 size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static const struct type *array_type(struct arena *a, const struct rec_column *c)
{
	u32 size = c->count ? c->size / c->count : 0;
	return is_int_size(size) ? type_array(a, type_int(size, c->sign), c->count) : NULL;
}

/* Stacks of the kernel and of processes are told apart by the expression: kstack, ustack(perf, 5). */
static const struct type *stack_of(struct arena *a, const struct rec_column *c)
{
	bool kernel = c->expr.n && c->expr.s[0] == 'k';
	return type_stack(a, kernel ? T_KSTACK : T_USTACK, STACK_BPFTRACE, DEFAULT_FRAMES);
}

static const struct type *bytes_type(struct arena *a, const struct rec_column *c)
{
	bool record = str_starts(c->ctype, STR("struct ")) || str_starts(c->ctype, STR("union "));
	return record ? type_array(a, &type_u8, c->size) : type_buf(a, c->size);
}

/* NULL: programs cannot have such a value. */
static const struct type *column_type(struct arena *a, const struct rec_file *f,
				      const struct rec_column *c)
{
	if (c->size > MAX_ROW)
		return NULL;
	switch (c->kind) {
	case REC_INT: return is_int_size(c->size) ? type_int(c->size, c->sign) : NULL;
	case REC_BOOL: return &type_bool;
	case REC_POINTER: return type_ptr(a, &type_none, AS_KERNEL);
	case REC_ENUM: return is_int_size(c->size) ? enum_type(a, f, c) : NULL;
	case REC_STRING: return c->size ? type_string(a, c->size) : NULL;
	case REC_BYTES: return c->size ? bytes_type(a, c) : NULL;
	case REC_ARRAY: return array_type(a, c);
	case REC_STACK: return stack_of(a, c);
	case REC_NAMED: return type_string(a, NAMED_TEXT);
	case REC_FLOAT: return NULL;
	}
	return NULL;
}

/* ---- schemas ---- */

/* As it can be shown on a terminal: nobody knows who wrote the file. */
static struct str visible(struct arena *a, struct str s)
{
	AUTO_SB b = {0};
	sb_visible(&b, s);
	return arena_str(a, sb_str(&b));
}

static void take_columns(struct arena *a, const struct query_file *f, struct query_schema *s)
{
	const struct rec_schema *from = s->schema;
	struct recorded_probe *p = s->probe;
	u64 size = 0;
	p->col = arena_newn(a, struct recorded_column, from->ncolumn + 1);
	s->from = arena_newn(a, const struct rec_column *, from->ncolumn + 1);
	for (u32 i = 0; i < from->ncolumn; i++) {
		const struct type *t = column_type(a, f->file, &from->column[i]);
		if (!t || size + t->size > MAX_ROW)
			continue;
		bool stack = t->kind == T_KSTACK || t->kind == T_USTACK;
		size += stack ? 0 : t->size;
		s->from[p->ncol] = &from->column[i];
		p->col[p->ncol++] = (struct recorded_column){
			.expr = visible(a, from->column[i].expr), .type = t};
	}
	recorded_layout(a, p);
	s->row = arena_alloc(a, p->size, 8);
	memset(s->row, 0, p->size);
}

struct err *query_file_read(struct arena *a, struct query_file *f, struct recorded *probes)
{
	u32 n;
	const struct rec_schema *const *v = rec_schemas(f->file, &n);
	f->nschema = n ? v[n - 1]->id + 1 : 0;
	if (n > MAX_PROBES - probes->nprobe)
		return err_new("%s: more than %d probes", rec_info(f->file)->path, MAX_PROBES);
	/* Ids are dense but where the file is damaged. */
	if (f->nschema > 2 * MAX_PROBES)
		return err_new("%s: a schema has the number %u", rec_info(f->file)->path,
			       f->nschema - 1);
	f->schema = arena_newn(a, struct query_schema, f->nschema + 1);
	f->want = arena_newn(a, bool, f->nschema + 1);
	for (u32 i = 0; i < n; i++) {
		struct query_schema *s = &f->schema[v[i]->id];
		s->schema = v[i];
		s->probe = &probes->probe[probes->nprobe++];
		*s->probe = (struct recorded_probe){.text = visible(a, v[i]->probe)};
		if (str_eq(v[i]->type, v[i]->act)) /* rec/format.h */
			s->probe->kept_by = visible(a, v[i]->act);
		take_columns(a, f, s);
	}
	return NULL;
}

/* ---- rows ---- */

static void put_text(u8 *to, u32 size, struct str s)
{
	u32 n = MIN(s.n, size);
	memcpy(to, s.s, n);
	memset(to + n, 0, size - n);
}

static void put_cell(u8 *to, const struct recorded_column *c, const struct rec_cell *v)
{
	u32 size = c->type->size;
	switch ((int)c->type->kind) {
	case T_STRING: put_text(to, size, v->str); return;
	case T_ARRAY: put_text(to, size, v->str); return;
	case T_BUF: {
		u32 n = MIN(v->str.n, size - 4);
		memcpy(to, &n, sizeof(n));
		put_text(to + 4, size - 4, str_n(v->str.s, n));
		return;
	}
	default: memcpy(to, &v->u, MIN(size, 8u)); return;
	}
}

void query_row_fill(const struct query_file *f, struct query_schema *s)
{
	const struct recorded_probe *p = s->probe;
	for (u32 i = 0; i < p->ncol; i++) {
		const struct recorded_column *c = &p->col[i];
		if (c->used)
			put_cell(s->row + c->off, c, &f->row.cell[s->from[i] - s->schema->column]);
	}
}
