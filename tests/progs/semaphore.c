/*
 * semaphore MS: a static probe with a semaphore, for at most MS milliseconds. Prints "on" when
 * somebody attaches to it and "off" when nobody is attached any more, and ends.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

enum { STEP_US = 5000 };

__extension__ unsigned short semtest_probe_semaphore __attribute__((section(".probes")));

static int await(int on, long *left)
{
	volatile unsigned short *sem = &semtest_probe_semaphore;

	for (; *left > 0; *left -= STEP_US) {
		if (*sem)
			STAP_PROBE1(semtest, probe, *left);
		if ((*sem > 0) == on) {
			puts(on ? "on" : "off");
			return fflush(stdout);
		}
		usleep(STEP_US);
	}
	printf("still %d\n", *sem);
	return 1;
}

int main(int argc, char **argv)
{
	long left = (argc > 1 ? strtol(argv[1], NULL, 0) : 1000) * 1000;

	return await(1, &left) || await(0, &left);
}
