/* model.c - readings of maps, kept for a while; see model.h. */
#include "live/model.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/units.h"
#include "core/agg.h"
#include "core/unit.h"
#include "live/row.h"

/* ---- blobs ---- */

static size_t blob_bytes(const struct live_blob *b, bool hist)
{
	return offsetof(struct live_blob, hist) + (hist ? b->n * sizeof(struct bucket) : b->n);
}

static struct live_blob *blob_new(u32 n, size_t size)
{
	struct live_blob *b = xcalloc(1, offsetof(struct live_blob, hist) + n * size + 1);
	b->refs = 1;
	b->n = n;
	return b;
}

static void value_drop(struct live_value *v)
{
	if (v->blob && !--v->blob->refs)
		free(v->blob);
	v->blob = NULL;
}

static struct live_value value_share(struct live_value v)
{
	if (v.blob)
		v.blob->refs++;
	return v;
}

/* ---- histograms ---- */

static int cmp_bucket(const struct bucket *a, const struct bucket *b)
{
	if (a->no_lo != b->no_lo)
		return a->no_lo ? -1 : 1;
	if (a->no_hi != b->no_hi)
		return a->no_hi ? 1 : -1;
	return (a->lo > b->lo) - (a->lo < b->lo);
}

/* Both are sorted. */
static u32 merge(struct bucket *to, const struct live_blob *a, const struct live_blob *b, bool less)
{
	u32 n = 0, i = 0, k = 0, na = a ? a->n : 0, nb = b ? b->n : 0;
	while (i < na || k < nb) {
		int d = i >= na ? 1 : k >= nb ? -1 : cmp_bucket(&a->hist[i], &b->hist[k]);
		struct bucket x = d <= 0 ? a->hist[i] : b->hist[k];
		u64 first = d <= 0 ? a->hist[i].count : 0, second = d >= 0 ? b->hist[k].count : 0;
		i += d <= 0;
		k += d >= 0;
		x.count = !less ? first + second : first > second ? first - second : 0;
		if (x.count)
			to[n++] = x;
	}
	return n;
}

static struct live_blob *merged(struct arena *arena, const struct live_blob *a,
				const struct live_blob *b, bool less)
{
	u32 most = (a ? a->n : 0) + (b ? b->n : 0);
	struct live_blob *r = arena_alloc(
		arena, offsetof(struct live_blob, hist) + (most + 1) * sizeof(struct bucket),
		_Alignof(struct live_blob));
	r->n = merge(r->hist, a, b, less);
	return r;
}

/* a less b, without empty buckets; b may be NULL. */
static struct live_blob *hist_less(struct arena *arena, const struct live_blob *a,
				   const struct live_blob *b)
{
	return merged(arena, a, b, true);
}

struct live_blob *model_hist_plus(struct arena *arena, const struct live_blob *a,
				  const struct live_blob *b)
{
	return merged(arena, a, b, false);
}

u64 model_hist_count(const struct live_blob *h)
{
	u64 n = 0;
	for (u32 i = 0; h && i < h->n; i++)
		n += h->hist[i].count;
	return n;
}

struct value model_hist_value(const struct live_blob *h)
{
	return (struct value){.kind = V_HIST, .n = h ? h->n : 0, .hist = h ? h->hist : NULL};
}

/* ---- values ---- */

static enum live_kind kind_of(const struct value *v)
{
	switch (v->kind) {
	case V_INT:
	case V_UINT:
	case V_BOOL:
	case V_ENUM: return LIVE_NUMBER;
	case V_STATS: return LIVE_STATS;
	case V_HIST: return LIVE_HIST;
	case V_NONE:
	case V_PTR:
	case V_STR:
	case V_BYTES:
	case V_NAMED:
	case V_TUPLE:
	case V_ARRAY:
	case V_RECORD:
	case V_STACK:
	case V_FLOAT:
	case V_PERCENTILES:
	case V_SERIES: break;
	}
	return LIVE_TEXT;
}

static struct live_value read_hist(const struct value *v)
{
	struct live_value r = {0};
	u32 n = 0;
	for (u32 i = 0; i < v->n; i++)
		n += v->hist[i].count > 0;
	r.blob = blob_new(n, sizeof(struct bucket));
	n = 0;
	for (u32 i = 0; i < v->n; i++)
		if (v->hist[i].count)
			r.blob->hist[n++] = v->hist[i];
	r.count = model_hist_count(r.blob);
	return r;
}

static struct live_value read_text(const struct value *v)
{
	AUTO_SB b = {0};
	AUTO_SB line = {0};
	value_text(&b, v, &(struct show){STR(".."), false});
	row_one_line(&line, sb_str(&b));
	struct live_value r = {.blob = blob_new((u32)line.n, 1)};
	if (line.n)
		memcpy(r.blob->text, line.s, line.n);
	return r;
}

static struct live_value read_value(enum live_kind kind, const struct value *v)
{
	switch (kind) {
	case LIVE_NUMBER: return (struct live_value){.n = kind_of(v) == kind ? v->i : 0};
	case LIVE_STATS:
		return v->kind == V_STATS
			       ? (struct live_value){.count = v->list[0].u, .n = v->list[2].i}
			       : (struct live_value){0};
	case LIVE_HIST: return v->kind == V_HIST ? read_hist(v) : (struct live_value){0};
	case LIVE_TEXT:
	case LIVE_EMPTY: break;
	}
	return read_text(v);
}

/* In heap memory, as values of the model are. */
static struct live_value plus(struct live_value a, struct live_value b)
{
	struct live_value r = {.n = (i64)((u64)a.n + (u64)b.n), .count = a.count + b.count};
	if (!a.blob || !b.blob)
		r.blob = value_share(a.blob ? a : b).blob;
	else {
		r.blob = blob_new(a.blob->n + b.blob->n, sizeof(struct bucket));
		r.blob->n = merge(r.blob->hist, a.blob, b.blob, false);
	}
	return r;
}

/* Where the value is as it was, the memory of before is used. */
static void share_same(struct live_value *v, const struct live_value *was, bool hist)
{
	if (!v->blob || !was->blob || v->blob == was->blob || v->blob->n != was->blob->n)
		return;
	if (memcmp(v->blob->hist, was->blob->hist,
		   blob_bytes(v->blob, hist) - offsetof(struct live_blob, hist)) != 0)
		return;
	struct live_value old = *v;
	v->blob = was->blob;
	v->blob->refs++;
	value_drop(&old);
}

/* ---- tables ---- */

static u64 unit_of(const struct live_model *m, const struct map *map)
{
	static const char *const words[] = {"nanoseconds", "microseconds", "milliseconds",
					    "seconds"};
	bool said;
	if (str_is(map->name, WATCH_PROGRAMS))
		return 1;
	if (map->val && map->val->kind == T_COUNT && !config_is_list(m->units))
		return 0; /* a unit for all maps does not concern it */
	struct str unit = config_of_map(m->units, map->name, &said);
	u64 ns = 1;
	for (u32 i = 0; i < countof(words); i++, ns *= 1000)
		if (str_is(unit, words[i]))
			return ns;
	return units_scale(unit);
}

static struct live_table *table_of(struct live_model *m, const struct map *map)
{
	for (u32 i = 0; i < m->ntable; i++)
		if (m->table[i]->map == map)
			return m->table[i];
	struct live_table *t = xcalloc(1, sizeof(*t));
	t->map = map;
	t->name = map->name;
	t->scalar = map->scalar;
	t->text = m->text;
	t->unit_ns = unit_of(m, map);
	m->table = xrealloc(m->table, (m->ntable + 1) * sizeof(struct live_table *));
	m->table[m->ntable++] = t;
	return t;
}

static u32 table_index(const struct live_model *m, const struct live_table *t)
{
	u32 i = 0;
	while (m->table[i] != t)
		i++;
	return i;
}

/* Of a count or a histogram that is less than before, the script has deleted the row in between. */
static bool began_anew(const struct live_table *t, const struct live_row *row,
		       const struct live_value *v)
{
	bool counts = t->kind == LIVE_HIST || t->kind == LIVE_STATS;
	const struct agg *agg = t->map->val ? agg_of(t->map->val) : NULL;
	return t->adds && ((counts && v->count < row->last.count) ||
			   (t->kind == LIVE_NUMBER && agg && agg->counts && v->n < row->last.n));
}

static void carry(struct live_row *row)
{
	struct live_value sum = plus(row->carry, row->last);
	value_drop(&row->carry);
	value_drop(&row->last);
	row->carry = sum;
	row->last = (struct live_value){0};
}

static void add_cell(struct live_model *m, struct live_table *t, struct live_row *row,
		     struct live_value v)
{
	share_same(&v, &row->last, t->kind == LIVE_HIST);
	if (began_anew(t, row, &v))
		carry(row);
	value_drop(&row->last);
	row->last = v;
	row->seen = m->serial;
	row->refs++;
	bool alone = !row->carry.blob && !row->carry.n && !row->carry.count;
	struct live_value all = alone ? value_share(v) : plus(row->carry, v);
	vec_add(&t->now, (struct live_cell){row, all});
}

static void read_row(struct live_model *m, struct live_table *t, const struct item *it,
		     const struct item_row *r, bool clearing)
{
	if (clearing && !t->adds)
		return;
	if (t->kind == LIVE_EMPTY)
		t->kind = kind_of(r->val);
	struct live_value v = read_value(t->kind, r->val);
	struct live_row *row = row_get(t, r->key, it);
	if (clearing) {
		if (began_anew(t, row, &v))
			carry(row);
		value_drop(&row->last);
		row->last = v;
		carry(row);
	} else if (row->seen == m->serial) {
		value_drop(&v);
	} else {
		add_cell(m, t, row, v);
	}
}

/* Rows that the map does not have any more keep what was added to them, while there is room. */
static void keep_absent(struct live_model *m, struct live_table *t)
{
	enum { MAX_KEPT = 10000 };
	for (u32 i = 0; i < t->nrow; i++) {
		struct live_row *row = t->row[i];
		if (!row || row->seen == m->serial)
			continue;
		if (t->now.n >= MAX_KEPT) {
			t->dropped += row->seen + 1 == m->serial;
			continue;
		}
		carry(row);
		row->seen = m->serial;
		row->refs++;
		vec_add(&t->now, (struct live_cell){row, value_share(row->carry)});
	}
}

void model_map(struct live_model *m, const struct map *map, const struct item *it, bool clearing)
{
	struct live_table *t = table_of(m, map);
	assert(it->kind == I_MAP);
	t->adds = it->map.adds;
	t->plain = !it->map.agg && !it->map.adds;
	t->unit_ns = it->map.unit_ns ? it->map.unit_ns : t->unit_ns;
	for (u64 i = 0; i < it->map.n; i++) {
		struct item_row r = item_row(it, i);
		read_row(m, t, it, &r, clearing);
	}
	if (!clearing && t->adds)
		keep_absent(m, t);
}

/* ---- readings ---- */

static void tick_drop(struct live_model *m, struct live_tick *t)
{
	if (--t->refs)
		return;
	for (u32 i = 0; i < t->nshot; i++) {
		struct live_shot *s = t->shot[i];
		for (u32 k = 0; s && k < s->n; k++) {
			value_drop(&s->cell[k].v);
			row_unref(m->table[i], s->cell[k].row);
		}
		free(s);
	}
	m->bytes -= t->bytes;
	free(t);
}

static void forget_oldest(struct live_model *m)
{
	tick_drop(m, m->tick[0]);
	m->forgotten++;
	memmove(m->tick, m->tick + 1, --m->ntick * sizeof(struct live_tick *));
}

static bool too_much(const struct live_model *m)
{
	u64 age = m->ntick ? m->tick[m->ntick - 1]->at.ns - m->tick[0]->at.ns : 0;
	return m->ntick > 2 && (age > m->limits.history_ns || m->bytes > m->limits.memory);
}

static int by_row(const void *pa, const void *pb)
{
	const struct live_cell *a = pa, *b = pb;
	return (a->row->index > b->row->index) - (a->row->index < b->row->index);
}

static struct live_shot *shot_of(struct live_table *t, size_t *bytes)
{
	size_t size = sizeof(struct live_shot) + t->now.n * sizeof(struct live_cell);
	struct live_shot *s = xmalloc(size);
	s->n = t->now.n;
	if (s->n)
		memcpy(s->cell, t->now.v, s->n * sizeof(struct live_cell));
	qsort(s->cell, s->n, sizeof(struct live_cell), by_row);
	for (u32 i = 0; i < s->n; i++)
		if (s->cell[i].v.blob && s->cell[i].v.blob->refs <= 2)
			size += blob_bytes(s->cell[i].v.blob, t->kind == LIVE_HIST);
	t->now.n = 0;
	*bytes += size;
	return s;
}

void model_begin(struct live_model *m, const struct watch_reading *t)
{
	assert(!m->reading_on);
	m->reading_on = true;
	m->reading = *t;
	m->serial++;
}

void model_end(struct live_model *m)
{
	assert(m->reading_on);
	m->reading_on = false;
	struct live_tick *t = xcalloc(1, sizeof(*t) + m->ntable * sizeof(struct live_shot *));
	*t = (struct live_tick){.refs = 1,
				.serial = m->serial,
				.at = m->reading,
				.bytes = sizeof(*t),
				.lost = m->lost,
				.nshot = m->ntable};
	memcpy(t->lines, m->lines, sizeof(t->lines));
	for (u32 i = 0; i < m->ntable; i++)
		t->shot[i] = shot_of(m->table[i], &t->bytes);
	m->bytes += t->bytes;
	if (m->ntick == m->captick)
		m->tick = vec_grow(m->tick, m->ntick, &m->captick, sizeof(struct live_tick *));
	m->tick[m->ntick++] = t;
	while (too_much(m))
		forget_oldest(m);
}

void model_note(struct live_model *m, u32 text, u64 lines)
{
	assert(text < LIVE_TEXTS);
	m->lines[text] = lines;
}

void model_init(struct live_model *m, const struct live_limits *l)
{
	*m = (struct live_model){.limits = *l};
}

void model_deinit(struct live_model *m)
{
	model_pin(m, &m->base, NULL);
	model_pin(m, &m->mark, NULL);
	while (m->ntick)
		forget_oldest(m);
	for (u32 i = 0; i < m->ntable; i++) {
		struct live_table *t = m->table[i];
		for (u32 k = 0; k < t->now.n; k++)
			value_drop(&t->now.v[k].v);
		for (u32 k = 0; k < t->nrow; k++)
			if (t->row[k]) {
				value_drop(&t->row[k]->last);
				value_drop(&t->row[k]->carry);
			}
		row_free_all(t);
		vec_free(&t->now);
		free(t);
	}
	free(m->table);
	free(m->tick);
}

const struct live_tick *model_back(const struct live_model *m, u32 i)
{
	return m->ntick ? m->tick[m->ntick - 1 - MIN(i, m->ntick - 1)] : NULL;
}

u32 model_steps_to(const struct live_model *m, u64 wall_ns)
{
	u32 i = m->ntick;
	while (i && m->tick[i - 1]->at.wall_ns >= wall_ns)
		i--;
	return m->ntick - MIN(i + 1, m->ntick);
}

void model_pin(struct live_model *m, struct live_tick **which, const struct live_tick *t)
{
	struct live_tick *was = *which;
	*which = (struct live_tick *)t;
	if (t)
		(*which)->refs++;
	if (was)
		tick_drop(m, was);
}

/* ---- asking ---- */

static const struct live_cell *cell_at(const struct live_tick *tick, u32 table,
				       const struct live_row *row)
{
	const struct live_shot *s = tick && table < tick->nshot ? tick->shot[table] : NULL;
	u32 lo = 0, hi = s ? s->n : 0;
	while (lo < hi) {
		u32 mid = (lo + hi) / 2;
		if (s->cell[mid].row->index < row->index)
			lo = mid + 1;
		else
			hi = mid;
	}
	return s && lo < s->n && s->cell[lo].row == row ? &s->cell[lo] : NULL;
}

static double seconds(const struct live_tick *from, const struct live_tick *to)
{
	return (double)(to->at.ns - from->at.ns) / SECOND_NS;
}

/* What is counted per second. */
static double amount(const struct live_table *t, const struct live_value *v)
{
	return t->kind == LIVE_NUMBER ? (double)v->n : (double)v->count;
}

static struct live_value less(const struct live_table *t, struct arena *a, struct live_value v,
			      const struct live_cell *was)
{
	struct live_value r = {.n = v.n, .count = v.count, .blob = v.blob};
	if (was) {
		r.n = (i64)((u64)v.n - (u64)was->v.n);
		r.count = v.count - was->v.count;
	}
	if (t->kind == LIVE_HIST)
		r.blob = hist_less(a, v.blob, was ? was->v.blob : NULL);
	return r;
}

/* A row that was not there is known to be new only where all that was added is kept. */
static void set_rate(const struct live_table *t, struct live_entry *e, const struct live_look *look,
		     const struct live_cell *was)
{
	double s = look->prev ? seconds(look->prev, look->at) : 0;
	e->known = s > 0 && t->kind != LIVE_TEXT && (t->adds || was);
	if (e->known)
		e->rate = amount(t, &e->step) / s;
}

struct live_entries model_collect(const struct live_model *m, const struct live_table *t,
				  const struct live_look *look, struct arena *a)
{
	struct live_entries r = {0};
	u32 at = table_index(m, t);
	const struct live_shot *s = look->at && at < look->at->nshot ? look->at->shot[at] : NULL;
	r.v = arena_newn(a, struct live_entry, s ? s->n + 1 : 1);
	for (u32 i = 0; s && i < s->n; i++) {
		const struct live_cell *c = &s->cell[i], *was = cell_at(look->prev, at, c->row),
				       *base = t->adds || t->kind == LIVE_NUMBER
						       ? cell_at(look->base, at, c->row)
						       : NULL;
		struct live_entry *e = &r.v[r.n];
		*e = (struct live_entry){.row = c->row, .all = c->v};
		e->step = less(t, a, c->v, was);
		if (base)
			e->all = less(t, a, c->v, base);
		set_rate(t, e, look, was);
		if (base && t->adds && !e->all.count && !e->all.n)
			continue; /* nothing since then */
		r.n++;
	}
	return r;
}

static double total(const struct live_tick *tick, u32 at, const struct live_table *t,
		    const struct live_row *row, bool *any)
{
	const struct live_shot *s = tick && at < tick->nshot ? tick->shot[at] : NULL;
	double sum = 0;
	if (row) {
		const struct live_cell *c = cell_at(tick, at, row);
		*any = c;
		return c ? amount(t, &c->v) : 0;
	}
	for (u32 i = 0; s && i < s->n; i++)
		sum += amount(t, &s->cell[i].v);
	*any = s && s->n;
	return sum;
}

bool model_rate(const struct live_model *m, const struct live_table *t, const struct live_row *row,
		u32 back, double *ret)
{
	bool now, before;
	if (back >= m->ntick)
		return false;
	const struct live_tick *to = m->tick[m->ntick - 1 - back],
			       *from = back + 1 < m->ntick ? m->tick[m->ntick - 2 - back] : NULL;
	u32 at = table_index(m, t);
	double a = total(to, at, t, row, &now), b = total(from, at, t, row, &before);
	if (!t->adds) {
		*ret = a;
		return now;
	}
	if (!from || seconds(from, to) <= 0)
		return false;
	*ret = (a - b) / seconds(from, to);
	return true;
}
