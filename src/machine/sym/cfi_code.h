/*
 * cfi_code.h - rows of functions of x86_64 by their instructions, for cfi_stretch.c, which says where
 * functions begin.
 *
 *	struct code_walk *w = code_walk_new(c);
 *	code_function(w, &f);	its rows come to c
 *	code_walk_free(w);
 */
#pragma once
#include "sym/cfi.h"
#include "sym/code.h"

struct code_function {
	const u8 *p; /* what lies at from */
	u64 from, to;
	bool part; /* not a function, but what is jumped to from one: nothing is known at first */
	const u64 *jumped; /* where such parts may begin, in order */
	u32 njumped;
};
struct code_walk;
struct code_walk *code_walk_new(struct cfi *c);
void code_walk_free(struct code_walk *w);
void code_function(struct code_walk *w, const struct code_function *f);
/* The same where handlers of signals return to. */
void code_signal_return(struct code_walk *w, const struct code_function *f);
/* Does that begin here? */
bool code_is_signal_return(const u8 *p, u64 n);

/* The instruction of [at, next): where it leads to besides the next one, in c's offsets. */
enum code_way {
	CODE_ON, /* nowhere else, or near */
	CODE_CALLS,
	CODE_MAY_JUMP,
};
enum code_way code_way(const struct codes *c, u32 at, u32 next, i64 *to);
bool code_is_padding(const struct codes *c, u32 at, u32 next);
