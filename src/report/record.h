/*
 * record.h - the stream of records: checked, held while they must wait, and handed to handle() of the
 * builtin that wrote them.
 *
 * A record that fits no schema of the unit is counted and dropped. While .hold is set, records are
 * copied and nothing acts on them: record_replay() and record_again() hand them on later.
 */
#pragma once
#include "base/str.h"
#include "core/unit.h"

struct reporter;

enum { WARN_SHOWN = 5 }; /* run-time warnings at one place of the script; the rest is counted */

/* The reports of a table that is printed again and again. */
struct reported {
	u64 n, ts;   /* reports so far, and when the latest was printed */
	u64 part_ns; /* duration of the latest, if the end cut it short; else 0 */
	bool over;   /* the run ended with the latest report: print() at the end adds none */
};

struct records {
	bool discard;         /* exit() was called: drop the records that follow */
	bool hold, exit_held; /* keep records for later; one of those kept is of exit() */
	struct sb held, aligned;
	u64 event_ts;             /* of the record that is handled; 0 if it has no time */
	bool own;                 /* as that of its schema */
	u64 corrupt;              /* records that fit no schema */
	u64 unrun;                /* shell commands that were not run: a signal came first */
	u64 *warned;              /* run-time warnings so far, by schema */
	struct reported *reports; /* by table */
	bool told_part;           /* a shorter last report was marked as such */
};

void records_init(struct records *r, const struct unit *u);
void records_free(struct records *r);
/* One record of n bytes at data, which needs no alignment. For rings: reporter is a struct reporter. */
void record_take(void *reporter, const void *data, size_t n);
/* Hand on what was held: record_again() keeps it, record_replay() does not. */
void record_again(struct reporter *r);
void record_replay(struct reporter *r);
void record_forget(struct reporter *r);
