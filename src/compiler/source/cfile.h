/*
 * cfile.h - functions in C that a script imports: files ending in .bpf.c, compiled by clang when
 * the import is carried out. lower/cfn.c makes them part of the programs that call them.
 */
#pragma once
#include "core/unit.h"
#include "lang/compile.h"
#include "types/object.h"

struct cfn {
	const struct cfile *file;
	const struct object_fn *of;
	struct fn *ir; /* lower's: its code in ir_prog */
	const struct prog *ir_prog;
};
struct cfile {
	const char *path;
	struct loc at; /* the import */
	struct object obj;
	struct cfn *fn;        /* as in obj.fn */
	struct map **data;     /* as in obj.data; lower's: NULL until one is used */
	u32 *kfunc;            /* BTF ids, as in obj.kfunc */
	const struct loc *loc; /* by instruction; no place: that of the one before */
	struct cfile *next;
};

/* Reports what is wrong with it; at: the import. */
void cfile_import(struct compile *c, const char *path, struct loc at);
/* Names that mean two things. After all imports. */
void cfile_check_names(struct compile *c);
/* clang.c: compile into an object file, whose bytes are returned; false: reported. */
bool clang_compile(struct compile *c, const char *path, u16 src, struct loc at, struct str *ret);
/* A function that the script may call. */
struct cfn *cfn_find(const struct compile *c, struct str name);
/* One that it may not, because it is static. */
struct cfn *cfn_find_static(const struct compile *c, struct str name);
