/* execthread COMMAND [ARGUMENTS]: a thread runs the command in the place of this process, whose first thread waits. */
#include <pthread.h>
#include <unistd.h>

static void *run(void *command)
{
	char **argv = command;
	execv(argv[0], argv);
	_exit(1);
}

int main(int argc, char **argv)
{
	pthread_t t;
	if (argc < 2 || pthread_create(&t, NULL, run, argv + 1))
		return 1;
	for (;;)
		pause();
}
