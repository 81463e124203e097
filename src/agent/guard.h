/*
 * guard.h - what an agent does about trust, from its configuration: who may ask (policy.h), how sonde is started, and the
 * record of each question (audit.h).
 *
 *	e = guard_open(&conf, host, &g)
 *	e = guard_judge(g, q, bytes, signature)     NULL: it may run;
 *	    guard_frame(g, q, for_ns, &frame)       then this is given to `sonde fleet-host`,
 *	e = guard_started(g, pid)                   and this is its process
 *	    guard_ended(g, id, &end, &json)         once for each question, also for those that are refused
 *	e = guard_stop(g, id, order, &json)         NULL: questions may be ended
 *	guard_free(g)
 *
 * A question that is accepted is kept until guard_ended(), for the record.
 */
#pragma once
#include "agent/audit.h"
#include "agent/policy.h"

struct guard;

/* *c and host are the caller's, and stay valid. */
struct err *guard_open(const struct conf *c, struct str host, struct guard **ret) MUST_USE;
struct err *guard_judge(struct guard *g, const struct question *q, struct str bytes,
			struct str signature) MUST_USE;
void guard_frame(struct guard *g, const struct question *q, u64 for_ns, struct sb *ret);
struct err *guard_started(struct guard *g, int pid) MUST_USE;

/* What became of a question; .why is "" if nothing is to be said. */
struct guard_end {
	enum audit_end end;
	struct str why;
	u64 cpu_ns, bytes;
};
/* Writes to the system log. json: the message for the subject sonde.audit. */
void guard_ended(struct guard *g, const u8 id[QUESTION_ID], const struct guard_end *end,
		 struct sb *json);
/*
 * May the question with this id, or all if it is zeros, be ended? order: what question_unpack_stop() reads, sealed; "" if
 * there is none. It is recorded as a question is. json stays empty if this host lets anybody end questions.
 */
struct err *guard_stop(struct guard *g, const u8 id[QUESTION_ID], struct str order,
		       struct sb *json) MUST_USE;
void guard_free(struct guard *g); /* NULL is allowed */
