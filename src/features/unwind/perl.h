/* perl.h - Perl's functions of a thread that sleeps (core/perl.h), read from its process's memory. */
#pragma once
#include "unwind/lang.h"

struct task;
struct perl_walk {
	const struct task *t;
	struct langs *l;
	u32 lang;  /* number */
	u64 state; /* where the thread's is */
};
/* Into words of the copy, innermost first; a 0 ends those of a call of the main loop. False: something could not
 * be read. */
bool perl_words(const struct perl_walk *p, struct unwind_copy *copy);
