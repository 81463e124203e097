#include "api/scope.h"
#include "proc/cgroup.h"
#include "proc/proc.h"

/* The child is the first of them. */
static struct err *set_pids(const struct target_spec *t, struct host *h, int child, struct scope *s)
{
	struct scope_pid *v = arena_newn(h->arena, struct scope_pid, t->npid + 1);
	struct err *e = NULL;
	if (child)
		v[s->npid++].pid = child;
	for (u32 i = 0; i < t->npid; i++)
		v[s->npid++].pid = t->pid[i];
	for (u32 i = 0; i < s->npid && !e; i++)
		e = proc_ns_pid(h, v[i].pid, &v[i].id, &v[i].dev, &v[i].ino);
	s->pid = v;
	return e;
}

static struct err *set_cgroups(const struct target_spec *t, struct host *h, struct scope *s)
{
	const char **v = arena_newn(h->arena, const char *, t->ncgroup + t->ncontainer + 1);
	struct err *e = NULL;
	for (u32 i = 0; i < t->ncgroup && !e; i++)
		e = cgroup_find(h, t->cgroup[i], &v[s->ncgroup++]);
	e = e ? err_wrap(e, "--cgroup: ") : NULL;
	for (u32 i = 0; i < t->ncontainer && !e; i++) {
		e = cgroup_container(h, t->container[i], &v[s->ncgroup++]);
		e = e ? err_wrap(e, "--container: ") : NULL;
	}
	s->cgroup = v;
	return e;
}

static void set_viewers(struct host *h, struct scope *s)
{
	int *v = arena_newn(h->arena, int, s->npid + s->ncgroup + 1);
	for (u32 i = 0; i < s->npid; i++)
		v[s->nviewer++] = s->pid[i].pid;
	for (u32 i = 0; i < s->ncgroup && !s->npid; i++) {
		v[s->nviewer] = cgroup_any_process(h, s->cgroup[i]);
		s->nviewer += v[s->nviewer] > 0;
	}
	s->viewer = v;
}

struct err *scope_prepare(const struct target_spec *t, struct host *h, int child, struct scope *ret)
{
	child = t->whole_machine ? 0 : child; /* then it is not what is traced */
	struct scope s = {.kernel = t->npid || t->follow, .follow = t->follow};
	if (t->follow && !t->npid && !child)
		return err_new("--follow needs processes to begin with: -p or -c");
	if (t->ncgroup + t->ncontainer > SCOPE_MAX_CGROUPS)
		return err_new("too many control groups (%u at most)", SCOPE_MAX_CGROUPS);
	struct err *e = set_pids(t, h, child, &s);
	if (!e)
		e = set_cgroups(t, h, &s);
	if (e)
		return e;
	set_viewers(h, &s);
	*ret = s;
	return NULL;
}
