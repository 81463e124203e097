/*
 * crowd N FILES PROGRAM [ARGUMENT...]: N processes that run the program; % in an argument is the process's
 * number modulo FILES, and %% its number divided by it. Prints "ready" when all are started, and ends them when its
 * input ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static char *fill(const char *arg, int number, int files)
{
	const char *at = strchr(arg, '%');
	char *text = NULL;
	if (!at)
		return strdup(arg);
	int twice = at[1] == '%';
	if (asprintf(&text, "%.*s%d%s", (int)(at - arg), arg,
		     twice ? number / files : number % files, at + 1 + twice) < 0)
		exit(1);
	return text;
}

static pid_t start(char **argv, int number, int files)
{
	char *arg[16] = {NULL};
	pid_t pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 15 && argv[i]; i++)
		arg[i] = fill(argv[i], number, files);
	execv(arg[0], arg);
	_exit(127);
}

int main(int argc, char **argv)
{
	enum { AT_ONCE = 20, PAUSE_US = 40000 };
	int n = argc > 3 ? atoi(argv[1]) : 0, files = argc > 3 ? atoi(argv[2]) : 0;
	pid_t *v = calloc((size_t)n + 1, sizeof(*v));
	char c;
	if (n <= 0 || files <= 0 || !v)
		return 2;
	for (int i = 0; i < n; i++) {
		v[i] = start(argv + 3, i, files);
		if (i % AT_ONCE == 0)
			usleep(PAUSE_US);
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	for (int i = 0; i < n; i++)
		if (v[i] > 0)
			kill(v[i], SIGKILL);
	return 0;
}
