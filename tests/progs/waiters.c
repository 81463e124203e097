/*
 * waiters N K: N threads wait half a second in sigtimedwait(2), which nobody else calls, while K
 * calls that do not wait go on beside them.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void call(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigtimedwait(&set, NULL, &t);
}

static void *wait_in_call(void *arg)
{
	call(500);
	return arg;
}

int main(int argc, char **argv)
{
	enum { MAX = 64 };
	pthread_t t[MAX];
	long n = argc > 1 ? strtol(argv[1], NULL, 0) : 1,
	     k = argc > 2 ? strtol(argv[2], NULL, 0) : 1;

	if (n > MAX)
		return 1;
	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, wait_in_call, NULL))
			return 1;
	usleep(200000);
	for (long i = 0; i < k; i++)
		call(0);
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
