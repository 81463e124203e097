#include "base/alloc.h"
#include <string.h>

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
