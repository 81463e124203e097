/*
 * callkept.h - a system call as a value: where its parts are, and how it is to be shown. That is said again of a call
 * that was recorded.
 */
#pragma once
#include "builtin/common.h"
#include "syscall/calls.h"

enum {
	LENGTH = 8, /* of a buffer value, padded: its bytes begin at 4 */
	AT_NR = 4,
	AT_PHASE = 8,
	AT_TID = 12,
	AT_PID = 16,
	AT_LIMIT = 20,
	AT_FLAGS = 24,
	AT_TIME = 28,
	AT_ARG = 36,
	AT_USED = 100,
	AT_PIECES = 108,
	CALL_VALUE = AT_PIECES + CALL_AREA + CALL_PATH + (int)sizeof(struct call_piece) + 8,
};
_Static_assert(sizeof(struct call_head) == AT_PIECES - 4, "the head is laid out by hand here");
_Static_assert(offsetof(struct call_head, arg) == AT_ARG - 4, "the same");
_Static_assert(LENGTH == 8, "padding");

/*
 * Arguments that syscall_enter() and its kin share: limit, flags, raw, shallow, dump. The first of them has another number
 * in the function for calls that were recorded.
 */
enum call_of { CALL_OF_LIVE = 2, CALL_OF_KEPT = 3 };

const struct type *call_type(struct sema *s, struct node *call);
/* Reports what is wrong with these arguments; limit and flags: their values. */
bool call_check_shown(struct sema *s, struct node *call, enum call_of of, i64 *limit, i64 *flags);
/* Is data of some calls shown in hex? What never holds is a constant. */
bool call_dumps(const struct node *call, enum call_of of);
/* The flags of the call with this number: those that are asked for, and what sets say of the number. */
struct ref call_shown_flags(struct lower *l, struct node *call, enum call_of of, struct ref nr,
			    i64 flags);
/* All that was copied is the value: used bytes of pieces. */
void call_put_length(struct lower *l, struct mem dst, struct ref used);

/* syscall_kept(): a call that was recorded, shown as is wanted now. What is to be shown must have been copied. */
bool call_check_kept(struct sema *s, struct node *call);
struct ref call_lower_kept(struct lower *l, struct node *call, struct mem dst);
