/* spawn.c - see the header. */
#include "base/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

/* *end: ours of a pipe whose other end is its stream fd. */
static struct err *spawn(char *const *argv, bool quiet, int fd, int *pid, int *end)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int p[2], theirs = fd == STDIN_FILENO ? 0 : 1;
	if (pipe2(p, O_CLOEXEC))
		return err_sys(errno, "pipe");
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, p[theirs], fd);
	if (quiet)
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	int no = posix_spawnp(pid, argv[0], &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	close(p[theirs]);
	if (no) {
		close(p[!theirs]);
		return err_sys(no, "start %s", argv[0]);
	}
	*end = p[!theirs];
	return NULL;
}

struct err *spawn_read(char *const *argv, bool quiet, int *pid, int *out)
{
	return spawn(argv, quiet, STDOUT_FILENO, pid, out);
}

struct err *spawn_write(char *const *argv, int *pid, int *in)
{
	return spawn(argv, false, STDIN_FILENO, pid, in);
}
