/*
 * language.h - a language that scripts are written in: one row. The rest of the program reaches the
 * grammars through it, and knows none by name.
 *
 *	const struct language *l = language_of(source->name);
 *	tree = l->parse(arena, diags, src, NULL);
 *
 * Every file is read in the language that its own name tells, so that a script may import one in
 * another; what no name tells (standard input, -e) is in the first.
 */
#pragma once
#include "lang/ast.h"

/* A comment, as written and with its marks, in the order of the text. */
struct comment {
	struct str text;
	u32 pos;
	struct comment *next;
};

struct language {
	const char *name;   /* as people call it */
	const char *ending; /* of its files' names, with the dot */
	/*
	 * Parse a whole script (source number src of ds). Reports every syntax error it can; the
	 * result is always a PROGRAM, possibly incomplete. Locations are exact: a node's loc spans
	 * its whole text. notes: where to put the comments, for format; NULL: nobody asks.
	 */
	struct node *(*parse)(struct arena *a, struct diags *ds, u16 src, struct comment **notes);
	/* One expression (or type), all of a source's text. NULL after an error. */
	struct node *(*parse_part)(struct arena *a, struct diags *ds, u16 src, bool type);
	/* The canonical layout of a tree of a script without errors. */
	void (*format)(const struct node *tree, struct str text, const struct comment *notes,
		       struct sb *out);
	/* A word of the command line as an integer of this language; why explains when false. */
	bool (*number)(struct str text, u64 *ret, const char **why);
};

extern const struct language *const languages[]; /* ends with NULL */

/* By the ending of a file's name. NULL: it has none of these endings. */
const struct language *language_by_ending(struct str file);
/* The same; the first language when the name does not tell. */
const struct language *language_of(struct str file);
