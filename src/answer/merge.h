/*
 * merge.h - answers of several hosts, or of several runs, become one.
 *
 *	merge_new(&spec)
 *	merge_add(m, file)   for each file, in order
 *	merge_read(m)        everything that they contain
 *	merge_put(m, ...)    to an output
 *	merge_free(m)
 *
 * Rows of aggregations with the same key are merged by the aggregation's own rule, integers that
 * scripts only add to are added up, and other values stay apart: their first key is the host. The
 * n-th printing of a map on one host is merged with the n-th on the others. Keys are the same if
 * they are shown alike, with the files of stack frames; of answers from one machine, if they were
 * the same bytes there. If the first key is a label of hosts, values that stay apart have the host
 * as their second key. Texts come in the order of the wall clock, with the name of their host;
 * what begin, end and intervals print on all hosts alike comes once.
 */
#pragma once
#include "core/sink.h"
#include "rec/read.h"

struct rec_writer;

enum { MERGE_MAX_HOSTS = 10000 };

struct merge;
struct merge_spec {
	bool by_host;        /* the host is the first key of every map */
	struct str by_label; /* with by_host: its value of this label instead; "": none */
	bool partial;        /* merge files that are damaged, or have no end */
	/* For merge_write(): answers that cannot be merged exactly are errors; merge_put() is not called. */
	bool bundle;
};
struct merge *merge_new(const struct merge_spec *spec);
/*
 * The file stays the caller's, and open until merge_read() was called. Returns an error if it is not
 * an answer, or one of another script than the first.
 */
struct err *merge_add(struct merge *m, struct rec_file *f) MUST_USE;
/*
 * The same; outputs name the host so, whatever it says of itself. Hosts are in the order of their ranks, which all hosts
 * have or none. A file that merge_write() has made is added several times, once for each of merge_bundled().
 */
struct err *merge_add_named(struct merge *m, struct rec_file *f, struct str host,
			    u32 rank) MUST_USE;
/* The names of the hosts whose answers are in the file, a line for each; "": it is of one host. */
struct str merge_bundled(const struct rec_file *f);
/* Labels of the host that was added last, "KEY=VALUE" on a line each: they come before those of the answer. */
void merge_label(struct merge *m, struct str labels);
/* Returns an error if a file is damaged or not whole; with .partial, such a file is merged as far as it
 * could be read, which the output reports. */
struct err *merge_read(struct merge *m) MUST_USE;
struct err *merge_put(struct merge *m, const struct sink *sink, void *self,
		      const struct show *how) MUST_USE;
/*
 * With .bundle, after merge_read(): one file that has everything of all hosts but for rows of maps, which are merged. So what
 * is made of it, and of answers of other hosts, is what would be made of all of their files.
 */
struct err *merge_write(struct merge *m, struct rec_writer *w) MUST_USE;
/* Whose file merge_read() returned an error about. */
u32 merge_failed(const struct merge *m);
/* What a host says of its run. */
struct merge_run {
	u64 attached_ns;        /* when all was attached, by its wall clock; 0: not known */
	bool measured;          /* what tracing took is known: */
	u64 share;              /* of its processor time, in parts of a million */
	struct str error;       /* why nothing was traced; "": it was, or that is not known */
	const struct str *lack; /* probes that it does not have */
	u32 nlack;
};
struct merge_run merge_run(const struct merge *m, u32 i);
/* Events that were lost, and on how many hosts. */
u64 merge_lost(const struct merge *m, u64 *nhost);
u32 merge_hosts(const struct merge *m);
struct str merge_host(const struct merge *m, u32 i); /* as outputs name it */
struct str merge_script(const struct merge *m);      /* of all */
struct str merge_what(const struct merge *m);        /* the first answer's: what ran, in a line */
struct str merge_arguments(const struct merge *m);   /* of the script, a line for each */
/* The machine that all answers are of, as its boot or its recording is named; "": of several. */
struct str merge_machine(const struct merge *m);
/* What the first key is: "host", "label:KEY" or "". */
struct str merge_by(const struct merge *m);
/* Names and labels of all hosts, or of as many as a text of a file has room for, as answer/labels.h describes them. */
void merge_put_labels(const struct merge *m, struct sb *out);
bool merge_is_partial(const struct merge *m); /* a file that was added is not whole */
void merge_free(struct merge *m);
