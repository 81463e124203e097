/*
 * calls N [MS]: functions with known names, arguments and results, called N times in this order:
 * target(i, "hello", &pair), add6(1..6), greet("world"), negative(-5), bytes("\x01\x02a...").
 * Then it sleeps MS milliseconds, so that its symbols can still be looked up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP static __attribute__((noinline, noipa))

struct pair {
	int a;
	long b;
	char name[16];
	struct pair *next;
};

unsigned long counter = 40;

KEEP int target(int n, const char *s, struct pair *p)
{
	counter++;
	return n * 2 + (int)strlen(s) + p->a;
}

KEEP long add6(long a, long b, long c, long d, long e, long f)
{
	return a + b + c + d + e + f;
}

KEEP const char *greet(const char *who)
{
	static char text[64];

	snprintf(text, sizeof(text), "hello %s", who);
	return text;
}

KEEP long negative(long n)
{
	return n - 1;
}

KEEP int bytes(const unsigned char *p, size_t n)
{
	return n ? p[n - 1] : 0;
}

int main(int argc, char **argv)
{
	/* In memory when a probe reads it: a page not yet touched would read as empty. */
	static volatile char hello[] = "hello";
	static const unsigned char some[] = {1, 2, 'a', 0xff, 0, 'z'};
	struct pair last = {.a = 2, .b = -2, .name = "second"};
	struct pair first = {.a = 1, .b = 1L << 40, .name = "first", .next = &last};
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 0) : 1;
	long sum = 0;

	hello[0] = 'h';
	for (int i = 0; i < n; i++) {
		sum += target(i, (const char *)hello, &first);
		sum += add6(1, 2, 3, 4, 5, 6);
		sum += greet("world")[0];
		sum += negative(-5);
		sum += bytes(some, sizeof(some));
	}
	if (argc > 2)
		usleep((useconds_t)(strtol(argv[2], NULL, 0) * 1000));
	return sum == 0;
}
