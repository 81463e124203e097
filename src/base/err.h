/*
 * err.h - a failed system operation: NULL is success.
 *
 * Leaf code (kern/, types/, sym/, probe/) returns one of these; the caller that
 * knows the place in the script turns it into a diagnostic with diag_err().
 * An err is on the heap; exactly one of err_free() and diag_err() ends it.
 */
#pragma once
#include "base/diag.h"

enum { ENOTSUPP_KERNEL = 524 }; /* not in errno.h, but it leaks out of the kernel */

struct err {
	int no;    /* errno, or 0 */
	char *msg; /* "open /x: Permission denied" */
};

struct err *err_sys(int no, const char *fmt, ...) PRINTF(2, 3) MUST_USE; /* adds strerror(no) */
struct err *err_new(const char *fmt, ...) PRINTF(1, 2) MUST_USE;
/* Put words in front of e's message ("attach kprobe:x: " ...). Returns e. */
struct err *err_wrap(struct err *e, const char *fmt, ...) PRINTF(2, 3) MUST_USE;
void err_free(struct err *e); /* NULL is fine */
/* Report e at loc and free it. */
void diag_err(struct diags *ds, enum diag_code code, struct loc loc, struct err *e);
