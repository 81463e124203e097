/* mappings.h - /proc/PID/maps: which file's code is where. */
#pragma once
#include "kern/host.h"

#define MAPS_VDSO "[vdso]" /* stands in the path */
/* .off of executable memory without a file, in which a program puts code that it makes; its path is
 * empty. Parts that are cut off keep the bit. */
#define MAPS_MADE (1ull << 63)
struct mapping {
	u64 start, end, off;
	u64 dev, ino;    /* as maps writes them; which file it is, however it is called */
	struct str path; /* without " (deleted)" */
	bool deleted;
};
struct maps {
	struct arena arena;
	struct mapping *v; /* executable ones, by address */
	u32 n;
};
/* False: no such process, or nothing is mapped (it is ending). */
bool maps_read(struct host *h, u32 pid, struct maps *ret);
bool maps_parse(struct str text, struct maps *ret);
bool maps_is_made(struct str path); /* the kernel calls it so: memory without a file */
void maps_free(struct maps *m);
