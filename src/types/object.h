/*
 * object.h - a BPF object file as clang writes it: the functions of its .text, ready to be put into
 * a program.
 *
 * Everything else that an object may hold (maps, variables, whole programs, kernel functions, CO-RE
 * relocations) is refused with a sentence that names it. What is read is trusted as far as its
 * layout goes; what the code does is the verifier's business.
 *
 *	err = object_read(bytes, n, arena, &o);	bytes must live as long as o
 *	object_close(&o);			before arena ends
 */
#pragma once
#include "types/type.h"
#include <linux/bpf.h>

struct types;

/* An instruction that names another function of the object: a call, or a load of its address. */
struct object_ref {
	u32 insn, fn; /* from the start of the function; index into object.fn */
};
struct object_fn {
	struct str name;
	bool exported;           /* not static: clang kept to its declaration */
	u32 at, ninsn;           /* in object.insn */
	u32 stack;               /* bytes */
	const struct type *type; /* T_FUNC; of exported ones */
	const struct object_ref *ref;
	u32 nref;
};
struct object_line {
	u32 insn, line, col; /* line and col from 1 */
	struct str file;
};
struct object {
	struct bpf_insn *insn;
	struct object_fn *fn; /* ascending */
	struct object_line *line;
	u32 ninsn, nfn, nline;
	struct types *btf;
};
enum { OBJECT_MAX_FNS = 256, OBJECT_MAX_ARGS = 5, OBJECT_MAX_DEPTH = 7 };

struct err *object_read(const void *p, size_t n, struct arena *a, struct object *ret);
void object_close(struct object *o);
