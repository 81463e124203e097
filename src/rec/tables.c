/* tables.c - see tables.h. */
#include "rec/tables.h"
#include "base/alloc.h"
#include "base/bytes.h"

enum {
	MAX_IDS = 1 << 24, /* of schemas and enums */
	MAX_LOSSES = 1 << 16,
	MAX_EXITS = 1 << 22,
	MAX_ENUMERATORS = 1 << 16,
};
static const u32 size_of[NAMES_KINDS] = {sizeof(u32) * 2 + sizeof(struct rec_string),
					 sizeof(struct rec_task), sizeof(struct rec_mapping),
					 sizeof(struct rec_frame), sizeof(struct rec_stack)};

struct string_name {
	u32 id, pad;
	struct rec_string s;
};
_Static_assert(sizeof(struct string_name) == sizeof(u32) * 2 + sizeof(struct rec_string),
	       "size_of");
_Static_assert(!offsetof(struct rec_task, id) && !offsetof(struct rec_mapping, id) &&
		       !offsetof(struct rec_frame, id) && !offsetof(struct rec_stack, id),
	       "an id comes first");

void tables_init(struct rec_tables *t)
{
	*t = (struct rec_tables){0};
	for (u32 i = 0; i < NAMES_KINDS; i++)
		t->names[i].size = size_of[i];
}

void tables_forget(struct rec_tables *t)
{
	for (u32 i = 0; i < NAMES_KINDS; i++) {
		free(t->names[i].v);
		arena_free(&t->names[i].a);
		t->names[i] = (struct names_of){.size = size_of[i]};
	}
	vec_free(&t->exits);
}

void tables_free(struct rec_tables *t)
{
	tables_forget(t);
	vec_free(&t->meta);
	vec_free(&t->feature);
	vec_free(&t->clock);
	vec_free(&t->loss);
	vec_free(&t->enums);
	vec_free(&t->part);
	vec_free(&t->schema);
	vec_free(&t->known);
	arena_free(&t->a);
}

/* ---- names ---- */

static u32 id_at(const struct names_of *n, u32 i)
{
	u32 id;
	memcpy(&id, (const char *)n->v + (size_t)i * n->size, sizeof(id));
	return id;
}

const void *tables_name(const struct rec_tables *t, enum names_kind kind, u32 id)
{
	const struct names_of *n = &t->names[kind];
	if (!n->n || !id)
		return NULL;
	/* Ids are dense but where the file is damaged. */
	u32 lo = id_at(n, 0), hi = n->n;
	u32 guess = id >= lo ? id - lo : n->n;
	if (guess < n->n && id_at(n, guess) == id)
		return (const char *)n->v + (size_t)guess * n->size;
	for (lo = 0; lo < hi;) {
		u32 mid = lo + (hi - lo) / 2, got = id_at(n, mid);
		if (got == id)
			return (const char *)n->v + (size_t)mid * n->size;
		if (got < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const struct rec_string *tables_string(const struct rec_tables *t, u32 id)
{
	const struct string_name *n = tables_name(t, NAMES_STRING, id);
	return n ? &n->s : NULL;
}

/* Room for the next thing, which is of this id. NULL: the id is out of order. */
static void *name_add(struct rec_tables *t, enum names_kind kind, u32 id)
{
	struct names_of *n = &t->names[kind];
	if (id <= n->last)
		return NULL;
	if (n->n == n->cap)
		n->v = vec_grow(n->v, n->n, &n->cap, n->size);
	n->last = id;
	return memset((char *)n->v + (size_t)n->n++ * n->size, 0, n->size);
}

static void name_reset(struct rec_tables *t, u16 item, u32 id)
{
	static const u16 kind_of[] = {ITEM_STRING, ITEM_TASK, ITEM_MAPPING, ITEM_FRAME, ITEM_STACK};
	for (u32 i = 0; i < NAMES_KINDS; i++) {
		struct names_of *n = &t->names[i];
		/* All of them: the writer begins anew. */
		if (kind_of[i] != item || !n->n || id < n->last)
			continue;
		free(n->v);
		arena_free(&n->a);
		*n = (struct names_of){.size = n->size, .last = MAX(id, n->last)};
	}
}

/* ---- items ---- */

static struct str text(struct arena *a, struct bytes *b)
{
	u32 n = bytes_u32(b);
	if (n > REC_MAX_TEXT)
		b->bad = true;
	const u8 *p = bytes_take(b, n);
	return p ? arena_str(a, str_n((const char *)p, n)) : STR("");
}

static bool take_string(struct rec_tables *t, struct bytes *b)
{
	u32 id = bytes_u32(b);
	bool cut = bytes_u8(b);
	struct str s = text(&t->names[NAMES_STRING].a, b);
	struct string_name *n = b->bad ? NULL : name_add(t, NAMES_STRING, id);
	if (n)
		*n = (struct string_name){.id = id, .s = {s, cut}};
	return n;
}

static bool take_task(struct rec_tables *t, struct bytes *b)
{
	struct rec_task v = {.id = bytes_u32(b)};
	v.tid = bytes_u32(b);
	v.pid = bytes_u32(b);
	v.ppid = bytes_u32(b);
	v.uid = bytes_u32(b);
	v.gid = bytes_u32(b);
	v.cgroup = bytes_u64(b);
	v.start = bytes_u64(b);
	v.since = bytes_u64(b);
	v.known = bytes_u32(b);
	v.comm = text(&t->names[NAMES_TASK].a, b);
	struct rec_task *n = b->bad ? NULL : name_add(t, NAMES_TASK, v.id);
	if (n)
		*n = v;
	return n;
}

static bool take_mapping(struct rec_tables *t, struct bytes *b)
{
	struct arena *a = &t->names[NAMES_MAPPING].a;
	struct rec_mapping v = {.id = bytes_u32(b)};
	v.path = text(a, b);
	v.build_id = text(a, b);
	struct rec_mapping *n = b->bad ? NULL : name_add(t, NAMES_MAPPING, v.id);
	if (n)
		*n = v;
	return n;
}

static bool take_frame(struct rec_tables *t, struct bytes *b)
{
	struct arena *a = &t->names[NAMES_FRAME].a;
	struct rec_frame v = {.id = bytes_u32(b)};
	v.mapping = bytes_u32(b);
	v.addr = bytes_u64(b);
	v.file_off = bytes_u64(b);
	v.sym_off = bytes_u64(b);
	v.flags = bytes_u8(b);
	v.line = bytes_u32(b);
	v.sym = text(a, b);
	v.source = text(a, b);
	v.text = text(a, b);
	v.language = !b->bad && b->at < b->n ? text(a, b) : STR("");
	struct rec_frame *n = b->bad ? NULL : name_add(t, NAMES_FRAME, v.id);
	if (n)
		*n = v;
	return n;
}

static bool take_stack(struct rec_tables *t, struct bytes *b)
{
	struct rec_stack v = {.id = bytes_u32(b)};
	v.flags = bytes_u8(b);
	v.n = bytes_u32(b);
	const u8 *p = v.n <= REC_MAX_FRAMES ? bytes_take(b, v.n * sizeof(u32)) : NULL;
	struct rec_stack *n = p ? name_add(t, NAMES_STACK, v.id) : NULL;
	if (!n)
		return false;
	u32 *frame = arena_newn(&t->names[NAMES_STACK].a, u32, v.n + 1);
	memcpy(frame, p, v.n * sizeof(*frame));
	v.frame = frame;
	*n = v;
	return true;
}

static bool take_exit(struct rec_tables *t, struct bytes *b)
{
	struct rec_exit v = {.ts = bytes_u64(b)};
	v.tid = bytes_u32(b);
	v.pid = bytes_u32(b);
	v.code = bytes_u32(b);
	if (!b->bad && t->exits.n < MAX_EXITS)
		vec_add(&t->exits, v);
	return !b->bad;
}

static bool take_reset(struct rec_tables *t, struct bytes *b)
{
	u16 item = bytes_u16(b);
	u32 id = bytes_u32(b);
	if (!b->bad)
		name_reset(t, item, id);
	return !b->bad;
}

static bool take_meta(struct rec_tables *t, struct bytes *b)
{
	struct str key = text(&t->a, b), value = text(&t->a, b);
	if (b->bad)
		return false;
	vec_add(&t->meta, key);
	vec_add(&t->meta, value);
	return true;
}

static bool take_enum(struct rec_tables *t, struct bytes *b)
{
	struct rec_enum e = {.id = bytes_u32(b)};
	e.name = text(&t->a, b);
	e.n = bytes_u32(b);
	if (b->bad || e.n > MAX_ENUMERATORS || e.n > (b->n - b->at) / (sizeof(u64) + sizeof(u32)))
		return false;
	struct rec_enumerator *v = arena_newn(&t->a, struct rec_enumerator, e.n + 1);
	for (u32 i = 0; i < e.n; i++) {
		v[i].value = bytes_u64(b);
		v[i].name = text(&t->a, b);
	}
	e.v = v;
	if (!b->bad)
		vec_add(&t->enums, e);
	return !b->bad;
}

/* What a writer could have made: coding and kind go together. */
static bool column_sound(const struct rec_column *c)
{
	bool list = c->coding == REC_LIST;
	if (list != (c->kind == REC_ARRAY) || (!list && c->count))
		return false;
	if (list)
		return c->count && c->count <= REC_MAX_ELEMENTS && c->size % c->count == 0 &&
		       c->size / c->count && c->size / c->count <= sizeof(u64) &&
		       (c->element == REC_VARINT || c->element == REC_ZIGZAG);
	switch (c->coding) {
	case REC_VARINT:
	case REC_ZIGZAG:
	case REC_RAW:
		return c->kind != REC_STRING && c->kind != REC_BYTES && c->kind != REC_STACK &&
		       c->kind != REC_NAMED && c->kind >= REC_INT && c->kind <= REC_FLOAT;
	case REC_TEXT: return c->kind == REC_STRING;
	case REC_BLOB: return c->kind == REC_BYTES;
	case REC_STACKID: return c->kind == REC_STACK;
	case REC_PAIR: return c->kind == REC_NAMED;
	case REC_LIST: break;
	}
	return false;
}

static bool take_column(struct rec_tables *t, struct bytes *b, struct rec_column *c)
{
	c->kind = bytes_u8(b);
	c->coding = bytes_u8(b);
	c->sign = bytes_u8(b);
	c->element = bytes_u8(b);
	c->size = bytes_u32(b);
	c->count = bytes_u32(b);
	c->enum_id = bytes_u32(b);
	c->expr = text(&t->a, b);
	c->ctype = text(&t->a, b);
	c->printer = text(&t->a, b);
	return !b->bad && column_sound(c);
}

static bool take_schema(struct rec_tables *t, struct bytes *b)
{
	enum { SMALLEST = 4 + 3 * 4 + 3 * 4 }; /* bytes of a column */
	struct rec_schema s = {.id = bytes_u32(b)};
	s.type = text(&t->a, b);
	s.probe = text(&t->a, b);
	s.act = text(&t->a, b);
	s.ncolumn = bytes_u32(b);
	if (b->bad || s.ncolumn > REC_MAX_COLUMNS || s.ncolumn > (b->n - b->at) / SMALLEST ||
	    !s.id || s.id > MAX_IDS)
		return false;
	struct rec_column *v = arena_newn(&t->a, struct rec_column, s.ncolumn + 1);
	for (u32 i = 0; i < s.ncolumn; i++)
		if (!take_column(t, b, &v[i]))
			return false;
	s.column = v;
	u32 last = t->known.n ? t->known.v[t->known.n - 1]->id : 0;
	if (s.id <= last)
		return false;
	struct rec_schema *kept = arena_new(&t->a, struct rec_schema);
	*kept = s;
	vec_add(&t->known, kept);
	return true;
}

static bool take_feature(struct rec_tables *t, struct bytes *b)
{
	struct rec_feature v = {.name = text(&t->a, b)};
	v.has = bytes_u8(b);
	if (!b->bad)
		vec_add(&t->feature, v);
	return !b->bad;
}

static bool take_clock(struct rec_tables *t, struct bytes *b)
{
	struct rec_clock v = {.mono = bytes_u64(b)};
	v.real = bytes_u64(b);
	v.boot = bytes_u64(b);
	v.tai = bytes_u64(b);
	v.uncertainty = bytes_u32(b);
	if (!b->bad)
		vec_add(&t->clock, v);
	return !b->bad;
}

void tables_loss(struct rec_tables *t, const struct rec_loss *l)
{
	struct rec_loss v = *l;
	if (t->loss.n >= MAX_LOSSES) { /* the last one stands for the rest */
		t->loss.v[t->loss.n - 1].n += l->n;
		return;
	}
	v.kind = arena_str(&t->a, l->kind);
	v.who = arena_str(&t->a, l->who);
	v.text = arena_str(&t->a, l->text);
	vec_add(&t->loss, v);
}

static bool take_loss(struct rec_tables *t, struct bytes *b)
{
	struct rec_loss v = {.from = bytes_u64(b)};
	v.to = bytes_u64(b);
	v.n = bytes_u64(b);
	v.kind = text(&t->a, b);
	v.who = text(&t->a, b);
	v.text = text(&t->a, b);
	if (!b->bad)
		tables_loss(t, &v);
	return !b->bad;
}

static bool take_part(struct rec_tables *t, struct bytes *b)
{
	struct rec_part v = {.name = text(&t->a, b)};
	v.at = bytes_u64(b);
	v.whole = bytes_u64(b);
	v.bytes = text(&t->a, b);
	if (!b->bad)
		vec_add(&t->part, v);
	return !b->bad;
}

static bool take_end(struct rec_tables *t, struct bytes *b)
{
	struct rec_end_item v = {.rows = bytes_u64(b)};
	v.lost = bytes_u64(b);
	bytes_u64(b);
	v.how = bytes_u8(b);
	u32 n = bytes_u32(b);
	if (b->bad || n > (b->n - b->at) / 20)
		return false;
	v.ntotal = t->known.n ? t->known.v[t->known.n - 1]->id : 0;
	v.total = arena_newn(&t->a, struct rec_total, v.ntotal + 1);
	for (u32 i = 0; i < n; i++) {
		u32 id = bytes_u32(b);
		struct rec_total sum = {.rows = bytes_u64(b)};
		sum.bytes = bytes_u64(b);
		if (id && id <= v.ntotal)
			v.total[id - 1] = sum;
	}
	v.reason = text(&t->a, b);
	if (b->bad)
		return false;
	t->end = v;
	t->ended = true;
	return true;
}

static const struct {
	u16 kind;
	bool (*take)(struct rec_tables *t, struct bytes *b);
} items[] = {
	{ITEM_META, take_meta},       {ITEM_ENUM, take_enum},       {ITEM_SCHEMA, take_schema},
	{ITEM_FEATURE, take_feature}, {ITEM_CLOCK, take_clock},     {ITEM_LOSS, take_loss},
	{ITEM_BLOB, take_part},       {ITEM_STRING, take_string},   {ITEM_TASK, take_task},
	{ITEM_EXIT, take_exit},       {ITEM_MAPPING, take_mapping}, {ITEM_FRAME, take_frame},
	{ITEM_STACK, take_stack},     {ITEM_RESET, take_reset},     {ITEM_END, take_end},
};

void tables_take(struct rec_tables *t, struct rec_items *in)
{
	struct bytes all = bytes_of(in->bytes.s, in->bytes.n);
	u32 good = 0;
	while (all.at < all.n && !all.bad) {
		u32 size = bytes_u32(&all);
		const u8 *p = bytes_take(&all, size);
		if (!p || size < sizeof(u16))
			break;
		struct bytes b = bytes_of(p, size);
		u16 kind = bytes_u16(&b);
		u32 i = 0;
		while (i < countof(items) && items[i].kind != (kind & ~ITEM_NEEDED))
			i++;
		if (i == countof(items)) {
			if (kind & ITEM_NEEDED)
				in->needed = kind & ~ITEM_NEEDED;
			good++;
			continue;
		}
		good += items[i].take(t, &b);
	}
	in->bad = in->n > good ? in->n - good : 0;
}
