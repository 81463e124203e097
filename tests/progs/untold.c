/*
 * untold: getppid() is called at the end of functions that no table describes and that keep no frame
 * pointers, twice each: a plain one, one with room for text, one that saves all registers, one that takes
 * room as it needs it, and behind a loop and a switch.
 */
#include <alloca.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEEP static __attribute__((noinline, noipa))

KEEP long plain(long n)
{
	return syscall(SYS_getppid) + n;
}

KEEP long room(long n)
{
	char text[300];
	memset(text, (int)n, sizeof(text));
	return plain(n) + text[n & 255];
}

KEEP long saves(long a, long b, long c)
{
	long d = room(a), e = room(b);
	return a * b + c * d + e * a + b * c;
}

KEEP long takes(long n)
{
	char *p = alloca((size_t)n * 40 + 1);
	memset(p, 1, (size_t)n * 40 + 1);
	return saves(n, n + 1, n + 2) + p[n];
}

KEEP long chooses(long n)
{
	for (long i = 0; i < n; i++)
		switch (i % 7) {
		case 0: n -= plain(1) & 0; break;
		case 1: n += plain(2) & 0; break;
		case 2: n ^= 0; break;
		case 3: n = n * 3 / 3; break;
		case 4: n |= 0; break;
		case 5: return takes(n);
		default: n += 0;
		}
	return 0;
}

int main(void)
{
	return chooses(6) == 1;
}
