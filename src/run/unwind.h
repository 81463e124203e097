/* unwind.h - user stacks of dw_ustack: the half in user space. core/unwind.h describes the whole. */
#pragma once
#include "kern/mmaps.h"
#include "types/type.h"

struct session;

bool unwind_on(const struct session *s);   /* dw_ustack is used, and begin programs have run */
bool unwind_busy(const struct session *s); /* the next tick has work, and should come at once */
/* A process mapped something, or began or ended. */
void unwind_note(struct session *s, const struct map_note *n);
void unwind_expect(struct session *s, u32 pid); /* stacks of this process will be asked for */
/* The callers of a stack that a program did not finish; mark is its last frame. NULL if they are not
 * known, or there are none. The frames stay until the next call. */
const u64 *unwind_tail(struct session *s, u64 mark, u32 *n);
/* A frame of an interpreted language (UNWIND_WORD). False: what it is called is not known. */
struct interp_frame;
bool unwind_frame(struct session *s, u64 word, struct interp_frame *ret);
/* Put the callers in the place of marks in a key of type t. True if there was a mark. */
bool unwind_finish_key(struct session *s, const struct type *t, u8 *key);
