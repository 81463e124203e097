/*
 * toolfile.c - sonde FILE [options]: a script that declares options is a tool like those of the
 * binary. One with positional parameters is not: what stands behind it is theirs.
 */
#include "cmd/tool.h"
#include "sema/sema.h"
#include "source/source.h"
#include <sys/stat.h>

/* "$1", "$#", wherever: in the text of probes, too. */
static bool has_params(struct str text)
{
	for (u32 i = 0; i + 1 < text.n; i++)
		if (text.s[i] == '$' &&
		    (text.s[i + 1] == '#' || (text.s[i + 1] >= '1' && text.s[i + 1] <= '9')))
			return true;
	return false;
}

/* The file's own, or those of what it imports. Mistakes are told when it runs. */
static bool declares_options(struct arena *a, const struct script *s)
{
	const struct run_opts o = {0};
	struct host h;
	struct job j;
	bool any = false;
	host_init(&h, a, "");
	job_prepare(&j, &o, s, &h);
	compile_parse(&j.c);
	if (!j.diags.nerror && source_import(&j.c))
		for (const struct node *n = j.c.tree->a; n; n = n->next)
			any |= n->kind == N_OPTIONS;
	job_free(&j);
	host_deinit(&h);
	return any;
}

/* -l, --fmt and the like are about the file. Who asks an agent sends the text, and names no file of the host. */
static bool head_runs(bool sent, int nhead, char **head)
{
	struct run_opts o = {0};
	struct err *e = opts_parse(&o, nhead, head);
	bool runs = !e && !o.list && !o.fmt && !o.info && !o.help && !o.version && !o.program &&
		    (sent || !o.guest);
	err_free(e);
	free(o.rest);
	return runs;
}

bool tool_from_file(struct arena *a, int at, char **argv, const struct str *given, struct tool *ret)
{
	struct stat st;
	struct script s = {.source = {.name = str_z(argv[at])}};
	if ((!given && (stat(argv[at], &st) || !S_ISREG(st.st_mode))) ||
	    !head_runs(given, at, argv))
		return false;
	struct err *e = given ? NULL : script_file(a, argv[at], &s.source.text);
	s.source.text = given ? *given : s.source.text;
	struct str text = s.source.text;
	bool may =
		!e && (str_find(text, STR("options")) >= 0 || str_find(text, STR("import")) >= 0);
	err_free(e);
	if (!may || has_params(text) || !declares_options(a, &s))
		return false;
	*ret = (struct tool){.text = text, .file = s.source.name};
	tool_read_comment(a, ret);
	ret->name = ret->file;
	return true;
}
