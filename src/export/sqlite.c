/*
 * sqlite.c - a database of SQLite. For each schema a table of its values and a view with the name of the event, for
 * all events the view "event"; stacks, frames, losses, clocks.
 */
#include "base/alloc.h"
#include "base/tab.h"
#include "export/btree.h"
#include "export/cells.h"
#include "export/number.h"

struct event_table {
	const struct rec_schema *schema;
	struct str name; /* of the view */
	struct db_tree tree;
};
struct sqlite {
	struct exporting *x;
	struct db db;
	struct db_tree rows, stacks, frames, other;
	struct event_table **table; /* by schema */
	u32 ntable;
	struct tab names;
	struct number_set stack, frame;
	u64 id, nstack;
	struct db_row row;
	struct sb tmp;
};

static void put_quoted(struct sb *b, struct str s, char quote)
{
	sb_char(b, quote);
	for (u32 i = 0; i < s.n; i++) {
		if (s.s[i] == quote)
			sb_char(b, quote);
		sb_char(b, s.s[i] ? s.s[i] : '?');
	}
	sb_char(b, quote);
}

/* The part behind the last colon, "_2" and so on for others of the same name. Names are compared without case. */
static struct str table_name(struct sqlite *q, const struct rec_schema *s)
{
	AUTO_SB visible = {0};
	AUTO_SB b = {0};
	sb_visible(&visible, s->probe);
	struct str rest = sb_str(&visible), part = rest;
	while (str_cut(&rest, ':', &part))
		;
	if (!str_starts(s->probe, STR("tracepoint:")) && !str_starts(s->probe, STR("kprobe:")))
		part = sb_str(&visible);
	for (u32 n = 1; n == 1 || tab_get(&q->names, sb_str(&b)); n++) {
		sb_clear(&b);
		sb_add(&b, part);
		if (n > 1)
			sb_fmt(&b, "_%u", n);
		for (size_t i = 0; i < b.n; i++)
			if (b.s[i] >= 'A' && b.s[i] <= 'Z')
				b.s[i] = (char)(b.s[i] | 0x20);
	}
	struct str name = arena_str(&q->x->a, sb_str(&b));
	tab_set(&q->names, name, q);
	return name;
}

static void sqlite_begin(void *self, struct exporting *x)
{
	static const char *const own[] = {"event", "event_row", "probe", "stack",
					  "frame", "loss",      "clock", "meta"};
	struct sqlite *q = self;
	u32 n;
	const struct rec_schema *const *s = rec_schemas(x->f, &n);
	q->x = x;
	db_begin(&q->db, &x->out);
	tree_init(&q->rows);
	tree_init(&q->stacks);
	tree_init(&q->frames);
	for (u32 i = 0; i < countof(own); i++)
		tab_set(&q->names, str_z(own[i]), q);
	for (u32 i = 0; i < n; i++)
		q->ntable = MAX(q->ntable, s[i]->id + 1);
	q->table = xcalloc(q->ntable + 1ul, sizeof(struct event_table *));
	for (u32 i = 0; i < n; i++) {
		struct event_table *t = q->table[s[i]->id] = xcalloc(1, sizeof(*t));
		t->schema = s[i];
		t->name = table_name(q, s[i]);
		tree_init(&t->tree);
	}
}

/* ---- stacks ---- */

static void add_frame(struct sqlite *q, u32 frame)
{
	const struct rec_frame *fr = rec_frame_of(q->x->f, frame);
	const struct rec_mapping *m = fr ? rec_mapping_of(q->x->f, fr->mapping) : NULL;
	bool fresh;
	u32 id = number_id(&q->frame, frame, &fresh);
	struct db_row *r = &q->row;
	if (!fresh)
		return;
	sb_clear(&q->tmp);
	cell_function(&q->tmp, q->x->f, frame);
	row_begin(r);
	row_null(r);
	row_text(r, sb_str(&q->tmp));
	row_u64(r, fr ? fr->sym_off : 0);
	row_text(r, m ? m->path : fr && fr->flags & FRAME_KERNEL ? STR("[kernel]") : STR(""));
	row_text(r, m ? m->build_id : STR(""));
	sb_clear(&q->tmp);
	sb_fmt(&q->tmp, "0x%llx", fr ? fr->addr : 0);
	row_text(r, sb_str(&q->tmp));
	row_text(r, fr ? fr->source : STR(""));
	row_int(r, fr ? fr->line : 0);
	tree_add(&q->db, &q->frames, id, r);
}

/* The id in the table; 0 if there is no such stack. */
static u32 add_stack(struct sqlite *q, u32 stack)
{
	const struct rec_stack *s = rec_stack_of(q->x->f, stack);
	bool fresh;
	if (!s)
		return 0;
	u32 id = number_id(&q->stack, stack, &fresh);
	for (u32 i = 0; fresh && i < s->n; i++) {
		add_frame(q, s->frame[i]);
		row_begin(&q->row);
		row_int(&q->row, id);
		row_int(&q->row, i);
		row_int(&q->row, number_id(&q->frame, s->frame[i], &(bool){0}));
		tree_add(&q->db, &q->stacks, ++q->nstack, &q->row);
	}
	return id;
}

/* ---- events ---- */

static void put_cell(struct sqlite *q, const struct rec_column *c, const struct rec_cell *v,
		     u32 stack)
{
	struct db_row *r = &q->row;
	struct str word = v->missing ? (struct str){0} : cell_enumerator(q->x->f, c, v->u);
	if (v->missing || (c->kind == REC_STACK && !stack)) {
		row_null(r);
		return;
	}
	switch (c->kind) {
	case REC_ENUM:
	case REC_INT:
	case REC_BOOL:
	case REC_POINTER:
		if (word.s)
			row_text(r, word);
		else if (c->sign)
			row_int(r, (i64)v->u);
		else
			row_u64(r, v->u);
		return;
	case REC_FLOAT: row_float(r, cell_float(v)); return;
	case REC_STRING:
	case REC_NAMED: row_text(r, v->str); return;
	case REC_BYTES: row_bytes(r, v->str); return;
	case REC_STACK: row_int(r, stack); return;
	case REC_ARRAY:
		sb_clear(&q->tmp);
		cell_text(&q->tmp, q->x->f, c, v);
		row_text(r, sb_str(&q->tmp));
		return;
	}
}

static void sqlite_row(void *self, const struct rec_row *r)
{
	struct sqlite *q = self;
	const struct rec_schema *s = r->schema;
	u32 stack[REC_MAX_COLUMNS] = {0};
	for (u32 i = 0; i < s->ncolumn; i++)
		if (s->column[i].kind == REC_STACK && !r->cell[i].missing)
			stack[i] = add_stack(q, (u32)r->cell[i].u);
	q->id++;
	row_begin(&q->row);
	row_null(&q->row); /* the row id */
	row_u64(&q->row, r->ts);
	row_int(&q->row, r->cpu);
	if (r->task) {
		row_int(&q->row, r->task->pid);
		row_int(&q->row, r->task->tid);
		row_text(&q->row, r->task->comm);
	} else {
		for (u32 i = 0; i < 3; i++)
			row_null(&q->row);
	}
	row_int(&q->row, s->id);
	tree_add(&q->db, &q->rows, q->id, &q->row);
	row_begin(&q->row);
	row_null(&q->row);
	for (u32 i = 0; i < s->ncolumn; i++)
		put_cell(q, &s->column[i], &r->cell[i], stack[i]);
	tree_add(&q->db, &q->table[s->id]->tree, q->id, &q->row);
}

/* ---- the end ---- */

/* Columns of one table may differ only by case, or have the name of what every event has. */
static void put_columns(struct sqlite *q, const struct event_table *t, struct sb *b)
{
	static const char *const common[] = {"id", "ts", "cpu", "pid", "tid", "comm", "probe"};
	struct tab seen = {0};
	for (u32 i = 0; i < countof(common); i++)
		tab_set(&seen, str_z(common[i]), q);
	for (u32 i = 0; i < t->schema->ncolumn; i++) {
		const struct rec_column *c = &t->schema->column[i];
		AUTO_SB name = {0};
		sb_visible(&name, cell_name(c));
		AUTO_SB key = {0};
		for (u32 n = 1; n == 1 || tab_get(&seen, sb_str(&key)); n++) {
			if (n == 2) {
				sb_clear(&name);
				sb_visible(&name, c->expr);
			} else if (n > 2) {
				sb_fmt(&name, "_%u", n);
			}
			sb_clear(&key);
			for (size_t k = 0; k < name.n; k++)
				sb_char(&key, (char)(name.s[k] >= 'A' && name.s[k] <= 'Z'
							     ? name.s[k] | 0x20
							     : name.s[k]));
		}
		tab_set(&seen, arena_str(&q->x->a, sb_str(&key)), q);
		sb_z(b, ", ");
		put_quoted(b, sb_str(&name), '"');
	}
	tab_free(&seen);
}

static void end_events(struct sqlite *q)
{
	AUTO_SB sql = {0};
	AUTO_SB columns = {0};
	AUTO_SB name = {0};
	for (u32 i = 0; i < q->ntable; i++) {
		struct event_table *t = q->table[i];
		if (!t)
			continue;
		sb_clear(&columns);
		put_columns(q, t, &columns);
		sb_clear(&name);
		sb_fmt(&name, "args_%.*s", STRF(t->name));
		sb_clear(&sql);
		sb_z(&sql, "CREATE TABLE ");
		put_quoted(&sql, sb_str(&name), '"');
		sb_fmt(&sql, "(id INTEGER PRIMARY KEY%s)", columns.n ? columns.s : "");
		db_table(&q->db, &t->tree, sb_str(&name), sb_str(&sql));
		sb_clear(&sql);
		sb_z(&sql, "CREATE VIEW ");
		put_quoted(&sql, t->name, '"');
		sb_fmt(&sql, " AS SELECT id, ts, cpu, pid, tid, comm%s FROM ",
		       columns.n ? columns.s : "");
		put_quoted(&sql, sb_str(&name), '"');
		sb_z(&sql, " JOIN event_row USING (id)");
		db_view(&q->db, t->name, sb_str(&sql));
	}
}

static void end_probes(struct sqlite *q)
{
	struct db_row *r = &q->row;
	tree_init(&q->other);
	for (u32 i = 0; i < q->ntable; i++) {
		if (!q->table[i])
			continue;
		row_begin(r);
		row_null(r);
		row_text(r, q->table[i]->schema->probe);
		row_text(r, q->table[i]->name);
		tree_add(&q->db, &q->other, i, r);
	}
	db_table(&q->db, &q->other, STR("probe"),
		 STR("CREATE TABLE probe(id INTEGER PRIMARY KEY, probe TEXT, view TEXT)"));
}

static void end_losses(struct sqlite *q)
{
	struct db_row *r = &q->row;
	u32 n;
	const struct rec_loss *l = rec_losses(q->x->f, &n);
	tree_init(&q->other);
	for (u32 i = 0; i < n; i++) {
		row_begin(r);
		row_u64(r, l[i].from);
		row_u64(r, l[i].to);
		row_text(r, l[i].kind);
		row_text(r, l[i].who);
		row_u64(r, l[i].n);
		row_text(r, l[i].text);
		tree_add(&q->db, &q->other, i + 1ull, r);
	}
	db_table(&q->db, &q->other, STR("loss"),
		 STR("CREATE TABLE loss(from_ts INTEGER, to_ts INTEGER, kind TEXT, who TEXT, n "
		     "INTEGER, text TEXT)"));
}

static void end_facts(struct sqlite *q)
{
	struct db_row *r = &q->row;
	u32 n;
	const struct rec_clock *c = rec_clocks(q->x->f, &n);
	tree_init(&q->other);
	for (u32 i = 0; i < n; i++) {
		row_begin(r);
		row_u64(r, c[i].mono);
		row_u64(r, c[i].real);
		row_u64(r, c[i].boot);
		row_int(r, c[i].uncertainty);
		tree_add(&q->db, &q->other, i + 1ull, r);
	}
	db_table(&q->db, &q->other, STR("clock"),
		 STR("CREATE TABLE clock(mono INTEGER, real INTEGER, boot INTEGER, uncertainty "
		     "INTEGER)"));
	const struct str *meta = rec_metas(q->x->f, &n);
	tree_init(&q->other);
	for (u32 i = 0; i < n; i++) {
		row_begin(r);
		row_text(r, meta[2 * i]);
		row_text(r, meta[2 * i + 1]);
		tree_add(&q->db, &q->other, i + 1ull, r);
	}
	db_table(&q->db, &q->other, STR("meta"), STR("CREATE TABLE meta(key TEXT, value TEXT)"));
}

static void sqlite_end(void *self)
{
	struct sqlite *q = self;
	db_table(&q->db, &q->rows, STR("event_row"),
		 STR("CREATE TABLE event_row(id INTEGER PRIMARY KEY, ts INTEGER, cpu INTEGER, pid "
		     "INTEGER, tid INTEGER, comm TEXT, probe_id INTEGER)"));
	db_view(&q->db, STR("event"),
		STR("CREATE VIEW event AS SELECT e.id, ts, cpu, pid, tid, comm, probe FROM "
		    "event_row e JOIN probe p ON p.id = e.probe_id"));
	end_probes(q);
	end_events(q);
	db_table(&q->db, &q->stacks, STR("stack"),
		 STR("CREATE TABLE stack(id INTEGER, depth INTEGER, frame INTEGER)"));
	db_table(&q->db, &q->frames, STR("frame"),
		 STR("CREATE TABLE frame(id INTEGER PRIMARY KEY, symbol TEXT, offset INTEGER, "
		     "module TEXT, build_id TEXT, address TEXT, file TEXT, line INTEGER)"));
	end_losses(q);
	end_facts(q);
	db_end(&q->db);
	for (u32 i = 0; i < q->ntable; i++)
		free(q->table[i]);
	free(q->table);
	tab_free(&q->names);
	number_free(&q->stack);
	number_free(&q->frame);
	row_free(&q->row);
	sb_free(&q->tmp);
}

const struct exporter export_sqlite = {
	.name = "sqlite",
	.doc = "a database of SQLite: a view for each probe, and for all events",
	.ending = ".db",
	.seeks = true,
	.size = sizeof(struct sqlite),
	.begin = sqlite_begin,
	.row = sqlite_row,
	.end = sqlite_end,
};
