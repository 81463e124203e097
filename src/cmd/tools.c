/* tools.c - `sonde tools`: the canned tools by subject; the help of one. */
#include "base/embed.h"
#include "cmd/tool.h"
#include "tool/words.h"

/* In the order of a machine, from its processes down to the hardware. */
static const char *const subjects[] = {"processes", "files",    "disks",    "CPU",    "memory",
				       "network",   "security", "programs", "tracing"};

struct listing {
	const char *subject;
	struct str word;  /* those whose subject, name or summary contains it; "": all */
	bool any, tplist; /* tplist: told already */
};

/* In large or small letters. */
static bool contains(struct str s, struct str word)
{
	for (size_t i = 0; i + word.n <= s.n; i++)
		if (!strncasecmp(s.s + i, word.s, word.n))
			return true;
	return false;
}

static void put_tool(struct listing *l, struct str name, struct str summary)
{
	if (!contains(str_z(l->subject), l->word) && !contains(name, l->word) &&
	    !contains(summary, l->word))
		return;
	if (!l->any)
		printf("%s:\n", l->subject);
	l->any = true;
	printf("    %-16.*s %.*s\n", STRF(name), STRF(summary));
}

static bool show(const struct tool *t, void *arg)
{
	struct listing *l = arg;
	if (!str_is(t->subject, l->subject))
		return true;
	/* A command of its own, which bcc's users look for among the tools. */
	if (!l->tplist && str_is(t->subject, "tracing") && str_cmp(t->name, STR("tplist")) > 0) {
		put_tool(l, STR("tplist"), STR("List tracepoints and static probes"));
		l->tplist = true;
	}
	put_tool(l, t->name, t->summary);
	return true;
}

static int list_tools(struct arena *a, const char *word)
{
	bool any = false;
	for (size_t i = 0; i < countof(subjects); i++) {
		struct listing l = {.subject = subjects[i], .word = str_z(word)};
		tool_each(a, show, &l);
		any |= l.any;
	}
	if (!any) {
		fprintf(stderr, "ERROR: no tool matches '%s' (sonde tools lists all)\n", word);
		return RC_USAGE;
	}
	puts("\nRun a tool: sonde NAME. Print its help: sonde NAME -h. Print its script: sonde "
	     "tools -s NAME.");
	return RC_OK;
}

/* A tool's. The board is no tool, so that it gets no link of its name, but its script is printed, too. */
static bool script_of(struct arena *a, const char *name, struct str *ret)
{
	struct tool t;
	bool top = !strcmp(name, "top"), found = !top && tool_find(a, str_z(name), &t);
	if (top)
		*ret = embed_text(embed_find(STR(BOARD_OF_TOP)));
	else if (found)
		*ret = t.text;
	return top || found;
}

static int no_tool(const char *name)
{
	fprintf(stderr, "ERROR: no tool is called '%s' (sonde tools lists all)\n", name);
	return RC_USAGE;
}

int cmd_tools(int argc, char **argv, bool compat)
{
	struct arena a = {0};
	struct str text;
	int rc = RC_OK;
	bool script = argc == 3 && !strcmp(argv[1], "-s");
	if (argc == 1 || (argc == 2 && argv[1][0] != '-'))
		rc = list_tools(&a, argc == 1 ? "" : argv[1]);
	else if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		puts("USAGE:\n    sonde tools [WORD]      the tools by subject, or those about "
		     "WORD\n"
		     "    sonde tools -s NAME     the script of a tool");
	else if (!script)
		rc = usage_error(compat, "USAGE: sonde tools [WORD], or sonde tools -s NAME");
	else if (!strcmp(argv[2], "tplist"))
		rc = usage_error(compat, "tplist is not a script; sonde tplist -h prints its help");
	else if (!script_of(&a, argv[2], &text))
		rc = no_tool(argv[2]);
	else
		fwrite(text.s, 1, text.n, stdout);
	arena_free(&a);
	return rc;
}

static void put_operands(const struct node *tree, FILE *f)
{
	for (u64 k = 1; k < 8; k++)
		for (const struct node *n = tree->a; n; n = n->next)
			for (const struct node *o = n->kind == N_OPTIONS ? n->a : NULL; o;
			     o = o->next)
				if ((o->a && o->num >> 8 == k) ||
				    (!o->a && k == 1 && str_is(o->name, "duration")))
					fprintf(f, " [%.*s]", STRF(o->name));
}

static struct str heading_of(const struct node *column)
{
	return column->c ? column->c->name : column->name;
}

/* The form that the one before has under another condition. */
static bool is_again(const struct node *before, const struct node *column)
{
	return before && str_eq(before->name, column->name) &&
	       str_eq(heading_of(before), heading_of(column));
}

static bool is_text_alone(const struct node *column)
{
	static const char *const text[] = {"text"};
	bool found = false;
	for (const struct node *w = column->a; w; w = w->next)
		found |= node_word(w, text) == 0;
	return found;
}

static void put_columns(const struct node *tree, FILE *f)
{
	u32 tables = 0, shown = 0;
	for (const struct node *n = tree->a; n; n = n->next)
		tables += n->kind == N_TABLE;
	for (const struct node *n = tree->a; n; n = n->next) {
		if (n->kind != N_TABLE)
			continue;
		if (!shown++)
			fprintf(f, "\nCOLUMNS (names in JSON and CSV):\n");
		if (tables > 1)
			fprintf(f, "  %.*s:\n", STRF(n->name));
		const struct node *before = NULL;
		for (const struct node *c = n->a; c; before = c, c = c->next) {
			if (is_again(before, c) || is_text_alone(c))
				continue;
			bool each = c->a && str_is(c->a->name, "percentiles");
			if (each)
				fprintf(f, "    %-12s %.*s_p50 ...\n", "p50 ...", STRF(c->name));
			else
				fprintf(f, "    %-12.*s %.*s\n", STRF(heading_of(c)),
					STRF(c->name));
		}
	}
}

/* What other tools of that name have, in a line. */
static void put_accepted(const struct getopt_use *u, FILE *f)
{
	const char *before = "    accepted and without effect: ";
	for (; u; u = u->next) {
		if (!u->accepted)
			continue;
		fprintf(f, u->letter ? "%s-%c " : "%s", before, u->letter);
		fputs("--", f);
		for (u32 i = 0; i < u->name.n; i++)
			fputc(u->name.s[i] == '_' ? '-' : u->name.s[i], f);
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', f);
}

/* How the command is given. */
static const char *const forms[] = {
	[TOOL_RUNS_NOTHING] = "\n",
	[TOOL_RUNS_ON_MACHINE] = " [-- COMMAND]\n",
	[TOOL_RUNS_WATCHED] = " [-- COMMAND]\n",
	[TOOL_RUNS_OPERANDS] = " [[--] COMMAND]\n",
};

/* As a row of opt_help(). */
static void put_command(enum tool_runs runs, FILE *f)
{
	if (runs == TOOL_RUNS_ON_MACHINE)
		fputs("    -- COMMAND              run it; trace the whole machine until it ends\n",
		      f);
	else if (runs != TOOL_RUNS_NOTHING)
		fputs("    -- COMMAND              run it; trace it and its children until it "
		      "ends\n",
		      f);
}

void tool_usage(const struct tool *t, const struct opt *options, const struct compile *c, FILE *f)
{
	fprintf(f, "%.*s%s%.*s\n\nUSAGE:\n    sonde %.*s [options]", STRF(t->name),
		t->summary.n ? ": " : "", STRF(t->summary), STRF(t->name));
	const struct writer *w = tool_writer(t);
	if (w && w->operands)
		fprintf(f, " %s", w->operands);
	put_operands(c->tree, f);
	enum tool_runs runs = tool_runs(t, c);
	fputs(forms[runs], f);
	if (t->alias)
		fprintf(f, "    which is: %.*s%s%.*s\n", STRF(t->file), t->preset.n ? " with " : "",
			STRF(t->preset));
	if (t->about.n)
		fprintf(f, "\n%.*s\n", STRF(t->about));
	options_help(options, f);
	put_command(runs, f);
	put_accepted(c->getopts, f);
	put_columns(c->tree, f);
	if (t->examples.n)
		fprintf(f, "\nEXAMPLES:\n%.*s\n", STRF(t->examples));
}
