/* info.c - version; help on the language, from the tables. */
#include "cmd/cmd.h"
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
	for (u32 i = 0; name.n && probe_kinds[i]; i++) {
		const struct kind *p = probe_kinds[i];
		if (kind_find(name) != p)
			continue;
		printf("%s\n    %s\n", p->syntax ? p->syntax : p->name, p->doc ? p->doc : "");
		found = true;
	}
	return found;
}

int cmd_help(int argc, char **argv, bool compat)
{
	if (argc < 2) {
		usage(stdout, compat, true);
		printf("\nMORE HELP:\n    sonde help NAME       a function, variable or kind of "
		       "probe\n"
		       "    sonde help functions  all functions and variables\n"
		       "    sonde help probes     all kinds of probes\n"
		       "    sonde help outputs    all output formats\n");
		return RC_OK;
	}
	struct str what = str_z(argv[1]);
	if (str_is(what, "functions"))
		return help_name((struct str){0}) ? RC_OK : RC_USAGE;
	if (str_is(what, "probes")) {
		for (u32 i = 0; probe_kinds[i]; i++)
			printf("%s\n    %s\n",
			       probe_kinds[i]->syntax ? probe_kinds[i]->syntax
						      : probe_kinds[i]->name,
			       probe_kinds[i]->doc ? probe_kinds[i]->doc : "");
		return RC_OK;
	}
	if (str_is(what, "outputs")) {
		output_help();
		return RC_OK;
	}
	if (help_name(what))
		return RC_OK;
	fprintf(stderr, "ERROR: no function, variable or probe is named '%s'\n", argv[1]);
	return RC_USAGE;
}
