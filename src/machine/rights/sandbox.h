/*
 * sandbox.h - files that others wrote are read by a child that may do nothing else.
 *
 * It has no capabilities, a filter of system calls (SANDBOX rows of confine.c) that leaves it memory,
 * the files that it is handed and the way back, and limits of memory and time. It is forked when the
 * first file is read, serves one question after the other, and is made anew when it has died.
 *
 *	struct question q = {.path = path, .file = {f}, .nfile = 1, .args = args};
 *	err = sandbox_ask(h, fn, &q, &answer);	fn runs in the child
 *
 * Whatever comes back is bytes that somebody else may have made: whoever asks reads them as such
 * (base/bytes.h), and looks at each number. A child that dies, or takes too long, is an error that
 * names the file, which that function is then not asked about again. Where the kernel has no such child, fn runs here.
 */
#pragma once
#include "kern/host.h"
#include "types/image.h"

enum { SANDBOX_FILES = 3 };
/* Further files, which a library asks for by name in the middle of a question (sandbox_calls.h). The
 * name may be anything, as may be whatever is said by a child that somebody else speaks through. */
struct sandbox_more {
	int (*open)(void *arg, const char *path); /* a descriptor, or -errno */
	void *arg;
	const char *self; /* what it is told that it was handed */
};
struct question {
	const char *path; /* of the first file, for its messages; with the member of an archive */
	struct image_file file[SANDBOX_FILES];
	u32 nfile;
	struct str args;
	const struct sandbox_more *more; /* NULL: there are none */
};
/* What a function keeps for later questions, for as long as its process lives. */
struct kept {
	void *p;
	void (*drop)(void *p);
};
/* The same, as it comes to fn; what it writes is the answer, unless it fails. */
struct job {
	const char *path;
	struct image_file file[SANDBOX_FILES];
	u32 nfile;
	struct bytes args;
	struct sb out;
	struct kept *kept; /* of one function alone: that which reads debug information */
};
typedef struct err *sandbox_fn(struct job *j);
struct err *sandbox_ask(struct host *h, sandbox_fn *fn, const struct question *q,
			struct sb *answer) MUST_USE;
/*
 * Sends a question that is going to be asked, word for word, so that the child works on it meanwhile:
 * sandbox_ask() then takes the answer from here. Answers wait in the socket, and in our memory where
 * others are asked for first; what nobody asks for is thrown away by sandbox_forget(). There is room
 * for so many. False: it was not sent.
 */
enum { SANDBOX_AHEAD = 64 };
u32 sandbox_room(const struct host *h);
bool sandbox_ahead(struct host *h, sandbox_fn *fn, const struct question *q);
void sandbox_forget(struct host *h);
/* Now rather than later; its pid, 0: there is none, and *why is the reason. */
int sandbox_start(struct host *h, const char **why);
/* How much processor time one question may take, other than ten seconds. */
void sandbox_timeout(struct host *h, u32 ms);
/* Sentences about files that it did not survive, or did not finish; NULL: no more. */
const char *sandbox_told(const struct host *h, u32 i);
/* One more, when e is that there was no descriptor or memory for a file: it might have been read. */
void sandbox_tell(struct host *h, const struct err *e);
void sandbox_end(struct host *h);
