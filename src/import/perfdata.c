/*
 * perfdata.c - perf.data of perf record: tracepoints and samples, with their stacks; as a file, or as a stream (pipe
 * mode), compressed or not (tools/perf/Documentation/perf.data-file-format.txt and perf_event_open(2)).
 *
 * A file is a header, the events' attributes, records, and sections of features. A stream has records for all of it.
 * Records of several CPUs follow each other in rounds: what is older than the end of the round before is complete, and
 * is sorted by time.
 */
#include "base/tab.h"
#include "base/vec.h"
#include "import/import.h"
#include "import/perftasks.h"
#include "import/points.h"
#include "rec/pack.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <time.h>

#define MAGIC         "PERFILE2"
#define MAGIC_FOREIGN "2ELIFREP"
#define MAGIC_OLD     "PERFFILE"

/* Of Linux 5.12, 5.14 and 6.0. */
enum {
	MISC_BUILD_ID = 1 << 14,      /* of a mapping: it has a build id, not an inode */
	MISC_BUILD_ID_SIZE = 1 << 15, /* of a build id: its size follows */
	FORMAT_LOST = 1 << 4,
};
/* Records that perf itself writes. */
enum {
	RECORD_USER = 64, /* the first of them */
	RECORD_ATTR = 64,
	RECORD_TRACING = 66,
	RECORD_BUILD_ID = 67,
	RECORD_ROUND = 68,
	RECORD_AUXTRACE = 71,
	RECORD_FEATURE = 80,
	RECORD_PRESSED = 81,
	RECORD_PRESSED_SIZED = 83,
};
enum {
	FEATURE_TRACING = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_RELEASE = 4,
	FEATURE_MACHINE = 6,
	FEATURE_CPUS = 7,
	FEATURE_EVENTS = 12,
	FEATURE_CLOCK = 29,
	FEATURES = 256,
};
enum {
	HEADER_BYTES = 104,
	STREAM_HEADER_BYTES = 16,
	ATTR_BYTES = 64, /* of the first version */
	MAX_ATTRS = 4096,
	MAX_PIECE = 64 << 20,    /* decompressed bytes of a record */
	MAX_WAITING = 256 << 20, /* bytes of records until a round ends */
	BUILD_ID_MAX = 20,
};
#define FIRST_CONTEXT ((u64)PERF_CONTEXT_MAX) /* addresses from here on say what follows */

struct attr {
	struct perf_event_attr a;
	struct str name;
	struct point *point; /* of a tracepoint */
	u32 schema, ncolumn;
	bool stacks, silent; /* silent: no event of it can be shown */
};
struct waiting {
	u64 ts, number;
	size_t at; /* in .store */
};
struct perf {
	struct bytes b;
	struct import_out *o;
	struct import_sum *sum;
	struct arena a;
	struct points points;
	struct perf_tasks tasks;
	VEC(struct attr) attr;
	struct tab ids; /* of an event -> its attr's number plus 1 */
	struct sb store;
	VEC(struct waiting) queue;
	u64 number, newest, complete; /* complete: times up to here, when the next round ends */
	struct rec_press *press;
	struct sb plain; /* decompressed, of which a record is not whole yet */
	u32 ncpu;
	u64 missing;
	u64 at; /* where the head of the record that is being read ends */
	struct str hostname, release, machine;
	struct rec_clock clock; /* .real 0: not known */
	bool begun, ends_early;
};
/* A sample, as far as it is asked for. */
struct sample {
	u64 ip, ts, id;
	u32 pid, tid, cpu;
	const u8 *chain; /* of nchain words; NULL: none was recorded */
	u64 nchain;
	const u8 *raw;
	u32 nraw;
};

static struct err *damaged(const char *what, u64 at)
{
	return err_new("perf.data: %s is damaged, or ends early (before byte %llu)", what, at);
}

static bool perf_fits(const u8 *p, size_t n)
{
	return n >= 8 &&
	       (!memcmp(p, MAGIC, 8) || !memcmp(p, MAGIC_FOREIGN, 8) || !memcmp(p, MAGIC_OLD, 8));
}

/* ---- events ---- */

/* Attributes of versions of perf before or after this one are shorter or longer. */
static struct attr *add_attr(struct perf *p, struct bytes b, size_t n)
{
	struct attr at = {0};
	const u8 *from = bytes_take(&b, n);
	if (!from || n < ATTR_BYTES || p->attr.n == MAX_ATTRS)
		return NULL;
	memcpy(&at.a, from, MIN(n, sizeof(at.a)));
	vec_add(&p->attr, at);
	return &p->attr.v[p->attr.n - 1];
}

static void add_ids(struct perf *p, struct bytes b, u64 n)
{
	for (; n; n--) {
		const u8 *id = bytes_take(&b, 8);
		u32 *number = id ? arena_new(&p->a, u32) : NULL;
		if (!id)
			return;
		*number = p->attr.n;
		tab_set(&p->ids, str_n((const char *)id, 8), number);
	}
}

static struct attr *attr_of(struct perf *p, u64 id)
{
	const u32 *number = tab_get(&p->ids, str_n((const char *)&id, 8));
	return number ? &p->attr.v[*number - 1] : p->attr.n == 1 ? &p->attr.v[0] : NULL;
}

static bool is_clock(const struct perf_event_attr *a)
{
	return (a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_CPU_CLOCK) ||
	       (a->type == PERF_TYPE_HARDWARE &&
		(a->config & UINT32_MAX) == PERF_COUNT_HW_CPU_CYCLES);
}

static const char *event_of(const struct perf_event_attr *a)
{
	static const char *const software[] = {
		"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",        "bpf-output"};
	static const char *const hardware[] = {
		"cpu-cycles",          "instructions",  "cache-references", "cache-misses",
		"branch-instructions", "branch-misses", "bus-cycles",       "frontend-stalls",
		"backend-stalls",      "ref-cycles"};
	u64 config = a->type == PERF_TYPE_HARDWARE ? a->config & UINT32_MAX : a->config;
	if (a->type == PERF_TYPE_SOFTWARE && config < countof(software))
		return software[config];
	if (a->type == PERF_TYPE_HARDWARE && config < countof(hardware))
		return hardware[config];
	return NULL;
}

static bool has_probe(const struct perf *p, struct str probe)
{
	for (u32 i = 0; i < p->attr.n; i++)
		if (p->attr.v[i].schema && str_eq(p->attr.v[i].name, probe))
			return true;
	return false;
}

/* The probe that records such events. What samples by time is profile, once; names of others are perf's. */
static struct str probe_of(struct perf *p, const struct attr *at, struct str *type)
{
	const struct perf_event_attr *a = &at->a;
	const char *name = event_of(a);
	*type = STR("profile");
	if (a->freq && is_clock(a)) {
		struct str probe = str_z(arena_fmt(&p->a, "profile:hz:%llu", a->sample_freq));
		if (!has_probe(p, probe))
			return probe;
	}
	*type = a->type == PERF_TYPE_SOFTWARE ? STR("software") : STR("hardware");
	if (name)
		return str_z(arena_fmt(&p->a, "%.*s:%s:%llu", STRF(*type), name, a->sample_period));
	if (at->name.n)
		return str_z(arena_fmt(&p->a, "hardware:\"%.*s\":%llu", STRF(at->name),
				       a->sample_period));
	return str_z(arena_fmt(&p->a, "hardware:r%llx:%llu", a->config, a->sample_period));
}

static void add_schema(struct perf *p, struct attr *at)
{
	static const struct rec_column stack[] = {
		{.expr = STR("kstack"),
		 .ctype = STR("kstack"),
		 .kind = REC_STACK,
		 .coding = REC_STACKID,
		 .size = 8},
		{.expr = STR("ustack"),
		 .ctype = STR("ustack"),
		 .kind = REC_STACK,
		 .coding = REC_STACKID,
		 .size = 8},
	};
	struct rec_column column[REC_MAX_COLUMNS];
	struct str type = STR("tracepoint");
	bool tracepoint = at->a.type == PERF_TYPE_TRACEPOINT;
	at->point = tracepoint ? point_of(&p->points, at->a.config) : NULL;
	at->silent = tracepoint && !at->point;
	at->silent |= at->a.type == PERF_TYPE_SOFTWARE && at->a.config == PERF_COUNT_SW_DUMMY;
	if (at->silent)
		return;
	at->stacks = !tracepoint || at->a.sample_type & PERF_SAMPLE_CALLCHAIN;
	at->ncolumn = 0;
	if (tracepoint) {
		at->ncolumn = at->point->ncolumn;
		memcpy(column, at->point->column, at->ncolumn * sizeof(*column));
	}
	for (u32 i = 0; i < countof(stack) && at->stacks; i++)
		column[at->ncolumn++] = stack[i];
	at->name = tracepoint ? at->point->probe : probe_of(p, at, &type);
	at->schema = rec_schema(p->o->w, &(struct rec_schema){.type = type,
							      .probe = at->name,
							      .act = STR("keep"),
							      .column = column,
							      .ncolumn = at->ncolumn});
}

/* ---- facts about the file ---- */

/* u32 size, text with NULs behind it */
static struct str feature_text(struct bytes *b)
{
	struct str s = points_text(b, bytes_u32(b));
	return str_n(s.s, strnlen(s.s, s.n));
}

/* Files with their build ids: records of their own, which are records of a stream, too. */
static void read_build_id(struct perf *p, struct bytes b, u16 misc)
{
	AUTO_SB hex = {0};
	bytes_take(&b, 4); /* pid */
	const u8 *id = bytes_take(&b, BUILD_ID_MAX);
	u32 n = bytes_u32(&b) & 0xff; /* of older versions: no size, but zeros */
	struct str path = points_text(&b, b.n - b.at);
	if (b.bad || !id)
		return;
	n = misc & MISC_BUILD_ID_SIZE && n <= BUILD_ID_MAX ? n : BUILD_ID_MAX;
	for (u32 i = 0; i < n; i++)
		sb_fmt(&hex, "%02x", id[i]);
	perf_build_id(&p->tasks, str_n(path.s, strnlen(path.s, path.n)), sb_str(&hex));
}

static void read_build_ids(struct perf *p, struct bytes *b)
{
	while (b->n - b->at >= 8) {
		bytes_u32(b);
		u16 misc = bytes_u16(b), size = bytes_u16(b);
		const u8 *body = size >= 8 ? bytes_take(b, size - 8u) : NULL;
		if (!body)
			return;
		read_build_id(p, bytes_of(body, size - 8u), misc);
	}
}

/* u32 events, u32 bytes of an attribute, then of each: the attribute, u32 ids, the name, the ids */
static void read_names(struct perf *p, struct bytes *b)
{
	u32 n = bytes_u32(b), size = bytes_u32(b);
	for (u32 i = 0; i < n && i < p->attr.n; i++) {
		bytes_take(b, size);
		u32 nid = bytes_u32(b);
		struct str name = feature_text(b);
		bytes_take(b, 8ull * nid);
		if (b->bad)
			return;
		p->attr.v[i].name = name;
	}
}

/* Formats of tracepoints. */
static bool read_tracing(struct perf *p, struct bytes b)
{
	static const char magic[] = "\x17\x08\x44tracing";
	const u8 *head = bytes_take(&b, sizeof(magic) - 1);
	if (!head || memcmp(head, magic, sizeof(magic) - 1))
		return false;
	bytes_z(&b); /* the version: what differs comes behind the formats */
	u8 big = bytes_u8(&b), word = bytes_u8(&b);
	bytes_u32(&b); /* size of a page */
	if (big || word != 8)
		return false;
	for (u32 i = 0; i < 2; i++) {
		bytes_z(&b);
		points_text(&b, bytes_u64(&b));
	}
	points_read(&p->points, &b);
	return !b.bad;
}

static struct err *read_feature(struct perf *p, u32 id, struct bytes b)
{
	switch (id) {
	case FEATURE_TRACING:
		return read_tracing(p, b)
			       ? NULL
			       : damaged("what describes tracepoints", (u64)(b.p - p->b.p));
	case FEATURE_BUILD_ID: read_build_ids(p, &b); return NULL;
	case FEATURE_HOSTNAME: p->hostname = feature_text(&b); return NULL;
	case FEATURE_RELEASE: p->release = feature_text(&b); return NULL;
	case FEATURE_MACHINE: p->machine = feature_text(&b); return NULL;
	case FEATURE_CPUS: p->ncpu = MIN(bytes_u32(&b), (u32)REC_MAX_CPU); return NULL;
	case FEATURE_EVENTS: read_names(p, &b); return NULL;
	case FEATURE_CLOCK:
		bytes_u32(&b);
		if (bytes_u32(&b) == CLOCK_MONOTONIC) {
			p->clock.real = bytes_u64(&b);
			p->clock.mono = bytes_u64(&b);
		}
		return NULL;
	default: return NULL;
	}
}

static void put_facts(struct perf *p)
{
	struct rec_writer *w = p->o->w;
	const struct perf_event_attr *a = p->attr.n ? &p->attr.v[0].a : NULL;
	rec_meta(w, STR("imported"), STR("perf.data"));
	if (p->hostname.n)
		rec_meta(w, STR("hostname"), p->hostname);
	if (p->release.n)
		rec_meta(w, STR("release"), p->release);
	if (p->machine.n)
		rec_meta(w, STR("machine"), p->machine);
	if (p->clock.real)
		rec_clock(w, &p->clock);
	for (u32 i = 0; i < p->attr.n; i++)
		add_schema(p, &p->attr.v[i]);
	if (!a || !a->use_clockid || a->clockid != CLOCK_MONOTONIC)
		rec_loss(w, &(struct rec_loss){.kind = STR("uncounted"),
					       .who = STR("clock"),
					       .text = STR("times are of perf's own clock, not of "
							   "the monotonic clock")});
}

static struct err *begin(struct perf *p, u64 ts)
{
	if (p->begun)
		return NULL;
	struct err *e = import_begin(p->o, ts, p->ncpu);
	p->begun = !e;
	p->tasks.w = p->o->w;
	if (!e)
		put_facts(p);
	return e;
}
/* ---- samples ---- */

/* What was read of counters: one, or those of a group. */
static void skip_read(struct bytes *b, u64 format)
{
	u64 times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 8 : 0) +
		    (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 8 : 0);
	u64 each = 8 + (format & PERF_FORMAT_ID ? 8 : 0) + (format & FORMAT_LOST ? 8 : 0);
	u64 n = format & PERF_FORMAT_GROUP ? bytes_u64(b) : 1;
	if (n > b->n / 8)
		b->bad = true;
	else
		bytes_take(b, times + n * each);
}

/* What precedes the id is the same for all events of a file. */
static const struct attr *attr_of_sample(struct perf *p, struct bytes b)
{
	u64 type = p->attr.n ? p->attr.v[0].a.sample_type : 0, id = 0;
	static const u64 before[] = {PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
				     PERF_SAMPLE_ADDR};
	if (type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) {
		for (u32 i = 0; i < countof(before) && !(type & PERF_SAMPLE_IDENTIFIER); i++)
			if (type & before[i])
				bytes_u64(&b);
		id = bytes_u64(&b);
	}
	return p->attr.n && !b.bad ? attr_of(p, id) : NULL;
}

static bool read_sample(const struct attr *at, struct bytes b, struct sample *s)
{
	u64 type = at->a.sample_type;
	if (type & PERF_SAMPLE_IDENTIFIER)
		s->id = bytes_u64(&b);
	if (type & PERF_SAMPLE_IP)
		s->ip = bytes_u64(&b);
	if (type & PERF_SAMPLE_TID) {
		s->pid = bytes_u32(&b);
		s->tid = bytes_u32(&b);
	}
	if (type & PERF_SAMPLE_TIME)
		s->ts = bytes_u64(&b);
	if (type & PERF_SAMPLE_ADDR)
		bytes_u64(&b);
	if (type & PERF_SAMPLE_ID)
		s->id = bytes_u64(&b);
	if (type & PERF_SAMPLE_STREAM_ID)
		bytes_u64(&b);
	if (type & PERF_SAMPLE_CPU)
		s->cpu = (u32)bytes_u64(&b);
	if (type & PERF_SAMPLE_PERIOD)
		bytes_u64(&b);
	if (type & PERF_SAMPLE_READ)
		skip_read(&b, at->a.read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		s->nchain = bytes_u64(&b);
		s->chain = s->nchain <= b.n / 8 ? bytes_take(&b, 8 * s->nchain) : NULL;
		b.bad |= !s->chain;
	}
	if (type & PERF_SAMPLE_RAW) {
		s->nraw = bytes_u32(&b);
		s->raw = bytes_take(&b, s->nraw);
	}
	return !b.bad && s->cpu < REC_MAX_CPU;
}

/* The addresses of one mode; words in between say of which mode the next ones are. */
static u32 stack_of(struct perf *p, const struct sample *s, bool kernel, bool in_kernel)
{
	const u8 *from = NULL;
	u32 n = 0;
	if (!s->chain) /* a stack of the innermost function alone */
		return perf_stack(&p->tasks, s->pid, (const u8 *)&s->ip,
				  s->ip && kernel == in_kernel, kernel, true);
	for (u64 i = 0; i < s->nchain; i++) {
		u64 addr;
		memcpy(&addr, s->chain + 8 * i, 8);
		if (addr >= FIRST_CONTEXT) {
			in_kernel = addr == (u64)PERF_CONTEXT_KERNEL;
			if (n)
				break;
			continue;
		}
		if (kernel != in_kernel)
			continue;
		from = n++ ? from : s->chain + 8 * i;
	}
	return perf_stack(&p->tasks, s->pid, from, n, kernel, false);
}

static struct err *put_sample(struct perf *p, struct bytes b, u16 misc)
{
	struct rec_cell cell[REC_MAX_COLUMNS];
	struct sample s = {0};
	struct attr *at = (struct attr *)attr_of_sample(p, b);
	bool good = at && read_sample(at, b, &s);
	struct err *e = begin(p, s.ts);
	if (e)
		return e;
	if (good && !at->schema && !at->silent)
		add_schema(p, at);
	if (good && at->point)
		good = point_cells(at->point, s.raw, s.nraw, cell);
	if (good && at->silent && at->a.type == PERF_TYPE_SOFTWARE)
		return NULL;
	if (!good || at->silent) {
		p->sum->skipped++;
		return NULL;
	}
	if (at->stacks) {
		bool in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
		for (u32 i = 0; i < 2; i++)
			cell[at->ncolumn - 2 + i] =
				(struct rec_cell){.u = stack_of(p, &s, i == 0, in_kernel)};
	}
	rec_row(p->o->w, &(struct rec_event){.schema = at->schema,
					     .cpu = s.cpu,
					     .task = perf_task(&p->tasks, s.pid, s.tid),
					     .missing = (u32)MIN(p->missing, (u64)UINT32_MAX / 2),
					     .ts = s.ts,
					     .cell = cell});
	p->missing = 0;
	p->sum->rows++;
	return rec_full(p->o->w) ? rec_tick(p->o->w, s.ts) : NULL;
}

/* ---- other records ---- */

static struct str text_of(struct bytes *b)
{
	struct str s = points_text(b, b->n - b->at);
	return str_n(s.s, strnlen(s.s, s.n));
}

static void take_map(struct perf *p, struct bytes b, u32 type, u16 misc)
{
	AUTO_SB hex = {0};
	u32 pid = bytes_u32(&b);
	bytes_u32(&b); /* thread */
	struct perf_map m = {
		.start = bytes_u64(&b), .size = bytes_u64(&b), .offset = bytes_u64(&b)};
	if (type == PERF_RECORD_MMAP2) {
		u8 n = bytes_u8(&b);
		bytes_take(&b, 3);
		const u8 *id = bytes_take(&b, 20);
		for (u32 i = 0; id && misc & MISC_BUILD_ID && i < MIN(n, (u8)BUILD_ID_MAX); i++)
			sb_fmt(&hex, "%02x", id[i]);
		bytes_take(&b, 8); /* protection, flags */
	}
	m.path = text_of(&b);
	m.build_id = sb_str(&hex);
	if (b.bad)
		return;
	if ((misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL) {
		perf_map(&p->tasks, pid, &m);
		return;
	}
	/* "[kernel.kallsyms]_text" is where the kernel's first function was. */
	const struct import_kernel *k = p->o->kernel;
	if (k && str_starts(m.path, STR("[kernel.kallsyms]")) && m.offset == k->text)
		p->tasks.kernel = k;
}

static void take_name(struct perf *p, struct bytes b)
{
	u64 addr = bytes_u64(&b);
	u32 size = bytes_u32(&b);
	bytes_u16(&b); /* type */
	u16 flags = bytes_u16(&b);
	struct str name = text_of(&b);
	if (!b.bad && !(flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER))
		perf_name(&p->tasks, addr, size, name);
}

static void take_lost(struct perf *p, struct bytes b, u32 type)
{
	if (type == PERF_RECORD_LOST)
		bytes_u64(&b); /* the event, which nobody trusts */
	u64 n = bytes_u64(&b);
	p->missing += n;
	p->sum->lost += n;
}

static struct err *put_record(struct perf *p, u32 type, u16 misc, struct bytes b)
{
	u32 v[4];
	switch (type) {
	case PERF_RECORD_SAMPLE: return put_sample(p, b, misc);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: take_map(p, b, type, misc); return NULL;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: take_lost(p, b, type); return NULL;
	case PERF_RECORD_KSYMBOL: take_name(p, b); return NULL;
	case PERF_RECORD_COMM:
		v[0] = bytes_u32(&b);
		v[1] = bytes_u32(&b);
		perf_comm(&p->tasks, v[0], v[1], text_of(&b), misc & PERF_RECORD_MISC_COMM_EXEC);
		return NULL;
	case PERF_RECORD_FORK:
		for (u32 i = 0; i < 4; i++) /* process, its parent, thread, its parent */
			v[i] = bytes_u32(&b);
		if (!b.bad)
			perf_fork(&p->tasks, v[0], v[2], v[1], v[3]);
		return NULL;
	default: return NULL;
	}
}

/* ---- order ---- */

/* When it happened; 0 if it does not say. All records have the same fields at their ends. */
static u64 time_of(struct perf *p, u32 type, struct bytes b)
{
	const struct attr *at = type == PERF_RECORD_SAMPLE ? attr_of_sample(p, b)
				: p->attr.n                ? &p->attr.v[0]
							   : NULL;
	struct sample s = {0};
	if (!at)
		return 0;
	if (type == PERF_RECORD_SAMPLE)
		return read_sample(at, b, &s) ? s.ts : 0;
	u64 fields = at->a.sample_type;
	static const u64 behind[] = {PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
				     PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
	u32 n = 0;
	for (u32 i = 0; i < countof(behind); i++)
		n += fields & behind[i] ? 8 : 0;
	if (!at->a.sample_id_all || !(fields & PERF_SAMPLE_TIME) || b.n < n)
		return 0;
	bytes_seek(&b, b.n - n);
	u64 ts = bytes_u64(&b);
	return ts == ~0ull ? 0 : ts;
}

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;
	return x->ts != y->ts ? (x->ts > y->ts) - (x->ts < y->ts)
			      : (x->number > y->number) - (x->number < y->number);
}

static struct err *put_stored(struct perf *p, const struct waiting *w)
{
	struct bytes b = bytes_of(p->store.s + w->at, p->store.n - w->at);
	u32 type = bytes_u32(&b);
	u16 misc = bytes_u16(&b), size = bytes_u16(&b);
	return put_record(p, type, misc, bytes_of(b.p + 8, size - 8u));
}

/* What happened up to a time, in order. */
static struct err *flush(struct perf *p, u64 until)
{
	struct err *e = NULL;
	struct sb rest = {0};
	u32 i = 0, n = 0;
	if (p->queue.n)
		qsort(p->queue.v, p->queue.n, sizeof(*p->queue.v), by_time);
	for (; i < p->queue.n && p->queue.v[i].ts <= until && !e; i++)
		e = put_stored(p, &p->queue.v[i]);
	for (; i < p->queue.n && !e; i++) {
		struct waiting w = p->queue.v[i];
		u16 size;
		memcpy(&size, p->store.s + w.at + 6, 2);
		size_t at = rest.n;
		sb_mem(&rest, p->store.s + w.at, size);
		w.at = at;
		p->queue.v[n++] = w;
	}
	p->queue.n = n;
	sb_free(&p->store);
	p->store = rest;
	return e;
}

static struct err *wait(struct perf *p, const u8 *record, u16 size, u64 ts)
{
	struct waiting w = {.ts = ts, .number = p->number++, .at = p->store.n};
	sb_mem(&p->store, record, size);
	vec_add(&p->queue, w);
	p->newest = MAX(p->newest, ts);
	return p->store.n > MAX_WAITING ? flush(p, ~0ull) : NULL;
}

/* ---- records ---- */

static struct err *take_attr(struct perf *p, struct bytes b)
{
	struct bytes size = b;
	bytes_take(&size, 4);
	u32 n = bytes_u32(&size);
	if (!add_attr(p, b, n ? n : ATTR_BYTES))
		return damaged("an event's attributes", p->at);
	bytes_take(&b, n ? n : ATTR_BYTES);
	add_ids(p, b, (b.n - b.at) / 8);
	return NULL;
}

static struct err *read_records(struct perf *p, struct bytes *b, bool inner);

static struct err *unpress(struct perf *p, struct bytes b, bool sized)
{
	u64 n = sized ? bytes_u64(&b) : b.n;
	struct str in = points_text(&b, MIN(n, b.n - b.at));
	if (!rec_has_codec(CODEC_ZSTD))
		return err_new("perf.data: this build cannot read zstd; use one with libzstd");
	if (!p->press)
		p->press = rec_press_new(CODEC_ZSTD);
	if (!rec_unpress_next(p->press, in, MAX_PIECE, &p->plain))
		return damaged("a compressed record", p->at);
	struct bytes plain = bytes_of(p->plain.s, p->plain.n);
	struct err *e = read_records(p, &plain, true);
	size_t left = plain.n - plain.at;
	if (left)
		memmove(p->plain.s, p->plain.s + plain.at, left);
	p->plain.n = left;
	return e;
}

/* A record of perf itself. rest: what follows it, and may belong to it. */
static struct err *take_own(struct perf *p, u32 type, u16 misc, struct bytes b, struct bytes *rest)
{
	u64 n;
	struct bytes data;
	struct err *e;
	switch (type) {
	case RECORD_ATTR: return take_attr(p, b);
	case RECORD_TRACING:
		n = bytes_u32(&b);
		data = bytes_of(rest->p + rest->at, rest->n - rest->at);
		bytes_take(rest, n);
		return rest->bad ? NULL : read_feature(p, FEATURE_TRACING, data);
	case RECORD_AUXTRACE: bytes_take(rest, bytes_u64(&b)); return NULL;
	case RECORD_BUILD_ID: read_build_id(p, b, misc); return NULL;
	case RECORD_FEATURE:
		n = bytes_u64(&b);
		return b.bad || n == FEATURE_TRACING
			       ? NULL
			       : read_feature(p, (u32)MIN(n, (u64)FEATURES),
					      bytes_of(b.p + b.at, b.n - b.at));
	case RECORD_ROUND:
		e = flush(p, p->complete);
		p->complete = p->newest;
		return e;
	default: return NULL;
	}
}

/* Whole records; *b is left where one begins that is not whole. */
static struct err *read_records(struct perf *p, struct bytes *b, bool inner)
{
	struct err *e = NULL;
	while (!e && b->n - b->at >= 8) {
		struct bytes head = *b;
		u32 type = bytes_u32(&head);
		u16 misc = bytes_u16(&head), size = bytes_u16(&head);
		p->at = inner ? p->at : b->at + 8;
		if (size < 8)
			return damaged("a record", p->at);
		if (size > b->n - b->at)
			return NULL;
		const u8 *record = bytes_take(b, size);
		struct bytes body = bytes_of(record + 8, size - 8u);
		bool pressed = type == RECORD_PRESSED || type == RECORD_PRESSED_SIZED;
		if (pressed && !inner)
			e = unpress(p, body, type == RECORD_PRESSED_SIZED);
		else if (type >= RECORD_USER)
			e = take_own(p, type, misc, body, b);
		else
			e = wait(p, record, size, time_of(p, type, body));
		if (b->bad)
			return NULL;
	}
	return e;
}

/* ---- the file ---- */

static bool section(struct perf *p, struct bytes *b, struct bytes *ret)
{
	u64 at = bytes_u64(b), n = bytes_u64(b);
	if (b->bad || at > p->b.n || n > p->b.n - at)
		return false;
	*ret = bytes_of(p->b.p + at, n);
	return true;
}

/* Attributes, each with where its ids are. */
static bool read_attrs(struct perf *p, struct bytes attrs, u64 each)
{
	if (each < ATTR_BYTES + 16)
		return false;
	while (attrs.n - attrs.at >= each) {
		struct bytes ids, where = bytes_of(attrs.p + attrs.at + each - 16, 16);
		bytes_take(&attrs, each);
		if (!section(p, &where, &ids) ||
		    !add_attr(p, bytes_of(where.p + 16 - each, each - 16), each - 16))
			return false;
		add_ids(p, ids, ids.n / 8);
	}
	return p->attr.n > 0;
}

/* Sections of the features whose bits are set, behind the events. */
static struct err *read_features(struct perf *p, u64 at, const u8 *bits)
{
	struct bytes table = p->b;
	struct err *e = NULL;
	table.bad = at > table.n;
	bytes_seek(&table, table.bad ? table.n : at);
	for (u32 i = 0; i < FEATURES && !e; i++) {
		struct bytes data;
		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		if (!section(p, &table, &data)) {
			p->ends_early = true;
			return NULL;
		}
		e = read_feature(p, i, data);
	}
	return e;
}

static struct err *read_file(struct perf *p)
{
	struct bytes *b = &p->b, attrs;
	u64 each = bytes_u64(b);
	bool good = section(p, b, &attrs);
	u64 at = bytes_u64(b), n = bytes_u64(b);
	bytes_take(b, 16); /* types of events, of old versions */
	const u8 *bits = bytes_take(b, FEATURES / 8);
	if (!bits)
		return damaged("the header", b->n);
	if (!good || !read_attrs(p, attrs, each))
		return damaged("the table of events", b->at);
	if (at > b->n)
		return damaged("the header", b->at);
	/* perf writes the length at last. */
	p->ends_early = !n || n > b->n - at;
	struct err *e = p->ends_early ? NULL : read_features(p, at + n, bits);
	if (e)
		return e;
	n = p->ends_early ? b->n - at : n;
	for (u32 i = 0; i < p->attr.n; i++)
		if (p->attr.v[i].a.type == PERF_TYPE_TRACEPOINT && !p->points.n)
			return err_new("perf.data: it ends early, before the formats of its "
				       "tracepoints: perf "
				       "record was killed, or the file is not whole");
	bytes_seek(b, at);
	struct bytes data = bytes_of(b->p, at + n);
	data.at = at;
	e = read_records(p, &data, false);
	p->ends_early |= data.at != data.n;
	return e;
}

static struct err *read_stream(struct perf *p)
{
	struct err *e = read_records(p, &p->b, false);
	p->ends_early = p->b.bad || p->b.at != p->b.n;
	return e;
}

static struct err *read_all(struct perf *p)
{
	struct bytes *b = &p->b;
	const u8 *magic = bytes_take(b, 8);
	u64 size = bytes_u64(b);
	if (!memcmp(magic, MAGIC_FOREIGN, 8))
		return err_new("perf.data: only files of little-endian machines are read");
	if (!memcmp(magic, MAGIC_OLD, 8))
		return err_new("perf.data: files of perf before Linux 3.0 are not read");
	if (b->bad || (size != STREAM_HEADER_BYTES && size < HEADER_BYTES))
		return damaged("the header", b->n);
	struct err *e = size == STREAM_HEADER_BYTES ? read_stream(p) : read_file(p);
	if (!e)
		e = flush(p, ~0ull);
	return e ? e : begin(p, 0);
}

static struct err *perf_read(const u8 *bytes, size_t n, struct import_out *o,
			     struct import_sum *sum)
{
	struct perf p = {.b = bytes_of(bytes, n), .o = o, .sum = sum};
	p.points.a = &p.a;
	struct err *e = read_all(&p);
	if (!e && p.ends_early)
		rec_loss(o->w, &(struct rec_loss){.kind = STR("uncounted"),
						  .who = STR("file"),
						  .text = STR("the imported file ends early: perf "
							      "record was killed, or the "
							      "file is not whole")});
	if (!e)
		import_losses(o, sum);
	sum->ends_early = p.ends_early;
	rec_press_free(p.press);
	sb_free(&p.plain);
	sb_free(&p.store);
	vec_free(&p.queue);
	vec_free(&p.attr);
	tab_free(&p.ids);
	perf_tasks_free(&p.tasks);
	arena_free(&p.a);
	return e;
}

const struct importer import_perfdata = {"perf.data", true, perf_fits, perf_read};
