/* cost.h - what the trace takes of the machine, so far. */
#pragma once
#include "base/base.h"

struct session;

/* Processor time of this process since it began. */
u64 cost_own_ns(void);
/* Of all programs since they were loaded. False if the kernel does not measure them. */
bool cost_programs_ns(struct session *s, u64 *ret);
u32 cost_cpus(void); /* on line */
