/*
 * confine.h - give up the rights that a script does not need, when everything is attached.
 *
 * This concerns the whole process, and cannot be undone.
 */
#pragma once
#include "core/unit.h"
#include "types/type.h"

struct session;

/* Types whose values are addresses of user space, as bits of enum type_kind. */
#define USER_ADDRESSES (1ull << T_USTACK | 1ull << T_USYM)
/* True if a map (a record) of the unit holds a value of one of the types, also within others. */
bool maps_hold(const struct unit *u, u64 kinds);
bool records_hold(const struct unit *u, u64 kinds);

/* Before confine_run(): start the process that reads files of traced programs (rights/sandbox.h). Return
 * its number, or 0 if there is none. */
int confine_reader(struct session *s);
struct err *confine_run(struct session *s) MUST_USE;
