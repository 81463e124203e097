/* maps.c - maps printed: what was read of them, sorted, row by row to the sink. */
#include "core/builtin.h"
#include "core/watch.h"
#include "report/baseline.h"
#include "report/order.h"
#include "report/report.h"
#include "report/snap.h"

struct row {
	u32 i; /* in the snap */
	const void *val;
};

/* ---- order ---- */

struct order {
	const struct snap *snap;
	u8 *key[2]; /* room for one */
};

/* Counts, sums and the like by value, all else (and equal values) by key. */
static int cmp_rows(const void *pa, const void *pb, void *arg)
{
	const struct order *o = arg;
	const struct snap *n = o->snap;
	const struct row *a = pa, *b = pb;
	int d = 0;
	if (n->agg)
		d = n->agg->cmp(n->m->val, a->val, b->val);
	else if (type_is_int(n->m->val))
		d = order_numbers(n->m->val, order_int(n->m->val, a->val),
				  order_int(n->m->val, b->val));
	if (d || !n->m->key)
		return d;
	return order_keys(n->m->key, snap_key(n, a->i, o->key[0]), snap_key(n, b->i, o->key[1]));
}

/* In the order in which they were read. */
static struct row *read_rows(const struct snap *n, struct arena *a)
{
	struct row *rows = arena_newn(a, struct row, n->n ? n->n : 1);
	const u8 *vals = n->agg ? (const u8 *)n->merged : n->vals;
	for (u32 i = 0; i < n->n; i++)
		rows[i] = (struct row){i, vals + (size_t)i * n->val_size};
	return rows;
}

static struct row *sorted_rows(const struct snap *n, struct arena *a)
{
	struct row *rows = read_rows(n, a);
	struct order o = {
		n, {arena_newn(a, u8, n->key_size + 1ul), arena_newn(a, u8, n->key_size + 1ul)}};
	qsort_r(rows, n->n, sizeof(*rows), cmp_rows, &o);
	return rows;
}

/* ---- printing ---- */

/* The type by which a plain value is shown: the stored one, but bools, enums and pointers as they
 * were written. */
static const struct type *shown_type(const struct map *m)
{
	const struct type *t = m->shown;
	bool narrow = t && t->size <= m->val->size && m->val->kind == T_INT;
	return narrow && (t->kind == T_BOOL || t->kind == T_ENUM || t->kind == T_PTR) ? t : m->val;
}

static void decode_val(struct reporter *r, struct arena *a, const struct snap *n, const void *p,
		       u64 div, struct value *ret)
{
	const struct map *m = n->m;
	if (n->agg) {
		n->agg->decode(m->val, p, div, a, ret);
		if (n->percentiles.n && ret->kind == V_HIST) {
			struct value hist = *ret;
			value_percentiles(a, n->percentiles, &hist, ret);
		}
		return;
	}
	decode_value(&r->reader, a, shown_type(m), p, ret);
	if (div > 1 && ret->kind == V_INT)
		ret->i /= (i64)div;
	else if (div > 1 && ret->kind == V_UINT)
		ret->u /= div;
}

/* Absent scalars: 0 when asked for; an empty histogram prints nothing, and neither does anything at
 * exit. */
static bool is_shown(const struct snap *n, bool at_exit)
{
	if (n->present)
		return n->n != 0;
	return !at_exit && !(n->agg && n->agg->quiet);
}

struct rows {
	const struct schema *table; /* that shows them to a watcher; or NULL */
	struct reporter *reporter;
	const struct snap *snap;
	const struct row *row;
	u64 div;
	struct arena arena;       /* of the row that is shown */
	u8 *buf;                  /* its key */
	struct item_merge *merge; /* for a sink that .answers; NULL: for another */
	struct sb order;          /* of that */
	struct value key, val;
	u64 n, expected; /* rows, of which the addresses of so many were announced */
};

/* Of so many rows that it pays, and not of so many that their names fill the memory. */
static void expect_rows(struct rows *r)
{
	enum { MAX_EXPECTED = 1 << 14 };
	struct reader *reader = &r->reporter->reader;
	const struct map *m = r->snap->m;
	u32 addrs = 0;
	assert(r->expected <= r->n);
	while (r->expected < r->n && addrs < MAX_EXPECTED) {
		const struct row *row = &r->row[r->expected++];
		const u8 *key = m->scalar ? NULL : snap_key(r->snap, row->i, r->buf);
		addrs += key ? decode_expect(reader, m->key, key) : 0;
		addrs += r->snap->agg ? 0 : decode_expect(reader, shown_type(m), row->val);
	}
	if (addrs)
		reader->names->expected(reader->asked);
}

static void make_row(void *rows, u64 i)
{
	struct rows *r = rows;
	assert(i < r->n);
	if (i >= r->expected)
		expect_rows(r);
	r->reporter->reader.expected = true;
	arena_reset(&r->arena);
	if (!r->snap->m->scalar)
		decode_value(&r->reporter->reader, &r->arena, r->snap->m->key,
			     snap_key(r->snap, r->row[i].i, r->buf), &r->key);
	decode_val(r->reporter, &r->arena, r->snap, r->row[i].val, r->div, &r->val);
	if (!r->merge)
		return;
	sb_clear(&r->order);
	if (!r->snap->m->scalar)
		order_put(&r->order, r->snap->m->key, snap_key(r->snap, r->row[i].i, r->buf));
	r->merge->order = sb_str(&r->order);
	r->merge->words = r->row[i].val;
}

/* ---- rows that are shown alike ---- */

/* Two values of the type are never shown as the same text. */
static bool shows_apart(const struct type *t)
{
	u32 n = 0;
	const struct field *f = NULL;
	if (t->kind == T_TUPLE && t->name.n) /* a text made of it */
		return false;
	if (t->kind == T_TUPLE || t->kind == T_RECORD)
		f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++)
		if (!shows_apart(f[i].type))
			return false;
	return f || type_is_int(t) || t->kind == T_BOOL || t->kind == T_PTR ||
	       t->kind == T_STRING || t->kind == T_MAC;
}

struct joining {
	struct rows *rows;
	bool places;
	struct sb text;
};

static struct str identity_of(void *arg, u32 i)
{
	struct joining *j = arg;
	struct rows *r = j->rows;
	assert(i < r->n);
	if (i >= r->expected)
		expect_rows(r);
	r->reporter->reader.expected = true;
	arena_reset(&r->arena);
	decode_value(&r->reporter->reader, &r->arena, r->snap->m->key, snap_key(r->snap, i, r->buf),
		     &r->key);
	sb_clear(&j->text);
	value_key_identity(&j->text, &r->key, j->places);
	return sb_str(&j->text);
}

/* As the output wants it; r has the rows as they were read. */
static void join_alike(struct rows *r, struct snap *n, enum sink_keys keys)
{
	struct joining j = {.rows = r, .places = keys == KEYS_BY_PLACE};
	bool adds_up = n->agg || n->m->counter;
	if (keys == KEYS_ALL || !n->m->key || !adds_up || shows_apart(n->m->key))
		return;
	snap_join(n, identity_of, &j);
	sb_free(&j.text);
	r->expected = 0;
}

/* The receiver of a map's rows. */
struct taker {
	enum sink_keys keys;
	struct watcher *watcher; /* NULL if the output receives them */
	bool clearing;
};

/* The arguments of print(). */
struct printing {
	u32 top;
	u64 div;
	bool at_exit;
	struct str percentiles;
};

static struct item_merge merge_of(const struct snap *n, const struct printing *p)
{
	const struct type *val = n->m->val;
	return (struct item_merge){.type = n->agg ? val : NULL,
				   .counter = n->m->counter,
				   .number = type_is_int(val),
				   .sign = val->is_signed,
				   .present = n->present,
				   .at_exit = p->at_exit,
				   .top = p->top,
				   .div = p->div,
				   .percentiles = p->percentiles};
}

/* What prints the map as a table; NULL if nothing does. */
static const struct schema *table_of(const struct unit *u, const struct map *m)
{
	for (u32 i = 0; i < u->nschema; i++) {
		const struct schema *sc = u->schema[i];
		if (sc->fn && sc->fn->key_text && sc->nmap && sc->maps[0] == m)
			return sc;
	}
	return NULL;
}

static void put_key(void *rows, const struct value *key, struct sb *out)
{
	const struct rows *r = rows;
	r->table->fn->key_text(r->reporter, r->table, key, out);
}

static void put_rows(struct reporter *r, struct snap *n, const struct taker *to,
		     const struct printing *p)
{
	struct arena a = {0};
	bool answers = !to->watcher && r->output.sink->answers;
	struct item_merge merge = merge_of(n, p);
	struct rows rows = {.reporter = r,
			    .snap = n,
			    .row = read_rows(n, &a),
			    .buf = arena_newn(&a, u8, n->key_size + 1ul),
			    .merge = answers ? &merge : NULL,
			    .n = n->n,
			    .div = answers ? 0 : p->div,
			    .table = to->watcher ? table_of(r->unit, n->m) : NULL};
	join_alike(&rows, n, to->keys);
	rows.row = to->watcher ? read_rows(n, &a) : sorted_rows(n, &a);
	bool shown = to->watcher ? n->present : answers || is_shown(n, p->at_exit);
	u32 count = shown ? n->n : 0, top = answers ? 0 : p->top;
	u32 from = top && top < count && !n->m->scalar ? count - top : 0;
	rows.row += from;
	rows.n = count - from;
	struct item it = {.kind = I_MAP,
			  .name = n->m->name,
			  .map.agg = n->agg,
			  .map.adds = n->agg ? n->agg->adds : n->m->counter,
			  .ts = report_now(r),
			  .map.epoch = *baseline_epoch(r, n->m),
			  .map.n = count - from,
			  .map.key = n->m->scalar ? NULL : &rows.key,
			  .map.val = &rows.val,
			  .map.make_row = make_row,
			  .map.rows = &rows,
			  .map.merge = rows.merge};
	if (rows.table) {
		it.map.put_key = put_key;
		it.map.unit_ns = rows.table->fn->unit_ns(rows.table);
	}
	if (to->watcher)
		to->watcher->map(to->watcher->self, n->m, &it, to->clearing);
	else
		report_put(r, &it);
	r->reader.expected = false;
	arena_free(&rows.arena);
	arena_free(&a);
	sb_free(&rows.order);
}

static void print_map(struct reporter *r, const struct map *m, const struct printing *p)
{
	struct snap n;
	assert(m->store);
	struct err *e = snap_take(r, m, &n);
	n.percentiles = p->percentiles;
	if (e)
		report_map_failed(r, m, "read", e);
	else
		put_rows(r, &n, &(struct taker){.keys = r->output.sink->keys}, p);
	snap_free(&n);
}

void report_print_map(struct reporter *r, const struct map *m, u32 top, u64 div, bool at_exit)
{
	print_map(r, m, &(struct printing){.top = top, .div = div, .at_exit = at_exit});
}

void report_print_percentiles(struct reporter *r, const struct map *m, struct str list)
{
	print_map(r, m, &(struct printing){.percentiles = list});
}

/* ---- for a watcher ---- */

static void watch_map(struct reporter *r, const struct map *m, struct watcher *w, bool clearing)
{
	struct snap n;
	struct taker to = {KEYS_BY_TEXT, w, clearing};
	struct err *e = snap_peek(r, m, &n);
	if (!e)
		put_rows(r, &n, &to, &(struct printing){0});
	snap_free(&n);
	w->nfailed += e != NULL;
	err_free(e);
}

void report_watch_maps(struct reporter *r, struct watcher *w)
{
	const struct unit *u = r->unit;
	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->role == MAP_USER && source_has(r, u->map[i]) &&
		    !(w->ignores && w->ignores(w->self, u->map[i])))
			watch_map(r, u->map[i], w, false);
	arena_reset(&r->reader.arena);
}

void report_watch_clear(struct reporter *r, const struct map *m)
{
	watch_map(r, m, r->output.watcher, true);
}

static int by_name(const void *pa, const void *pb)
{
	const struct map *const *a = pa, *const *b = pb;
	return str_cmp((*a)->name, (*b)->name);
}

void report_print_maps(struct reporter *r)
{
	const struct unit *u = r->unit;
	struct map **v = arena_newn(&r->reader.arena, struct map *, u->nmap + 1);
	u32 n = 0;
	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->role == MAP_USER)
			v[n++] = u->map[i];
	qsort(v, n, sizeof(struct map *), by_name);
	for (u32 i = 0; i < n; i++)
		report_print_map(r, v[i], 0, 0, true);
	arena_reset(&r->reader.arena);
}
