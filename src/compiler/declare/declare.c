/*
 * declare.c - what a script declares about itself.
 *
 * Options become literals before anything has a type: opt.NAME is replaced by the value, in bodies,
 * predicates and the text of probes, and what is decided by that is decided here. A probe whose
 * predicate an option makes false is left out. Tables become struct columns, without the columns
 * whose condition is false, and emit()'s arguments get the order of the columns.
 */
#include "declare/declare.h"
#include "core/columns.h"
#include "core/names.h"

enum { MAX_COLUMNS = 64, MAX_WIDTH = 256, TOP_ROWS = 20, NS_PER_S = 1000000000 };

struct declare {
	struct compile *c;
	struct arena *a;
	struct diags *ds;
	bool options; /* the script declares some: opt and listed() mean something */
	bool sorted;  /* a table says by which column: of the others --sort says nothing */
};

/* ---- options ---- */

/* What the word for the kind says, beside what the default says. */
static bool kind_of(const struct node *n, struct getopt_use *o)
{
	static const char *const limits[] = {"positive", "signed", "accepted"};
	enum opt_kind *ret = &o->kind;
	i32 limit = node_word(n->c, limits);
	static const struct {
		const char *name;
		enum opt_kind kind;
	} kinds[] = {{"list", OPTION_LIST},         {"pid", OPTION_PID},
		     {"pids", OPTION_PIDS},         {"user", OPTION_USER},
		     {"disk", OPTION_DISK},         {"text", OPTION_TEXT},
		     {"words", OPTION_WORDS},       {"clock", OPTION_CLOCK},
		     {"fraction", OPTION_FRACTION}, {"networks", OPTION_NETWORKS},
		     {"terminal", OPTION_TERMINAL}, {"cpus", OPTION_CPUS},
		     {"ports", OPTION_PORTS},       {"netns", OPTION_NETNS}};
	i32 i = node_word(n->c, kinds);
	o->is_signed = limit == 1 || n->a->flags & NF_NEG;
	if (n->c->a) {
		bool list = i >= 0 && kinds[i].kind == OPTION_WORDS;
		*ret = list ? OPTION_WORDS : OPTION_WORD;
		o->choices = n->c->a;
		return (list || !n->c->name.n) && n->a->kind == N_STR &&
		       (!n->a->name.n || option_choice(o, n->a->name));
	}
	if (i >= 0) {
		*ret = kinds[i].kind;
		return *ret != OPTION_CLOCK || n->a->kind == N_BOOL;
	}
	if (names_find(n->c->name) && (n->a->kind == N_STR || n->a->kind == N_NUM)) {
		*ret = n->a->kind == N_STR ? OPTION_LIST : OPTION_INT;
		return true;
	}
	*ret = n->a->kind == N_BOOL         ? OPTION_FLAG
	       : n->a->kind == N_STR        ? OPTION_TEXT
	       : option_is_time(n->a->name) ? OPTION_TIME
					    : OPTION_INT;
	o->above0 = limit == 0;
	o->accepted = limit == 2;
	return !n->c->name.n || o->accepted ||
	       (limit >= 0 && (*ret == OPTION_INT || (*ret == OPTION_TIME && !limit)));
}

/* A declared one again, by its names alone: with a letter it is the script's own, so it comes last. */
static void give_names(struct getopt_use **at, const struct node *n)
{
	struct getopt_use *o = *at;
	char letter = (char)n->num;
	struct node *last = n->c;
	while (last && last->next)
		last = last->next;
	if (last) {
		last->next = (struct node *)o->also;
		o->also = n->c;
	}
	if (!letter)
		return;
	*at = o->next;
	while (*at)
		at = &(*at)->next;
	o->letter = letter;
	o->next = NULL;
	*at = o;
}

/* Every script has -h and --help; an imported option leaves its letter to another one. */
static void check_option(struct declare *d, const struct node *n, const struct node *before)
{
	static const char *const help[] = {"help"};
	u64 letter = n->num & 0xff, operand = n->num >> 8;
	if (letter == 'h' || node_word(n, help) >= 0)
		diag_add(d->ds, E_OPTION, n->loc, "-h and --help show a script's options");
	for (const struct node *o = before; o && o != n; o = o->next) {
		if (letter && (o->num & 0xff) == letter)
			diag_add(d->ds, E_OPTION, n->loc, "-%c is option %.*s already", (int)letter,
				 STRF(o->name));
		if (operand && o->num >> 8 == operand)
			diag_add(d->ds, E_OPTION, n->loc, "operand %llu is option %.*s already",
				 operand, STRF(o->name));
	}
}

/* The declaration says what no option can be. */
static void refuse_kind(struct declare *d, const struct node *n, const struct getopt_use *o)
{
	if (o->choices && n->a->kind == N_STR && (o->kind == OPTION_WORDS || !n->c->name.n)) {
		diag_add(d->ds, E_OPTION, n->a->loc, "the default is none of the option's words");
		return;
	}
	diag_add(d->ds, E_OPTION, n->c->loc,
		 "options are of kind list, words, pid, pids, cpus, ports, user, disk, clock, "
		 "fraction, networks, netns, terminal or text, one of some texts (\"a\" | \"b\"), "
		 "of names (errno, signal, ...), or their default says it; numbers may be "
		 "positive or signed, times positive, any of them accepted");
}

static void add_option(struct declare *d, const struct node *n, const struct node *before)
{
	struct getopt_use **tail = &d->c->getopts, *o;
	for (; *tail; tail = &(*tail)->next) {
		if (!str_eq((*tail)->name, n->name))
			continue;
		if (n->a)
			diag_add(d->ds, E_OPTION, n->loc, "option %.*s is declared twice",
				 STRF(n->name));
		else
			give_names(tail, n);
		return;
	}
	check_option(d, n, before);
	o = arena_new(d->a, struct getopt_use);
	*o = (struct getopt_use){.name = n->name, .common = !n->a, .declared = true};
	o->letter = (char)n->num;
	o->operand = (u32)(n->num >> 8);
	o->also = n->a ? n->c->next->next : n->c;
	if (n->a) {
		o->placeholder = n->c->next->name;
		o->doc = n->b ? n->b->name : STR("");
		o->text = n->a->kind == N_BOOL   ? n->a->num ? STR("true") : STR("false")
			    : n->a->flags & NF_NEG ? str_z(arena_fmt(d->a, "%lld", (i64)n->a->num))
						 : n->a->name;
		o->type = n->a->kind == N_BOOL ? &type_bool : &type_i64;
		if (!kind_of(n, o))
			refuse_kind(d, n, o);
		o->words = names_find(n->c->name) ? n->c->name : STR("");
	}
	*tail = o;
}

/* "max-args" on the command line is max_args. */
static bool is_same_name(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (u32 i = 0; i < a.n; i++)
		if (a.s[i] != b.s[i] && !(a.s[i] == '-' && b.s[i] == '_'))
			return false;
	return true;
}

bool declare_names(const struct getopt_use *o, struct str given)
{
	bool is = is_same_name(given, o->name);
	for (const struct node *n = o->also; n && !is; n = n->next)
		is = is_same_name(given, n->name);
	return is;
}

struct str declare_text(const struct compile *c, const struct getopt_use *o)
{
	for (u32 i = c->nopt; i--;) {
		const struct script_opt *given = &c->opts[i];
		if (declare_names(o, given->name))
			return given->value;
	}
	return o->text;
}

const struct getopt_use *declare_find(const struct compile *c, struct str name)
{
	for (const struct getopt_use *o = c->getopts; o; o = o->next)
		if (str_eq(o->name, name))
			return o;
	return NULL;
}

static void set_number(struct node *n, enum node_kind kind, u64 v)
{
	n->kind = kind;
	n->a = n->b = n->c = NULL;
	n->num = v;
	n->name = (struct str){0};
	n->flags = (u16)((n->flags & NF_PAREN) | (kind == N_NUM && (i64)v < 0 ? NF_NEG : 0));
}

/* Becomes the option's value. */
static void put_value(struct declare *d, struct node *n, const struct getopt_use *o)
{
	struct str text = declare_text(d->c, o);
	u64 v = 0;
	struct err *e = declare_value(o, text, &v);
	if (e) {
		diag_err(d->ds, E_OPTION, n->loc, e);
	} else if (option_is_text(o)) {
		set_number(n, N_STR, 0);
		n->name = !text.s ? STR("") : o->kind == OPTION_DISK ? option_disk(text) : text;
		return;
	}
	bool flag = o->kind == OPTION_FLAG || o->kind == OPTION_CLOCK;
	set_number(n, flag ? N_BOOL : N_NUM, v);
}

static bool is_option(const struct node *n)
{
	return n->kind == N_MEMBER && n->a->kind == N_NAME && builtin_role(n->a) == ROLE_OPTIONS;
}

static void replace(struct declare *d, struct node *n)
{
	static const struct {
		const char *name;
	} asked[] = {{"pid"}};
	const struct getopt_use *o = declare_find(d->c, n->name);
	if (o && !o->common) {
		if (option_is_list(o))
			diag_add(d->ds, E_OPTION, n->loc,
				 "opt.%.*s is a list: ask with listed(value, opt.%.*s)",
				 STRF(n->name), STRF(n->name));
		put_value(d, n, o);
		return;
	}
	/* Of the common one: were processes, or a command, named? */
	if (o && node_word(n, asked) >= 0) {
		set_number(n, N_BOOL, d->c->unit->scope.npid != 0);
		return;
	}
	diag_add(d->ds, E_OPTION, n->loc, "the script declares no option '%.*s'", STRF(n->name));
	set_number(n, N_NUM, 0);
}

/* listed(x, opt.list): x == 1 || x == 2, or of words x == "a" || x == "b"; true when the list is empty. */
static void replace_listed(struct declare *d, struct node *n)
{
	struct node *x = n->a, *list = x ? x->next : NULL;
	const struct getopt_use *o =
		list && is_option(list) ? declare_find(d->c, list->name) : NULL;
	struct node *all = NULL;
	u64 v;
	if (!o || !option_is_list(o) || list->next) {
		diag_add(d->ds, E_OPTION, n->loc,
			 "listed() takes a value and an option of kind list");
		set_number(n, N_BOOL, 1);
		return;
	}
	struct str rest = declare_text(d->c, o), one;
	struct err *e = declare_value(o, rest, &v);
	if (e) {
		diag_err(d->ds, E_OPTION, n->loc, e);
		rest = (struct str){0};
	}
	x->next = NULL;
	while (rest.n && str_cut(&rest, ',', &one)) {
		bool word = o->kind == OPTION_WORDS;
		struct node *item = node_new(d->a, word ? N_STR : N_NUM, list->loc),
			    *eq = node_new(d->a, N_BINARY, n->loc), * or = eq;
		if (word)
			item->name = one;
		else
			option_word(o, one, &item->num);
		eq->op = TK_EQ;
		eq->a = node_clone(d->a, x);
		eq->b = item;
		if (all) {
			or = node_new(d->a, N_BINARY, n->loc);
			or->op = TK_OROR;
			or->a = all;
			or->b = eq;
		}
		all = or ;
	}
	if (all) {
		n->kind = N_BINARY;
		n->op = all->op;
		n->a = all->a;
		n->b = all->b;
		n->flags |= NF_PAREN;
		n->name = (struct str){0};
	} else {
		set_number(n, N_BOOL, 1);
	}
}

/* ---- what literals decide ---- */

static bool truth(const struct node *n, bool *ret)
{
	if (n->kind != N_BOOL && n->kind != N_NUM)
		return false;
	*ret = n->num != 0;
	return true;
}

/* n becomes a copy of one of its children. */
static void become(struct node *n, const struct node *child)
{
	struct node *next = n->next;
	*n = *child;
	n->next = next;
}

static void fold_logic(struct node *n)
{
	bool t, is_or = n->op == TK_OROR;
	struct node *sure = truth(n->a, &t) ? n->a : truth(n->b, &t) ? n->b : NULL;
	if (sure && t == is_or)
		set_number(n, N_BOOL, is_or);
	else if (sure && truth(sure == n->a ? n->b : n->a, &t))
		set_number(n, N_BOOL, t);
	else if (sure)
		become(n, sure == n->a ? n->b : n->a);
}

/* 5, -1, true */
static bool number(const struct node *n, i64 *ret)
{
	bool minus = n->kind == N_UNARY && n->op == TK_MINUS && n->a->kind == N_NUM;
	if (!minus && n->kind != N_NUM && n->kind != N_BOOL)
		return false;
	*ret = minus ? (i64)(0 - n->a->num) : (i64)n->num;
	return true;
}

static void fold_compare(struct node *n)
{
	const struct node *x = n->a, *y = n->b;
	bool text = x->kind == N_STR && y->kind == N_STR;
	i64 i = 0, j = 0;
	bool num = number(x, &i) && number(y, &j);
	if (!text && !num)
		return;
	switch ((int)n->op) { /* the others are left to the types */
	case TK_EQ: set_number(n, N_BOOL, text ? str_eq(x->name, y->name) : i == j); return;
	case TK_NE: set_number(n, N_BOOL, text ? !str_eq(x->name, y->name) : i != j); return;
	}
	if (!num)
		return;
	switch ((int)n->op) { /* arithmetic is left to them, too */
	case TK_LT: set_number(n, N_BOOL, i < j); break;
	case TK_LE: set_number(n, N_BOOL, i <= j); break;
	case TK_GT: set_number(n, N_BOOL, i > j); break;
	case TK_GE: set_number(n, N_BOOL, i >= j); break;
	}
}

static void decide(struct node *n)
{
	bool t;
	switch ((int)n->kind) { /* nothing else is decided by a literal */
	case N_UNARY:
		if (n->op == TK_NOT && truth(n->a, &t))
			set_number(n, N_BOOL, !t);
		break;
	case N_BINARY:
		(n->op == TK_OROR || n->op == TK_ANDAND ? fold_logic : fold_compare)(n);
		break;
	case N_COND:
		if (n->b && truth(n->a, &t))
			become(n, t ? n->b : n->c);
		break;
	case N_IF:
		if (truth(n->a, &t))
			n->flags |= NF_COMPTIME;
		break;
	case N_COMPTIME:
		if (truth(n->a, &t))
			become(n, n->a);
		break;
	}
}

/* Options in n and below become literals. Whether there were any. */
static bool fold(struct declare *d, struct node *n)
{
	bool any = false;
	if (d->options && is_option(n)) {
		replace(d, n);
		return true;
	}
	enum builtin_role role = n->kind == N_CALL ? builtin_role(n) : ROLE_NONE;
	if (role == ROLE_LISTED && d->options) {
		replace_listed(d, n);
		any = true;
	}
	if (role == ROLE_EXISTS && n->a && n->a->kind == N_STR) {
		set_number(n, N_BOOL, declare_exists(d->c, n->a->name));
		return true;
	}
	struct node *kids[] = {n->a, n->b, n->c};
	for (u32 i = 0; i < countof(kids); i++)
		for (struct node *k = kids[i]; k; k = k->next)
			any |= fold(d, k);
	if (any)
		decide(n);
	return any;
}

/* ---- tables ---- */

static struct str upper(struct arena *a, struct str s)
{
	char *t = arena_strz(a, s);
	for (u32 i = 0; i < s.n; i++)
		t[i] = t[i] >= 'a' && t[i] <= 'z' ? (char)(t[i] - 32) : t[i];
	return str_n(t, s.n);
}

/* The only expression of a macro without parameters; NULL: n is no such call. */
static const struct node *macro_body(const struct compile *c, const struct node *n)
{
	for (const struct node *m = c->tree->a; m && n->kind == N_CALL && !n->a; m = m->next) {
		const struct node *said = m->kind == N_MACRO && !m->a ? m->b->a : NULL;
		if (said && str_eq(m->name, n->name))
			return said->kind == N_EXPR && !said->next ? said->a : NULL;
	}
	return NULL;
}

static bool is_wanted(struct declare *d, const struct node *n)
{
	bool yes = true;
	const struct node *said = n->b ? macro_body(d->c, n->b) : NULL;
	if (n->b && !truth(said ? said : n->b, &yes))
		diag_add(d->ds, E_LITERAL, n->b->loc,
			 "the condition of a column is decided by options alone");
	return yes;
}

/* Behind the word percentiles: the list. NULL: the column has none. */
static const struct node *list_of(const struct node *column)
{
	static const char *const word[] = {"percentiles"};
	for (const struct node *w = column->a; w; w = w->next)
		if (node_word(w, word) == 0)
			return w->next;
	return NULL;
}

static bool is_full(struct declare *d, const struct columns *t, const struct node *n)
{
	if (t->n == MAX_COLUMNS)
		diag_add(d->ds, E_LIMIT, n->loc, "a table has at most %d columns", MAX_COLUMNS);
	return t->n == MAX_COLUMNS;
}

/* A column for each percentile of a list: usecs_p50, usecs_p99_9. */
static void put_percentiles(struct declare *d, struct columns *t, const struct node *n,
			    const struct column *like, struct str rest)
{
	struct str name;
	u32 part;

	while (percentile_next(&rest, &name, &part) && !is_full(d, t, n)) {
		const char *p = percentile_letter(name);
		char *field = arena_fmt(d->a, "%.*s_%s%.*s", STRF(n->name), p, STRF(name));
		for (char *c = field + n->name.n; *c; c++)
			*c = *c == '.' ? '_' : *c;
		struct column *col = &t->col[t->n++];
		*col = *like;
		col->name = str_z(field);
		col->heading = str_z(arena_fmt(d->a, "%s%.*s", p, STRF(name)));
		col->part = part + 1;
	}
}

static bool add_percentiles(struct declare *d, struct columns *t, const struct node *n, u32 index)
{
	const struct node *list = list_of(n);

	if (!list)
		return false;
	if (list->kind == N_STR && percentiles_valid(list->name))
		put_percentiles(d, t, n,
				&(struct column){.width = (u32)MIN(n->num, (u64)MAX_WIDTH),
						 .right = true,
						 .index = index},
				list->name);
	else
		diag_add(d->ds, E_LITERAL, list->loc,
			 "percentiles are a text such as \"p50, p99.9\", or an option");
	return true;
}

static void add_column(struct declare *d, struct columns *t, const struct node *n, u32 index)
{
	static const char *const taken[] = {"type", "table", "interval"};
	for (u32 i = 0; i < t->n; i++)
		if (str_eq(t->col[i].name, n->name))
			diag_add(d->ds, E_SYNTAX, n->loc, "the table has two columns '%.*s'",
				 STRF(n->name));
	if (node_word(n, taken) >= 0)
		diag_add(d->ds, E_SYNTAX, n->loc,
			 "a column cannot be called '%.*s': each line of JSON has that already",
			 STRF(n->name));
	if (n->num > MAX_WIDTH)
		diag_add(d->ds, E_RANGE, n->loc, "a column is at most %d wide", MAX_WIDTH);
	if (is_full(d, t, n) || add_percentiles(d, t, n, index))
		return;
	struct column *col = &t->col[t->n++];
	*col = (struct column){.name = n->name,
			       .heading = n->c ? n->c->name : upper(d->a, n->name),
			       .width = (u32)MIN(n->num, (u64)MAX_WIDTH),
			       .index = index};
	for (const struct node *w = n->a; w; w = w->next) {
		if (sort_is_also(w))
			w = w->next;
		else
			w = declare_column_word(d->ds, col, w);
	}
	if (col->unit == COL_CLOCK && d->c->clock > 1) {
		col->digits = d->c->clock - 1;
		col->width += col->width ? d->c->clock : 0;
	}
	/* In text they stand below the histogram. */
	if (col->unit == COL_HIST)
		put_percentiles(d, t, n, &(struct column){.data = true, .index = index},
				d->c->percentiles);
}

/* Percentiles are also named together, as what they are of. */
static bool is_field(const struct column *c, struct str field)
{
	struct str own = c->name;
	if (c->part && str_starts(own, field) && str_starts(str_from(own, field.n), STR("_p")))
		return true;
	return str_eq(own, field);
}

/* Does --fields say anything about it? */
static bool is_picked(const struct declare *d, const struct columns *t)
{
	struct str rest = d->c->fields, one;
	while (rest.n && str_cut(&rest, ',', &one))
		if (declare_is_about(t, &one))
			return true;
	return false;
}

static bool has_column(const struct columns *t, struct str name)
{
	for (u32 i = 0; i < t->n; i++)
		if (str_eq(t->col[i].name, name))
			return true;
	return false;
}

/* --fields: those, in that order, each once: percentiles are also named together. */
static void pick_fields(struct declare *d, struct columns *t)
{
	struct column *old = t->col;
	u32 nold = t->n;
	struct str rest = d->c->fields, one;
	t->col = arena_newn(d->a, struct column, MAX_COLUMNS);
	t->n = 0;
	while (str_cut(&rest, ',', &one))
		for (u32 i = 0; i < nold && declare_is_about(t, &one); i++)
			if (is_field(&old[i], one) && !has_column(t, old[i].name))
				t->col[t->n++] = old[i];
}

static u32 rows_of(struct declare *d, const struct node *n)
{
	if (d->c->rows || !n)
		return d->c->rows;
	if (n->kind != N_NUM)
		diag_add(d->ds, E_LITERAL, n->loc,
			 "the number of rows is decided by options alone");
	return (u32)MIN(n->num, UINT32_MAX);
}

static bool has_word(const struct node *column, const char *word)
{
	const char *const one[] = {word};
	for (const struct node *w = column->a; w; w = w->next)
		if (node_word(w, one) == 0)
			return true;
	return false;
}

/* Which part of the key, or which value, each column shows: in order, but for `key`, `same` and `is`. */
static u32 place_of(const struct node *table, const struct node *column)
{
	bool is_key = has_word(column, "key");
	u32 keys = 0, at = 0;
	for (const struct node *k = table->a; k; k = k->next)
		keys += has_word(k, "key");
	for (const struct node *k = table->a; k != column; k = k->next)
		at += has_word(k, "key") == is_key && !has_word(k->next, "same") &&
		      !has_word(k, "is");
	if (has_word(column, "is")) /* none: behind all that there are */
		return node_count(table->a);
	return is_key ? at : keys + at;
}

/* What stands between the name and the columns. */
static void table_words(struct declare *d, struct columns *t, const struct node *table)
{
	const struct node *w = table->b;
	static const char *const known[] = {"sorted", "by",    "top",      "bare",
					    "ruled",  "total", "standing", "spaced"};
	bool *const set[] = {&t->top, &t->bare, &t->ruled, &t->total, &t->standing, &t->spaced};
	for (; w && node_word(w, known) >= 2; w = w->next)
		*set[node_word(w, known) - 2] = true;
	if (t->top && !t->rows)
		t->rows = TOP_ROWS;
	if (w && node_word(w, known) == 0 && w->next && node_word(w->next, known) == 1) {
		const struct node *by = w->next->next, *more = by ? by->next : NULL;
		sort_table(d->c->sort, t, table, by);
		if (!by || !sort_knows(table, by->name))
			diag_add(d->ds, E_SYNTAX, by ? by->loc : w->next->loc,
				 "'sorted by' must be followed by a column of the table");
		else if (more)
			diag_add(d->ds, E_SYNTAX, more->loc,
				 "only 'rows' may follow the column of 'sorted by'; other words "
				 "precede it");
	} else if (!w && !d->sorted)
		sort_table(d->c->sort, t, table, NULL);
	else if (w)
		diag_add(d->ds, E_SYNTAX, w->loc,
			 "a table may be 'bare', 'top', 'ruled', 'total', 'standing', 'spaced' and "
			 "'sorted by' a column");
}

/* Of columns with one name it is another: the one whose condition holds, else the first. */
static bool is_other(struct declare *d, const struct node *table, const struct node *column)
{
	bool before = true, other = false;
	for (const struct node *k = table->a; k; k = k->next) {
		before &= k != column;
		if (k != column && str_eq(k->name, column->name))
			other |= before || is_wanted(d, k);
	}
	return other;
}

static void add_table(struct declare *d, struct node *n)
{
	struct unit *u = d->c->unit;
	u32 count = node_count(n->a);
	struct columns *t = arena_new(d->a, struct columns);
	if (declare_find_table(u, n->name))
		diag_add(d->ds, E_SYNTAX, n->loc, "table %.*s is declared twice", STRF(n->name));
	if (!count)
		diag_add(d->ds, E_SYNTAX, n->loc, "table %.*s has no columns", STRF(n->name));
	*t = (struct columns){.name = n->name, .rows = rows_of(d, n->c), .declared = count};
	bool more = d->c->percentiles.n, picked = is_picked(d, t);
	for (const struct node *k = n->a; k; k = k->next)
		more |= list_of(k) != NULL;
	t->col = arena_newn(d->a, struct column, more ? MAX_COLUMNS : count);
	if (count > MAX_COLUMNS) {
		diag_add(d->ds, E_LIMIT, n->loc, "a table has at most %d columns", MAX_COLUMNS);
		return;
	}
	for (struct node *k = n->a; k; k = k->next)
		if (is_wanted(d, k) || (picked && !is_other(d, n, k)))
			add_column(d, t, k, place_of(n, k));
	table_words(d, t, n);
	if (picked)
		pick_fields(d, t);
	arena_push(d->a, u->columns, u->ncolumns, t);
}

struct columns *declare_find_table(const struct unit *u, struct str name)
{
	for (u32 i = 0; i < u->ncolumns; i++)
		if (str_eq(u->columns[i]->name, name))
			return u->columns[i];
	return NULL;
}

static const struct node *declared_column(const struct compile *c, struct str table,
					  struct str name)
{
	for (const struct node *n = c->tree->a; n; n = n->next) {
		if (n->kind != N_TABLE || !str_eq(n->name, table))
			continue;
		for (const struct node *k = n->a; k; k = k->next)
			if (str_eq(k->name, name))
				return k;
	}
	return NULL;
}

static bool is_shown(const struct unit *u, struct str field)
{
	for (u32 i = 0; i < u->ncolumns; i++) {
		struct str name = field;
		for (u32 k = 0; declare_is_about(u->columns[i], &name) && k < u->columns[i]->n; k++)
			if (str_eq(u->columns[i]->col[k].name, name))
				return true;
	}
	return false;
}

static bool is_listed(struct str list, struct str name)
{
	struct str one;
	while (list.n && str_cut(&list, ',', &one))
		if (str_eq(one, name))
			return true;
	return false;
}

/* Each of --fields is a column of some table, and is named once. */
static void check_fields(const struct compile *c)
{
	struct str rest = c->fields, one;
	while (rest.n && str_cut(&rest, ',', &one)) {
		if (is_listed(rest, one))
			diag_add(c->diags, E_OPTION, (struct loc){0}, "--fields names '%.*s' twice",
				 STRF(one));
		AUTO_SB known = {0};
		bool found = is_shown(c->unit, one);
		for (const struct node *n = c->tree->a; n; n = n->next) {
			for (const struct node *k = n->kind == N_TABLE ? n->a : NULL; k;
			     k = k->next) {
				found |= str_eq(k->name, one);
				if (!k->next || !str_eq(k->name, k->next->name)) /* two headings */
					sb_fmt(&known, "%s%.*s", known.n ? " " : "", STRF(k->name));
			}
		}
		if (!found)
			diag_add(c->diags, E_OPTION, (struct loc){0},
				 "--fields: no column '%.*s' (columns: %s)", STRF(one),
				 known.n ? known.s : "none");
	}
}

/* By one that stands before it. */
static bool is_given(const struct node *args, const struct node *field)
{
	for (const struct node *f = args; f != field; f = f->next)
		if (f->kind == N_RFIELD && str_eq(f->name, field->name))
			return true;
	return false;
}

/* emit(table, name = value, ...): the values of shown columns, in their order. */
static void order_emit(struct declare *d, struct node *call)
{
	struct node *name = call->a;
	struct columns *t = name ? declare_find_table(d->c->unit, name->name) : NULL;
	if (!name || name->kind != N_NAME || !t) {
		diag_add(d->ds, E_SYNTAX, name ? name->loc : call->loc,
			 "emit() begins with the name of a table that the script declares");
		set_number(call, N_NUM, 0);
		return;
	}
	struct node *args = name->next, **tail = &name->next;
	for (struct node *f = args; f; f = f->next) {
		if (f->kind != N_RFIELD)
			diag_add(d->ds, E_SYNTAX, f->loc,
				 "emit() takes values by name: column = value");
		else if (!declared_column(d->c, t->name, f->name))
			diag_add(d->ds, E_SYNTAX, f->loc, "table %.*s has no column '%.*s'",
				 STRF(t->name), STRF(f->name));
		else if (is_given(args, f))
			diag_add(d->ds, E_SYNTAX, f->loc, "column %.*s has a value already",
				 STRF(f->name));
	}
	call->num = 0;
	t->head = true;
	*tail = NULL;
	for (u32 i = 0; i < t->n; i++)
		for (struct node *f = args; f; f = f->next) {
			struct node *v = f->a;
			if (f->kind != N_RFIELD || !v || !str_eq(f->name, t->col[i].name))
				continue;
			f->a = v->next = NULL; /* of two columns with one name the first has it */
			*tail = v;
			tail = &v->next;
			call->num |= 1ull << i;
			break;
		}
}

static bool see_emit(struct node *n, void *arg)
{
	bool t;
	if (n->kind == N_IF && truth(n->a, &t)) { /* the other branch is never there */
		for (struct node *k = t ? n->b : n->c; k; k = k->next)
			node_walk(k, see_emit, arg);
		return false;
	}
	if (n->kind == N_CALL && builtin_role(n) == ROLE_EMIT)
		order_emit(arg, n);
	return true;
}

/* ---- the whole ---- */

/* False: a probe whose predicate can never hold, by what options and the kernel are. */
static bool fold_definition(struct declare *d, struct node *n)
{
	bool t;
	if (n->kind != N_PROBE) {
		fold(d, n);
		return true;
	}
	for (struct node *p = n->a; d->options && p; p = p->next)
		declare_point(d->c, p);
	fold(d, n->c);
	return !n->b || !fold(d, n->b) || !truth(n->b, &t) || t;
}

/* What follows; the next of several ways to an event becomes the first. */
static struct node *leave_out(struct node *n)
{
	if (n->next && !(n->flags & NF_ELSE))
		n->next->flags &= (u16)~NF_ELSE;
	return n->next;
}

/* interval:ns { exit(); } */
static void add_duration(struct declare *d)
{
	struct node *point = node_new(d->a, N_POINT, (struct loc){0}),
		    *probe = node_new(d->a, N_PROBE, (struct loc){0}),
		    *block = node_new(d->a, N_BLOCK, (struct loc){0}),
		    *stmt = node_new(d->a, N_EXPR, (struct loc){0}),
		    *call = node_new(d->a, N_CALL, (struct loc){0}), **tail = &d->c->tree->a;
	point->name =
		str_z(arena_fmt(d->a, "interval:us:%llu", MAX(d->c->duration_ns / 1000, 1ull)));
	call->name = STR("exit");
	stmt->a = call;
	block->a = stmt;
	probe->a = point;
	probe->c = block;
	while (*tail)
		tail = &(*tail)->next;
	*tail = probe;
}

void declare_options(struct compile *c)
{
	struct declare d = {.c = c, .a = c->arena, .ds = c->diags};
	for (const struct node *n = c->tree->a; n; n = n->next)
		if (n->kind == N_OPTIONS)
			for (const struct node *o = n->a; o; o = o->next)
				add_option(&d, o, n->a);
}

/* How times of day are shown, as an option says that shows them. */
static void take_clock(struct declare *d)
{
	for (const struct getopt_use *o = d->c->getopts; o; o = o->next) {
		u32 digits = 0;
		u64 shown;
		if (o->kind != OPTION_CLOCK)
			continue;
		struct str text = declare_text(d->c, o);
		struct err *e = declare_value(o, text, &shown);
		if (!e && shown)
			d->c->clock = 1 + (option_clock(text, &digits) ? digits : 0);
		err_free(e); /* told where it is used */
	}
}

bool declare_script(struct compile *c)
{
	struct declare d = {.c = c, .a = c->arena, .ds = c->diags};
	bool tables = false;
	for (const struct node *n = c->tree->a; n; n = n->next) {
		d.options |= n->kind == N_OPTIONS;
		tables |= n->kind == N_TABLE;
		d.sorted |= n->kind == N_TABLE && sort_says(n);
	}
	if (d.options) {
		declare_options(c);
		declare_check_params(c);
	}
	take_clock(&d);
	for (struct node **at = &c->tree->a; *at;)
		if (fold_definition(&d, *at))
			at = &(*at)->next;
		else
			*at = leave_out(*at);
	if (!declare_choose(c))
		return false;
	for (struct node *n = c->tree->a; tables && n; n = n->next)
		if (n->kind == N_TABLE)
			add_table(&d, n);
	if (tables) {
		check_fields(c);
		sort_check(c);
	}
	for (struct node *n = c->tree->a; tables && n; n = n->next)
		if (n->kind == N_PROBE || n->kind == N_FN)
			node_walk(n, see_emit, &d);
	c->unit->config.duration_ns = c->duration_ns;
	c->unit->config.utc = c->utc;
	c->unit->config.clock = c->clock;
	if (c->duration_ns)
		add_duration(&d);
	return true;
}
