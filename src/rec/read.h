/*
 * read.h - reads a recording that nobody trusts.
 *
 * rec_open() walks through the headers of all blocks and reads what is said about the whole: texts,
 * schemas, features, clocks, losses, the end. rec_next() then gives the rows in the order of turns,
 * with memory for one block and for what rows refer to. rec_rewind() begins again.
 *
 * A file may be cut anywhere: all whole blocks are read. A block that is damaged, or missing, is
 * skipped and added to the losses as "corrupt_file". Blocks and items of unknown kinds are skipped,
 * unless they are marked as needed: then rec_open() or rec_next() fails. Everything is checked, and
 * allocations grow only with bytes that were read.
 *
 * What is returned belongs to the reader; of rows it stays until the next call.
 */
#pragma once
#include "base/err.h"
#include "rec/rec.h"

struct rec_file;
struct err *rec_open(const char *path, struct rec_file **ret) MUST_USE;
/* An open file, which belongs to the reader from now on, also after an error. */
struct err *rec_open_fd(int fd, const char *path, struct rec_file **ret) MUST_USE;
/* The bytes stay the caller's, and unchanged until rec_close(). */
struct err *rec_open_mem(const void *p, size_t n, const char *name, struct rec_file **ret) MUST_USE;
void rec_close(struct rec_file *f); /* NULL is allowed */
/* Gives back the memory that only reading takes, which is more than an answer of a few rows. Before the first call of
 * rec_next() or rec_next_answer(), or after the last; reading may begin then as if nothing had happened. */
void rec_rest(struct rec_file *f);

/* ---- what rec_open() found ---- */

struct rec_info {
	const char *path;
	u16 major, minor, ncpu;
	u32 page_size;
	u8 id[16];
	u64 real, mono;    /* clocks when the recording began; 0 if the header is damaged */
	u64 bytes;         /* of the file */
	u64 nblock, nrow;  /* blocks; rows as their headers say */
	u64 stored, raw;   /* bytes of rows, compressed and not */
	u64 first, last;   /* times of the first and the last row; 0 if there are none */
	bool closed;       /* there is an end: */
	enum rec_end end;  /* how it ended, */
	struct str reason; /* in words, */
	u64 rows, lost;    /* and totals of the writer: rows, events lost */
	u64 cut;           /* bytes of an unfinished block at the end of the file */
};
const struct rec_info *rec_info(const struct rec_file *f);
struct str rec_meta_of(const struct rec_file *f, struct str key); /* {NULL} if there is none */
/* Arrays; n is set. */
const struct rec_feature *rec_features(const struct rec_file *f, u32 *n);
const struct rec_clock *rec_clocks(const struct rec_file *f, u32 *n);
/* Losses of the run, and what is damaged in the file; rec_next() may add some. */
const struct rec_loss *rec_losses(const struct rec_file *f, u32 *n);
/* Pairs of key and value. */
const struct str *rec_metas(const struct rec_file *f, u32 *npair);
/* In the order of ids, which may have gaps if the file is damaged. */
const struct rec_schema *const *rec_schemas(const struct rec_file *f, u32 *n);
const struct rec_enum *rec_enum_of(const struct rec_file *f, u32 id); /* NULL if there is none */
/* Rows and bytes by schema, as the end says; NULL if the file has no end. */
const struct rec_total *rec_total_of(const struct rec_file *f, u32 schema);
/* All parts of a blob, appended to out; false if it is not there or not whole. */
bool rec_blob_of(struct rec_file *f, struct str name, struct sb *out);

/* ---- rows ---- */

struct rec_row {
	u64 ts, turn, missing; /* missing: turns before this one that belong to lost events */
	u32 cpu, task_id;
	const struct rec_schema *schema;
	const struct rec_task *task; /* NULL if it is not known */
	const struct rec_cell *cell; /* schema->ncolumn */
};
/* Only rows with from <= ts <= to; blocks without such rows are not read. Before the first
 * rec_next(). */
void rec_between(struct rec_file *f, u64 from, u64 to);
/* Only rows of schemas for which want[id] is true; n: length of want, which stays the caller's.
 * NULL: all. */
void rec_want(struct rec_file *f, const bool *want, u32 n);
/* False at the end; *e is then NULL, or why it could not go on. */
bool rec_next(struct rec_file *f, struct rec_row *ret, struct err **e);
void rec_rewind(struct rec_file *f);

/* ---- an answer, instead of rows ---- */

bool rec_is_answer(const struct rec_file *f);
/* As rec_next(): the items in their order. */
bool rec_next_answer(struct rec_file *f, struct rec_answer *ret, struct err **e);

/* ---- what rows refer to; NULL if it is not known ---- */

const struct rec_task *rec_task_of(const struct rec_file *f, u32 id);
const struct rec_stack *rec_stack_of(const struct rec_file *f, u32 id);
const struct rec_frame *rec_frame_of(const struct rec_file *f, u32 id);
const struct rec_mapping *rec_mapping_of(const struct rec_file *f, u32 id);
/* Threads that ended, so far. */
const struct rec_exit *rec_exits(const struct rec_file *f, u32 *n);
