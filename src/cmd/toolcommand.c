/* toolcommand.c - what a tool does with a command behind "--", and the command as one text. */
#include "base/file.h"
#include "cmd/tool.h"
#include "proc/proc.h"
#include "tool/words.h"
#include <fcntl.h>

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

/* What a script's first line names: "#!/usr/bin/env python3" is python3 of $PATH; else NULL, with *elf set for a program. */
static const char *named_by_script(struct arena *a, const char *path, bool *elf)
{
	enum { LINE = 256 };
	AUTO_SB b = {0};
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read(fd, LINE, &b))
		return NULL;
	struct str rest = sb_str(&b), line, word;
	*elf = str_starts(rest, STR("\x7f"
				    "ELF"));
	if (!str_starts(rest, STR("#!")))
		return NULL;
	rest = str_from(rest, 2);
	str_cut(&rest, '\n', &line);
	line = str_trim(line);
	str_cut(&line, ' ', &word);
	if (str_ends(word, STR("/env")))
		str_cut(&line, ' ', &word);
	return proc_which(a, arena_strz(a, word));
}

/* "python3.11" is a python, as "python3" is: the same letters. */
static bool same_language(const char *path, struct str word)
{
	const char *slash = strrchr(path, '/');
	struct str name = str_z(slash ? slash + 1 : path);
	u32 n = 0;
	while (n < word.n && word.s[n] >= 'a' && word.s[n] <= 'z')
		n++;
	return n && str_starts(name, str_n(word.s, n));
}

const char *tool_interpreter(struct arena *a, const char *command, struct str word)
{
	enum { MOST = 4 }; /* scripts that name scripts */
	const char *path = proc_which(a, command);
	bool elf = false;
	for (u32 i = 0; i < MOST && path && !elf; i++) {
		const char *named = named_by_script(a, path, &elf);
		path = elf ? path : named;
	}
	return path && elf && same_language(path, word) ? path : NULL;
}
