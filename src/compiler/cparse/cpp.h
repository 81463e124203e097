/*
 * cpp.h - a C preprocessor for the definitions of a script: macros, conditionals, includes.
 *
 *	cpp_init(&p, arena, diags); p.open = ...; cpp_define(&p, STR("X"), STR("1"));
 *	cpp_feed(&p, text, where, true);   one piece after the other; conditionals span pieces
 *	tokens = cpp_end(&p);              all that is left of them, for cdecl_parse()
 *	cpp_expand(&p, tokens);            macros in the rest of the script
 *
 * What a macro makes has the place of its use; arguments keep theirs. Mistakes in system headers
 * are not reported: such headers use much that we do not read, and need not.
 */
#pragma once
#include "cparse/ctok.h"

struct cpp_file {
	struct str path, text;
	bool sys;
};
enum cpp_found {
	CPP_FOUND,
	CPP_SKIP,   /* it is not there, and that is all right */
	CPP_MISSING /* an error */
};
enum cpp_include { CPP_ANGLE, CPP_QUOTED, CPP_NEXT }; /* <x>; "x"; #include_next <x> */
/* Find what #include names; from: the path of the file that has it, "" in the script. */
typedef enum cpp_found cpp_open(void *arg, struct str name, enum cpp_include how, struct str from,
				struct cpp_file *ret);

struct cmacro {
	struct str name;
	struct loc loc;
	const struct ctok *body;
	struct str *param;
	u32 nparam;
	bool fn, variadic, gone; /* takes arguments; the last is a list; was undefined */
	bool sys;                /* of a system header */
};

struct cpp {
	struct arena *arena;
	struct diags *diags;
	cpp_open *open;
	void *arg;
	const char *hint; /* for headers that are missing; NULL: none */
	struct names macro, once;
	struct cond *cond;              /* open conditionals, innermost first */
	struct str file;                /* path of what is being read */
	struct ctok *head, **tail;      /* output */
	struct ctok *text, **text_tail; /* read, not expanded yet */
	u32 depth, nfile, ntok, nest;
	bool full; /* a limit was reached: nothing is expanded any more */
};

void cpp_init(struct cpp *p, struct arena *a, struct diags *ds);
void cpp_define(struct cpp *p, struct str name, struct str value);
/* exact: text lies at that place in its source; else all of it has the place. */
void cpp_feed(struct cpp *p, struct str text, struct loc loc, bool exact);
struct ctok *cpp_end(struct cpp *p);
const struct cmacro *cpp_macro(const struct cpp *p, struct str name); /* NULL: none */
/* Expands macros in a list, which is used up. */
struct ctok *cpp_expand(struct cpp *p, struct ctok *list);

/* macro.c, for cpp.c */
void cpp_fail(struct cpp *p, enum diag_code code, const struct ctok *at, const char *fmt, ...)
	PRINTF(4, 5);
void cpp_add(struct ctok ***tail, struct ctok *t);
void cpp_set_macro(struct cpp *p, const struct ctok *name, struct ctok *rest);
