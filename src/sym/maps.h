/* maps.h - /proc/PID/maps: which file's code is where. */
#pragma once
#include "kern/host.h"

#define MAPS_VDSO "[vdso]" /* stands in the path */
struct mapping {
	u64 start, end, off;
	u64 dev, ino;    /* as maps writes them; which file it is, however it is called */
	struct str path; /* without " (deleted)" */
	bool deleted;
};
struct maps {
	struct arena arena;
	struct mapping *v; /* executable ones with a file, and the vdso; by address */
	u32 n;
};
/* False: no such process, or nothing is mapped (it is ending). */
bool maps_read(struct host *h, u32 pid, struct maps *ret);
bool maps_parse(struct str text, struct maps *ret);
void maps_free(struct maps *m);
