/*
 * cfi.h - where a function's caller is: compact rows made of .eh_frame and .debug_frame.
 *
 * A row holds from its address to the next row's. Its rule says where the frame begins (the value
 * that the stack pointer has in the caller), and where the caller's frame pointer and one more
 * register are (arch_unwind.kept: the dynamic linker's frames begin at it); the return address lies
 * below the frame's beginning (aarch64: see UNWIND_LINK_LIVE). What does not fit (other
 * expressions) is UNWIND_UNKNOWN, never guessed.
 *
 *	struct cfi c = {.arch = arch, .base = base};
 *	cfi_add(&c, section, addr, true);	each section
 *	cfi_finish(&c, &rows);			sorted, joined; frees c
 */
#pragma once
#include "base/bytes.h"
#include "base/vec.h"

/* rule: kind in 4 bits, the offset in 18 (signed, in words), where registers are in 10: the frame
 * pointer in 6, the other one in 4. */
enum unwind_kind {
	UNWIND_NONE,    /* no function is described here */
	UNWIND_END,     /* nobody called */
	UNWIND_SP,      /* frame at sp + offset */
	UNWIND_FP,      /* fp + offset */
	UNWIND_FP_AT,   /* what is stored at fp + offset */
	UNWIND_SP_AT,   /* ... at sp + offset */
	UNWIND_SP_AT_8, /* ... and 8 more */
	UNWIND_PLT,     /* sp + 8, and 8 more from byte "offset" of each 16 on */
	UNWIND_SIGNAL,  /* all registers are stored above sp, as rt_sigreturn(2) wants them */
	UNWIND_UNKNOWN,
	/* another register + offset, where its value is known: unwind_reg(), unwind_reg_words() */
	UNWIND_REG,
	UNWIND_FP_AWAY, /* fp + offset, which may be another stack */
	/* sp + offset, and the return address is in such a register: in vfork(), whose child uses
	 * the stack that its parent comes back to. Other registers are the same. */
	UNWIND_RA_REG,
	/* Where the interpreter of Java has the frame pointer: below the two words that it points to is where the
	 * frame begins. No file has it. */
	UNWIND_JAVA,
};
#define UNWIND_KIND_MAX UNWIND_RA_REG
enum {
	UNWIND_KIND_BITS = 4,
	UNWIND_OFF_BITS = 18,
	UNWIND_FP_SHIFT = UNWIND_KIND_BITS + UNWIND_OFF_BITS,
	UNWIND_REG_BITS =
		4, /* of UNWIND_REG: the number of the register, the upper bits of the offset */
	UNWIND_REGS = 1 << UNWIND_REG_BITS,
	UNWIND_REG_OFF_BITS = UNWIND_OFF_BITS - UNWIND_REG_BITS,
	/* The caller's frame pointer: the same (0), in the n-th word below the frame's beginning,
	 * unknown, or where the frame pointer points to. */
	UNWIND_FP_BITS = 6,
	UNWIND_FP_SAME = 0,
	UNWIND_FP_MAX = 61,
	UNWIND_FP_LOST = 62,
	UNWIND_FP_HERE = 63,
	/* The other register: likewise. */
	UNWIND_KEPT_SHIFT = UNWIND_FP_SHIFT + UNWIND_FP_BITS,
	UNWIND_KEPT_SAME = 0,
	UNWIND_KEPT_MAX = 14,
	UNWIND_KEPT_LOST = 15,
	/*
	 * Where a call puts the return address into a register (aarch64), the ten bits say instead
	 * where it and the caller's frame pointer are: still in their registers (0, only in the
	 * innermost frame); in the n-th word below the frame's beginning the frame pointer, and the
	 * return address above it (even n); the return address alone, and the frame pointer the
	 * same (2 n - 1). Frames too large for that have UNWIND_FP_AT and UNWIND_SP_AT instead of
	 * UNWIND_FP and UNWIND_SP, and the words are counted up from the register: a pair in the
	 * n-th (n + 2, even), one alone (2 n + 1).
	 */
	UNWIND_LINK_LIVE = 0,
	UNWIND_LINK_MAX = 1022,
};
static inline u32 unwind_rule(enum unwind_kind kind, i32 words, u32 where)
{
	return (u32)kind | ((u32)words & ((1u << UNWIND_OFF_BITS) - 1)) << UNWIND_KIND_BITS |
	       where << UNWIND_FP_SHIFT;
}
static inline u32 unwind_regs(u32 fp, u32 kept)
{
	return fp | kept << UNWIND_FP_BITS;
}
/* Of code that keeps frame pointers, as far as one knows. */
static inline u32 unwind_by_fp(bool link)
{
	return unwind_rule(UNWIND_FP, 2, link ? 2 : unwind_regs(2, UNWIND_KEPT_LOST));
}
static inline enum unwind_kind unwind_kind(u32 rule)
{
	return rule & ((1u << UNWIND_KIND_BITS) - 1);
}
static inline i32 unwind_words(u32 rule)
{
	return (i32)(rule << (32 - UNWIND_FP_SHIFT)) >> (32 - UNWIND_OFF_BITS);
}
static inline u32 unwind_fp(u32 rule)
{
	return rule >> UNWIND_FP_SHIFT & ((1u << UNWIND_FP_BITS) - 1);
}
static inline u32 unwind_kept(u32 rule)
{
	return rule >> UNWIND_KEPT_SHIFT;
}
static inline u32 unwind_link(u32 rule)
{
	return rule >> UNWIND_FP_SHIFT;
}

static inline u32 unwind_reg_rule(enum unwind_kind kind, u32 reg, i32 words, u32 where)
{
	u32 off = (u32)words & ((1u << UNWIND_REG_OFF_BITS) - 1);
	return unwind_rule(kind, (i32)(reg << UNWIND_REG_OFF_BITS | off), where);
}
static inline u32 unwind_reg(u32 rule)
{
	return rule >> (UNWIND_KIND_BITS + UNWIND_REG_OFF_BITS) & (UNWIND_REGS - 1);
}
static inline i32 unwind_reg_words(u32 rule)
{
	return (i32)(rule << (32 - UNWIND_KIND_BITS - UNWIND_REG_OFF_BITS)) >>
	       (32 - UNWIND_REG_OFF_BITS);
}

struct cfi_row {
	u32 pc; /* from the base on */
	u32 rule;
};
struct cfi_rows {
	struct cfi_row *v; /* malloc'ed */
	u32 n;
};
enum { CFI_ENTRY_BYTES = 128 }; /* of code at the entry point, where that is not described */
struct cfi_fde {
	u64 pc, end;
	u32 first, n; /* rows */
};
struct arch;
struct cfi {
	const struct arch *arch; /* of the code */
	u64 base;                /* address that rows count from */
	u64 entry;               /* where a program begins; 0: none */
	VEC(struct cfi_fde) fde;
	VEC(struct cfi_row) row;
	u32 bad; /* entries that could not be read */
	bool full;
};
/* One section, mapped at addr. Entries already there win over later ones. */
void cfi_add(struct cfi *c, struct bytes section, u64 addr, bool eh);
void cfi_finish(struct cfi *c, struct cfi_rows *ret);
/* .fde by address, those that were there first first. */
void cfi_sort(struct cfi *c);
struct image;
/* Where a call leaves nothing on the stack, not all is described that could be: the PLT, and a vdso
 * without any description. */
void cfi_bare(struct cfi *c, const struct image *im, bool described);
/* Functions of Go, by the runtime's own table: those that have code in [from, to). */
bool cfi_go_has(const struct image *im);
void cfi_go(struct cfi *c, const struct image *im, u64 from, u64 to);
/* Functions of x86_64 that nothing else describes, by their instructions: those that have code in
 * [from, to). After all that is added otherwise. */
bool cfi_code_can(const struct image *im);
void cfi_code(struct cfi *c, const struct image *im, u64 from, u64 to);
/* The rule at an address; UNWIND_NONE when there is none. */
u32 cfi_at(const struct cfi_rows *r, u64 pc);

/* Of a whole file; none when it is of another machine. */
struct image;
void cfi_image(const struct image *im, u64 base, struct cfi_rows *ret);
/* The lowest address of a file's segments. */
u64 cfi_base(const struct image *im);

/*
 * Part by part, because of a file of 100 MB stacks pass through a few places only.
 *
 *	cfi_list(&im, base, &l);		once: where each function is described
 *	cfi_part(&im, base, &l, from, to, &rows);	the rows of [from, to), the first at from
 *	cfi_list_free(&l);
 *
 * The list is empty where the file has one of its own (.eh_frame_hdr) that can be searched.
 * cfi_list() is false where nothing is described at all.
 */
struct cfi_listed {
	u32 pc, at; /* from the base on; offset in .eh_frame, or with CFI_DEBUG in .debug_frame */
};
enum { CFI_DEBUG = 1u << 31 };
struct cfi_list {
	struct cfi_listed *v; /* malloc'ed, by .pc */
	u32 n;
};
bool cfi_list(const struct image *im, u64 base, struct cfi_list *ret);
void cfi_list_free(struct cfi_list *l);
void cfi_part(const struct image *im, u64 base, const struct cfi_list *l, u32 from, u32 to,
	      struct cfi_rows *ret);
