/* column.c - the words of a column. */
#include "core/columns.h"
#include "sema/declare.h"

static void one_word(struct diags *ds, struct column *col, const struct node *w)
{
	static const struct {
		const char *name;
		enum column_unit unit;
		bool right;
	} units[] = {
		{"us", COL_US, true},
		{"ms", COL_MS, true},
		{"s", COL_S, true},
		{"seconds", COL_SECONDS, true},
		{"KB", COL_KB, true},
		{"MB", COL_MB, true},
		{"meminfo", COL_MEMINFO, true},
		{"percent", COL_PERCENT, true},
		{"milli", COL_MILLI, true},
		{"elapsed", COL_ELAPSED, false},
		{"clock", COL_CLOCK, false},
		{"hex", COL_HEX, false},
		{"oct", COL_OCT, false},
		{"argv", COL_ARGV, false},
		{"below", COL_BELOW, false},
		{"members", COL_MEMBERS, false},
		{"status", COL_STATUS, false},
		{"syscall", COL_SYSCALL, false},
		{"user", COL_USER, false},
		{"disk", COL_DISK, false},
		{"interface", COL_INTERFACE, false},
		{"cgroup", COL_CGROUP, false},
		{"container", COL_CONTAINER, false},
		{"hist", COL_HIST, false},
		{"call", COL_CALL, false},
		{"function", COL_FUNCTION, false},
		{"demangled", COL_DEMANGLED, false},
		{"indent", COL_INDENT, false},
	};
	static const char *const others[] = {"data",  "left", "right", "key",    "same",
					     "share", "bare", "blank", "quoted", "text"};
	i32 i = node_word(w, units), other = node_word(w, others);
	if (i >= 0) {
		col->unit = units[i].unit;
		col->right = units[i].right;
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
	diag_hint(ds, diag_add(ds, E_SYNTAX, w->loc, "columns know no '%.*s'", STRF(w->name)),
		  "expected one of: left right data text is key same share bare blank quoted us ms "
		  "s seconds KB MB meminfo percent milli elapsed clock hex oct argv status syscall "
		  "user disk interface cgroup container hist percentiles call function demangled "
		  "indent below members also; names: %s",
		  names_list);
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
