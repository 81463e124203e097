/*
 * points.h - tracepoints of an imported file: the formats that it has of them, as columns of rows.
 *
 * points_read() or points_add(), then for each event point_of() and point_cells(). A column has the expression that
 * live recording gives it: args.prev_pid, str(args.filename). Everything belongs to the arena.
 */
#pragma once
#include "base/arena.h"
#include "base/bytes.h"
#include "rec/rec.h"
#include "types/format.h"

enum {
	POINT_MAX_STRING = 1024,                 /* bytes that are kept of a text */
	POINT_MAX_COLUMNS = REC_MAX_COLUMNS - 2, /* the others are for stacks */
	POINT_HEAD_BYTES = 8,     /* the common fields, with which every event begins */
	POINTS_PER_PAGE = 1 << 8, /* of the table below */
};
struct point {
	u64 id;
	u32 schema; /* the caller's */
	struct str probe;
	u32 ncolumn;
	const struct rec_column *column;
	const struct field *field; /* by column */
};
struct points {
	struct arena *a;
	struct point **page[POINTS_PER_PAGE]; /* by id; NULL: none of its ids has a format */
	struct point **v;                     /* in the order of the file */
	u32 n;
};
/* Formats as trace.dat and perf.data have them: first those of ftrace itself, which are skipped. If the bytes end
 * early, b->bad is set. */
void points_read(struct points *p, struct bytes *b);
void points_read_systems(struct points *p, struct bytes *b); /* without those of ftrace */
/* A length that may be wrong, and so many bytes. */
struct str points_text(struct bytes *b, u64 n);
/* NULL: the file has no format of it, or none that can be read. */
struct point *point_of(const struct points *p, u64 id);
/* The point of the event whose bytes these are, and whose task it is; NULL as above, or if they are too few. */
struct point *point_of_event(const struct points *p, const u8 *body, u32 n, u32 *tid);
/* One cell for each column; texts are in the bytes. False: a field is not within them. */
bool point_cells(const struct point *p, const u8 *body, u32 n, struct rec_cell *ret);
