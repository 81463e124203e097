/* v8.h - functions of JavaScript (core/v8.h), read from a process's memory. */
#pragma once
#include "unwind/lang.h"

struct task;
struct v8_frame {
	const struct task *t;
	const struct unwind_copy *copy; /* has the stack */
	struct langs *l;
	u32 lang; /* number */
	u64 pc, fp;
	bool made; /* the code was made at run time */
	u64 table; /* as v8_table() found it */
};
/* Where a process has the code of functions by their handles; base: where the file of an interpreter (number) begins.
 * 0: functions lead to their code, or it is not there (yet). */
u64 v8_table(struct langs *l, u32 lang, u32 pid, u64 base);
/* What stands for that native frame; 0: it is none of a function, or cannot be read. */
u64 v8_word(const struct v8_frame *at);
