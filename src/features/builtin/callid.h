/* callid.h - numbers of system calls in programs; the numbers are those of syscall_id(). */
#pragma once
#include "builtin/common.h"

struct ref
call_is_compat(struct lower *l);    /* does the task make a call of a 32-bit program? 0 or 1 */
u32 call_elements(struct lower *l); /* of a table of all calls */
struct ref call_index(struct lower *l, struct ref id, struct blk *none);
struct ref call_in_set(struct lower *l, struct ref id,
		       struct str text); /* that call_check_set() has found good: 0 or 1 */
bool call_check_set(struct sema *s, struct node *call, u32 i); /* argument i */
