/* machine.h - the machine that scripts are compiled for: this one, a recorded one, or that of recordings. */
#pragma once
#include "api/options.h"
#include "kern/host.h"

/*
 * Make h, whose memory is in a. Nothing is read before it is needed. After an error *what is the name of
 * the option that the error is about, or "". h is initialised also then: call host_deinit().
 */
struct err *machine_open(const struct machine_spec *spec, struct arena *a, struct host *h,
			 const char **what) MUST_USE;
