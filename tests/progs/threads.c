/* threads N: starts N threads one after the other; each allocates memory, so makes an arena. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *work(void *arg)
{
	char *p = malloc(100);

	if (p)
		p[0] = 1;
	free(p);
	usleep(1000);
	return arg;
}

int main(int argc, char **argv)
{
	enum { MAX = 64 };
	pthread_t t[MAX];
	long n = argc > 1 ? strtol(argv[1], NULL, 0) : 1;

	for (long i = 0; i < n && i < MAX; i++)
		if (pthread_create(&t[i], NULL, work, NULL))
			return 1;
	for (long i = 0; i < n && i < MAX; i++)
		pthread_join(t[i], NULL);
	return 0;
}
