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
	bool ends_early;         /* the file is not whole */
};
/* The kernel of this machine, whose functions an imported file may mean. */
struct import_kernel {
	u64 text; /* address of its first function, which says that it is the kernel of the file */
	bool (*name)(void *self, u64 addr, struct str *name, u64 *off);
	void *self;
};
/* Where the rows go. It is made when it is known when the first event happened. */
struct import_out {
	int fd; /* -1: into .mem; belongs to the writer when there is one */
	struct sb *mem;
	const char *name;
	const struct import_kernel *kernel; /* NULL: functions of the kernel get no names */
	struct rec_writer *w;
};
struct err *import_begin(struct import_out *o, u64 mono, u32 ncpu) MUST_USE;

/* What was lost, and what could not be read, as facts of the recording. */
void import_losses(const struct import_out *o, const struct import_sum *sum);

struct importer {
	const char *name;
	bool stacks;                         /* its files can have addresses of the kernel */
	bool (*fits)(const u8 *p, size_t n); /* by its first bytes */
	/* The whole file as bytes, into the recording, which the caller finishes. */
	struct err *(*read)(const u8 *p, size_t n, struct import_out *o, struct import_sum *sum);
};
extern const struct importer import_tracedat, import_perfdata;
/* NULL: none of those that are known. */
const struct importer *importer_of(const u8 *p, size_t n);
