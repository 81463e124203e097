/* mutex: a thread waits for a lock that main holds, and main gives it up when the thread sleeps. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int waiter; /* its id, just before it waits */

__attribute__((noinline)) void wait_for_it(void)
{
	waiter = gettid();
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void *thread(void *arg)
{
	wait_for_it();
	return arg;
}

static int sleeps(int tid)
{
	char path[64], text[256] = "";
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	FILE *f = tid ? fopen(path, "r") : NULL;
	if (!f)
		return 0;
	int read = fgets(text, sizeof(text), f) != NULL;
	fclose(f);
	return read && strstr(text, ") S ");
}

__attribute__((noinline)) void give_up(void)
{
	pthread_mutex_unlock(&lock);
	waiter = 0;
}

int main(void)
{
	pthread_t t;
	pthread_mutex_lock(&lock);
	if (pthread_create(&t, NULL, thread, NULL))
		return 1;
	while (!sleeps(waiter))
		usleep(1000);
	give_up();
	return pthread_join(t, NULL);
}
