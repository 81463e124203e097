/*
 * tracedat.c - trace.dat, versions 6 and 7 (trace-cmd.dat.v6(5) and v7(5) of trace-cmd).
 *
 * In version 6 the parts follow each other. In version 7 they are sections, which options point to and which may be
 * compressed; a file can have several buffers, one for each instance of ftrace. Pages of all CPUs are merged by time.
 */
#include "base/alloc.h"
#include "base/tab.h"
#include "base/vec.h"
#include "import/import.h"
#include "import/points.h"
#include "rec/pack.h"
#include <stdio.h>

enum {
	MAX_CPUS = 4096, /* of all buffers */
	MIN_PAGE = 64,
	MAX_PAGE = 1 << 20,
	PAGE_HEAD = 16,
	TYPE_PADDING = 29,
	TYPE_EXTEND = 30,
	TYPE_STAMP = 31,
	/* Options; from FTRACE on they say where the section of this number is. */
	OPTION_DONE = 0,
	OPTION_BUFFER = 3,
	OPTION_CLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_EVENTS = 18,
	OPTION_COMMS = 21,
	SECTION_PRESSED = 1,
	MAX_SECTIONS = 64,       /* of options */
	MAX_SECTION = 64 << 20,  /* bytes, decompressed */
	MAX_CHUNK = 4 << 20,     /* of pages */
	MAX_CHUNKS = 1024 << 20, /* of all CPUs together */
};
#define MISSED        (1ull << 31)
#define MISSED_STORED (1ull << 30)
#define MAGIC         "\x17\x08\x44tracing"

struct cpu {
	u32 number, page;
	const u8 *p, *end;   /* pages */
	struct bytes chunks; /* compressed pages that follow */
	u32 nchunk;
	u8 *raw;
	u32 nraw;
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
	struct points points;
	struct tab comms; /* tid as text -> struct str */
	VEC(struct cpu) cpu;
	u32 ncpu, page;          /* ncpu: their numbers are below */
	struct str clock, uname; /* the clock, if it is another one than the monotonic */
	struct rec_press *press; /* NULL: nothing is compressed */
	enum rec_codec codec;
	u64 chunk_bytes; /* of all CPUs */
};

static bool tracedat_fits(const u8 *p, size_t n)
{
	return n >= sizeof(MAGIC) - 1 && !memcmp(p, MAGIC, sizeof(MAGIC) - 1);
}

static struct err *damaged(const struct trace *t, const char *what)
{
	return err_new("trace.dat: %s is damaged, or ends early (before byte %zu)", what, t->b.at);
}

/* "4711 bash" */
static void read_comms(struct trace *t, struct bytes *b)
{
	struct str text = points_text(b, bytes_u64(b)), line;
	while (text.n && str_cut(&text, '\n', &line)) {
		struct str tid, name = line;
		if (!str_cut(&name, ' ', &tid) || !name.s)
			continue;
		struct str *to = arena_new(&t->a, struct str);
		*to = name;
		tab_set(&t->comms, tid, to);
	}
}

static void note_uname(struct trace *t, struct str data)
{
	t->uname = str_n(data.s, strnlen(data.s, data.n));
}

static void note_clock(struct trace *t, struct str clock)
{
	if (!str_is(clock, "mono"))
		t->clock = clock;
}

/* "local global [mono]" */
static void note_clocks(struct trace *t, struct str data)
{
	i32 open = str_chr(data, '[');
	struct str rest = str_from(data, open < 0 ? data.n : (u32)open + 1), clock;
	if (str_cut(&rest, ']', &clock))
		note_clock(t, clock);
}

/* ---- pages ---- */

/* Compressed pages of a CPU. False: there are no more. */
static bool next_chunk(struct trace *t, struct cpu *c)
{
	if (!c->nchunk)
		return false;
	c->nchunk--;
	struct bytes *b = &c->chunks;
	u32 from = bytes_u32(b), to = bytes_u32(b);
	struct str pressed = points_text(b, from);
	bool good = !b->bad && to <= MAX_CHUNK && to >= c->page;
	if (good && to > c->nraw) {
		good = t->chunk_bytes + to - c->nraw <= MAX_CHUNKS;
		if (good) {
			t->chunk_bytes += to - c->nraw;
			c->raw = xrealloc(c->raw, to);
			c->nraw = to;
		}
	}
	size_t n = to; /* which the last chunk need not fill */
	if (!good || !rec_unpress_some(t->press, t->codec, pressed, c->raw, &n)) {
		t->sum->skipped++; /* how many events they had, nobody knows */
		c->nchunk = b->bad ? 0 : c->nchunk;
		return next_chunk(t, c);
	}
	c->p = c->raw;
	c->end = c->raw + n;
	return true;
}

static bool next_page(struct trace *t, struct cpu *c)
{
	for (;;) {
		if ((size_t)(c->end - c->p) < c->page && !next_chunk(t, c))
			return false;
		struct bytes page = bytes_of(c->p, c->page);
		c->p += c->page;
		c->ts = bytes_u64(&page);
		u64 commit = bytes_u64(&page), n = commit & 0xfffff;
		if (n > c->page - PAGE_HEAD) {
			t->sum->skipped++;
			continue;
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

static struct err *put_row(struct trace *t, struct cpu *c)
{
	struct rec_cell cell[REC_MAX_COLUMNS];
	u32 tid = 0;
	struct point *pt = point_of_event(&t->points, c->body, c->nbody, &tid);
	if (!pt || !point_cells(pt, c->body, c->nbody, cell)) {
		t->sum->skipped++;
		return NULL;
	}
	if (!pt->schema) /* the file has formats also of events that were not recorded */
		pt->schema = rec_schema(t->w, &(struct rec_schema){.type = STR("tracepoint"),
								   .probe = pt->probe,
								   .act = STR("keep"),
								   .column = pt->column,
								   .ncolumn = pt->ncolumn});
	u32 missing = (u32)MIN(c->missing, (u64)UINT32_MAX / 2);
	rec_row(t->w, &(struct rec_event){.schema = pt->schema,
					  .cpu = c->number,
					  .task = task_of(t, tid),
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
	for (u32 i = 0; i < t->cpu.n; i++) {
		next_event(t, &t->cpu.v[i]);
		if (t->cpu.v[i].body)
			first = MIN(first, t->cpu.v[i].ts);
	}
	struct err *e = import_begin(o, first == ~0ull ? 0 : first, t->ncpu);
	if (e)
		return e;
	t->w = o->w;
	put_facts(t);
	while (!e) {
		struct cpu *best = NULL;
		for (u32 i = 0; i < t->cpu.n; i++) {
			struct cpu *c = &t->cpu.v[i];
			if (c->body && (!best || c->ts < best->ts))
				best = c;
		}
		if (!best)
			break;
		e = put_row(t, best);
		next_event(t, best);
	}
	return e;
}

/* ---- version 6 ---- */

/* The pages of one CPU, compressed or not, of either version. */
static bool add_cpu(struct trace *t, struct cpu c, u64 at, u64 n, bool pressed)
{
	struct bytes *b = &t->b;
	if (at > b->n || n > b->n - at || c.number >= MAX_CPUS || t->cpu.n == MAX_CPUS)
		return false;
	t->ncpu = MAX(t->ncpu, c.number + 1);
	/* The size leaves the number of chunks out. */
	c.chunks = bytes_of(b->p + at, MIN(n + 4, b->n - at));
	if (pressed)
		c.nchunk = n ? bytes_u32(&c.chunks) : 0;
	else
		c.p = b->p + at;
	c.end = pressed ? c.p : c.p + n;
	vec_add(&t->cpu, c);
	return !c.chunks.bad;
}

/* Of one instance of ftrace: where the pages of its CPUs are. */
static bool read_table(struct trace *t, u64 from)
{
	struct bytes b = t->b;
	bytes_seek(&b, from);
	struct str kind = points_text(&b, 10);
	if (b.bad || memcmp(kind.s, "flyrecord", 10))
		return false;
	for (u32 i = 0; i < t->ncpu; i++) {
		struct cpu c = {.number = i, .page = t->page};
		u64 at = bytes_u64(&b), n = bytes_u64(&b);
		if (b.bad || !add_cpu(t, c, at, n, false))
			return false;
	}
	return true;
}

static struct err *read_parts(struct trace *t)
{
	VEC(u64) buffers = {0}; /* of instances other than the first */
	struct bytes *b = &t->b;
	u16 id;
	for (u32 i = 0; i < 2; i++) { /* header_page, header_event: the same on all of these */
		bytes_z(b);
		points_text(b, bytes_u64(b));
	}
	points_read(&t->points, b);
	points_text(b, bytes_u32(b)); /* kallsyms */
	points_text(b, bytes_u32(b)); /* printk */
	read_comms(t, b);
	t->ncpu = bytes_u32(b);
	struct str options = points_text(b, 10);
	if (b->bad || t->ncpu > MAX_CPUS || memcmp(options.s, "options  ", 10))
		return damaged(t, "what precedes the events");
	while ((id = bytes_u16(b)) && !b->bad) {
		struct str data = points_text(b, bytes_u32(b));
		if (id == OPTION_UNAME)
			note_uname(t, data);
		else if (id == OPTION_CLOCK)
			note_clocks(t, data);
		else if (id == OPTION_BUFFER)
			vec_add(&buffers,
				bytes_u64(&(struct bytes){(const u8 *)data.s, data.n, 0, 0}));
	}
	if (b->bad)
		return damaged(t, "what precedes the events");
	bool good = read_table(t, b->at);
	for (u32 i = 0; i < buffers.n && good; i++)
		good = read_table(t, buffers.v[i]);
	vec_free(&buffers);
	return good ? NULL : damaged(t, "the table of the CPUs");
}

/* ---- version 7 ---- */

/* What the section contains; *pressed: it is compressed. False: it is damaged. */
static bool section_head(struct trace *t, u64 at, u32 id, struct bytes *ret, bool *pressed)
{
	struct bytes b = t->b;
	b.bad = at > b.n;
	bytes_seek(&b, b.bad ? 0 : at);
	u16 is = bytes_u16(&b), flags = bytes_u16(&b);
	bytes_u32(&b); /* the number of its name */
	bytes_u64(&b); /* how long it is, with what is needed to align it */
	*pressed = flags & SECTION_PRESSED;
	*ret = b;
	return !b.bad && is == id && (!*pressed || t->press);
}

static bool section(struct trace *t, u64 at, u32 id, struct bytes *ret)
{
	bool pressed;
	if (!section_head(t, at, id, ret, &pressed))
		return false;
	if (!pressed)
		return true;
	u32 from = bytes_u32(ret), to = bytes_u32(ret);
	struct str in = points_text(ret, from);
	if (ret->bad || to > MAX_SECTION)
		return false;
	u8 *raw = xmalloc(to + 1u);
	arena_keep(&t->a, raw);
	*ret = bytes_of(raw, to);
	return rec_unpress(t->press, t->codec, in, raw, to);
}

static bool read_buffer(struct trace *t, struct str option)
{
	struct bytes b = bytes_of(option.s, option.n), data;
	bool pressed, filled = false;
	u64 at = bytes_u64(&b);
	bytes_z(&b); /* the name of the instance */
	struct str clock = str_z(bytes_z(&b));
	u32 page = bytes_u32(&b), n = bytes_u32(&b);
	if (b.bad || page < MIN_PAGE || page > MAX_PAGE ||
	    !section_head(t, at, OPTION_BUFFER, &data, &pressed))
		return false;
	for (; n && !b.bad; n--) {
		struct cpu c = {.number = bytes_u32(&b), .page = page};
		u64 from = bytes_u64(&b), bytes = bytes_u64(&b);
		filled |= bytes != 0;
		if (b.bad || !add_cpu(t, c, from, bytes, pressed))
			return false;
	}
	if (filled)
		note_clock(t, clock);
	return !b.bad;
}

static bool read_option(struct trace *t, u32 id, struct str data)
{
	struct bytes at = bytes_of(data.s, data.n), in;
	switch (id) {
	case OPTION_BUFFER: return read_buffer(t, data);
	case OPTION_UNAME: note_uname(t, data); return true;
	case OPTION_EVENTS:
		if (!section(t, bytes_u64(&at), id, &in))
			return false;
		points_read_systems(&t->points, &in);
		return !in.bad;
	case OPTION_COMMS:
		if (!section(t, bytes_u64(&at), id, &in))
			return false;
		read_comms(t, &in);
		return !in.bad;
	default: return true;
	}
}

static struct err *read_sections(struct trace *t)
{
	u64 at = bytes_u64(&t->b);
	if (!at)
		return damaged(t, "the header");
	for (u32 n = 0; at; n++) {
		struct bytes b;
		u16 id = OPTION_DONE;
		if (n == MAX_SECTIONS || !section(t, at, OPTION_DONE, &b))
			return damaged(t, "a section of options");
		do {
			id = bytes_u16(&b);
			struct str data = points_text(&b, bytes_u32(&b));
			if (b.bad || (id == OPTION_DONE && data.n != 8) ||
			    !read_option(t, id, data))
				return damaged(t, "an option, or the section of an option,");
			if (id == OPTION_DONE)
				memcpy(&at, data.s, 8);
		} while (id != OPTION_DONE);
	}
	return NULL;
}

static struct err *take_codec(struct trace *t)
{
	struct str name = str_z(bytes_z(&t->b));
	bytes_z(&t->b); /* its version */
	if (t->b.bad || !name.n || str_is(name, "none"))
		return NULL;
	for (u32 codec = CODEC_ZLIB; rec_codec_name(codec); codec++)
		if (str_is(name, rec_codec_name(codec)))
			t->codec = codec;
	if (!t->codec)
		return err_new("trace.dat: compression by '%.*s' is not known",
			       (int)MIN(name.n, 16u), name.s);
	if (!rec_has_codec(t->codec))
		return err_new("trace.dat: this build cannot read zstd; use one with libzstd");
	t->press = rec_press_new(t->codec);
	return NULL;
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
	bool sections = str_is(version, "7");
	if (!sections && !str_is(version, "6"))
		return err_new("trace.dat of version %.*s is not read; trace-cmd convert "
			       "--file-version 7 -i FILE -o FILE makes one that is",
			       (int)MIN(version.n, 16u), version.s);
	if (big || word != 8 || t->page < MIN_PAGE || t->page > MAX_PAGE)
		return err_new(
			"trace.dat: only files of little-endian machines of 64 bits are read");
	struct err *e = sections ? take_codec(t) : NULL;
	return e ? e : sections ? read_sections(t) : read_parts(t);
}

static struct err *tracedat_read(const u8 *p, size_t n, struct import_out *o,
				 struct import_sum *sum)
{
	struct trace t = {.b = bytes_of(p, n), .sum = sum};
	t.points.a = &t.a;
	struct err *e = read_head(&t);
	if (!e)
		e = read_rows(&t, o);
	if (!e)
		import_losses(o, sum);
	for (u32 i = 0; i < t.cpu.n; i++)
		free(t.cpu.v[i].raw);
	vec_free(&t.cpu);
	rec_press_free(t.press);
	tab_free(&t.comms);
	arena_free(&t.a);
	return e;
}

const struct importer import_tracedat = {"trace.dat", false, tracedat_fits, tracedat_read};
