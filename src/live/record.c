/*
 * record.c - all readings as a recording: what was added to each row in each interval is an event of a probe
 * tracepoint:live:MAP, so that scripts can ask for it as for other recordings.
 *
 *	args.key	text of the key; not of maps with stacks, nor of those without keys
 *	args.added	a number: what was added; of a histogram: how many values, in a bucket
 *	args.low, args.high	bounds of the bucket
 *	args.value	of maps that are not added to, and texts: what it was then
 *	args.count, args.total	of stats(): observations, and their sum, that were added
 *	kstack, ustack	of keys with stacks: all parts of the key, the last one first
 */
#include "live/row.h"
#include "live/save.h"
#include "rec/pack.h"
#include "rec/write.h"

enum { MOST_KEY = 4096, MOST_COLUMNS = 5 };

struct history {
	struct rec_writer *w;
	const struct live_model *m;
	const struct live_table *t;
	struct rec_column column[MOST_COLUMNS];
	u32 ncolumn;
	u32 schema; /* of the table */
};

static void add_column(struct history *h, const char *expr, enum rec_kind kind)
{
	static const char *const ctype[] = {
		[REC_INT] = "long long", [REC_STRING] = "char[4096]", [REC_STACK] = "ustack"};
	h->column[h->ncolumn++] =
		(struct rec_column){.expr = str_z(expr),
				    .ctype = str_z(ctype[kind]),
				    .kind = kind,
				    .coding = kind == REC_INT      ? REC_ZIGZAG
					      : kind == REC_STRING ? REC_TEXT
								   : REC_STACKID,
				    .sign = kind == REC_INT,
				    .size = kind == REC_STRING ? MOST_KEY : sizeof(u64)};
}

static void choose_columns(struct history *h)
{
	const struct live_table *t = h->t;
	h->ncolumn = 0;
	if (t->stacks)
		add_column(h, "ustack", REC_STACK);
	else if (!t->scalar)
		add_column(h, "args.key", REC_STRING);
	switch (t->kind) {
	case LIVE_NUMBER: add_column(h, t->adds ? "args.added" : "args.value", REC_INT); break;
	case LIVE_HIST:
		add_column(h, "args.low", REC_INT);
		add_column(h, "args.high", REC_INT);
		add_column(h, "args.added", REC_INT);
		break;
	case LIVE_STATS:
		add_column(h, "args.count", REC_INT);
		add_column(h, "args.total", REC_INT);
		break;
	case LIVE_EMPTY:
	case LIVE_TEXT: add_column(h, "args.value", REC_STRING); break;
	}
}

/* "tracepoint:live:reads", "tracepoint:live:anonymous"; of several scripts the later ones have a number. */
static u32 put_schema(struct history *h)
{
	AUTO_SB b = {0};
	struct str name =
		h->t->name.n && h->t->name.s[0] == '@' ? str_from(h->t->name, 1) : h->t->name;
	sb_fmt(&b, "tracepoint:live:%.*s", STRF(name.n ? name : STR("anonymous")));
	if (h->t->text)
		sb_fmt(&b, "_%u", h->t->text + 1);
	return rec_schema(h->w, &(struct rec_schema){.type = STR("tracepoint"),
						     .probe = sb_str(&b),
						     .act = STR("keep"),
						     .column = h->column,
						     .ncolumn = h->ncolumn});
}

static u32 stack_of(struct history *h, const struct live_row *row)
{
	enum { MOST = 1024 };
	u32 frame[MOST], n = MIN(row->nframe, (u32)MOST);
	for (u32 i = 0; i < n; i++) {
		struct str name = row->frame[row->nframe - 1 - i];
		/* Of names alone nothing else is known; readers tell frames by their addresses. */
		frame[i] = rec_frame(h->w, &(struct rec_frame){.addr = str_hash(name) >> 1,
							       .sym = name,
							       .text = name});
	}
	return rec_stack(h->w, &(struct rec_stack){.n = n, .frame = frame});
}

static struct rec_cell number(i64 n)
{
	return (struct rec_cell){.u = (u64)n};
}

static struct rec_cell text(struct str s)
{
	return (struct rec_cell){.str = str_n(s.s, MIN(s.n, (u32)MOST_KEY - 1)),
				 .cut = s.n >= MOST_KEY};
}

static void put_row(struct history *h, const struct live_tick *at, const struct live_entry *e)
{
	struct rec_cell cell[MOST_COLUMNS];
	struct rec_event r = {.schema = h->schema,
			      .task = rec_task(h->w, &(struct rec_task){.tid = 1,
									.pid = 1,
									.known = KNOWN_COMM,
									.comm = STR("sonde")}),
			      .ts = at->at.ns,
			      .cell = cell};
	const struct live_blob *b = e->step.blob;
	u32 n = 0;
	if (h->t->stacks)
		cell[n++] = (struct rec_cell){.u = stack_of(h, e->row)};
	else if (!h->t->scalar)
		cell[n++] = text(e->row->key);
	if (h->t->kind == LIVE_HIST) {
		for (u32 i = 0; b && i < b->n; i++) {
			cell[n] = number(b->hist[i].no_lo ? INT64_MIN : b->hist[i].lo);
			cell[n + 1] = number(b->hist[i].no_hi ? INT64_MAX : b->hist[i].hi - 1);
			cell[n + 2] = number((i64)b->hist[i].count);
			rec_row(h->w, &r);
		}
		return;
	}
	if (h->t->kind == LIVE_STATS) {
		cell[n++] = number((i64)e->step.count);
		cell[n] = number(e->step.n);
	} else if (h->t->kind == LIVE_NUMBER) {
		cell[n] = number(h->t->adds ? e->step.n : e->all.n);
	} else {
		b = e->all.blob;
		cell[n] = text(b ? str_n(b->text, b->n) : STR(""));
	}
	if (!h->t->adds || e->step.n || e->step.count)
		rec_row(h->w, &r);
}

/* Rows of the table at the reading i steps before the last; of the first one, what had come until then. */
static struct err *put_reading(struct history *h, u32 i)
{
	struct arena a = {0};
	struct live_look look = {.at = model_back(h->m, i),
				 .prev = i + 1 < h->m->ntick ? model_back(h->m, i + 1) : NULL};
	struct live_entries e = model_collect(h->m, h->t, &look, &a);
	for (u32 k = 0; k < e.n; k++)
		put_row(h, look.at, &e.v[k]);
	arena_free(&a);
	return rec_tick(h->w, look.at->at.ns);
}

/* Blocks are in the order of time. */
static struct err *put_readings(struct history *h, u32 *schema)
{
	struct err *e = NULL;
	for (u32 i = h->m->ntick; i-- && !e;)
		for (u32 k = 0; k < h->m->ntable && !e; k++) {
			h->t = h->m->table[k];
			h->schema = schema[k];
			choose_columns(h);
			e = put_reading(h, i);
		}
	return e;
}

struct err *save_recording(const struct live_model *m, struct sb *out)
{
	struct arena a = {0};
	struct history h = {.m = m};
	const struct live_tick *first = model_back(m, UINT32_MAX);
	if (!first)
		return err_new("there is no reading yet");
	struct rec_start s = {.real = first->at.wall_ns,
			      .mono = first->at.ns,
			      .ncpu = MAX(first->at.ncpu, 1u),
			      .codec = rec_best_codec()};
	u32 *schema = arena_newn(&a, u32, m->ntable + 1);
	h.w = rec_create_mem(&s, out);
	rec_meta(h.w, STR("readings"), STR("sonde live"));
	rec_clock(h.w, &(struct rec_clock){.mono = s.mono, .real = s.real, .boot = s.mono});
	for (u32 k = 0; k < m->ntable; k++) {
		h.t = m->table[k];
		choose_columns(&h);
		schema[k] = put_schema(&h);
	}
	struct err *e = rec_begin(h.w);
	if (!e)
		e = put_readings(&h, schema);
	arena_free(&a);
	if (!e)
		return rec_finish(h.w, END_DONE, STR("saved"), NULL);
	rec_abandon(h.w);
	return e;
}
