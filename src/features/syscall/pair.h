/*
 * pair.h - rows of emit() with a column of a system call: the beginning of a call waits for its end.
 *
 * Programs send the beginning and the end of a call apart (syscall/calls.h). call_put_row() takes both, and calls .put
 * once for each line: one for a call that has ended, two if another thread's line came between and the call is to be
 * shown so (CALL_SPLIT), one for signals and for the end of a thread. What waits belongs to the reporter
 * (report/calls.h).
 */
#pragma once
#include "core/columns.h"
#include "core/value.h"

struct reporter;
struct call_rows {
	struct reporter *r;
	const struct columns *columns; /* at most SHOWN_MAX_CELLS */
	u32 at;                        /* the column of the call */
	/* A row is complete but for its cell .at, which is to be text. ts 0: now. */
	void (*put)(const struct call_rows *to, struct value *cell, struct str text, u64 ts);
};
/* cell: of all columns; cell[to->at] is V_BYTES. They are changed. */
void call_put_row(const struct call_rows *to, struct value *cell, u64 ts);
