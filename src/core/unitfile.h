/*
 * unitfile.h - a unit as bytes, and back: what travels into a file, an executable, to another host.
 *
 * With it go the texts of the script, for the places that remarks point at. What is read is well
 * formed: every index lies in its table, every type decodes within its size. That does not make it
 * harmless: who runs it runs its programs.
 */
#pragma once
#include "core/unit.h"

enum { UNIT_VERSION = 16 };

/* ds has the texts of the script. e: it holds what only lives here (a probe that waits for the child
 * of -c). */
struct err *unit_write(const struct unit *u, const struct diags *ds, struct sb *out) MUST_USE;
/*
 * Into u, with memory from a; the texts of the script go to ds. h: where it is to run. e: it is cut
 * short, damaged, or of another version; u must not be used then.
 */
struct err *unit_read(struct unit *u, struct arena *a, struct diags *ds, const struct host *h,
		      const void *p, size_t n) MUST_USE;
/* What attaching needs of this machine and is not in the bytes: kinds look for the points again;
 * what they remark goes to ds. */
struct err *unit_resolve(struct unit *u, struct host *h, struct diags *ds) MUST_USE;
