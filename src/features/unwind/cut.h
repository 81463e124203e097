/* cut.h - tells how many user stacks are not whole, and why. */
#pragma once
#include "unwind/blocks.h"

struct reporter;
/* n "user stacks were", what; nothing if n is 0. who: one loss for each. */
void cut_report(struct reporter *r, const char *who, u64 n, const char *what);
/* Where there is no unwind information: all of them, by file in lost. One line: most of the files are of one
 * program. */
void cut_report_files(struct reporter *r, const struct blocks *blocks, const u64 *lost, u64 all);
