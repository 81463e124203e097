/*
 * root.h - entries of /proc, which are read below host.root, and files as a process sees them that has other mounts or
 * another root.
 */
#pragma once
#include "kern/host.h"
#include <dirent.h>

/* The path of /proc/PID/name, in the arena. */
const char *proc_file(struct host *h, struct arena *a, int pid, const char *name);
/* The same into a buffer. Returns what snprintf() returns, or -1 if it is too long. */
int proc_put(char *to, size_t n, const struct host *h, int pid, const char *fmt, ...) PRINTF(5, 6);
int proc_put_fd(char *to, size_t n, int fd); /* an open file of our own */
int proc_open_self(void);                    /* the program that we are; -1: errno says why */
DIR *proc_list(const struct host *h);        /* processes, as directories; NULL: cannot be opened */
bool proc_is_entry(const char *path);        /* it begins with /proc */
/* Does that process see the same file systems as we do? If not, its files are below /proc/PID/root. */
bool proc_same_mounts(int pid);
/*
 * A file without links on the way to it, followed as the process would: none leads out of its root.
 * root: "/proc/PID/root".
 */
const char *proc_in_root(struct arena *a, const char *root, const char *path);
