/* spawn.h - another program, whose output is read. */
#pragma once
#include "base/err.h"
#include "base/vec.h"

struct spawn_words {
	char **v;
	u32 n, cap;
};
/* Split at blanks; quotes group, a backslash takes the next character. False: a quote is not closed. Words are the
 * arena's; the caller ends with vec_free(). */
bool spawn_split(struct arena *a, struct str text, struct spawn_words *ret);

/* Found in $PATH. Its output comes from *out, and signals that we block or ignore are as they are
 * by default; quiet: what it says beside its output is nobody's concern. */
struct err *spawn_read(char *const *argv, bool quiet, int *pid, int *out) MUST_USE;
/* What is written to *in is its input. */
struct err *spawn_write(char *const *argv, int *pid, int *in) MUST_USE;
/* Ours of all its standard streams, which do not block: end[0] is written to, the others are read. It is the leader of a process group of its
 * own, so that Ctrl-C on a terminal does not end it. */
struct err *spawn_talk(char *const *argv, int *pid, int end[3]) MUST_USE;
