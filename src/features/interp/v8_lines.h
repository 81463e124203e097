/* v8_lines.h - lines of JavaScript's functions, and texts: what of V8 is read when its process still runs. */
#pragma once
#include "core/interp.h"

enum v8_own {                /* struct interp_file: .own. Offsets in bytes */
	      V8_OWN_SOURCE, /* of a Script */
	      V8_OWN_IS_CODE,
	      V8_OWN_FLAGS,           /* of a Code: u32, kind in the lowest bits; */
	      V8_OWN_BASELINE,        /* this kind: each bytecode became some instructions */
	      V8_OWN_ARRAY_POSITIONS, /* of a BytecodeArray */
	      V8_OWN_CODE_DATA,       /* of a Code: what it was made of, and, */
	      V8_OWN_CODE_POSITIONS,  /* of each bytecode, or of calls, where it is */
	      V8_OWN_INLINED, /* in the data of optimized code, indices: calls that it has in it, */
	      V8_OWN_LITERALS,  /* and functions */
	      V8_OWN_BYTECODES, /* number of them; .bytes has their sizes, for each scale */
	      V8_OWN_GROUP, /* from the file's base on: a pointer to the IsolateGroup; 0: not needed, and */
	      V8_OWN_TABLE, /* in that a pointer to the table of code; 0: not known yet */
};
enum { V8_SCALES = 3 };
/* n characters as UTF-8. */
void v8_add_text(const u8 *p, u32 n, bool wide, struct sb *out);
/* Of a name of a script: the path of "file:///a%20b". */
struct str v8_path(struct arena *a, struct str name);
/* The address of the table of code (core/v8.h), if need be after v8_learn(); 0: it is not there. */
u64 v8_code_table(struct interp_file *f, const struct interp_memory *m, u64 base);
/* Where the group has it. */
bool v8_learn(struct interp_file *f, const struct interp_memory *m, u64 base);
bool v8_more(const struct interp_file *f, const struct unwind_code *raw,
	     const struct interp_memory *m, struct arena *a, struct interp_code *ret);
void v8_inlined(const struct interp_code *c, u32 instr, struct sb *out);
u32 v8_line(const struct interp_file *f, const struct interp_code *c, u32 instr);
