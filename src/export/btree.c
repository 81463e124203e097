/* btree.c - see btree.h. */
#include "export/btree.h"

enum {
	HEADER = 100,  /* of the file, in the first page */
	LEAF_HEAD = 8, /* bytes before the pointers to cells */
	INNER_HEAD = 12,
	LEAF = 13,
	INNER = 5,
	MOST_LOCAL = DB_PAGE - 35, /* bytes of a row that a leaf keeps itself */
	LEAST_LOCAL = (DB_PAGE - 12) * 32 / 255 - 23,
	OVERFLOW = DB_PAGE - 4,
	MAX_VARINT = 9,
	SQLITE_VERSION = 3040000, /* that is said to have written the file */
};

/* ---- values ---- */

static void put_be(struct sb *b, u64 n, u32 bytes)
{
	for (u32 i = bytes; i; i--)
		sb_char(b, (char)(n >> 8 * (i - 1)));
}

/* High bits first; the ninth byte has eight. */
static u32 varint(u8 *p, u64 n)
{
	u8 low[MAX_VARINT];
	u32 used = 0;
	if (n >> 56) {
		p[8] = (u8)n;
		n >>= 8;
		for (u32 i = 8; i; i--, n >>= 7)
			p[i - 1] = (u8)(n | 0x80);
		return MAX_VARINT;
	}
	do {
		low[used++] = (u8)(n & 0x7f);
		n >>= 7;
	} while (n);
	for (u32 i = 0; i < used; i++)
		p[i] = (u8)(low[used - 1 - i] | (i + 1 < used ? 0x80 : 0));
	return used;
}

static void put_varint(struct sb *b, u64 n)
{
	u8 bytes[MAX_VARINT];
	sb_mem(b, bytes, varint(bytes, n));
}

void row_begin(struct db_row *r)
{
	sb_clear(&r->types);
	sb_clear(&r->body);
}

void row_null(struct db_row *r)
{
	put_varint(&r->types, 0);
}

void row_int(struct db_row *r, i64 n)
{
	static const u8 sizes[] = {1, 2, 3, 4, 6, 8};
	if (n == 0 || n == 1) {
		put_varint(&r->types, 8 + (u64)n);
		return;
	}
	u32 i = 0;
	while (i < 5 && (n >> (8 * sizes[i] - 1)) != 0 && (n >> (8 * sizes[i] - 1)) != -1)
		i++;
	put_varint(&r->types, i + 1);
	put_be(&r->body, (u64)n, sizes[i]);
}

void row_float(struct db_row *r, double d)
{
	u64 bits;
	memcpy(&bits, &d, sizeof(bits));
	put_varint(&r->types, 7);
	put_be(&r->body, bits, sizeof(bits));
}

void row_bytes(struct db_row *r, struct str s)
{
	put_varint(&r->types, 12 + 2ull * s.n);
	sb_add(&r->body, s);
}

void row_text(struct db_row *r, struct str s)
{
	struct str rest = s;
	u32 n;
	while (rest.n && (n = str_utf8(rest)))
		rest = str_from(rest, n);
	if (rest.n) {
		row_bytes(r, s);
		return;
	}
	put_varint(&r->types, 13 + 2ull * s.n);
	sb_add(&r->body, s);
}

void row_u64(struct db_row *r, u64 n)
{
	AUTO_SB b = {0};
	if (n <= INT64_MAX) {
		row_int(r, (i64)n);
		return;
	}
	sb_u64(&b, n);
	row_text(r, sb_str(&b));
}

void row_free(struct db_row *r)
{
	sb_free(&r->types);
	sb_free(&r->body);
	sb_free(&r->record);
}

/* The length of the header counts itself. */
static void make_record(struct db_row *r)
{
	u8 bytes[MAX_VARINT];
	u64 size = r->types.n + 1;
	while (varint(bytes, size) + r->types.n != size)
		size++;
	sb_clear(&r->record);
	put_varint(&r->record, size);
	sb_mem(&r->record, r->types.s, r->types.n);
	sb_mem(&r->record, r->body.s, r->body.n);
}

/* ---- pages ---- */

static void set_be(u8 *p, u64 n, u32 bytes)
{
	for (u32 i = bytes; i; i--, n >>= 8)
		p[i - 1] = (u8)n;
}

static u32 write_page(struct db *d, const u8 *page)
{
	sb_mem(&d->out->b, page, DB_PAGE);
	export_room(d->out);
	return ++d->npage;
}

void tree_init(struct db_tree *t)
{
	*t = (struct db_tree){.top = DB_PAGE};
}

static void put_head(u8 *head, u8 kind, u32 ncell, u32 top)
{
	head[0] = kind;
	set_be(head + 1, 0, 2);
	set_be(head + 3, ncell, 2);
	set_be(head + 5, top, 2);
	head[7] = 0;
}

static void flush_leaf(struct db *d, struct db_tree *t)
{
	put_head(t->page, LEAF, t->ncell, t->top);
	struct db_page p = {write_page(d, t->page), t->last};
	vec_add(&t->leaf, p);
	memset(t->page, 0, sizeof(t->page));
	t->ncell = 0;
	t->top = DB_PAGE;
}

/* What a leaf does not keep; the number of the first page. */
static u32 write_overflow(struct db *d, struct str rest)
{
	u32 first = d->npage + 1;
	while (rest.n) {
		u8 page[DB_PAGE] = {0};
		u32 n = MIN(rest.n, (u32)OVERFLOW);
		set_be(page, rest.n > n ? d->npage + 2 : 0, 4);
		memcpy(page + 4, rest.s, n);
		write_page(d, page);
		rest = str_from(rest, n);
	}
	return first;
}

static u32 local_bytes(u32 n)
{
	if (n <= MOST_LOCAL)
		return n;
	u32 some = LEAST_LOCAL + (n - LEAST_LOCAL) % OVERFLOW;
	return some <= MOST_LOCAL ? some : LEAST_LOCAL;
}

void tree_add(struct db *d, struct db_tree *t, u64 id, struct db_row *r)
{
	u8 head[2 * MAX_VARINT];
	make_record(r);
	struct str all = sb_str(&r->record);
	u32 local = local_bytes(all.n), n = varint(head, all.n);
	n += varint(head + n, id);
	u32 size = n + local + (local < all.n ? 4 : 0);
	if (LEAF_HEAD + 2 * (t->ncell + 1) + size > t->top)
		flush_leaf(d, t);
	t->top -= size;
	u8 *cell = t->page + t->top;
	memcpy(cell, head, n);
	memcpy(cell + n, all.s, local);
	if (local < all.n)
		set_be(cell + n + local, write_overflow(d, str_from(all, local)), 4);
	set_be(t->page + LEAF_HEAD + 2 * t->ncell++, t->top, 2);
	t->last = id;
}

/* ---- the tree above the leaves ---- */

/* How many of the pages a page above can have: at least two, and none is left alone. */
static u32 take_pages(const struct db_page *p, u32 n, u32 room)
{
	u8 bytes[MAX_VARINT];
	u32 used = 0, i = 0;
	for (; i + 1 < n; i++) {
		u32 cell = 2 + 4 + varint(bytes, p[i].last);
		if (used + cell > room)
			break;
		used += cell;
	}
	u32 taken = i + 1; /* the last one is the pointer of the header */
	return taken + 1 == n && taken > 2 ? taken - 1 : taken;
}

/* at: where the page's own header begins. */
static void make_inner(u8 *page, u32 at, const struct db_page *p, u32 n)
{
	u32 top = DB_PAGE;
	for (u32 i = 0; i + 1 < n; i++) {
		u8 cell[4 + MAX_VARINT];
		set_be(cell, p[i].number, 4);
		u32 size = 4 + varint(cell + 4, p[i].last);
		top -= size;
		memcpy(page + top, cell, size);
		set_be(page + at + INNER_HEAD + 2 * i, top, 2);
	}
	put_head(page + at, INNER, n - 1, top);
	set_be(page + at + LEAF_HEAD, p[n - 1].number, 4);
}

/* Pages of one level become those of the next, until at most so many are left. */
static void build_up(struct db *d, struct db_tree *t, bool (*fits)(const struct db_page *, u32))
{
	while (!fits(t->leaf.v, t->leaf.n)) {
		u32 n = 0;
		for (u32 i = 0; i < t->leaf.n;) {
			u8 page[DB_PAGE] = {0};
			u32 taken = take_pages(t->leaf.v + i, t->leaf.n - i, DB_PAGE - INNER_HEAD);
			make_inner(page, 0, t->leaf.v + i, taken);
			struct db_page above = {write_page(d, page), t->leaf.v[i + taken - 1].last};
			t->leaf.v[n++] = above;
			i += taken;
		}
		t->leaf.n = n;
	}
}

static bool is_root(const struct db_page *p, u32 n)
{
	(void)p;
	return n == 1;
}

static bool fit_first_page(const struct db_page *p, u32 n)
{
	return take_pages(p, n, DB_PAGE - HEADER - INNER_HEAD) >= n;
}

/* ---- the file ---- */

void db_begin(struct db *d, struct export_out *out)
{
	u8 page[DB_PAGE] = {0};
	*d = (struct db){.out = out};
	tree_init(&d->schema);
	write_page(d, page); /* written at the end */
}

static void describe(struct db *d, const char *type, struct str name, u32 root, struct str sql)
{
	row_begin(&d->row);
	row_text(&d->row, str_z(type));
	row_text(&d->row, name);
	row_text(&d->row, name);
	row_int(&d->row, root);
	row_text(&d->row, sql);
	tree_add(d, &d->schema, ++d->nschema, &d->row);
}

void db_table(struct db *d, struct db_tree *t, struct str name, struct str sql)
{
	if (t->ncell || !t->leaf.n)
		flush_leaf(d, t);
	build_up(d, t, is_root);
	describe(d, "table", name, t->leaf.v[0].number, sql);
	vec_free(&t->leaf);
}

void db_view(struct db *d, struct str name, struct str sql)
{
	describe(d, "view", name, 0, sql);
}

static void put_file_header(const struct db *d, u8 *p)
{
	static const char magic[16] = "SQLite format 3";
	memcpy(p, magic, sizeof(magic));
	set_be(p + 16, DB_PAGE, 2);
	p[18] = p[19] = 1; /* no write-ahead log */
	p[21] = 64;        /* fractions of a page, which are always these */
	p[22] = p[23] = 32;
	set_be(p + 24, 1, 4); /* changes */
	set_be(p + 28, d->npage, 4);
	set_be(p + 40, 1, 4); /* of the schema */
	set_be(p + 44, 4, 4); /* its format */
	set_be(p + 56, 1, 4); /* UTF-8 */
	set_be(p + 92, 1, 4); /* the changes for which the size is right */
	set_be(p + 96, SQLITE_VERSION, 4);
}

void db_end(struct db *d)
{
	u8 page[DB_PAGE] = {0};
	flush_leaf(d, &d->schema);
	build_up(d, &d->schema, fit_first_page);
	make_inner(page, HEADER, d->schema.leaf.v, d->schema.leaf.n);
	put_file_header(d, page);
	export_patch(d->out, 0, (struct str){(const char *)page, sizeof(page)});
	vec_free(&d->schema.leaf);
	row_free(&d->row);
}
