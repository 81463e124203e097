/*
 * wire.h - what sonde-agent and the asker send each other through the server: one struct message, and its bytes.
 *
 * The asker publishes to subjects that agents subscribe to (subject_of_*()); agents publish to the inbox that the asker
 * names. The server loses what it has not delivered when it dies, and so does a connection that breaks. So every message
 * may be sent again, and taking one twice changes nothing.
 *
 *	asker				agent
 *	ASK, to all or to some		TAKEN, with the reason if it refuses; it traces
 *	START, if it is to wait		(waits for the time in the question; then it traces)
 *	BEAT, every two seconds		WANT, if it does not know the question: it gets ASK
 *					DONE, every two seconds: how large its answer is
 *	PULL, of so many pieces		PIECE ...
 *	GOT, when it has them all	(forgets the answer)
 *	STOP, of one question or all	STOPPED, with the reason if it refuses; it ends tracing, and answers
 *	WHO				HERE
 *
 * Hubs (hub.h) fetch answers of some hosts, and give one to the asker.
 *
 *	asker				hub				agent
 *	HUBS, to all			SERVES, or why it does not
 *	PART, every two seconds		SERVES: what it has
 *	VIA, to agents: to this hub					DONE, to the hub
 *					PULL				PIECE ...
 *					HELD, when it has them all	(keeps the answer)
 *					MERGED, every two seconds
 *	PULL, GOT			PIECE ...
 *	GOT, to agents							(forgets the answer)
 *
 * A hub cannot ask: its messages to agents have a subject of their own, by which agents accept PULL and HELD only. Answers
 * go to the inbox that is in the question, or to a part of it that the hub's name is the name of.
 *
 * Anybody may send to the subjects of agents, so STOP has a proof: the secret of the question that its asker knows, or an
 * order that is signed as questions are (question.h). What proof an agent needs is its policy's to say (agent.h).
 *
 * The bytes: "sonde-m" 2, the kind (1 byte), the id of the question (16), and the fields of the kind in the order of its row
 * in wire.c; numbers and texts as in question.h. Everything is bounded, and nothing may follow.
 */
#pragma once
#include "agent/question.h"

enum {
	WIRE_MAX = QUESTION_MAX_SEALED + 4096, /* bytes of a message */
	WIRE_HEAD = 8 + 1 + QUESTION_ID,
	PIECE_BYTES = 256 << 10,
	ANSWER_MAX = 64 << 20,
	ANSWER_SENT = 64 << 10, /* an answer up to this size is sent with DONE */
	SAID_MAX = 16 << 10,
	BEAT_MS = 2000,
	BEATS_END_MS = 15000, /* without a beat for so long the asker is gone */
};
enum message_kind {
	MSG_ASK = 1,
	MSG_BEAT,
	MSG_PULL,
	MSG_GOT,
	MSG_STOP,
	MSG_WHO,
	MSG_TAKEN,
	MSG_WANT,
	MSG_DONE,
	MSG_PIECE,
	MSG_STOPPED,
	MSG_HERE,
	MSG_HUBS,
	MSG_SERVES,
	MSG_PART,
	MSG_VIA,
	MSG_HELD,
	MSG_MERGED,
	MSG_START,
	MSG_KINDS,
};
/* Which members a kind has is in wire.c. Texts are views into the bytes. */
struct message {
	enum message_kind kind : 8;
	u8 id[QUESTION_ID]; /* zeros: of STOP, all questions; of WHO and HERE, none */
	/* Of the agent: its host, a random number that it chose when it started, and what it runs on. */
	struct str host;
	u64 instance;
	struct str boot, kernel, version;
	struct str sealed; /* question.h: ASK: the question; STOP: the order, or "" */
	struct str secret; /* STOP: of the question, or "" */
	struct str reply;  /* the asker's inbox */
	u64 since_ns; /* ASK, BEAT: time since the first ASK; TAKEN, DONE: when it began, in that time */
	u64 spread_ms; /* TAKEN and DONE are sent within this time, at random, so that not all come at once */
	bool again; /* TAKEN may be lost: it is to be sent again */
	/* Wall clocks: of the asker when it sent ASK or BEAT, of the agent when that came, and when TAKEN was sent. */
	u64 asked_ns, came_ns, sent_ns;
	u64 ahead_ns; /* START: how far the agent's clock is ahead of the asker's, as i64 */
	bool good; /* TAKEN: it traces; DONE: sonde ended with status 0; STOPPED: it is not refused */
	bool cut;                   /* DONE: it was stopped before its time */
	struct str why;             /* why not, for people */
	struct str said;            /* what sonde printed beside its answer */
	u64 bytes;                  /* of the answer */
	u64 pieces;                 /* of it, PIECE_BYTES each, the last one shorter */
	u64 first, count;           /* PULL: which; PIECE: first */
	struct str data;            /* PIECE; DONE: the whole answer, or nothing */
	struct str labels, running; /* HERE: for people */
	struct str hub;             /* VIA: the hub that the answer goes to; "": the asker itself */
	/* PART: hosts of the hub; SERVES: those that it has answers of; a line for each. */
	struct str names;
	bool last; /* PART: no more hosts will be named; SERVES: it merges */
	bool now;  /* PART: what has not come is not waited for */
};

void message_pack(const struct message *m, struct sb *ret);
/* NULL, or what is wrong, in a sentence. */
const char *message_unpack(struct str bytes, struct message *ret);

/* A name that can be a part of a subject: question_is_name(), without an empty part between dots. */
bool subject_is_name(struct str name);
bool subject_is_inbox(struct str subject); /* an asker's, to which agents may send */
/* "key=value" */
bool subject_is_label(struct str label, struct str *key, struct str *value);
void subject_of_all(struct sb *ret);
void subject_of_host(struct sb *ret, struct str name);
void subject_of_label(struct sb *ret, struct str key, struct str value);
void subject_of_hub(struct sb *ret, struct str name); /* for askers; "": of all hubs */
/* Messages of hubs to an agent, and whether the subject is such a one. */
void subject_from_hub(struct sb *ret, struct str host);
bool subject_is_from_hub(struct str subject);
/* The part of an asker's inbox that a hub reads. "*": of any asker, to subscribe to. */
void subject_of_via(struct sb *ret, struct str reply, struct str hub);
