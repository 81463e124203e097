/*
 * sort.c - which column show() sorts a table by: that of --sort, a list of which each table takes the first
 * that it has, else what the table says.
 */
#include "core/columns.h"
#include "declare/declare.h"

bool declare_is_about(const struct columns *t, struct str *field)
{
	struct str table;
	if (str_chr(*field, '.') < 0)
		return true;
	str_cut(field, '.', &table);
	return str_eq(table, t->name);
}

bool sort_is_also(const struct node *word)
{
	static const char *const also[] = {"also"};
	return word->next && node_word(word, also) == 0;
}

static bool has_also(const struct node *column, struct str begin)
{
	for (const struct node *w = column->a; w; w = w->next) {
		struct str other = sort_is_also(w) ? w->next->name : STR("");
		if (str_starts(other, begin))
			return true;
	}
	return false;
}

bool sort_says(const struct node *table)
{
	static const char *const sorted[] = {"sorted"};
	bool found = false;
	for (const struct node *w = table->b; w; w = w->next)
		found |= node_word(w, sorted) == 0;
	return found;
}

bool sort_knows(const struct node *table, struct str by)
{
	bool found = false;
	for (const struct node *k = table->a; k; k = k->next) {
		struct str name = k->name;
		found |= str_starts(name, by) || has_also(k, by);
	}
	return found;
}

/* 1 + the index of the column whose name, or another name, begins so; 0: there is none. */
static u32 sort_column(const struct columns *t, const struct node *table, struct str by)
{
	for (u32 i = 0; i < t->n && by.n; i++)
		if (!t->col[i].part && !t->col[i].is.s && str_starts(t->col[i].name, by))
			return t->col[i].index + 1;
	for (const struct node *k = table->a; k && by.n; k = k->next)
		for (u32 i = 0; has_also(k, by) && i < t->n; i++)
			if (!t->col[i].is.s && str_eq(t->col[i].name, k->name))
				return t->col[i].index + 1;
	return 0;
}

void sort_table(struct str list, struct columns *t, const struct node *table,
		const struct node *words)
{
	struct str rest = list, by;
	while (!t->sort && rest.n && str_cut(&rest, ',', &by)) {
		t->ascending = by.n && by.s[0] == '-';
		by = t->ascending ? str_from(by, 1) : by;
		t->sort = declare_is_about(t, &by) ? sort_column(t, table, by) : 0;
	}
	if (t->sort || !words)
		return;
	t->ascending = words->flags & NF_NEG;
	t->sort = sort_column(t, table, words->name);
}

/* The names of a table's columns, each with a space behind it, without those that are there. */
static void list_columns(const struct compile *c, const struct columns *t, struct sb *names)
{
	for (u32 i = 0; i < t->n; i++) {
		const char *one = arena_fmt(c->arena, " %.*s ", STRF(t->col[i].name));
		if (!t->col[i].part && !strstr(names->s, one))
			sb_z(names, one + 1);
	}
}

void sort_check(const struct compile *c)
{
	struct str rest = c->sort, by, name;
	bool some = false;
	for (const struct node *n = c->tree->a; n; n = n->next)
		some |= n->kind == N_TABLE && sort_says(n);
	while (rest.n && str_cut(&rest, ',', &by)) {
		AUTO_SB known = {0};
		bool found = false;
		by = by.n && by.s[0] == '-' ? str_from(by, 1) : by;
		sb_z(&known, " ");
		for (const struct node *n = c->tree->a; n; n = n->next) {
			const struct columns *t = declare_find_table(c->unit, n->name);
			if (n->kind != N_TABLE || !t || (some && !t->sort))
				continue;
			name = by;
			found |= declare_is_about(t, &name) && sort_column(t, n, name);
			list_columns(c, t, &known);
		}
		if (!found && by.n && known.n > 1)
			diag_add(c->diags, E_OPTION, (struct loc){0},
				 "--sort: no column '%.*s'; columns:%.*s", STRF(by),
				 (int)known.n - 1, known.s);
	}
}
