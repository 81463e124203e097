/* points.c - see points.h. */
#include "import/points.h"
#include "base/err.h"

enum {
	MAX_EVENTS = POINTS_PER_PAGE * POINTS_PER_PAGE,
	COMMON_PID_AT = 4,
};

struct str points_text(struct bytes *b, u64 n)
{
	const u8 *p = n > UINT32_MAX ? NULL : bytes_take(b, n);
	b->bad |= !p;
	return p ? str_n((const char *)p, n) : (struct str){"", 0};
}

/* ---- formats ---- */

/* An integer of a size that a column can have. */
static bool is_number(const struct type *t)
{
	bool kind = t->kind == T_INT || t->kind == T_BOOL || t->kind == T_ENUM || t->kind == T_PTR;
	return kind && (t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8);
}

static struct str c_type(struct arena *a, const struct type *t)
{
	AUTO_SB b = {0};
	type_name(t, &b);
	return arena_str(a, sb_str(&b));
}

/* False: there is no column for such a field. */
static bool make_column(struct arena *a, const struct field *f, struct rec_column *c)
{
	const struct type *t = f->type;
	bool text = f->data_loc || (t->kind == T_ARRAY && t->base && t->base->is_char) ||
		    t->kind == T_STRING;
	bool list = t->kind == T_ARRAY && t->base && is_number(t->base) && t->count &&
		    t->count <= REC_MAX_ELEMENTS;
	*c = (struct rec_column){.size = t->size};
	if (f->bit_len || f->bit_off % 8 || f->data_loc > 1 || !f->name.n)
		return false;
	if (f->data_loc && t->kind != T_STRING &&
	    !(t->kind == T_ARRAY && t->base && t->base->is_char))
		return false;
	c->expr = str_z(arena_fmt(a, f->data_loc ? "str(args.%.*s)" : "args.%.*s", STRF(f->name)));
	c->ctype = c_type(a, t);
	if (text) {
		c->kind = REC_STRING;
		c->coding = REC_TEXT;
		c->size = f->data_loc ? POINT_MAX_STRING : t->size;
		if (f->data_loc)
			c->ctype = STR("string[1024]");
		return c->size > 0;
	}
	if (list) {
		c->kind = REC_ARRAY;
		c->coding = REC_LIST;
		c->count = t->count;
		c->sign = t->base->is_signed;
		c->element = c->sign ? REC_ZIGZAG : REC_VARINT;
		return (u64)c->count * t->base->size == c->size;
	}
	if (!is_number(t))
		return false;
	c->kind = t->kind == T_PTR ? REC_POINTER : t->kind == T_BOOL ? REC_BOOL : REC_INT;
	c->sign = t->is_signed && c->kind == REC_INT;
	c->coding = c->sign || t->size == 8 ? REC_ZIGZAG : REC_VARINT;
	return true;
}

/* The name is in the format, and also what the event is called. */
static struct str event_name(struct str text)
{
	struct str line, rest = text, name = STR("name: ");
	str_cut(&rest, '\n', &line);
	return str_starts(line, name) ? str_trim(str_from(line, name.n)) : (struct str){0};
}

struct point *point_of(const struct points *p, u64 id)
{
	struct point **page = id < MAX_EVENTS ? p->page[id / POINTS_PER_PAGE] : NULL;
	return page ? page[id % POINTS_PER_PAGE] : NULL;
}

static void take_columns(struct arena *a, struct point *pt, const struct type *type)
{
	struct rec_column column[POINT_MAX_COLUMNS];
	u32 from[POINT_MAX_COLUMNS];
	for (u32 i = 0; i < type->nfield && pt->ncolumn < POINT_MAX_COLUMNS; i++)
		if (make_column(a, &type->field[i], &column[pt->ncolumn]))
			from[pt->ncolumn++] = i;
	struct rec_column *c = arena_newn(a, struct rec_column, pt->ncolumn + 1);
	struct field *f = arena_newn(a, struct field, pt->ncolumn + 1);
	for (u32 i = 0; i < pt->ncolumn; i++) {
		c[i] = column[i];
		f[i] = type->field[from[i]];
	}
	pt->column = c;
	pt->field = f;
}

static void add_point(struct points *p, struct str system, struct str text)
{
	const struct type *type;
	u64 id = 0;
	struct str name = event_name(text);
	struct err *e = format_parse(text, name, NULL, p->a, &id, &type);
	if (e || !name.n || id >= MAX_EVENTS || point_of(p, id)) {
		err_free(e); /* its events are skipped, and counted */
		return;
	}
	struct point ***page = &p->page[id / POINTS_PER_PAGE];
	if (!*page)
		*page = arena_newn(p->a, struct point *, POINTS_PER_PAGE);
	struct point *pt = (*page)[id % POINTS_PER_PAGE] = arena_new(p->a, struct point);
	pt->id = id;
	pt->probe = str_z(arena_fmt(p->a, "tracepoint:%.*s:%.*s", STRF(system), STRF(name)));
	take_columns(p->a, pt, type);
	arena_push(p->a, p->v, p->n, pt);
}

void points_read_systems(struct points *p, struct bytes *b)
{
	for (u32 n = bytes_u32(b); n && !b->bad; n--) {
		struct str system = str_z(bytes_z(b));
		for (u32 k = bytes_u32(b); k && !b->bad; k--) {
			struct str text = points_text(b, bytes_u64(b));
			if (!b->bad)
				add_point(p, system, text);
		}
	}
}

void points_read(struct points *p, struct bytes *b)
{
	for (u32 n = bytes_u32(b); n && !b->bad; n--)
		points_text(b, bytes_u64(b));
	points_read_systems(p, b);
}

/* ---- events ---- */

static struct str text_at(const u8 *p, u32 n)
{
	const u8 *nul = n ? memchr(p, 0, n) : NULL;
	return (struct str){(const char *)p, nul ? (u32)(nul - p) : n};
}

static u64 number_at(const u8 *p, u32 size, bool sign)
{
	u64 u = 0;
	u32 unused = 64 - 8 * size;
	memcpy(&u, p, size);
	return sign ? (u64)((i64)(u << unused) >> unused) : u;
}

/* False: the field is not within the event. */
static bool take_cell(const u8 *body, u32 nbody, const struct point *pt, u32 i, struct rec_cell *v)
{
	const struct field *f = &pt->field[i];
	const struct rec_column *col = &pt->column[i];
	u32 at = f->bit_off / 8, n = f->data_loc ? 4 : col->size;
	*v = (struct rec_cell){0};
	if (at > nbody || n > nbody - at)
		return false;
	const u8 *p = body + at;
	if (f->data_loc) {
		u32 where = (u32)number_at(p, 4, false), size = where >> 16;
		at = where & 0xffff;
		if (at > nbody || size > nbody - at)
			return false;
		v->str = text_at(body + at, size);
		v->cut = v->str.n > POINT_MAX_STRING;
		v->str.n = MIN(v->str.n, (u32)POINT_MAX_STRING);
	} else if (col->kind == REC_STRING) {
		v->str = text_at(p, n);
	} else if (col->kind == REC_ARRAY) {
		v->str = str_n((const char *)p, n);
	} else {
		v->u = number_at(p, n, col->sign);
	}
	return true;
}

struct point *point_of_event(const struct points *p, const u8 *body, u32 n, u32 *tid)
{
	if (n < POINT_HEAD_BYTES)
		return NULL;
	*tid = (u32)number_at(body + COMMON_PID_AT, 4, false);
	return point_of(p, number_at(body, 2, false));
}

bool point_cells(const struct point *p, const u8 *body, u32 n, struct rec_cell *ret)
{
	for (u32 i = 0; i < p->ncolumn; i++)
		if (!take_cell(body, n, p, i, &ret[i]))
			return false;
	return true;
}
