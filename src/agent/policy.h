/*
 * policy.h - may a question run on this host, and how?
 *
 *	struct judgement j = {0};
 *	e = policy_judge(&p, q, bytes, signature, now, &j);    NULL: it may; an error is the reason why not, for who asks
 *	policy_words(p.c, q, &j, arena, &more); question_frame(q, &more, &frame)
 *	policy_limit(p.c, pid) of the process that traces
 *	judgement_free(&j)
 *
 * What is asked of this file: labels and the name of the host, times, duration, what may run with and without a signature,
 * --unsafe, the signature, and whether it is asked for the first time, in this order. Functions and kinds of probes that
 * are denied, and the budget, are options of the sonde that compiles the script (policy_words()), so that the program that
 * is checked is the one that runs. How many questions run at a time is known to agent.h.
 */
#pragma once
#include "agent/conf.h"
#include "agent/replay.h"
#include "base/sha256.h"

struct policy {
	const struct conf *c;
	struct str host; /* the name that questions call this host by */
	struct replay *replay;
};
struct judgement {
	struct sb signer; /* who has signed, visible text; empty if the question is not signed */
	char sha256[SHA256_HEX +
		    1]; /* of the script, as sha256sum prints it; "" if the question is a tool */
};

/* Can everything be checked that the configuration asks for? Before the first question. */
struct err *policy_ready(const struct conf *c) MUST_USE;
/*
 * bytes: what question_unpack() made q of; signature: "" if there is none. wall_ns: of the wall clock. *ret is filled as far
 * as it is known also if the question is refused; the caller ends with judgement_free().
 */
struct err *policy_judge(const struct policy *p, const struct question *q, struct str bytes,
			 struct str signature, u64 wall_ns, struct judgement *ret) MUST_USE;
/* The same of an order to end questions: whoever may sign a question may sign it. Without signature it is refused. */
struct err *policy_stops(const struct policy *p, const struct question *q, struct str bytes,
			 struct str signature, u64 wall_ns, struct judgement *ret) MUST_USE;
/* For a hub: may answers to the question be merged here, which hosts have judged or will? */
struct err *policy_merges(const struct conf *c, const struct question *q, struct str bytes,
			  struct str signature, u64 wall_ns) MUST_USE;
/* How long it may run. */
u64 policy_for_ns(const struct conf *c, u64 for_ns);
/* Option --label of sonde, so that its answer says them; appended. Words are the arena's. */
void policy_label_words(const struct question_list *label, struct arena *a,
			struct question_list *ret);
/* Options for the sonde that runs the question. Words are the arena's. */
void policy_words(const struct conf *c, const struct question *q, const struct judgement *j,
		  struct arena *a, struct question_list *ret);
/* Limits the memory of a process that was just started, and of its children. */
struct err *policy_limit(const struct conf *c, int pid) MUST_USE;
void judgement_free(struct judgement *j);
