/*
 * csv.c - rows of tables as comma-separated values (RFC 4180), one line of names before them.
 *
 * That line is there without rows, too. Values are those of JSON: whole numbers in the unit that the name says; what is not known is
 * empty. What is no row has no place here: texts and maps are left out.
 */
#include "core/columns.h"
#include "sink/out.h"

struct csv {
	struct out o;
	struct sink_env env;
	const struct columns *head; /* whose names were printed last */
};

static struct err *csv_open(void *self, const struct sink_env *env, const struct str *opts)
{
	(void)opts;
	struct csv *c = self;
	c->env = *env;
	out_init(&c->o, env);
	return NULL;
}

static bool is_part(struct str part, struct str name, const char *of)
{
	return str_starts(part, name) && str_eq(str_from(part, name.n), str_z(of));
}

/* What stands between a histogram's name and _min: a maximum of it, as a column, has the name of _max. */
static const char *bucket_word(const struct columns *t, struct str name)
{
	for (u32 i = 0; i < t->n; i++) {
		struct str other = t->col[i].name;
		if (is_part(other, name, "_min") || is_part(other, name, "_max") ||
		    is_part(other, name, "_count"))
			return "_bucket";
	}
	return "";
}

static void put_bucket_names(struct sb *b, const struct columns *t, struct str name)
{
	const char *word = bucket_word(t, name);
	sb_fmt(b, "%.*s%s_min,%.*s%s_max,%.*s%s_count", STRF(name), word, STRF(name), word,
	       STRF(name), word);
}

static void put_head(struct csv *c, const struct columns *t)
{
	struct sb *b = &c->o.b;
	bool any = false;
	for (u32 i = 0; i < t->n; i++) {
		struct str name = t->col[i].name;
		if (t->col[i].text)
			continue;
		if (any)
			sb_char(b, ',');
		any = true;
		if (t->col[i].unit == COL_HIST)
			put_bucket_names(b, t, name);
		else
			sb_csv(b, name);
	}
	sb_char(b, '\n');
	c->head = t;
}

/* The words of a column, the frames of a stack: in one field. */
static void put_cell(struct csv *c, const struct column *col, const struct value *v)
{
	static const struct column plain = {.unit = COL_PLAIN};
	AUTO_SB text = {0};
	bool raw = col->unit != COL_ARGV && v->kind != V_STR;
	if (column_absent(col, v))
		return;
	if (col->unit == COL_NAME && v->i)
		column_text(&text, col, v, c->env.how.trailer);
	else if (v->kind == V_NAMED && col->unit == COL_ELAPSED)
		sb_u64(&text, v->u);
	else if (column_decimal(&text, col, v))
		; /* it is there */
	else if (raw)
		value_text(&text, v, &(struct show){c->env.how.trailer, true});
	else
		column_text(&text, col->unit == COL_ARGV ? col : &plain, v, c->env.how.trailer);
	sb_csv(&c->o.b, str_trim(sb_str(&text)));
}

static void put_bucket(struct sb *b, const struct bucket *k)
{
	if (!k->no_lo)
		sb_i64(b, k->lo);
	sb_char(b, ',');
	if (!k->no_hi)
		sb_i64(b, (i64)((u64)k->hi - 1));
	sb_char(b, ',');
	sb_u64(b, k->count);
}

/* bucket: of the histogram in the row. NULL: it has none. */
static void put_line(struct csv *c, const struct item *it, const struct bucket *bucket)
{
	bool any = false;
	for (u32 i = 0; i < it->row.n; i++) {
		if (it->row.columns->col[i].text)
			continue;
		if (any)
			sb_char(&c->o.b, ',');
		any = true;
		if (it->row.columns->col[i].unit == COL_HIST && bucket)
			put_bucket(&c->o.b, bucket);
		else
			put_cell(c, &it->row.columns->col[i], &it->row.val[i]);
	}
	sb_char(&c->o.b, '\n');
}

/* A histogram is a line per bucket. */
static void put_row(struct csv *c, const struct item *it)
{
	const struct value *hist = NULL;
	if (c->head != it->row.columns)
		put_head(c, it->row.columns);
	for (u32 i = 0; i < it->row.n; i++)
		hist = it->row.val[i].kind == V_HIST ? &it->row.val[i] : hist;
	for (u32 i = 0; hist && i < hist->n; i++)
		put_line(c, it, &hist->hist[i]);
	if (!hist)
		put_line(c, it, NULL);
}

static struct err *csv_put(void *self, const struct item *it)
{
	struct csv *c = self;
	switch (it->kind) {
	case I_HEAD:
		if (c->head != it->row.columns && columns_have_data(it->row.columns))
			put_head(c, it->row.columns);
		break;
	case I_ROW:
		if (columns_have_data(it->row.columns))
			put_row(c, it);
		break;
	case I_STATUS:
		if (!c->env.quiet)
			out_remark(&c->o, &c->env, it);
		break;
	case I_ERROR:
	case I_COST:
	case I_FLEET:
	case I_LOST: out_remark(&c->o, &c->env, it); break;
	case I_END:
		if (!c->head && it->end.columns && columns_have_data(it->end.columns))
			put_head(c, it->end.columns);
		break;
	case I_TEXT:
	case I_VALUE:
	case I_TOTAL:
	case I_SNAPSHOT:
	case I_KEPT:
	case I_MAP: break;
	}
	return out_item(&c->o);
}

static struct err *csv_flush(void *self)
{
	struct csv *c = self;
	return c->o.buffering == 'f' ? NULL : out_flush(&c->o);
}

static struct err *csv_close(void *self)
{
	return out_close(&((struct csv *)self)->o);
}

const struct sink sink_csv = {
	.name = "csv",
	.ending = ".csv",
	.doc = "rows of tables (emit, show) as comma-separated values",
	.size = sizeof(struct csv),
	.open = csv_open,
	.put = csv_put,
	.flush = csv_flush,
	.close = csv_close,
};
