/*
 * link.h - what attaching left behind: descriptors, and definitions in tracefs. Undone in reverse.
 *
 * A link also knows where the kernel counts the hits that the probe did not see, if it does.
 */
#pragma once
#include "kern/host.h"

enum missed_at {
	MISSED_NOWHERE, /* nothing is missed in silence */
	MISSED_LINK,    /* bpf_link_info, since Linux 6.7 */
	MISSED_TRACEFS, /* kprobe_profile */
};

struct link {
	int fd;      /* -1: none */
	int perf_fd; /* closed after fd; -1: none */
	char *event; /* heap; defined by retprobe_open(), removed at last; NULL: none */
	enum missed_at missed;
	bool late;   /* closing perf_fd and removing the event take seconds, and no program depends
			on it: done by others when this process ends */
	u32 cpu;     /* 1 + that of perf_fd, which is there for each; 0: for all */
	int task;    /* process whose event perf_fd is; 0: it does not end with one */
	u64 program; /* what that ran when it was opened: proc_program() */
	const char *file; /* probed in every process, which was this one; NULL: none */
	u64 dev, ino;
	const void *owner; /* for the caller's use */
	struct link *next;
};

/* At the head of the list. Takes the descriptors. */
struct link *link_add(struct link **list, int fd, int perf_fd);
/* Undoes the links before mark (NULL: all). */
void link_undo(struct host *h, struct link **list, const struct link *mark);
/*
 * Undoes all in a process of its own, which is not waited for: what detaching takes tens of
 * milliseconds for. The programs must have been told to do nothing any more; when this returns, no
 * run of them goes on that does not know. False: that cannot be had here, nothing was done.
 */
bool link_leave(struct host *h, struct link **list);
/* Is another file there now by the name of the one that was probed? */
bool link_replaced(const struct link *l);
/* Hits that were not seen so far. False: this kernel does not tell. */
bool link_missed(struct host *h, const struct link *l, u64 *n);

/*
 * Return probes defined in tracefs (kprobe_events). Unlike those of perf_event_open they take the
 * number of calls that may be in progress at once, and every kernel tells what they missed. The
 * definition outlives the process that made it; so a child process waits for our end, and removes
 * what is left then.
 */
enum { RETPROBE_CALLS = 4096 }; /* the kernel's limit */
struct err *retprobe_open(struct host *h, const char *func, u32 calls, char **event, int *perf_fd);
/*
 * Start (calls 0) or return probes of many functions as one event, since Linux 5.4: enabled and
 * disabled together. .no: 0, or an errno when that one could not be defined.
 */
struct probe_place {
	const char *func;
	u64 off; /* from _stext; 0: unknown, so the kernel looks the name up, which takes
		    milliseconds before 6.2 */
	int no;
};
struct err *retprobe_open_all(struct host *h, struct probe_place *v, u32 n, u32 calls, char **event,
			      int *perf_fd);
void retprobe_remove(struct host *h, const char *event);
void retprobe_late(struct host *h, int perf_fd); /* see link.late */
bool retprobe_missed(struct host *h, const char *event, u64 *n);
