/* self.c - begin, end, self, test, bench: run by sonde itself. */
#include "probe/common.h"

static struct err *once_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	(void)a;
	if (t.n)
		return parts_err(p, "0 arguments", t.n);
	p->text = str_z(p->provider->name);
	return NULL;
}

static struct err *self_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	(void)a;
	if (t.n != 2)
		return parts_err(p, "2 arguments", t.n);
	if (!str_is(t.v[0], "signal"))
		return err_new("%.*s is not a supported trigger: use signal",
			       STRF(part_shown(t.v[0])));
	if (!str_is(t.v[1], "SIGUSR1"))
		return err_new("%.*s is not a supported signal: use SIGUSR1",
			       STRF(part_shown(t.v[1])));
	p->text = STR("self:signal:SIGUSR1");
	return NULL;
}

static struct err *named_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n != 1)
		return parts_err(p, "1 argument", t.n);
	p->name = arena_str(a, t.v[0]);
	p->text = probe_text(a, p->provider->name, p->name, STR(""), STR(""));
	return NULL;
}

const struct provider provider_begin = {
	.name = "begin",
	.syntax = "begin",
	.doc = "Once, before anything is attached.",
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.flags = PF_ONCE,
	.phase = PROG_BEGIN,
	.parse = once_parse,
};

const struct provider provider_end = {
	.name = "end",
	.syntax = "end",
	.doc = "Once, after everything was detached.",
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.flags = PF_ONCE,
	.phase = PROG_END,
	.parse = once_parse,
};

const struct provider provider_self = {
	.name = "self",
	.syntax = "self:signal:SIGUSR1",
	.doc = "When sonde receives the signal.",
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.flags = PF_ONCE,
	.phase = PROG_SIGNAL,
	.parse = self_parse,
};

const struct provider provider_test = {
	.name = "test",
	.syntax = "test:name",
	.doc = "Only with --test: fails when it returns something else than 0, by errorf and by "
	       "exit(1).",
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.flags = PF_ONCE,
	.phase = PROG_TEST,
	.parse = named_parse,
};

const struct provider provider_bench = {
	.name = "bench",
	.syntax = "bench:name",
	.doc = "Only with --bench: run many times, the average time is told.",
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.flags = PF_ONCE,
	.phase = PROG_BENCH,
	.parse = named_parse,
};
