/*
 * ufile.h - a program or library that probes go into: its code, and whose calling convention it
 * has.
 *
 * In a Go program the functions of its C parts keep C's convention; the symbols runtime.text and
 * runtime.etext tell where Go's are. Without them all count as Go's.
 */
#pragma once
#include "core/probe.h"
#include "rights/image_ask.h"
#include "sym/code.h"
#include "sym/sym.h"

struct ufile {
	const char *path;
	struct image im;
	enum abi go;         /* of its Go functions; ABI_C: it has none */
	u64 go_from, go_end; /* addresses; 0: all */
	bool pads;           /* exceptions are caught in it, or pass through it */
	bool switches;       /* it changes to other stacks: coroutines */
};
/* Refuses programs for other machines. */
struct err *ufile_open(struct host *h, const char *path, struct ufile *ret);
void ufile_close(struct ufile *f);
void ufile_go_range(struct ufile *f, const struct elf_syms *syms);
enum abi ufile_abi(const struct ufile *f, u64 vaddr);
/* A function's bytes; n is 0 when they are not in the file or the size is not known. */
struct codes ufile_code(const struct ufile *f, const struct symbol *fn);
/* How a function is left. */
struct ways_out {
	u32 n;
	const u64 *off; /* of its return instructions, in the file */
	u32 njump;      /* jumps to other functions, and those that may be: they return for it */
};
/* An err if there is no return instruction, or not all instructions are known. */
struct err *ufile_ways_out(const struct ufile *f, const struct elf_syms *syms,
			   const struct symbol *fn, struct arena *a, struct ways_out *ret);
/*
 * Would a return address that a return probe has changed send the program astray? NULL: no; else why, before the name
 * of a function. fn: NULL for any. An exception that passes through finds the address and ends the program; C
 * libraries have tables for exceptions, but throw none, and only functions that call back let others' through. If a
 * coroutine changes to another stack, the kernel takes the return of one call for that of another.
 */
const char *ufile_keeps_returns(const struct ufile *f, const struct elf_syms *syms,
				const struct symbol *fn);
/* The kernel puts no uprobe on the instruction there. */
bool ufile_refused(const struct ufile *f, u64 file_off);
/* Bytes to skip at a function's start so that the kernel need not single-step there: a landing pad
 * (endbr64) before an instruction that it emulates. 0: none. */
u32 ufile_skip(const struct ufile *f, u64 file_off);
/* Bytes of instructions at a function's start that the kernel refuses and that only fill vector
 * registers: arguments and stack are behind them what they were before. */
u32 ufile_past_vectors(const struct ufile *f, u64 file_off);
/* Is this a probe that include/sonde/sdt.h placed? */
bool ufile_has_nops(const struct ufile *f, u64 file_off);
/*
 * Bytes from a probe that include/sonde/sdt.h placed to the nop among those there that costs least.
 * A call in place of five bytes overwrites what a function that calls nothing keeps below its stack
 * pointer: so only in functions that do call (fn; NULL: not known).
 */
u32 ufile_best_nop(const struct ufile *f, struct host *h, u64 file_off, const struct symbol *fn);
/* The same question for any place: would a probe there change what the program does? */
bool ufile_harms(const struct ufile *f, struct host *h, u64 file_off, const struct symbol *fn);
