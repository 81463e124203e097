/*
 * object.h - a BPF object file as clang writes it: the functions of its .text, ready to be put into
 * a program, with the variables, constants, maps and kernel functions that they use.
 *
 * Everything else that an object may hold (whole programs, maps in maps, variables of the kernel)
 * is refused with a sentence that names it. CO-RE relocations are listed; corefix.h carries them
 * out. What is read is trusted as far as its layout goes; what the code does is the verifier's
 * business.
 *
 *	err = object_read(bytes, n, arena, &o);	bytes must live as long as o
 *	object_close(&o);			before arena ends
 */
#pragma once
#include "types/type.h"
#include <linux/bpf.h>

struct types;

/* An instruction that names something of the object: a call, or a load of an address. */
enum object_ref_kind {
	OBJECT_FN,    /* of object.fn */
	OBJECT_DATA,  /* of object.data: the address of a byte, or the map */
	OBJECT_KFUNC, /* of object.kfunc */
};
struct object_ref {
	enum object_ref_kind kind;
	u32 insn, to; /* from the start of the function; index */
	u32 off;      /* OBJECT_DATA: of the byte */
};
/* A section of variables or constants, or a map. */
struct object_data {
	struct str name;
	bool is_map, is_const;
	const void *init; /* val_size bytes; NULL: zeros */
	u32 section;
	u32 map_type, key_size, val_size, max_entries, flags;
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
/* A CO-RE relocation, as clang wrote it: libbpf's struct bpf_core_relo. */
struct object_core {
	u32 insn, type, kind; /* in object.insn; BTF id in the object; */
	struct str access;    /* "0:2:1" */
};
struct object {
	struct bpf_insn *insn;
	struct object_fn *fn; /* ascending */
	struct object_line *line;
	struct object_data *data;
	struct str *kfunc; /* names */
	struct object_core *core;
	u32 ninsn, nfn, nline, ndata, nkfunc, ncore;
	struct types *btf;
};
enum {
	OBJECT_MAX_FNS = 256,
	OBJECT_MAX_DATA = 64,
	OBJECT_MAX_KFUNCS = 64,
	OBJECT_MAX_ARGS = 5,
	OBJECT_MAX_DEPTH = 7
};

struct err *object_read(const void *p, size_t n, struct arena *a, struct object *ret);
void object_close(struct object *o);
