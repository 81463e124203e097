/*
 * java_scopes.h - which methods compiled code of Java runs, and their lines: what HotSpot keeps for that, read from
 * the process while it runs.
 */
#pragma once
#include "core/interp.h"

/* Of a method that user space has read. */
typedef void java_method(void *arg, u64 method, struct arena *a, struct interp_code *ret);
/* Of a nmethod, of that method: what the two functions below need, as long as the process has it. */
struct str java_scopes(const struct interp_file *f, const struct interp_memory *m, u64 nmethod,
		       java_method *read, void *arg, struct arena *a);
u32 java_scope_line(struct str scopes, u32 instr);
/* What was inlined, for interp_next(). */
void java_scope_inlined(struct str scopes, u32 instr, struct sb *out);
/* The line of a bytecode (its number of bytes), in HotSpot's table, of a version. */
u32 java_table_line(struct str table, u32 major, u32 instr);
