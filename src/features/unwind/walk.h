/*
 * walk.h - a walk by the tables of core/unwind.h, in a program: unwind.c begins it and
 * sees what came of it, walk_step.c makes the function that walks one frame.
 */
#pragma once
#include "core/unwind.h"
#include "unwind/program.h"

enum { WALK_TEXT_WORDS = 16 };
/* What is known from frame to frame: in scratch memory, where the verifier does not follow it. */
struct walk {
	u64 ip, sp, fp;
	u64 back; /* 1: ip is a return address, the call lies before it */
	u64 link; /* aarch64: the register with the return address */
	u64 live; /* and whether it still has it */
	u64 kept; /* where arch_unwind.kept is: UNWIND_KEPT_IN_REG, UNWIND_KEPT_NOWHERE, an address */
	u64 word[4];
	u64 reg[UNWIND_COPY_REGS]; /* of the first frame */
	u64 space;
	u64 instance, trampoline;   /* of a return probe */
	u64 copy_low;               /* of the copy: its first byte, */
	u32 copy_want, copy_at;     /* how many bytes are wanted, and were tried; */
	u32 copy_pages, copy_bytes; /* which pages could be read, and up to where; */
	u32 copy_whole;             /* whether that is all of the stack */
	u32 n;
	u32 depth;    /* enum unwind_depth */
	u32 from, to; /* pieces of the list */
	u32 miss;     /* something was not there: user space is to go on (MISS_...) */
	u32 guess; /* ip was found by a frame pointer that may be none: the file's number, and 1 */
	u32 pid;
	/* The interpreter whose frames are walked now: its number in langs, and 1. */
	u32 lang;
	u32 lang_first; /* 1: the next one takes the place of the native frame, which is the last */
	u32 lang_begun; /* .cursor is of this one; 0: of none */
	u32 lang_over;  /* nothing native is left, or can be had */
	u32 lang_told;  /* that its layout is not known was counted */
	u32 lang_fresh; /* frames whose names have to be sent */
	u32 lang_rest;  /* whose frames follow, when user space is to go on: its number, and 1 */
	u32 kept_n;     /* n, while those are put elsewhere */
	u32 nword;      /* they are so many */
	struct unwind_program_key program; /* what the process runs, and where its code begins */
	u64 program_code, sb;
	u64 lang_base;  /* where its file begins */
	u64 cursor;     /* its next frame */
	u64 thread;     /* the thread pointer */
	u64 keys;       /* where the value of the first key of pthread_getspecific() is */
	u64 lang_flags; /* of the frame, where they are bits */
	u32 lang_left;  /* the round in which its frames ended */
	/* UNWIND_FORM_PERL: */
	u32 perl_at, perl_index;    /* numbers of the next context, of this one */
	u64 perl_base, perl_before; /* of its stackinfo: the contexts, the one before */
	u64 perl_cop;               /* the statement that the next frame is at */
	u64 lang_file;              /* and the name of its file */
	/* 1: the call of the main loop has got something, or gets this stackinfo, which has no function; it is
	 * over, but for an eval; its first part runs no more; all that is left is taken. */
	u32 perl_used, perl_bare, perl_ended, perl_idle, perl_all;
	u64 perl_ip; /* then: the native frame that follows */
	/* UNWIND_FORM_V8: of the native frame; whether its code was made at run time */
	u64 v8_pc, v8_fp,
		v8_table; /* v8_table: of the process, where code is found by handles; 0 */
	u32 v8_made;
	/* UNWIND_FORM_JAVA: the blob of compiled code, its method, how far it has come; or 0 */
	u64 java_compiled, java_method, java_off;
	/* not zeroed */
	u64 lang_frame[UNWIND_FRAME_WORDS];
	u64 lang_sign[UNWIND_SIGN_WORDS];
	u64 java_blob[JAVA_BLOB_BYTES / 8 + 1]; /* what a blob begins with */
	u64 perl_text[WALK_TEXT_WORDS];         /* the beginning of the file's name */
};
/* In .miss, what was not there: rows of a file, the piece that the last frame is in, the process's list. */
enum { MISS_ROWS = 1, MISS_PIECE, MISS_LIST };
#define WALK_ZEROED offsetof(struct walk, lang_frame)
struct links {
	u64 walk, frames, list;
};
#define AT(member) ((i32)offsetof(struct walk, member))

enum { UNWIND_MAX_RETURNS = 64 }; /* replaced return addresses that are looked for */

/* long unwind(u32 round, struct links *): 1 ends the walk. */
struct fn *unwind_step(struct lower *l, u32 limit, enum stack_mode mode);

/* Frames of interpreted languages (walk_lang.c), where they are wanted and the machine lets programs
 * find them. */
bool unwind_langs(struct host *h, enum stack_mode mode);
void unwind_lang_begin(struct lower *l, struct mem walk, struct ref task, struct ref pid);
/* In the function: at a native frame, in a piece of the list; only: it was not put. */
void unwind_lang_enter(struct lower *l, struct ref walk, struct ref piece, struct ref addr,
		       bool only);
/* In the function, where walk.lang is not 0: one frame; it returns. */
void unwind_lang_frame(struct lower *l, struct ref walk, struct ref frames, u32 limit);
/* In the function: the rule (sym/cfi.h) at an address in a heap of Java's code, of whose piece lang_enter() was told. It
 * says that the frame stands for a method, or else takes walk.lang back. */
struct java_code {
	struct ref walk, piece, addr;
	struct blk *bad_read;
};
struct ref unwind_java_rule(struct lower *l, const struct java_code *c);
/* After the walk: names of functions that nobody has seen before. */
void unwind_lang_names(struct lower *l, struct mem walk, struct ref links, struct ref frames,
		       u32 limit);
/* Where user space is to go on: the interpreter's frames that are left go to words, of which there are
 * UNWIND_COPY_WORDS; only: to frames, behind those that are there, and there are limit of them. */
void unwind_lang_rest(struct lower *l, struct mem walk, struct ref links, struct ref task,
		      struct ref frames, u32 limit, bool only);

/* One more in a word of .lost; off (REF_NONE: 0) bytes behind it. */
void unwind_count_lost(struct lower *l, struct fn *f, struct ref off, i32 word);
/* A map's element, or control goes to none. */
struct ref unwind_element(struct fn *f, struct ref map, struct ref key, struct blk *none);
/* Of a member of the kernel's; false: it is not there. */
bool unwind_offset(const struct type *t, const char *member, i32 *ret);
struct unwind_returns { /* likewise: how a task's return probes are listed, the last one first */
	i32 utask, first, stack, address, next;
};
bool unwind_returns(struct host *h, struct unwind_returns *r);
