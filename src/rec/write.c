/*
 * write.c - see write.h.
 *
 * Buffers are filled at the same time: facts, names, and rows or an answer. A flush writes them in
 * this order, so that what rows refer to precedes them.
 */
#include "rec/write.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/pack.h"
#include "base/vec.h"
#include "rec/pack.h"
#include "rec/ring.h"
#include "rec/seen.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>

enum {
	REMEMBER = 32 << 20,
	LONGEST_KEPT = 512, /* longer texts are written into the row */
	NCPU_MAX = REC_MAX_CPU,
};

enum seen_kind { SEEN_STRING, SEEN_TASK, SEEN_MAPPING, SEEN_FRAME, SEEN_STACK, SEEN_KINDS };
static const u16 item_of[] = {ITEM_STRING, ITEM_TASK, ITEM_MAPPING, ITEM_FRAME, ITEM_STACK};

struct schema_out {
	const struct rec_column *column;
	u32 ncolumn;
	struct rec_total total, now; /* now: of rows that were not written yet */
};

struct rec_writer {
	int fd; /* -1: into .mem */
	struct sb *mem;
	struct rec_ring *ring; /* blocks go there; NULL: to the file */
	char *path;
	u64 at;     /* end of the file */
	u32 number; /* of the next block */
	struct err *failed;
	struct rec_press *press; /* NULL: CODEC_NONE */
	enum rec_codec codec;
	u32 block_bytes, remember;
	struct sb facts, names, answer, rows, item, block;
	u32 nfact, nname, nanswer;
	struct sb head; /* facts of every part */
	u32 nhead;
	bool begun;
	struct seen seen[SEEN_KINDS];
	u32 generation, last_enum;
	VEC(struct schema_out) schema;
	struct arena a; /* columns */

	/* of .rows */
	u32 nrow;
	u64 first, last, prev, opened, turn; /* opened: time of the oldest row; turn: of the next */
	u16 schemas;
	u32 cpu, ncpu, batch; /* batch: counts sets of rows, from 1 */
	struct cpu_out {
		u32 batch, task; /* .task was said last among the rows of .batch */
	} * by_cpu;
	u64 total, dropped, lost, bad_from, bad_to, bad_n;
};

/* ---- the file ---- */

static struct err *write_all(struct rec_writer *w, const char *p, size_t n)
{
	if (w->ring) {
		ring_add(w->ring, p, n);
		return NULL;
	}
	if (w->fd < 0) {
		sb_mem(w->mem, p, n);
		w->at += n;
		return NULL;
	}
	for (size_t done = 0; done < n;) {
		ssize_t got = write(w->fd, p + done, n - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int no = errno;
			/* Whole blocks only. */
			if (!ftruncate(w->fd, (off_t)w->at))
				lseek(w->fd, (off_t)w->at, SEEK_SET);
			return err_sys(no, "write %s", w->path);
		}
		done += (size_t)got;
	}
	w->at += n;
	return NULL;
}

/* True if n bytes fit and leave the reserve. A file system that cannot tell is asked by writing. */
static bool has_room(const struct rec_writer *w, u64 n)
{
	if (w->fd < 0)
		return true;
	return !fallocate(w->fd, FALLOC_FL_KEEP_SIZE, (off_t)w->at, (off_t)(n + REC_RESERVE)) ||
	       (errno != ENOSPC && errno != EDQUOT);
}

struct block_head {
	u8 type;
	u16 flags; /* enum rec_block_flags */
	u16 schemas;
	u32 items;
	u64 first, last;
};

/* A block with what is in raw, put together in .block; the number is given when it is written. */
static void block_make(struct rec_writer *w, const struct block_head *h, const struct sb *raw)
{
	struct sb *b = &w->block;
	sb_clear(b);
	sb_pad(b, 0, ALIGN_UP(w->at, 8) - w->at);
	size_t head = b->n;
	sb_pad(b, 0, REC_BLOCK_HEADER);
	enum rec_codec codec = w->codec;
	if (codec == CODEC_NONE || !rec_press(w->press, sb_str(raw), b)) {
		codec = CODEC_NONE;
		sb_mem(b, raw->s, raw->n);
	}
	struct str stored = {b->s + head + REC_BLOCK_HEADER, (u32)(b->n - head - REC_BLOCK_HEADER)};
	struct sb out = {0};
	pack_u32(&out, REC_BLOCK_MAGIC);
	pack_u8(&out, h->type);
	pack_u8(&out, (u8)codec);
	pack_u16(&out, h->flags);
	pack_u32(&out, stored.n);
	pack_u32(&out, (u32)raw->n);
	pack_u64(&out, h->first);
	pack_u64(&out, h->last);
	pack_u32(&out, h->items);
	pack_u16(&out, REC_ANY_CPU);
	pack_u16(&out, h->schemas);
	pack_u32(&out, w->number);
	pack_u32(&out, 0);
	pack_u32(&out, rec_crc(0, stored.s, stored.n));
	pack_u32(&out, rec_crc(0, out.s, out.n));
	assert(out.n == REC_BLOCK_HEADER);
	memcpy(b->s + head, out.s, out.n);
	sb_free(&out);
}

static struct err *block_write(struct rec_writer *w)
{
	struct err *e = write_all(w, w->block.s, w->block.n);
	w->number += !e;
	return e;
}

static struct err *items_write(struct rec_writer *w, u8 type, struct sb *items, u32 *n)
{
	if (!*n)
		return NULL;
	u16 flags = type == BLOCK_ANSWER ? BLOCK_NEEDED : 0;
	block_make(w, &(struct block_head){.type = type, .flags = flags, .items = *n}, items);
	struct err *e = block_write(w);
	if (!e) {
		sb_clear(items);
		*n = 0;
	}
	return e;
}

/* ---- losses of our own ---- */

static void row_lost(struct rec_writer *w, u64 n, u64 from, u64 to)
{
	if (!w->bad_n || from < w->bad_from)
		w->bad_from = from;
	w->bad_to = MAX(w->bad_to, to);
	w->bad_n += n;
	w->dropped += n;
}

static void say_dropped(struct rec_writer *w)
{
	if (!w->bad_n)
		return;
	AUTO_SB text = {0};
	sb_fmt(&text, "%llu events were not recorded: no room for %s", w->bad_n, w->path);
	rec_loss(w, &(struct rec_loss){.from = w->bad_from,
				       .to = w->bad_to,
				       .n = w->bad_n,
				       .kind = STR("disk_full"),
				       .who = str_z(w->path),
				       .text = sb_str(&text)});
	w->bad_n = w->bad_from = w->bad_to = 0;
}

/* The rows so far were written, or dropped. */
static void rows_begin(struct rec_writer *w, bool written)
{
	for (u32 i = 0; i < w->schema.n; i++) {
		struct schema_out *s = &w->schema.v[i];
		s->total.rows += written ? s->now.rows : 0;
		s->total.bytes += written ? s->now.bytes : 0;
		s->now = (struct rec_total){0};
	}
	w->total += written ? w->nrow : 0;
	if (!written && w->nrow)
		row_lost(w, w->nrow, w->first, w->last);
	sb_clear(&w->rows);
	w->batch++;
	w->nrow = 0;
	w->schemas = 0;
	w->first = ~0ull;
	w->last = 0;
}

static struct err *flush(struct rec_writer *w)
{
	struct err *e = items_write(w, BLOCK_FACTS, &w->facts, &w->nfact);
	if (!e)
		e = items_write(w, BLOCK_NAMES, &w->names, &w->nname);
	if (!e)
		e = items_write(w, BLOCK_ANSWER, &w->answer, &w->nanswer);
	if (e || !w->nrow)
		return e;
	block_make(w,
		   &(struct block_head){.type = BLOCK_EVENTS,
					.items = w->nrow,
					.schemas = w->schemas,
					.first = w->first,
					.last = w->last},
		   &w->rows);
	bool room = has_room(w, w->block.n);
	if (room)
		e = block_write(w);
	rows_begin(w, room && !e);
	if (e && (e->no == ENOSPC || e->no == EDQUOT)) {
		err_free(e);
		e = NULL;
	}
	return e;
}

/* What must not fail silently between two calls that can return an error. */
static void flush_later(struct rec_writer *w)
{
	if (w->failed)
		return;
	w->failed = flush(w);
	if (w->failed)
		rows_begin(w, false);
}

/* ---- items ---- */

static struct sb *item_begin(struct rec_writer *w)
{
	sb_clear(&w->item);
	return &w->item;
}

static void item_end(struct rec_writer *w, u16 kind, struct sb *to, u32 *n)
{
	pack_u32(to, (u32)(2 + w->item.n));
	pack_u16(to, kind);
	sb_mem(to, w->item.s, w->item.n);
	(*n)++;
}

static void fact(struct rec_writer *w, u16 kind)
{
	item_end(w, kind, &w->facts, &w->nfact);
	if (w->facts.n > (w->begun ? REC_MAX_RAW / 4 : REC_MAX_RAW / 2))
		flush_later(w);
}

static void name(struct rec_writer *w, u16 kind)
{
	item_end(w, kind, &w->names, &w->nname);
}

void rec_meta(struct rec_writer *w, struct str key, struct str value)
{
	struct sb *b = item_begin(w);
	value.n = MIN(value.n, (u32)REC_MAX_TEXT);
	pack_str(b, key);
	pack_str(b, value);
	fact(w, ITEM_META);
}

void rec_feature(struct rec_writer *w, struct str text, bool has)
{
	struct sb *b = item_begin(w);
	pack_str(b, text);
	pack_u8(b, has);
	fact(w, ITEM_FEATURE);
}

void rec_clock(struct rec_writer *w, const struct rec_clock *c)
{
	struct sb *b = item_begin(w);
	pack_u64(b, c->mono);
	pack_u64(b, c->real);
	pack_u64(b, c->boot);
	pack_u64(b, c->tai);
	pack_u32(b, c->uncertainty);
	fact(w, ITEM_CLOCK);
}

void rec_blob(struct rec_writer *w, struct str text, struct str bytes)
{
	u64 at = 0;
	do {
		struct str part = {bytes.s + at, (u32)MIN(bytes.n - at, (u64)REC_MAX_TEXT)};
		struct sb *b = item_begin(w);
		pack_str(b, text);
		pack_u64(b, at);
		pack_u64(b, bytes.n);
		pack_str(b, part);
		fact(w, ITEM_BLOB);
		at += part.n;
	} while (at < bytes.n);
}

void rec_loss(struct rec_writer *w, const struct rec_loss *l)
{
	struct sb *b = item_begin(w);
	pack_u64(b, l->from);
	pack_u64(b, l->to);
	pack_u64(b, l->n);
	pack_str(b, l->kind);
	pack_str(b, l->who);
	pack_str(b, l->text);
	fact(w, ITEM_LOSS);
	if (str_is(l->kind, "lost_events") || str_is(l->kind, "disk_full"))
		w->lost += l->n;
}

u32 rec_enum(struct rec_writer *w, const struct rec_enum *e)
{
	struct sb *b = item_begin(w);
	pack_u32(b, ++w->last_enum);
	pack_str(b, e->name);
	pack_u32(b, e->n);
	for (u32 i = 0; i < e->n; i++) {
		pack_u64(b, e->v[i].value);
		pack_str(b, e->v[i].name);
	}
	fact(w, ITEM_ENUM);
	return w->last_enum;
}

u32 rec_schema(struct rec_writer *w, const struct rec_schema *s)
{
	struct sb *b = item_begin(w);
	struct rec_column *column = arena_newn(&w->a, struct rec_column, s->ncolumn + 1);
	assert(s->ncolumn <= REC_MAX_COLUMNS);
	vec_add(&w->schema, (struct schema_out){.column = column, .ncolumn = s->ncolumn});
	pack_u32(b, w->schema.n);
	pack_str(b, s->type);
	pack_str(b, s->probe);
	pack_str(b, s->act);
	pack_u32(b, s->ncolumn);
	for (u32 i = 0; i < s->ncolumn; i++) {
		const struct rec_column *c = &s->column[i];
		assert(c->count <= REC_MAX_ELEMENTS && (!c->count || c->size % c->count == 0));
		column[i] = *c;
		pack_u8(b, c->kind);
		pack_u8(b, c->coding);
		pack_u8(b, c->sign);
		pack_u8(b, c->element);
		pack_u32(b, c->size);
		pack_u32(b, c->count);
		pack_u32(b, c->enum_id);
		pack_str(b, c->expr);
		pack_str(b, c->ctype);
		pack_str(b, c->printer);
	}
	fact(w, ITEM_SCHEMA);
	return w->schema.n;
}

/* ---- things that are written once ---- */

/* Too much is remembered: what later rows refer to is written again, under new ids. */
static void forget(struct rec_writer *w)
{
	flush_later(w);
	for (u32 i = 0; i < SEEN_KINDS; i++) {
		struct sb *b = item_begin(w);
		pack_u16(b, item_of[i]);
		pack_u32(b, w->seen[i].last_id);
		name(w, ITEM_RESET);
		seen_forget(&w->seen[i]);
	}
	w->generation++;
}

/* The ring's next chunk begins with names of its own. */
static void next_chunk(struct rec_writer *w)
{
	forget(w);
	ring_next_chunk(w->ring);
}

static void forget_if_full(struct rec_writer *w)
{
	size_t n = 0;
	for (u32 i = 0; i < SEEN_KINDS; i++)
		n += w->seen[i].bytes;
	if (n > w->remember)
		forget(w);
}

/* The body of an item is in .item: find its id, or write it behind the id. */
static u32 once(struct rec_writer *w, enum seen_kind kind)
{
	bool fresh;
	u32 id = seen_id(&w->seen[kind], w->item.s, w->item.n, &fresh);
	if (fresh) {
		pack_u32(&w->names, (u32)(6 + w->item.n));
		pack_u16(&w->names, item_of[kind]);
		pack_u32(&w->names, id);
		sb_mem(&w->names, w->item.s, w->item.n);
		w->nname++;
	}
	return id;
}

static u32 string_id(struct rec_writer *w, struct str s, bool cut)
{
	struct sb *b = item_begin(w);
	pack_u8(b, cut);
	pack_str(b, s);
	return once(w, SEEN_STRING);
}

u32 rec_mapping(struct rec_writer *w, const struct rec_mapping *m)
{
	struct sb *b = item_begin(w);
	pack_str(b, m->path);
	pack_str(b, m->build_id);
	return once(w, SEEN_MAPPING);
}

u32 rec_frame(struct rec_writer *w, const struct rec_frame *f)
{
	struct sb *b = item_begin(w);
	pack_u32(b, f->mapping);
	pack_u64(b, f->addr);
	pack_u64(b, f->file_off);
	pack_u64(b, f->sym_off);
	pack_u8(b, f->flags);
	pack_u32(b, f->line);
	pack_str(b, f->sym);
	pack_str(b, f->source);
	pack_str(b, f->text);
	if (f->language.n)
		pack_str(b, f->language);
	return once(w, SEEN_FRAME);
}

u32 rec_stack(struct rec_writer *w, const struct rec_stack *s)
{
	struct sb *b = item_begin(w);
	assert(s->n <= REC_MAX_FRAMES);
	pack_u8(b, s->flags);
	pack_u32(b, s->n);
	sb_mem(b, s->frame, s->n * sizeof(*s->frame));
	return once(w, SEEN_STACK);
}

/* The time when a state was first seen is not part of what it is. */
u32 rec_task(struct rec_writer *w, const struct rec_task *t)
{
	struct sb *b = item_begin(w);
	pack_u32(b, t->tid);
	pack_u32(b, t->pid);
	pack_u32(b, t->ppid);
	pack_u32(b, t->uid);
	pack_u32(b, t->gid);
	pack_u64(b, t->cgroup);
	pack_u64(b, t->start);
	pack_u32(b, t->known);
	pack_str(b, t->comm);
	bool fresh;
	u32 id = seen_id(&w->seen[SEEN_TASK], b->s, b->n, &fresh);
	if (!fresh)
		return id;
	const size_t since = 5 * sizeof(u32) + 2 * sizeof(u64);
	struct sb *to = &w->names;
	pack_u32(to, (u32)(2 + sizeof(id) + b->n + sizeof(t->since)));
	pack_u16(to, ITEM_TASK);
	pack_u32(to, id);
	sb_mem(to, b->s, since);
	pack_u64(to, t->since);
	sb_mem(to, b->s + since, b->n - since);
	w->nname++;
	return id;
}

void rec_exit(struct rec_writer *w, const struct rec_exit *x)
{
	struct sb *b = item_begin(w);
	pack_u64(b, x->ts);
	pack_u32(b, x->tid);
	pack_u32(b, x->pid);
	pack_u32(b, x->code);
	name(w, ITEM_EXIT);
}

void rec_answer(struct rec_writer *w, enum rec_item_kind kind, struct str fields)
{
	struct sb *b = item_begin(w);
	sb_add(b, fields);
	item_end(w, (u16)kind, &w->answer, &w->nanswer);
}

u32 rec_generation(const struct rec_writer *w)
{
	return w->generation;
}

/* ---- rows ---- */

static struct cpu_out *cpu_out(struct rec_writer *w, u32 cpu)
{
	assert(cpu < NCPU_MAX);
	if (cpu >= w->ncpu) {
		u32 n = MAX(cpu + 1, w->ncpu * 2);
		w->by_cpu = xrealloc(w->by_cpu, n * sizeof(*w->by_cpu));
		memset(w->by_cpu + w->ncpu, 0, (n - w->ncpu) * sizeof(*w->by_cpu));
		w->ncpu = n;
	}
	return &w->by_cpu[cpu];
}

static void put_varint(struct sb *b, u64 n)
{
	sb_reserve(b, REC_VARINT_BYTES);
	b->n = (size_t)((char *)varint_put((u8 *)b->s + b->n, n) - b->s);
}

static void put_blob(struct sb *b, struct str s)
{
	s.n = MIN(s.n, (u32)REC_MAX_TEXT);
	put_varint(b, s.n);
	sb_add(b, s);
}

static void put_text(struct rec_writer *w, struct str s, bool cut)
{
	u32 id = s.n <= LONGEST_KEPT ? string_id(w, s, cut) : 0;
	put_varint(&w->rows, id);
	if (id)
		return;
	s.n = MIN(s.n, (u32)REC_MAX_TEXT);
	put_varint(&w->rows, (u64)s.n << 1 | cut);
	sb_add(&w->rows, s);
}

static void put_list(struct rec_writer *w, const struct rec_column *c, struct str s)
{
	u32 size = c->count ? c->size / c->count : 0;
	assert(s.n == c->size && size <= sizeof(u64));
	for (u32 i = 0; i < c->count; i++) {
		u64 v = 0;
		memcpy(&v, s.s + (size_t)i * size, size);
		u32 unused = 64 - 8 * size;
		if (c->element == REC_ZIGZAG)
			v = zigzag((i64)(v << unused) >> unused);
		put_varint(&w->rows, v);
	}
}

static void put_cell(struct rec_writer *w, const struct rec_column *c, const struct rec_cell *v)
{
	switch (c->coding) {
	case REC_VARINT:
	case REC_STACKID: put_varint(&w->rows, v->u); return;
	case REC_ZIGZAG: put_varint(&w->rows, zigzag((i64)v->u)); return;
	case REC_RAW: pack_u64(&w->rows, v->u); return;
	case REC_PAIR:
		put_varint(&w->rows, v->u);
		put_text(w, v->str, v->cut);
		return;
	case REC_TEXT: put_text(w, v->str, v->cut); return;
	case REC_BLOB: put_blob(&w->rows, v->str); return;
	case REC_LIST: put_list(w, c, v->str); return;
	}
}

static void row_head(struct rec_writer *w, const struct rec_event *e)
{
	struct sb *b = &w->rows;
	struct cpu_out *cpu = cpu_out(w, e->cpu);
	bool first = !w->nrow;
	if (first) {
		pack_u64(b, e->ts);
		pack_u64(b, w->turn);
		w->prev = w->opened = e->ts;
		w->cpu = 0;
	}
	bool new_task = cpu->task != e->task || cpu->batch != w->batch;
	u8 flags = (u8)((e->cpu != w->cpu ? ROW_CPU : 0) | (new_task ? ROW_TASK : 0) |
			(e->missing ? ROW_TURN : 0));
	bool small = e->schema < ROW_SCHEMA;
	pack_u8(b, (u8)(flags | (small ? e->schema : ROW_SCHEMA)));
	if (!small)
		put_varint(b, e->schema);
	put_varint(b, zigzag((i64)(e->ts - w->prev)));
	if (flags & ROW_CPU)
		put_varint(b, e->cpu);
	if (flags & ROW_TASK)
		put_varint(b, e->task);
	if (flags & ROW_TURN)
		put_varint(b, e->missing);
	w->prev = e->ts;
	w->cpu = e->cpu;
	*cpu = (struct cpu_out){w->batch, e->task};
	w->turn += 1 + e->missing;
}

void rec_row(struct rec_writer *w, const struct rec_event *e)
{
	assert(e->schema && e->schema <= w->schema.n);
	if (w->failed) {
		row_lost(w, 1, e->ts, e->ts);
		w->turn += 1 + e->missing;
		return;
	}
	struct schema_out *s = &w->schema.v[e->schema - 1];
	size_t before = w->rows.n;
	row_head(w, e);
	for (u32 i = 0; i < s->ncolumn; i++)
		put_cell(w, &s->column[i], &e->cell[i]);
	w->nrow++;
	w->schemas |= (u16)(1 << e->schema % 16);
	w->first = MIN(w->first, e->ts);
	w->last = MAX(w->last, e->ts);
	s->now.rows++;
	s->now.bytes += w->rows.n - before;
}

bool rec_full(const struct rec_writer *w)
{
	bool old = w->nrow && w->last > w->opened && w->last - w->opened > REC_BLOCK_AGE_NS;
	return old || MAX(w->rows.n, w->answer.n) >= w->block_bytes ||
	       w->names.n >= REC_MAX_RAW / 4;
}

struct err *rec_tick(struct rec_writer *w, u64 now)
{
	bool full = rec_full(w);
	bool old = w->nrow &&
		   (now == ~0ull || (now > w->opened && now - w->opened > REC_BLOCK_AGE_NS));
	if (full || old || now == ~0ull) {
		if (!w->rows.n || has_room(w, w->rows.n))
			say_dropped(w);
		flush_later(w);
		forget_if_full(w);
		if (w->ring && ring_chunk_full(w->ring))
			next_chunk(w);
	}
	struct err *e = w->failed;
	return e ? err_sys(e->no, "write %s", w->path) : NULL;
}

u64 rec_bytes_written(const struct rec_writer *w)
{
	return w->at;
}

u64 rec_rows(const struct rec_writer *w)
{
	return w->total + w->nrow;
}

u64 rec_dropped(const struct rec_writer *w)
{
	return w->dropped;
}

struct rec_total rec_schema_total(const struct rec_writer *w, u32 schema)
{
	assert(schema && schema <= w->schema.n);
	return w->schema.v[schema - 1].total;
}

/* ---- begin and end ---- */

static struct rec_writer *writer_new(const struct rec_start *s)
{
	struct rec_writer *w = xcalloc(1, sizeof(*w));
	w->block_bytes = s->block_bytes ? s->block_bytes : REC_BLOCK_BYTES;
	w->remember = s->remember ? s->remember : REMEMBER;
	w->codec = s->codec;
	if (s->codec != CODEC_NONE)
		w->press = rec_press_new(s->codec);
	rows_begin(w, false);
	return w;
}

static struct err *header_write(struct rec_writer *w, const struct rec_start *s)
{
	AUTO_SB b = {0};
	u8 id[16] = {0};
	if (getrandom(id, sizeof(id), 0) != sizeof(id))
		memcpy(id, &s->real, sizeof(s->real));
	sb_mem(&b, REC_MAGIC, 8);
	pack_u16(&b, REC_MAJOR);
	pack_u16(&b, REC_MINOR);
	pack_u32(&b, REC_FILE_HEADER);
	sb_mem(&b, id, sizeof(id));
	pack_u64(&b, s->real);
	pack_u64(&b, s->mono);
	pack_u32(&b, (u32)sysconf(_SC_PAGESIZE));
	assert(b.n == REC_HEADER_CPUS);
	pack_u16(&b, (u16)s->ncpu);
	pack_u8(&b, 8);
	pack_u8(&b, 0);
	pack_u32(&b, 0);
	pack_u32(&b, rec_crc(0, b.s, b.n));
	assert(b.n == REC_FILE_HEADER);
	return write_all(w, b.s, b.n);
}

void rec_abandon(struct rec_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	for (u32 i = 0; i < SEEN_KINDS; i++)
		seen_forget(&w->seen[i]);
	sb_free(&w->facts);
	sb_free(&w->head);
	sb_free(&w->names);
	sb_free(&w->answer);
	sb_free(&w->rows);
	sb_free(&w->item);
	sb_free(&w->block);
	vec_free(&w->schema);
	free(w->by_cpu);
	free(w->path);
	err_free(w->failed);
	rec_press_free(w->press);
	arena_free(&w->a);
	free(w);
}

struct err *rec_create_fd(int fd, const char *name, const struct rec_start *s,
			  struct rec_writer **ret)
{
	struct rec_writer *w = writer_new(s);
	w->path = xstrdup(name);
	w->fd = fd;
	struct err *e = header_write(w, s);
	if (e)
		rec_abandon(w);
	else
		*ret = w;
	return e;
}

struct err *rec_create(const char *path, const struct rec_start *s, struct rec_writer **ret)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return fd < 0 ? err_sys(errno, "open %s", path) : rec_create_fd(fd, path, s, ret);
}

struct rec_writer *rec_create_mem(const struct rec_start *s, struct sb *out)
{
	struct rec_writer *w = writer_new(s);
	w->path = xstrdup("memory");
	w->fd = -1;
	w->mem = out;
	err_free(header_write(w, s));
	return w;
}

struct rec_writer *rec_create_ring(const struct rec_start *s, struct rec_ring *ring)
{
	struct rec_start plain = *s;
	plain.codec = CODEC_NONE;
	plain.block_bytes = rec_ring_block_bytes(ring);
	struct rec_writer *w = writer_new(&plain);
	w->path = xstrdup("memory");
	w->fd = -1;
	w->ring = ring;
	return w;
}

struct err *rec_begin(struct rec_writer *w)
{
	sb_add(&w->head, sb_str(&w->facts));
	w->nhead = w->nfact;
	w->begun = true;
	struct err *e = rec_tick(w, ~0ull);
	if (w->ring)
		ring_next_chunk(w->ring);
	return e;
}

static struct err *end_write(struct rec_writer *w, enum rec_end how, struct str reason)
{
	struct sb *b = item_begin(w);
	u32 n = 0, items = 0;
	struct sb end = {0};
	for (u32 i = 0; i < w->schema.n; i++)
		n += w->schema.v[i].total.rows != 0;
	pack_u64(b, w->total);
	pack_u64(b, w->lost);
	pack_u64(b, w->at);
	pack_u8(b, (u8)how);
	pack_u32(b, n);
	for (u32 i = 0; i < w->schema.n; i++) {
		if (!w->schema.v[i].total.rows)
			continue;
		pack_u32(b, i + 1);
		pack_u64(b, w->schema.v[i].total.rows);
		pack_u64(b, w->schema.v[i].total.bytes);
	}
	pack_str(b, reason);
	item_end(w, ITEM_END, &end, &items);
	struct err *e = items_write(w, BLOCK_END, &end, &items);
	sb_free(&end);
	return e;
}

static struct err *file_end(struct rec_writer *w, enum rec_end how, struct str reason)
{
	struct err *e = rec_tick(w, ~0ull);
	if (!e) {
		say_dropped(w);
		e = items_write(w, BLOCK_FACTS, &w->facts, &w->nfact);
	}
	if (!e)
		e = end_write(w, how, reason);
	/* What was reserved and not used goes back. */
	if (w->fd >= 0 && ftruncate(w->fd, (off_t)w->at) && !e && errno != EINVAL)
		e = err_sys(errno, "truncate %s", w->path);
	return e;
}

/* Identifiers, turns and totals begin anew. */
static void file_reset(struct rec_writer *w)
{
	for (u32 i = 0; i < SEEN_KINDS; i++) {
		seen_forget(&w->seen[i]);
		w->seen[i].last_id = 0;
	}
	for (u32 i = 0; i < w->schema.n; i++)
		w->schema.v[i].total = (struct rec_total){0};
	sb_clear(&w->names);
	w->nname = 0;
	w->generation++;
	w->number = 0;
	w->at = w->turn = w->total = w->dropped = w->lost = 0;
}

struct err *rec_next_file(struct rec_writer *w, const struct rec_start *s, int fd, const char *name,
			  u64 *bytes)
{
	AUTO_SB reason = {0};
	sb_fmt(&reason, "goes on in %s", name);
	struct err *e = file_end(w, END_DONE, sb_str(&reason));
	*bytes = w->at;
	close(w->fd);
	free(w->path);
	w->fd = fd;
	w->path = xstrdup(name);
	file_reset(w);
	if (!e)
		e = header_write(w, s);
	sb_clear(&w->facts);
	sb_add(&w->facts, sb_str(&w->head));
	w->nfact = w->nhead;
	return e;
}

/* A block of a ring, with the number and the codec of the file. */
static struct err *copy_block(struct rec_writer *out, struct str block)
{
	struct bytes b = bytes_of(block.s, block.n);
	struct block_head h = {0};
	bytes_u32(&b);
	h.type = bytes_u8(&b);
	bytes_take(&b, 11);
	h.first = bytes_u64(&b);
	h.last = bytes_u64(&b);
	h.items = bytes_u32(&b);
	bytes_u16(&b);
	h.schemas = bytes_u16(&b);
	struct sb raw = {.s = (char *)block.s + REC_BLOCK_HEADER, .n = block.n - REC_BLOCK_HEADER};
	assert(!b.bad);
	block_make(out, &h, &raw);
	if (h.type != BLOCK_EVENTS)
		return block_write(out);
	if (!has_room(out, out->block.n)) {
		row_lost(out, h.items, h.first, h.last);
		return NULL;
	}
	out->total += h.items;
	return block_write(out);
}

/* When the first row of the ring happened; the end if there is none. */
static u64 ring_start(const struct rec_ring *ring, u64 end)
{
	struct str block;
	for (size_t i = 0; ring_block(ring, i, &block); i++) {
		u64 first, last;
		memcpy(&first, block.s + 16, sizeof(first));
		memcpy(&last, block.s + 24, sizeof(last));
		if (last)
			return first;
	}
	return end;
}

struct err *rec_save(struct rec_writer *w, const struct rec_start *now, int fd, const char *name,
		     struct str reason, struct rec_saved *ret)
{
	struct rec_writer *out;
	struct rec_start s = *now;
	struct str block;
	assert(w->ring);
	struct err *e = rec_tick(w, ~0ull);
	s.mono = ring_start(w->ring, now->mono);
	s.real = now->real - (now->mono - s.mono);
	*ret = (struct rec_saved){.ns = now->mono - s.mono};
	if (e) {
		close(fd);
		return e;
	}
	e = rec_create_fd(fd, name, &s, &out);
	if (e)
		return e;
	for (size_t i = 0; !e && ring_block(w->ring, i, &block); i++)
		e = copy_block(out, block);
	ret->rows = out->total;
	ret->dropped = out->dropped;
	if (e) {
		rec_abandon(out);
		return e;
	}
	return rec_finish(out, END_DONE, reason, &ret->bytes);
}

struct err *rec_finish(struct rec_writer *w, enum rec_end how, struct str reason, u64 *bytes)
{
	struct err *e = file_end(w, how, reason);
	if (bytes)
		*bytes = w->at;
	rec_abandon(w);
	return e;
}
