/* toolhint.c - a tool's command line was refused: the error, and what was probably meant. */
#include "cmd/tool.h"
#include "declare/declare.h"

/* An option of sonde's own that stands behind the tool's name, where it is none. */
static bool misplaced(const struct tool_words *w, struct opt *ret)
{
	for (int i = 1; i < w->argc && strcmp(w->argv[i], "--") != 0; i++)
		if (!opt_named(w->table, w->argv[i]) && opts_named(w->argv[i], ret))
			return true;
	return false;
}

/* bcc's tools take maps with control groups or mount namespaces that another program filled. */
static bool asks_for_map(const struct tool_words *w)
{
	for (int i = 1; i < w->argc; i++)
		if (!strncmp(w->argv[i], "--cgroupmap", 11) ||
		    !strncmp(w->argv[i], "--mntnsmap", 10))
			return true;
	return false;
}

static bool is_time(const char *val)
{
	static const struct getopt_use seconds = {
		.name = STR("duration"), .kind = OPTION_TIME, .text = STR("0s")};
	u64 ns;
	struct err *e = declare_value(&seconds, str_z(val), &ns);
	bool is = !e && ns;
	err_free(e);
	return is;
}

static bool is_number(const char *val)
{
	u64 n;
	return str_number(str_z(val), &n) && n;
}

/* The tool's own meaning of these letters is that of the classic tools; others take a time and a number there. */
static const struct {
	char letter;
	const char *name;
	bool (*fits)(const char *val);
} elsewhere[] = {{'d', "duration", is_time}, {'c', "count", is_number}};

/* The letter before the value or operand that was refused, or 0. */
static char letter_before(const struct tool_words *w)
{
	for (int i = 1; i < w->argc && w->refused; i++) {
		const char *before = w->refused == w->argv[i] ? w->argv[i - 1] : w->argv[i];
		bool within = w->refused == w->argv[i] + 2;
		if ((within || w->refused == w->argv[i]) && before[0] == '-' && before[1] &&
		    (within || !before[2]))
			return before[1];
	}
	return 0;
}

/* What the value would be one of: "--duration". NULL: of nothing that the tool has. */
static const char *meant(const struct tool_words *w)
{
	char letter = letter_before(w);
	for (size_t i = 0; letter && i < countof(elsewhere); i++) {
		const char *word = arena_fmt(w->a, "--%s", elsewhere[i].name);
		const struct opt *o = opt_named(w->table, word);
		if (letter == elsewhere[i].letter && o && o->arg && o->shrt != letter &&
		    elsewhere[i].fits(w->refused))
			return word;
	}
	return NULL;
}

void tool_warn_delimiter(const struct opt *table, int argc, char **argv, bool folded)
{
	const struct opt *o = opt_named(table, "--delimiter");
	const char *time = NULL;
	for (int i = 1; i + 1 < argc && o && o->shrt == 'd' && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "-d") && is_time(argv[i + 1]))
			time = argv[i + 1];
	if (folded && !time)
		return;
	fprintf(stderr, "WARNING: -d is --delimiter here, %s%s%s%s\n",
		folded ? "which puts a frame - between the program's and the kernel's"
		       : "which has no effect without -f",
		time ? "; did you mean --duration " : "", time ? time : "", time ? "?" : "");
}

int tool_bad_words(const struct tool_words *w, struct err *e)
{
	struct str name = w->tool->name;
	const char *command = w->runs ? tool_command_behind(w->a, w->argc, w->argv) : NULL;
	const char *word = meant(w);
	struct opt before;
	fprintf(stderr, "ERROR: %s\n", e->msg);
	if (word)
		fprintf(stderr, "HINT: did you mean %s %s?\n", word, w->refused);
	else if (command)
		fprintf(stderr, "HINT: put a command after --: sonde %.*s -- %s\n", STRF(name),
			command);
	else if (misplaced(w, &before))
		fprintf(stderr, "HINT: put --%s before the tool's name: sonde --%s%s%s %.*s\n",
			before.name, before.name, before.arg ? " " : "",
			before.arg ? before.arg : "", STRF(name));
	else if (asks_for_map(w))
		fprintf(stderr, "HINT: select one with --cgroup DIR or --container NAME\n");
	else
		fprintf(stderr, "sonde %.*s -h shows its options.\n", STRF(name));
	err_free(e);
	return RC_USAGE;
}
