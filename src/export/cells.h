/* cells.h - values of a recording's rows as text, and names for them. */
#pragma once
#include "rec/read.h"

/* "fd" of the column args.fd; other expressions as they are. */
struct str cell_name(const struct rec_column *c);
/* The name of an enum's value; {NULL} if it has none. */
struct str cell_enumerator(const struct rec_file *f, const struct rec_column *c, u64 u);
/* An element of a REC_ARRAY, sign-extended. */
u64 cell_element(const struct rec_column *c, const struct rec_cell *v, u32 i);
double cell_float(const struct rec_cell *v);
/* As a line of text has it: names of enums, pointers and bytes in hex, "?" if it is missing. Stacks are left out. */
void cell_text(struct sb *b, const struct rec_file *f, const struct rec_column *c,
	       const struct rec_cell *v);
/* "syscalls:sys_enter_read": the probe without "tracepoint:". */
struct str cell_probe(const struct rec_schema *s);
/* A frame's name: its symbol, the text as it was printed, or its address. */
void cell_function(struct sb *b, const struct rec_file *f, u32 id);
/* The same; behind a function of an interpreted language also the last part of its file: "run (server.py)". */
void cell_frame(struct sb *b, const struct rec_file *f, u32 id);
/* The event as a line, and a line for each frame of its stacks. */
void cell_row(struct sb *b, const struct rec_file *f, const struct rec_row *r);
