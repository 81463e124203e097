#include "base/alloc.h"
#include <string.h>
#include <sys/mman.h>

_Noreturn void out_of_memory(void)
{
	static const char text[] = "ERROR: out of memory\n";
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	abort();
}

enum { PAGE = 4096, POPULATE_READ = 22, POPULATE_WRITE = 23 }; /* MADV_; older headers lack them */

static uintptr_t page_of(uintptr_t at)
{
	return at & -(uintptr_t)PAGE;
}

static void populate(uintptr_t from, uintptr_t to, int how)
{
	from = page_of(from);
	if (from < to)
		(void)madvise((void *)from, to - from, how);
}

/*
 * The heap from its first block to the end of the pages that were requested. glibc answers sbrk(0) without a system call;
 * another C library may not, or may have no such heap. Both are 0 until program_ready(), which a library never calls.
 */
static uintptr_t heap_begin, heap_ready;

static uintptr_t heap_end(void)
{
#ifdef __GLIBC__
	return (uintptr_t)sbrk(0);
#else
	return 0;
#endif
}

static void heap_grown(uintptr_t end)
{
	populate(MAX(heap_ready, heap_begin), end, POPULATE_WRITE);
	heap_ready = end;
}

static void *some(void *p)
{
	if (!p)
		out_of_memory();
	uintptr_t end = heap_begin ? heap_end() : 0;
	if (end != heap_ready)
		heap_grown(end);
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
	uintptr_t from = (uintptr_t)p, to = from + n;
	populate(from + PAGE - 1, page_of(to), POPULATE_WRITE);
}

void program_ready(void)
{
	enum { STACK = 64 * 1024 }; /* of 128 KiB that every program begins with */
	extern const char __executable_start[], edata[], end[];
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	populate((uintptr_t)__executable_start, (uintptr_t)edata, POPULATE_READ);
	populate((uintptr_t)edata, (uintptr_t)end, POPULATE_WRITE);
	populate(here - STACK, page_of(here), POPULATE_WRITE);
	char *first = xmalloc(1);
	heap_begin = (uintptr_t)first;
	free(first);
	heap_ready = 0;
	heap_grown(heap_end());
}

void heap_own(void)
{
	if (heap_begin)
		populate(heap_begin, heap_ready, POPULATE_WRITE);
}
