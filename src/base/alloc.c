#include "base/alloc.h"
#include <string.h>
#include <sys/mman.h>

_Noreturn void out_of_memory(void)
{
	static const char text[] = "ERROR: out of memory\n";
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	abort();
}

static void *some(void *p)
{
	if (!p)
		out_of_memory();
	return p;
}

void *xmalloc(size_t n)
{
	return some(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return some(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n)
{
	return some(realloc(p, n ? n : 1));
}

char *xstrdup(const char *s)
{
	return some(strdup(s));
}

void pages_ready(void *p, size_t n)
{
	enum { PAGE = 4096, POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE is not in older headers */
	uintptr_t from = ((uintptr_t)p + PAGE - 1) & -(uintptr_t)PAGE,
		  to = ((uintptr_t)p + n) & -(uintptr_t)PAGE;
	if (from < to)
		(void)madvise((void *)from, to - from, POPULATE_WRITE);
}
