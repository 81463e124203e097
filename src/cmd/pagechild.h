/* pagechild.h - the child of web.c that shows a run on a page. */
#pragma once
#include "base/base.h"

enum {
	PAGE_TOKEN = 32,   /* characters */
	PAGE_CLIENTS = 32, /* open pages */
	PAGE_ASK = 32768,  /* bytes of a question */
};
/* What comes from fd; .size bytes follow. */
struct page_answer {
	u64 size;
	u32 id;   /* of the question; 0: a state of the run */
	u32 good; /* 1: the answer; 0: why there is none */
};
/* What goes to fd; .size bytes follow, a question as lines (enum ask_line). */
struct page_ask {
	u32 id;            /* 0: no answer is expected */
	u32 clients, size; /* clients: open pages */
};
/*
 * A web_child. arg is the token, PAGE_TOKEN characters, which each request must name.
 *
 * From fd come states of the run: lines of JSON, of which the first is about the run and each other is a pane. A state
 * replaces the one before; clients get the lines that have changed since what they got last, so one that is slow misses
 * states. Questions of clients go to fd, and answers come back. The number of open pages, and which panes they show, goes
 * to fd whenever that has changed. When the parent closes fd, clients get the last state, and the child ends.
 */
void pagechild_run(int listening, int fd, const void *arg);
