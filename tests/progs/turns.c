/*
 * turns N: two threads on two processors make N calls of lseek(-1, 1 ...N) by turns, one after the
 * other is back from its. turns N at-once: both at the same time, each N of getppid.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long n, turn, ready, at_once;

static void *run(void *arg)
{
	long me = (long)arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(me, &set);
	sched_setaffinity(0, sizeof(set), &set); /* fails on a machine with one: no matter */
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2)
		sched_yield();
	for (long i = at_once ? 0 : me; i < n; i += at_once ? 1 : 2) {
		if (at_once) {
			syscall(SYS_getppid);
			continue;
		}
		while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != i)
			sched_yield();
		lseek(-1, i + 1, SEEK_SET);
		__atomic_store_n(&turn, i + 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	n = argc > 1 ? strtol(argv[1], NULL, 0) : 1000;
	at_once = argc > 2;
	pthread_create(&thread, NULL, run, (void *)1);
	run((void *)0);
	pthread_join(thread, NULL);
	return 0;
}
