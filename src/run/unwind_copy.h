/*
 * unwind_copy.h - the rest of a stack, walked in user space from a copy (core/unwind.h), by the
 * same rules as programs walk it (builtin/unwind_step.c).
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

/* The rule at an address of the process; false: no code is known there. */
typedef bool copy_rule(void *arg, u64 addr, u32 *rule);

/* A record of that size is one, and holds what it says. */
bool copy_sound(const void *record, size_t size);
/* The callers of the frame that c begins at; up to max. Number of them. */
u32 copy_walk(const struct host *h, const struct unwind_copy *c, copy_rule *rule, void *arg,
	      u64 *frame, u32 max, enum copy_end *end);
