/* main.c - which command; without one, run. */
#include "cmd/cmd.h"

static int cmd_version(int argc, char **argv, bool compat)
{
	(void)argc, (void)argv;
	return version(compat);
}

static const struct {
	const char *name;
	command_run *run;
} commands[] = {
	{"run", cmd_run},   {"list", cmd_list},       {"info", cmd_info},
	{"help", cmd_help}, {"version", cmd_version},
};

int main(int argc, char **argv)
{
	const char *base = argc ? strrchr(argv[0], '/') : NULL;
	base = base ? base + 1 : argc ? argv[0] : "";
	bool compat = !strcmp(base, "bpftrace");
	for (size_t i = 0; !compat && argc > 1 && i < countof(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1, false);
	return cmd_run(argc, argv, compat);
}
