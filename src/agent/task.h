/*
 * task.h - one question on this host: a child that traces, or a simulation of one.
 *
 * The child is `sonde fleet-host`, which the exec way uses, too (cmd/fleethost.c): it gets the question by a pipe and
 * writes the answer to another; it stops, and answers, when its standard input ends. What it writes is kept here, up to
 * ANSWER_MAX bytes.
 *
 *	e = task_child(words, frame, &t)   or   task_sample(answer, for_ns, &t)
 *	task_go(t, at)
 *	until t->over: task_step(t), when a descriptor of task_poll() is ready or task_due() has come
 *	task_answer(t), t->status, t->said
 *	task_free(t)
 */
#pragma once
#include "base/clock.h"
#include "base/err.h"

enum { TASK_FDS = 3 };
struct pollfd;

/* An answer that simulated agents share. */
struct sample {
	struct str bytes;
};
struct task {
	bool over;  /* nothing more comes */
	bool cut;   /* task_stop() was called before that */
	int status; /* then: exit status of sonde, or 128 + a signal */
	u64 cpu_ns; /* then: processor time of it and its children */
	struct sb said;
	const char *wrong; /* what failed here, not in sonde; or NULL */
	/* Of a child. */
	int pid, fd[3];
	struct sb frame, input, answer; /* frame: the question, until task_go() */
	size_t written;
	bool waits; /* for task_go() */
	bool fed;   /* nothing more will be written */
	bool begun; /* what comes is the answer */
	char token[32];
	u64 kill_ns; /* after the wish to stop */
	/* Of a simulation. */
	const struct sample *sample;
	u64 for_ns;
	u64 end_ns; /* 0: it does not end by itself */
};
/* words: of a command that acts as `sonde fleet-host`; the token is added. It gets the frame by task_go(). */
struct err *task_child(const char *const *words, u32 nword, struct str frame,
		       struct task **ret) MUST_USE;
void task_sample(const struct sample *s, u64 for_ns, struct task **ret);
/* at_ns: when tracing begins, by this machine's wall clock; 0: at once. Once. */
void task_go(struct task *t, u64 at_ns);
/* More for its standard input, and the end of that, when all of it is written. */
void task_feed(struct task *t, struct str bytes);
void task_end_input(struct task *t);
void task_stop(struct task *t);
void task_step(struct task *t);
/* Descriptors that it waits for, at most TASK_FDS; how many. */
u32 task_poll(const struct task *t, struct pollfd *ret);
u64 task_due(
	const struct task *
		t); /* when to look again although no descriptor is ready; UINT64_MAX: not needed */
struct str task_answer(const struct task *t);
void task_free(struct task *t); /* what still runs is killed */
