/* rows.c - see rows.h. */
#include "answer/rows.h"
#include "base/pack.h"
#include "rec/format.h"
#include <ctype.h>

/* ---- reading ---- */

bool declared_take(struct tables *t, struct answer_in *in, struct host_table *ret)
{
	struct columns c;
	struct str bytes = str_n((const char *)in->b.p + in->b.at, (u32)(in->b.n - in->b.at));
	*ret = (struct host_table){0};
	if (!answer_take_columns(in, &c))
		return false;
	ret->of = tab_get(&t->named, c.name);
	ret->differs = ret->of && !str_eq(ret->of->bytes, bytes);
	if (ret->of)
		return true;
	struct declared *d = answer_room(in, 1, sizeof(*d));
	char *copy = answer_room(in, bytes.n, 1);
	if (!d || !copy)
		return false;
	memcpy(copy, bytes.s, bytes.n);
	*d = (struct declared){.is = c, .bytes = str_n(copy, bytes.n)};
	d->constant = true;
	for (u32 i = 0; i < c.n; i++)
		d->constant &= c.col[i].is.s != NULL;
	tab_add(&t->named, d->is.name, d);
	ret->of = d;
	return true;
}

bool emitted_take(struct tables *t, struct answer_in *in, const struct declared *of,
		  struct emitted *ret)
{
	*ret = (struct emitted){.of = of, .host = answer_take_name(in)};
	ret->mark = answer_take_name(in);
	ret->report = bytes_u64(&in->b);
	ret->part_ns = bytes_u64(&in->b);
	u32 n = bytes_u32(&in->b);
	if (in->b.bad || n != of->is.n)
		return false;
	struct value *cell = answer_room(in, n, sizeof(*cell));
	for (u32 i = 0; cell && i < n; i++) {
		if (!answer_take_value(in, &cell[i]))
			return false;
		if (of->is.col[i].unit == COL_CLOCK && cell[i].kind == V_NAMED)
			for (u32 k = 0; k < cell[i].str.n; k++)
				if ((u8)cell[i].str.s[k] < ' ')
					return false; /* it is printed as it is */
	}
	ret->cell = cell;
	t->hosts |= ret->host.n > 0;
	t->width = MAX(t->width, ret->host.n);
	return cell && !in->b.bad && in->b.at == in->b.n;
}

bool report_take(struct answer_in *in, const struct declared *of, struct report *ret)
{
	*ret = (struct report){.of = of};
	u8 flags = bytes_u8(&in->b);
	ret->hosted = flags & SHOW_HOSTED;
	ret->apart = flags & SHOW_APART;
	ret->functions = flags & SHOW_FUNCTIONS;
	ret->number = bytes_u64(&in->b);
	ret->part_ns = bytes_u64(&in->b);
	ret->mark = answer_take_name(in);
	ret->screen = answer_take_name(in);
	ret->left_out = answer_take_text(in);
	ret->nmap = bytes_u32(&in->b);
	return !in->b.bad && ret->nmap && ret->nmap <= SHOWN_MAX_MAPS;
}

void report_join(struct report *r, const struct report *other)
{
	u32 n = 0;
	if (!str_eq(r->screen, other->screen))
		while (n < r->screen.n && r->screen.s[n] != ' ')
			n++;
	if (n)
		r->screen.n = n;
	r->part_ns = MAX(r->part_ns, other->part_ns);
	if (!r->mark.n)
		r->mark = other->mark;
}

/* ---- the columns of the host and its label ---- */

static bool has_column(const struct columns *t, struct str name)
{
	bool has = false;
	for (u32 i = 0; i < t->n; i++)
		has |= str_eq(t->col[i].name, name);
	return has;
}

/* Before the columns of a table; "fleet_NAME" if one of these has the name. */
static struct columns with_column(struct arena *a, const struct declared *d,
				  const struct columns *from, struct str key, u32 width)
{
	struct columns t = *from;
	AUTO_SB name = {0}, upper = {0};
	struct column *col = arena_newn(a, struct column, from->n + 1);
	sb_add(&name, key);
	for (u32 i = 0; i < name.n; i++)
		if (!isalnum((u8)name.s[i]))
			name.s[i] = '_';
	if (has_column(&d->is, sb_str(&name))) {
		AUTO_SB plain = {0};
		sb_fmt(&plain, "fleet_%.*s", STRF(sb_str(&name)));
		sb_clear(&name);
		sb_add(&name, sb_str(&plain));
	}
	for (u32 i = 0; i < name.n; i++)
		sb_char(&upper, (char)toupper((u8)name.s[i]));
	col[0] = (struct column){.name = arena_str(a, sb_str(&name)),
				 .heading = arena_str(a, sb_str(&upper)),
				 .width = MAX(width, (u32)name.n)};
	for (u32 i = 0; i < from->n; i++) {
		col[i + 1] = from->col[i];
		col[i + 1].index++;
	}
	t.n++;
	t.declared++;
	t.sort += t.sort != 0;
	t.col = col;
	return t;
}

void declared_prepare(struct tables *t, struct arena *a)
{
	for (u32 i = 0; i < t->named.n; i++) {
		struct declared *d = t->named.v[i].val;
		d->hosted = with_column(a, d, &d->is, STR("host"), t->width);
		if (!t->by.n)
			continue;
		d->labelled = with_column(a, d, &d->is, t->by, t->by_width);
		d->both = with_column(a, d, &d->hosted, t->by, t->by_width);
	}
}

void declared_free(struct tables *t)
{
	tab_free(&t->named);
}

/* ---- output ---- */

/* The line above a shorter last report comes once. */
static struct str mark_once(struct rows_to *to, struct str mark)
{
	if (to->told || to->sink->answers)
		return to->told ? STR("") : mark;
	to->told = mark.n;
	return mark;
}

struct err *emitted_put(struct rows_to *to, const struct tables *t, const struct emitted *row,
			struct str host, struct str label, u64 ns)
{
	struct value cell[ANSWER_MAX_COLUMNS + SHOWN_MORE] = {{.kind = V_STR, .str = label},
							      {.kind = V_STR}};
	bool host_known = t->hosts && !row->of->constant, hosted = host_known && !to->sink->answers;
	const struct columns *c = !hosted   ? &row->of->is
				  : t->by.n ? &row->of->both
					    : &row->of->hosted;
	u32 skip = !hosted ? SHOWN_MORE : t->by.n ? 0 : 1;
	cell[1].str = row->host.n ? row->host : host;
	memcpy(cell + SHOWN_MORE, row->cell, row->of->is.n * sizeof(*cell));
	struct item it = {.kind = I_ROW,
			  .ts = ns,
			  .str = mark_once(to, row->mark),
			  .host = host_known ? cell[1].str : STR(""),
			  .row.columns = c,
			  .row.val = cell + skip,
			  .row.n = c->n,
			  .row.report = row->report,
			  .row.part_ns = row->part_ns};
	return to->sink->put(to->self, &it);
}

static struct err *answer_report(struct rows_to *to, const struct report *r, u64 ns)
{
	struct item_show show = {.nmap = r->nmap,
				 .hosted = r->hosts,
				 .apart = r->apart,
				 .functions = r->functions,
				 .left_out = r->left_out,
				 .screen = r->screen};
	struct item it = {.kind = I_HEAD,
			  .ts = ns,
			  .str = mark_once(to, r->mark),
			  .row.columns = &r->of->is,
			  .row.report = r->number,
			  .row.part_ns = r->part_ns,
			  .row.show = &show};
	while (show.nmap && !r->map[show.nmap - 1])
		show.nmap--;
	struct err *e = show.nmap ? to->sink->put(to->self, &it) : NULL;
	for (u32 i = 0; i < show.nmap && !e; i++)
		e = table_put(r->map[i], to->sink, to->self, ns);
	return e;
}

static struct err *take_shown(void *self, const struct item *map)
{
	shown_take(self, map);
	return NULL;
}

/* The first error stays. */
struct putting {
	struct rows_to *to;
	struct err *e;
};

static void put_shown(void *arg, const struct item *it)
{
	struct putting *p = arg;
	if (!p->e)
		p->e = p->to->sink->put(p->to->self, it);
}

static void put_rows(struct rows_to *to, struct shown *h, const struct report *r)
{
	if (r->functions) {
		if (to->sink->text)
			shown_put_functions(h, r->left_out);
		return;
	}
	shown_sort(h);
	if (to->sink->maps)
		shown_put_map(h);
	else if (h->rows.n || h->t->top) {
		h->mark = mark_once(to, r->mark);
		shown_put(h);
	}
}

static const struct columns *columns_of(const struct tables *t, const struct report *r)
{
	const struct declared *d = r->of;
	if (!r->hosts || r->functions)
		return &d->is;
	return !t->by.n ? &d->hosted : r->both ? &d->both : &d->labelled;
}

struct err *report_put_merged(struct rows_to *to, const struct tables *tables, struct report *r,
			      u64 ns)
{
	const struct sink *sink = to->sink;
	struct putting p = {.to = to};
	const struct sink rows = {.name = "rows",
				  .put = take_shown,
				  .keys = sink->files && !r->functions ? KEYS_BY_PLACE
								       : KEYS_BY_TEXT};
	const struct columns *t = columns_of(tables, r);
	struct shown h = {.t = t,
			  .places = sink->files && !r->functions,
			  .ncell = r->functions ? SHOWN_MAX_CELLS : t->declared,
			  .ts = ns,
			  .report = r->number,
			  .part_ns = r->part_ns,
			  .head = r->screen,
			  .arg = &p,
			  .put = put_shown};
	if (sink->answers)
		return answer_report(to, r, ns);
	for (u32 i = 0; i < r->nmap && r->map[i] && !p.e; i++) {
		shown_next_map(&h, r->map[i]->head.agg);
		p.e = table_put(r->map[i], &rows, &h, ns);
	}
	if (!p.e && h.nmap)
		put_rows(to, &h, r);
	shown_free(&h);
	return p.e;
}
