/*
 * web.h - a web server in a child without rights, which talks HTTP by libmicrohttpd.
 *
 * The child of `serve` (webchild.h) knows one path. When a client wants /metrics, it asks its parent for them by
 * one byte, and hands the answer to all clients that were waiting then: one reading serves several
 * scrapes. A child that dies is made anew by the caller. The child of `live --web` is in pagechild.h.
 */
#pragma once
#include "core/metrics.h"
#include "rights/confine.h"
#include <sys/socket.h>

struct web {
	int listening; /* the socket; -1: none */
	int pid, fd;   /* of the child, and to talk to it; 0 and -1: there is none */
	u64 starts;
};
/* What runs in the child: it serves listening, and talks to its parent by fd. It does not return. */
typedef void web_child(int listening, int fd, const void *arg);
#define WEB_NONE ((struct web){.listening = -1, .fd = -1})

/* addr is HOST:PORT, [HOST]:PORT, :PORT or PORT, of this machine alone if there is no host. */
struct err *web_open(struct web *w, const char *addr) MUST_USE;
/* The same for an address that only this machine reaches, or unix:PATH; others are refused. NULL: any free port. */
struct err *web_open_local(struct web *w, const char *addr) MUST_USE;
/* "HOST:PORT", "[HOST]:PORT", ":PORT" or "PORT". */
bool web_split_addr(const char *addr, struct sb *host, u16 *port);
/* An address in numbers. 0: it is none. */
socklen_t web_parse_addr(const char *host, u16 port, struct sockaddr_storage *ret);
/* In the child: user nobody, no capabilities, and few system calls; may: bits of confine.h. */
struct err *web_give_up(u32 may) MUST_USE;
/* Where it listens: "127.0.0.1:9435", or "unix:PATH". */
void web_name(const struct web *w, struct sb *out);
/* Without a socket that listens, the child gets its end of the conversation as both. arg is what the child gets; it stays as long as the caller of web_start() needs to copy it by fork(). */
struct err *web_start(struct web *w, web_child *run, const void *arg) MUST_USE;
/* .fd is readable. False: the child has ended. */
bool web_asked(struct web *w, enum metrics_format *ret);
/* False: the child does not take it. */
bool web_answer(struct web *w, struct str text);
void web_stop(struct web *w); /* ends the child */
void web_close(struct web *w);
