/* info.c - version; help on the language, from the tables. */
#include "cmd/cmd.h"
#include "core/sink.h"

int version(bool compat)
{
	if (compat)
		printf("bpftrace v%s (sonde %s)\n", COMPAT_VERSION, SONDE_VERSION);
	else
		printf("sonde %s\n", SONDE_VERSION);
	return RC_OK;
}

int cmd_info(int argc, char **argv, bool compat)
{
	struct run_opts o = {.compat = compat};
	struct err *e = opts_parse(&o, argc, argv);
	int rc = e ? usage_error(compat, "%s", e->msg) : info(&o);
	err_free(e);
	free(o.rest);
	return rc;
}

/* Name in a signature "RESULT NAME(...)" or "RESULT NAME". */
static struct str sig_name(const char *sig)
{
	struct str s = str_z(sig), name = {0};
	i32 paren = str_chr(s, '(');
	if (paren >= 0)
		s.n = (u32)paren;
	while (str_cut(&s, ' ', &name))
		;
	return name;
}

static bool help_name(struct str name)
{
	bool found = false;
	for (u32 t = 0; builtin_tables[t]; t++) {
		for (const struct builtin *b = builtin_tables[t]; b->sig; b++) {
			if (name.n && !str_eq(sig_name(b->sig), name))
				continue;
			if (!name.n && ((b->flags & B_OLD) || !b->doc))
				continue;
			printf("%s\n    %s\n", b->sig, b->doc ? b->doc : "");
			found = true;
		}
	}
	for (u32 i = 0; name.n && providers[i]; i++) {
		const struct provider *p = providers[i];
		if (provider_find(name) != p)
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
		for (u32 i = 0; providers[i]; i++)
			printf("%s\n    %s\n",
			       providers[i]->syntax ? providers[i]->syntax : providers[i]->name,
			       providers[i]->doc ? providers[i]->doc : "");
		return RC_OK;
	}
	if (str_is(what, "outputs")) {
		for (const struct sink *const *s = sinks; *s; s++)
			printf("%-10s %s\n", (*s)->name, (*s)->doc ? (*s)->doc : "");
		return RC_OK;
	}
	if (help_name(what))
		return RC_OK;
	fprintf(stderr, "ERROR: no function, variable or probe is named '%s'\n", argv[1]);
	return RC_USAGE;
}
