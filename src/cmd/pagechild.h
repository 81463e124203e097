/* pagechild.h - the child of web.c that shows a run on a page. */
#pragma once
#include "base/base.h"

enum {
	PAGE_TOKEN = 32,   /* characters */
	PAGE_CLIENTS = 32, /* open pages */
};
/*
 * A web_child. arg is the token, PAGE_TOKEN characters, which each request must name.
 *
 * From fd come states of the run: the size, a u64, and lines of JSON, of which the first is about the run and
 * each other is a pane. A state replaces the one before; clients get the lines that have changed since what they
 * got last, so one that is slow misses states. To fd goes a byte with the number of open pages whenever that has
 * changed. When the parent closes fd, clients get the last state, and the child ends.
 */
void pagechild_run(int listening, int fd, const void *arg);
