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
	const char *use, *about; /* in the help; NULL if the command is not shown there */
} commands[] = {
	{"run", cmd_run, NULL, NULL},
	{"list", cmd_list, "list [-v] [PATTERN]", "list probes"},
	{"record", cmd_record, "record [-o FILE] PROBE... [-- CMD]", "record events into a file"},
	{"report", cmd_report, "report FILE", "print what a recording contains"},
	{"query", cmd_query, "query FILE... [-e PROGRAM | SCRIPT | TOOL]",
	 "run a script or a tool over recordings"},
	{"live", cmd_live, "live [FILE.sonde...] [-e PROGRAM | SCRIPT | TOOL] [+ ...]",
	 "watch scripts or tools on a screen"},
	{"top", cmd_top, "top [options]", "watch this machine on a screen"},
	{"export", cmd_export, "export FILE --to FORMAT [-o FILE]",
	 "convert a recording for other programs"},
	{"import", cmd_import, "import FILE [-o FILE]",
	 "make a recording of a trace.dat or perf.data"},
	{"merge", cmd_merge, "merge FILE...",
	 "merge answers (-f answer) of several hosts into one"},
	{"fleet", cmd_fleet, "fleet --hosts HOST,... [-e PROGRAM | SCRIPT | TOOL]",
	 "run a script or a tool on many hosts, and merge their answers"},
	{"fleet-host", cmd_fleet_host, NULL, NULL}, /* the other end of fleet */
	{"fleet-hub", cmd_fleet_hub, NULL, NULL},   /* started by a hub */
	{"serve", cmd_serve, "serve --metrics ADDR DIR", "serve the maps of scripts as metrics"},
	{"check", cmd_check, "check FILE|TOOL...",
	 "compile scripts or tools and print their errors"},
	{"info", cmd_info, "info", "print what this machine supports"},
	{"tplist", cmd_tplist, NULL, NULL}, /* is among the tools */
	{"help", cmd_help, "help [NAME]",
	 "explain a function, variable, probe type, command or tool"},
	{"tools", cmd_tools, "tools [WORD | -s NAME]", "list tools, or print the script of one"},
	{"version", cmd_version, NULL, NULL},
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
			fprintf(f, "    %-44s  %s\n", commands[i].use, commands[i].about);
}
