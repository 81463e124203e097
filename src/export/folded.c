/*
 * folded.c - a line per stack: frames from the outermost on, joined by ';', a blank, how many events had it. Lines are
 * sorted. The name of the thread comes first, then the user stack, then the kernel stack.
 *
 * If samples were recorded, only these are counted; otherwise every event that has a stack.
 */
#include "base/alloc.h"
#include "base/tab.h"
#include "export/cells.h"
#include "export/export.h"

struct folded_rows {
	struct exporting *x;
	struct tab lines; /* text -> number of events */
	struct sb line;
	bool samples;
	u64 without; /* events that have no stack, or are not samples */
};

static bool is_sample(const struct rec_schema *s)
{
	return str_is(s->type, "profile") || str_is(s->type, "hardware") ||
	       str_is(s->type, "software");
}

static bool has_stack(const struct rec_schema *s)
{
	for (u32 i = 0; i < s->ncolumn; i++)
		if (s->column[i].kind == REC_STACK)
			return true;
	return false;
}

static void folded_begin(void *self, struct exporting *x)
{
	struct folded_rows *f = self;
	u32 n;
	const struct rec_schema *const *s = rec_schemas(x->f, &n);
	f->x = x;
	for (u32 i = 0; i < n; i++)
		f->samples |= is_sample(s[i]) && has_stack(s[i]);
}

/* A name within a line. */
static void put_name(struct sb *b, size_t from)
{
	for (size_t i = from; i < b->n; i++)
		if (b->s[i] == ';')
			b->s[i] = ':';
	if (b->n == from)
		sb_z(b, "[unknown]");
}

static void put_stack(struct folded_rows *f, u32 id)
{
	const struct rec_stack *s = rec_stack_of(f->x->f, id);
	if (s && s->flags & STACK_CUT)
		sb_z(&f->line, ";[cut]");
	for (u32 i = s ? s->n : 0; i; i--) {
		sb_char(&f->line, ';');
		size_t from = f->line.n;
		cell_frame(&f->line, f->x->f, s->frame[i - 1]);
		put_name(&f->line, from);
	}
}

static void folded_row(void *self, const struct rec_row *r)
{
	struct folded_rows *f = self;
	const struct rec_schema *s = r->schema;
	if (!has_stack(s) || (f->samples && !is_sample(s))) {
		f->without++;
		return;
	}
	sb_clear(&f->line);
	if (r->task)
		sb_visible(&f->line, r->task->comm);
	put_name(&f->line, 0);
	for (u32 kernel = 0; kernel < 2; kernel++)
		for (u32 i = 0; i < s->ncolumn; i++)
			if (s->column[i].kind == REC_STACK && !r->cell[i].missing &&
			    (s->column[i].expr.s[0] == 'k') == kernel)
				put_stack(f, (u32)r->cell[i].u);
	u64 n = (u64)(uintptr_t)tab_get(&f->lines, sb_str(&f->line));
	struct str key = n ? sb_str(&f->line) : arena_str(&f->x->a, sb_str(&f->line));
	tab_set(&f->lines, key, (void *)(uintptr_t)(n + 1));
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(((const struct tab_entry *)a)->key, ((const struct tab_entry *)b)->key);
}

static void folded_end(void *self)
{
	struct folded_rows *f = self;
	struct sb *b = &f->x->out.b;
	if (f->lines.n)
		qsort(f->lines.v, f->lines.n, sizeof(*f->lines.v), by_text);
	for (u32 i = 0; i < f->lines.n; i++) {
		sb_add(b, f->lines.v[i].key);
		sb_fmt(b, " %llu\n", (u64)(uintptr_t)f->lines.v[i].val);
		export_room(&f->x->out);
	}
	if (f->without)
		export_remark(f->x, "%llu events have no stack%s", f->without,
			      f->samples ? ", or are not samples" : "");
	tab_free(&f->lines);
	sb_free(&f->line);
}

const struct exporter export_folded = {
	.name = "folded",
	.doc = "a line per stack, and how often it was seen: for flame graphs",
	.size = sizeof(struct folded_rows),
	.begin = folded_begin,
	.row = folded_row,
	.end = folded_end,
};
