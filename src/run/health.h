/*
 * health.h - what a session has lost and cost so far, while it runs.
 *
 * The numbers only grow. What the kernel cannot tell is 0.
 */
#pragma once
#include "core/unit.h"

struct session;

struct health {
	u64 lost;              /* events that found no room in the ring */
	u64 missed;            /* runs of programs that were skipped, or given up */
	u64 failed_reads;      /* of memory */
	u64 cut;               /* strings that were truncated */
	u64 programs_ns, runs; /* of all programs; 0 unless bpf_stats() is on */
	u64 *full;             /* by map.index: updates that were refused; NULL: not known */
};
void session_health(struct session *s, struct health *ret);
void health_free(struct health *h);
