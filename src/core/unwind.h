/*
 * unwind.h - tables by which programs find the callers of a user function (dw_ustack).
 *
 *	pids   process -> its slot
 *	slots  what is mapped where: two lists of pieces, sorted by address; the one in use is
 *.active. The other is written, then they change places. A run that saw two changes may have read
 *what was being written. rows   chunks of rows (sym/cfi.h); a piece's rows lie in one chunk lost
 *how often a stack was cut, by reason, and by file where it lacks information
 */
#pragma once
#include "base/base.h"

enum {
	UNWIND_CHUNK = 1 << 15,  /* rows: 256 KiB */
	UNWIND_CHUNKS = 1 << 10, /* at most: 32 million rows */
	UNWIND_PIECES = 1 << 10, /* of a process */
	UNWIND_SLOTS = 16,       /* for children, beside the processes asked for */
	UNWIND_MODULES = 1 << 12,
};
struct unwind_piece {
	u64 start, end;
	u32 pc; /* of start, as rows count */
	u32 chunk, module;
	u16 first, n; /* rows; 0: the file has no information, or (.first 1) it is generated code,
			 which is taken to keep frame pointers */
};
_Static_assert(sizeof(struct unwind_piece) == 32, "programs shift");
struct unwind_slot {
	u32 active, changes, n[2];
	u64 pad[6];
	struct unwind_piece piece[2][UNWIND_PIECES];
};
_Static_assert(offsetof(struct unwind_slot, piece) == 64, "one cache line");
struct unwind_chunk {
	u32 pc[UNWIND_CHUNK], rule[UNWIND_CHUNK];
};
enum unwind_lost {
	UNWIND_LOST_PROCESS, /* not one that was asked for */
	UNWIND_LOST_FILE,    /* code that no known file holds */
	UNWIND_LOST_READ,    /* the stack could not be read, or makes no sense */
	UNWIND_LOST_CHANGED,
	UNWIND_LOST_FIRST_MODULE = 8,
	UNWIND_LOST_WORDS = UNWIND_LOST_FIRST_MODULE + UNWIND_MODULES,
};
struct map;
struct unwind {
	struct map *pids, *slots, *rows, *lost;
	u32 nslot;
};
