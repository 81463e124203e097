/* common.c - rows that pass the filter, in order; see common.h. */
#include "view/common.h"
#include "base/units.h"
#include "core/value.h"

void put_count(struct sb *b, double n)
{
	sb_fmt(b, n > -1000 && n < 1000 && n != (double)(i64)n ? "%.1f" : "%.0f", n);
}

static void put_bound(struct sb *b, i64 n)
{
	units_1024(b, n);
}

void put_bucket(struct sb *b, const struct bucket *k)
{
	if (k->no_lo) {
		sb_z(b, "(..., ");
	} else if (!k->no_hi && k->hi == k->lo + 1) {
		sb_char(b, '[');
		put_bound(b, k->lo);
		sb_char(b, ']');
		return;
	} else {
		sb_char(b, '[');
		put_bound(b, k->lo);
		sb_z(b, ", ");
	}
	if (k->no_hi)
		sb_z(b, "...)");
	else
		put_bound(b, k->hi), sb_char(b, ')');
}

static double percentile_of(const struct live_blob *h, u32 part)
{
	struct value v = model_hist_value(h), p;
	if (!model_hist_count(h))
		return 0;
	value_percentile(&v, part, &p);
	return p.kind == V_UINT ? (double)p.u : (double)p.i;
}

/* Its bucket; NULL if nothing was counted. */
static const struct bucket *bucket_of(const struct live_blob *h, u32 part)
{
	double last = percentile_of(h, part);
	for (u32 i = 0; h && i < h->n; i++)
		if (h->hist[i].no_hi ? (double)h->hist[i].lo == last
				     : (double)h->hist[i].hi == last + 1)
			return &h->hist[i];
	return NULL;
}

void put_time(struct sb *b, double ns)
{
	static const struct {
		double least;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {0, "ns"}};
	u32 i = 0;
	while (ns < units[i].least && i + 1 < countof(units))
		i++;
	double n = ns / (units[i].least > 0 ? units[i].least : 1);
	sb_fmt(b, n == (double)(i64)n || n >= 1000 ? "%.0f%s" : "%.3g%s", n, units[i].name);
}

void put_time_percentile(struct sb *b, const struct live_blob *h, u32 part, u64 unit_ns)
{
	const struct bucket *k = bucket_of(h, part);
	if (!k) {
		sb_char(b, '-');
		return;
	}
	bool one = !k->no_hi && !k->no_lo && k->hi == k->lo + 1;
	sb_z(b, k->no_hi ? ">=" : one ? "" : "<");
	put_time(b, (double)(k->no_hi || one ? k->lo : k->hi) * (double)unit_ns);
}

/* The bucket's upper bound, with a unit: "<8K", or its only value. */
void put_percentile(struct sb *b, const struct live_blob *h, u32 part)
{
	const struct bucket *k = bucket_of(h, part);
	if (!k)
		sb_char(b, '-');
	else if (k->no_hi)
		sb_z(b, ">="), put_bound(b, k->lo);
	else if (!k->no_lo && k->hi == k->lo + 1)
		put_bound(b, k->lo);
	else
		sb_char(b, '<'), put_bound(b, k->hi);
}

/* What was added to the total per second. */
static double stats_load(const struct live_entry *e)
{
	return e->known && e->step.count ? e->rate * (double)e->step.n / (double)e->step.count : 0;
}

double entry_number(const struct live_table *t, const struct live_entry *e, enum what w)
{
	switch (w) {
	case W_RATE: return e->rate;
	case W_TOTAL:
	case W_SHARE: return t->kind == LIVE_HIST ? (double)e->all.count : (double)e->all.n;
	case W_COUNT: return (double)e->all.count;
	case W_MEAN: return e->all.count ? (double)e->all.n / (double)e->all.count : 0;
	case W_P50: return percentile_of(e->all.blob, PART_P50);
	case W_P90: return percentile_of(e->all.blob, PART_P90);
	case W_P99: return percentile_of(e->all.blob, PART_P99);
	case W_MAX: return percentile_of(e->all.blob, PART_MAX);
	case W_LOAD: return t->kind == LIVE_STATS ? stats_load(e) : e->rate;
	case W_KEY:
	case W_PAST:
	case W_SHAPE:
	case W_TEXT: break;
	}
	return 0;
}

/* ---- filter ---- */

static const struct {
	const char *name;
	enum what what;
} numbers[] = {{"rate", W_RATE},   {"total", W_TOTAL}, {"value", W_TOTAL},
	       {"count", W_COUNT}, {"avg", W_MEAN},    {"p50", W_P50},
	       {"p90", W_P90},     {"p99", W_P99},     {"max", W_MAX}};

bool what_named(struct str name, enum what *ret)
{
	for (size_t i = 0; i < countof(numbers); i++)
		if (str_is(name, numbers[i].name)) {
			*ret = numbers[i].what;
			return true;
		}
	*ret = str_is(name, "load") ? W_LOAD : W_KEY;
	return *ret == W_LOAD || str_is(name, "key");
}

static bool contains(struct str text, struct str word)
{
	for (u32 i = 0; i + word.n <= text.n; i++)
		if (str_eq_nocase(str_n(text.s + i, word.n), word))
			return true;
	return !word.n;
}

/* "rate>5": false if the word is no comparison. */
static bool compares(const struct live_table *t, const struct live_entry *e, struct str word,
		     bool *ret)
{
	u32 at = 0;
	while (at < word.n && !strchr("<>=", word.s[at]))
		at++;
	i64 n;
	for (size_t i = 0; at < word.n && i < countof(numbers); i++) {
		if (!str_eq(str_n(word.s, at), str_z(numbers[i].name)) ||
		    !str_i64(str_from(word, at + 1), &n))
			continue;
		double d = entry_number(t, e, numbers[i].what), want = (double)n;
		*ret = word.s[at] == '<' ? d < want : word.s[at] == '>' ? d > want : d == want;
		return true;
	}
	return false;
}

static bool passes(const struct live_table *t, const struct live_entry *e, struct str filter)
{
	struct str rest = filter, word;
	while (str_cut(&rest, ' ', &word)) {
		bool yes;
		if (!compares(t, e, word, &yes))
			yes = contains(e->row->key, word);
		if (!yes)
			return false;
	}
	return true;
}

/* ---- order ---- */

struct order {
	const struct live_table *t;
	enum what what;
	bool reverse;
};

static int by_order(const void *pa, const void *pb, void *arg)
{
	const struct order *o = arg;
	const struct live_entry *a = pa, *b = pb;
	double x = entry_number(o->t, a, o->what), y = entry_number(o->t, b, o->what);
	int d = o->what == W_KEY || o->what == W_TEXT ? 0 : (x < y) - (x > y);
	if (o->reverse)
		d = -d;
	if (d)
		return d;
	d = str_cmp(a->row->key, b->row->key);
	return o->what == W_KEY && o->reverse ? -d : d;
}

struct live_entries view_entries(struct view_env *v, enum what w)
{
	struct live_entries e = model_collect(v->m, v->t, &v->look, v->a);
	struct order o = {v->t, w, v->st->reverse};
	u32 n = 0;
	for (u32 i = 0; i < e.n; i++)
		if (v->row ? e.v[i].row == v->row : passes(v->t, &e.v[i], v->filter))
			e.v[n++] = e.v[i];
	e.n = n;
	qsort_r(e.v, e.n, sizeof(*e.v), by_order, &o);
	return e;
}

void view_hists(struct view_env *v, struct live_blob **all, struct live_blob **step)
{
	struct live_entries e = view_entries(v, W_KEY);
	*all = *step = NULL;
	for (u32 i = 0; i < e.n; i++) {
		*all = model_hist_plus(v->a, *all, e.v[i].all.blob);
		if (e.v[i].known)
			*step = model_hist_plus(v->a, *step, e.v[i].step.blob);
	}
}

void view_scroll(struct view_env *v, u32 n, u32 page)
{
	struct view_state *st = v->st;
	st->n = n;
	st->page = MAX(page, 1u);
	st->cursor = n ? MIN(st->cursor, n - 1) : 0;
	st->top = MIN(st->top, st->cursor);
	if (st->cursor >= st->top + st->page)
		st->top = st->cursor - st->page + 1;
	if (st->top + st->page > n)
		st->top = n > st->page ? n - st->page : 0;
}
