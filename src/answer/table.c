/* table.c - see table.h. */
#include "answer/table.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "rec/pack.h"

enum { MAX_WORDS = 1 << 16, MAX_NAME = 256 };

/* ---- what is printed ---- */

/* As scripts name maps: "@", "@x". */
static bool is_map_name(struct str s)
{
	bool ok = s.n && s.n <= MAX_NAME && s.s[0] == '@';
	for (u32 i = 1; i < s.n && ok; i++) {
		char c = s.s[i];
		ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		     c == '_';
	}
	return ok;
}

/* The aggregation whose values types name so; false if there is none. */
static bool find_agg(struct str name, struct type *t)
{
	for (u32 kind = 0; kind < T_KINDS; kind++) {
		AUTO_SB b = {0};
		struct type one = {.kind = (enum type_kind)kind, .is_signed = true};
		if (!type_is_agg(&one) || !agg_of(&one))
			continue;
		type_name(&one, &b);
		if (!str_eq(sb_str(&b), name))
			continue;
		t->kind = one.kind;
		return true;
	}
	return false;
}

static bool take_agg(struct answer_in *in, struct table_head *h)
{
	struct str name = unpack_str(&in->b);
	struct type *t = &h->type;
	*t = (struct type){.align = 8, .is_signed = h->sign};
	t->count = bytes_u32(&in->b);
	for (u32 i = 0; i < countof(t->p); i++)
		t->p[i] = (i64)bytes_u64(&in->b);
	t->name = answer_take_text(in);
	h->words = 1;
	if (in->b.bad || !name.n)
		return !in->b.bad;
	if (!find_agg(name, t))
		return false;
	h->agg = agg_of(t);
	if (h->agg->sound && !h->agg->sound(t))
		return false;
	h->words = h->agg->words(t);
	t->size = h->words * 8;
	return h->words && h->words <= MAX_WORDS;
}

bool table_take_head(struct answer_in *in, struct table_head *h)
{
	*h = (struct table_head){.ns = bytes_u64(&in->b)};
	u8 flags = bytes_u8(&in->b);
	h->sign = flags & PRINT_SIGNED;
	h->keyed = flags & PRINT_KEYED;
	h->counter = flags & PRINT_COUNTER;
	h->number = flags & PRINT_INT;
	h->present = flags & PRINT_PRESENT;
	h->at_exit = flags & PRINT_AT_EXIT;
	h->hosted = flags & PRINT_HOSTED;
	h->name = answer_take_text(in);
	if (!is_map_name(h->name) || !take_agg(in, h))
		return false;
	h->top = bytes_u64(&in->b);
	h->div = bytes_u64(&in->b);
	h->percentiles = answer_take_text(in);
	h->epoch = bytes_u32(&in->b);
	h->counter &= !h->agg;
	return !in->b.bad && (!h->percentiles.n ||
			      (h->agg && h->agg->buckets && percentiles_valid(h->percentiles)));
}

const char *table_differs(const struct table_head *a, const struct table_head *b)
{
	if (a->agg != b->agg || a->counter != b->counter || a->sign != b->sign ||
	    a->number != b->number)
		return "has values of another type";
	if (a->agg &&
	    (a->type.count != b->type.count || memcmp(a->type.p, b->type.p, sizeof(a->type.p)) ||
	     !str_eq(a->type.name, b->type.name)))
		return "has other buckets or intervals";
	if (a->keyed != b->keyed && !(a->hosted || b->hosted))
		return "has a key in only one answer, other";
	return NULL;
}

/* ---- rows ---- */

static bool take_words(struct answer_in *in, u64 *w, u32 n)
{
	bool ok = bytes_u32(&in->b) == n;
	struct rec_bytes b = {in->b.p + in->b.at, in->b.p + in->b.n, !ok || in->b.bad};
	for (u32 i = 0; i < n && !b.bad;) {
		u64 zeros = varint_take(&b), some = varint_take(&b);
		if (zeros > n - i || some > n - i - zeros || !(zeros + some)) {
			b.bad = true;
			break;
		}
		i += (u32)zeros;
		for (u64 k = 0; k < some; k++)
			w[i++] = varint_take(&b);
	}
	in->b.at = (size_t)(b.p - in->b.p);
	in->b.bad |= b.bad;
	return !b.bad;
}

/* The host as a part of the order: a text, as order_put() has them. */
static void put_order(struct sb *out, struct str host)
{
	for (u32 i = 0; i < host.n; i++)
		if (host.s[i])
			sb_char(out, host.s[i]);
	sb_pad(out, 0, 2);
}

/* A host or a label before what the key has. */
static void add_part(struct answer_in *in, struct table_row *r, bool keyed, struct str host)
{
	AUTO_SB order = {0};
	const struct value name = {.kind = V_STR, .str = host};
	bool tuple = keyed && r->key.kind == V_TUPLE;
	u32 n = !keyed ? 0 : tuple ? r->key.n : 1;
	struct value *list = arena_newn(in->a, struct value, n + 1ul);
	list[0] = name;
	for (u32 i = 0; i < n; i++)
		list[i + 1] = tuple ? r->key.list[i] : r->key;
	r->key = n ? (struct value){.kind = V_TUPLE, .n = n + 1, .list = list} : name;
	put_order(&order, host);
	sb_add(&order, r->order);
	r->order = arena_str(in->a, sb_str(&order));
}

/* The key without its first part, which is the host. False: nothing is left. */
static bool drop_host(struct table_row *r)
{
	bool tuple = r->key.kind == V_TUPLE && r->key.n;
	u32 end = 0;
	while (end + 2 < r->order.n && (r->order.s[end] || r->order.s[end + 1]))
		end++;
	r->order = str_from(r->order, MIN(end + 2, r->order.n));
	if (!tuple)
		return false;
	r->key.list++;
	if (!--r->key.n)
		return false;
	if (r->key.n == 1)
		r->key = r->key.list[0];
	return true;
}

/* The host, its label, or both become the first part of the key; what the file has so stays. */
static void add_host(struct answer_in *in, const struct table *t, const struct table_head *head,
		     const struct table_host *host, struct table_row *r)
{
	bool keyed = head->keyed;
	struct str of = STR("");
	if (!host->name.n || (head->hosted && (!host->labels || host->labelled)))
		return;
	if (head->hosted) {
		const struct value *first =
			r->key.kind == V_TUPLE && r->key.n ? &r->key.list[0] : &r->key;
		of = first->kind == V_STR ? first->str : of;
		keyed = t->both || drop_host(r);
	} else if (!host->labels || t->both) {
		add_part(in, r, keyed, host->name);
		keyed = true;
	}
	if (host->labels)
		add_part(in, r, keyed, labels_of(host->labels, of));
}

/* Two different ones are never shown as the same text, but for tuples of texts: "a, b" and "c", "a" and "b, c". */
static bool shows_apart(const struct value *key)
{
	bool many = key->kind == V_TUPLE || key->kind == V_RECORD, apart = true;
	for (u32 i = 0; many && i < key->n && apart; i++)
		apart = shows_apart(&key->list[i]);
	return many ? apart
		    : key->kind == V_INT || key->kind == V_UINT || key->kind == V_BOOL ||
			       key->kind == V_PTR || key->kind == V_STR;
}

/* As value_key_identity(), with a length before each part. */
static void put_parts(struct sb *out, const struct value *key)
{
	bool many = key->kind == V_TUPLE || key->kind == V_RECORD;
	AUTO_SB part = {0};
	for (u32 i = 0; many && i < key->n; i++)
		put_parts(&part, &key->list[i]);
	if (!many)
		value_key_identity(&part, key, true);
	pack_str(out, sb_str(&part));
}

static struct str identity_of(struct arena *a, const struct table *t, const struct table_row *r,
			      const struct table_host *host)
{
	AUTO_SB b = {0};
	if (host->split)
		pack_u32(&b, host->index);
	if (t->head.keyed && shows_apart(&r->key))
		put_parts(&b, &r->key);
	else if (t->head.keyed)
		value_key_identity(&b, &r->key, true);
	if (host->same) {
		sb_char(&b, 0);
		sb_add(&b, r->order);
	}
	return arena_str(a, sb_str(&b));
}

static void merge_words(const struct table_head *h, u64 *into, const u64 *from)
{
	if (h->agg)
		h->agg->merge(&h->type, into, from);
	else
		*into += *from;
}

/* As rows that are printed: those of a map without key are left out if nothing was stored. */
static bool is_shown(const struct table_head *h)
{
	return h->present || (!h->at_exit && !(h->agg && h->agg->quiet));
}

bool table_take_row(struct table *t, struct answer_in *in, const struct table_head *head,
		    const struct table_host *host)
{
	struct table_row r = {.order = answer_take_text(in), .host = host->index};
	bool words = head->agg || head->counter;
	if (head->keyed && !answer_take_value(in, &r.key))
		return false;
	if (words) {
		if (head->words > in->room / sizeof(u64))
			return false;
		in->room -= head->words * sizeof(u64);
		r.words = arena_newn(in->a, u64, head->words);
		if (!take_words(in, r.words, head->words))
			return false;
	}
	if (!head->agg && !answer_take_value(in, &r.plain))
		return false;
	if (in->b.at != in->b.n || sizeof(r) > in->room)
		return false;
	in->room -= sizeof(r);
	add_host(in, t, head, host, &r);
	if (!words && !is_shown(head))
		return true;
	struct str id = identity_of(in->a, t, &r, host);
	struct table_row *into = words ? tab_get(&t->index, id) : NULL;
	if (into) {
		merge_words(head, into->words, r.words);
		r.words = into->words;
		*into = r.host < into->host ? r : *into;
		return true;
	}
	into = arena_new(in->a, struct table_row);
	*into = r;
	tab_set(&t->index, id, into);
	vec_add(&t->row, into);
	return true;
}

/* ---- output ---- */

static int cmp_rows(const void *pa, const void *pb, void *arg)
{
	const struct table_head *h = &((const struct table *)arg)->head;
	const struct table_row *a = *(const struct table_row *const *)pa,
			       *b = *(const struct table_row *const *)pb;
	int d = 0;
	if (h->agg)
		d = h->agg->cmp(&h->type, a->words, b->words);
	else if (h->number) {
		u64 x = a->words ? *a->words : a->plain.u, y = b->words ? *b->words : b->plain.u;
		d = h->sign ? ((i64)x > (i64)y) - ((i64)x < (i64)y) : (x > y) - (x < y);
	}
	return d ? d : str_cmp(a->order, b->order);
}

/* Rows that the output shows alike become one: the one whose key comes first. */
static void join_alike(struct table *t, enum sink_keys keys)
{
	struct tab seen = {0};
	struct arena a = {0};
	u32 kept = 0;
	if (keys == KEYS_ALL || !t->head.keyed || !(t->head.agg || t->head.counter))
		return;
	for (u32 i = 0; i < t->row.n; i++) {
		AUTO_SB id = {0};
		struct table_row *r = t->row.v[i];
		if (shows_apart(&r->key)) {
			t->row.v[kept++] = r;
			continue;
		}
		value_key_identity(&id, &r->key, keys == KEYS_BY_PLACE);
		struct table_row *into = tab_get(&seen, sb_str(&id));
		if (!into) {
			tab_add(&seen, arena_str(&a, sb_str(&id)), r);
			t->row.v[kept++] = r;
			continue;
		}
		merge_words(&t->head, into->words, r->words);
		if (str_cmp(r->order, into->order) < 0) {
			into->order = r->order;
			into->key = r->key;
		}
	}
	t->row.n = kept;
	tab_free(&seen);
	arena_free(&a);
}

struct rows {
	const struct table *t;
	struct table_row *const *row;
	struct arena arena; /* of the row that is shown */
	struct value key, val;
	struct item_merge *merge; /* NULL if the sink does not write answers */
};

/* A plain value or a counter, divided by the divisor of print(). */
static void show_plain(const struct rows *r, const struct table_row *row, struct value *ret)
{
	const struct table_head *h = &r->t->head;
	u64 div = r->merge ? 0 : h->div;
	*ret = row->plain;
	if (row->words)
		ret->u = *row->words;
	if (div > 1 && ret->kind == V_INT)
		ret->i = div > INT64_MAX ? 0 : ret->i / (i64)div;
	else if (div > 1 && ret->kind == V_UINT)
		ret->u /= div;
}

static void make_row(void *rows, u64 i)
{
	struct rows *r = rows;
	const struct table_head *h = &r->t->head;
	const struct table_row *row = r->row[i];
	arena_reset(&r->arena);
	r->key = row->key;
	if (h->agg) {
		h->agg->decode(&h->type, row->words, r->merge ? 0 : h->div, &r->arena, &r->val);
		if (h->percentiles.n && r->val.kind == V_HIST) {
			struct value hist = r->val;
			value_percentiles(&r->arena, h->percentiles, &hist, &r->val);
		}
	} else {
		show_plain(r, row, &r->val);
	}
	if (r->merge) {
		r->merge->order = row->order;
		r->merge->words = row->words;
	}
}

static struct item_merge merge_of(const struct table_head *h)
{
	return (struct item_merge){.type = h->agg ? &h->type : NULL,
				   .counter = h->counter,
				   .number = h->number,
				   .sign = h->sign,
				   .present = h->present,
				   .at_exit = h->at_exit,
				   .hosted = h->hosted,
				   .top = h->top,
				   .div = h->div,
				   .percentiles = h->percentiles};
}

struct err *table_put(struct table *t, const struct sink *sink, void *self, u64 ns)
{
	const struct table_head *h = &t->head;
	struct item_merge merge = merge_of(h);
	join_alike(t, sink->keys);
	if (t->row.n)
		qsort_r(t->row.v, t->row.n, sizeof(*t->row.v), cmp_rows, t);
	bool all = sink->answers;
	u64 n = all || t->apart || is_shown(h) ? t->row.n : 0, top = all || !h->keyed ? 0 : h->top;
	u64 from = top && top < n ? n - top : 0;
	struct rows rows = {
		.t = t, .row = t->row.n ? t->row.v + from : NULL, .merge = all ? &merge : NULL};
	struct item it = {.kind = I_MAP,
			  .name = h->name,
			  .map.agg = h->agg,
			  .ts = ns,
			  .map.epoch = h->epoch,
			  .map.n = n - from,
			  .map.key = h->keyed ? &rows.key : NULL,
			  .map.val = &rows.val,
			  .map.make_row = make_row,
			  .map.rows = &rows,
			  .map.merge = rows.merge};
	struct err *e = sink->put(self, &it);
	arena_free(&rows.arena);
	return e;
}

void table_write_rows(struct table *t, u32 host, struct rec_writer *w)
{
	const struct table_head *h = &t->first;
	AUTO_SB b = {0};
	for (; t->written < t->row.n && t->row.v[t->written]->host == host; t->written++) {
		const struct table_row *r = t->row.v[t->written];
		sb_clear(&b);
		pack_str(&b, r->order);
		if (h->keyed)
			answer_put_value(w, &b, &r->key);
		if (r->words)
			answer_put_words(&b, r->words, h->words);
		if (!h->agg)
			answer_put_value(w, &b, &r->plain);
		rec_answer(w, ITEM_ROW, sb_str(&b));
	}
}

void table_free(struct table *t)
{
	vec_free(&t->row);
	tab_free(&t->index);
}
