/*
 * csv.c - a line per event (RFC 4180), after a line of names: what every event has, then a column for
 * each name of a value that a schema has. What an event does not have is empty. Control characters are \n, \xNN.
 */
#include "base/alloc.h"
#include "base/tab.h"
#include "export/cells.h"
#include "export/export.h"

static const char *const common[] = {"ts", "cpu", "pid", "tid", "comm", "probe", NULL};

struct csv_rows {
	struct exporting *x;
	struct tab names; /* of columns; the value is the index + 1 */
	u32 **place;      /* by schema: the column of each of its values */
	u32 nplace;
	const struct rec_cell **cell; /* of the row, by column */
	const struct rec_column **column;
	struct sb tmp;
};

static u32 column_of(struct csv_rows *c, struct str name)
{
	void *at = tab_get(&c->names, name);
	if (!at) {
		at = (void *)(c->names.n + 1ul);
		tab_set(&c->names, name, at);
	}
	return (u32)(uintptr_t)at - 1;
}

/* args.pid is not the pid of the event. */
static struct str column_name(const struct rec_column *col)
{
	struct str name = cell_name(col);
	return str_among(name, common) ? col->expr : name;
}

static void csv_begin(void *self, struct exporting *x)
{
	struct csv_rows *c = self;
	u32 n;
	const struct rec_schema *const *s = rec_schemas(x->f, &n);
	c->x = x;
	for (u32 i = 0; i < n; i++)
		c->nplace = MAX(c->nplace, s[i]->id + 1);
	c->place = arena_newn(&x->a, u32 *, c->nplace);
	for (u32 i = 0; i < n; i++) {
		u32 *to = c->place[s[i]->id] = arena_newn(&x->a, u32, s[i]->ncolumn);
		for (u32 k = 0; k < s[i]->ncolumn; k++)
			to[k] = column_of(c, column_name(&s[i]->column[k]));
	}
	c->cell = arena_newn(&x->a, const struct rec_cell *, c->names.n);
	c->column = arena_newn(&x->a, const struct rec_column *, c->names.n);
	for (u32 i = 0; common[i]; i++)
		sb_fmt(&x->out.b, "%s%s", i ? "," : "", common[i]);
	for (u32 i = 0; i < c->names.n; i++) {
		sb_clear(&c->tmp);
		sb_visible(&c->tmp, c->names.v[i].key);
		sb_char(&x->out.b, ',');
		sb_csv(&x->out.b, sb_str(&c->tmp));
	}
	sb_char(&x->out.b, '\n');
}

/* Innermost first. */
static void put_stack(struct sb *b, const struct rec_file *f, u32 id)
{
	const struct rec_stack *s = rec_stack_of(f, id);
	for (u32 i = 0; s && i < s->n; i++) {
		sb_z(b, i ? ";" : "");
		cell_frame(b, f, s->frame[i]);
	}
}

static void put_cell(struct csv_rows *c, u32 i)
{
	sb_clear(&c->tmp);
	if (c->cell[i]->missing)
		return;
	if (c->column[i]->kind == REC_STACK)
		put_stack(&c->tmp, c->x->f, (u32)c->cell[i]->u);
	else
		cell_text(&c->tmp, c->x->f, c->column[i], c->cell[i]);
	sb_csv(&c->x->out.b, sb_str(&c->tmp));
}

static void csv_row(void *self, const struct rec_row *r)
{
	struct csv_rows *c = self;
	struct sb *b = &c->x->out.b;
	const struct rec_schema *s = r->schema;
	memset(c->cell, 0, c->names.n * sizeof(*c->cell));
	for (u32 i = 0; i < s->ncolumn; i++) {
		u32 at = c->place[s->id][i];
		c->cell[at] = &r->cell[i];
		c->column[at] = &s->column[i];
	}
	sb_fmt(b, "%llu,%u,", r->ts, r->cpu);
	if (r->task)
		sb_fmt(b, "%u,%u,", r->task->pid, r->task->tid);
	else
		sb_z(b, ",,");
	sb_clear(&c->tmp);
	if (r->task)
		sb_visible(&c->tmp, r->task->comm);
	sb_csv(b, sb_str(&c->tmp));
	sb_char(b, ',');
	sb_csv(b, s->probe);
	for (u32 i = 0; i < c->names.n; i++) {
		sb_char(b, ',');
		if (c->cell[i])
			put_cell(c, i);
	}
	sb_char(b, '\n');
	export_room(&c->x->out);
}

static void csv_end(void *self)
{
	struct csv_rows *c = self;
	u32 n;
	rec_losses(c->x->f, &n);
	if (n)
		export_remark(c->x,
			      "csv has no place for losses; there are %u: sonde report has them",
			      n);
	tab_free(&c->names);
	sb_free(&c->tmp);
}

const struct exporter export_csv = {
	.name = "csv",
	.doc = "a line per event, with a column for each name of a value",
	.size = sizeof(struct csv_rows),
	.begin = csv_begin,
	.row = csv_row,
	.end = csv_end,
};
