/*
 * patience.h - how long to wait for another process's answer.
 *
 * It may use so much processor time, and six times that may pass on the clock in which it used none
 * (it waits for a disk that does not answer). Time in which it got on counts for nothing, nor does
 * what passed between two looks beyond LOOK_MOST: then it was us who did not run, because we were
 * stopped together, or the machine was (whose clocks count that as work of whoever ran). Whatever it
 * does, the sum of what was looked at is limited.
 *
 *	patience_begin(&p, wait_ms, now, cpu);
 *	while (!answered && patience_left(&p, now, cpu) == PATIENCE_LEFT)	now and then
 *
 * cpu: the other's processor time, 0: it cannot be told.
 */
#pragma once
#include "base/base.h"

struct patience {
	u64 wait_ns, worked_ns;
	u64 seen_ns, cpu_ns; /* at the last look */
	u64 still_ns;        /* since it got on */
	u64 all_ns;
};
enum patience_is { PATIENCE_LEFT, PATIENCE_WORKED, PATIENCE_STOOD };
void patience_begin(struct patience *p, u32 wait_ms, u64 now, u64 cpu);
enum patience_is patience_left(struct patience *p, u64 now, u64 cpu);
