/*
 * caps.h - what this process may do, and the sentence that says why it may not.
 *
 * Errors of system calls that trace are made by err_kern() (kern/host.h), those of files by
 * err_file(): both name what is missing after EPERM and EACCES.
 */
#pragma once
#include "kern/host.h"
#include <linux/capability.h>

struct cap {
	u32 bit;
	const char *name, *what;
};
extern const struct cap caps_known[]; /* that tracing has a use for; .name NULL ends it */

u64 caps_known_bits(void); /* of all in that table */
bool cap_held(u32 bit);    /* in effect; CAP_SYS_ADMIN stands in for those that came out of it */
/* "needs CAP_BPF ..., use sudo ...", when BPF programs of ours are refused. False: they are not. */
bool cap_bpf_missing(struct host *h, struct sb *out);
struct err *err_file(int no, const char *path, const char *fmt, ...) PRINTF(3, 4) MUST_USE;
/* "none", "integrity", "confidentiality", or "" where the kernel has no such thing. */
struct str lockdown_mode(struct host *h);
/* Number in a file below root (sysctls); -1: cannot be read. */
i64 host_sysctl(struct host *h, const char *name);
