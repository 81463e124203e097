/*
 * record.c - a recording of what keep() was given; other results go to standard output, as text.
 *
 * Rows are made of the bytes of records. A field is decoded only where its text is wanted: names, and
 * stacks that were not seen before.
 */
#include "core/record.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/tab.h"
#include "base/units.h"
#include "base/vec.h"
#include "core/sink.h"
#include "core/unit.h"
#include "rec/pack.h"
#include "rec/ring.h"
#include "rec/write.h"
#include "sink/recparts.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

enum {
	CLOCK_EVERY_S = 10,
	MAX_STACKS = 1 << 16,
	MAX_NESTING = 8,
	NS_PER_S = 1000000000,
	SEGMENTS = 16, /* of --disk, about */
	SEGMENT_SLACK =
		2 << 20, /* what a segment may have more: its last block, and what is reserved */
};

/* Where a column's value is in a record. */
struct origin {
	const struct type *type;
	u32 off, field; /* field: of the record, which it is or is a part of */
};
/* What every row has, by the texts that sema/keep.c gives. */
enum common {
	C_PROBE,
	C_CPU,
	C_TID,
	C_PID,
	C_UID,
	C_GID,
	C_CGROUP,
	C_COMM,
	C_PPID,
	C_START,
	COMMON
};
static const char *const common_text[COMMON] = {
	".probe", ".cpu",    ".tid",  ".pid",  ".uid",
	".gid",   ".cgroup", ".comm", ".ppid", ".curtask.start_time"};

struct plan {
	const struct schema *of;
	i32 common[COMMON];    /* offset; -1: it is not there */
	u32 task_from, task_n; /* bytes that say which task it is */
	VEC(struct rec_column) column;
	VEC(struct origin) source;
	i32 exit_code;  /* column with it, if rows are of threads that end; else -1 */
	VEC(u32) probe; /* pairs: id of a probe, schema of the file */
};
struct last_task {
	u32 id, generation, n;
	u8 bytes[128];
};
struct recorder {
	struct rec_writer *w;
	const struct unit *unit;
	struct signals *signals;
	const struct sink *text;
	void *text_self;
	struct plan *plan; /* by id of the unit's schemas */
	struct arena a, stacks;
	struct tab enums, stack; /* stack: bytes -> id + 1 */
	u32 generation;
	struct last_task *last; /* by CPU */
	u32 nlast, nprobe;
	struct rec_cell cell[REC_MAX_COLUMNS];
	u64 start, clock_due, lost;
	bool quiet, over_budget;
	int err_fd;
	char *path;
	/* of recordings in parts */
	struct sink_bounds bounds;
	struct rec_ring *ring; /* NULL: files */
	struct recparts parts;
	enum rec_codec codec;
	u32 ncpu;
	u64 gone_rows, gone_bytes; /* of segments before this one */
	/* of the snapshot that was asked for; due 0: none was */
	struct sb why;
	u64 due, quiet_until, unheard;
	u32 failed; /* snapshots that could not be written */
};

enum option { OPT_CODEC };
static const struct sink_option options[] = {
	[OPT_CODEC] = {"codec", "NAME", "how blocks are compressed: zstd, zlib or none"},
	{0},
};

/* ---- what columns are there ---- */

static void add_column(struct plan *p, struct rec_column c, const struct origin *s)
{
	vec_add(&p->column, c);
	vec_add(&p->source, *s);
}

static struct str c_type(struct arena *a, const struct type *t)
{
	AUTO_SB b = {0};
	if (type_is_int(t) || t->kind == T_PTR || t->kind == T_ARRAY || type_is_record(t))
		type_show_decl(t, STR(""), &b);
	else
		type_name(t, &b);
	return arena_str(a, str_trim(sb_str(&b)));
}

static u32 enum_of(struct recorder *r, const struct type *t)
{
	AUTO_SB key = {0};
	sb_fmt(&key, "%.*s %p", STRF(t->name), (const void *)t->enums);
	void *got = tab_get(&r->enums, sb_str(&key));
	if (got)
		return (u32)(uintptr_t)got;
	struct rec_enumerator *v = arena_newn(&r->a, struct rec_enumerator, t->nenum + 1);
	for (u32 i = 0; i < t->nenum; i++)
		v[i] = (struct rec_enumerator){(u64)t->enums[i].val, t->enums[i].name};
	u32 id = rec_enum(r->w, &(struct rec_enum){.name = t->name, .v = v, .n = t->nenum});
	tab_add(&r->enums, arena_str(&r->a, sb_str(&key)), (void *)(uintptr_t)id);
	return id;
}

static bool has_bits(const struct field *f, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (f[i].bit_len || f[i].bit_off % 8)
			return true;
	return false;
}

static bool is_list(const struct type *t)
{
	return t->kind == T_ARRAY && t->count && t->count <= REC_MAX_ELEMENTS && t->base &&
	       !t->base->is_char && type_is_int(t->base) && t->base->size <= sizeof(u64);
}

static bool is_signed(const struct type *t)
{
	return t->is_signed || (t->kind == T_ENUM && t->base && t->base->is_signed);
}

/* Numbers of 8 bytes are often addresses of the kernel, or negative. */
static enum rec_coding number_coding(const struct type *t)
{
	return is_signed(t) || t->kind == T_PTR || t->size == sizeof(u64) ? REC_ZIGZAG : REC_VARINT;
}

static enum rec_kind kind_of(const struct type *t)
{
	switch (t->kind) {
	case T_BOOL: return REC_BOOL;
	case T_INT: return REC_INT;
	case T_ENUM: return REC_ENUM;
	case T_PTR: return REC_POINTER;
	case T_STRING: return REC_STRING;
	case T_KSTACK:
	case T_USTACK: return REC_STACK;
	case T_KSYM:
	case T_USYM:
	case T_INET:
	case T_TIMESTAMP:
	case T_MAC:
	case T_CGROUP_PATH:
	case T_USERNAME:
	case T_PROBE: return REC_NAMED;
	default: break;
	}
	if (t->kind == T_ARRAY && t->base && t->base->is_char)
		return REC_STRING;
	return is_list(t) ? REC_ARRAY : REC_BYTES;
}

static enum rec_coding coding_of(enum rec_kind kind, const struct type *t)
{
	switch (kind) {
	case REC_STRING: return REC_TEXT;
	case REC_BYTES: return REC_BLOB;
	case REC_ARRAY: return REC_LIST;
	case REC_STACK: return REC_STACKID;
	case REC_NAMED: return REC_PAIR;
	case REC_INT:
	case REC_BOOL:
	case REC_POINTER:
	case REC_ENUM:
	case REC_FLOAT: break;
	}
	return number_coding(t);
}

static void add_value(struct recorder *r, struct plan *p, struct str name, const struct origin *s)
{
	const struct type *t = s->type;
	AUTO_SB printer = {0};
	struct rec_column c = {.expr = name, .kind = kind_of(t), .size = t->size};
	c.ctype = c_type(&r->a, t);
	c.coding = coding_of(c.kind, t);
	c.sign = is_signed(t);
	if (c.kind == REC_NAMED)
		type_name(t, &printer);
	c.printer = arena_str(&r->a, sb_str(&printer));
	if (c.kind == REC_ENUM)
		c.enum_id = enum_of(r, t);
	if (c.kind == REC_ARRAY) {
		c.count = t->count;
		c.element = number_coding(t->base);
		c.sign = is_signed(t->base);
	}
	add_column(p, c, s);
}

/* Members of structs are columns of their own, as far as there is room. */
static void add_field(struct recorder *r, struct plan *p, struct str name, const struct origin *s,
		      u32 depth)
{
	const struct type *t = s->type;
	u32 n = 0;
	bool list = type_is_record(t) || t->kind == T_RECORD || t->kind == T_TUPLE;
	const struct field *f = list && t->kind != T_UNION ? type_fields(t, &n) : NULL;
	if (!n || depth == MAX_NESTING || has_bits(f, n) ||
	    p->column.n + n > REC_MAX_COLUMNS - RECORD_MAX_FIELDS / 2) {
		if (p->column.n < REC_MAX_COLUMNS)
			add_value(r, p, name, s);
		return;
	}
	for (u32 i = 0; i < n; i++) {
		struct origin part = {f[i].type, s->off + f[i].bit_off / 8, s->field};
		AUTO_SB sub = {0};
		sb_add(&sub, name);
		if (t->kind == T_TUPLE)
			sb_fmt(&sub, ".%u", i);
		else if (f[i].name.n)
			sb_fmt(&sub, ".%.*s", STRF(f[i].name));
		add_field(r, p, arena_str(&r->a, sb_str(&sub)), &part, depth + 1);
	}
}

static bool add_common(struct plan *p, struct str text, const struct field *f)
{
	for (u32 i = 0; i < COMMON; i++) {
		if (!str_is(text, common_text[i]))
			continue;
		u32 at = f->bit_off / 8;
		p->common[i] = (i32)at;
		if (i >= C_TID) {
			p->task_from = i == C_TID ? at : p->task_from;
			p->task_n = at + f->type->size - p->task_from;
		}
		return true;
	}
	return false;
}

static void add_schema(struct recorder *r, struct plan *p, const struct point *at)
{
	struct rec_schema s = {.probe = at->text, .act = p->of->kept_by};
	if (p->of->kept_apart)
		s.probe = str_z(arena_fmt(&r->a, "%.*s:%.*s", STRF(s.act), STRF(at->text)));
	struct str rest = s.probe;
	str_cut(&rest, ':', &s.type);
	s.column = p->column.v;
	s.ncolumn = p->column.n;
	vec_add(&p->probe, at->id);
	vec_add(&p->probe, rec_schema(r->w, &s));
}

static void make_plan(struct recorder *r, const struct schema *sc)
{
	struct plan *p = &r->plan[sc->id];
	p->of = sc;
	memset(p->common, -1, sizeof(p->common));
	for (u32 i = 0; i < sc->layout->nfield; i++) {
		const struct field *f = &sc->layout->field[i];
		if (!add_common(p, sc->kept[i], f))
			add_field(r, p, sc->kept[i], &(struct origin){f->type, f->bit_off / 8, i},
				  0);
	}
	p->exit_code = -1;
	for (u32 i = 0; i < p->column.n; i++)
		if (str_is(p->column.v[i].expr, "curtask.exit_code"))
			p->exit_code = (i32)i;
	assert(p->common[C_START] < 0 || p->task_n <= sizeof(r->last->bytes));
	for (const struct point *at = r->unit->prog[sc->prog]->points; at; at = at->next) {
		if (!str_is(at->text, "tracepoint:sched:sched_process_exit"))
			p->exit_code = -1;
		add_schema(r, p, at);
	}
}

/* ---- values ---- */

static u64 load(const u8 *p, u32 size, bool sign)
{
	u64 v = 0;
	size = MIN(size, (u32)sizeof(v));
	memcpy(&v, p, size);
	u32 unused = 64 - 8 * size;
	return sign && unused < 64 ? (u64)((i64)(v << unused) >> unused) : v;
}

static u32 frame_id(struct recorder *r, const struct value *v, const struct frame *f)
{
	struct rec_frame out = {.addr = f->addr,
				.file_off = f->file_off,
				.sym_off = f->off,
				.line = f->line,
				.sym = f->sym,
				.source = f->source,
				.text = f->text,
				.language = f->language};
	out.flags = (u8)((f->inlined ? FRAME_INLINED : 0) | (f->made ? FRAME_MADE : 0) |
			 (v->kernel ? FRAME_KERNEL : 0));
	if (f->module.n)
		out.mapping = rec_mapping(
			r->w, &(struct rec_mapping){.path = f->module, .build_id = f->build_id});
	return rec_frame(r->w, &out);
}

static u32 stack_new(struct recorder *r, const struct value *v)
{
	u32 frame[REC_MAX_FRAMES];
	struct rec_stack s = {.n = MIN(v->n, (u32)REC_MAX_FRAMES), .frame = frame};
	if (v->kind != V_STACK || !v->n)
		return 0;
	for (u32 i = 0; i < s.n; i++)
		frame[i] = frame_id(r, v, &v->stack[i]);
	s.flags = (u8)((v->kernel ? STACK_KERNEL : 0) | (s.n < v->n ? STACK_CUT : 0));
	return rec_stack(r->w, &s);
}

/* A process may run another program at the same addresses later: its name is a part of the key. */
static u64 stack_id(struct recorder *r, const struct plan *p, const struct item *it,
		    const struct origin *s)
{
	const u8 *at = it->kept.record->data + s->off;
	u32 n = (u32)load(at, 4, false);
	size_t size = offsetof(struct stack_value, ip) +
		      (size_t)MIN(n, s->type->count) * stack_frame_size(s->type->mode);
	AUTO_SB key = {0};
	sb_mem(&key, at, MIN(size, (size_t)s->type->size));
	sb_mem(&key, it->kept.record->data + p->common[C_COMM], 16);
	sb_char(&key, (char)s->type->kind);
	void *got = tab_get(&r->stack, sb_str(&key));
	if (got)
		return (uintptr_t)got - 1;
	if (r->stack.n >= MAX_STACKS) {
		tab_free(&r->stack);
		r->stack = (struct tab){0};
		arena_reset(&r->stacks);
	}
	u64 id = stack_new(r, it->kept.field(it->kept.rows, s->field));
	tab_add(&r->stack, arena_str(&r->stacks, sb_str(&key)), (void *)(uintptr_t)(id + 1));
	return id;
}

static void fill_text(const u8 *p, u32 size, struct rec_cell *c)
{
	const u8 *nul = size ? memchr(p, 0, size) : NULL;
	c->str = str_n((const char *)p, nul ? (size_t)(nul - p) : size);
	c->cut = size && !nul;
}

static void fill_cell(struct recorder *r, const struct plan *p, const struct item *it, u32 i)
{
	const struct origin *s = &p->source.v[i];
	const struct rec_column *col = &p->column.v[i];
	struct rec_cell *c = &r->cell[i];
	const u8 *at = it->kept.record->data + s->off;
	/* A text at the end travels with its own length. */
	u32 size = MIN(s->type->size, it->kept.record->size - MIN(it->kept.record->size, s->off));
	*c = (struct rec_cell){.str = {"", 0}};
	switch (col->kind) {
	case REC_INT:
	case REC_BOOL:
	case REC_POINTER:
	case REC_ENUM:
	case REC_FLOAT: c->u = load(at, size, col->sign); return;
	case REC_STRING: fill_text(at, size, c); return;
	case REC_BYTES:
		if (s->type->kind == T_BUF && size >= 4)
			c->str = str_n((const char *)at + 4, MIN(load(at, 4, false), size - 4));
		else
			c->str = str_n((const char *)at, size);
		return;
	case REC_ARRAY: c->str = str_n((const char *)at, s->type->size); return;
	case REC_STACK: c->u = stack_id(r, p, it, s); return;
	case REC_NAMED: {
		const struct value *v = it->kept.field(it->kept.rows, s->field);
		c->u = v->u;
		c->str = v->str;
		return;
	}
	}
}

/* ---- rows ---- */

static u64 common_of(const struct plan *p, const struct record *rec, enum common which, u32 size)
{
	return p->common[which] < 0 ? 0 : load(rec->data + p->common[which], size, false);
}

static u32 task_new(struct recorder *r, const struct plan *p, const struct record *rec)
{
	struct rec_cell comm;
	struct rec_task t = {.tid = (u32)common_of(p, rec, C_TID, 4),
			     .pid = (u32)common_of(p, rec, C_PID, 4),
			     .ppid = (u32)common_of(p, rec, C_PPID, 4),
			     .uid = (u32)common_of(p, rec, C_UID, 4),
			     .gid = (u32)common_of(p, rec, C_GID, 4),
			     .cgroup = common_of(p, rec, C_CGROUP, 8),
			     .start = common_of(p, rec, C_START, 8),
			     .since = rec->ts,
			     .known = KNOWN_IDS | KNOWN_CGROUP | KNOWN_COMM};
	t.known |= (p->common[C_PPID] >= 0 ? KNOWN_PPID : 0u) |
		   (p->common[C_START] >= 0 ? KNOWN_START : 0u);
	fill_text(rec->data + p->common[C_COMM], 16, &comm);
	t.comm = comm.str;
	return rec_task(r->w, &t);
}

static u32 task_of(struct recorder *r, const struct plan *p, const struct record *rec, u32 cpu)
{
	if (cpu >= r->nlast) {
		u32 n = MAX(cpu + 1, r->nlast * 2);
		r->last = xrealloc(r->last, n * sizeof(*r->last));
		memset(r->last + r->nlast, 0, (n - r->nlast) * sizeof(*r->last));
		r->nlast = n;
	}
	struct last_task *l = &r->last[cpu];
	const u8 *at = rec->data + p->task_from;
	if (l->id && l->n == p->task_n && l->generation == r->generation &&
	    !memcmp(l->bytes, at, p->task_n))
		return l->id;
	*l = (struct last_task){task_new(r, p, rec), r->generation, p->task_n, {0}};
	memcpy(l->bytes, at, p->task_n);
	return l->id;
}

static u32 schema_of(const struct plan *p, u32 probe)
{
	for (u32 i = 0; i + 1 < p->probe.n; i += 2)
		if (p->probe.v[i] == probe)
			return p->probe.v[i + 1];
	return 0;
}

static struct err *next_segment(struct recorder *r);

/* What is full or old is written; a segment that is full ends. */
static struct err *tick(struct recorder *r, u64 now)
{
	struct err *e = rec_tick(r->w, now);
	bool full = r->bounds.disk && rec_bytes_written(r->w) >= r->bounds.disk / SEGMENTS;
	return !e && full ? next_segment(r) : e;
}

static struct err *put_kept(struct recorder *r, const struct item *it)
{
	const struct record *rec = it->kept.record;
	struct plan *p = &r->plan[it->kept.schema->id];
	u32 schema = schema_of(p, (u32)common_of(p, rec, C_PROBE, 4));
	u32 cpu = (u32)common_of(p, rec, C_CPU, 4);
	if (!schema || cpu >= REC_MAX_CPU)
		return err_new("a record of an unknown probe");
	if (r->generation != rec_generation(r->w)) {
		r->generation = rec_generation(r->w);
		tab_free(&r->stack);
		r->stack = (struct tab){0};
		arena_reset(&r->stacks);
	}
	struct rec_event e = {.schema = schema, .cpu = cpu, .ts = rec->ts, .cell = r->cell};
	e.task = task_of(r, p, rec, cpu);
	for (u32 i = 0; i < p->column.n; i++)
		fill_cell(r, p, it, i);
	rec_row(r->w, &e);
	if (p->exit_code >= 0)
		rec_exit(r->w, &(struct rec_exit){.ts = rec->ts,
						  .tid = (u32)common_of(p, rec, C_TID, 4),
						  .pid = (u32)common_of(p, rec, C_PID, 4),
						  .code = (u32)r->cell[p->exit_code].u});
	return rec_full(r->w) ? tick(r, rec->ts) : NULL;
}

/* ---- the rest ---- */

static u64 read_clock(clockid_t id)
{
	struct timespec t = {0};
	clock_gettime(id, &t);
	return (u64)t.tv_sec * NS_PER_S + (u64)t.tv_nsec;
}

static void put_clock(struct recorder *r)
{
	struct rec_clock c = {.mono = read_clock(CLOCK_MONOTONIC)};
	c.real = read_clock(CLOCK_REALTIME);
	c.boot = read_clock(CLOCK_BOOTTIME);
	c.tai = read_clock(CLOCK_TAI);
	u64 apart = read_clock(CLOCK_MONOTONIC) - c.mono;
	c.uncertainty = (u32)MIN(apart, (u64)UINT32_MAX);
	rec_clock(r->w, &c);
	r->clock_due = c.mono + (u64)CLOCK_EVERY_S * NS_PER_S;
}

/* Events of a total that were reported before are in the file with their times. */
static void put_lost(struct recorder *r, const struct item *it)
{
	static const char *const names[] = {
#define L(id, name, who, unit, account) [LOSS_##id] = name,
#include "core/loss.def"
	};
	u64 n = it->lost.n;
	const char *kind = names[it->lost.loss];
	if (it->lost.loss == LOSS_EVENTS)
		r->lost += n;
	if (it->lost.loss == LOSS_TOTAL) {
		n -= MIN(n, r->lost);
		kind = names[LOSS_EVENTS];
		if (!n)
			return;
	}
	r->over_budget |= it->lost.loss == LOSS_BUDGET;
	rec_loss(r->w, &(struct rec_loss){.from = it->ts ? it->ts : r->start,
					  .to = now_ns(),
					  .n = n,
					  .kind = str_z(kind),
					  .who = it->lost.who,
					  .text = it->str});
}

/* ---- segments and snapshots ---- */

static void put_size(struct sb *b, u64 n)
{
	if (n < 1000)
		sb_fmt(b, "%llu bytes", n);
	else if (n < 1000000)
		sb_fmt(b, "%.1f kB", (double)n / 1e3);
	else if (n < 1000000000)
		sb_fmt(b, "%.1f MB", (double)n / 1e6);
	else
		sb_fmt(b, "%.2f GB", (double)n / 1e9);
}

static void put_dropped(struct sb *b, u64 n)
{
	if (n)
		sb_fmt(b, "; %llu events were not recorded: no room on the disk", n);
}

static struct rec_start start_now(const struct recorder *r)
{
	return (struct rec_start){.real = read_clock(CLOCK_REALTIME),
				  .mono = now_ns(),
				  .ncpu = r->ncpu,
				  .codec = r->codec};
}

static struct err *next_segment(struct recorder *r)
{
	struct rec_start s = start_now(r);
	u64 bytes, rows = rec_rows(r->w);
	int fd;
	u32 at = r->parts.file.n - 1;
	struct err *e = recparts_next(&r->parts, &fd);
	if (e)
		return e;
	e = rec_next_file(r->w, &s, fd, recparts_last(&r->parts), &bytes);
	r->parts.file.v[at].bytes = bytes;
	r->gone_rows += rows;
	r->gone_bytes += bytes;
	put_clock(r);
	recparts_bound(&r->parts, r->bounds.disk - r->bounds.disk / SEGMENTS - SEGMENT_SLACK,
		       UINT32_MAX);
	return e;
}

/* Asked for while one is due, or too soon after the last: it is counted. */
static void ask_snapshot(struct recorder *r, struct str why)
{
	u64 now = now_ns();
	if (!r->ring || r->due || now < r->quiet_until) {
		r->unheard++;
		return;
	}
	sb_clear(&r->why);
	sb_add(&r->why, why);
	r->due = now + r->bounds.after_ns;
}

static void say(const struct recorder *r, const struct sb *text)
{
	size_t done;
	(void)signals_write(r->signals, r->err_fd, text->s, text->n, &done);
}

/* "f-20261127T231502.sonde: 12,345 events of the last 60.0 s, 1.2 MB: why" */
static void say_snapshot(const struct recorder *r, const struct rec_saved *s)
{
	AUTO_SB b = {0};
	sb_fmt(&b, "%s: ", recparts_last(&r->parts));
	units_grouped(&b, s->rows);
	sb_fmt(&b, " event%s of the last %.1f s, ", s->rows == 1 ? "" : "s",
	       (double)s->ns / NS_PER_S);
	put_size(&b, s->bytes);
	put_dropped(&b, s->dropped);
	sb_z(&b, ": ");
	sb_visible(&b, sb_str(&r->why));
	sb_char(&b, '\n');
	say(r, &b);
}

/* What fails is reported, and recording goes on: the next may succeed. */
static void take_snapshot(struct recorder *r)
{
	struct rec_start now = start_now(r);
	struct rec_saved saved;
	int fd;
	r->due = 0;
	r->quiet_until = now.mono + r->bounds.quiet_ns;
	struct err *e = recparts_snapshot(&r->parts, now.real, &fd);
	if (!e)
		e = rec_save(r->w, &now, fd, recparts_last(&r->parts), sb_str(&r->why), &saved);
	if (e) {
		AUTO_SB b = {0};
		sb_fmt(&b, "ERROR: the snapshot was not written: %s\n", e->msg);
		say(r, &b);
		err_free(e);
		r->failed++;
		return;
	}
	recparts_bound(&r->parts, ~0ull, r->bounds.max_files);
	if (!r->quiet)
		say_snapshot(r, &saved);
}

static void look_for_snapshots(struct recorder *r, u64 now)
{
	if (r->signals && r->signals->usr2) {
		r->signals->usr2 = false;
		ask_snapshot(r, STR("SIGUSR2"));
	}
	if (r->due && now >= r->due)
		take_snapshot(r);
}

static struct err *record_put(void *self, const struct item *it)
{
	struct recorder *r = self;
	if (it->kind == I_SNAPSHOT) {
		ask_snapshot(r, it->str);
		return NULL;
	}
	if (it->kind == I_KEPT)
		return put_kept(r, it);
	if (it->kind == I_LOST)
		put_lost(r, it);
	if (it->kind == I_END) /* text has an empty line there */
		return NULL;
	return r->text->put(r->text_self, it);
}

static struct err *record_flush(void *self)
{
	struct recorder *r = self;
	u64 now = now_ns();
	if (now >= r->clock_due)
		put_clock(r);
	struct err *e = tick(r, now);
	if (e)
		return e;
	look_for_snapshots(r, now);
	return r->text->flush ? r->text->flush(r->text_self) : NULL;
}

static struct err *open_text(struct recorder *r, const struct sink_env *env)
{
	static const struct str none[SINK_OPTIONS];
	struct sink_env text = *env;
	r->text = sink_named(STR("text"));
	r->text_self = xcalloc(1, r->text->size + 1);
	text.out = STDOUT_FILENO;
	return r->text->open(r->text_self, &text, none);
}

static void put_facts(struct recorder *r, const struct sink_env *env)
{
	for (u32 i = 0; i < env->nfact; i++) {
		const struct sink_fact *f = &env->fact[i];
		if (str_starts(f->key, STR("feature.")))
			rec_feature(r->w, str_from(f->key, 8), str_is(f->value, "yes"));
		else
			rec_meta(r->w, f->key, f->value);
	}
}

/* One file, which is open; segments; or a ring in memory. */
static struct err *open_writer(struct recorder *r, const struct sink_env *env,
			       const struct rec_start *s)
{
	int fd;
	if (env->bounds)
		r->bounds = *env->bounds;
	recparts_init(&r->parts, r->path);
	if (r->bounds.keep_bytes) {
		r->ring = rec_ring_new(r->bounds.keep_bytes, r->bounds.keep_ns);
		r->w = rec_create_ring(s, r->ring);
		return NULL;
	}
	if (r->bounds.disk) {
		recparts_find(&r->parts);
		struct err *e = recparts_next(&r->parts, &fd);
		return e ? e : rec_create_fd(fd, recparts_last(&r->parts), s, &r->w);
	}
	fd = fcntl(env->out, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? err_sys(errno, "open %s", env->path) : rec_create_fd(fd, r->path, s, &r->w);
}

static struct err *record_open(void *self, const struct sink_env *env, const struct str *opts)
{
	struct recorder *r = self;
	struct rec_start s = {.real = read_clock(CLOCK_REALTIME), .mono = now_ns()};
	long ncpu = sysconf(_SC_NPROCESSORS_CONF);
	s.ncpu = ncpu > 0 ? (u32)MIN(ncpu, 0xffffl) : 0;
	if (!rec_codec_named(opts[OPT_CODEC], &s.codec))
		return err_new("codec=%.*s: it is none of those that this sonde has: %s",
			       STRF(opts[OPT_CODEC]),
			       rec_has_codec(CODEC_ZSTD) ? "zstd, zlib, none" : "zlib, none");
	if (!env->path)
		return err_new("a recording goes to a file: -o FILE");
	r->path = xstrdup(env->path);
	r->codec = s.codec;
	r->ncpu = s.ncpu;
	struct err *e = open_writer(r, env, &s);
	if (!e)
		e = open_text(r, env);
	if (e)
		return e;
	r->unit = env->unit;
	r->signals = env->signals;
	r->quiet = env->quiet;
	r->err_fd = env->err;
	r->start = s.mono;
	r->plan = xcalloc(r->unit->nschema + 1, sizeof(*r->plan));
	put_facts(r, env);
	put_clock(r);
	for (u32 i = 0; i < r->unit->nschema; i++)
		if (r->unit->schema[i]->kept)
			make_plan(r, r->unit->schema[i]);
	return rec_begin(r->w);
}

struct summary {
	u64 rows, bytes, dropped;
	u32 nprobe;
};

/* "f.sonde: 1,115,340 events of 2 probes in 12.3 s, 6.0 MB (5.4 bytes per event)" */
static void say_summary(const struct recorder *r, const struct summary *s)
{
	AUTO_SB b = {0};
	size_t done;
	if (r->bounds.disk)
		sb_fmt(&b, "%s, the last of %u segments: ", recparts_last(&r->parts),
		       r->parts.number);
	else
		sb_fmt(&b, "%s: ", r->path);
	units_grouped(&b, s->rows);
	sb_fmt(&b, " event%s of %u probe%s in %.1f s, ", s->rows == 1 ? "" : "s", s->nprobe,
	       s->nprobe == 1 ? "" : "s", (double)(now_ns() - r->start) / NS_PER_S);
	put_size(&b, s->bytes);
	if (s->rows)
		sb_fmt(&b, " (%.1f bytes per event)", (double)s->bytes / (double)s->rows);
	put_dropped(&b, s->dropped);
	sb_char(&b, '\n');
	(void)signals_write(r->signals, r->err_fd, b.s, b.n, &done);
}

/* Who asks for snapshots is to know that there could be more. */
static void say_unheard(const struct recorder *r)
{
	AUTO_SB b = {0};
	if (r->quiet || (!r->unheard && r->parts.file.n))
		return;
	if (r->parts.file.n)
		sb_fmt(&b, "%llu more snapshots were requested too soon after another\n",
		       r->unheard);
	else if (!r->failed)
		sb_z(&b, "no snapshot was requested\n");
	say(r, &b);
}

/* Probes of which there are events; a probe may have several schemas. */
static u32 count_probes(const struct recorder *r)
{
	bool *seen AUTO_FREE = xcalloc(r->unit->nprobe + 1u, sizeof(*seen));
	u32 n = 0;
	for (u32 i = 0; r->plan && i < r->unit->nschema; i++) {
		const struct plan *p = &r->plan[i];
		for (u32 k = 0; k + 1 < p->probe.n; k += 2) {
			bool some = rec_schema_total(r->w, p->probe.v[k + 1]).rows;
			n += some && !seen[p->probe.v[k]];
			seen[p->probe.v[k]] |= some;
		}
	}
	return n;
}

static struct summary summary_of(const struct recorder *r)
{
	return (struct summary){.rows = r->gone_rows + rec_rows(r->w),
				.dropped = rec_dropped(r->w),
				.nprobe = count_probes(r)};
}

static void recorder_free(struct recorder *r)
{
	for (u32 i = 0; r->plan && i < r->unit->nschema; i++) {
		vec_free(&r->plan[i].column);
		vec_free(&r->plan[i].source);
		vec_free(&r->plan[i].probe);
	}
	free(r->plan);
	free(r->last);
	free(r->path);
	free(r->text_self);
	recparts_free(&r->parts);
	rec_ring_free(r->ring);
	sb_free(&r->why);
	tab_free(&r->enums);
	tab_free(&r->stack);
	arena_free(&r->a);
	arena_free(&r->stacks);
}

static struct err *record_close(void *self)
{
	struct recorder *r = self;
	bool stopped = r->signals && r->signals->stop_ns;
	enum rec_end how = r->over_budget ? END_BUDGET : stopped ? END_SIGNAL : END_DONE;
	struct err *e = r->text->close(r->text_self);
	put_clock(r);
	struct err *late = rec_tick(r->w, ~0ull);
	struct summary s = summary_of(r);
	if (r->due)
		take_snapshot(r);
	if (late || r->ring)
		rec_abandon(r->w);
	else
		late = rec_finish(r->w, how,
				  r->over_budget ? STR("over its budget")
				  : stopped      ? STR("stopped by a signal")
						 : STR("done"),
				  &s.bytes);
	s.bytes += r->gone_bytes;
	if (!late && r->failed)
		late = err_new("%u snapshot%s not written", r->failed,
			       r->failed == 1 ? " was" : "s were");
	if (r->ring)
		say_unheard(r);
	else if (!late && !r->quiet && (!r->bounds.unnamed || s.dropped))
		say_summary(r, &s);
	recorder_free(r);
	if (!e)
		return late;
	err_free(late);
	return e;
}

const struct sink sink_record = {
	.name = "record",
	.doc = "recording of the values of keep(), for sonde report and query",
	.ending = ".sonde",
	.keeps = true,
	.size = sizeof(struct recorder),
	.options = options,
	.open = record_open,
	.put = record_put,
	.flush = record_flush,
	.close = record_close,
};
