/*
 * code.h - machine code of functions: where instructions begin, which of them return.
 *
 * Only lengths are decoded, and the few instructions that probes must know. What is not known ends
 * the walk: nobody guesses where the next instruction is.
 *
 *	for (u32 at = 0; code_next(&c, &at, &i);) ...
 */
#pragma once
#include "arch/insn.h"

struct codes {
	const u8 *p;
	u32 n;
	u16 machine; /* EM_X86_64, EM_AARCH64 */
};
/* The instruction at *at, which moves behind it. False: the end, or (then *at < c->n) one that is
 * not known. */
bool code_next(const struct codes *c, u32 *at, struct insn *ret);
/* Does an instruction begin at this offset of the code? Looked up from the first one. */
enum code_begins {
	BEGINS_YES,
	BEGINS_NO,
	BEGINS_UNKNOWN
} code_begins(const struct codes *c, u32 at);
