/*
 * many processes N: N processes one after the other; many threads N: N threads at once. Each makes one system call
 * (getppid) from a function named once.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t all;

static __attribute__((noinline, noipa)) void once(void)
{
	syscall(SYS_getppid);
}

static void *thread(void *arg)
{
	pthread_barrier_wait(&all);
	once();
	pthread_barrier_wait(&all);
	return arg;
}

static int processes(long n)
{
	for (long i = 0; i < n; i++) {
		int pid = fork();
		if (!pid) {
			once();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

static int threads(long n)
{
	pthread_t t;
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 64 << 10);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_barrier_init(&all, NULL, (unsigned)n + 1);
	for (long i = 0; i < n; i++)
		if (pthread_create(&t, &a, thread, NULL)) {
			fprintf(stderr, "%ld threads are all that there may be\n", i);
			return 1;
		}
	pthread_barrier_wait(&all);
	pthread_barrier_wait(&all);
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 0) : 100;
	return argc > 1 && !strcmp(argv[1], "threads") ? threads(n) : processes(n);
}
