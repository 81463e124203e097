/*
 * perl.h - where Perl's interpreter keeps which functions run: the same from 5.30 to 5.42, with threads and
 * without. Offsets are in bytes. Programs (unwind/walk_perl.c) and user space (unwind/perl.c) follow it.
 *
 *	stackinfo       contexts                        instructions, code
 *	+---------+     +----------------------------+
 *	| base    |---->| 0  ...                     |
 *	| newest  |---->| n  what called the function|---> COP: line, file
 *	| previous|     |    its CV, where it returns|---> CV: GV (name, package)
 *	+---------+     |    number of the one before|
 *	     |          +----------------------------+
 *	     v one more, for sort, signals, overloaded operators ...
 *
 * The interpreter says which stackinfo is the innermost one, and which COP (a statement) it is at. Contexts of
 * functions, evals and formats are linked by their numbers; those of loops and blocks lie between them.
 *
 * A call of the main loop runs many functions. It ends where one of these returns to nothing, or where a
 * stackinfo ends. The eval that call_sv() makes of G_EVAL belongs to the function that it calls, and so does code
 * in a pattern which ends with a call to that call. An eval which is called from such a function makes a call of
 * the main loop of its own, that goes on when the eval is over: both calls stand for the same functions.
 */
#pragma once

enum {
	/* of a stackinfo */
	PERL_SI_BASE = 8,
	PERL_SI_PREVIOUS = 16,
	PERL_SI_ANY = 32, /* number of the newest context of any kind, negative: none */
	PERL_SI_NEWEST = 40,
	PERL_SI_BYTES = 48,
	/* of a context */
	PERL_CX_BYTES = 104,
	PERL_CX_TYPE = 0,
	PERL_CX_COP = 16,
	PERL_CX_RETURN = 48,
	PERL_CX_BEFORE = 56, /* number of the one before, negative: none */
	PERL_CX_CV = 72,
	/* of its type */
	PERL_TYPE_MASK = 15,
	PERL_SUB = 9,
	PERL_FORMAT = 10,
	PERL_EVAL = 11,
	PERL_HIDDEN = 0x80, /* SUB: code in a pattern, part of a function; EVAL: try */
	PERL_STRING = 0x20, /* EVAL: of a string, */
	PERL_BLOCK = 0x40,  /* of a block; else of a file. SUB: code in a pattern */
	/* of a COP */
	PERL_COP_LINE = 36,
	PERL_COP_FILE = 48, /* text, or (without threads) a GV whose scalar it is */
	/* of what a CV, a GV, a hash points to; of both parts */
	PERL_ANY = 0,
	PERL_VALUE = 16,
	PERL_CV_STASH = 32,
	PERL_CV_START = 40,
	PERL_CV_ROOT = 48,
	PERL_CV_GV = 56,
	PERL_CV_FLAGS = 92,
	PERL_CV_NAMED = 0x8000, /* .._CV_GV is a HEK: the name, and .._CV_STASH the package */
	PERL_GV_NAME = 32,
	PERL_GV_STASH = 40,
	PERL_HV_MAX = 24,
	/* What follows is behind so many bytes from 5.36 on, before behind the array of the hash. */
	PERL_HV_BYTES = 32,
	PERL_AUX_NAME = 0,   /* a HEK, ... */
	PERL_AUX_COUNT = 28, /* or, if this is not 0, a pointer to one */
	/* of a HEK: text with its length, and a byte that says what it is */
	PERL_HEK_LENGTH = 4,
	PERL_HEK_TEXT = 8,
	/* struct unwind_code: .name has two HEKs of so many bytes, the function's and its package's */
	PERL_NAME_BYTES = 160,
};

/* What a frame stands for. Only of the first its CV says what it is called. */
enum perl_frame {
	PERL_FRAME_SUB,
	PERL_FRAME_EVAL,
	PERL_FRAME_FILE, /* of require, use, do */
	PERL_FRAME_FORMAT,
	PERL_FRAME_MAIN,
};
