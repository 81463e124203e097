/*
 * tracedat.c - trace.dat, version 6 (Documentation/trace-cmd/trace-cmd.dat.v6 of trace-cmd).
 *
 * Formats of events are read as those of tracefs are. Pages of the CPUs are merged by time. A column has the
 * expression that live recording gives it: args.prev_pid, str(args.filename).
 */
#include "base/bytes.h"
#include "base/tab.h"
#include "base/vec.h"
#include "import/import.h"
#include "types/format.h"
#include <stdio.h>

enum {
	MAX_EVENTS = 1 << 16,
	MAX_CPUS = 4096,
	MAX_STRING = 1024,
	MIN_PAGE = 64,
	MAX_PAGE = 1 << 20,
	PAGE_HEAD = 16,
	TYPE_PADDING = 29,
	TYPE_EXTEND = 30,
	TYPE_STAMP = 31,
	OPTION_CLOCK = 4,
	OPTION_UNAME = 5,
	COMMON_PID_AT = 4,
	COMMON_BYTES = 8,
};
#define MISSED        (1ull << 31)
#define MISSED_STORED (1ull << 30)
#define MAGIC         "\x17\x08\x44tracing"

struct event {
	u32 schema;
	const struct field *field; /* by column */
	struct rec_column *column;
	u32 ncolumn;
	struct str probe;
};
struct cpu {
	const u8 *p, *end; /* pages */
	struct bytes data; /* what is left of the page */
	u64 ts, missing;
	const u8 *body; /* of the next event; NULL: there is none */
	u32 nbody;
};
struct trace {
	struct bytes b;
	struct rec_writer *w;
	struct import_sum *sum;
	struct arena a;
	struct event **event; /* by id */
	struct tab comms;     /* tid as text -> struct str */
	struct cpu *cpu;
	u32 ncpu, page;
	struct str clock, uname; /* the clock, if it is another one than the monotonic */
};

static bool tracedat_fits(const u8 *p, size_t n)
{
	return n >= sizeof(MAGIC) - 1 && !memcmp(p, MAGIC, sizeof(MAGIC) - 1);
}

static struct err *damaged(const struct trace *t, const char *what)
{
	return err_new("trace.dat: %s is damaged, or ends early (before byte %zu)", what, t->b.at);
}

static struct str take_text(struct bytes *b, u64 n)
{
	const u8 *p = n > UINT32_MAX ? NULL : bytes_take(b, n);
	b->bad |= !p;
	return p ? str_n((const char *)p, n) : (struct str){"", 0};
}

/* ---- formats ---- */

/* An integer of a size that a column can have. */
static bool is_number(const struct type *t)
{
	bool kind = t->kind == T_INT || t->kind == T_BOOL || t->kind == T_ENUM || t->kind == T_PTR;
	return kind && (t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8);
}

static struct str c_type(struct arena *a, const struct type *t)
{
	AUTO_SB b = {0};
	type_name(t, &b);
	return arena_str(a, sb_str(&b));
}

/* False: there is no column for such a field. */
static bool make_column(struct arena *a, const struct field *f, struct rec_column *c)
{
	const struct type *t = f->type;
	bool text = f->data_loc || (t->kind == T_ARRAY && t->base && t->base->is_char) ||
		    t->kind == T_STRING;
	bool list = t->kind == T_ARRAY && t->base && is_number(t->base) && t->count &&
		    t->count <= REC_MAX_ELEMENTS;
	*c = (struct rec_column){.size = t->size};
	if (f->bit_len || f->bit_off % 8 || f->data_loc > 1 || !f->name.n)
		return false;
	if (f->data_loc && t->kind != T_STRING &&
	    !(t->kind == T_ARRAY && t->base && t->base->is_char))
		return false;
	c->expr = str_z(arena_fmt(a, f->data_loc ? "str(args.%.*s)" : "args.%.*s", STRF(f->name)));
	c->ctype = c_type(a, t);
	if (text) {
		c->kind = REC_STRING;
		c->coding = REC_TEXT;
		c->size = f->data_loc ? MAX_STRING : t->size;
		if (f->data_loc)
			c->ctype = STR("string[1024]");
		return c->size > 0;
	}
	if (list) {
		c->kind = REC_ARRAY;
		c->coding = REC_LIST;
		c->count = t->count;
		c->sign = t->base->is_signed;
		c->element = c->sign ? REC_ZIGZAG : REC_VARINT;
		return (u64)c->count * t->base->size == c->size;
	}
	if (!is_number(t))
		return false;
	c->kind = t->kind == T_PTR ? REC_POINTER : t->kind == T_BOOL ? REC_BOOL : REC_INT;
	c->sign = t->is_signed && c->kind == REC_INT;
	c->coding = c->sign || t->size == 8 ? REC_ZIGZAG : REC_VARINT;
	return true;
}

/* The name is in the format, and also what the event is called. */
static struct str event_name(struct str text)
{
	struct str line, rest = text, name = STR("name: ");
	str_cut(&rest, '\n', &line);
	return str_starts(line, name) ? str_trim(str_from(line, name.n)) : (struct str){0};
}

static void add_event(struct trace *t, struct str system, struct str text)
{
	const struct type *type;
	u64 id;
	struct str name = event_name(text);
	struct err *e = format_parse(text, name, NULL, &t->a, &id, &type);
	if (e || !name.n || id >= MAX_EVENTS ||
	    t->event[id]) { /* its events are skipped, and counted */
		err_free(e);
		return;
	}
	struct event *ev = arena_new(&t->a, struct event);
	struct field *field = arena_newn(&t->a, struct field, REC_MAX_COLUMNS);
	ev->column = arena_newn(&t->a, struct rec_column, REC_MAX_COLUMNS);
	for (u32 i = 0; i < type->nfield && ev->ncolumn < REC_MAX_COLUMNS; i++)
		if (make_column(&t->a, &type->field[i], &ev->column[ev->ncolumn]))
			field[ev->ncolumn++] = type->field[i];
	ev->field = field;
	ev->probe = str_z(arena_fmt(&t->a, "tracepoint:%.*s:%.*s", STRF(system), STRF(name)));
	t->event[id] = ev;
}

static void read_formats(struct trace *t)
{
	struct bytes *b = &t->b;
	for (u32 n = bytes_u32(b); n && !b->bad; n--) /* of ftrace itself: not events of tracefs */
		take_text(b, bytes_u64(b));
	for (u32 n = bytes_u32(b); n && !b->bad; n--) {
		struct str system = str_z(bytes_z(b));
		for (u32 k = bytes_u32(b); k && !b->bad; k--) {
			struct str text = take_text(b, bytes_u64(b));
			if (!b->bad)
				add_event(t, system, text);
		}
	}
}

/* "4711 bash" */
static void read_comms(struct trace *t)
{
	struct str text = take_text(&t->b, bytes_u64(&t->b)), line;
	while (text.n && str_cut(&text, '\n', &line)) {
		struct str tid, name = line;
		if (!str_cut(&name, ' ', &tid) || !name.s)
			continue;
		struct str *to = arena_new(&t->a, struct str);
		*to = name;
		tab_set(&t->comms, tid, to);
	}
}

static void read_options(struct trace *t)
{
	u16 id;
	while ((id = bytes_u16(&t->b)) && !t->b.bad) {
		struct str data = take_text(&t->b, bytes_u32(&t->b)), clock;
		if (id == OPTION_UNAME)
			t->uname = str_n(data.s, strnlen(data.s, data.n));
		i32 open = id == OPTION_CLOCK ? str_chr(data, '[') : -1;
		if (open < 0)
			continue;
		struct str rest = str_from(data, (u32)open + 1);
		if (str_cut(&rest, ']', &clock) && !str_is(clock, "mono"))
			t->clock = clock;
	}
}

/* ---- pages ---- */

static bool next_page(struct trace *t, struct cpu *c)
{
	if ((size_t)(c->end - c->p) < t->page)
		return false;
	struct bytes page = bytes_of(c->p, t->page);
	c->p += t->page;
	c->ts = bytes_u64(&page);
	u64 commit = bytes_u64(&page), n = commit & 0xfffff;
	if (n > t->page - PAGE_HEAD) {
		t->sum->skipped++;
		return next_page(t, c);
	}
	if (commit & MISSED) {
		struct bytes after = page;
		bytes_seek(&after, PAGE_HEAD + n);
		u64 lost = commit & MISSED_STORED ? bytes_u64(&after) : 1;
		c->missing += after.bad ? 1 : lost;
	}
	c->data = bytes_of(page.p + PAGE_HEAD, n);
	return true;
}

/* The next event of a CPU. */
static void next_event(struct trace *t, struct cpu *c)
{
	c->body = NULL;
	for (;;) {
		struct bytes *b = &c->data;
		if (b->bad || b->n - b->at < 4) {
			if (!next_page(t, c))
				return;
			continue;
		}
		u32 head = bytes_u32(b), type = head & 0x1f, delta = head >> 5;
		if (type == TYPE_EXTEND || type == TYPE_STAMP) {
			u64 high = (u64)bytes_u32(b) << 27;
			c->ts = type == TYPE_STAMP ? (c->ts & ~((1ull << 59) - 1)) | high | delta
						   : c->ts + high + delta;
			continue;
		}
		c->ts += delta;
		if (type == TYPE_PADDING) {
			u32 n = delta ? bytes_u32(b) : 0;
			if (n < 4 || !bytes_take(b, n - 4))
				b->bad = true; /* the rest of the page */
			continue;
		}
		u32 n = 4 * type;
		if (!type) {
			n = bytes_u32(b);
			n = n >= 4 ? n - 4 : UINT32_MAX;
		}
		c->body = bytes_take(b, ALIGN_UP((u64)n, 4));
		c->nbody = n;
		if (c->body)
			return;
		t->sum->skipped++;
	}
}

/* ---- rows ---- */

static struct str text_at(const u8 *p, u32 n)
{
	const u8 *nul = n ? memchr(p, 0, n) : NULL;
	return (struct str){(const char *)p, nul ? (u32)(nul - p) : n};
}

static u64 number_at(const u8 *p, u32 size, bool sign)
{
	u64 u = 0;
	u32 unused = 64 - 8 * size;
	memcpy(&u, p, size);
	return sign ? (u64)((i64)(u << unused) >> unused) : u;
}

/* False: the field is not within the event. */
static bool take_cell(const struct cpu *c, const struct field *f, const struct rec_column *col,
		      struct rec_cell *v)
{
	u32 at = f->bit_off / 8, n = f->data_loc ? 4 : col->size;
	*v = (struct rec_cell){0};
	if (at > c->nbody || n > c->nbody - at)
		return false;
	const u8 *p = c->body + at;
	if (f->data_loc) {
		u32 where = (u32)number_at(p, 4, false), size = where >> 16;
		at = where & 0xffff;
		if (at > c->nbody || size > c->nbody - at)
			return false;
		v->str = text_at(c->body + at, size);
		v->cut = v->str.n > MAX_STRING;
		v->str.n = MIN(v->str.n, (u32)MAX_STRING);
	} else if (col->kind == REC_STRING) {
		v->str = text_at(p, n);
	} else if (col->kind == REC_ARRAY) {
		v->str = str_n((const char *)p, n);
	} else {
		v->u = number_at(p, n, col->sign);
	}
	return true;
}

static u32 task_of(struct trace *t, u32 tid)
{
	char text[16];
	snprintf(text, sizeof(text), "%u", tid);
	const struct str *name = tab_get(&t->comms, str_z(text));
	/* Whose thread it is, the file does not say. */
	return rec_task(t->w, &(struct rec_task){.tid = tid,
						 .pid = tid,
						 .known = name ? KNOWN_COMM : 0,
						 .comm = name  ? *name
							 : tid ? STR("?")
							       : STR("swapper")});
}

static struct err *put_row(struct trace *t, struct cpu *c, u32 cpu)
{
	struct rec_cell cell[REC_MAX_COLUMNS];
	u32 id = c->nbody >= COMMON_BYTES ? (u32)number_at(c->body, 2, false) : MAX_EVENTS;
	const struct event *ev = id < MAX_EVENTS ? t->event[id] : NULL;
	bool good = ev != NULL;
	for (u32 i = 0; good && i < ev->ncolumn; i++)
		good = take_cell(c, &ev->field[i], &ev->column[i], &cell[i]);
	if (!good) {
		t->sum->skipped++;
		return NULL;
	}
	u32 missing = (u32)MIN(c->missing, (u64)UINT32_MAX / 2);
	rec_row(t->w, &(struct rec_event){
			      .schema = ev->schema,
			      .cpu = cpu,
			      .task = task_of(t, (u32)number_at(c->body + COMMON_PID_AT, 4, false)),
			      .missing = missing,
			      .ts = c->ts,
			      .cell = cell});
	t->sum->lost += c->missing;
	c->missing = 0;
	t->sum->rows++;
	return rec_full(t->w) ? rec_tick(t->w, c->ts) : NULL;
}

/* "Linux host 6.1.0 #1 SMP ... x86_64" */
static void put_uname(struct trace *t)
{
	struct str rest = t->uname, word, last = {0};
	for (u32 i = 0; str_cut(&rest, ' ', &word); i++) {
		if (i == 1 || i == 2)
			rec_meta(t->w, i == 1 ? STR("hostname") : STR("release"), word);
		last = word;
	}
	if (last.n)
		rec_meta(t->w, STR("machine"), last);
}

static void put_facts(struct trace *t)
{
	rec_meta(t->w, STR("imported"), STR("trace.dat"));
	put_uname(t);
	for (u32 i = 0; i < MAX_EVENTS; i++) {
		struct event *ev = t->event[i];
		if (ev)
			ev->schema =
				rec_schema(t->w, &(struct rec_schema){.type = STR("tracepoint"),
								      .probe = ev->probe,
								      .act = STR("keep"),
								      .column = ev->column,
								      .ncolumn = ev->ncolumn});
	}
	if (t->clock.n)
		rec_loss(t->w, &(struct rec_loss){
				       .kind = STR("uncounted"),
				       .who = STR("clock"),
				       .text = str_z(arena_fmt(&t->a,
							       "times are of the clock '%.*s' of "
							       "ftrace, not of the monotonic clock",
							       STRF(t->clock)))});
}

static struct err *read_rows(struct trace *t, struct import_out *o)
{
	u64 first = ~0ull;
	for (u32 i = 0; i < t->ncpu; i++) {
		next_event(t, &t->cpu[i]);
		if (t->cpu[i].body)
			first = MIN(first, t->cpu[i].ts);
	}
	struct err *e = import_begin(o, first == ~0ull ? 0 : first, t->ncpu);
	if (e)
		return e;
	t->w = o->w;
	put_facts(t);
	while (!e) {
		u32 best = t->ncpu;
		for (u32 i = 0; i < t->ncpu; i++)
			if (t->cpu[i].body && (best == t->ncpu || t->cpu[i].ts < t->cpu[best].ts))
				best = i;
		if (best == t->ncpu)
			break;
		e = put_row(t, &t->cpu[best], best);
		next_event(t, &t->cpu[best]);
	}
	return e;
}

/* ---- the file ---- */

static struct err *read_head(struct trace *t)
{
	struct bytes *b = &t->b;
	bytes_seek(b, sizeof(MAGIC) - 1);
	struct str version = str_z(bytes_z(b));
	u8 big = bytes_u8(b), word = bytes_u8(b);
	t->page = bytes_u32(b);
	if (b->bad)
		return damaged(t, "the header");
	if (!str_is(version, "6"))
		return err_new("trace.dat of version %.*s is not read; trace-cmd convert "
			       "--file-version 6 -i FILE -o FILE "
			       "makes one that is",
			       (int)MIN(version.n, 16u), version.s);
	if (big || word != 8 || t->page < MIN_PAGE || t->page > MAX_PAGE)
		return err_new(
			"trace.dat: only files of little-endian machines of 64 bits are read");
	for (u32 i = 0; i < 2; i++) { /* header_page, header_event: the same on all of these */
		bytes_z(b);
		take_text(b, bytes_u64(b));
	}
	read_formats(t);
	take_text(b, bytes_u32(b)); /* kallsyms */
	take_text(b, bytes_u32(b)); /* printk */
	read_comms(t);
	t->ncpu = bytes_u32(b);
	struct str options = take_text(b, 10);
	if (b->bad || t->ncpu > MAX_CPUS || memcmp(options.s, "options  ", 10))
		return damaged(t, "what precedes the events");
	read_options(t);
	struct str kind = take_text(b, 10);
	if (b->bad || memcmp(kind.s, "flyrecord", 10))
		return damaged(t, "the table of the CPUs");
	t->cpu = arena_newn(&t->a, struct cpu, t->ncpu + 1ul);
	for (u32 i = 0; i < t->ncpu; i++) {
		u64 at = bytes_u64(b), n = bytes_u64(b);
		if (b->bad || at > b->n || n > b->n - at)
			return damaged(t, "the table of the CPUs");
		t->cpu[i].p = b->p + at;
		t->cpu[i].end = b->p + at + n;
	}
	return NULL;
}

static struct err *tracedat_read(const u8 *p, size_t n, struct import_out *o,
				 struct import_sum *sum)
{
	struct trace t = {.b = bytes_of(p, n), .sum = sum};
	t.event = arena_newn(&t.a, struct event *, MAX_EVENTS);
	struct err *e = read_head(&t);
	if (!e)
		e = read_rows(&t, o);
	if (!e && sum->lost)
		rec_loss(t.w, &(struct rec_loss){.n = sum->lost,
						 .kind = STR("lost_total"),
						 .text = str_z(arena_fmt(&t.a, "Lost %llu events",
									 sum->lost))});
	if (!e && sum->skipped)
		rec_loss(t.w,
			 &(struct rec_loss){
				 .n = sum->skipped,
				 .kind = STR("corrupt_records"),
				 .text = str_z(arena_fmt(
					 &t.a, "%llu events of the imported file could not be read",
					 sum->skipped))});
	tab_free(&t.comms);
	arena_free(&t.a);
	return e;
}

const struct importer import_tracedat = {"trace.dat", tracedat_fits, tracedat_read};
