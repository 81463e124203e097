/* toolcommand.c - what a tool does with a command behind "--", and the command as one text. */
#include "cmd/tool.h"
#include "proc/proc.h"
#include "tool/words.h"

const struct getopt_use *tool_names(const struct compile *c, const char *name)
{
	for (const struct getopt_use *u = c->getopts; u; u = u->next)
		if (u->common && str_is(u->name, name))
			return u;
	return NULL;
}

/* Its probes are of the beginning, of the end, and of what is there at that time. */
static bool looks_once(const struct compile *c)
{
	static const struct str once[] = {STR("begin"), STR("BEGIN"), STR("end"), STR("END"),
					  STR("iter:")};
	bool all = true;
	for (const struct node *n = c->tree->a; n; n = n->next)
		for (const struct node *p = n->kind == N_PROBE ? n->a : NULL; p; p = p->next) {
			bool is = false;
			for (size_t i = 0; i < countof(once); i++)
				is |= str_starts(p->name, once[i]);
			all &= is;
		}
	return all;
}

enum tool_runs tool_runs(const struct tool *t, const struct compile *c)
{
	const struct getopt_use *command = tool_names(c, "command");
	if (command)
		return command->operand ? TOOL_RUNS_OPERANDS : TOOL_RUNS_WATCHED;
	if (tool_names(c, "pid"))
		return TOOL_RUNS_WATCHED;
	return !tool_writer(t) && looks_once(c) ? TOOL_RUNS_NOTHING : TOOL_RUNS_ON_MACHINE;
}

/* Words of a command line as one text that is split like a shell's. */
const char *tool_command_text(struct arena *a, char **word, int n)
{
	AUTO_SB b = {0};
	for (int i = 0; i < n; i++) {
		sb_z(&b, i ? " '" : "'");
		for (const char *c = word[i]; *c; c++)
			*c == '\'' ? sb_z(&b, "'\\''") : sb_char(&b, *c);
		sb_char(&b, '\'');
	}
	return arena_strz(a, sb_str(&b));
}

const char *tool_command_behind(struct arena *a, int argc, char **argv)
{
	for (int i = 1; i + 1 < argc && strcmp(argv[i], "--") != 0; i++) {
		struct str rest = str_z(argv[i + 1]), word;
		bool asks = !strcmp(argv[i], "-c") || !strcmp(argv[i], "--cmd") ||
			    !strcmp(argv[i], "--exec");
		if (asks && str_cut(&rest, ' ', &word) && proc_which(a, arena_strz(a, word)))
			return argv[i + 1];
	}
	return NULL;
}
