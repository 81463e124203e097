/*
 * recparts.h - the files of a recording that has several: numbered segments, or snapshots of what is held in memory.
 *
 * "f.sonde" has segments f-000001.sonde, f-000002.sonde ... and snapshots f-20261127T231502.sonde (UTC).
 */
#pragma once
#include "base/err.h"
#include "base/vec.h"

struct part_file {
	char *path;
	u64 bytes;
};
struct recparts {
	const char *path;           /* "f.sonde" */
	VEC(struct part_file) file; /* the oldest first */
	u32 number;                 /* of the latest segment */
};
/* path stays the caller's. */
void recparts_init(struct recparts *p, const char *path);
void recparts_free(struct recparts *p);
/* Segments that an earlier run left are among the files, and their numbers are not used again. */
void recparts_find(struct recparts *p);
/* A new file, added with 0 bytes; the segment after the last, or a snapshot of this moment. */
struct err *recparts_next(struct recparts *p, int *fd) MUST_USE;
struct err *recparts_snapshot(struct recparts *p, u64 real_ns, int *fd) MUST_USE;
const char *recparts_last(const struct recparts *p);
/* Remove the oldest files, but not the last: while there are more than so many bytes, or files. */
void recparts_bound(struct recparts *p, u64 bytes, u32 files);
