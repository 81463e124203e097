/*
 * sandbox_calls.h - what goes between the child without rights (sandbox.h) and us, and the system calls
 * that it may not make but ask for.
 *
 * libdw opens further files by name: those that a program's debug information is spread over. In the
 * child such a call is caught (SIGSYS), the name is sent up, and what comes back is a descriptor, or
 * no. Whether the name is one that may be opened is decided by whoever asked the question.
 */
#pragma once
#include "base/base.h"

enum {
	SANDBOX_WAY = 3,          /* the child's descriptor of the way up */
	SANDBOX_MAX_WORDS = 4096, /* of a path, of an error */
};
enum answer_kind { ANSWER_DONE, ANSWER_FAILED, ANSWER_OPEN, ANSWER_LINK };
/* Comes up; then n bytes: the answer, the error, the path to open, the link to read. */
struct answer_head {
	u64 n;
	u32 kind; /* enum answer_kind */
	i32 no;   /* of an error */
};
/* Goes down after a path, perhaps with a descriptor; then n bytes: where the link leads. */
struct reply_head {
	i32 no; /* 0, or an errno */
	u32 n;
};
bool sandbox_get(int from, void *to, size_t n);
bool sandbox_put(int to, const void *from, size_t n);
/* A head goes in one piece, with SANDBOX_FILES descriptors at most; -1: fewer came. All four may be
 * called in a handler of signals. */
bool sandbox_get_head(int from, void *head, size_t n, int *fd, u32 nfd);
bool sandbox_put_head(int to, const void *head, size_t n, const int *fd, u32 nfd);
/* In the child, before its filter: calls that are trapped there go up. */
bool sandbox_catch_calls(void);
