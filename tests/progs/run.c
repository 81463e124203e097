/* run PROGRAM ARG...: a child executes it (execve), exit code as its own; -s sleeps 50 ms first. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *const env[] = {"A=1", NULL};
	int status = 0, i = 1;

	if (argc > 1 && !strcmp(argv[1], "-s"))
		usleep(50000), i++;
	if (i >= argc)
		return 2;
	if (!fork()) {
		execve(argv[i], argv + i, env);
		_exit(127);
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
