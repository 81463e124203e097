/*
 * import.h - files of other tracers become recordings.
 *
 * Nobody vouches for such a file: it is read by a process without rights, every number in it is checked, and
 * allocations grow only with bytes that were read.
 */
#pragma once
#include "base/err.h"
#include "rec/write.h"

struct import_sum {
	u64 rows, lost, skipped; /* skipped: events that could not be read */
};
/* Where the rows go. It is made when it is known when the first event happened. */
struct import_out {
	int fd; /* -1: into .mem; belongs to the writer when there is one */
	struct sb *mem;
	const char *name;
	struct rec_writer *w;
};
struct err *import_begin(struct import_out *o, u64 mono, u32 ncpu) MUST_USE;

struct importer {
	const char *name;
	bool (*fits)(const u8 *p, size_t n); /* by its first bytes */
	/* The whole file as bytes, into the recording, which the caller finishes. */
	struct err *(*read)(const u8 *p, size_t n, struct import_out *o, struct import_sum *sum);
};
extern const struct importer import_tracedat;
/* NULL: none of those that are known. */
const struct importer *importer_of(const u8 *p, size_t n);
