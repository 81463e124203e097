/* proc.h - /proc, users, processes: no NSS, so it works in a static binary. */
#pragma once
#include "kern/host.h"
#include "proc/root.h"

/* Absolute path of prog, looked up in $PATH when it has no slash; NULL: none. */
char *proc_which(struct arena *a, const char *prog);
/* Name of a uid from /etc/passwd, or NULL. */
const char *proc_username(struct host *h, u32 uid);
/* Whom a command is to run as: by /etc/passwd and /etc/group. */
enum { MAX_GROUPS = 64 };
struct login {
	u32 uid, gid, ngroup, group[MAX_GROUPS];
};
struct err *proc_login(struct host *h, const char *user, struct login *ret);
/* Name of a block device by the kernel's dev_t (major << 20 | minor), or NULL. */
const char *proc_disk_name(struct host *h, u32 dev);
void proc_load(struct sb *out);                 /* the line of /proc/loadavg */
bool proc_meminfo(struct str name, u64 *bytes); /* "Cached" of /proc/meminfo; false: no such line */
/*
 * This process (0), or a child of ours that it waits for, is to run soon after it wakes up, for short times: what programs record has to be
 * read before there is no room for more. Those it starts do not inherit that. May be refused.
 */
void proc_hasten(int pid);
bool proc_alive(int pid);
bool proc_runs(struct host *h, int pid); /* ... and is no zombie */
/* Are we in a pid namespace of our own, and which? */
struct stat;
bool proc_own_ns(const struct host *h, struct stat *st);
/*
 * A process as programs see it: ino 0 and its id, or, when we do not live in the first pid
 * namespace, the device and inode of its own one and its id there.
 */
struct err *proc_ns_pid(struct host *h, int pid, u32 *id, u64 *dev, u64 *ino);
enum { INIT_PID_NS = 0xeffffffcu }; /* inode of the first pid namespace: PROC_PID_INIT_INO */
/*
 * The inode of a network namespace: of a process (its number), by a name that `ip netns` has given, by a
 * path; or that inode itself, which is above all numbers of processes. False: there is none.
 */
bool proc_netns(struct str text, u64 *ret);
/* "libc" or "libc.so.6" -> path: ld.so.cache, then the usual directories; in a process, its maps
 * first (pid > 0). */
char *proc_library(struct host *h, struct arena *a, int pid, const char *name);
/* A line of /proc/PID/maps. False: it has no file. */
struct mapped {
	bool exec, deleted;
	struct str path;  /* as the line has it, without " (deleted)" */
	const char *real; /* where we find the file */
};
bool proc_mapped(struct arena *a, int pid, struct str line, bool same_mounts, struct mapped *ret);
/* Of such a line: the link in /proc/PID/map_files that leads to the file, its inode, its device. */
const char *proc_map_link(struct arena *a, int pid, struct str line);
u64 proc_maps_inode(struct str line);
u64 proc_maps_dev(struct str line);
/* Is a library (libx.so.1.2) a version of another name (libx.so.1)? */
bool proc_is_version(struct str name, struct str of);
bool proc_maps_file(struct host *h, int pid, const char *real);
/* Where addresses of a file that is mapped there are counted from; real: where we find it. False:
 * it is not mapped. */
bool proc_load_bias(struct host *h, int pid, const char *real, u64 *bias);

/*
 * A child for -c: forked, held before exec until proc_child_go(). All of that is to be called by one
 * thread, which is its tracer until then. exec is the first system call that probes see of it.
 */
struct child_start;
struct child {
	int pid, gate, exec_err;   /* gate: write end; exec_err: read end, errno of a failed exec */
	char *path;                /* of its program, heap */
	bool held;                 /* ptrace holds it, or did; else it waits at the gate */
	struct child_start *start; /* NULL: it has been let go */
};
#define CHILD_NONE ((struct child){.gate = -1, .exec_err = -1})
/* Words split at spaces; quotes group. as: NULL: as who started us. */
struct err *proc_child_start(const char *cmd, const struct login *as, struct child *c);
struct err *proc_child_go(struct child *c);
/*
 * The same, but where the program's own code begins (its libraries are mapped then) it is held
 * while ready() runs. When it cannot be held, ready() runs anyway.
 */
struct err *proc_child_go_held(struct child *c, void (*ready)(void *), void *arg);
/* Asks it to end, and after so long (pidfd: its own; -1: at once) ends it. */
void proc_child_end(struct child *c, u32 grace_ms, int pidfd);
/*
 * Does it run with other ids than who started it, or with capabilities of its file? Programs of
 * that kind lose the perf events that follow them when they are started. ended: it is only waited
 * for, and capabilities do not show.
 */
bool proc_is_shielded(int pid, bool ended);
/* Does the file give capabilities to us, who have not got all of them? */
bool proc_gains(const char *path);
/* KiB of memory that is ours alone: neither files nor maps of programs. */
u64 proc_own_kib(const struct host *h);
/* Its memory; false: not all of it can be read. */
bool proc_read(struct host *h, int pid, u64 addr, void *to, size_t n);
/* Its memory, for pread(); -1: not ours to read. */
int proc_memory(struct host *h, int pid);
/* Does that thread neither run nor wait for a processor? And how often has it left its processor? */
bool proc_sleeps(struct host *h, int pid, int tid, u64 *switches);
/* Where its stack begins, which the kernel chooses anew for each program that it runs. */
bool proc_stack_start(struct host *h, int pid, u64 *ret);
/* Where we find the program that it runs; NULL: not ours to see. */
char *proc_exe(struct host *h, struct arena *a, int pid);
u64 proc_program(int pid);                 /* inode of the file that it runs; 0: not ours to see */
int proc_pidfd(int pid, struct err **err); /* readable when the process ends; -1 and *err */
