/* compile.h - a script on its way to becoming a unit. */
#pragma once
#include "core/unit.h"
#include "lang/ast.h"

struct variant;
struct cdefs;
struct cfile;
/* Where a script's C definitions may come from. */
struct headers {
	struct str script;       /* its path, "" for standard input */
	const char *const *dir;  /* -I */
	const char *const *file; /* --include */
	u32 ndir, nfile;
};
/* An option of the script itself: --name or --name=value behind "--". */
struct script_opt {
	struct str name, value;
};
/* One that the script asks for with getopt(). */
struct getopt_use {
	struct str name, text; /* text: the default, as a word */
	const struct type *type;
	struct str doc;
	struct getopt_use *next;
};
struct compile {
	struct unit *unit; /* what will be left */
	struct node *tree; /* until lower */
	struct variant *
		*variant; /* probe bodies, one per set of points with equal types; set by sema */
	u32 nvariant;
	struct fn **fn;       /* one per program, until emit */
	struct arena scratch; /* emptied after the last pass */
	struct str *params;   /* positional parameters $1.. */
	u32 nparam;
	struct script_opt *opts;
	u32 nopt;
	struct getopt_use *getopts; /* in order of the names' first use */
	bool help;                  /* --help was given: list them and leave */
	struct headers headers;
	struct cfile *cfiles; /* imported functions in C; cfiles_close() */
	struct cdefs *cdefs;  /* what the script's C definitions mean; NULL: there are none */
};
