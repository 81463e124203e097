/*
 * timeout.h - how long to wait for another process's answer.
 *
 * It may use so much processor time, and six times that may pass on the clock in which it used none
 * (it waits for a disk that does not answer). Time in which it got on counts for nothing, nor does
 * what passed between two looks beyond LOOK_MOST: then it was us who did not run, because we were
 * stopped together, or the machine was (whose clocks count that as work of whoever ran). Whatever it
 * does, the sum of what was looked at is limited.
 *
 *	timeout_begin(&p, wait_ms, now, cpu);
 *	while (!answered && timeout_left(&p, now, cpu) == TIMEOUT_LEFT)	now and then
 *
 * cpu: the other's processor time, 0: it cannot be told.
 */
#pragma once
#include "base/base.h"

struct timeout {
	u64 wait_ns, worked_ns;
	u64 seen_ns, cpu_ns; /* at the last look */
	u64 still_ns;        /* since it got on */
	u64 all_ns;
};
enum timeout_is { TIMEOUT_LEFT, TIMEOUT_WORKED, TIMEOUT_STOOD };
void timeout_begin(struct timeout *p, u32 wait_ms, u64 now, u64 cpu);
enum timeout_is timeout_left(struct timeout *p, u64 now, u64 cpu);
