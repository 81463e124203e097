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
/* Is it for a machine whose code and layouts are known here: x86_64, aarch64? */
bool file_is_known(const struct image *im);
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

/* Of code for aarch64: where an instruction jumps to, if it does; how often code jumps to an address that is where
 * a register points, or a few words behind; file_thread_variable(). */
bool aarch64_jump(u32 word, u64 addr, u64 *ret);
u32 aarch64_jumps_by_register(struct bytes code);
bool aarch64_thread_variable(const struct image *im, u64 base, const struct elf_symbol *fn,
			     struct unwind_lang *l);
/* The first that is loaded of a struct's members: the register with its value leads to 32 bits at .inner, which
 * are loaded soon. The struct is where the first argument points (*member: its offset), or lies in the file (-1). */
bool aarch64_first_member(struct bytes code, u32 inner, i32 *member);
