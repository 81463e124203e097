/*
 * verlog.h - a verifier log -> one sentence for the user.
 *
 * The log names source lines in "; TEXT @ FILE:LINE" (or only "; TEXT") and the
 * instruction that failed in its last "N: (xx) ..." line; the caller maps the
 * instruction back to the script through its own line table.
 */
#pragma once
#include "base/str.h"

struct verdict {
	i32 insn;          /* the refused instruction, -1: unknown */
	const char *why;   /* plain sentence: "the loop may run too long for the kernel to check" */
	struct str detail; /* the kernel's own last line */
	bool too_big;      /* complexity limit */
};
void verlog_read(const char *log, struct arena *a, struct verdict *ret);
