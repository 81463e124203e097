/*
 * fmt.h - a script in canonical layout.
 *
 *	tree = bt_parse_comments(arena, diags, src, &comments);
 *	bt_format(tree, text, comments, &out);
 */
#pragma once
#include "lang/ast.h"

/* A comment, as written and with its marks, in the order of the text. */
struct comment {
	struct str text;
	u32 pos;
	struct comment *next;
};
struct node *bt_parse_comments(struct arena *a, struct diags *ds, u16 src, struct comment **ret);
/* tree: of a script without errors. */
void bt_format(const struct node *tree, struct str text, const struct comment *list,
	       struct sb *out);
