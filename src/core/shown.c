/* shown.c - see shown.h. */
#include "core/shown.h"
#include "core/byfunction.h"

static void set_cell(struct shown *h, struct value *row, u32 i, const struct value *v)
{
	if (i < h->ncell)
		row[i] = value_copy(&h->a, v);
}

/* The cell of the map being read has a value. */
static bool is_filled(const struct shown *h, const struct value *row)
{
	u32 at = h->nkey + h->at;
	return at < h->ncell && row[at].kind != V_NONE;
}

/*
 * The row that shows a value of a key, made when it is new; *nkey: cells that the key takes. Maps come with rows that
 * are shown alike joined, so a cell that is filled has a value that cannot be added: the other one takes a row of its
 * own. NULL: there is no row.
 */
static struct value *row_of(struct shown *h, const struct value *key, u32 *nkey)
{
	AUTO_SB text = {0};
	bool tuple = key && key->kind == V_TUPLE;

	*nkey = !key ? 0 : tuple ? key->n : 1;
	if (key)
		value_key_identity(&text, key, h->places);
	struct value *row = tab_get(&h->index, sb_str(&text));
	if (h->adds || (row && !is_filled(h, row)))
		return row;
	row = arena_newn(&h->a, struct value, h->ncell + 2);
	row[h->ncell + 1].u = h->rows.n;
	for (u32 i = 0; i < *nkey; i++)
		set_cell(h, row, i, tuple ? &key->list[i] : key);
	tab_set(&h->index, arena_str(&h->a, sb_str(&text)), row);
	vec_add(&h->rows, row);
	return row;
}

/* The values of a map, the first of which is the at-th of all. */
static void sum_map(struct shown *h, const struct agg *agg, u32 at)
{
	if (!agg || (agg->adds && !agg->mean))
		h->sum[at] = SUM_ADD;
	else if (agg->keeps)
		h->sum[at] = agg->keeps == AGG_LEAST ? SUM_LEAST : SUM_MOST;
	for (u32 k = 0; agg && k < agg->parts; k++)
		h->sum[at + k] = k == 1 ? SUM_MEAN : SUM_ADD;
}

void shown_next_map(struct shown *h, const struct agg *agg)
{
	h->aggs |= !h->nmap && agg;
	h->adds = h->nmap && h->aggs && !agg;
	h->nmap++;
	h->at = h->next;
	h->next += agg && agg->parts ? agg->parts : 1;
	sum_map(h, agg, h->at);
}

void shown_take(struct shown *h, const struct item *it)
{
	assert(it->kind == I_MAP && h->nmap);
	if (h->nmap == 1)
		h->first = *it;
	for (u64 i = 0; i < it->map.n; i++) {
		struct item_row r = item_row(it, i);
		struct value *row = row_of(h, r.key, &h->nkey);
		bool stats = r.val->kind == V_STATS;
		for (u32 k = 0; row && k < (stats ? 3 : 1); k++)
			set_cell(h, row, h->nkey + h->at + k, stats ? &r.val->list[k] : r.val);
	}
}

/* ---- their order ---- */

static bool is_text(const struct value *v)
{
	return v->kind == V_STR || v->kind == V_NAMED;
}

/* Also of values whose kinds differ: hosts may send anything. */
static int cmp_cells(const struct value *x, const struct value *y)
{
	enum { WITHOUT_ORDER = 1u << V_STACK | 1u << V_TUPLE | 1u << V_ARRAY | 1u << V_HIST };
	bool below = x->kind != V_UINT && x->i < 0, y_below = y->kind != V_UINT && y->i < 0;
	if (is_text(x) || is_text(y))
		return is_text(x) && is_text(y) ? str_cmp(x->str, y->str) : is_text(x) - is_text(y);
	if ((1u << x->kind | 1u << y->kind) & WITHOUT_ORDER)
		return 0;
	return below != y_below ? y_below - below : (x->u > y->u) - (x->u < y->u);
}

/* Words for numbers are in the order of the numbers, as those are where nobody has put them into words yet. */
static int cmp_words(const struct column *c, const struct value *x, const struct value *y)
{
	bool numbers = column_has_words(c) && x->kind == V_NAMED && y->kind == V_NAMED;
	return numbers && x->u != y->u ? (x->u > y->u) - (x->u < y->u) : cmp_cells(x, y);
}

/* Of the column that sorts; one that is not shown has no words. */
static int cmp_sorting(const struct columns *t, const struct value *a, const struct value *b)
{
	u32 by = t->sort - 1;
	for (u32 i = 0; i < t->n; i++)
		if (t->col[i].index == by && !t->col[i].is.s)
			return cmp_words(&t->col[i], &a[by], &b[by]);
	return cmp_cells(&a[by], &b[by]);
}

static int by_column(const void *pa, const void *pb, void *arg)
{
	const struct columns *t = arg;
	const struct value *const *a = pa, *const *b = pb;
	int d = cmp_sorting(t, *a, *b);

	if (d)
		return t->ascending ? d : -d;
	for (u32 i = 0; i < t->n && !d; i++)
		if (!t->col[i].is.s)
			d = cmp_words(&t->col[i], &(*a)[t->col[i].index], &(*b)[t->col[i].index]);
	if (!d) /* as the maps have them */
		d = cmp_cells(&(*a)[t->declared + 1], &(*b)[t->declared + 1]);
	return d;
}

void shown_sort(struct shown *h)
{
	if (h->rows.n && h->t->sort)
		qsort_r(h->rows.v, h->rows.n, sizeof(*h->rows.v), by_column, (void *)h->t);
}

/* ---- rows ---- */

/* ", 3 more rows (last 2.3 s)", behind the time and the load */
static void put_top_head(struct shown *h, u32 more)
{
	AUTO_SB line = {0};

	if (more)
		sb_fmt(&line, ", %u more row%s", more, more == 1 ? "" : "s");
	sb_fmt(&line, "%s%.*s", h->mark.n ? " " : "", STRF(h->mark));
	h->put(h->arg,
	       &(struct item){
		       .kind = I_HEAD, .row.columns = h->t, .name = h->head, .str = sb_str(&line)});
}

static double sum_of_column(const struct shown *h, u32 place)
{
	double sum = 0;
	for (u32 r = 0; r < h->rows.n; r++)
		sum += (double)h->rows.v[r][place].u;
	return sum;
}

/* Parts of 10,000 of what all rows have in a column. */
static struct value share_of(u64 part, double sum)
{
	return (struct value){.kind = V_UINT,
			      .u = sum > 0 ? (u64)((double)part * 10000 / sum + 0.5) : 0};
}

/* Of what all rows have in a place; the mean of stats() stands between its count and its sum. */
static struct value sum_of(const struct shown *h, u32 place)
{
	enum shown_sum how =
		place < h->nkey || place - h->nkey >= h->next ? SUM_NONE : h->sum[place - h->nkey];
	struct value all = {.kind = V_NONE};

	if (how == SUM_MEAN) {
		struct value n = sum_of(h, place - 1);
		all = sum_of(h, place + 1);
		all.i = n.i ? all.i / n.i : 0;
		return all;
	}
	for (u32 r = 0; how != SUM_NONE && r < h->rows.n; r++) {
		const struct value *v = &h->rows.v[r][place];
		if (v->kind != V_INT && v->kind != V_UINT)
			continue;
		if (all.kind == V_NONE)
			all = *v;
		else if (how == SUM_ADD)
			all.u += v->u;
		else if (how == SUM_LEAST ? cmp_cells(v, &all) < 0 : cmp_cells(v, &all) > 0)
			all = *v;
	}
	return all;
}

/* "total" stands where the key begins; cells that have no sum are left out. */
static void put_total(struct shown *h)
{
	const struct columns *t = h->t;
	struct value cell[SHOWN_MAX_CELLS + SHOWN_MORE];
	bool told = false;

	for (u32 i = 0; i < t->n; i++) {
		const struct column *c = &t->col[i];
		bool here = c->index < h->nkey && !told && column_in_line(c);
		cell[i] = c->part ? (struct value){.kind = V_NONE} : sum_of(h, c->index);
		if (c->share && cell[i].kind != V_NONE)
			cell[i] = (struct value){.kind = V_UINT, .u = 10000};
		if (here)
			cell[i] = (struct value){.kind = V_NAMED, .str = STR("total")};
		told |= here;
	}
	h->put(h->arg,
	       &(struct item){.kind = I_TOTAL, .row.columns = t, .row.val = cell, .row.n = t->n});
}

static struct value cell_of(const struct shown *h, u32 r, const struct column *c, double sum)
{
	struct value v = c->is.s ? column_common(c) : h->rows.v[r][c->index];
	if (c->share && !c->is.s)
		v = share_of(v.u, sum);
	if (c->part && v.kind == V_HIST)
		value_percentile(&h->rows.v[r][c->index], c->part - 1, &v);
	if (h->resolve)
		h->resolve(h->arg, c, &v);
	return v;
}

void shown_put(struct shown *h)
{
	const struct columns *t = h->t;
	struct value cell[SHOWN_MAX_CELLS + SHOWN_MORE];
	double sum[SHOWN_MAX_CELLS + SHOWN_MORE];
	u32 n = t->rows ? MIN(t->rows, h->rows.n) : h->rows.n;
	struct str mark = t->sort || t->top ? STR("") : h->mark;

	if (t->top)
		put_top_head(h, h->rows.n - n);
	else if (t->sort)
		h->put(h->arg, &(struct item){.kind = I_HEAD, .row.columns = t, .str = h->mark});
	for (u32 i = 0; i < t->n; i++)
		sum[i] = t->col[i].share ? sum_of_column(h, t->col[i].index) : 0;
	for (u32 r = 0; r < n; r++) {
		for (u32 i = 0; i < t->n; i++)
			cell[i] = cell_of(h, r, &t->col[i], sum[i]);
		h->put(h->arg, &(struct item){.kind = I_ROW,
					      .ts = h->ts,
					      .row.columns = t,
					      .str = mark,
					      .row.val = cell,
					      .row.report = h->report,
					      .row.part_ns = h->part_ns,
					      .row.n = t->n});
		mark = STR("");
	}
	if (t->total && h->rows.n)
		put_total(h);
}

void shown_put_functions(struct shown *h, struct str left_out)
{
	struct shown of = {.t = h->t, .arg = h->arg, .put = h->put, .resolve = h->resolve};
	struct byfunction f = {.left_out = left_out};
	for (u32 i = 0; i < h->rows.n && h->nkey < h->ncell; i++)
		byfunction_add(&f, h->rows.v[i], h->nkey, h->rows.v[i][h->nkey].u);
	byfunction_end(&f);
	for (u32 i = 0; i < f.rows.n; i++)
		vec_add(&of.rows, f.rows.v[i]);
	if (of.rows.n) {
		shown_put(&of);
		h->put(h->arg, &(struct item){.kind = I_TEXT, .text.line = true});
	}
	byfunction_free(&f);
	shown_free(&of);
}

/* ---- pictures ---- */

/* As the name of the column says. */
static struct str unit_of_values(const struct shown *h)
{
	static const struct {
		const char *ending, *unit;
	} units[] = {{"_ns", "ns"},   {"nsecs", "ns"},  {"usecs", "us"},
		     {"msecs", "ms"}, {"kbytes", "KB"}, {"mhz", "MHz"}};
	for (u32 i = 0; i < h->t->n; i++)
		for (size_t k = 0; k < countof(units); k++)
			if (h->t->col[i].index == h->nkey &&
			    str_ends(h->t->col[i].name, str_z(units[k].ending)))
				return str_z(units[k].unit);
	return STR("");
}

void shown_put_map(struct shown *h)
{
	const struct columns *t = h->t;
	u32 n = t->rows ? MIN(t->rows, h->rows.n) : h->rows.n;
	struct value *key = arena_newn(&h->a, struct value, n + 1);
	struct value *val = arena_newn(&h->a, struct value, n + 1);
	struct item it = h->first;

	it.str = unit_of_values(h);
	for (u32 r = 0; r < n; r++) {
		struct value *cell = arena_newn(&h->a, struct value, t->n + 1);
		key[r] = (struct value){.kind = V_TUPLE, .list = cell};
		for (u32 i = 0; i < t->n; i++) {
			if (t->col[i].is.s)
				continue;
			const struct value *v = &h->rows.v[r][t->col[i].index];
			if (t->col[i].index >= h->nkey && v->kind != V_STACK)
				continue;
			cell[key[r].n] = *v;
			if (h->resolve)
				h->resolve(h->arg, &t->col[i], &cell[key[r].n]);
			key[r].n++;
		}
		val[r] = h->rows.v[r][MIN(h->nkey, h->ncell)];
	}
	it.name = t->name;
	it.map.n = n;
	it.map.key = key;
	it.map.val = val;
	it.map.make_row = NULL;
	h->put(h->arg, &it);
}

void shown_free(struct shown *h)
{
	vec_free(&h->rows);
	tab_free(&h->index);
	arena_free(&h->a);
}
