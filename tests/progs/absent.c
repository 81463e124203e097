/* absent [N]: N times (once) see(text, name, both, nothing), of texts in pages that are not in memory: text is in one page, name
 * is a struct in another that points to a text in a third, both is across two pages, nothing is no address. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "../../include/sonde/sdt.h"
#include <unistd.h>

struct name {
	const char *text;
	long number;
};

__attribute__((noinline)) void see(const char *text, const struct name *name, const char *both,
				   const char *nothing)
{
	DTRACE_PROBE2(absent, see, text, both);
	__asm__ volatile("" : : "r"(text), "r"(name), "r"(both), "r"(nothing) : "memory");
}

int main(int argc, char **argv)
{
	enum { PAGES = 8, LONG = 20 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	int fd = memfd_create("absent", 0);
	char *p;

	if (fd < 0 || ftruncate(fd, (off_t)(PAGES * page)))
		return 1;
	p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 1;
	strcpy(p, "in one page");
	struct name *name = (void *)(p + 2 * page);
	name->text = strcpy(p + 4 * page, "behind a pointer");
	name->number = 42;
	char *both = p + 6 * page - LONG / 2;
	memset(both, 'x', LONG);
	while (n--) {
		madvise(p, PAGES * page, MADV_DONTNEED);
		see(p, name, both, (char *)0x10000);
	}
	return 0;
}
