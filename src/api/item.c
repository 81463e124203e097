/* item.c - see item.h. */
#include "api/item.h"
#include "base/diag.h"
#include "core/columns.h"

static const char *text_of(struct arena *a, struct str s)
{
	return s.n ? arena_strz(a, s) : "";
}

/* ---- values ---- */

static const char *const *names_of(struct arena *a, const struct str *v, u32 n)
{
	const char **names = arena_newn(a, const char *, n + 1u);
	for (u32 i = 0; i < n; i++)
		names[i] = text_of(a, v[i]);
	return names;
}

static void value_convert(struct arena *a, const struct value *v, struct sonde_value *ret);

static void put_list(struct arena *a, const struct value *v, struct sonde_value *ret)
{
	struct sonde_value *list = arena_newn(a, struct sonde_value, v->n + 1u);
	for (u32 i = 0; i < v->n; i++)
		value_convert(a, &v->list[i], &list[i]);
	ret->list = list;
	ret->n = v->n;
}

static void put_stack(struct arena *a, const struct value *v, struct sonde_value *ret)
{
	struct sonde_frame *to = arena_newn(a, struct sonde_frame, v->n + 1u);
	for (u32 i = 0; i < v->n; i++) {
		const struct frame *f = &v->stack[i];
		to[i] = (struct sonde_frame){.address = f->addr,
					     .symbol = text_of(a, f->sym),
					     .offset = f->off,
					     .module = text_of(a, f->module),
					     .source = text_of(a, f->source),
					     .language = text_of(a, f->language),
					     .line = f->line,
					     .inlined = f->inlined};
	}
	ret->frames = to;
	ret->n = v->n;
}

static void put_buckets(struct arena *a, const struct value *v, struct sonde_value *ret)
{
	struct sonde_bucket *to = arena_newn(a, struct sonde_bucket, v->n + 1u);
	for (u32 i = 0; i < v->n; i++) {
		const struct bucket *b = &v->hist[i];
		to[i] = (struct sonde_bucket){b->no_lo ? INT64_MIN : b->lo,
					      b->no_hi ? INT64_MAX : b->hi, b->count};
	}
	ret->buckets = to;
	ret->n = v->n;
	ret->step = v->step;
}

/* The last value of each percentile's bucket; of one that is open, the first. */
static void put_percentiles(struct arena *a, const struct value *v, struct sonde_value *ret)
{
	struct sonde_value *list = arena_newn(a, struct sonde_value, v->n + 1u);
	for (u32 i = 0; i < v->n; i++) {
		const struct bucket *b = &v->hist[i];
		list[i] = (struct sonde_value){
			.kind = SONDE_INT, .text = "", .i = b->no_hi ? b->lo : b->hi - 1};
	}
	ret->list = list;
	ret->names = names_of(a, v->names, v->n);
	ret->n = v->n;
}

static void put_series(struct arena *a, const struct value *v, struct sonde_value *ret)
{
	struct sonde_value *list = arena_newn(a, struct sonde_value, v->n + 1u);
	for (u32 i = 0; i < v->n; i++)
		list[i] = (struct sonde_value){.kind = v->series[i].none ? SONDE_NONE
						       : v->sign         ? SONDE_INT
									 : SONDE_UINT,
					       .text = "",
					       .u = v->series[i].value};
	ret->list = list;
	ret->n = v->n;
	ret->step = v->step;
}

static enum sonde_value_kind kind_of(const struct value *v)
{
	switch ((enum value_kind)v->kind) {
	case V_NONE: return SONDE_NONE;
	case V_BOOL: return SONDE_BOOL;
	case V_INT: return SONDE_INT;
	case V_UINT: return SONDE_UINT;
	case V_PTR: return SONDE_POINTER;
	case V_ENUM: return SONDE_ENUM;
	case V_STR: return SONDE_STRING;
	case V_BYTES: return SONDE_BYTES;
	case V_NAMED: return SONDE_NAMED;
	case V_TUPLE:
	case V_ARRAY: return SONDE_LIST;
	case V_RECORD:
	case V_STATS:
	case V_PERCENTILES: return SONDE_RECORD;
	case V_STACK: return SONDE_STACK;
	case V_HIST: return SONDE_HISTOGRAM;
	case V_FLOAT: return SONDE_FLOAT;
	case V_SERIES: return SONDE_SERIES;
	}
	return SONDE_NONE;
}

static void value_convert(struct arena *a, const struct value *v, struct sonde_value *ret)
{
	static const char *const stats[] = {"count", "average", "total"};
	*ret = (struct sonde_value){.kind = kind_of(v), .cut = v->cut, .text = "", .internal = v};
	if (v->kind == V_STR || v->kind == V_BYTES || v->kind == V_NAMED || v->kind == V_ENUM) {
		ret->text = text_of(a, v->str);
		ret->text_size = v->str.n;
	}
	switch ((enum value_kind)v->kind) {
	case V_NONE:
	case V_STR:
	case V_BYTES: break;
	case V_BOOL:
	case V_INT:
	case V_UINT:
	case V_PTR:
	case V_ENUM:
	case V_NAMED: ret->u = v->u; break;
	case V_FLOAT: ret->f = v->f; break;
	case V_TUPLE:
	case V_ARRAY: put_list(a, v, ret); break;
	case V_RECORD:
		put_list(a, v, ret);
		ret->names = names_of(a, v->names, v->n);
		break;
	case V_STATS:
		put_list(a, v, ret);
		assert(v->n == countof(stats));
		ret->names = stats;
		break;
	case V_STACK: put_stack(a, v, ret); break;
	case V_HIST: put_buckets(a, v, ret); break;
	case V_PERCENTILES: put_percentiles(a, v, ret); break;
	case V_SERIES: put_series(a, v, ret); break;
	}
}

size_t sonde_value_text(const struct sonde_value *v, char *buf, size_t size)
{
	AUTO_SB out = {0};
	if (v->internal)
		value_text(&out, v->internal, &(struct show){.trailer = STR("..")});
	else if (v->kind == SONDE_INT || v->kind == SONDE_UINT)
		sb_fmt(&out, v->kind == SONDE_INT ? "%lld" : "%llu", (long long)v->i);
	size_t n = size ? MIN((size_t)out.n, size - 1) : 0;
	if (n)
		memcpy(buf, out.s, n);
	if (size)
		buf[n] = 0;
	return out.n;
}

/* ---- items ---- */

static void put_row(struct arena *a, const struct item *it, struct sonde_item *ret)
{
	u32 n = (u32)it->row.n;
	struct sonde_column *col = arena_newn(a, struct sonde_column, n + 1u);
	struct sonde_value *val = arena_newn(a, struct sonde_value, n + 1u);
	assert(n <= it->row.columns->n);
	for (u32 i = 0; i < n; i++) {
		const struct column *c = &it->row.columns->col[i];
		col[i] = (struct sonde_column){text_of(a, c->name), column_units[c->unit].raw};
		value_convert(a, &it->row.val[i], &val[i]);
	}
	ret->columns = col;
	ret->values = val;
	ret->nvalues = n;
	ret->name = text_of(a, it->row.columns->name);
}

static void put_place(struct arena *a, const struct item *it, const struct diags *ds,
		      struct sonde_item *ret)
{
	u32 line, col;
	if (!diag_place(ds, it->error.loc, &line, &col))
		return;
	ret->source = text_of(a, ds->source[it->error.loc.src].name);
	ret->line = line;
	ret->column = col;
}

static void put_map(struct item_memory *m, const struct item *it, struct sonde_item *ret)
{
	struct item_rows *rows = arena_new(&m->item, struct item_rows);
	*rows = (struct item_rows){.item = it, .arena = &m->row};
	ret->internal = rows;
	ret->nrows = it->map.n;
}

static void put_value(struct arena *a, const struct item *it, struct sonde_item *ret)
{
	struct sonde_value *val = arena_new(a, struct sonde_value);
	value_convert(a, it->text.val, val);
	ret->values = val;
	ret->nvalues = 1;
}

bool item_convert(struct item_memory *m, const struct item *it, const struct diags *ds,
		  struct sonde_item *ret)
{
	struct arena *a = &m->item;
	arena_reset(a);
	*ret = (struct sonde_item){.size = sizeof(*ret),
				   .name = text_of(a, it->name),
				   .text = text_of(a, it->str),
				   .text_size = it->str.n,
				   .warning = it->error.warn};
	switch ((enum item_kind)it->kind) {
	case I_TEXT: ret->kind = SONDE_ITEM_TEXT; return true;
	case I_VALUE:
		ret->kind = SONDE_ITEM_VALUE;
		put_value(a, it, ret);
		return true;
	case I_MAP:
		ret->kind = SONDE_ITEM_MAP;
		put_map(m, it, ret);
		return true;
	case I_STATUS:
		ret->kind = SONDE_ITEM_ATTACHED;
		ret->count = it->status.n;
		return true;
	case I_ERROR:
		ret->kind = SONDE_ITEM_MESSAGE;
		put_place(a, it, ds, ret);
		return true;
	case I_LOST:
		ret->kind = SONDE_ITEM_LOST;
		ret->name = loss_kinds[it->lost.loss].name;
		ret->count = it->lost.n;
		return true;
	case I_ROW:
		ret->kind = SONDE_ITEM_ROW;
		put_row(a, it, ret);
		return true;
	case I_END: ret->kind = SONDE_ITEM_END; return true;
	case I_HEAD:
	case I_TOTAL:
	case I_SNAPSHOT:
	case I_KEPT:
	case I_FLEET:
	case I_COST: return false;
	}
	return false;
}

void sonde_item_row(const struct sonde_item *it, uint64_t i, const struct sonde_value **key,
		    const struct sonde_value **value)
{
	struct item_rows *rows = it->internal;
	assert(it->kind == SONDE_ITEM_MAP);
	assert(i < it->nrows);
	struct item_row row = item_row(rows->item, i);
	arena_reset(rows->arena);
	if (row.key)
		value_convert(rows->arena, row.key, &rows->key);
	value_convert(rows->arena, row.val, &rows->value);
	*key = row.key ? &rows->key : NULL;
	*value = &rows->value;
}
