/* alloc.h - memory for what no arena holds. There is always some, or sonde ends and says so. */
#pragma once
#include "base/base.h"

void *xmalloc(size_t n) MUST_USE;
void *xcalloc(size_t n, size_t size) MUST_USE; /* zeros; also for n 0 */
void *xrealloc(void *p, size_t n) MUST_USE;
char *xstrdup(const char *s) MUST_USE;
/* Has the pages that are wholly in these bytes made at once (Linux 5.14); a touch costs ten times that. */
void pages_ready(void *p, size_t n);
_Noreturn void out_of_memory(void);
