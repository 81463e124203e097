/*
 * lang.h - interpreters in user stacks: which files are some, and what the functions are called
 * that programs found there (core/unwind.h, core/interp.h).
 *
 *	langs_init(&l, map_mem(s, u->langs));
 *	number = langs_file(&l, path, base, ask, arg);	of each file, once
 *	langs_take(&l, record, size);			of a function
 *	langs_frame(&l, word, &frame);
 */
#pragma once
#include "base/tab.h"
#include "base/vec.h"
#include "core/interp.h"
#include "sym/cfi_ask.h"

struct lang_file {
	const struct interp *is;
	struct interp_file file;
};
struct lang_code {
	u64 sign;
	u32 lang;
	struct interp_code is;
	struct unwind_code *again; /* what is to be tried once more; NULL: nothing */
	u32 tries;
};
struct langs {
	struct unwind_lang *mem; /* what programs read */
	struct lang_file *file;  /* n of them, by number */
	u32 n;
	struct lang_code **code; /* by place in codes */
	struct arena arena, scratch;
	struct tab texts; /* each once */
	u64 bytes;        /* of names */
	struct host *h;   /* of processes that are read; NULL: none */
	struct tab kept;  /* of their memory, by process and address */
	struct tab own_by_sign;
	VEC(struct lang_code *) own; /* what user space read by itself (UNWIND_WORD_OWN) */
	/* Stacks that user space read, by interpreter: without its frames. */
	u64 unknown[UNWIND_LANGS], unread[UNWIND_LANGS];
	u64 ncode, no_room, no_file;
};
void langs_init(struct langs *l, struct unwind_langs *mem);
void langs_free(struct langs *l);
/* Is a file called like an interpreter? */
bool langs_may_be(struct str path);
/* Its number, and 1; 0: it is no interpreter. Only files that are called like one are asked about. */
u32 langs_file(struct langs *l, struct str path, u64 base, cfi_ask *ask, void *arg);
/* Of this interpreter (number, and 1; 0: none): are its own frames what counts at pc? */
bool langs_in_loop(const struct langs *l, u32 number, u32 pc);
/* Or, at pc, do those that are left precede the native one? */
bool langs_in_program(const struct langs *l, u32 number, u32 pc);
/* Do calls of its main loop stand for one another? See struct copy_code. */
bool langs_nest(const struct langs *l, u32 number);
/* Does this interpreter (number, and 1) have a frame of its own for each native one, in code of its file and in code
 * that is made at run time? */
bool langs_native(const struct langs *l, u32 number);
/* Is it Java, whose code is all made at run time? */
bool langs_java(const struct langs *l, u32 number);
void langs_take(struct langs *l, const void *record, size_t size);
/* Of a function that user space reads by itself: where langs_keep() has put it before; LANGS_NONE: nowhere,
 * or there is no room. */
#define LANGS_NONE UINT32_MAX
u32 langs_own(const struct langs *l, u64 sign);
u32 langs_keep(struct langs *l, const struct unwind_code *raw);
/* False: nothing was said of that function (yet); what is known by the word alone is there. */
bool langs_frame(struct langs *l, u64 word, struct interp_frame *ret);
/* Stacks in which interpreters are shown natively, and why; lost: all of the counters. */
struct reporter;
void langs_report(const struct langs *l, struct reporter *r, const u64 *lost);
