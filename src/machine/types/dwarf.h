/*
 * dwarf.h - what a compiler left in a program about it: functions, their parameters and variables
 * and where these are, types, lines.
 *
 * Read with libdw; only the units that a question is about are taken apart. Types are made in the
 * arena given at opening, their names lie in the file: both end with debug_close(). Malformed input
 * gives an err, a reason or an error type. This is what the child without rights does; all others ask
 * it (sym/debug_ask.h).
 *
 *	err = debug_open("/bin/app", &files, arena, &d);
 *	err = debug_at(d, address, &f);     f.var[i].name, .type, .loc
 *	debug_close(d);
 */
#pragma once
#include "types/image.h"
#include "types/type.h"

struct debug;

/*
 * A place is computed on a stack of 64-bit values. Operations with two operands take the top as
 * the second. Checked when made: never too few operands, at most DEBUG_STACK values.
 */
enum debug_op_kind {
	DO_CONST, /* push v */
	DO_REG,   /* push the register with DWARF's number v */
	DO_BIAS,  /* push what the program's addresses are moved by: pc less v */
	DO_LOAD,  /* replace the address on top by v bytes (1, 2, 4, 8) read there, unsigned */
	DO_PICK,  /* push a copy of the value v below the top */
	DO_DROP,
	DO_SWAP,
	DO_ROT, /* the top goes below the two under it */
	DO_ADD,
	DO_SUB,
	DO_MUL,
	DO_AND,
	DO_OR,
	DO_XOR,
	DO_SHL,
	DO_SHR,
	DO_SAR,
	DO_NEG,
	DO_NOT,
};
enum { DEBUG_STACK = 16, DEBUG_OPS = 128, DEBUG_PIECES = 16, DEBUG_MAX_VALUE = 64 };
struct debug_op {
	enum debug_op_kind kind : 8;
	u64 v;
};

/* A variable is one piece, or several in a row (a struct in two registers). */
struct debug_piece {
	bool value; /* the expression gives the value itself, else its address */
	u32 size;   /* bytes; 0: all of the variable */
	u32 nop;
	const struct debug_op *op;
};
struct debug_loc {
	u32 npiece;
	const struct debug_piece *piece;
};

struct debug_var {
	struct str name;
	const struct type *type;
	struct debug_loc loc;
	const char *why; /* instead of loc: why it has no place here ("is optimised out") */
};

/* What can be seen at one address. */
struct debug_func {
	struct str name;
	u64 entry;
	u64 place;     /* the asker's: file offset that this was found for */
	bool at_entry; /* parameters alone, where the caller put them; else all that is in scope */
	u32 nvar;
	struct debug_var *var;
	struct debug_var ret; /* type NULL: none */
};

struct debug_files {
	const struct image_file *program, *info; /* info: the separate file, or the program */
	const struct image_file *package;        /* .dwp; NULL: there is none */
	const char *info_path, *package_path;    /* .dwo files may be beside info_path */
};
struct err *debug_open(const char *path, const struct debug_files *f, struct arena *a,
		       struct debug **ret);
/* From memory, which must stay. */
struct err *debug_open_mem(const void *p, size_t n, struct arena *a, struct debug **ret);
void debug_close(struct debug *d);

/* What is in scope at an address (of the file, not of a process). */
struct err *debug_at(struct debug *d, u64 addr, struct debug_func *ret);
/* The unit there is one of those that debug_type() looks at first; a number for it, 0: none. */
u64 debug_near(struct debug *d, u64 addr);
/* A type by its name. kind: T_STRUCT, T_UNION, T_ENUM; T_NONE: any. near: only from units that
 * debug_at() or debug_near() was in; else from all. NULL: none. */
const struct type *debug_type(struct debug *d, struct str name, enum type_kind kind, bool near);
/*
 * Addresses at which the code of a line begins: wherever execution comes to it from another line,
 * also in copies of inlined functions. file: the end of the source's path; column 0: any. No such
 * code: an err that says which lines have some.
 */
struct err *debug_line(struct debug *d, struct str file, u32 line, u32 column, u64 **addr, u32 *n);
/* A function that an address is in: inlined into the next, or the one that was compiled. */
struct debug_frame {
	struct str name;   /* as linkers have it, where it has such a name; "" unknown */
	struct str source; /* path; "" unknown */
	u32 line;          /* 0: unknown */
	bool inlined;
};
/* At most max, the innermost first. 0: nothing is known. */
u32 debug_frames(struct debug *d, u64 addr, struct debug_frame *v, u32 max);
