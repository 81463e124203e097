/* common.h - the rows of interps[], and what several of them use. */
#pragma once
#include "core/interp.h"
#include "types/image.h"

extern const struct interp interp_python;

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
