/* self.c - begin, end: run once by sonde itself. */
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
		return err_new("%.*s is not a supported trigger", STRF(t.v[0]));
	if (!str_is(t.v[1], "SIGUSR1"))
		return err_new("%.*s is not a supported signal", STRF(t.v[1]));
	return err_new("self:signal:SIGUSR1 is not supported yet");
}

const struct provider provider_begin = {
	.name = "begin",
	.syntax = "begin",
	.doc = "Once, before anything is attached.",
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.flags = PF_ONCE,
	.parse = once_parse,
};

const struct provider provider_end = {
	.name = "end",
	.syntax = "end",
	.doc = "Once, after everything was detached.",
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.flags = PF_ONCE,
	.parse = once_parse,
};

const struct provider provider_self = {
	.name = "self",
	.syntax = "self:signal:SIGUSR1",
	.doc = "When sonde receives the signal.",
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.flags = PF_ONCE,
	.parse = self_parse,
};
