/*
 * scope.c - the processes that are traced: told to the programs' filters, followed, and waited for.
 */
#include "kern/caps.h"
#include "kern/follow.h"
#include "run/run.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/wait.h>

static struct err *put_pids(const struct scope *s)
{
	struct err *e = NULL;
	for (u32 i = 0; i < s->npid && !e; i++)
		if (!s->pid[i].ino)
			e = bpf_map_put(s->pids->fd, &s->pid[i].id, &(u32){0});
	return e ? err_wrap(e, "list of processes: ") : NULL;
}

static struct err *put_cgroups(const struct scope *s)
{
	struct err *e = NULL;
	for (u32 i = 0; i < s->ncgroup && !e; i++) {
		AUTO_CLOSE int fd = open(s->cgroup[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		e = fd < 0 ? err_file(errno, s->cgroup[i], "open control group %s", s->cgroup[i])
			   : bpf_map_put(s->cgroups->fd, &i, &(u32){(u32)fd});
	}
	return e;
}

/* Children first: one that is forked between may be known twice, but not missed. */
static struct err *follow(struct session *s, const struct scope *sc)
{
	struct follow_seed *seed AUTO_FREE = calloc(sc->npid + 1, sizeof(*seed));
	u32 n = 0;
	if (!seed)
		abort();
	for (u32 i = 0; i < sc->npid; i++)
		if (sc->pid[i].ino)
			seed[n++] =
				(struct follow_seed){sc->pid[i].dev, sc->pid[i].ino, sc->pid[i].id};
	return follow_open(s->h, sc->pids->fd, seed, n, &s->follow);
}

struct err *scope_open(struct session *s)
{
	const struct scope *sc = &s->u->scope;
	struct err *e = NULL;
	if (sc->follow && !s->follow)
		e = follow(s, sc);
	if (!e && sc->pids && sc->pids->fd >= 0)
		e = put_pids(sc);
	if (!e && sc->cgroups && sc->cgroups->fd >= 0)
		e = put_cgroups(sc);
	return e;
}

bool scope_take(struct session *s, int fd)
{
	for (u32 i = 0; i < s->ntarget; i++) {
		if (s->target_fd[i] < 0 || s->target_fd[i] != fd)
			continue;
		if (s->child.pid && waitpid(s->child.pid, NULL, WNOHANG) == s->child.pid)
			s->child.pid = 0;
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		close_fd(&s->target_fd[i]);
		s->nalive--;
		return true;
	}
	return false;
}

/* A setuid program, once started, is not followed by perf events any more. */
void scope_tick(struct session *s)
{
	enum { LOOK_NS = SECOND_NS / 5 };
	u64 now = run_now();
	if (now - s->scoped_ns < LOOK_NS)
		return;
	s->scoped_ns = now;
	for (struct link *l = s->links; l; l = l->next) {
		int pid = l->task;
		if (!pid || !proc_is_shielded(pid) || proc_program(pid) == l->program)
			continue;
		AUTO_SB text = {0};
		sb_fmt(&text,
		       "process %d has started a program with another owner or capabilities: perf "
		       "events (software, hardware, watchpoint) do not follow it there",
		       pid);
		loss_put(s, "process", STR(""), (u64)pid, sb_str(&text));
		for (struct link *t = l; t; t = t->next) /* once */
			t->task = t->task == pid ? 0 : t->task;
	}
}

/*
 * Does a process of the set live? One that is only waited for does nothing more. Ids of another pid
 * namespace cannot be looked up, so they count until they leave the set.
 */
static bool any_lives(struct session *s)
{
	const struct scope *sc = &s->u->scope;
	u32 key, prev;
	bool first = scope_in_first_ns(sc);
	while (getpid() == 1 && waitpid(-1, NULL, WNOHANG) > 0) /* as init, orphans are ours */
		;
	for (bool more = bpf_map_next(sc->pids->fd, NULL, &key); more;
	     prev = key, more = bpf_map_next(sc->pids->fd, &prev, &key))
		if (!first || proc_runs(s->h, (int)key))
			return true;
	return false;
}

bool scope_over(struct session *s)
{
	return !s->nalive && (!s->follow || !any_lives(s));
}

void scope_close(struct session *s)
{
	follow_close(s->follow);
	s->follow = NULL;
}
