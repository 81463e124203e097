/*
 * code.h - machine code of functions: where instructions begin, which of them return.
 *
 * Only lengths are decoded, and the few instructions that probes must know. What is not known ends
 * the walk: nobody guesses where the next instruction is.
 *
 *	for (u32 at = 0; code_next(&c, &at, &i);) ...
 */
#pragma once
#include "base/base.h"

enum code_kind {
	CODE_OTHER,
	CODE_RET,
	CODE_CALL,
	CODE_JUMP, /* always taken */
	CODE_PUSH, /* of a register */
	CODE_NOP,  /* of one byte */
	CODE_NOP5, /* of five, in one instruction */
	CODE_ENDBR,
};
struct codes {
	const u8 *p;
	u32 n;
	u16 machine; /* EM_X86_64, EM_AARCH64 */
};
struct insn {
	u32 at, len;
	enum code_kind kind;
	bool refused; /* the kernel puts no uprobe there, or gets it wrong */
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
