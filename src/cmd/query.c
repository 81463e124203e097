/*
 * query.c - sonde query FILE... SCRIPT: a script, or a tool, over recordings.
 *
 * Its words become those of `sonde run`: a recording is an option there, so that tools and scripts
 * take the same way as over this machine.
 */
#include "run/query.h"
#include "base/alloc.h"
#include "base/units.h"
#include "cmd/tool.h"
#include "rec/format.h"
#include <fcntl.h>

/* By what the file begins with, whatever it is called. */
static bool is_recording(const char *path)
{
	char begin[sizeof(REC_MAGIC) - 1];
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 && read(fd, begin, sizeof(begin)) == sizeof(begin) &&
	       !memcmp(begin, REC_MAGIC, sizeof(begin));
}

static struct err *offset(const char *option, const char *val, u64 *ret)
{
	if (val && !units_time(str_z(val), ret))
		return err_new(
			"--%s needs a time after the start of the recording, with its unit, as "
			"in 30s or 500ms (got '%s')",
			option, val);
	return NULL;
}

/* "0-3,7" */
static struct err *cpus(const char *val, u64 *set)
{
	struct str rest = str_z(val), part, first;
	u64 from, to;
	while (str_cut(&rest, ',', &part)) {
		struct str last = part;
		str_cut(&last, '-', &first);
		bool range = last.s != NULL;
		if (!str_number(first, &from) || !str_number(range ? last : first, &to) ||
		    to < from || to >= QUERY_CPU_WORDS * 64)
			return err_new("--cpu needs numbers of CPUs, as in 0,2 or 4-7 (got '%s')",
				       val);
		for (; from <= to; from++)
			set[from / 64] |= 1ull << from % 64;
	}
	return NULL;
}

struct err *query_words(const struct run_opts *o, struct query_spec *s)
{
	struct err *e = offset("from", o->from, &s->from_ns);
	if (!e)
		e = offset("to", o->to, &s->to_ns);
	if (!e && o->to && s->to_ns <= s->from_ns)
		e = err_new("--to %s is not after --from", o->to);
	s->by_cpu = o->cpus;
	if (!e && o->cpus)
		e = cpus(o->cpus, s->cpu);
	if (!e && o->nasked > QUERY_MAX_PIDS)
		e = err_new("too many processes (%u at most)", QUERY_MAX_PIDS);
	for (u32 i = 0; i < o->nrecording; i++)
		s->path[s->npath++] = o->recording[i];
	s->follow = o->asked_follow;
	for (u32 i = 0; i < o->nasked && !e; i++)
		s->pid[s->npid++] = (u32)o->asked[i];
	return e;
}

/* What traces something has no meaning here. */
struct err *query_refuses(const struct run_opts *o)
{
	const char *what = o->target.cmd                               ? "a command"
			   : o->target.ncgroup || o->target.ncontainer ? "a control group"
			   : o->aot                                    ? "--aot"
			   : o->limits.budget || o->limits.cost        ? "what tracing costs"
								       : NULL;
	return what ? err_new("%s has no effect on 'query': it reads a recording of the past", what)
		    : NULL;
}

static bool lists(int argc, char **argv)
{
	bool list = false;
	for (int i = 1; i < argc; i++)
		list |= !strncmp(argv[i], "-l", 2) || !strcmp(argv[i], "--list");
	return list;
}

int take_recordings(struct arena *a, int argc, char **argv, char **word)
{
	int n = argc, found = 0, at;
	memcpy(word, argv, (size_t)argc * sizeof(*word));
	while ((at = opts_first_operand(n, word)) < n && is_recording(word[at])) {
		word[at] = arena_strz(a, str_z(arena_fmt(a, "--recording=%s", word[at])));
		found++;
	}
	return found;
}

int cmd_query(int argc, char **argv, bool compat)
{
	struct arena a = {0};
	char **word = arena_newn(&a, char *, (size_t)argc + 1);
	int found = take_recordings(&a, argc, argv, word), rc = RC_USAGE;
	int at = opts_first_operand(argc, word);
	bool help = false;
	for (int i = 1; i < at; i++)
		help |= !strcmp(word[i], "-h") || !strcmp(word[i], "--help");
	(void)compat;
	if (!found && !help && at < argc)
		fprintf(stderr, "ERROR: %s is not a recording of sonde\n", word[at]);
	else if (!found && !help)
		fputs("ERROR: query needs a recording: sonde query FILE.sonde -e 'PROGRAM'\n",
		      stderr);
	else if (at < argc && !lists(at, word))
		rc = run_operand(at, argc, word, NULL);
	else
		rc = cmd_run(argc, word, false);
	arena_free(&a);
	return rc;
}
