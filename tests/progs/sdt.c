/*
 * sdt N [MS]: probes placed by include/sonde/sdt.h, in functions that keep variables below the stack
 * pointer (leaf) and in such that do not (calls). N rounds of
 *
 *	own:none  own:one(i)  own:twelve(1 ... 12)  own:types(...)  own:guarded(i), with a semaphore
 *	own:leaf(i)  other:hello(i, "text")  third:bye(i)
 *
 * The exit code is 1 when leaf() found its variables changed.
 */
#include "../../include/sonde/sdt.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

SONDE_SEMAPHORE(own, guarded);
static unsigned long counter = 40;
static int computed;

/* Eight variables that outlive the probe, and no call: they are kept below the stack pointer. */
KEEP long leaf(long n)
{
	volatile long v[8];

	for (int i = 0; i < 8; i++)
		v[i] = n + i;
	SONDE_PROBE(own, leaf, n);
	for (int i = 0; i < 8; i++)
		if (v[i] != n + i)
			return 1;
	return 0;
}

KEEP long dear(long n)
{
	computed++;
	return n * 100;
}

KEEP void calls(long n)
{
	/* In memory when a probe reads it: a page not yet touched would read as empty. */
	static volatile char text[] = "text";
	signed char c = (signed char)-n;
	unsigned short s = (unsigned short)(n + 65000);
	bool yes = true;
	double d = 2.5;

	text[0] = 't';
	dear(0);
	counter++;
	SONDE_PROBE(own, none);
	SONDE_PROBE(own, one, n);
	SONDE_PROBE(own, twelve, 1, 2, 3, 4, 5, 6, n + 7, n + 8, n + 9, n + 10, 11u, 12ull);
	SONDE_PROBE(own, types, c, s, (int)n - 5, -1L, yes, text, &counter, counter, d);
	if (SONDE_ENABLED(own, guarded))
		SONDE_PROBE_S(own, guarded, n, dear(n));
	DTRACE_PROBE2(other, hello, n, text);
	STAP_PROBE1(third, bye, (int)n);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 0) : 1, changed = 0;

	for (long i = 0; i < n; i++) {
		calls(i);
		changed |= leaf(i);
	}
	if (argc > 2)
		usleep((useconds_t)(strtol(argv[2], NULL, 0) * 1000));
	return changed ? 1 : 0;
}
