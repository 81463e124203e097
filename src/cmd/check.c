/* check.c - `sonde check`: are scripts right for this machine? Nothing is loaded or run. */
#include "base/alloc.h"
#include "cmd/tool.h"
#include <stdlib.h>
#include <unistd.h>

/* All its messages; ours when there were none: a line per file. */
static int check_one(const struct run_opts *o, struct host *h, char *path)
{
	struct arena a = {0};
	struct script script = {0}, canned;
	struct tool tool;
	struct run_opts one = *o;
	char *operand[] = {path, NULL};
	int rc = RC_USAGE;
	one.rest = operand;
	one.nrest = 1;
	one.compile.check_ir = true;
	if (!o->compat && access(path, F_OK) && tool_find(&a, str_z(path), &tool)) {
		canned = (struct script){.source = {tool.file, tool.text}};
		one.tool = &canned;
	}
	if (script_read(&one, &a, &script)) {
		struct job j;
		job_prepare(&j, &one, &script, h);
		bool right = compile_script(&j.c, STAGE_ALL, NULL);
		rc = right ? RC_OK : RC_USAGE;
		if (right && !o->view.quiet)
			printf("%s: %u program%s\n", path, j.unit.nprog,
			       j.unit.nprog == 1 ? "" : "s");
		job_report(&j);
		job_free(&j);
	}
	arena_free(&a);
	return rc;
}

static int check_all(const struct run_opts *o)
{
	int rc = RC_OK;
	for (int i = 0; i < o->nrest; i++) {
		struct arena a = {0};
		struct host h;
		/* Each as if it were alone. */
		int one = host_prepare(&h, &a, o) ? check_one(o, &h, o->rest[i]) : RC_USAGE;
		host_deinit(&h);
		arena_free(&a);
		rc = MAX(rc, one);
	}
	return rc;
}

int cmd_check(int argc, char **argv, bool compat)
{
	struct run_opts o = {.compat = compat, .compile.unsafe = true};
	struct err *e = opts_parse(&o, argc, argv);
	if (!e && !o.help && !o.version)
		e = opts_check(&o, CMD_LIST, "check");
	int rc = RC_OK;
	if (e)
		rc = usage_error(compat, "%s", e->msg);
	else if (o.help)
		opts_usage(stdout, CMD_LIST, "check FILE|TOOL...");
	else if (o.version)
		rc = version(compat);
	else if (!o.nrest)
		rc = usage_error(compat, "USAGE: sonde check [options] FILE|TOOL...");
	else
		rc = check_all(&o);
	err_free(e);
	free(o.rest);
	return rc;
}
