/* compile.h - a script on its way to becoming a unit. */
#pragma once
#include "core/unit.h"
#include "lang/ast.h"

struct variant;
struct cdefs;
/* Where a script's C definitions may come from. */
struct headers {
	struct str script;       /* its path, "" for standard input */
	const char *const *dir;  /* -I */
	const char *const *file; /* --include */
	u32 ndir, nfile;
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
	struct headers headers;
	struct cdefs *cdefs; /* what the script's C definitions mean; NULL: there are none */
};
