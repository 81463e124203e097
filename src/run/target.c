/* target.c - the processes that a run is about: the child of -c, those of -p, of tools both. */
#include "run/target.h"
#include "base/alloc.h"
#include "run/scope.h"
#include "run/session.h"
#include <sys/epoll.h>
#include <sys/wait.h>

enum { CHILD_GRACE_MS = 250 };

struct err *target_open(struct target *t, const char *cmd, const struct login *as, const int *pid,
			u32 npid)
{
	struct err *e = NULL;
	u32 first = cmd ? 1 : 0; /* the child */
	assert(!t->fd);
	if (cmd) {
		e = proc_child_start(cmd, as, &t->child);
		if (e)
			return err_wrap(e, "Failed to fork child: ");
	}
	t->fd = xcalloc(first + npid, sizeof(int));
	for (; t->n < first + npid && !e; t->n += !e)
		t->fd[t->n] = proc_pidfd(t->n < first ? t->child.pid : pid[t->n - first], &e);
	t->nalive = t->n;
	return e ? err_wrap(e, "Failed to attach to pid: ") : NULL;
}

static void child_ended(struct target *t)
{
	int status = 0;
	if (!t->child.pid || waitpid(t->child.pid, &status, WNOHANG) != t->child.pid)
		return;
	t->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	t->child.pid = 0;
}

bool target_take(struct session *s, int fd)
{
	struct target *t = s->target;
	for (u32 i = 0; i < t->n; i++) {
		if (t->fd[i] < 0 || t->fd[i] != fd)
			continue;
		scope_ended(s); /* before nothing can be asked about it any more */
		child_ended(t);
		epoll_ctl(s->loop.epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		close_fd(&t->fd[i]);
		t->fd[i] = -1;
		assert(t->nalive);
		t->nalive--;
		return true;
	}
	return false;
}

void target_end(struct target *t)
{
	proc_child_end(&t->child, CHILD_GRACE_MS, t->n ? t->fd[0] : -1);
}

void target_close(struct target *t)
{
	target_end(t);
	for (u32 i = 0; i < t->n; i++)
		close_fd(&t->fd[i]);
	free(t->fd);
	free((char *)t->child.path);
	*t = TARGET_NONE;
}
