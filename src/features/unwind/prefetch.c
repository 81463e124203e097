/* prefetch.c - who is taken in first; see the header. */
#include "unwind/prefetch.h"
#include "core/unit.h"
#include "kern/host.h"
#include "proc/paths.h"
#include "sym/procs.h"
#include <sys/stat.h>

enum {
	SELDOM = 10000
}; /* per second; there is room for 126 large copies, which are looked at each 10 ms */

/*
 * Of files with user probes; of a file that lies over others, maps tells another device than stat().
 * Another file with the number costs some time.
 */
struct inodes {
	VEC(u64) of;
};

static bool has(const struct inodes *i, u64 ino)
{
	for (u32 k = 0; k < i->of.n; k++)
		if (i->of.v[k] == ino)
			return true;
	return false;
}

static void add_target(struct inodes *i, struct host *h, const struct point *p)
{
	struct stat st;
	const char *path = arena_strz(h->arena, p->target), *old = NULL;
	if (p->old)
		err_free(proc_old_file(h, p->pid, path, &old));
	path = old ? old : proc_real_path(h, p->pid, path);
	if (!stat(path, &st) && !has(i, st.st_ino))
		vec_add(&i->of, st.st_ino);
}

static void add_probed(struct inodes *i, const struct unit *u, struct host *h)
{
	struct str before = {0};
	for (u32 k = 0; k < u->nprog; k++) {
		const struct point *p = u->prog[k]->points;
		bool user = p && point_flags(p) & PROBE_USER;
		for (; user && p; before = p->target, p = p->next)
			if (p->target.n && !str_eq(p->target, before))
				add_target(i, h, p);
	}
}

static bool maps_one(const struct proc *p, const struct inodes *i)
{
	for (u32 k = 0; k < p->now->n; k++)
		if (p->now->v[k].module && has(i, p->now->v[k].module->ino))
			return true;
	return false;
}

/* All that fires, on all CPUs. */
static bool is_seldom(const struct unit *u, u32 ncpu)
{
	u64 rate = 0;
	for (u32 k = 0; k < u->nprog; k++) {
		const struct point *p = u->prog[k]->points;
		if (u->prog[k]->phase != PROG_ATTACH)
			continue;
		for (; p && p->method->rate && rate < SELDOM; p = p->next)
			rate += MIN(p->method->rate(p), (u64)SELDOM) * ncpu;
		if (p)
			return false;
	}
	return rate < SELDOM;
}

void prefetch_list(struct prefetch *in, const struct unit *u, const struct procs *procs)
{
	struct inodes probed = {0};
	add_probed(&probed, u, procs->host);
	for (const struct proc *p = procs->alive.first; p && probed.of.n; p = p->next)
		if (maps_one(p, &probed))
			vec_add(&in->pid, p->pid);
	in->nfirst = in->pid.n;
	for (const struct proc *p = procs->alive.first; p; p = p->next)
		if (!probed.of.n || !maps_one(p, &probed))
			vec_add(&in->pid, p->pid);
	if (!is_seldom(u, procs->host->ncpu))
		in->nfirst = in->pid.n;
	vec_free(&probed.of);
}
