/* program.h - user stacks in programs: what the rows of ustack, dw_ustack and fp_ustack emit. */
#pragma once
#include "lower/lower.h"

bool unwind_able(struct host *h); /* programs can walk stacks by tables (core/unwind.h) here, */
bool unwind_task_able(struct host *h); /* and send the registers of threads that sleep */
/*
 * The user stack of the current process, of this pid, by tables, as struct stack_value at dst. Control goes to other when
 * its program is not of 64 bits.
 */
void unwind_lower(struct lower *l, struct node *call, struct mem dst, struct ref pid,
		  struct blk *other);
/* The same of a thread that sleeps (a pointer that the verifier knows): user space does all of it. */
void unwind_lower_task(struct lower *l, struct node *call, struct mem dst, struct ref task);
/*
 * Frames of a user stack by frame pointers, without the kernel's help, the number of their bytes in var n; goes to done, or
 * to slow where the helper must do it. False: nothing was emitted, it always must.
 */
bool unwind_frames(struct lower *l, struct node *call, struct mem frames, struct ref n,
		   struct blk *slow, struct blk *done);
