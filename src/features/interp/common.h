/* common.h - the rows of interps[], and what several of them use. */
#pragma once
#include "core/interp.h"
#include "types/image.h"

extern const struct interp interp_java, interp_perl, interp_php, interp_python, interp_ruby,
	interp_v8;

struct elf_symbol {
	u64 addr, size;
};
/* One that the file exports, or that its symbol table has. */
bool file_symbol(const struct image *im, const char *name, struct elf_symbol *ret);
/* What the file holds at an address; so many bytes, or less at the end of what it has. */
struct bytes file_bytes(const struct image *im, u64 addr, u64 n);
/* Where compilers put the rest of a function, as a rule what they take to run seldom: the part that
 * most of its jumps lead into which leave it, as far as unwind tables tell one part from another. */
bool file_other_part(const struct image *im, const struct elf_symbol *fn, struct elf_symbol *ret);
/* The largest part of the file's code that no unwind table describes. */
bool file_without_tables(const struct image *im, struct elf_symbol *ret);
/* Where the thread-local variable is that a function, exported and small, reads first, or the key of one: .root, .at,
 * .plus. */
bool file_thread_variable(const struct image *im, u64 base, const char *fn, struct unwind_lang *l);
/* The function with by far the most jumps to where a register points: the main loop of an interpreter whose
 * instructions are addresses of code. */
bool file_dispatcher(const struct image *im, struct elf_symbol *ret);
