/* tplist.c - `sonde tplist`: tracepoints and static probes, by the options of bcc's tool. */
#include "base/opt.h"
#include "cmd/cmd.h"

enum { TP_PID = 1, TP_LIB, TP_VERBOSE, TP_JSON, TP_CSV, TP_HELP };

static const struct opt options[] = {
	{"pid", 'p', "PID", "static probes of the files that the process has mapped", TP_PID},
	{"lib", 'l', "LIB", "static probes of this library or program", TP_LIB},
	{"verbose", 'v', NULL, "fields and arguments, too", TP_VERBOSE},
	{"json", 'j', NULL, "JSON, an object per line", TP_JSON},
	{"csv", 0, NULL, "comma-separated values", TP_CSV},
	{"help", 'h', NULL, "this text", TP_HELP},
	{0},
};

struct tplist {
	struct run_opts o;
	const char *lib;
};

static struct err *set(void *self, int id, const char *val)
{
	struct tplist *t = self;
	switch (id) {
	case TP_PID: return opts_set(&t->o, "pid", val);
	case TP_LIB: t->lib = val; break;
	case TP_VERBOSE: t->o.verbose = 1; break;
	case TP_JSON: t->o.output.format = "json"; break;
	case TP_CSV: t->o.output.format = "csv"; break;
	case TP_HELP: t->o.help = true; break;
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
	char *rest[64];
	int nrest = 0, ndash = 0, rc = RC_USAGE;
	struct err *e = argc < (int)countof(rest)
				? opt_parse(options, argc, argv, set, &t, rest, &nrest, &ndash)
				: err_new("too many words");
	if (!e && nrest > 1)
		e = err_new("what is '%s'? tplist takes one pattern", rest[1]);
	if (e) {
		rc = usage_error(compat, "%s", e->msg);
	} else if (t.o.help) {
		printf("tplist: tracepoints and static probes\n\nUSAGE:\n"
		       "    sonde tplist [-v] [-p PID | -l LIB] [CATEGORY:EVENT]\n\n"
		       "* stands for any text. sonde list knows all kinds of "
		       "probes.\n\nOPTIONS:\n");
		opt_help(options, stdout);
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
