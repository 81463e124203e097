/* java.h - methods of Java (core/java.h), read from a process's memory. */
#pragma once
#include "unwind/copy.h"
#include "unwind/lang.h"

struct task;
/* The heaps of code, of an interpreter (number) whose file begins at base; their number. A heap without code has none
 * yet. Learns the layout, too, if it is not known. */
u32 java_heaps(struct langs *l, u32 lang, const struct task *t, u64 base,
	       struct unwind_piece heap[JAVA_HEAPS]);

struct java_frame {
	const struct task *t;
	const struct unwind_copy *copy; /* has the stack */
	struct langs *l;
	const struct unwind_piece *heap; /* where the code is */
	u64 pc, fp, sp;
	bool leaf;
};
/* The rule by which its caller is found; and what stands for that native frame, unless words are not wanted. 0 of that:
 * it is none of a method, or cannot be read. */
void java_frame(const struct java_frame *at, bool wanted, struct copy_code *ret);
