/*
 * Threads at known places, for as long as standard input is open: main reads it, `sleeper` sleeps, `locker`
 * waits for a mutex, `deep` waits below 20 calls of a function, `spinner` runs. Prints a line when all are
 * there.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { DEPTH = 20 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static volatile unsigned long turns;

static void begin(const char *name)
{
	prctl(PR_SET_NAME, name);
	pthread_barrier_wait(&barrier);
}

__attribute__((noinline)) void sleeps(void)
{
	while (turns != ~0ul)
		sleep(1000);
}

__attribute__((noinline)) void locks(void)
{
	pthread_mutex_lock(&mutex);
	turns++;
}

__attribute__((noinline)) void descends(int n)
{
	if (n)
		descends(n - 1);
	else
		pause();
	turns++;
}

__attribute__((noinline)) void spins(void)
{
	while (turns != ~0ul)
		turns++;
}

static void *sleeper(void *arg)
{
	begin("sleeper");
	sleeps();
	return arg;
}

static void *locker(void *arg)
{
	begin("locker");
	locks();
	return arg;
}

static void *deep(void *arg)
{
	begin("deep");
	descends(DEPTH);
	return arg;
}

static void *spinner(void *arg)
{
	begin("spinner");
	spins();
	return arg;
}

int main(void)
{
	void *(*const body[])(void *) = {sleeper, locker, deep, spinner};
	enum { N = sizeof(body) / sizeof(body[0]) };
	pthread_t thread[N];
	char c;
	pthread_barrier_init(&barrier, NULL, N + 1);
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < N; i++)
		if (pthread_create(&thread[i], NULL, body[i], NULL))
			return 1;
	pthread_barrier_wait(&barrier);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
