/* perf_common.c - programs on perf events: one, one per CPU, one per thread. */
#include "probe/common.h"
#include "proc/proc.h"
#include <dirent.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>

struct err *perf_start_fd(int perf_fd, struct attach *a)
{
	link_add(&a->links, -1, perf_fd);
	return perf_attach(perf_fd, a->fd);
}

struct err *perf_start(const struct perf_spec *s, struct attach *a)
{
	int fd;
	struct err *e = perf_open(s, &fd);
	return e ? e : perf_start_fd(fd, a);
}

/* Threads it starts later inherit the event. One that ends meanwhile is no error. */
static struct err *start_threads(struct host *h, int pid, struct perf_spec *s, struct attach *a)
{
	DIR *d = opendir(proc_file(h, h->arena, pid, "task"));
	if (!d)
		return err_kern(errno, "list the threads of process %d", pid);
	struct err *e = NULL;
	u32 n = 0;
	for (struct dirent *t; !e && (t = readdir(d));) {
		u64 tid;
		if (!str_u64(str_z(t->d_name), &tid))
			continue;
		s->pid = (int)tid;
		s->cpu = -1;
		s->inherit = true;
		e = perf_start(s, a);
		if (!e && (int)tid == pid) {
			a->links->task = pid;
			a->links->program = proc_program(pid);
		}
		if (e && e->no == ESRCH) {
			err_free(e);
			e = NULL;
			continue;
		}
		n++;
	}
	closedir(d);
	return e || n ? e : err_new("process %d has ended", pid);
}

struct err *perf_start_all(struct host *h, const struct unit *u, struct perf_spec *s,
			   struct attach *a)
{
	struct err *e = NULL;
	s->children = u->scope.follow;
	for (u32 i = 0; i < u->scope.npid && !e; i++)
		e = start_threads(h, u->scope.pid[i].pid, s, a);
	if (u->scope.npid)
		return e;
	u32 *cpus, n;
	e = host_online(h, &cpus, &n);
	for (u32 i = 0; !e && i < n; i++) {
		s->pid = -1;
		s->cpu = (int)cpus[i];
		e = perf_start(s, a);
		if (!e)
			a->links->cpu = cpus[i] + 1;
		if (e && (e->no == ENODEV || e->no == ENXIO) &&
		    i + 1 < n) { /* went offline just now */
			err_free(e);
			e = NULL;
		}
	}
	return e;
}

struct err *perf_able(u32 type, u64 config, u64 addr)
{
	struct perf_spec s = {.type = type, .config = config, .period = 1000000, .cpu = -1};
	AUTO_CLOSE int fd = -1;
	if (addr) {
		s.bp_type = HW_BREAKPOINT_W;
		s.config1 = addr;
		s.config2 = 4;
	}
	return perf_open(&s, &fd);
}
