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
 *
 * It also says how far the stack pointer is below the return address, for each instruction:
 *
 *	if (gopcln_stack(&g, i, &st))
 *		while (gopcln_stack_next(&st)) ... [st.from, st.end): st.bytes
 */
#pragma once
#include "types/image.h"

struct gopcln {
	struct bytes tab;
	u32 n;
	u8 word, entry; /* bytes of a pointer; of half a row of the list of functions */
	u8 quantum;     /* of an instruction, at least */
	u8 flags;       /* where they are, behind a function's address; 0: there are none */
	u64 text;       /* what functions' addresses count from */
	size_t funcs, names, pcs;
	u64 from, end; /* all functions lie here */
};
struct go_func {
	struct str name; /* in the table */
	u64 addr, size;  /* with what pads it to the next one */
};
enum { GO_OUTERMOST = 1, GO_SETS_SP = 2 }; /* nobody called it; it goes to another stack */
struct go_stack {
	struct bytes b;
	u64 from, end;
	i64 bytes;
	u8 quantum, flags;
};
/* text: where the code begins, for tables that do not say so; else 0. */
bool gopcln_open(struct bytes tab, u64 text, struct gopcln *ret);
bool gopcln_find(const struct image *im, struct gopcln *ret);
bool gopcln_at(const struct gopcln *g, u32 i, struct go_func *ret);
/* The last that begins at or before addr, or the first. */
u32 gopcln_search(const struct gopcln *g, u64 addr);
bool gopcln_stack(const struct gopcln *g, u32 i, struct go_stack *ret);
bool gopcln_stack_next(struct go_stack *s);
