/*
 * interp.h - interpreted languages whose functions are shown in user stacks: one row for each, in a
 * file of its own (features/interp/). Programs walk their frames by struct unwind_lang (core/unwind.h),
 * which find() fills in; what they copied of a function is taken apart by code() and line().
 *
 * find() runs in the child that reads files. All others get bytes that anybody may have made: offsets
 * as find() answered them, memory as a process had it.
 */
#pragma once
#include "base/arena.h"
#include "base/bytes.h"
#include "base/str.h"
#include "core/unwind.h"

struct image;

enum { INTERP_OWN = 24, INTERP_LABEL = 32, INTERP_NAME = 512, INTERP_BYTES = 768 };
/* An interpreter, as its file has it. */
struct interp_file {
	struct unwind_lang lang;
	u32 own[INTERP_OWN];      /* what else the row needs to know */
	char label[INTERP_LABEL]; /* "python3.11"; with a NUL */
	u8 bytes[INTERP_BYTES];   /* likewise, a table */
};
/* The memory of a process that still runs; and what was kept of it, by an address. */
struct interp_memory {
	void *arg;
	bool (*read)(void *arg, u64 addr, void *to, size_t n);
	bool (*kept)(void *arg, u64 addr, struct str *ret);
	struct str (*keep)(void *arg, u64 addr, struct str text); /* the copy */
};
/* A function, as the source has it. What is not known is "" or 0. */
struct interp_code {
	struct str name, file; /* UTF-8, as far as the process had such */
	struct str lines;      /* what line() needs */
	struct str inlined;    /* and inlined() */
	u32 line;              /* of its beginning */
	bool hidden;           /* none that the source has: it is not shown */
};
struct interp {
	const char *name;    /* of the language: "python" */
	const char *title;   /* in sentences: "Python" */
	const char *in_name; /* what a file that may be an interpreter has in its name */
	/* False: it is none. If it is one of unknown layout, .loop and .label are known. Addresses count
	 * from base on. */
	bool (*find)(const struct image *im, struct str path, u64 base, struct interp_file *ret);
	/* What of the layout the file does not have, but a process does, with the file at base. False: it is not there.
	 * NULL: nothing. */
	bool (*learn)(struct interp_file *f, const struct interp_memory *m, u64 base);
	/* The address of a table that the walk needs, learned if need be; 0: the process has none. NULL: the same of all. */
	u64 (*table)(struct interp_file *f, const struct interp_memory *m, u64 base);
	/* Texts are made in the arena. */
	void (*code)(const struct interp_file *f, const struct unwind_code *raw, struct arena *a,
		     struct interp_code *ret);
	/* What of a function was not copied; NULL: nothing. Only for processes that still run; code() was called.
	 * False: the process was just changing it, and it is worth another try. */
	bool (*more)(const struct interp_file *f, const struct unwind_code *raw,
		     const struct interp_memory *m, struct arena *a, struct interp_code *ret);
	/* Of an instruction, as a frame's word has it (UNWIND_NO_INSTR: not known). 0: not known. */
	u32 (*line)(const struct interp_file *f, const struct interp_code *c, u32 instr);
	/* Functions that were inlined there, for interp_next(); NULL: none ever are. */
	void (*inlined)(const struct interp_code *c, u32 instr, struct sb *out);
};
extern const struct interp *const interps[]; /* up to NULL */

/* A frame of an interpreted language, as stacks show it; what is not known is "" or 0. */
struct interp_frame {
	struct str name, file, language, label;
	u32 line;
	bool hidden;
	struct str inlined; /* what this function called there, for interp_next() */
};
/* Innermost first; each is {line, bytes of the name, bytes of the file}, and both texts. */
void interp_add(struct sb *b, u32 line, struct str name, struct str file);
bool interp_next(struct bytes *b, struct interp_frame *ret);
