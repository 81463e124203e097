/*
 * answer.c - what is printed as a file that sonde merge reads, alone or with those of other hosts.
 *
 * Messages go to the error stream, too: whoever runs the script reads them there, unless option "alone" says otherwise.
 */
#include "answer/answer.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "rec/pack.h"
#include "sink/out.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct answer {
	struct answer_out to;
	struct out remarks; /* nothing is written to it but remarks */
	bool alone;         /* not even these */
};

static void put_facts(struct answer *a, const struct sink_env *env)
{
	rec_meta(a->to.w, STR("answer"), STR("1"));
	for (u32 i = 0; i < env->nfact; i++)
		rec_meta(a->to.w, env->fact[i].key, env->fact[i].value);
}

/* Of probes that were not found before anything was attached. ds: NULL if nothing was compiled. */
static void put_lacks(struct answer *a, const struct diags *ds)
{
	for (const struct diag *d = ds ? ds->head : NULL; d; d = d->next) {
		if (d->code != W_NO_PROBE || !str_starts(str_z(d->msg), STR("No matches for ")) ||
		    d->loc.src >= ds->nsource)
			continue;
		struct str text = ds->source[d->loc.src].text;
		if (d->loc.pos + d->loc.len <= text.n)
			answer_put_lack(&a->to, str_n(text.s + d->loc.pos, d->loc.len));
	}
}

enum option { OPT_CODEC, OPT_ALONE };
static const struct sink_option options[] = {
	[OPT_CODEC] = {"codec", "NAME", "how the file is compressed: zstd, zlib or none"},
	[OPT_ALONE] = {"alone", NULL, "messages are in the file, and not printed"},
	{0},
};

static struct err *answer_open(void *self, const struct sink_env *env, const struct str *opts)
{
	struct answer *a = self;
	const char *name = env->path ? env->path : "standard output";
	struct rec_start s = {
		.real = clock_ns(CLOCK_REALTIME), .mono = now_ns(), .ncpu = env->ncpu};
	if (!rec_codec_named(opts[OPT_CODEC], &s.codec))
		return err_new("codec=%.*s: it is none of those that this sonde has: %s",
			       STRF(opts[OPT_CODEC]),
			       rec_has_codec(CODEC_ZSTD) ? "zstd, zlib, none" : "zlib, none");
	if (isatty(env->out))
		return err_new("an answer is not for terminals: -o FILE");
	int fd = fcntl(env->out, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(errno, "open %s", name);
	struct err *e = rec_create_fd(fd, name, &s, &a->to.w);
	if (e)
		return e;
	a->alone = opts[OPT_ALONE].s;
	a->to.env = *env;
	a->to.env.buffering = 'f';
	out_init(&a->remarks, &a->to.env);
	put_facts(a, env);
	e = rec_begin(a->to.w);
	if (!e)
		put_lacks(a, env->diags);
	return e;
}

static struct err *answer_sink_put(void *self, const struct item *it)
{
	struct answer *a = self;
	bool remark = it->kind == I_LOST || it->kind == I_ERROR ||
		      (it->kind == I_COST && it->str.n) || it->kind == I_FLEET ||
		      (it->kind == I_STATUS && !a->to.env.quiet);
	if (remark && !a->alone)
		out_remark(&a->remarks, &a->to.env, it);
	return answer_put(&a->to, it);
}

static struct err *answer_close(void *self)
{
	struct answer *a = self;
	bool stopped = a->to.env.signals && a->to.env.signals->stop_ns;
	struct err *e = rec_tick(a->to.w, ~0ull);
	struct err *late = out_close(&a->remarks);
	answer_out_free(&a->to);
	if (e)
		rec_abandon(a->to.w);
	else
		e = rec_finish(a->to.w, stopped ? END_SIGNAL : END_DONE,
			       stopped ? STR("stopped by a signal") : STR("done"), NULL);
	if (!e)
		return late;
	err_free(late);
	return e;
}

const struct sink sink_answer = {
	.name = "answer",
	.doc = "file for sonde merge: maps, tables and texts, to be merged with those of other "
	       "hosts",
	.whole = true,
	.answers = true,
	.size = sizeof(struct answer),
	.options = options,
	.open = answer_open,
	.put = answer_sink_put,
	.close = answer_close,
};
