/*
 * task.h - the stack of a thread that sleeps, read from its process's memory: what programs do for the
 * thread that runs (walk.c, walk_lang.c), of the same tables (core/unwind.h).
 *
 *	task_open(&t, host, head);	what a program said of the thread
 *	task_copy(&t);
 *	n = task_walk(&t, &walk, frame, max, &end);
 *	if (!task_sleeps(&t)) ...	it ran: what was read is worth nothing
 *	task_close(&t);
 */
#pragma once
#include "unwind/copy.h"
#include "unwind/lang.h"

struct task {
	struct host *h;
	struct unwind_copy *copy;
	int mem; /* of the process; -1: not ours to read */
};
void task_open(struct task *t, struct host *h, const void *head);
void task_close(struct task *t);
/* The stack from sp upwards, as much as a copy has room for (UNWIND_COPY_STACK bytes). The result stays until
 * task_close(). */
struct unwind_copy *task_copy(struct task *t);
/* Memory of its process: all of it; or up to the end of a page when the next one cannot be read; or a text, the rest
 * is zeros. */
bool task_read(const struct task *t, u64 addr, void *to, size_t n);
void task_read_part(const struct task *t, u64 addr, u8 *to, u32 n);
void task_read_text(const struct task *t, u64 addr, char *to, size_t n);
/* Has it slept since the program said so? */
bool task_sleeps(const struct task *t);

struct task_lang {
	u32 number; /* and 1 */
	u64 base;   /* where the interpreter's file begins in the process */
};
/* The interpreter's frames into the copy, innermost first. Counted in l where that is not possible. */
void task_words(struct task *t, struct langs *l, const struct task_lang *at);

struct task_walk {
	struct langs *langs;
	copy_rule *rule;
	void *arg;
	const struct task_lang *lang; /* what .rule has found by then */
};
/* Those of n frames that are words stay. Number of them. */
u32 task_only_words(u64 *frame, u32 n);
/* Its frames, up to max, as copy_walk() has them; of the mode that the program asked for. */
u32 task_walk(struct task *t, const struct task_walk *w, u64 *frame, u32 max, enum copy_end *end);
