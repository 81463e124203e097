/*
 * format.h - tracefs event format text -> T_STRUCT of what the program's context holds.
 *
 * Fields keep their offsets, so the struct can be read straight from a
 * tracepoint program's context. common_* fields are left out. __data_loc and
 * __rel_loc fields get .data_loc and the type "string" (char) or array of the
 * element type. Field types that BTF knows (struct, enum, typedef) are looked
 * up in k when it is not NULL, else unknown pointers become void *.
 */
#pragma once
#include "types/btf.h"

struct err *format_parse(struct str text, struct str name, struct types *k, struct arena *a,
			 u64 *id, const struct type **ret);
