/* columns.c - tables that a script declares, as bytes: see ITEM_COLUMNS in rec/format.h. */
#include "core/columns.h"
#include "answer/answer.h"
#include "base/pack.h"
#include "rec/format.h"

/* All columns together have MAX_WIDTH: a row of few bytes must not become many. */
enum { MAX_NAME = 256, MAX_WIDTH = 8192, MAX_DIGITS = 9, MAX_PART = 100000 };

/* ---- writing ---- */

static void put_column(struct sb *b, const struct column *c)
{
	pack_str(b, c->name);
	pack_str(b, c->heading);
	pack_str(b, c->is);
	pack_str(b, c->names ? names_table(c->names) : STR(""));
	pack_u32(b, (c->is.s ? COLUMN_IS : 0u) | (c->right ? COLUMN_RIGHT : 0u) |
			    (c->data ? COLUMN_DATA : 0u) | (c->text ? COLUMN_TEXT : 0u) |
			    (c->share ? COLUMN_SHARE : 0u) | (c->bare ? COLUMN_BARE : 0u) |
			    (c->quoted ? COLUMN_QUOTED : 0u) | (c->blank ? COLUMN_BLANK : 0u));
	pack_u32(b, c->width);
	pack_u32(b, c->index);
	pack_u32(b, c->digits);
	pack_u32(b, c->part);
	pack_u32(b, c->unit);
}

void answer_put_columns(struct sb *b, const struct columns *t)
{
	pack_str(b, t->name);
	pack_u32(b, (t->bare ? TABLE_BARE : 0u) | (t->head ? TABLE_HEAD : 0u) |
			    (t->ruled ? TABLE_RULED : 0u) | (t->total ? TABLE_TOTAL : 0u) |
			    (t->ascending ? TABLE_ASCENDING : 0u) |
			    (t->numbered ? TABLE_NUMBERED : 0u) |
			    (t->standing ? TABLE_STANDING : 0u) | (t->spaced ? TABLE_SPACED : 0u) |
			    (t->begun ? TABLE_BEGUN : 0u) | (t->top ? TABLE_TOP : 0u));
	pack_u32(b, t->declared);
	pack_u32(b, t->sort);
	pack_u32(b, t->rows);
	pack_u64(b, t->period_ns);
	pack_u32(b, t->n);
	for (u32 i = 0; i < t->n; i++)
		put_column(b, &t->col[i]);
}

/* ---- reading ---- */

/* As scripts name things; outputs print names as they are. */
static bool is_name(struct str s)
{
	bool ok = s.n && s.n <= MAX_NAME;
	for (u32 i = 0; i < s.n && ok; i++) {
		char c = s.s[i];
		ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		     c == '_';
	}
	return ok;
}

static bool take_column(struct answer_in *in, struct column *c, u32 declared)
{
	*c = (struct column){.name = answer_take_text(in)};
	c->heading = answer_take_name(in);
	struct str is = answer_take_text(in);
	struct str names = unpack_str(&in->b);
	u32 flags = bytes_u32(&in->b);
	c->is = flags & COLUMN_IS ? is : (struct str){0};
	c->right = flags & COLUMN_RIGHT;
	c->data = flags & COLUMN_DATA;
	c->text = flags & COLUMN_TEXT;
	c->share = flags & COLUMN_SHARE;
	c->bare = flags & COLUMN_BARE;
	c->quoted = flags & COLUMN_QUOTED;
	c->blank = flags & COLUMN_BLANK;
	c->width = bytes_u32(&in->b);
	c->index = bytes_u32(&in->b);
	c->digits = bytes_u32(&in->b);
	c->part = bytes_u32(&in->b);
	u32 unit = bytes_u32(&in->b);
	if (in->b.bad || unit >= COLUMN_UNITS || c->width > MAX_WIDTH ||
	    (c->index >= declared && !c->is.s) || c->digits > MAX_DIGITS ||
	    c->part > MAX_PART + 1 || !is_name(c->name))
		return false;
	c->unit = (enum column_unit)unit;
	c->names = names.n ? names_find(names) : NULL;
	c->index = MIN(c->index, declared); /* one with a common value is no cell */
	return (c->unit == COL_NAME) == (c->names != NULL);
}

bool answer_take_columns(struct answer_in *in, struct columns *t)
{
	*t = (struct columns){.name = answer_take_text(in)};
	u32 flags = bytes_u32(&in->b);
	t->bare = flags & TABLE_BARE;
	t->head = flags & TABLE_HEAD;
	t->ruled = flags & TABLE_RULED;
	t->total = flags & TABLE_TOTAL;
	t->ascending = flags & TABLE_ASCENDING;
	t->numbered = flags & TABLE_NUMBERED;
	t->standing = flags & TABLE_STANDING;
	t->spaced = flags & TABLE_SPACED;
	t->begun = flags & TABLE_BEGUN;
	t->top = flags & TABLE_TOP;
	t->declared = bytes_u32(&in->b);
	t->sort = bytes_u32(&in->b);
	t->rows = bytes_u32(&in->b);
	t->period_ns = bytes_u64(&in->b);
	t->n = bytes_u32(&in->b);
	if (in->b.bad || !is_name(t->name) || t->declared > ANSWER_MAX_COLUMNS ||
	    t->sort > t->declared || !t->n || t->n > ANSWER_MAX_COLUMNS)
		return false;
	t->col = answer_room(in, t->n, sizeof(*t->col));
	for (u32 i = 0, width = 0; t->col && i < t->n; i++) {
		if (!take_column(in, &t->col[i], t->declared))
			return false;
		width += t->col[i].width;
		if (width > MAX_WIDTH)
			return false;
	}
	return t->col && !in->b.bad;
}
