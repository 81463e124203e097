/*
 * cdecl.h - C definitions to types: struct, union, enum, typedef, laid out as C does on x86_64 and
 * aarch64.
 *
 *	cdecl_init(&d, arena, diags); d.find = ...;
 *	cdecl_parse(&d, tokens);      what the preprocessor left; more than once
 *	cdecl_finish(&d);             now names mean something
 *	t = cdecl_type(&d, STR("foo"), T_STRUCT, false);
 *
 * Functions and variables are stepped over: only types count. Definitions in system headers are
 * weak: the kernel's own knowledge of a type of that name is better.
 */
#pragma once
#include "cparse/ctok.h"
#include "types/type.h"

struct cdecl {
	struct arena *arena;
	struct diags *diags;
	/* A type defined elsewhere (BTF); T_NONE: a typedef or a name of the language. */
	const struct type *(*find)(void *arg, struct str name, enum type_kind kind);
	void *arg;
	bool unsigned_char;
	bool bits_align;  /* unnamed bit-fields align their struct, too */
	struct names tag; /* struct ctag */
	struct names typedefs, enumerators;
	struct ctag *pending; /* mentioned, not defined yet */
	struct ctok *t;       /* parser: the next one */
	const struct ctok *last;
	u32 depth;
	bool unsized; /* the array declared last was written [] */
	bool panic;   /* a mistake was reported: get out of this definition */
};

void cdecl_init(struct cdecl *d, struct arena *a, struct diags *ds);
void cdecl_parse(struct cdecl *d, struct ctok *list);
void cdecl_finish(struct cdecl *d);
/* kind: T_STRUCT, T_UNION, T_ENUM; T_NONE: a typedef, else any tag. weak: those of system headers;
 * else the others. NULL: none. */
const struct type *cdecl_type(const struct cdecl *d, struct str name, enum type_kind kind,
			      bool weak);
bool cdecl_enumerator(const struct cdecl *d, struct str name, bool weak, i64 *val,
		      const struct type **type);

/* clayout.c: where members go. */
struct clayout {
	bool is_union, packed, bits_align;
	u32 align;     /* so far */
	u64 bits, max; /* next free bit; of a union: the longest member */
	bool flex;     /* a flexible array came: nothing may follow */
};
enum { CDECL_MAX_BYTES = 1 << 28 };
/* Place f (type is set); align 0: its type's own. False: too large. */
bool clayout_member(struct clayout *l, struct field *f, u32 align);
/* A bit-field of width bits; width 0 closes the current unit. named: counts for alignment. */
bool clayout_bits(struct clayout *l, struct field *f, u32 width, bool named);
void clayout_end(struct clayout *l, u32 align, struct type *t); /* size, alignment */
