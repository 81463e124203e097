/* tplist.c - `sonde tplist`: tracepoints and static probes, by the options of bcc's tool. */
#include "cmd/cmd.h"

struct tplist {
	struct run_opts o;
	const char *lib;
};

static struct err *set(void *self, int id, const char *val)
{
	struct tplist *t = self;
	switch ((enum option_id)id) {
	case OPT_PID: return opts_set(&t->o, "pid", val);
	case OPT_LIB: t->lib = val; break;
	case OPT_VERBOSE: t->o.verbose = 1; break;
	case OPT_JSON: t->o.output.format = "json"; break;
	case OPT_CSV: t->o.output.format = "csv"; break;
	case OPT_HELP: t->o.help = true; break;
	default: assert(!"an option of tplist");
	}
	return NULL;
}

/* "usdt:libc:*" */
static char *pattern(struct arena *a, const struct tplist *t, const char *filter)
{
	const char *star = filter && strchr(filter, ':') ? "" : filter ? "*" : "";
	if (t->lib)
		return arena_fmt(a, "usdt:%s:%s", t->lib, filter ? filter : "*");
	if (t->o.target.npid)
		return arena_fmt(a, "usdt:*:%s", filter ? filter : "*");
	return arena_fmt(a, "tracepoint:%s%s%s", filter ? filter : "*", *star ? ":" : "",
			 filter ? star : ":*");
}

int cmd_tplist(int argc, char **argv, bool compat)
{
	struct arena a = {0};
	struct tplist t = {.o = {.list = true, .bare = true}};
	struct option_table table;
	char *rest[64];
	int nrest = 0, ndash = 0, rc = RC_USAGE;
	options_of(in(CMD_TPLIST), &table);
	struct err *e = argc < (int)countof(rest)
				? opt_parse(table.row, argc, argv, set, &t, rest, &nrest, &ndash)
				: err_new("too many words");
	if (!e && nrest > 1)
		e = err_new("what is '%s'? tplist takes one pattern", rest[1]);
	if (e) {
		rc = usage_error(compat, "%s", e->msg);
	} else if (t.o.help) {
		printf("tplist: List tracepoints and static probes\n\nUSAGE:\n    sonde tplist "
		       "[-v] [-p PID | -l LIB] [CATEGORY:EVENT]\n\n* matches any text. sonde list "
		       "shows all types of probes.\n");
		options_help(table.row, stdout);
		printf("\nEXAMPLES:\n    sonde tplist -v 'block:*'\n    sonde tplist -l c\n");
		rc = RC_OK;
	} else {
		if (t.lib && !strchr(t.lib, '/') && !strstr(t.lib, ".so") &&
		    strncmp(t.lib, "lib", 3))
			t.lib = arena_fmt(&a, "lib%s", t.lib);
		t.o.rest = rest;
		rest[0] = pattern(&a, &t, nrest ? rest[0] : NULL);
		t.o.nrest = 1;
		rc = list(&t.o);
	}
	err_free(e);
	arena_free(&a);
	return rc;
}
