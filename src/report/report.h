/*
 * report.h - a reporter: everything that turns records and maps of a unit into items for a sink.
 *
 * A reporter does not know where its records come from: see source.h. It loads and attaches nothing.
 * The caller sets the first group of members, and owns what they point to; reporter_init() makes the
 * others, and reporter_free() frees them. One thread uses a reporter.
 *
 * The calls below are for handle() of builtins (core/builtin.h), for what reads and prints maps, and
 * for those who make the run.
 */
#pragma once
#include "core/sink.h"
#include "report/control.h"
#include "report/reader.h"
#include "report/record.h"
#include "report/source.h"

struct arch;
struct calls;
struct baseline_maps;
struct watcher;

/* Where items go, and how the texts in them are made. */
struct report_output {
	const struct sink *sink;
	void *self;                /* the sink's state */
	bool mute;                 /* nothing is printed */
	bool failed;               /* the output cannot be written; nothing more is */
	u32 nerror;                /* calls of errorf() */
	u64 nevent;                /* rows of emit() */
	struct show show, remarks; /* how texts are made: of results; of messages */
	struct watcher *watcher;   /* gets a reading of each map before it is cleared; or NULL */
};

struct reporter {
	const struct unit *unit;
	const struct event_source *source;
	void *from;              /* the state of the source, and of its names */
	const struct arch *arch; /* of the machine that is traced */
	u32 ncpu;                /* CPUs of that machine: maps have a copy for each */
	struct control *control;
	u64 start_ns; /* when the run began, in nsecs of the traced machine */

	struct reader reader;
	struct records records;
	struct report_output output;
	struct baseline_maps *baseline; /* what clear() subtracts: baseline.h */
	struct calls *calls;            /* system calls that have begun: calls.h */
};

void reporter_init(struct reporter *r, const struct sink *sink, void *self);
void reporter_free(struct reporter *r); /* also of one that is all zeros */

/* When the record that is handled was made; without one, how far the run has come. */
u64 report_now(const struct reporter *r);

/* ---- items ---- */
/* If the sink fails, the run is stopped, and nothing more is written; its close() says why. */
void report_put(struct reporter *r, const struct item *it);
void report_flush(struct reporter *r);
void report_text(struct reporter *r, const char *kind, struct str text); /* I_TEXT */
void report_line(struct reporter *r, const char *kind, struct str text); /* I_TEXT, a line */
/* What the script itself reports: errorf() and the like, or warnf() and the like. */
void report_said(struct reporter *r, bool warn, struct loc loc, struct str text);
/* What sonde reports. kind is the type in JSON, "" for none; loc is {0} if there is no place. */
void report_error(struct reporter *r, bool warn, const char *kind, struct loc loc, struct str text);
void report_err(struct reporter *r, bool warn, struct loc loc, struct err *e); /* frees e */

/* ---- maps ---- */
/* top 0: all rows; div 0: values as they are; at_exit: nothing is printed of an empty map. */
void report_print_map(struct reporter *r, const struct map *m, u32 top, u64 div, bool at_exit);
void report_print_maps(struct reporter *r); /* all of the script, as at the end */
/* For a map of histograms; list as in percentile_next(). */
void report_print_percentiles(struct reporter *r, const struct map *m, struct str list);
/*
 * Read all maps of the script for a watcher, which keeps what it needs; nothing of the maps or of what
 * print() shows later changes. What clear() takes off is still in the readings.
 */
void report_watch_maps(struct reporter *r, struct watcher *w);
void report_watch_clear(struct reporter *r,
			const struct map *m); /* one of them, before it is cleared */
void report_clear_map(struct reporter *r, const struct map *m);
void report_zero_map(struct reporter *r, const struct map *m);
/* Report that what ("read", "clear") was impossible. Frees e. */
void report_map_failed(struct reporter *r, const struct map *m, const char *what, struct err *e);

/* ---- the run ---- */
/* exit(): records that follow are dropped, except between the calls of an iterator. */
void report_exit(struct reporter *r, int code);

/* ---- its source ---- */
static inline bool source_has(const struct reporter *r, const struct map *m)
{
	return r->source->has(r->from, m);
}
static inline void *source_mem(const struct reporter *r, const struct map *m)
{
	return r->source->mem(r->from, m);
}
static inline struct err *source_get(struct reporter *r, const struct map *m, const void *key,
				     void *val)
{
	return r->source->get(r->from, m, key, val);
}
static inline struct err *source_put(struct reporter *r, const struct map *m, const void *key,
				     const void *val)
{
	return r->source->put(r->from, m, key, val);
}
static inline struct err *source_del(struct reporter *r, const struct map *m, const void *key)
{
	return r->source->del(r->from, m, key);
}
static inline struct err *source_all(struct reporter *r, const struct map *m, u32 val_size,
				     struct elements *ret)
{
	return r->source->all(r->from, m, val_size, ret);
}
