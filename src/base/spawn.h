/* spawn.h - another program, whose output is read. */
#pragma once
#include "base/err.h"

/* Found in $PATH. Its output comes from *out, and signals that we block or ignore are as they are
 * by default; quiet: what it says beside its output is nobody's concern. */
struct err *spawn_read(char *const *argv, bool quiet, int *pid, int *out) MUST_USE;
/* What is written to *in is its input. */
struct err *spawn_write(char *const *argv, int *pid, int *in) MUST_USE;
