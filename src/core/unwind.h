/*
 * unwind.h - tables by which programs find the callers of a user function, frame pointers or not.
 *
 *	procs	process -> its list of pieces. A child that is not there has its parent's.
 *	lists	chunks of pieces: what is mapped where; those of a process lie together, by address
 *	index	a word for each block of 16 KiB of a file's code: where its rows are
 *	blocks	chunks of blocks: rows of 4 bytes, an address in the block and the number of a rule
 *	rules	every different rule (sym/cfi.h) once
 *	lost	how often a stack was cut, by reason, and by file where the file lacks information
 *	copies	stacks of which something was not there yet, which user space finishes; and what is
 *		said of functions of interpreted languages when a walk first comes to them
 *	langs	interpreters, by file: where their main loop is, and how their own frames are found
 *	codes	functions of interpreted languages that are known, by a hash of what tells them apart
 *	programs	executable files that are interpreters, by device and inode
 *
 * What was there when tracing begins is made then, as far as time and room allow, or, for probes that
 * fire seldom, in the first moments; all else when a stack needs it. A walk that comes to a process,
 * a file or a block that is not there copies what is left of the stack, and user space makes the
 * rows, walks the copy, and remembers the callers by the number of the copy. That number is the last
 * frame of the stack that the program has (UNWIND_MARK): no address looks like it.
 *
 * In the main loop of an interpreter the walk goes over to the interpreter's own frames, up to the one
 * that was called from outside, and then on in the native stack. A frame of that kind is one word
 * (UNWIND_WORD), which no address looks like: the place in codes of its function, and the instruction.
 * Names are copied when a function gets its place, so that they are known when the process is gone.
 *
 * A process that has just begun has no list yet. If the program that it runs is a known interpreter, the
 * walk takes all frames of the interpreter, and a copy of the native stack holds them, too.
 *
 * Only user space writes, all but the counters, .used and copies. What it replaces stays readable
 * for a while: a chunk that gives its place to another is freed by the kernel when no program reads
 * it any more, and the pieces of a list that was replaced are not used again for seconds.
 */
#pragma once
#include "base/base.h"
#include "core/java.h"
#include "core/v8.h"

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
	/* langs, codes */
	UNWIND_LANGS = 64,
	UNWIND_CODES = 1 << 16,
	UNWIND_CODE_TRIES = 8, /* places that one may be at, one behind the other */
	UNWIND_PROGRAMS = 256,
	UNWIND_COPY_WORDS = 128, /* interpreters' frames of a copy */
};

struct unwind_proc {
	u64 space; /* which program image: where its stack begins, which exec chooses anew */
	u32 chunk, first, n; /* of lists */
	u32 pad;
};
enum unwind_piece_kind {
	UNWIND_PIECE_ROWS,
	UNWIND_PIECE_RULE, /* generated code: the same rule everywhere, in .pc; .lang is that of V8 */
	UNWIND_PIECE_NONE, /* nothing is known, and asking again is of no use */
	/* a heap of Java's code: .pc and .file are where its map is, and in the bits below JAVA_MAP_ALIGN how many
	 * bits of an address there are within a segment */
	UNWIND_PIECE_HEAP,
};
struct unwind_piece {
	u64 start, end;
	u32 pc; /* of start, in its file; or a rule */
	u32 file; /* number; of generated code that is V8's: where its table is (V8_TABLE_SHIFT); 0: none */
	u32 kind;
	u32 lang; /* number in langs, and 1: it is an interpreter; 0 */
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
	/* Of interpreters, by number: stacks without the interpreter's frames, because ... */
	UNWIND_LOST_LAYOUT = UNWIND_LOST_FIRST_FILE + UNWIND_FILES, /* their layout is not known */
	UNWIND_LOST_FRAMES = UNWIND_LOST_LAYOUT + UNWIND_LANGS,     /* they could not be read */
	UNWIND_LOST_NAMES = UNWIND_LOST_FRAMES + UNWIND_LANGS,      /* names did not fit */
	UNWIND_LOST_WORDS = UNWIND_LOST_NAMES + UNWIND_LANGS,
};

/* ---- interpreted languages ---- */

/* Where the state of a thread's interpreter is. All but the first begin with the address .at. */
enum unwind_root {
	UNWIND_ROOT_TLS,     /* its pointer is at thread pointer + at */
	UNWIND_ROOT_TLS_AT,  /* the same, and what is to be added stands at the address (GOT) */
	UNWIND_ROOT_DYNAMIC, /* in a module's thread-local memory: {module, offset} is there (GOT) */
	UNWIND_ROOT_KEY, /* in pthread_getspecific(): {whether there is a key, the key} are there */
	UNWIND_ROOT_BARE_KEY, /* the same, and the key alone is there */
	UNWIND_ROOT_GLOBAL,   /* the state itself is there, for the whole process */
};
#define UNWIND_ROOT_MAX UNWIND_ROOT_GLOBAL
/* How frames follow each other. */
enum unwind_form {
	UNWIND_FORM_FRAMES, /* as numbers of struct unwind_lang say */
	UNWIND_FORM_PERL,   /* core/perl.h */
	UNWIND_FORM_V8,     /* core/v8.h: each is a native frame */
	UNWIND_FORM_JAVA,   /* core/java.h: likewise */
};
#define UNWIND_FORM_MAX UNWIND_FORM_JAVA
enum {
	UNWIND_FRAME_WORDS = 16, /* an interpreter's frame is read up to here */
	UNWIND_SIGN_WORDS = 10,  /* of a function: what tells it apart from others at its address */
	UNWIND_NOWHERE = -1,
	UNWIND_FRAME_NEVER = 256, /* no byte is that large */
	UNWIND_PARTS = 8,
	UNWIND_KEYS = 32, /* of pthread_key_create(): those that lie in the thread's own memory */
};
struct unwind_range {
	u32 from, n; /* bytes, from the file's base on */
};
enum unwind_within {
	UNWIND_WITHIN_NONE, /* .instr is a u32 */
	UNWIND_WITHIN_SELF, /* ... is an address, counted from the function's, in bytes */
	UNWIND_WITHIN_CODE, /* ... is an address, counted from .first_instr, in words */
	UNWIND_WITHIN_LINE, /* ... is the address of an instruction, whose line (u32) is meant: at .line of it */
};
/* n bytes to offset to of struct unwind_code, from what the pointer leads to that was copied to offset
 * at before. n 0: nothing. */
struct unwind_part {
	u16 at, to, n, pad;
};
/* How an interpreter's frames are found. Offsets are in bytes. */
struct unwind_lang {
	/* Code in which the interpreter's frames stand for the native one. */
	struct unwind_range loop[2];
	u64 at;          /* of root: from the file's base on, or from the thread pointer on */
	u64 code_mask;   /* of the pointer to the function: its other bits mean something else */
	u32 known;       /* 0: the layout is not, and what follows means nothing */
	u32 root;        /* enum unwind_root */
	u32 newest;      /* in the state: the newest frame ... */
	i32 inner;       /* ... or what has that here; UNWIND_NOWHERE: it is the frame */
	u32 frame_bytes; /* of a frame, as far as it is read */
	u32 code, previous, instr; /* in a frame: function, caller's frame, instruction */
	u32 stride; /* not 0: the caller's frame is so far behind, and .previous unused */
	u32 within; /* enum unwind_within */
	/* The byte of a frame that says where the native code's call ended: from .hide on it stands
	 * for no function, from .last on it is the last one. */
	u32 entry, hide, last;
	/* Or, where .flags is not UNWIND_NOWHERE, bits of a word, to which a frame has a pointer there (or, if
	 * .flags_here is 1, the word): the frame stands for no function, but its caller follows; it is the last
	 * one. No frames are left at one of whose bits those of .over_mask are .over. */
	i32 flags;
	u32 skip_bits, last_bits, over_mask, over;
	i32 body; /* not UNWIND_NOWHERE: a function has a pointer there, and what it leads to is used */
	u32 sign;        /* of a function: UNWIND_SIGN_WORDS from here on tell it apart */
	u32 first_instr; /* UNWIND_WITHIN_CODE: of a function: pointer to its first instruction */
	u32 plus;        /* UNWIND_ROOT_DYNAMIC: from what {module, offset} says on */
	u32 flags_here;
	struct unwind_part part[UNWIND_PARTS]; /* what is copied of a function, in this order */
	u32 sign_less; /* of what is at .sign, bytes at the end that are not looked at */
	/* A function whose first byte at .sign is this one is native: its frame is never the last one, as the
	 * loop did not call it. Of one without a function, neither, and it is not shown. */
	u32 native;
	/* UNWIND_WITHIN_LINE: functions with the same pointer to their first instruction are copies of one,
	 * and are told apart by it. The word before has the number of instructions from this bit on. */
	u32 count_bit;
	u32 op_bytes, line; /* of an instruction */
	u32 form;           /* enum unwind_form. UNWIND_FORM_PERL: */
	u32 statement, op;  /* in the state: the COP, the instruction that runs; */
	u32 file_in_gv;     /* 1: a COP has a GV in the place of a file's name; */
	u32 aux_behind;     /* 1: a hash has its name behind its array; */
	/* the function that runs the program: frames that are left by then precede it */
	struct unwind_range program;
	u32 pad[5];
	union { /* of UNWIND_FORM_V8, UNWIND_FORM_JAVA */
		struct unwind_v8 v8;
		struct unwind_java java;
	};
	u32 pad2[32];
};
enum { UNWIND_LANG_SHIFT = 9 };
_Static_assert(sizeof(struct unwind_lang) == 1 << UNWIND_LANG_SHIFT, "programs shift");
struct unwind_langs {
	struct unwind_lang lang[UNWIND_LANGS];
};
struct unwind_codes {
	u64 sign[UNWIND_CODES]; /* 0: nothing */
	u64 code[UNWIND_CODES]; /* its address, the number of its interpreter, UNWIND_CODE_UNSENT */
	u64 file[UNWIND_CODES]; /* UNWIND_FORM_PERL: the address of the file's name; UNWIND_FORM_V8, _JAVA: compiled code */
};
#define UNWIND_CODE_UNSENT (1ull << 63) /* its names did not fit into the ring */
enum { UNWIND_CODE_LANG = 56 };

struct unwind_program_key {
	u64 dev, ino; /* dev: as the kernel has it */
};
struct unwind_program {
	u32 lang; /* number in langs, and 1 */
	u32 code; /* from the file's base to its lowest code, which mm.start_code is */
};

/* A frame of an interpreted language: not an address on any machine, as bit 63 of user addresses is 0,
 * and bits 62 and 63 of the kernel's are the same. */
#define UNWIND_WORD       (4ull << 61)
#define UNWIND_WORD_MASK  (7ull << 61)
#define UNWIND_WORD_FRESH (1ull << 61) /* in programs: names have to be sent */
enum {
	UNWIND_WORD_INSTR = 16, /* behind the place in codes */
	UNWIND_INSTR_BITS = 24,
	UNWIND_NO_INSTR = (1 << UNWIND_INSTR_BITS) - 1,
	UNWIND_WORD_LANG = UNWIND_WORD_INSTR + UNWIND_INSTR_BITS,
};
#define UNWIND_WORD_OWN \
	(1ull << 60) /* not a place in codes, but in what user space read by itself */
static inline bool unwind_is_word(u64 v)
{
	return (v & UNWIND_WORD_MASK) == UNWIND_WORD;
}

/* What comes in the ring. */
enum unwind_what {
	UNWIND_IS_COPY,
	UNWIND_IS_CODE,
	UNWIND_IS_TASK, /* a copy up to .word, of a thread that sleeps: user space copies its stack */
};
/* Names of a function of an interpreted language, as they lie in the process: user space takes them
 * apart. Of a part that cannot be read, or only up to the end of a page, the rest is zeros. */
enum {
	UNWIND_CODE_BYTES = 256,
	UNWIND_FILE_BYTES = 768,
	UNWIND_NAME_BYTES = 320,
	UNWIND_LINE_BYTES = 2048,
};
struct unwind_code {
	u32 what; /* UNWIND_IS_CODE */
	u32 slot; /* in codes */
	u64 sign, addr;
	u32 lang, pid;
	u8 code[UNWIND_CODE_BYTES];
	u8 file[UNWIND_FILE_BYTES];
	u8 name[UNWIND_NAME_BYTES];
	u8 lines[UNWIND_LINE_BYTES];
};
enum { UNWIND_CODE_ROOM = 4096 };
_Static_assert(sizeof(struct unwind_code) <= UNWIND_CODE_ROOM, "programs mask offsets");

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
	u32 what; /* UNWIND_IS_COPY, UNWIND_IS_TASK */
	u32 tid;  /* UNWIND_IS_TASK: the thread */
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
	u32 first; /* 1: the frame that it begins at is not in the program's stack */
	/* All frames of the interpreter that follow, as words. A 0 ends those that stand for one native
	 * frame in its main loop. */
	u32 nword, lang;                   /* lang: number, and 1 */
	u32 mode;                          /* enum stack_mode */
	struct unwind_program_key program; /* what the process runs, ... */
	u64 code;                          /* ... and where its code begins; of new processes */
	/* UNWIND_IS_TASK: the thread pointer, where the value of the first key of pthread_getspecific() is, and how
	 * often it had left its CPU: the same if it sleeps on. */
	u64 thread, keys, switches;
	u64 word[UNWIND_COPY_WORDS];
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

/* So many of the n callers belong to the stack. only: of interpreters' frames. A program has all of those
 * itself, but of a thread that sleeps user space has them. */
static inline u32 unwind_tail_of(bool only, const u64 *tail, u32 n)
{
	return only && n && !unwind_is_word(tail[0]) ? 0 : n;
}

/* The last frame of a stack whose rest is with user space: not an address on any machine. */
#define UNWIND_MARK      (0x5afeull << 48)
#define UNWIND_MARK_MASK (0xffffull << 48)

struct map;
struct unwind {
	struct map *procs, *lists, *index, *blocks, *rules, *lost, *copies, *langs, *codes,
		*programs;
};
