/*
 * livepage.h - the way of a run's states to its page (--web): a child that serves them (pagechild.h).
 *
 * Nothing here waits for a client, or for the child, but livepage_close(), which gives them a moment for the last
 * state. A child that dies is reported, and the run goes on without a page: by then it may have given up the right
 * to make another one.
 */
#pragma once
#include "base/err.h"

struct livepage;
struct front_page;
/* addr NULL or "": any free port of 127.0.0.1. */
struct err *livepage_open(const char *addr, struct livepage **ret) MUST_USE;
void livepage_announce(struct livepage *p); /* its address, once, on standard error */
/* The run has ended by itself, and its last state stays. NULL: there is no page. */
void livepage_stays(const struct livepage *p);
/* The same beside a terminal: start, in a process that may, which keeps nothing of it; the socket, or -1. take, in the
 * one that shows the run. */
int livepage_serve(struct sb *text, int *pid);
const struct front_page *livepage_take(int fd, int pid);
const struct front_page *livepage_front(struct livepage *p);
void livepage_close(struct livepage *p); /* NULL is fine */
