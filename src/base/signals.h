/*
 * signals.h - the wish to end, as a descriptor: no wait for anything else outlasts it.
 *
 * SIGINT, SIGTERM and SIGHUP are caught; the first is noted, and the second ends the process as if
 * none had been caught. A pipe that nobody reads or a command that does not end may take a grace
 * after the first, no more.
 */
#pragma once
#include "base/err.h"

enum { GRACE_MS = 300 };

struct signals {
	int fd;       /* signalfd; -1: not open */
	u64 stop_ns;  /* when the first came; 0: none has */
	bool usr2;    /* the same of SIGUSR2 */
	bool usr1;    /* SIGUSR1 came; who answers it sets this to false */
	u32 write_ms; /* grace that is left for writing */
};
#define SIGNALS_NONE ((struct signals){.fd = -1, .write_ms = GRACE_MS})

/* poke, more: SIGUSR1, SIGUSR2 are caught, too. SIGPIPE is ignored: a closed output is an error of write(). */
struct err *signals_open(struct signals *s, bool poke, bool more) MUST_USE;
void signals_close(struct signals *s);
/* Has the wish come? */
bool signals_look(struct signals *s);
/* Until fd is ready. False: the wish has come, and the grace, which this counts down, is over. */
bool signals_wait(struct signals *s, int fd, short events, u32 *grace_ms);
/*
 * All n bytes; *done: how many were written. Result: 0, an errno, or ETIMEDOUT: nobody takes them,
 * and the wish has come. s NULL: for as long as it takes.
 */
int signals_write(struct signals *s, int fd, const char *p, size_t n, size_t *done);
/*
 * For as long as the process lives: a mapped file that somebody cuts short reads as zeros behind its
 * new end. Readers look at what they read anyway; without this they would be killed (SIGBUS).
 */
void signals_fill_pages(void);
