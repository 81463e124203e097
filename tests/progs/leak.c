/*
 * Leaves ten allocations of 4096 bytes behind, all from one function; gives back everything else. With
 * the argument mine three of 1000 bytes by functions of its own, too; with pages some by functions that
 * hand out pages, each with a size of its own.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void __attribute__((noinline)) leak(void)
{
	for (int i = 0; i < 10; i++) {
		volatile char *p = malloc(4096);
		p[0] = 1;
	}
}

__attribute__((noinline)) void *my_malloc(size_t n)
{
	return malloc(n);
}

__attribute__((noinline)) void my_free(void *p)
{
	free(p);
}

static void mine(void)
{
	for (int i = 0; i < 4; i++) {
		volatile char *p = my_malloc(1000);
		p[0] = 1;
		if (!i)
			my_free((char *)p);
	}
}

static char *map(size_t n, int flags)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | flags, -1, 0);
}

/* A large malloc() maps memory, too, which is the same memory. */
static void __attribute__((noinline)) pages(void)
{
	volatile char *left[] = {valloc(3000), pvalloc(5000), map(12288, MAP_ANONYMOUS),
				 malloc(300000)};
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		left[i][0] = 1;
	free(valloc(3001));
	free(pvalloc(5001));
	my_free(my_malloc(300001));
	munmap(map(20480, MAP_ANONYMOUS), 20480);
	munmap(map(40960, MAP_ANONYMOUS | MAP_STACK), 4096); /* libc keeps such for later threads */
	map(0, MAP_ANONYMOUS);
	map(4096, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "mine"))
		mine();
	if (argc > 1 && !strcmp(argv[1], "pages"))
		pages();
	void *aligned = NULL;
	volatile size_t too_much = (size_t)-1 / 2;
	leak();
	for (int i = 0; i < 100; i++)
		free(realloc(malloc(100), 200));
	free(malloc(too_much));
	if (!posix_memalign(&aligned, 64, 512))
		free(aligned);
	free(calloc(3, 7));
	return 0;
}
