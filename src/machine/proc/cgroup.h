/* cgroup.h - control groups (version 2) by path, and those of containers by name. */
#pragma once
#include "kern/host.h"

/* path: a directory, as it is or below the mount of cgroup2. dir: where it is. */
struct err *cgroup_find(struct host *h, const char *path, const char **dir);
/* Where cgroup2 is mounted. */
const char *cgroup_mount(struct host *h);
/* As programs know it: the inode number of the directory. *doubt: why no process is in it, or NULL. */
struct err *cgroup_id(struct host *h, const char *path, u64 *id, struct err **doubt);
/*
 * name: of a container, or its id, or the begin of it; found in the names that runtimes give to
 * control groups. An err also when several fit: it lists them.
 */
struct err *cgroup_container(struct host *h, const char *name, const char **dir);
/* The container that a control group is in: its name, or how its id begins. NULL: none. */
const char *cgroup_container_of(struct host *h, u64 id);
/* A process in it or below, 0: none. */
int cgroup_any_process(struct host *h, const char *dir);
/* Path of the control group with that id in the hierarchy of version 2 ("/a/b"), or NULL. */
const char *proc_cgroup_path(struct host *h, u64 id);
/*
 * Append the paths of the control groups with that id, in all hierarchies whose names fit glob
 * ("": all), as "unified:/a,pids:/b". "unified" is the one of version 2; one of version 1 has the
 * name of the directory at which it is mounted.
 */
void proc_cgroup_paths(struct host *h, u64 id, struct str glob, struct sb *out);
