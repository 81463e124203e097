/* scope.h - from the processes that a run is told to trace to the unit's scope. */
#pragma once
#include "api/options.h"
#include "kern/host.h"

/* child is the process of .cmd, which waits; 0 if there is none. Memory is the host's. */
struct err *scope_prepare(const struct target_spec *t, struct host *h, int child,
			  struct scope *ret) MUST_USE;
