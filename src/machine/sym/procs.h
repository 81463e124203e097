/*
 * procs.h - which file's code is where in which process, now and before.
 *
 * A process's areas come from /proc/PID/maps, or from notes of the kernel (kern/mmaps.h); with
 * notes they are right from the process's start to long after its end. Exec begins a new space; the
 * spaces before are asked when the newest has nothing at an address, because what was recorded
 * before exec is printed after it. A pid that is used again begins anew: addresses of the process
 * that had it before are no longer known.
 *
 * Everything is bounded. Who ended longest ago is forgotten first, then who was not asked about for
 * longest: while it lives it can be read again.
 */
#pragma once
#include "kern/mmaps.h"
#include "sym/jit.h"
#include "sym/sym.h"

struct image;
struct jit;
/*
 * A file as it is mapped somewhere. One for each (dev, ino, path), and one more when the inode was
 * freed and is another file's now.
 */
struct module {
	u64 dev, ino;    /* which file it is, however it is called, and ... */
	u64 born_ns;     /* ... when its inode was made; 0: not known */
	u64 generation;  /* of the inode, as notes have it; 0: not known */
	u64 checked_ms;  /* when its path was last seen to lead to it */
	struct str path; /* without " (deleted)" */
	bool deleted;
	bool live, tried; /* of procs.c: its path or .fd leads to it */
	int fd;           /* open, because the path leads elsewhere when its process has gone; -1 */
	struct module *next;
};
struct area {
	u64 start, end, off;
	struct module *module; /* NULL: executable memory without a file; of code that was made
				  there, off has the bit MAPS_MADE */
};
/* An address space: of one fork or exec, or as it was read. */
struct aspace {
	struct area *v; /* by address; no two overlap */
	u32 n, cap;
	u32 *shared;  /* so many spaces have the same v, since a fork; NULL: it is its own */
	u64 since_ns; /* older notes are not about it */
	u64 from_ns;  /* when it began, as far as that is known */
	struct aspace *older;
};
struct proc {
	u32 pid, parent;    /* parent: as the note of its fork said; 0: not known */
	bool ended;         /* what is now in /proc/PID is somebody else */
	bool noted;         /* notes told of it: no need to look at /proc now and then */
	bool id_known;      /* uid and ns_pid are */
	u32 uid, ns_pid;    /* ns_pid: its pid as it sees it itself */
	u32 doubt;          /* procs.doubt when its areas were last sure */
	u64 born_ns;        /* of this use of the pid */
	u64 read_ms;        /* last look at /proc/PID/maps */
	struct aspace *now; /* never NULL */
	struct jit *jit;    /* of jit.c; NULL */
	struct proc *chain, *prev, *next;
};

enum { PROC_BUCKETS = 4096, MODULE_BUCKETS = 1024 };
struct queue {
	struct proc *first, *last;
};
struct procs {
	struct host *host;
	struct proc *bucket[PROC_BUCKETS];
	struct queue alive, ended; /* first to be forgotten first */
	struct module *module[MODULE_BUCKETS];
	u32 n, narea, nmodule, nfd;
	u64 jit_bytes;   /* of all lists */
	u32 sweep_at;    /* modules, when those that nobody has any more are thrown away */
	u32 doubt;       /* how often notes were lost */
	bool noted, all; /* notes come; of all processes */
};

void procs_free(struct procs *p);
/* NULL: never heard of. */
struct proc *procs_get(const struct procs *p, u32 pid);
/* Read /proc/PID/maps; what is known stays when there is nothing. */
struct proc *procs_read(struct procs *p, u32 pid);
/* All that live now, as far as time and room allow. */
void procs_read_all(struct procs *p);
void procs_event(struct procs *p, const struct mmap_event *n);
/* What is at an address; reads /proc when that may help. NULL: nothing known. *proc: who it is, or
 * NULL. */
const struct area *procs_at(struct procs *p, u32 pid, u64 addr, struct proc **proc);
/* What was at an address at a time, as far as it is known; looks nowhere. */
const struct area *proc_area(const struct proc *p, u64 ns, u64 addr);
/* Fill in uid and ns_pid while the process lives; false: not known. */
bool procs_identify(struct procs *p, struct proc *proc);

/* Calls cb for each path that may lead to the area's file, the best first, until it says true. */
typedef bool area_path_cb(void *arg, const char *path);
bool area_paths(const struct host *h, const struct proc *p, const struct area *a, area_path_cb *cb,
		void *arg);
/* The kernel's page of code in every process, as this one has it. */
bool area_is_vdso(const struct area *a);
bool vdso_image(struct image *ret);
