/*
 * unwind.h - tables by which programs find the callers of a user function, frame pointers or not.
 *
 *	procs	process -> its list of pieces. A child that is not there has its parent's.
 *	lists	chunks of pieces: what is mapped where; those of a process lie together, by address
 *	index	a word for each block of 16 KiB of a file's code: where its rows are
 *	blocks	chunks of blocks: rows of 4 bytes, an address in the block and the number of a rule
 *	rules	every different rule (sym/cfi.h) once
 *	lost	how often a stack was cut, by reason, and by file where the file lacks information
 *	copies	stacks of which something was not there yet; user space finishes them
 *
 * What was there when tracing begins is made then, as far as time and room allow, or, for probes that
 * fire seldom, in the first moments; all else when a stack needs it. A walk that comes to a process,
 * a file or a block that is not there copies what is left of the stack, and user space makes the
 * rows, walks the copy, and remembers the callers by the number of the copy. That number is the last
 * frame of the stack that the program has (UNWIND_MARK): no address looks like it.
 *
 * Only user space writes, all but the counters, .used and copies. What it replaces stays readable
 * for a while: a chunk that gives its place to another is freed by the kernel when no program reads
 * it any more, and the pieces of a list that was replaced are not used again for seconds.
 */
#pragma once
#include "base/base.h"

enum {
	UNWIND_PROCS = 1 << 14,
	UNWIND_FILES = 1 << 12,
	/* lists */
	UNWIND_PIECES = 1 << 13, /* of a chunk */
	UNWIND_LISTS = 1 << 6,   /* chunks: 16 MiB */
	/* blocks */
	UNWIND_BLOCK_BITS = 14,
	UNWIND_BLOCK = 1 << UNWIND_BLOCK_BITS,
	UNWIND_INDEX = 1 << 20, /* blocks that the index has room for: 16 GiB of code */
	UNWIND_ROWS = 1 << 12,  /* of a block */
	UNWIND_UNIT = 64,       /* bytes; a block begins at a multiple */
	UNWIND_UNITS = 1 << 12, /* of a chunk */
	UNWIND_CHUNKS = 320,    /* 80 MiB */
	UNWIND_RULES = 1 << 16,
	/* copies */
	UNWIND_COPY_PAGE = 4096,
	UNWIND_COPY_BELOW = 128, /* of sp: what was popped is still found there */
	UNWIND_COPY_PAGES = 16,
	UNWIND_COPY_STACK = UNWIND_COPY_PAGES * UNWIND_COPY_PAGE,
	UNWIND_SMALL_STACK = 4 * UNWIND_COPY_PAGE,
	UNWIND_COPY_BYTES = 8 << 20, /* of the ring */
};

struct unwind_proc {
	u64 space; /* which program image: where its stack begins, which exec chooses anew */
	u32 chunk, first, n; /* of lists */
	u32 pad;
};
enum unwind_piece_kind {
	UNWIND_PIECE_ROWS,
	UNWIND_PIECE_RULE, /* generated code: the same rule everywhere, in .pc */
	UNWIND_PIECE_NONE, /* nothing is known, and asking again is of no use */
};
struct unwind_piece {
	u64 start, end;
	u32 pc;   /* of start, in its file; or a rule */
	u32 file; /* number */
	u32 kind, pad;
};
_Static_assert(sizeof(struct unwind_piece) == 32, "programs shift");
struct unwind_list_chunk {
	struct unwind_piece piece[UNWIND_PIECES];
};

/* file[]: number of its first block, 0: nobody asked. block[]: a reference, or one of these. */
enum unwind_ref {
	UNWIND_REF_NEW,        /* not made */
	UNWIND_REF_FP,         /* the file has no rows: frame pointers */
	UNWIND_REF = 1u << 31, /* | chunk << 12 | unit */
	UNWIND_REF_UNIT_BITS = 12,
};
struct unwind_index {
	u32 file[UNWIND_FILES];
	u32 block[UNWIND_INDEX];
};
struct unwind_row {
	u16 pc, rule;
};
struct unwind_block {
	u32 entry; /* in the index */
	u32 n;
	struct unwind_row row[]; /* the first at pc 0 */
};
struct unwind_chunk {
	u32 used; /* a walk came by */
	u32 pad[15];
	u8 unit[UNWIND_UNITS][UNWIND_UNIT];
	/* so that a program may read a longest block anywhere */
	u8 slack[sizeof(struct unwind_block) + UNWIND_ROWS * sizeof(struct unwind_row)];
};

enum unwind_lost {
	UNWIND_LOST_CODE, /* at code that lies in no file */
	UNWIND_LOST_READ, /* the stack could not be read, or makes no sense */
	UNWIND_LOST_COPY, /* no room for a copy */
	UNWIND_LOST_IDS,  /* counts copies: the next one's number */
	UNWIND_LOST_FIRST_FILE = 8,
	UNWIND_LOST_WORDS = UNWIND_LOST_FIRST_FILE + UNWIND_FILES,
};

enum { UNWIND_COPY_REGS = 16 };
/* Which registers are still as they were in the first frame, but for the one that is followed. */
enum unwind_depth {
	UNWIND_LEAF,    /* all: it is the first */
	UNWIND_CALLERS, /* those that a call may change, as far as tables rely on it */
	UNWIND_AWAY,    /* none: a signal came between */
};
/* Where arch_unwind.kept is: still in the register, nowhere, or at this address. */
enum { UNWIND_KEPT_IN_REG = 0, UNWIND_KEPT_NOWHERE = 1 };
/*
 * A copy takes two forms. Most stacks, those of processes that have just begun among them, end within
 * UNWIND_SMALL_STACK bytes: such a copy is whole, and takes as much of the ring as the stack does.
 * Others take UNWIND_COPY_STACK bytes.
 */
struct unwind_copy {
	/* Of the first frame, by DWARF's number; the one that is followed as it is now. */
	u64 reg[UNWIND_COPY_REGS];
	u64 id, space;
	u64 ip, sp, fp;
	u64 back;       /* 1: ip is a return address, the call lies before it */
	u64 link, live; /* aarch64: the register with the return address; 1: it still has it */
	u64 ns;         /* CLOCK_MONOTONIC */
	u32 pid;
	u32 left;  /* frames that the stack has room for, the mark's included */
	u32 pages; /* bit i: page i, from that of the lowest byte on, could be read */
	u32 depth; /* enum unwind_depth */
	u32 bytes; /* of .stack */
	u32 whole; /* 1: the stack ends with them, or what follows them cannot be read */
	u8 stack[];
};
/* The address of .stack[0]; .stack[i] is at that address + i. */
static inline u64 unwind_copy_low(const struct unwind_copy *c)
{
	return (c->sp - UNWIND_COPY_BELOW) & ~7ull;
}

/* Registers of x86_64 that a call may change: at a return address tables name them only where the
 * function that was called is known to leave them alone. */
enum { UNWIND_CALL_REGS = 0x0f37 };
static inline bool unwind_reg_is_known(u32 reg, u32 depth)
{
	return depth == UNWIND_LEAF ||
	       (depth == UNWIND_CALLERS && (u32)UNWIND_CALL_REGS >> reg & 1);
}

/* The last frame of a stack whose rest is with user space: not an address on any machine. */
#define UNWIND_MARK      (0x5afeull << 48)
#define UNWIND_MARK_MASK (0xffffull << 48)

struct map;
struct unwind {
	struct map *procs, *lists, *index, *blocks, *rules, *lost, *copies;
};
