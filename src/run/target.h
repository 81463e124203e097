/*
 * target.h - the processes that a run is about: the child of -c and those of -p.
 *
 * A target outlives its session: a session that failed is made again for the same processes.
 */
#pragma once
#include "proc/proc.h"

struct login; /* proc/proc.h */
struct session;

struct target {
	struct child child; /* of -c; pid 0 if there is none, or it was waited for */
	int *fd;            /* pidfds: the child's, then those of -p; -1 for one that has ended */
	u32 n, nalive;
	int exit_code; /* of the child: its exit status, or 128 + the signal; 0 before it ends */
};
#define TARGET_NONE ((struct target){.child = CHILD_NONE})

/* Fork the child of -c, which stops before it runs cmd, and open the processes of -p. Done before the
 * script is compiled, so that their numbers are known. cmd is NULL without -c. */
struct err *target_open(struct target *t, const char *cmd, const struct login *as, const int *pid,
			u32 npid) MUST_USE;
void target_close(struct target *t);
/* fd is readable. If it is the pidfd of a process of the target, that process has ended: note it, and
 * return true. */
bool target_take(struct session *s, int fd);
void target_end(struct target *t); /* end the child of -c: it does not outlive the run */
