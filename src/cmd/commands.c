/* commands.c - the words that may stand behind `sonde`; another is a canned tool, or a script for run. */
#include "cmd/cmd.h"

static int cmd_version(int argc, char **argv, bool compat)
{
	(void)argc, (void)argv;
	return version(compat);
}

static const struct {
	const char *name;
	command_run *run;
	const char *use; /* in the help; NULL: not there */
} commands[] = {
	{"run", cmd_run, NULL},
	{"query", cmd_query, "query FILE... [-e PROGRAM | SCRIPT | TOOL]"},
	{"list", cmd_list, "list [-v] [PATTERN]"},
	{"record", cmd_record, "record [-o FILE] PROBE... [-- CMD]"},
	{"report", cmd_report, "report FILE"},
	{"export", cmd_export, "export FILE --to FORMAT [-o FILE]"},
	{"import", cmd_import, "import FILE [-o FILE]"},
	{"check", cmd_check, "check FILE..."},
	{"info", cmd_info, "info"},
	{"tplist", cmd_tplist, NULL}, /* told as a tool */
	{"help", cmd_help, "help [NAME]"},
	{"tools", cmd_tools, "tools"},
	{"version", cmd_version, NULL},
};

command_run *command_named(const char *name)
{
	for (size_t i = 0; i < countof(commands); i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run;
	return NULL;
}

const char *command_use(const char *name)
{
	for (size_t i = 0; i < countof(commands); i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].use;
	return NULL;
}

const char *command_near(struct str name)
{
	const char *found = NULL;
	u32 least = name.n > 3 ? 3 : 2; /* one wrong letter of three, two of more */
	for (size_t i = 0; i < countof(commands); i++) {
		u32 d = str_distance(str_z(commands[i].name), name, least - 1);
		found = d < least ? commands[i].name : found;
		least = MIN(least, d);
	}
	return found;
}

void commands_help(FILE *f)
{
	for (size_t i = 0; i < countof(commands); i++)
		if (commands[i].use)
			fprintf(f, "%s, ", commands[i].use);
}
