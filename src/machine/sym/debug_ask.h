/*
 * debug_ask.h - debug information of programs, as the sandbox reads it (rights/sandbox.h); the questions
 * are those of types/dwarf.h.
 *
 * What it is spread over is found and opened here: separate files, and those that libdw asks for by
 * name (.dwo, what dwz shares), which are given when they are programs or parts of some: plain files
 * of ELF, no memory images. Everything that comes back is copied into the arena given at opening.
 *
 *	err = debug_ask_open(h, "/bin/app", arena, &d);
 *	err = debug_ask_at(d, address, &f);
 *	debug_ask_close(d);
 */
#pragma once
#include "kern/host.h"
#include "types/dwarf.h"

struct debug_ask;
struct err *debug_ask_open(struct host *h, const char *path, struct arena *a,
			   struct debug_ask **ret) MUST_USE;
void debug_ask_close(struct debug_ask *d);
/* Opened once for all the probes of a script; what was wrong then is told each time. */
struct err *debug_ask_of(struct host *h, const char *path, struct debug_ask **ret) MUST_USE;

struct err *debug_ask_at(struct debug_ask *d, u64 addr, struct debug_func *ret) MUST_USE;
const struct type *debug_ask_type(struct debug_ask *d, struct str name, enum type_kind kind,
				  bool near);
struct place_asked {
	struct str file;
	u32 line, column;
};
struct err *debug_ask_line(struct debug_ask *d, const struct place_asked *at, u64 **addr,
			   u32 *n) MUST_USE;
/* Their names are copied into a. */
u32 debug_ask_frames(struct debug_ask *d, u64 addr, struct arena *a, struct debug_frame *v,
		     u32 max);
