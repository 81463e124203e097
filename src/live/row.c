/* row.c - rows of tables: found by the text of their keys, with the frames of stacks. */
#include "live/row.h"
#include "base/alloc.h"

void row_one_line(struct sb *out, struct str text)
{
	AUTO_SB b = {0};
	bool gap = false;
	for (u32 i = 0; i < text.n; i++) {
		char c = text.s[i];
		if (c == '\n' || c == '\t' || c == ' ') {
			gap = b.n;
			continue;
		}
		if (gap)
			sb_char(&b, ' ');
		gap = false;
		sb_char(&b, c);
	}
	sb_visible(out, sb_str(&b));
}

/* ---- keys ---- */

/* Number of frames, and whether there is a stack at all. */
static u32 count_frames(const struct value *v, bool *stack)
{
	u32 n = 0;
	if (v->kind == V_STACK) {
		*stack = true;
		return v->n ? v->n : 1;
	}
	if (v->kind != V_TUPLE)
		return 1;
	for (u32 i = 0; i < v->n; i++)
		n += count_frames(&v->list[i], stack);
	return n;
}

static struct str copy(struct str s)
{
	char *p = xmalloc(s.n + 1ul);
	if (s.n)
		memcpy(p, s.s, s.n);
	p[s.n] = 0;
	return str_n(p, s.n);
}

static void add_frame(struct live_row *row, struct str text)
{
	AUTO_SB b = {0};
	row_one_line(&b, text);
	row->frame[row->nframe++] = copy(sb_str(&b));
}

static void add_stack(struct live_row *row, const struct value *v)
{
	for (u32 i = v->n; i; i--) {
		const struct frame *f = &v->stack[i - 1];
		AUTO_SB b = {0};
		if (f->sym.n)
			sb_add(&b, f->sym);
		else
			sb_fmt(&b, "0x%llx", f->addr);
		add_frame(row, sb_str(&b));
	}
	if (!v->n)
		add_frame(row, STR("[no stack]"));
}

static void add_part(struct live_row *row, const struct value *v)
{
	AUTO_SB b = {0};
	value_text(&b, v, &(struct show){STR(".."), false});
	add_frame(row, sb_str(&b));
}

enum { PART_LABELS, PART_USER, PART_KERNEL };

/* Other parts of the key first, then the user's stack, then the kernel's. */
static void add_frames(struct live_row *row, const struct value *v, u32 part)
{
	if (v->kind == V_TUPLE)
		for (u32 i = 0; i < v->n; i++)
			add_frames(row, &v->list[i], part);
	else if (v->kind == V_STACK && part == (v->kernel ? PART_KERNEL : PART_USER))
		add_stack(row, v);
	else if (v->kind != V_STACK && part == PART_LABELS)
		add_part(row, v);
}

static void key_of(struct sb *out, const struct value *key)
{
	AUTO_SB b = {0};
	value_key_text(&b, key, &(struct show){STR(".."), false});
	row_one_line(out, sb_str(&b));
}

/* ---- the table ---- */

static void rehash(struct live_table *t)
{
	u32 live = t->nrow - t->hole.n;
	t->nslot = 64;
	while (t->nslot < live * 4)
		t->nslot *= 2;
	free(t->slot);
	t->slot = xcalloc(t->nslot, sizeof(*t->slot));
	t->nused = live;
	for (u32 i = 0; i < t->nrow; i++) {
		if (!t->row[i])
			continue;
		u32 at = (u32)str_hash(t->row[i]->id) & (t->nslot - 1);
		while (t->slot[at])
			at = (at + 1) & (t->nslot - 1);
		t->slot[at] = i + 1;
	}
}

static struct live_row *find(const struct live_table *t, struct str id)
{
	u32 at = t->nslot ? (u32)str_hash(id) & (t->nslot - 1) : 0;
	for (; t->nslot && t->slot[at]; at = (at + 1) & (t->nslot - 1)) {
		struct live_row *row = t->row[t->slot[at] - 1];
		if (row && str_eq(row->id, id))
			return row;
	}
	return NULL;
}

static struct live_row *add(struct live_table *t, struct str id)
{
	struct live_row *row = xcalloc(1, sizeof(*row));
	row->id = copy(id);
	if (t->hole.n) {
		row->index = t->hole.v[--t->hole.n];
		t->row[row->index] = row;
	} else {
		if (t->nrow == t->cap)
			t->row = vec_grow(t->row, t->nrow, &t->cap, sizeof(struct live_row *));
		row->index = t->nrow;
		t->row[t->nrow++] = row;
	}
	if (++t->nused * 2 > t->nslot) {
		rehash(t);
		return row;
	}
	u32 at = (u32)str_hash(row->id) & (t->nslot - 1);
	while (t->slot[at])
		at = (at + 1) & (t->nslot - 1);
	t->slot[at] = row->index + 1;
	return row;
}

struct live_row *row_get(struct live_table *t, const struct value *key, const struct item *it)
{
	AUTO_SB id = {0};
	AUTO_SB text = {0};
	bool stack = false;
	if (key)
		value_key_identity(&id, key, false);
	struct live_row *row = find(t, sb_str(&id));
	if (row)
		return row;
	row = add(t, sb_str(&id));
	u32 n = key ? count_frames(key, &stack) : 0;
	if (key && it->map.put_key && !stack) {
		AUTO_SB shown = {0};
		it->map.put_key(it->map.rows, key, &shown);
		row_one_line(&text, sb_str(&shown));
	} else if (key) {
		key_of(&text, key);
	}
	t->scalar |= key && !stack && !text.n; /* the table shows no part of the key */
	row->key = copy(sb_str(&text));
	if (!stack)
		return row;
	t->stacks = true;
	row->frame = xcalloc(n, sizeof(*row->frame));
	for (u32 part = PART_LABELS; part <= PART_KERNEL; part++)
		add_frames(row, key, part);
	assert(row->nframe <= n);
	return row;
}

static void free_row(struct live_row *row)
{
	for (u32 i = 0; i < row->nframe; i++)
		free((char *)row->frame[i].s);
	free(row->frame);
	free((char *)row->key.s);
	free((char *)row->id.s);
	free(row);
}

void row_unref(struct live_table *t, struct live_row *row)
{
	assert(row->refs);
	if (--row->refs)
		return;
	if (row->last.blob && !--row->last.blob->refs)
		free(row->last.blob);
	if (row->carry.blob && !--row->carry.blob->refs)
		free(row->carry.blob);
	t->row[row->index] = NULL;
	vec_add(&t->hole, row->index);
	free_row(row);
}

void row_free_all(struct live_table *t)
{
	for (u32 i = 0; i < t->nrow; i++)
		if (t->row[i])
			free_row(t->row[i]);
	vec_free(&t->hole);
	free(t->row);
	free(t->slot);
}
