/* clock.h - the one clock that durations are measured by. */
#pragma once
#include "base/base.h"
#include <time.h>

enum { MILLI_NS = 1000000, SECOND_NS = 1000000000 };

static inline u64 clock_ns(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (u64)t.tv_sec * SECOND_NS + (u64)t.tv_nsec;
}

static inline u64 now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
