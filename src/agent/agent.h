/*
 * agent.h - one host that answers questions: what it does with each message (agent/wire.h), and when.
 *
 * It knows neither the server nor how questions are run: both are calls of struct agent_setup, so that the same code is
 * the agent of a host, each of a thousand simulated ones, and what unit tests talk with.
 *
 *	a = agent_new(&setup);
 *	agent_take(a, bytes)     for each message of a subject in agent_subjects()
 *	agent_again(a)           when the connection works again: what may be lost is sent once more
 *	agent_step(a)            when a descriptor of agent_poll() is ready, or agent_due() has come
 *	agent_free(a)
 *
 * A question runs until it ends by itself, its time is over, it is stopped, or nothing is heard of the asker for
 * BEATS_END_MS. Its asker may always stop it; whether others may is asked of struct agent_setup. Its answer is kept until
 * the asker has it, or for KEEP_MS and while KEEP_BYTES suffice. If a hub has it, it is also kept as long as the asker is
 * there, because the hub may die.
 */
#pragma once
#include "agent/task.h"
#include "agent/wire.h"

enum {
	KEEP_MS = 60000,
	KEEP_BYTES = 128 << 20, /* of all answers that are kept; the newest are */
	MAX_RUNS = 512, /* questions that are remembered; running ones are fewer: .max_running */
	MAX_PULLED = 8, /* pieces that one PULL gets */
	AGENT_SUBJECTS = 67,
};

struct agent_setup {
	struct str host, boot, kernel, version;
	struct question_list label; /* "key=value", sorted */
	u32 max_running;
	void *arg;
	/* False: it could not be sent; it will be tried again. */
	bool (*send)(void *arg, const char *subject, struct str bytes);
	/* Is the question to be run? An error is the reason why not. NULL: each is. */
	struct err *(*judge)(void *arg, const struct question *q, struct str bytes,
			     struct str signature);
	struct err *(*start)(void *arg, const struct question *q, u64 for_ns, struct task **ret);
	/* May the question with this id, or all if it is zeros, be ended? order: as a sealed question, or "". An error is the
	 * reason why not. If the function is NULL, anybody may end them. */
	struct err *(*stop)(void *arg, const u8 id[QUESTION_ID], struct str order);
	/* What became of a question; why: it was refused. NULL: nobody wants to know. */
	void (*ended)(void *arg, const u8 id[QUESTION_ID], const struct task *t, const char *why);
};
struct agent;
struct agent *
agent_new(const struct agent_setup *s); /* *s and its texts stay the caller's, and valid */
void agent_take(struct agent *a, struct str bytes);
void agent_take_of_hub(struct agent *a, struct str bytes); /* whose subject is_from_hub() */
void agent_again(struct agent *a);
void agent_step(struct agent *a);
u64 agent_due(const struct agent *a); /* UINT64_MAX: nothing is planned */
struct pollfd;
u32 agent_poll(const struct agent *a, struct pollfd *ret, u32 max);
/* The i-th subject; false: there are no more. */
bool agent_subject(const struct agent *a, u32 i, struct sb *ret);
void agent_free(struct agent *a); /* kills what runs */
