/*
 * parquet.c - one table in a file of Apache Parquet (github.com/apache/parquet-format): what every event has, then a
 * column for each name of a value, null where an event does not have it.
 *
 * Rows are collected in groups. A column of a group is one page of plain values; runs of ones and zeros before them say
 * where it has one. The footer is a struct of Thrift's compact protocol.
 */
#include "base/alloc.h"
#include "base/pack.h"
#include "base/tab.h"
#include "export/cells.h"
#include "export/export.h"
#include "rec/pack.h"

enum { GROUP_ROWS = 128 << 10, GROUP_BYTES = 64 << 20, FIXED = 6 };
/* Of Thrift. */
enum { T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };
/* Of Parquet: physical types, what they stand for, codecs. */
enum { P_BOOLEAN = 0, P_INT32 = 1, P_INT64 = 2, P_DOUBLE = 5, P_BYTES = 6 };
enum { AS_NOTHING = -1, AS_UTF8 = 0, AS_UINT64 = 14 };
enum { OPTIONAL = 1, PLAIN = 0, RLE = 3, CODEC_PLAIN = 0, CODEC_PARQUET_ZSTD = 6 };

struct table_column {
	struct str name;
	i8 type, as;
	struct sb values, levels;
	u32 run;    /* rows of the same level, not yet in .levels */
	bool has;   /* that level */
	u32 bits;   /* of the last byte of booleans */
	bool given; /* the row has a value */
};
struct parquet {
	struct exporting *x;
	struct table_column *col;
	u32 ncol;
	struct tab names;
	u32 **place; /* by schema */
	u32 nplace;
	struct rec_press *press;
	struct sb groups, page, packed, tmp;
	u32 ngroup, rows;
	u64 all;
};

/* ---- Thrift ---- */

static void put_varint(struct sb *b, u64 n)
{
	u8 bytes[REC_VARINT_BYTES];
	sb_mem(b, bytes, (size_t)(varint_put(bytes, n) - bytes));
}

/* The number of the field before becomes this one. */
static void field(struct sb *b, u32 *last, u32 id, u32 type)
{
	sb_char(b, (char)((id - *last) << 4 | type));
	*last = id;
}

static void put_i32(struct sb *b, u32 *last, u32 id, i64 n)
{
	field(b, last, id, T_I32);
	put_varint(b, zigzag(n));
}

static void put_i64(struct sb *b, u32 *last, u32 id, u64 n)
{
	field(b, last, id, T_I64);
	put_varint(b, zigzag((i64)n));
}

static void put_text(struct sb *b, struct str s)
{
	put_varint(b, s.n);
	sb_add(b, s);
}

static void put_list(struct sb *b, u32 *last, u32 id, u32 n, u32 type)
{
	field(b, last, id, T_LIST);
	sb_char(b, (char)(MIN(n, 15u) << 4 | type));
	if (n >= 15)
		put_varint(b, n);
}

/* ---- columns ---- */

static u32 add_column(struct parquet *p, struct str name, i32 type, i32 as)
{
	void *at = tab_get(&p->names, name);
	u32 i = (u32)(uintptr_t)at - 1;
	if (at && p->col[i].type == type && p->col[i].as == as)
		return i;
	if (at) { /* values of another type have this name */
		struct str other = str_z(arena_fmt(&p->x->a, "%.*s_", STRF(name)));
		return add_column(p, other, type, as);
	}
	p->col = xrealloc(p->col, (p->ncol + 1ul) * sizeof(*p->col));
	p->col[p->ncol] = (struct table_column){.name = name, .type = (i8)type, .as = (i8)as};
	tab_set(&p->names, name, (void *)(uintptr_t)(p->ncol + 1ul));
	return p->ncol++;
}

static u32 column_of(struct parquet *p, const struct rec_column *c)
{
	AUTO_SB visible = {0};
	struct str name = cell_name(c);
	void *at = tab_get(&p->names, name);
	if (at && (uintptr_t)at <= FIXED) /* args.pid is not the pid of the event */
		name = c->expr;
	sb_visible(&visible, name);
	name = arena_str(&p->x->a, sb_str(&visible));
	switch (c->kind) {
	case REC_INT: return add_column(p, name, P_INT64, c->sign ? AS_NOTHING : AS_UINT64);
	case REC_POINTER: return add_column(p, name, P_INT64, AS_UINT64);
	case REC_BOOL: return add_column(p, name, P_BOOLEAN, AS_NOTHING);
	case REC_FLOAT: return add_column(p, name, P_DOUBLE, AS_NOTHING);
	case REC_BYTES: return add_column(p, name, P_BYTES, AS_NOTHING);
	case REC_ENUM:
	case REC_STRING:
	case REC_NAMED:
	case REC_STACK:
	case REC_ARRAY: break;
	}
	return add_column(p, name, P_BYTES, AS_UTF8);
}

static void parquet_begin(void *self, struct exporting *x)
{
	struct parquet *p = self;
	u32 n;
	const struct rec_schema *const *s = rec_schemas(x->f, &n);
	p->x = x;
	add_column(p, STR("ts"), P_INT64, AS_NOTHING);
	add_column(p, STR("cpu"), P_INT32, AS_NOTHING);
	add_column(p, STR("pid"), P_INT32, AS_NOTHING);
	add_column(p, STR("tid"), P_INT32, AS_NOTHING);
	add_column(p, STR("comm"), P_BYTES, AS_UTF8);
	add_column(p, STR("probe"), P_BYTES, AS_UTF8);
	for (u32 i = 0; i < n; i++)
		p->nplace = MAX(p->nplace, s[i]->id + 1);
	p->place = arena_newn(&x->a, u32 *, p->nplace);
	for (u32 i = 0; i < n; i++) {
		u32 *to = p->place[s[i]->id] = arena_newn(&x->a, u32, s[i]->ncolumn + 1ul);
		for (u32 k = 0; k < s[i]->ncolumn; k++)
			to[k] = column_of(p, &s[i]->column[k]);
	}
	if (rec_has_codec(CODEC_ZSTD))
		p->press = rec_press_new(CODEC_ZSTD);
	sb_z(&x->out.b, "PAR1");
}

/* ---- rows ---- */

static void end_run(struct table_column *c)
{
	if (!c->run)
		return;
	put_varint(&c->levels, (u64)c->run << 1);
	sb_char(&c->levels, (char)c->has);
	c->run = 0;
}

static void put_level(struct table_column *c, bool has)
{
	if (has != c->has)
		end_run(c);
	c->has = has;
	c->run++;
}

/* The column has a value in this row. */
static struct sb *value(struct parquet *p, u32 i)
{
	struct table_column *c = &p->col[i];
	if (c->given)
		return NULL; /* of two values with one name the first */
	c->given = true;
	return &c->values;
}

static void put_number(struct parquet *p, u32 i, u64 n)
{
	struct table_column *c = &p->col[i];
	struct sb *b = value(p, i);
	if (!b)
		return;
	if (c->type == P_BOOLEAN) {
		if (c->bits % 8 == 0)
			sb_char(b, 0);
		b->s[b->n - 1] = (char)(b->s[b->n - 1] | (n != 0) << c->bits++ % 8);
		return;
	}
	sb_mem(b, &n, c->type == P_INT32 ? sizeof(u32) : sizeof(u64));
}

static void put_bytes(struct parquet *p, u32 i, struct str s)
{
	struct sb *b = value(p, i);
	if (b)
		pack_str(b, s);
}

static void put_cell(struct parquet *p, u32 i, const struct rec_column *c, const struct rec_cell *v)
{
	if (v->missing)
		return;
	if (c->kind == REC_INT || c->kind == REC_POINTER || c->kind == REC_BOOL ||
	    c->kind == REC_FLOAT) {
		put_number(p, i, v->u);
		return;
	}
	if (c->kind == REC_BYTES) {
		put_bytes(p, i, v->str);
		return;
	}
	const struct rec_stack *s = c->kind == REC_STACK ? rec_stack_of(p->x->f, (u32)v->u) : NULL;
	sb_clear(&p->tmp);
	for (u32 k = 0; s && k < s->n; k++) {
		sb_z(&p->tmp, k ? ";" : "");
		cell_frame(&p->tmp, p->x->f, s->frame[k]);
	}
	if (c->kind == REC_STACK && !s)
		return;
	cell_text(&p->tmp, p->x->f, c, v);
	put_bytes(p, i, sb_str(&p->tmp));
}

/* ---- groups ---- */

static void put_page_header(struct parquet *p, struct sb *b, u32 raw, u32 stored)
{
	u32 last = 0, inner = 0;
	put_i32(b, &last, 1, 0); /* a page of data */
	put_i32(b, &last, 2, raw);
	put_i32(b, &last, 3, stored);
	field(b, &last, 5, T_STRUCT);
	put_i32(b, &inner, 1, p->rows);
	put_i32(b, &inner, 2, PLAIN);
	put_i32(b, &inner, 3, RLE);
	put_i32(b, &inner, 4, RLE);
	sb_char(b, 0);
	sb_char(b, 0);
}

/* Writes the page of a column, and what the footer says about it. */
static u64 end_column(struct parquet *p, struct table_column *c)
{
	struct sb *out = &p->x->out.b, *b = &p->groups;
	u64 at = export_at(&p->x->out);
	u32 last = 0, inner = 0;
	end_run(c);
	sb_clear(&p->page);
	pack_str(&p->page, sb_str(&c->levels));
	sb_add(&p->page, sb_str(&c->values));
	sb_clear(&p->packed);
	bool packed = p->press && rec_press(p->press, sb_str(&p->page), &p->packed);
	struct sb *stored = packed ? &p->packed : &p->page;
	put_page_header(p, out, (u32)p->page.n, (u32)stored->n);
	u64 head = export_at(&p->x->out) - at;
	sb_add(out, sb_str(stored));
	put_i64(b, &last, 2, at);
	field(b, &last, 3, T_STRUCT);
	put_i32(b, &inner, 1, c->type);
	put_list(b, &inner, 2, 2, T_I32);
	put_varint(b, zigzag(PLAIN));
	put_varint(b, zigzag(RLE));
	put_list(b, &inner, 3, 1, T_BINARY);
	put_text(b, c->name);
	put_i32(b, &inner, 4, packed ? CODEC_PARQUET_ZSTD : CODEC_PLAIN);
	put_i64(b, &inner, 5, p->rows);
	put_i64(b, &inner, 6, head + p->page.n);
	put_i64(b, &inner, 7, head + stored->n);
	put_i64(b, &inner, 9, at);
	sb_char(b, 0);
	sb_char(b, 0);
	sb_clear(&c->levels);
	sb_clear(&c->values);
	c->bits = 0;
	export_room(&p->x->out);
	return head + p->page.n;
}

static void end_group(struct parquet *p)
{
	u32 last = 0;
	u64 bytes = 0;
	if (!p->rows)
		return;
	put_list(&p->groups, &last, 1, p->ncol, T_STRUCT);
	for (u32 i = 0; i < p->ncol; i++)
		bytes += end_column(p, &p->col[i]);
	put_i64(&p->groups, &last, 2, bytes);
	put_i64(&p->groups, &last, 3, p->rows);
	sb_char(&p->groups, 0);
	p->ngroup++;
	p->all += p->rows;
	p->rows = 0;
}

static void parquet_row(void *self, const struct rec_row *r)
{
	struct parquet *p = self;
	const struct rec_schema *s = r->schema;
	size_t bytes = 0;
	put_number(p, 0, r->ts);
	put_number(p, 1, r->cpu);
	if (r->task) {
		put_number(p, 2, r->task->pid);
		put_number(p, 3, r->task->tid);
		sb_clear(&p->tmp);
		sb_visible(&p->tmp, r->task->comm);
		put_bytes(p, 4, sb_str(&p->tmp));
	}
	sb_clear(&p->tmp);
	sb_visible(&p->tmp, s->probe);
	put_bytes(p, 5, sb_str(&p->tmp));
	for (u32 i = 0; i < s->ncolumn; i++)
		put_cell(p, p->place[s->id][i], &s->column[i], &r->cell[i]);
	for (u32 i = 0; i < p->ncol; i++) {
		put_level(&p->col[i], p->col[i].given);
		p->col[i].given = false;
		bytes += p->col[i].values.n;
	}
	if (++p->rows >= GROUP_ROWS || bytes >= GROUP_BYTES)
		end_group(p);
}

/* ---- the footer ---- */

static void put_schema(struct parquet *p, struct sb *b)
{
	u32 last = 0;
	field(b, &last, 4, T_BINARY);
	put_text(b, STR("event"));
	put_i32(b, &last, 5, p->ncol);
	sb_char(b, 0);
	for (u32 i = 0; i < p->ncol; i++) {
		const struct table_column *c = &p->col[i];
		last = 0;
		put_i32(b, &last, 1, c->type);
		put_i32(b, &last, 3, OPTIONAL);
		field(b, &last, 4, T_BINARY);
		put_text(b, c->name);
		if (c->as != AS_NOTHING)
			put_i32(b, &last, 6, c->as);
		sb_char(b, 0);
	}
}

/* Losses are facts about the file. */
static void put_losses(struct parquet *p, struct sb *b, u32 *last)
{
	u32 n;
	const struct rec_loss *l = rec_losses(p->x->f, &n);
	if (!n)
		return;
	put_list(b, last, 5, n, T_STRUCT);
	for (u32 i = 0; i < n; i++) {
		AUTO_SB text = {0};
		AUTO_SB key = {0};
		u32 inner = 0;
		sb_z(&key, "lost.");
		sb_visible(&key, l[i].kind);
		sb_visible(&text, l[i].text);
		field(b, &inner, 1, T_BINARY);
		put_text(b, sb_str(&key));
		field(b, &inner, 2, T_BINARY);
		put_text(b, sb_str(&text));
		sb_char(b, 0);
	}
}

static void parquet_end(void *self)
{
	struct parquet *p = self;
	struct sb *b = &p->x->out.b;
	u32 last = 0;
	end_group(p);
	u64 at = export_at(&p->x->out);
	put_i32(b, &last, 1, 1);
	put_list(b, &last, 2, p->ncol + 1, T_STRUCT);
	put_schema(p, b);
	put_i64(b, &last, 3, p->all);
	put_list(b, &last, 4, p->ngroup, T_STRUCT);
	sb_add(b, sb_str(&p->groups));
	put_losses(p, b, &last);
	field(b, &last, 6, T_BINARY);
	put_text(b, STR("sonde"));
	sb_char(b, 0);
	pack_u32(b, (u32)(export_at(&p->x->out) - at));
	sb_z(b, "PAR1");
	for (u32 i = 0; i < p->ncol; i++) {
		sb_free(&p->col[i].values);
		sb_free(&p->col[i].levels);
	}
	free(p->col);
	tab_free(&p->names);
	rec_press_free(p->press);
	sb_free(&p->groups);
	sb_free(&p->page);
	sb_free(&p->packed);
	sb_free(&p->tmp);
}

const struct exporter export_parquet = {
	.name = "parquet",
	.doc = "one table in a file of Apache Parquet: for DuckDB, Spark, pandas",
	.ending = ".parquet",
	.size = sizeof(struct parquet),
	.begin = parquet_begin,
	.row = parquet_row,
	.end = parquet_end,
};
