/*
 * web.h - a web server that knows one path, in a child without rights.
 *
 * The child talks HTTP, by libmicrohttpd. When a client wants /metrics, it asks its parent for them by
 * one byte, and hands the answer to all clients that were waiting then: one reading serves several
 * scrapes. A child that dies is made anew by the caller.
 */
#pragma once
#include "core/metrics.h"

struct web {
	int listening; /* the socket; -1: none */
	int pid, fd;   /* of the child, and to talk to it; 0 and -1: there is none */
	u64 starts;
};
#define WEB_NONE ((struct web){.listening = -1, .fd = -1})

/* addr is HOST:PORT, [HOST]:PORT, :PORT or PORT, of this machine alone if there is no host. */
struct err *web_open(struct web *w, const char *addr) MUST_USE;
void web_name(const struct web *w, struct sb *out); /* where it listens: "127.0.0.1:9435" */
struct err *web_start(struct web *w) MUST_USE;
/* .fd is readable. False: the child has ended. */
bool web_asked(struct web *w, enum metrics_format *ret);
/* False: the child does not take it. */
bool web_answer(struct web *w, struct str text);
void web_stop(struct web *w); /* ends the child */
void web_close(struct web *w);
