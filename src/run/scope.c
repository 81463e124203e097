/*
 * scope.c - the processes that are traced: told to the programs' filters, followed, and waited for.
 */
#include "run/scope.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "kern/caps.h"
#include "proc/follow.h"
#include "report/loss.h"
#include "run/session.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

struct followed {
	struct follow *follow; /* NULL: no --follow */
	u64 looked_ns;
};

static struct err *put_pids(const struct live *l, const struct scope *s)
{
	struct err *e = NULL;
	for (u32 i = 0; i < s->npid && !e; i++)
		if (!s->pid[i].ino)
			e = live_put(l, s->pids, &s->pid[i].id, &(u32){0});
	return e ? err_wrap(e, "list of processes: ") : NULL;
}

static struct err *put_cgroups(const struct scope *s, int map)
{
	struct err *e = NULL;
	for (u32 i = 0; i < s->ncgroup && !e; i++) {
		AUTO_CLOSE int fd = open(s->cgroup[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		e = fd < 0 ? err_file(errno, s->cgroup[i], "open control group %s", s->cgroup[i])
			   : bpf_map_put(map, &i, &(u32){(u32)fd});
	}
	return e;
}

/* Children first: one that is forked between may be known twice, but not missed. */
static struct err *follow(struct session *s, const struct scope *sc, struct follow **ret)
{
	struct follow_seed *seed AUTO_FREE = xcalloc(sc->npid, sizeof(*seed));
	u32 n = 0;
	for (u32 i = 0; i < sc->npid; i++)
		if (sc->pid[i].ino)
			seed[n++] =
				(struct follow_seed){sc->pid[i].dev, sc->pid[i].ino, sc->pid[i].id};
	return follow_open(s->h, map_fd(s, sc->pids), seed, n, ret);
}

static struct err *scope_open(struct session *s, void *self)
{
	struct followed *f = self;
	const struct scope *sc = &s->u->scope;
	struct err *e = NULL;
	if (sc->follow)
		e = follow(s, sc, &f->follow);
	int pids = map_fd(s, sc->pids), cgroups = map_fd(s, sc->cgroups);
	if (!e && pids >= 0)
		e = put_pids(&s->live, sc);
	if (!e && cgroups >= 0)
		e = put_cgroups(sc, cgroups);
	return e;
}

static void tell_gone(struct session *s, int pid)
{
	AUTO_SB text = {0};
	assert(pid > 0);
	sb_fmt(&text,
	       "process %d has started a program with another owner or capabilities: perf "
	       "events (software, hardware, watchpoint) do not follow it there",
	       pid);
	loss_put(&s->reporter, LOSS_PROCESS, STR(""), (u64)pid, sb_str(&text));
	for (struct link *l = s->live.links; l; l = l->next) /* once */
		l->task = l->task == pid ? 0 : l->task;
}

/* The child of -c has ended, perhaps sooner than anybody looked. */
void scope_ended(struct session *s)
{
	int pid = s->target->child.pid;
	bool any = false;
	for (const struct link *l = s->live.links; l; l = l->next)
		any |= pid && l->task == pid;
	if (any && (proc_is_shielded(pid, true) || proc_gains(s->target->child.path)))
		tell_gone(s, pid);
}

/* A setuid program, once started, is not followed by perf events any more. */
static void scope_tick(struct session *s, void *self)
{
	struct followed *f = self;
	enum { LOOK_NS = SECOND_NS / 5 };
	u64 now = now_ns();
	if (now - f->looked_ns < LOOK_NS)
		return;
	f->looked_ns = now;
	for (const struct link *l = s->live.links; l; l = l->next)
		if (l->task && proc_is_shielded(l->task, false) &&
		    proc_program(l->task) != l->program)
			tell_gone(s, l->task);
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
	for (bool more = bpf_map_next(map_fd(s, sc->pids), NULL, &key); more;
	     prev = key, more = bpf_map_next(map_fd(s, sc->pids), &prev, &key))
		if (!first || proc_runs(s->h, (int)key))
			return true;
	return false;
}

bool scope_over(struct session *s)
{
	const struct followed *f = s->service[SERVICE_SCOPE];
	return !s->target->nalive && (!f->follow || !any_lives(s));
}

static void scope_report(struct session *s, void *self)
{
	const struct followed *f = self;
	AUTO_SB b = {0};
	u64 n;
	loss_uncounted(&s->reporter, "how many children were not followed",
		       follow_full(f->follow, &n));
	if (!n)
		return;
	sb_fmt(&b,
	       "%llu child process%s not followed: there is room for %u; allow more: "
	       "BPFTRACE_MAX_FOLLOWED=%llu",
	       n, n == 1 ? " was" : "es were", s->u->scope.pids->max_entries,
	       8ull * s->u->scope.pids->max_entries);
	loss_put(&s->reporter, LOSS_NOT_FOLLOWED, STR(""), n, sb_str(&b));
}

static void scope_close(void *self)
{
	follow_close(((struct followed *)self)->follow);
}

const struct service service_scope = {
	.name = "scope",
	.size = sizeof(struct followed),
	.open = scope_open,
	.tick = scope_tick,
	.report = scope_report,
	.close = scope_close,
};
