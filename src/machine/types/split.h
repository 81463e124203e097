/*
 * split.h - split debug information: units that a compiler wrote into files of their own (.dwo), and
 * packages of such files (.dwp), which are searched by tables of hashed ids.
 *
 * A unit in there is no DWARF that can be read by itself: its addresses and ranges are in the program,
 * and in a package its strings and its abbreviations are anywhere in sections that all units share. So
 * each unit that is asked for becomes an ELF file in memory with one ordinary unit, at the same offsets:
 *
 *	err = split_open(elf, "/bin/app.dwp", &f);
 *	if (!(err = split_find(&f, SPLIT_UNIT, id, &u)) && u.info.n) {
 *		u.addr = ...; u.low = ...; what only the program knows
 *		err = split_image(&u, machine, &out);
 *	}
 *
 * Every offset and size of the file is checked; errors name the table and the row.
 */
#pragma once
#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include <libelf.h>

/* Kinds of sections; also columns of an index, by the numbers that version 2 of DWARF 4 gives them. */
enum split_section {
	SPLIT_NONE,
	SPLIT_INFO,
	SPLIT_TYPES,
	SPLIT_ABBREV,
	SPLIT_LINE,
	SPLIT_LOC,
	SPLIT_STR_OFFSETS,
	SPLIT_RNGLISTS, /* version 5 has number 8 for it; version 2 has macros here */
	SPLIT_STR,
	SPLIT_SECTIONS
};
enum split_kind {
	SPLIT_UNIT,
	SPLIT_TYPE
}; /* found by the id in the program; by its type's signature */

struct split_index {
	const char *name; /* of its section */
	struct bytes all; /* n is 0: there is none */
	u32 version, ncolumn, nunit, nslot;
};
struct split_part {
	enum split_section kind;
	struct bytes b;
};
struct split_file {
	const char *path;
	VEC(struct split_part) part; /* a .dwo has a section for each type */
	struct split_index index[2]; /* by enum split_kind */
	bool is_package;
};
/* Parts are views of the file. */
struct split_unit {
	struct bytes info; /* header and entries of this unit alone; n is 0: not found */
	struct bytes abbrev, str, str_offsets, loc, rnglists;
	struct bytes addr, ranges; /* of the program, from the unit's own addresses on */
	u64 low;                   /* to which the unit's ranges are relative */
	u64 id;
	enum split_kind kind;
	bool by_types; /* in .debug_types */
	u32 type;      /* of a type: where its entry is; set by split_image() */
};

/* The ELF file stays, and its sections are expanded if need be. path stays, too. */
struct err *split_open(Elf *elf, const char *path, struct split_file *ret) MUST_USE;
/* What a section of that name contains; expanded, as libdw does it. */
struct bytes split_section(Elf *elf, const char *name);
void split_close(struct split_file *f);
struct err *split_find(const struct split_file *f, enum split_kind kind, u64 id,
		       struct split_unit *ret) MUST_USE;
/* Ids of all units of a kind, one after the other; *at begins as 0. False: no more. That of a .dwo's unit is 0 in
 * DWARF 4, where only its attributes tell. */
bool split_next(const struct split_file *f, enum split_kind kind, u32 *at, u64 *id);
struct err *split_image(struct split_unit *u, u16 machine, struct sb *out) MUST_USE;
