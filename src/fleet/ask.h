/*
 * ask.h - one question to many hosts, each behind a command that gives a POSIX shell there (ssh HOST sh).
 *
 * fleet_ask() starts these commands and writes far.sh to them, which finds or receives sonde on the host. When every host
 * is ready or has failed, all are asked at once. Lines of the conversation begin with a word of random digits; what a host
 * prints otherwise before it is ready is skipped. After the question comes the answer, a file of sonde (answer/answer.h),
 * and nothing else. If standard input of the command ends, the host stops tracing and answers; so it does if this process
 * or the connection is gone. A start in the question is the same moment on all hosts, as far as their clocks are known.
 *
 * Hosts are not trusted: what one says before it is ready, its messages and its answer are bounded, and so is the time
 * without progress. Answers are kept in memory and are not looked at here.
 */
#pragma once
#include "base/err.h"

struct signals;

enum {
	FLEET_MAX_ANSWER = 64 << 20,   /* bytes of an answer */
	FLEET_MAX_ANSWERS = 512 << 20, /* and of all together */
};
enum fleet_end {
	FLEET_ANSWERED,    /* something came, and the command ended */
	FLEET_UNREACHABLE, /* no shell answered */
	FLEET_REFUSED,     /* the host could not be asked, or answered nothing */
	FLEET_LATE,        /* it had not answered in time */
	FLEET_PARTIAL,     /* set by who reads the answer: it is not whole */
	FLEET_ENDS,
};
struct fleet_host {
	struct str name;
	enum fleet_end end : 8;
	u32 merged; /* 1 + the number of the merged answer that its answer is in; 0: it has its own */
	int fd;     /* the answer; -1 if there is none */
	u64 bytes;      /* of it */
	i64 ahead_ns;   /* its wall clock, compared with this machine's, */
	u64 unsure_ns;  /* give or take */
	struct sb why;  /* for people, escaped; empty if it answered */
	struct sb said; /* lines that it printed beside its answer, escaped */
};
struct fleet_program {
	struct str bytes;
	char sum[65]; /* its SHA-256, in hexadecimal */
};
struct fleet_question {
	struct str via;     /* words; {} in them stands for the host */
	struct str version; /* what a usable `sonde version` begins with */
	struct str sudo;    /* begins the command of users who are not root */
	struct str shell;   /* text of far.sh */
	/* What is sent to sonde on the host, behind "NBYTES START\n". */
	struct str ask;
	/* START, which each host gets by its own clock: at_ns by this machine's wall clock, or after_ns after all are
	 * ready; "0" if both are 0. Hosts whose clocks are certainly further apart than apart_ns are not asked; 0: any. */
	u64 at_ns, after_ns, apart_ns;
	bool keep;    /* the program stays on the host */
	u32 parallel; /* connections that are made at a time */
	u64 for_ns;   /* how long a host traces; 0: until it ends by itself */
	u64 wait_ns;  /* for a host that makes no progress, and for answers after for_ns */
	struct signals *signals; /* the wish to end: all are told to stop, and to answer */
	/* The program for an architecture, as uname -m names it. It stays the callee's. */
	struct err *(*program)(void *arg, struct str arch, const struct fleet_program **ret);
	void *arg;
};
/* What fleet_ask() measured. */
struct fleet_times {
	u64 asked_ns;  /* since the first connection was begun */
	u64 spread_ns; /* between the first question and the last */
	u64 took_ns;   /* from the first question to the last answer */
};
/* The hosts have names; the rest of them is set. An error: nobody was asked. */
struct err *fleet_ask(const struct fleet_question *q, struct fleet_host *host, u32 n,
		      struct fleet_times *times) MUST_USE;
/* Adds bytes to the answer; all: bytes of all hosts together. NULL, or why they are not kept. */
const char *fleet_keep(struct fleet_host *h, struct str bytes, u64 *all);
/* An error if the clock of the last host, by its clock, is more than apart_ns ahead of the first one's. */
struct err *fleet_apart(struct str first, i64 first_ns, struct str last, i64 last_ns,
			u64 apart_ns) MUST_USE;
void fleet_free(struct fleet_host *host, u32 n);
