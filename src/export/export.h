/*
 * export.h - a recording as a file of another program: one row of a table, and one file here, for each format.
 *
 *	export_named("json"); export_run(&job, &sum);
 *
 * A format gets the rows of a recording in the order of their turns, and writes bytes. Formats of one
 * file write to exporting.out. Formats that are a folder (.folder) name their files in .parts, and
 * write to exporting.part; the files are open before the first byte of the recording is read,
 * because whoever reads it has no right to open any.
 *
 * cells.h has values as text, timeline.h what happened on threads and CPUs.
 */
#pragma once
#include "rec/read.h"

enum { EXPORT_FLUSH = 256 << 10, EXPORT_MAX_PARTS = 1024, EXPORT_MAX_PIDS = 64 };

/* Bytes on their way to a file. */
struct export_out {
	struct sb b;
	int fd, failed; /* errno of the first write that failed; nothing is written after it */
	u64 written;
};
void export_flush(struct export_out *o);
/* Between things that were put into .b: writes them if they are many. */
static inline void export_room(struct export_out *o)
{
	if (o->b.n >= EXPORT_FLUSH)
		export_flush(o);
}
/* How many bytes are there, written or not. */
static inline u64 export_at(const struct export_out *o)
{
	return o->written + o->b.n;
}
/* Bytes at a place that was written before; of files that can seek. */
void export_patch(struct export_out *o, u64 at, struct str bytes);

/* What a format is given. */
struct exporting {
	struct rec_file *f;
	struct export_out out;
	struct export_out *part; /* of folders */
	u32 npart;
	struct arena a; /* lives as long as the export */
	/* What was not exported, as a sentence each, for the user; .a has the texts. */
	struct str *remark;
	u32 nremark;
};
void export_remark(struct exporting *x, const char *fmt, ...) PRINTF(2, 3);

struct exporter {
	const char *name, *doc;
	const char *ending; /* of a file's name; NULL: text, which goes to standard output */
	bool seeks;         /* writes at places that it has passed: a regular file is needed */
	/* A folder: appends names of its files, each ended by a newline, for a machine with so many CPUs. */
	void (*parts)(struct sb *names, u32 ncpu);
	bool spills; /* the files of .parts are for its own use, and vanish; the format is one file */
	size_t size; /* of what self points to, zeroed */
	void (*begin)(void *self, struct exporting *x);
	void (*row)(void *self, const struct rec_row *r);
	void (*end)(void *self);
};
extern const struct exporter *const exporters[]; /* up to a NULL */
const struct exporter *export_named(struct str name);

struct export_job {
	const struct exporter *to;
	struct rec_file *f;
	int fd;          /* out; belongs to the caller */
	const int *part; /* of folders */
	u32 npart;
	u64 from, to_ns;   /* times of rows; to_ns 0: up to the end */
	struct str probes; /* glob of probes; {NULL}: all */
	const u32 *pid;    /* rows of these processes */
	u32 npid;
};
struct export_sum {
	u64 rows, lost; /* lost: events that the recording lacks, as far as they are counted */
	bool damaged;   /* a part of the recording could not be read */
	struct arena a;
	struct str *remark;
	u32 nremark;
};
/* sum is there also after an error, and ended by export_sum_free(). */
struct err *export_run(const struct export_job *job, struct export_sum *sum) MUST_USE;
void export_sum_free(struct export_sum *sum);
