/* execat: programs that are started by execveat(), by a descriptor, with many arguments, and one that is not there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { MANY = 400 };

static void start(int how)
{
	static char name[] = "shown", arg[] = "arg", last[] = "last", none[] = "/nowhere/true";
	char *argv[MANY + 2] = {name, arg};
	int dir = open("/bin", O_RDONLY | O_DIRECTORY), file = open("/bin/true", O_RDONLY | O_CLOEXEC);
	for (int i = 0; how == 3 && i < MANY; i++)
		argv[i] = argv[0];
	if (how == 3)
		argv[MANY] = last;
	if (how == 0)
		syscall(SYS_execveat, dir, "true", argv, environ, 0);
	else if (how == 1)
		syscall(SYS_execveat, file, "", argv, environ, AT_EMPTY_PATH);
	else
		execve(how == 2 ? none : "/bin/true", argv, environ);
	_exit(1);
}

int main(void)
{
	for (int how = 0; how < 4; how++) {
		if (!fork())
			start(how);
		wait(NULL);
	}
	return 0;
}
