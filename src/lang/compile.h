/* compile.h - a script on its way to becoming a unit. */
#pragma once
#include "core/unit.h"
#include "lang/ast.h"

struct variant;
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
};
