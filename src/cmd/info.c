/* info.c - version; help on the language, from the tables. */
#include "cmd/tool.h"
#include "core/sink.h"
#include "sema/sema.h"

int version(bool compat)
{
	if (compat)
		printf("bpftrace v%s (sonde %s)\n", COMPAT_VERSION, SONDE_VERSION);
	else
		printf("sonde %s (commit %s, %s)\n", SONDE_VERSION, sonde_commit, sonde_build);
	return RC_OK;
}

static bool help_name(struct str name)
{
	bool found = false;
	for (u32 t = 0; builtin_tables[t]; t++) {
		for (const struct builtin *b = builtin_tables[t]; b->sig; b++) {
			if (name.n && !builtin_is_named(b, name) && !str_eq(builtin_name(b), name))
				continue;
			if (!name.n && ((b->flags & B_OLD) || !b->doc))
				continue;
			printf("%s\n    %s\n", b->sig, b->doc ? b->doc : "");
			found = true;
		}
	}
	for (u32 i = 0; name.n && probe_types[i]; i++) {
		const struct probe_type *p = probe_types[i];
		if (probe_type_find(name) != p)
			continue;
		printf("%s\n    %s\n", p->syntax ? p->syntax : p->name, p->doc ? p->doc : "");
		found = true;
	}
	return found;
}

static int no_help(struct arena *a, const char *name, bool compat)
{
	const char *near = compat ? NULL : tool_near(a, str_z(name));
	fprintf(stderr, "ERROR: no function, variable, probe%s is named '%s'%s%s%s\n",
		compat ? "" : ", command or tool", name, near ? "; did you mean " : "",
		near ? near : "", near ? "?" : "");
	return RC_USAGE;
}

int cmd_help(int argc, char **argv, bool compat)
{
	if (argc < 2) {
		usage(stdout, compat, true);
		printf("\nMORE HELP:\n    sonde help NAME       a function, variable, kind of "
		       "probe, command or tool\n"
		       "    sonde help functions  all functions and variables\n"
		       "    sonde help probes     all kinds of probes\n"
		       "    sonde help outputs    all output formats\n");
		return RC_OK;
	}
	struct str what = str_z(argv[1]);
	if (str_is(what, "functions"))
		return help_name((struct str){0}) ? RC_OK : RC_USAGE;
	if (str_is(what, "probes")) {
		for (u32 i = 0; probe_types[i]; i++)
			printf("%s\n    %s\n",
			       probe_types[i]->syntax ? probe_types[i]->syntax
						      : probe_types[i]->name,
			       probe_types[i]->doc ? probe_types[i]->doc : "");
		return RC_OK;
	}
	if (str_is(what, "outputs")) {
		output_help();
		return RC_OK;
	}
	bool named = help_name(what);
	struct arena a = {0};
	struct tool t;
	command_run *run = compat ? NULL : command_named(argv[1]);
	char help[] = "-h", *word[] = {argv[1], help, NULL};
	bool tool = !compat && tool_find(&a, what, &t);
	int rc = RC_OK;
	if (named && tool)
		printf("\n%s is a tool, too: sonde %s -h\n", argv[1], argv[1]);
	else if (!named && run && run != cmd_help)
		rc = run(2, word, false);
	else if (!named && tool)
		rc = tool_run(&t, 1, argv, 2, word, NULL);
	else if (!named)
		rc = no_help(&a, argv[1], compat);
	arena_free(&a);
	return rc;
}
