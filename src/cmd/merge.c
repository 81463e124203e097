/*
 * merge.c - sonde merge FILE...: answers of several hosts, or of several runs, as one.
 *
 * When all files are open, rights are given up: nobody vouches for what they contain.
 */
#include "answer/merge.h"
#include "base/alloc.h"
#include "cmd/cmd.h"
#include "kern/confine.h"
#include "rec/read.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct merging {
	const struct run_opts *o;
	struct arena a;
	struct output out;
	struct rec_file **file;
	int *fd; /* of files that were not read yet; else -1 */
	u32 n;
	struct merge *merge;
	void *sink; /* state of the output */
};

/* As many files as there may be, and a few of our own. */
static void allow_files(u32 n)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= n + 64ull)
		return;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l); /* open() reports it */
}

static struct err *open_files(struct merging *m)
{
	allow_files(m->n);
	for (u32 i = 0; i < m->n; i++) {
		m->fd[i] = open(m->o->rest[i], O_RDONLY | O_CLOEXEC);
		if (m->fd[i] < 0)
			return err_sys(errno, "open %s", m->o->rest[i]);
	}
	return NULL;
}

static struct err *confine(const struct output *out)
{
	u64 left;
	bool renames = out->fd >= 0 && out->choice.sink->whole;
	if (!confine_able())
		return NULL;
	struct err *e = renames ? NULL : confine_caps(0, &left);
	return e ? e : confine_calls(MAY_RECORD | (renames ? MAY_RENAME | MAY_WRITE : 0));
}

static struct err *read_files(struct merging *m)
{
	struct err *e = NULL;
	for (u32 i = 0; i < m->n && !e; i++) {
		e = rec_open_fd(m->fd[i], m->o->rest[i], &m->file[i]);
		m->fd[i] = -1;
		if (!e)
			e = merge_add(m->merge, m->file[i]);
	}
	return e ? e : merge_read(m->merge);
}

/* ---- output ---- */

static struct str visible(struct merging *m, struct str s)
{
	AUTO_SB b = {0};
	sb_visible(&b, s);
	return arena_str(&m->a, sb_str(&b));
}

/* "web1, web2"; of more than a few how many there are. */
static struct str names_of_hosts(struct merging *m)
{
	enum { FEW = 4 };
	AUTO_SB b = {0};
	u32 n = merge_hosts(m->merge);
	for (u32 i = 0; i < n && n <= FEW; i++)
		sb_fmt(&b, "%s%.*s", i ? ", " : "", STRF(merge_host(m->merge, i)));
	if (n > FEW)
		sb_fmt(&b, "%u hosts", n);
	return arena_str(&m->a, sb_str(&b));
}

/* What the merged answer says of itself, for -f answer. */
static void set_facts(struct merging *m, struct sink_env *env)
{
	const struct sink_fact v[] = {
		{STR("sonde"), STR(SONDE_VERSION)},
		{STR("script"), merge_script(m->merge)},
		{STR("arguments"), merge_arguments(m->merge)},
		{STR("what"), merge_what(m->merge)},
		{STR("hostname"), names_of_hosts(m)},
		{STR("boot"), merge_machine(m->merge)},
	};
	struct sink_fact *fact = arena_newn(&m->a, struct sink_fact, countof(v));
	for (u32 i = 0; i < countof(v); i++)
		fact[i] = (struct sink_fact){v[i].key, v[i].value};
	env->fact = fact;
	env->nfact = countof(v);
}

static struct err *put(struct merging *m, const struct diags *ds)
{
	const struct run_opts *o = m->o;
	const struct sink *sink = m->out.choice.sink;
	struct sink_env env = {
		.out = m->out.fd >= 0 ? m->out.fd : STDOUT_FILENO,
		.err = STDERR_FILENO,
		.buffering = o->view.buffering,
		.diags = ds,
		.quiet = o->view.quiet,
		.what = visible(m, merge_what(m->merge)),
		.where = names_of_hosts(m),
		.path = m->out.path,
	};
	env.how = (struct show){STR(".."), escaped(o, env.out)};
	env.how_remarks = (struct show){STR(".."), escaped(o, env.err)};
	if (sink->answers)
		set_facts(m, &env);
	m->sink = xcalloc(1, sink->size + 1);
	struct err *e = sink->open(m->sink, &env, m->out.choice.opts);
	if (e)
		return e;
	e = merge_put(m->merge, sink, m->sink, &env.how);
	struct err *late = sink->close(m->sink);
	if (!e)
		return late;
	err_free(late);
	return e;
}

static struct err *open_output(struct merging *m)
{
	struct err *e = output_prepare(m->o, &m->out);
	if (!e && m->out.choice.sink->keeps)
		e = err_new("-f %s: there are no events in answers", m->out.choice.sink->name);
	return e ? e : output_open(&m->out);
}

static struct err *merge_files(struct merging *m)
{
	struct diags none = {.arena = &m->a};
	struct err *e = open_files(m);
	if (!e)
		e = open_output(m);
	if (e)
		return e;
	signal(SIGPIPE, SIG_IGN); /* write() reports it */
	tzset();                  /* while its files can be read */
	e = confine(&m->out);
	if (!e)
		e = read_files(m);
	if (!e)
		e = put(m, &none);
	struct err *late = output_close(&m->out, !e);
	if (e && e->no == EPIPE) { /* nobody reads any more: "| head" */
		err_free(e);
		e = NULL;
	}
	if (!e)
		return late;
	err_free(late);
	return e;
}

static int merge(const struct run_opts *o)
{
	u32 n = (u32)o->nrest;
	struct merging m = {.o = o, .n = n, .out = {.fd = -1}};
	m.file = xcalloc(n, sizeof(*m.file));
	m.fd = xcalloc(n, sizeof(*m.fd));
	memset(m.fd, -1, n * sizeof(*m.fd));
	m.merge = merge_new(&(struct merge_spec){.by_host = o->by_host, .partial = o->partial});
	struct err *e = merge_files(&m);
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	int rc = e || merge_is_partial(m.merge) ? RC_USAGE : RC_OK;
	err_free(e);
	for (u32 i = 0; i < n; i++) {
		rec_close(m.file[i]);
		if (m.fd[i] >= 0)
			close(m.fd[i]);
	}
	merge_free(m.merge);
	free(m.sink);
	free(m.file);
	free(m.fd);
	arena_free(&m.a);
	return rc;
}

int cmd_merge(int argc, char **argv, bool compat)
{
	struct run_opts o = {0};
	int rc = RC_OK;
	(void)compat;
	struct err *e = opts_parse(&o, argc, argv);
	if (!e && !o.help)
		e = opts_check(&o, CMD_MERGE, "merge");
	if (!e && !o.help && !o.nrest && !(o.output.format && !strcmp(o.output.format, "help")))
		e = err_new("merge needs answers: sonde merge FILE...");
	if (e) {
		fprintf(stderr, "ERROR: %s\nUSAGE:\n    sonde %s\n", e->msg, command_use("merge"));
		rc = RC_USAGE;
	} else if (o.help) {
		opts_usage(stdout, CMD_MERGE, command_use("merge"));
	} else if (o.output.format && !strcmp(o.output.format, "help")) {
		output_help();
	} else {
		rc = merge(&o);
	}
	err_free(e);
	free(o.rest);
	return rc;
}
