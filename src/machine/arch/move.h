/* move.h - what one instruction of a function's prologue does to registers and the stack. */
#pragma once
#include "base/base.h"

/* Registers have DWARF's numbers. */
enum move_kind {
	MOVE_NOTHING,
	MOVE_COPY,  /* to = from, the lower size bytes */
	MOVE_CONST, /* to = v */
	MOVE_ADD,   /* to = from + v, all of the register */
	MOVE_MASK,  /* to &= v */
	MOVE_SHIFT, /* to >>= v, size bytes of it; the upper bits are 0 then */
	MOVE_LOAD,  /* to = size bytes at from + v */
	MOVE_STORE, /* size bytes at to + v = from */
	MOVE_FILL,  /* size bytes at to + v = something that no register has */
	MOVE_PUSH,  /* of from */
	MOVE_SPOIL, /* to = something else */
};
/* What else a register gets where less than 8 bytes are written: 4 clear the rest, 1 and 2 keep it. */
struct move {
	enum move_kind kind;
	u8 to, from, size;
	u32 len;
	i64 v;
};

/* False: an instruction that is not known here, or does more than that. */
bool x86_64_move(const u8 *p, u32 n, struct move *ret);
