/*
 * spin MS [AFTER [BEFORE]]: burns MS milliseconds of processor time in the function busy, beside what
 * its start took; sleeps BEFORE ms before that and AFTER ms after it.
 */
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

static void sleep_ms(const char *ms)
{
	usleep((useconds_t)(strtol(ms, NULL, 0) * 1000));
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? strtol(argv[1], NULL, 0) : 100;

	if (argc > 3)
		sleep_ms(argv[3]);
	ms += cpu_ms();
	do
		busy();
	while (cpu_ms() < ms);
	if (argc > 2)
		sleep_ms(argv[2]);
	return 0;
}
