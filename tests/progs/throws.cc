/* throws.cc - exceptions and longjmp() that leave functions without a return. Exit status 0 and "9": all were caught. */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#define CALL __attribute__((noinline))
static jmp_buf place;
static volatile int sink;
extern "C" {
CALL int thrower(int i)
{
	if (i % 2)
		throw std::runtime_error("odd");
	sink = sink + 1;
	return i;
}

CALL int catcher(int i)
{
	try {
		return thrower(i) + 1;
	} catch (const std::exception &) {
		return -1;
	}
}

CALL int jumper(int i)
{
	if (i == 2)
		longjmp(place, 1);
	sink = sink + 1;
	return i;
}

/* Compilers that optimise end these by a jump to thrower(), and never. */
CALL int tail(int i)
{
	sink = sink + 1;
	if (i == 4)
		return 4;
	return thrower(i * 2);
}

CALL int tail_of_tail(int i)
{
	sink = sink + 1;
	if (i == 7)
		return 7;
	return tail(i + 1);
}

CALL void ends(int status)
{
	exit(status);
}
}

int main()
{
	int caught = 0;
	volatile int k = 0;
	for (int i = 0; i < 10; i++)
		caught += catcher(i) < 0;
	for (int i = 0; i < 5; i++)
		tail(i);
	caught += setjmp(place) * 4;
	while (k < 5)
		jumper(k++);
	printf("%d\n", caught);
	fflush(stdout);
	ends(0);
}
