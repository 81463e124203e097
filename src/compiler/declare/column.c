/* column.c - the words of a column. */
#include "core/columns.h"
#include "declare/declare.h"

static void one_word(struct diags *ds, struct column *col, const struct node *w)
{
	static const char *const others[] = {"data",  "left", "right", "key",    "same",
					     "share", "bare", "blank", "quoted", "text"};
	i32 unit = node_word(w, column_units), other = node_word(w, others);
	if (unit >= 0) {
		col->unit = (enum column_unit)unit;
		col->right = column_units[unit].right;
		return;
	}
	const struct names *names = names_find(w->name);
	if (names) {
		col->names = names;
		col->unit = COL_NAME;
		return;
	}
	if (other == 5) {
		col->share = col->right = true;
		col->unit = COL_PERCENT;
		return;
	}
	col->data |= other == 0;
	col->bare |= other == 6;
	col->blank |= other == 7;
	col->quoted |= other == 8;
	col->text |= other == 9;
	if (!other || other > 2)
		return; /* key and same are about all columns together: place_of() */
	if (other > 0) {
		col->right = other == 2;
		return;
	}
	AUTO_SB words = {0};
	for (u32 u = 0; u < COLUMN_UNITS; u++)
		if (*column_units[u].word)
			sb_fmt(&words, "%s ", column_units[u].word);
	diag_hint(ds, diag_add(ds, E_SYNTAX, w->loc, "columns know no '%.*s'", STRF(w->name)),
		  "expected one of: left right data text is key same share bare blank quoted "
		  "%.*spercentiles also; names: %s",
		  STRF(sb_str(&words)), names_list);
}

/* Behind `is` stands the text that all rows have. */
static const struct node *common_text(struct diags *ds, struct column *col, const struct node *w)
{
	const struct node *text = w->next;
	if (text && text->kind == N_STR)
		col->is = text->name.s ? text->name : STR("");
	else
		diag_add(ds, E_LITERAL, w->loc,
			 "'is' must be followed by a string, or by an option that is a string");
	return text ? text : w;
}

const struct node *declare_column_word(struct diags *ds, struct column *col, const struct node *w)
{
	static const char *const is[] = {"is"};
	enum column_unit had = col->unit;
	if (node_word(w, is) == 0)
		return common_text(ds, col, w);
	one_word(ds, col, w);
	if (had && col->unit != had)
		diag_add(ds, E_SYNTAX, w->loc,
			 "a column is shown in one way, and has a word for that");
	if (col->text && col->data)
		diag_add(ds, E_SYNTAX, w->loc,
			 "a column is in text alone, or in JSON and CSV alone");
	return w;
}
