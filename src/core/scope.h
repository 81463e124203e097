/*
 * scope.h - which processes are traced: -p, -c, --follow, --cgroup, --container.
 *
 * Probes of user programs and perf events attach to each process of the list; all others have a
 * filter at the start of their programs (lower/scope.c). With follow, the processes are a set that
 * programs on fork and exit keep up to date (proc/follow.h), and user probes are filtered by it,
 * too.
 */
#pragma once
#include "base/base.h"

struct map;

enum {
	SCOPE_MAX_PIDS = 256,
	SCOPE_MAX_CGROUPS = 8,
	SCOPE_COMPARES = 8, /* more processes are looked up in a map */
};

struct scope_pid {
	int pid;      /* as we know it */
	u32 id;       /* as its own pid namespace does */
	u64 dev, ino; /* that namespace; ino 0: the first one, whose ids programs get for nothing */
};

struct scope {
	const struct scope_pid *pid; /* the -c child, and those of -p */
	u32 npid;
	bool kernel; /* they restrict probes of the kernel, too: -p or --follow */
	bool asked;  /* except in a script that asks for itself, by watched() */
	bool follow;
	const char *const *cgroup; /* directories: the process is in or below one of them */
	u32 ncgroup;
	/* Whose files are meant: processes of .pid, or one of each control group. */
	const int *viewer;
	u32 nviewer;
	struct map *pids;    /* hash of process ids; NULL: not needed */
	struct map *cgroups; /* as .cgroup; NULL: no program asks */
};

/* Do programs of the kernel's probes begin with a filter of processes? */
static inline bool scope_filters(const struct scope *s)
{
	return s->npid && s->kernel && !s->asked;
}

/* Ids of other namespaces than the first cannot be keys: the map is asked first, then they. */
static inline bool scope_in_first_ns(const struct scope *s)
{
	for (u32 i = 0; i < s->npid; i++)
		if (s->pid[i].ino)
			return false;
	return true;
}
