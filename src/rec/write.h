/*
 * write.h - makes a recording.
 *
 * rec_create(); rec_meta(), rec_feature(), rec_clock(), rec_enum(), rec_schema(); then for each event
 * rec_task() and rec_row(); rec_tick() several times a second; rec_finish().
 *
 * Rows are given in the order of events, by one thread. They are collected in memory and written as
 * a block when there are 256 KiB of them or the oldest is a second old; what rows refer to is written
 * before them. So whatever ends the process, the file contains all events but those of about the last
 * second.
 *
 * If there is no more room on the disk, rows are dropped and counted as lost with their time range;
 * 1 MiB is reserved for the record of that loss and for the end. Another error of the file is
 * returned by the next rec_tick() or rec_finish(); rows after it are dropped.
 */
#pragma once
#include "base/err.h"
#include "rec/rec.h"

enum {
	REC_BLOCK_BYTES = 256 << 10,
	REC_BLOCK_AGE_NS = 1000000000,
	REC_RESERVE = 1 << 20,
};
struct rec_writer;
struct rec_start {
	u64 real, mono; /* clocks at the start */
	u32 ncpu;       /* possible CPUs */
	enum rec_codec codec;
	u32 block_bytes; /* 0: REC_BLOCK_BYTES */
	/* Bytes of texts, and of the other tables, that are remembered so as to write them once; then
	 * it begins anew. 0: 32 MiB. */
	u32 remember;
};
/* The file is made, or emptied. */
struct err *rec_create(const char *path, const struct rec_start *s,
		       struct rec_writer **ret) MUST_USE;
/* Into an open file, which belongs to the writer from now on, also after an error. */
struct err *rec_create_fd(int fd, const char *name, const struct rec_start *s,
			  struct rec_writer **ret) MUST_USE;
/* Into memory: *out has all the bytes after rec_finish(). */
struct rec_writer *rec_create_mem(const struct rec_start *s, struct sb *out);

/* Into a ring, which stays the caller's (rec/ring.h); see rec_save(). */
struct rec_ring;
struct rec_writer *rec_create_ring(const struct rec_start *s, struct rec_ring *ring);

void rec_meta(struct rec_writer *w, struct str key, struct str value);
void rec_feature(struct rec_writer *w, struct str name, bool has);
void rec_clock(struct rec_writer *w, const struct rec_clock *c);
void rec_blob(struct rec_writer *w, struct str name, struct str bytes);
void rec_loss(struct rec_writer *w, const struct rec_loss *l);
/* These return the id for later calls. The id in the struct is not looked at. */
u32 rec_enum(struct rec_writer *w, const struct rec_enum *e);
u32 rec_schema(struct rec_writer *w, const struct rec_schema *s);
/* The same thing gets the same id as before, as far as it is remembered. */
u32 rec_mapping(struct rec_writer *w, const struct rec_mapping *m);
u32 rec_frame(struct rec_writer *w, const struct rec_frame *f);
u32 rec_stack(struct rec_writer *w, const struct rec_stack *s);
u32 rec_task(struct rec_writer *w, const struct rec_task *t);
void rec_exit(struct rec_writer *w, const struct rec_exit *x);
/*
 * Ids of stacks and tasks that the caller keeps are valid as long as this number stays the same: when
 * it has changed, everything that later rows refer to is given anew.
 */
u32 rec_generation(const struct rec_writer *w);

/* All facts that each part of the recording has were given: they are written. With a ring, and before
 * rec_next_file(), this must have been called; else they are written with the first rows. */
struct err *rec_begin(struct rec_writer *w) MUST_USE;
/* The file ends, and fd, which belongs to the writer from now on, goes on with ids of its own. *bytes: of the file
 * that ended. */
struct err *rec_next_file(struct rec_writer *w, const struct rec_start *s, int fd, const char *name,
			  u64 *bytes) MUST_USE;
struct rec_saved {
	u64 rows, bytes, ns; /* ns: from the first row until now */
	u64 dropped;         /* rows for which there was no room */
};
/* What is in the ring as a file of its own, compressed as now->codec says; now: this moment. fd is closed. */
struct err *rec_save(struct rec_writer *w, const struct rec_start *now, int fd, const char *name,
		     struct str reason, struct rec_saved *ret) MUST_USE;

struct rec_event {
	u32 schema, cpu, task; /* task 0: not known */
	u32 missing;           /* turns that are missing before this event */
	u64 ts;
	const struct rec_cell *cell; /* of the schema's columns */
};
/* An item of an answer; what it refers to was given before. rec_tick() follows. */
void rec_answer(struct rec_writer *w, enum rec_item_kind kind, struct str fields);
void rec_row(struct rec_writer *w, const struct rec_event *e);
/* Write what is old or full. now: monotonic ns; ~0ull: all. */
struct err *rec_tick(struct rec_writer *w, u64 now) MUST_USE;
/* A block is full, or its rows are of more than a second: call rec_tick(), also when many rows wait. */
bool rec_full(const struct rec_writer *w);
u64 rec_bytes_written(const struct rec_writer *w);
u64 rec_rows(const struct rec_writer *w); /* written, or about to be */
/* Rows that were dropped because the file could not take them. */
u64 rec_dropped(const struct rec_writer *w);
/* How many bytes the rows would take without compression. */
struct rec_total rec_schema_total(const struct rec_writer *w, u32 schema);
/* The end: totals, and why. Frees w, also on errors. *bytes becomes the size of the file; it may be NULL. */
struct err *rec_finish(struct rec_writer *w, enum rec_end how, struct str reason,
		       u64 *bytes) MUST_USE;
/* Frees w and leaves the file without an end. NULL is allowed. */
void rec_abandon(struct rec_writer *w);
