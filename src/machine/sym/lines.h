/*
 * lines.h - addresses of processes as the source has them: inlined functions, files and lines.
 *
 * From debug information (types/dwarf.h). A few files are kept open, and what was asked before is
 * remembered; both are bounded.
 */
#pragma once
#include "sym/procs.h"
#include "types/dwarf.h"

struct lines;
struct lines *lines_new(struct host *h);
void lines_free(struct lines *l);
/* At a virtual address of the area's file; the innermost first. What it gives stays until the next
 * call. 0: nothing is known. */
u32 lines_at(struct lines *l, const struct proc *p, const struct area *a, u64 vaddr,
	     const struct debug_frame **ret);
