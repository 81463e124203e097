/*
 * paths.h - files by the names that a process has for them: it may live among other mounts, run
 * what was deleted, or be meant by a name alone. All of them are looked for below host->root.
 */
#pragma once
#include "base/vec.h"
#include "kern/host.h"
#include "proc/root.h"
#include <sys/stat.h>

struct viewer {
	int pid;             /* whose names they are; 0: ours */
	bool traced;         /* old files that it runs are meant, too (proc_old_file()) */
	const char *program; /* that the process will run when it starts (-c); NULL: it runs */
};
typedef VEC(const char *) paths;
/* Files that a target names to a process: path, path with wildcards, program in $PATH, library; all
 * that it has mapped executable. As the user would write them. */
struct err *proc_paths(struct host *h, struct arena *a, const struct viewer *v, struct str target,
		       paths *out);
/* Where we find the file: below /proc/PID/root when the process lives among other mounts. */
const char *proc_real_path(struct host *h, int pid, const char *path);
/* For reading, in the root of a process, which no link leads out of; -1: errno. */
int proc_open_in_root(const struct host *h, int pid, const char *path);
/* "/proc/PID/root/path" -> "/path" */
const char *proc_path_inside(const char *path);

/* A file, whatever path it was found by. */
struct seen_file {
	const char *path, *inside;
	int pid;
	struct stat st;
};
bool seen_find(const char *path, int pid, struct seen_file *ret); /* false: it is not there */
bool path_is_layered(
	const char *path); /* on an overlay, where inodes may differ from those of mappings */
bool seen_same(const struct seen_file *x, const struct seen_file *y);

/*
 * A file that a process has mapped although its path now leads to another one, or to none, as after
 * the upgrade of a package. *ret: a path that opens it; NULL if the path leads to what is mapped, or
 * the process has not mapped any such file. An err if we lack the rights to open it.
 */
struct err *proc_old_file(struct host *h, int pid, const char *path, const char **ret) MUST_USE;
/*
 * How many processes have an older file of that path mapped, and the number of one of them. Reads
 * /proc only if the file got its path after boot, and for a tenth of a second in all at most.
 */
u32 proc_count_old(struct host *h, const char *path, int *pid);
