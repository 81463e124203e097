/* readers N K: N threads wait in read(2) of a pipe while K reads of 100 bytes go on beside them. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int pipe_fds[2];

static void *wait_in_read(void *arg)
{
	char c;

	return read(pipe_fds[0], &c, 1) < 0 ? arg : NULL;
}

int main(int argc, char **argv)
{
	enum { MAX = 64 };
	pthread_t t[MAX];
	long n = argc > 1 ? strtol(argv[1], NULL, 0) : 1,
	     k = argc > 2 ? strtol(argv[2], NULL, 0) : 1;
	int zero = open("/dev/zero", O_RDONLY), bad = 0;
	char data[100];

	if (n > MAX || pipe(pipe_fds))
		return 1;
	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, wait_in_read, &bad))
			return 1;
	usleep(200000);
	for (long i = 0; i < k; i++)
		bad |= read(zero, data, sizeof(data)) != sizeof(data);
	close(pipe_fds[1]);
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return bad;
}
