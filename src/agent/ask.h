/*
 * ask.h - `sonde-agent ask`: the asker's side of a question to many agents.
 *
 * What it reads and writes is described in fleet/bus.h. It sends the question, and repeats every BEAT_MS that it is still
 * there; agents that do not know the question then ask for it, so that one that starts late takes part from then on. Each
 * agent answers by TAKEN and later by DONE. What is not sent with DONE is pulled, with at most WINDOW_BYTES on their way,
 * whatever the number of hosts.
 */
#pragma once
#include "agent/nats.h"
#include "agent/question.h"

struct ask_spec {
	struct nats *nats;
	struct inbox *in;
	const char *reply; /* subject that was subscribed to */
	struct question *q;
	/* Its hosts, in the order in which they are reported. */
	struct question_list hosts;
	struct str sealed;
	struct str secret; /* of the question */
	u64 wait_ns;
	u32 expect;
	u64 apart_ns; /* hosts whose clocks are further apart do not wait for the time of --at: nobody does; 0: any */
	bool hubs;    /* they may fetch and merge answers (hub.h) */
	int from, to; /* descriptors: whose end is the wish to stop; frames */
};
struct err *ask_hosts(const struct ask_spec *s) MUST_USE;

/* Who is there? A table to standard output. labels: "a=b,c=d" or "". */
struct err *ask_who(struct nats *nats, struct inbox *in, const char *reply, struct str labels,
		    u64 wait_ns) MUST_USE;
struct stop_spec {
	struct nats *nats;
	struct inbox *in;
	const char *reply;
	u8 id[QUESTION_ID]; /* of the question; zeros: all */
	struct str sealed;  /* the order */
	u64 wait_ns;
};
/* Ends the question, or all. Hosts that refuse are reported with their reasons, to standard error. */
struct stop_result {
	u32 stopped, refused; /* hosts on which one ran; hosts that have refused */
};
struct err *ask_stop(const struct stop_spec *s, struct stop_result *ret) MUST_USE;
