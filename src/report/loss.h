/*
 * loss.h - the sentences about what did not reach the user, or not as it should.
 *
 * The numbers come from whoever makes the run (run/counters.c reads the kernel's counters). Each call
 * reports one kind of loss, as an item of kind I_LOST; a number of 0 is not reported.
 */
#pragma once
#include "core/loss.h"
#include "core/unit.h"

struct reporter;

/* text is the whole sentence with its hint; who is the map, probe or file, or "". */
void loss_put(struct reporter *r, enum loss kind, struct str who, u64 n, struct str text);
/* A number is unknown, because the kernel could not be asked: it is not 0. Frees e; NULL is no error. */
void loss_uncounted(struct reporter *r, const char *what, struct err *e);
/* lossf(): n of something are not in the results. */
void report_lost(struct reporter *r, u64 n, struct str text);
/* The attach points of a program, as the script names them: the first, and the number of others. */
void prog_put_points(struct sb *out, const struct prog *p);

/* The counters that programs write, and how much of them was reported. Zeros at first. */
struct loss_counters {
	u64 *stats; /* copy of the value of MAP_STATS (core/unit.h); NULL until it was read */
	u64 shown;  /* lost events that were reported while the script runs */
	u64 read_ns, before_ns; /* when .stats was read last, and the time before that; 0: never */
	u64 *full, *other;      /* by map: refused updates that were reported; made when needed */
};
void loss_counters_free(struct loss_counters *c);
/* Events that were lost since the last call. Call it also if .stats could not be read. */
void loss_events(struct reporter *r, struct loss_counters *c, bool stats);
/* Updates of maps that were refused. While the script runs (ended false): the first ones, then only
 * when there are ten times as many. */
void loss_maps(struct reporter *r, struct loss_counters *c, bool ended);

/* ---- at the end, in this order ---- */
/* All events that were lost, and the probes that lost them; ring_bytes is the size of the buffer. */
void loss_total(struct reporter *r, const struct loss_counters *c, bool stats, u32 ring_bytes);
/* n runs of a program were skipped by the kernel. */
void loss_skipped(struct reporter *r, const struct prog *p, u64 n);
/* n hits of a probe for which no program was run. LOSS_UNKNOWN if the kernel cannot tell. */
void loss_missed(struct reporter *r, const struct prog *p, u64 n);
/* Runs that gave up, strings that were cut, reads that failed. */
void loss_of_prog(struct reporter *r, const struct loss_counters *c, const struct prog *p);
/* System calls of 32-bit programs whose arguments the script cannot read, at their start or at their end. */
void loss_foreign(struct reporter *r, const struct loss_counters *c);
/* Reads that failed, of all programs; only if the script has neither asked for warnings about them
 * nor switched them off. */
void loss_reads(struct reporter *r, const struct loss_counters *c);
/* The events of a program on a CPU were not seen for ns nanoseconds. */
void loss_absent(struct reporter *r, const struct prog *p, u32 cpu, u64 ns);
void loss_replaced(struct reporter *r, const char *file);
/* Records that could not be read, and actions that were not run. */
void loss_records(struct reporter *r);
/* Run-time warnings that were not shown, because there were too many. */
void loss_warnings(struct reporter *r);
