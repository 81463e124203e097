/* dw.h - inside the DWARF reader: dwarf.c (files, functions), dwsplit.c (units in other files), dwtype.c (types),
 * dwloc.c (places), dwconv.c (calling conventions), dwprologue.c (what functions begin with), dwparam.c (parameters
 * at the entry), dwline.c (lines), dwframe.c (inlined functions). */
#pragma once
#include "base/vec.h"
#include "types/dwarf.h"
#include "types/split.h"
#include <dwarf.h>
#include <elfutils/libdw.h>

/* Code of a function, in one unit. */
struct dw_code {
	u64 low, high;
	Dwarf_Die die;
};
struct dw_unit {
	Dwarf_Die die;
	VEC(struct dw_code) code;
	bool asked, optimised;
	u8 read; /* 1: functions of the file and of namespaces; 2: those inside others, too */
};
struct dw_range {
	u64 low, high;
	Dwarf_Die die; /* of the unit */
};
struct dw_type {
	const void *key; /* the DIE's address; NULL: free */
	u32 id;
	const struct type *type;
};

struct dw_file;
/* A unit in another file, and the unit of the program that led to it. */
struct dw_split {
	struct sb image;
	Elf *elf;
	Dwarf *dw;
	struct dw_file *from;
	enum split_kind kind;
	u64 id, skeleton;    /* skeleton: its offset; 0: of a type that a package lists */
	Dwarf_Die unit, die; /* die: of a type, the type itself */
};

/* What a function's symbol says of what the compiler did to it. */
struct dw_symbol {
	u64 addr;
	bool global;    /* others can call it */
	bool suffix;    /* gcc has made it from another function: ".isra.0" */
	bool no_result; /* and may have left out the result */
};

struct debug {
	struct filler filler;
	struct arena *arena;
	const char *path;
	int fd, main_fd; /* of the file with DWARF; of the program, when that is another */
	Elf *elf, *main; /* the same */
	Dwarf *dw;
	Dwarf_CFI *cfi, *eh; /* call frames: .debug_frame, .eh_frame */
	bool cfi_tried;
	u16 machine;
	VEC(struct dw_unit *) unit; /* those that were asked about */
	VEC(struct dw_range) range; /* every unit's code; when .debug_aranges does not help */
	bool ranged;
	struct dw_type *type; /* table by key */
	u32 ntype, type_cap;
	VEC(Dwarf_Die) die; /* type.id - 1 */
	const char *self;   /* path of the file with DWARF; "" unknown */
	VEC(struct dw_split *) split;
	VEC(struct dw_file *) file; /* .dwo files */
	struct dw_file *package;    /* .dwp; NULL: there is none, or package_why it is not used */
	const char *package_why,
		*split_why;           /* why the rest of the last unit is not there; NULL: it is */
	VEC(struct dw_symbol) symbol; /* functions, by address */
	bool symbols_read;
	u32 budget; /* DIEs that one question may still look at */
};
enum { DW_DEPTH = 64, DW_BUDGET = 1 << 26 };

static inline struct str dw_str(const char *z)
{
	return z ? str_z(z) : STR("");
}
/* The next child; first: of the parent. False: none, or this question has looked at too much. */
bool dw_child(struct debug *d, Dwarf_Die *parent, Dwarf_Die *ret);
bool dw_next(struct debug *d, Dwarf_Die *die);
/* The DIE that an attribute refers to, also through abstract origins. */
bool dw_ref(struct debug *d, Dwarf_Die *die, unsigned int attr, Dwarf_Die *ret);
bool dw_udata(Dwarf_Die *die, unsigned int attr, u64 *ret);
bool dw_flag(Dwarf_Die *die, unsigned int attr);
/* Units of a file one after the other, skeletons as such: *cu begins as NULL. */
bool dw_next_unit(Dwarf *dw, Dwarf_CU **cu, Dwarf_Die *ret);

/* The package with units that the program has skeletons of; takes fd. */
void dw_split_package(struct debug *d, int fd, const char *path);
void dw_split_end(struct debug *d);
/* Makes of a skeleton the whole unit. False: that is not there; split_why tells why. */
bool dw_whole(struct debug *d, Dwarf_Die *unit);
/* Of a whole unit the one that has the lines. */
Dwarf_Die dw_with_lines(struct debug *d, Dwarf_Die *unit);
/* The DIE that an attribute refers to. */
bool dw_formref(struct debug *d, Dwarf_Attribute *a, Dwarf_Die *ret);
/* How to find such a unit later; false: it is in the program. type 0: it is no type's. */
bool dw_split_key(const struct debug *d, const Dwarf *dw, u64 *skeleton, u64 *type);
Dwarf *dw_split_by(struct debug *d, u64 skeleton, u64 type);
/* Units with types, one after the other: in the .dwo that a unit is in, or (of is NULL) in the package. *at begins
 * as 0. */
bool dw_next_split_type(struct debug *d, Dwarf_Die *of, u32 *at, Dwarf_Die *ret);
/* What was opened since then is closed: nothing of it may be used any more. */
struct dw_mark {
	u32 nsplit, nfile;
};
struct dw_mark dw_split_mark(const struct debug *d);
void dw_split_release(struct debug *d, struct dw_mark to);

struct dw_unit *dw_unit_of(struct debug *d, Dwarf_Die *unit);
/* The unit whose code is at an address; the function there. */
bool dw_unit_at(struct debug *d, u64 addr, Dwarf_Die *ret);
bool dw_func_at(struct debug *d, Dwarf_Die *unit, u64 addr, Dwarf_Die *ret);

const struct type *dw_type_of(struct debug *d, Dwarf_Die *die); /* what DW_AT_type names */
const struct type *dw_type_make(struct debug *d, Dwarf_Die *die);
void dw_fill(struct filler *from, struct type *t);

/* Where in the program something is asked for. */
struct dw_spot {
	u64 pc;
	bool at_entry;
	Dwarf_Die func, unit;
};
/* The place that DW_AT_location or DW_AT_const_value gives at a spot, into v->loc or v->why.
 * False: there is neither. */
bool dw_place(struct debug *d, const struct dw_spot *s, Dwarf_Die *die, struct debug_var *v);
/* Of a parameter, at the first instruction of its function. */
enum dw_holds {
	DW_HOLDS_NOT,       /* there is no place for it */
	DW_HOLDS_ELSEWHERE, /* its places are for other addresses */
	DW_HOLDS_LATER,     /* the place is one that the function itself fills */
	DW_HOLDS_STACK,     /* the place is among the caller's arguments on the stack */
	DW_IS_CONST,        /* it is a constant that no caller passes */
	DW_HOLDS,           /* what dw_place() gives is right */
};
enum dw_holds dw_holds(struct debug *d, const struct dw_spot *s, Dwarf_Die *param);

typedef VEC(struct debug_var) dw_vars;
/* Parameters at the entry of a function. */
void dw_params(struct debug *d, const struct dw_spot *s, dw_vars *out);
/* Why the function may have no result, whatever its type says; or NULL. */
const char *dw_no_result(struct debug *d, const struct dw_spot *s);

/* Is it a register in which callers pass parameters, by the convention? DWARF's number. */
bool dw_passes(const struct debug *d, u64 reg);
/* Where the caller put parameters: one dw_pass per function, all parameters in order. */
struct dw_pass {
	struct debug *d;
	u32 nreg;  /* integer registers used */
	u32 nvec;  /* those of floating point numbers */
	u64 stack; /* bytes of arguments on the stack */
	bool lost; /* one before could not be understood: the rest is not known */
	int lang;  /* DW_LANG_* */
};
void dw_pass_begin(struct dw_pass *p, struct debug *d, const struct dw_spot *s);
void dw_pass_next(struct dw_pass *p, Dwarf_Die *param, struct debug_var *v);
void dw_return(struct debug *d, const struct dw_spot *s, struct debug_var *ret);

/*
 * What a function has moved to where until its prologue ends; NULL: that is not known. By that a parameter's place at
 * the entry follows from the place that debug information gives for the prologue's end.
 */
struct dw_prologue;
enum dw_found { DW_UNFOUND, DW_FOUND_IN_VECTOR, DW_FOUND };
const struct dw_prologue *dw_prologue_of(struct debug *d, const struct dw_spot *s);
enum dw_found dw_by_prologue(struct debug *d, const struct dw_spot *s, const struct dw_prologue *p,
			     Dwarf_Die *param, struct debug_var *v);
/* Does the prologue change a register that the one place of a parameter, for all of the function, is in? */
bool dw_moves(const struct dw_prologue *p, Dwarf_Die *param);
/* Is it of a C++ class that cannot be copied byte by byte? */
bool dw_is_by_address(struct debug *d, Dwarf_Die *param);
/* Why a parameter in registers of floating point numbers cannot be read. */
const char *dw_in_vectors(const struct type *t);

/* ---- making places ---- */
struct dw_ops {
	u32 n;
	struct debug_op op[DEBUG_OPS];
	const char *why; /* it cannot be done */
};
void dw_op(struct dw_ops *o, enum debug_op_kind kind, u64 v);
void dw_one(struct debug *d, struct debug_var *v, const struct dw_ops *o, bool value);
