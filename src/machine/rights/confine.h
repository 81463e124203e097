/*
 * confine.h - giving up, for the rest of this process's life, what it has no need for any more.
 *
 * Capabilities are dropped from all sets but the bounding one, no_new_privs is set, and a seccomp
 * filter lets through the system calls of confine.def alone: no program is started, no BPF program
 * loaded, no file opened for writing, no socket, unless it says so here. A system call that is not
 * allowed is a bug of ours or the work of an intruder: a sentence names it, and the process ends.
 */
#pragma once
#include "kern/host.h"

enum {
	MAY_WRITE = 1 << 0,   /* open files for writing */
	MAY_RENAME = 1 << 1,  /* and rename, or remove them */
	MAY_MAP = 1 << 2,     /* make BPF maps */
	MAY_KILL = 1 << 3,    /* send signals to others */
	MAY_RECORD = 1 << 4,  /* reserve room for files that are open, and cut them */
	MAY_SERVE = 1 << 5,   /* take connections to sockets that listen */
	MAY_CONNECT = 1 << 7, /* connect to others by TCP */
	MAY_ATTACH = 1 << 6,  /* attach programs that are loaded, and list those of the machine */
};
struct confine {
	u64 caps; /* what to keep, if it is held: one bit each */
	u32 may;
};
/* What there is of a capability for it; bits of CapPrm. */
u64 confine_held(void);
/* For now only these are in effect; they can be had again until confine_caps(). */
struct err *confine_effective(u64 keep) MUST_USE;
/* Drops capabilities; those that are left. */
struct err *confine_caps(u64 keep, u64 *left) MUST_USE;
/* no_new_privs and the filter. */
struct err *confine_calls(u32 may) MUST_USE;
/* Far fewer, for a child that only reads what it was handed (rights/sandbox.h); the others fail. */
struct err *confine_sandbox(void) MUST_USE;
/* The number of system calls that are let through. */
u32 confine_count(u32 may);
