/*
 * copy.h - the rest of a stack, walked in user space from a copy (core/unwind.h), by the
 * same rules as programs walk it (unwind/walk_step.c).
 */
#pragma once
#include "base/str.h"
#include "core/unwind.h"
#include "kern/host.h"

/* Why a walk ended. */
enum copy_end {
	COPY_END,  /* nobody called, or there is no room for more frames */
	COPY_CODE, /* at code that lies in no file */
	COPY_FILE, /* the file lacks information */
	COPY_READ, /* the stack makes no sense */
	COPY_CUT,  /* the copy ends before the stack */
};

/* What is known of an address of the process. */
struct copy_code {
	u64 fp;    /* given: the frame pointer there; 0: not asked */
	u64 sp;    /* given */
	bool leaf; /* given: it is the first frame, not a caller */
	u64 word;  /* not 0: it stands for the frame */
	u32 rule;
	u32 lang; /* it is in the main loop of this interpreter (number, and 1), or .program is true; else 0 */
	/* A call of the loop that one function alone lies between stands for what the call within it does. */
	bool nests;
	bool program; /* it is where what is left of the interpreter's frames precedes the native one; see .lang */
};
/* False: no code is known there. */
typedef bool copy_rule(void *arg, u64 addr, struct copy_code *ret);

/* What a copy has at an address; false: not all of it. */
bool copy_read(const struct unwind_copy *c, u64 addr, void *to, size_t n);
/* A record of that size is one, and holds what it says. */
bool copy_sound(const void *record, size_t size);
/* The callers of the frame that c begins at, and that one if the program does not have it; up to max.
 * Number of them. Words of the interpreter's frames take the place of native frames in its main loop. */
u32 copy_walk(const struct host *h, const struct unwind_copy *c, copy_rule *rule, void *arg,
	      u64 *frame, u32 max, enum copy_end *end);
