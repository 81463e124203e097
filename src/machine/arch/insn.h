/* insn.h - one instruction of machine code: its length, and the few things that probes must know.
 */
#pragma once
#include "base/base.h"

enum code_kind {
	CODE_OTHER,
	CODE_RET,
	CODE_CALL,
	CODE_JUMP, /* always taken */
	CODE_PUSH, /* of a register */
	CODE_NOP,  /* of one byte, or where all have the same length, of that */
	CODE_NOP5, /* of five, in one instruction */
	CODE_ENDBR,
	CODE_VECTOR, /* fills a vector register, and touches nothing else */
};
struct insn {
	u32 at, len;
	enum code_kind kind;
	bool jumps;   /* to a place that the instruction names, always or on a condition */
	i64 to;       /* that place, from the beginning of the code */
	bool refused; /* the kernel puts no uprobe there, or gets it wrong */
};
