/*
 * gopcln.h - names of a Go program's functions without a symbol table.
 *
 * Go's linker writes a table of functions for the runtime itself (.gopclntab), which stripping
 * leaves there. Its layout changed with Go 1.2, 1.16, 1.18 and 1.20; all are read. What does not
 * fit together is no table.
 *
 *	if (gopcln_find(&im, &g))
 *		for (u32 i = 0; i < g.n; i++)
 *			if (gopcln_at(&g, i, &fn)) ...
 */
#pragma once
#include "types/image.h"

struct gopcln {
	struct bytes tab;
	u32 n;
	u8 word, entry; /* bytes of a pointer; of half a row of the list of functions */
	u64 text;       /* what functions' addresses count from */
	size_t funcs, names;
	u64 from, end; /* all functions lie here */
};
struct go_func {
	struct str name; /* in the table */
	u64 addr, size;  /* with what pads it to the next one */
};
/* text: where the code begins, for tables that do not say so; else 0. */
bool gopcln_open(struct bytes tab, u64 text, struct gopcln *ret);
bool gopcln_find(const struct image *im, struct gopcln *ret);
bool gopcln_at(const struct gopcln *g, u32 i, struct go_func *ret);
