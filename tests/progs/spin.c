/* spin MS [MS2]: burns MS milliseconds of processor time in the function busy, then sleeps MS2. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static __attribute__((noinline, noipa)) void busy(void)
{
	for (volatile int i = 0; i < 100000; i = i + 1)
		;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? strtol(argv[1], NULL, 0) : 100;

	while (cpu_ms() < ms)
		busy();
	if (argc > 2)
		usleep((useconds_t)(strtol(argv[2], NULL, 0) * 1000));
	return 0;
}
