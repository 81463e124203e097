/*
 * Leaves ten allocations of 4096 bytes behind, all from one function; gives back everything else. With an
 * argument three of 1000 bytes by functions of its own, too.
 */
#include <stdlib.h>

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

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; argc > 1 && i < 4; i++) {
		volatile char *p = my_malloc(1000);
		p[0] = 1;
		if (!i)
			my_free((char *)p);
	}
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
