/*
 * push.h - data that a service sends to another by HTTP, from a child without rights.
 *
 *	push_open(&p, "--otlp", url, 4318, "/v1/metrics")
 *	push_start(&p)           the child; while nothing is open that it should not have
 *	push_add(&p, &post)      what is to be sent; it is copied
 *	push_poll(&p, now)       often
 *	push_take(&p, now)       when .child.fd is readable
 *	push_close(&p)
 *
 * One post at a time. If the receiver cannot be reached or says that it is busy, the post is sent again, after a time that
 * doubles with each attempt. Meanwhile others wait; if there are too many, the oldest is dropped, and counted.
 */
#pragma once
#include "cmd/web.h"

struct push_post {
	struct str query; /* behind the path of the URL, or "" */
	struct str type;  /* of the content */
	struct str body;
	u32 points; /* what it contains, for the count of what was dropped */
};
struct push_waiting {
	struct sb text; /* the whole request */
	u32 points;
};
struct push {
	const char *option;
	struct str host, path; /* of the URL: "127.0.0.1:4318", "/v1/metrics" */
	struct sockaddr_storage at;
	struct web child; /* without a socket that listens */
	VEC(struct push_waiting) waiting;
	bool busy;                    /* the first one is with the child */
	bool failing;                 /* which was reported */
	u32 tries;                    /* of the first one */
	u64 next_ns, child_ns;        /* when it is sent again; when the child was started */
	u64 posts, failures, dropped; /* taken; attempts that failed; points */
	struct arena arena;
};
struct err *push_open(struct push *p, const char *option, const char *url, u16 port,
		      const char *path) MUST_USE;
struct err *push_start(struct push *p) MUST_USE;
void push_add(struct push *p, const struct push_post *post);
void push_poll(struct push *p, u64 now);
void push_take(struct push *p, u64 now);
void push_close(struct push *p);

/* What the child says of an attempt. */
struct push_reply {
	i32 no;       /* errno; 0: there was an answer */
	u32 status;   /* of HTTP; 0: the answer was not understood */
	u32 after_s;  /* Retry-After; 0: not said */
	u32 rejected; /* data points that the receiver did not want, as its answer says */
};
/* The child (pushchild.c): arg is a struct push. */
void pushchild_run(int unused, int fd, const void *arg);
