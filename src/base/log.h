/* log.h - lines about what happens on the way, for -v: to whom it may concern, not to a descriptor. */
#pragma once
#include "base/str.h"

struct log {
	u32 level; /* 0: nothing is logged */
	/* text ends with a newline. NULL: nothing is logged. */
	void (*put)(void *arg, const char *text);
	void *arg;
};
void log_put(const struct log *l, const char *fmt, ...) PRINTF(2, 3);
