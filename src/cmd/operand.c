/* operand.c - which command; without one, a canned tool, or a script for run. */
#include "cmd/tool.h"

/* Options of a script stand behind --, too, as other tracers have it; there "_" is as good as "-". */
static int run_file(const struct tool *t, int at, int argc, char **argv, struct live_chain *chain)
{
	bool dashes = at + 2 < argc && !strcmp(argv[at + 1], "--") && argv[at + 2][0] == '-';
	if (dashes)
		memmove(&argv[at + 1], &argv[at + 2], (size_t)(argc - at - 1) * sizeof(*argv));
	argc -= dashes;
	for (int i = at + 1; dashes && i < argc && strcmp(argv[i], "--") != 0; i++)
		for (char *c = argv[i]; !strncmp(argv[i], "--", 2) && *c && *c != '='; c++)
			*c = *c == '_' ? '-' : *c;
	return tool_run(t, at, argv, argc - at, argv + at, chain);
}

/* The tool of that name, with the words behind argv[at]. *rc is its exit status. False: there is no such tool. */
static bool run_tool_named(struct str name, int at, int argc, char **argv, struct live_chain *chain,
			   int *rc)
{
	struct arena a = {0};
	struct tool t;
	bool guest = at > 1 && !strcmp(argv[at - 1], "--asked");
	/* Listed among the tools, and linked to as they are; it answers no question. */
	if (str_is(name, "tplist") && !guest) {
		*rc = cmd_tplist(argc - at, argv + at, false);
		return true;
	}
	bool found = tool_find(&a, name, &t);
	if (found)
		*rc = tool_run(&t, MAX(at, 1), argv, argc - at, argv + at, chain);
	arena_free(&a);
	return found;
}

/* A script that is there, whatever it is called. */
static bool is_script(const char *word)
{
	return str_ends(str_z(word), STR(".bt")) && !access(word, F_OK);
}

/* text: NULL, or that of the script. */
static int run_script(const struct str *text, int at, int argc, char **argv,
		      struct live_chain *chain)
{
	struct arena a = {0};
	struct tool t;
	int rc = tool_from_file(&a, at, argv, text, &t) ? run_file(&t, at, argc, argv, chain)
							: cmd_run_in(text, argc, argv, chain);
	arena_free(&a);
	return rc;
}

int run_operand(int at, int argc, char **argv, struct live_chain *chain)
{
	int rc;
	if (!is_script(argv[at]) && run_tool_named(str_z(argv[at]), at, argc, argv, chain, &rc))
		return rc;
	return run_script(NULL, at, argc, argv, chain);
}

int run_text(const struct str *text, int at, int argc, char **argv)
{
	return run_script(text, at, argc, argv, NULL);
}

/* "opensnoop-bpfcc" is opensnoop: distributions tell the tools of several packages apart so. */
static struct str linked_name(struct str base)
{
	static const struct str endings[] = {STR("-bpfcc"), STR("-libbpf"), STR("-bpftrace"),
					     STR("-perf")};
	for (size_t i = 0; i < countof(endings); i++)
		if (str_ends(base, endings[i]))
			return str_n(base.s, base.n - endings[i].n);
	return base;
}

int run_words(int argc, char **argv)
{
	const char *base = argc ? strrchr(argv[0], '/') : NULL;
	base = base ? base + 1 : argc ? argv[0] : "";
	bool compat = !strcmp(base, "bpftrace");
	int rc, at = compat ? argc : opts_first_operand(argc, argv);
	/* To look a name up the tools are unpacked, which costs a millisecond: not for sonde's own names. */
	if (argc && !compat && strcmp(base, "sonde") &&
	    run_tool_named(linked_name(str_z(base)), 0, argc, argv, NULL, &rc))
		return rc;
	command_run *run = !compat && argc > 1 ? command_named(argv[1]) : NULL;
	if (run)
		return run(argc - 1, argv + 1, false);
	return at < argc ? run_operand(at, argc, argv, NULL) : cmd_run(argc, argv, compat);
}
