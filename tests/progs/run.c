/* run PROGRAM ARG...: a child executes it (execve); its exit code is ours. */
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *const env[] = {"A=1", NULL};
	int status = 0;

	if (argc < 2)
		return 2;
	if (!fork()) {
		execve(argv[1], argv + 1, env);
		_exit(127);
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
