/* maps.c - maps printed: what was read of them, sorted, row by row to the sink. */
#include "base/clock.h"
#include "core/watch.h"
#include "report/cleared.h"
#include "report/report.h"
#include "report/snap.h"

struct row {
	u32 i; /* in the snap */
	const void *val;
};

/* ---- order ---- */

static u64 load_int(const struct type *t, const u8 *p)
{
	u64 v = 0;
	u32 size = MIN(t->size, 8);
	memcpy(&v, p, size);
	if (t->is_signed && size < 8)
		v = (u64)((i64)(v << (64 - 8 * size)) >> (64 - 8 * size));
	return v;
}

static int cmp_num(const struct type *t, u64 a, u64 b)
{
	if (t->is_signed)
		return ((i64)a > (i64)b) - ((i64)a < (i64)b);
	return (a > b) - (a < b);
}

static int cmp_text(const u8 *a, const u8 *b, u32 size)
{
	struct str x = str_n((const char *)a, strnlen((const char *)a, size));
	struct str y = str_n((const char *)b, strnlen((const char *)b, size));
	return str_cmp(x, y);
}

static int cmp_buf(const u8 *a, const u8 *b, u32 size)
{
	u32 na, nb;
	memcpy(&na, a, sizeof(na));
	memcpy(&nb, b, sizeof(nb));
	return str_cmp(str_n((const char *)a + 4, MIN(na, size - 4)),
		       str_n((const char *)b + 4, MIN(nb, size - 4)));
}

static int cmp_key(const struct type *t, const u8 *a, const u8 *b);

static int cmp_fields(const struct type *t, const u8 *a, const u8 *b)
{
	u32 n;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++) {
		u32 at = f[i].bit_off / 8;
		int d = cmp_key(f[i].type, a + at, b + at);
		if (d)
			return d;
	}
	return 0;
}

static int cmp_key(const struct type *t, const u8 *a, const u8 *b)
{
	if (type_is_int(t) || t->kind == T_BOOL || t->kind == T_PTR || t->kind == T_KSYM ||
	    t->kind == T_USERNAME || t->kind == T_PROBE)
		return cmp_num(t, load_int(t, a), load_int(t, b));
	if (t->kind == T_STRING || (t->kind == T_ARRAY && t->base->is_char))
		return cmp_text(a, b, t->size);
	if (t->kind == T_BUF)
		return cmp_buf(a, b, t->size);
	if (t->kind == T_TUPLE || t->kind == T_RECORD || type_is_record(t))
		return cmp_fields(t, a, b);
	if (t->kind == T_ARRAY) {
		for (u32 i = 0; i < t->count; i++) {
			size_t at = (size_t)i * t->base->size;
			int d = cmp_key(t->base, a + at, b + at);
			if (d)
				return d;
		}
		return 0;
	}
	return memcmp(a, b, t->size);
}

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
		d = cmp_num(n->m->val, load_int(n->m->val, a->val), load_int(n->m->val, b->val));
	if (d || !n->m->key)
		return d;
	return cmp_key(n->m->key, snap_key(n, a->i, o->key[0]), snap_key(n, b->i, o->key[1]));
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
	struct reporter *reporter;
	const struct snap *snap;
	const struct row *row;
	u64 div;
	struct arena arena; /* of the row that is shown */
	u8 *buf;            /* its key */
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

/* Who gets the rows of a map. */
struct taker {
	enum sink_keys keys;
	struct watcher *watcher; /* NULL: the output does */
	bool clearing;
};

static void put_rows(struct reporter *r, struct snap *n, const struct taker *to, u32 top, u64 div,
		     bool shown)
{
	struct arena a = {0};
	struct rows rows = {.reporter = r,
			    .snap = n,
			    .row = read_rows(n, &a),
			    .buf = arena_newn(&a, u8, n->key_size + 1ul),
			    .n = n->n,
			    .div = div};
	join_alike(&rows, n, to->keys);
	rows.row = to->watcher ? read_rows(n, &a) : sorted_rows(n, &a);
	u32 count = shown ? n->n : 0, from = top && top < count && !n->m->scalar ? count - top : 0;
	rows.row += from;
	rows.n = count - from;
	struct item it = {.kind = I_MAP,
			  .name = n->m->name,
			  .agg = n->agg,
			  .adds = n->agg ? n->agg->adds : n->m->counter,
			  .ts = r->records.event_ts ? r->records.event_ts : now_ns(),
			  .epoch = *cleared_epoch(r, n->m),
			  .n = count - from,
			  .key = n->m->scalar ? NULL : &rows.key,
			  .val = &rows.val,
			  .make_row = make_row,
			  .rows = &rows};
	if (to->watcher)
		to->watcher->map(to->watcher->self, n->m, &it, to->clearing);
	else
		report_put(r, &it);
	r->reader.expected = false;
	arena_free(&rows.arena);
	arena_free(&a);
}

static void print_map(struct reporter *r, const struct map *m, u32 top, u64 div, bool at_exit,
		      struct str percentiles)
{
	struct snap n;
	assert(m->store);
	struct err *e = snap_take(r, m, &n);
	n.percentiles = percentiles;
	if (e)
		report_map_failed(r, m, "read", e);
	else
		put_rows(r, &n, &(struct taker){.keys = r->output.sink->keys}, top, div,
			 is_shown(&n, at_exit));
	snap_free(&n);
}

void report_print_map(struct reporter *r, const struct map *m, u32 top, u64 div, bool at_exit)
{
	print_map(r, m, top, div, at_exit, STR(""));
}

void report_print_percentiles(struct reporter *r, const struct map *m, struct str list)
{
	print_map(r, m, 0, 0, false, list);
}

/* ---- for a watcher ---- */

static void watch_map(struct reporter *r, const struct map *m, struct watcher *w, bool clearing)
{
	struct snap n;
	struct taker to = {KEYS_BY_TEXT, w, clearing};
	struct err *e = snap_peek(r, m, &n);
	if (!e)
		put_rows(r, &n, &to, 0, 0, n.present);
	snap_free(&n);
	w->nfailed += e != NULL;
	err_free(e);
}

void report_watch_maps(struct reporter *r, struct watcher *w)
{
	const struct unit *u = r->unit;
	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->role == MAP_USER && source_has(r, u->map[i]))
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
