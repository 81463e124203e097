/* child.c - a child without rights, for files that nobody vouches for. */
#include "cmd/cmd.h"
#include "rights/confine.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static struct err *confine(u32 may)
{
	u64 left;
	if (!host_has_seccomp())
		return NULL;
	struct err *e = confine_caps(0, &left);
	return e ? e : confine_calls(may);
}

_Noreturn static void be_child(int (*work)(void *arg), void *arg, u32 may)
{
	int rc = CHILD_FAILED;
	struct err *e = confine(may);
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	else
		rc = work(arg);
	fflush(stderr);
	_exit(rc);
}

struct err *confined_child(int (*work)(void *arg), void *arg, u32 may, int *rc)
{
	int status, pid = fork();
	if (pid < 0)
		return err_sys(errno, "start a child");
	if (!pid)
		be_child(work, arg, may);
	signal(SIGINT, SIG_IGN); /* the child ends, and what it wrote is removed by the caller */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*rc = WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_FAILED;
	if (*rc > CHILD_DAMAGED) /* also if it was stopped by its filter of system calls */
		*rc = CHILD_FAILED;
	/* Whoever read what it writes has seen enough, as head(1) does. */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		*rc = CHILD_DONE;
	else if (WIFSIGNALED(status))
		return err_new("the process that reads the file was ended by signal %d",
			       WTERMSIG(status));
	return NULL;
}
