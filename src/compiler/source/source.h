/*
 * source.h - what a script consists of before anything is looked up for it: the files that it imports, its settings, C
 * definitions, macros, and spellings of other years. Each pass rewrites the tree, reports into c->diags, and returns
 * false if something was wrong.
 */
#pragma once
#include "lang/compile.h"

bool source_import(struct compile *c); /* other files become part of the tree */
bool source_config(
	struct compile
		*c); /* config blocks and BPFTRACE_ variables of the environment: unit.config */
bool source_cdefs(struct compile *c);  /* C definitions and their macros: c->cdefs, see cdefs.h */
bool source_macros(struct compile *c); /* macros, in every probe and function */
bool source_spellings(struct compile *c); /* other names and forms become today's; cannot fail */
/* Closes imported C functions (c->cfiles), when nothing of the unit is used any more. */
void cfiles_close(struct compile *c);
/* Reads a whole file of moderate size. False: it cannot be read. */
bool source_read_file(struct arena *a, const char *path, struct str *ret);
