/*
 * merge.c - sonde merge FILE...: answers of several hosts, or of several runs, as one.
 *
 * When all files are open, rights are given up: nobody vouches for what they contain.
 */
#include "base/alloc.h"
#include "cmd/merging.h"
#include "rec/read.h"
#include "rights/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct files {
	struct merging m;
	struct rec_file **file;
	int *fd; /* of files that were not read yet; else -1 */
	u32 n;
};

void merging_allow_files(u32 n)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= n + 64ull)
		return;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l); /* open() reports it */
}

static struct err *open_files(struct files *f)
{
	merging_allow_files(f->n);
	for (u32 i = 0; i < f->n; i++) {
		f->fd[i] = open(f->m.o->rest[i], O_RDONLY | O_CLOEXEC);
		if (f->fd[i] < 0)
			return err_sys(errno, "open %s", f->m.o->rest[i]);
	}
	return NULL;
}

struct err *merging_confine(struct merging *m)
{
	u64 left;
	const struct output *out = &m->out;
	signal(SIGPIPE, SIG_IGN); /* write() reports it */
	tzset();                  /* while its files can be read */
	bool renames = out->fd >= 0 && out->choice.sink->whole;
	if (!host_has_seccomp())
		return NULL;
	struct err *e = renames ? NULL : confine_caps(0, &left);
	return e ? e : confine_calls(MAY_RECORD | (renames ? MAY_RENAME | MAY_WRITE : 0));
}

static struct err *read_files(struct files *f)
{
	struct err *e = NULL;
	for (u32 i = 0; i < f->n && !e; i++) {
		e = rec_open_fd(f->fd[i], f->m.o->rest[i], &f->file[i]);
		f->fd[i] = -1;
		if (!e && merge_bundled(f->file[i]).n)
			e = err_new("%s: the answer of a hub to an asker; sonde fleet -f answer "
				    "writes one to merge",
				    f->m.o->rest[i]);
		if (!e)
			e = merge_add(f->m.merge, f->file[i]);
	}
	return e ? e : merge_read(f->m.merge);
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
	AUTO_SB labels = {0};
	merge_put_labels(m->merge, &labels);
	const struct sink_fact v[] = {
		{STR("sonde"), STR(SONDE_VERSION)},
		{STR("script"), merge_script(m->merge)},
		{STR("arguments"), merge_arguments(m->merge)},
		{STR("what"), merge_what(m->merge)},
		{STR("hostname"), names_of_hosts(m)},
		{STR("boot"), merge_machine(m->merge)},
		{STR("by"), merge_by(m->merge)},
		{STR("labels of hosts"), arena_str(&m->a, sb_str(&labels))},
	};
	struct sink_fact *fact = arena_newn(&m->a, struct sink_fact, countof(v));
	for (u32 i = 0; i < countof(v); i++)
		fact[i] = (struct sink_fact){v[i].key, v[i].value};
	env->fact = fact;
	env->nfact = countof(v);
}

struct err *merging_put(struct merging *m)
{
	const struct diags none = {.arena = &m->a};
	const struct run_opts *o = m->o;
	const struct sink *sink = m->out.choice.sink;
	struct sink_env env = {
		.out = m->out.fd >= 0 ? m->out.fd : STDOUT_FILENO,
		.err = STDERR_FILENO,
		.buffering = o->view.buffering,
		.diags = &none,
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
	if (!e && m->last)
		e = sink->put(m->sink, m->last);
	struct err *late = sink->close(m->sink);
	if (!e)
		return late;
	err_free(late);
	return e;
}

struct err *merging_open(struct merging *m)
{
	struct err *e = output_prepare(m->o, &m->out);
	if (!e && m->out.choice.sink->keeps)
		e = err_new("-f %s: there are no events in answers", m->out.choice.sink->name);
	return e ? e : output_open(&m->out);
}

struct err *merging_close(struct merging *m, struct err *e)
{
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

void merging_free(struct merging *m)
{
	merge_free(m->merge);
	free(m->sink);
	arena_free(&m->a);
}

static struct err *merge_files(struct files *f)
{
	struct err *e = open_files(f);
	if (!e)
		e = merging_open(&f->m);
	if (e)
		return e;
	e = merging_confine(&f->m);
	if (!e)
		e = read_files(f);
	if (!e)
		e = merging_put(&f->m);
	return merging_close(&f->m, e);
}

static int merge(const struct run_opts *o)
{
	u32 n = (u32)o->nrest;
	struct files f = {.m = {.o = o, .out = {.fd = -1}}, .n = n};
	f.file = xcalloc(n, sizeof(*f.file));
	f.fd = xcalloc(n, sizeof(*f.fd));
	memset(f.fd, -1, n * sizeof(*f.fd));
	f.m.merge = merge_new(&(struct merge_spec){
		.by_host = o->by_host, .by_label = str_z(o->by_label), .partial = o->partial});
	struct err *e = merge_files(&f);
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	int rc = e || merge_is_partial(f.m.merge) ? RC_USAGE : RC_OK;
	err_free(e);
	for (u32 i = 0; i < n; i++) {
		rec_close(f.file[i]);
		if (f.fd[i] >= 0)
			close(f.fd[i]);
	}
	free(f.file);
	free(f.fd);
	merging_free(&f.m);
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
