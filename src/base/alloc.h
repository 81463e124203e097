/* alloc.h - memory for what no arena holds. There is always some, or sonde ends and says so. */
#pragma once
#include "base/base.h"

void *xmalloc(size_t n) MUST_USE;
void *xcalloc(size_t n, size_t size) MUST_USE; /* zeros; also for n 0 */
void *xrealloc(void *p, size_t n) MUST_USE;
char *xstrdup(const char *s) MUST_USE;
/* Has the pages that are wholly in these bytes made at once (Linux 5.14); a touch costs ten times that. */
void pages_ready(void *p, size_t n);
/*
 * Called first in main(): the pages of the program, its stack and its heap that every start uses are made in a few
 * system calls. From then on the pages of the heap are made whenever it grows.
 */
void program_ready(void);
/* Called after fork(): the parent gets its own copies of the heap's pages at once, not with each first write. */
void heap_own(void);
_Noreturn void out_of_memory(void);
