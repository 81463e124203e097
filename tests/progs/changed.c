/* changed.c - functions whose parameters an optimising compiler drops, makes constants or moves. */
#include <stdio.h>
#define CALL __attribute__((noinline))
struct point {
	int x, y;
	long rest[20];
};
static int at = 40;
static void swallow(const int *p)
{
	at += *p;
}
static void (*volatile use)(const int *) = swallow;

/* Only value is passed: tag[0] is the same in all calls, and so is k. */
static CALL int scaled(int unused, const char *tag, int value, int k)
{
	__asm__ volatile("" ::"r"(value) : "memory");
	return value * 2 + (tag[0] == 'x') + k;
}

/* The parameter's place in the body is its own stack. */
static CALL int kept(int unused, int value)
{
	use(&value);
	return value;
}

CALL int global(int first, int value)
{
	use(&value);
	return first + value;
}

int main(int argc, char **argv)
{
	int sum = 0;
	(void)argv;
	for (int i = 0; i < 3; i++)
		sum += scaled(argc + 5, "xtag", argc + 99 + i, 7) + kept(i, argc + 200 + i) +
		       global(i, argc + 300 + i);
	printf("%d\n", sum);
	return 0;
}
