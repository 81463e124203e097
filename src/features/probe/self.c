/* self.c - begin, end, self, test, bench: run by sonde itself. */
#include "probe/common.h"

static struct err *once_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	(void)a;
	if (t.n)
		return parts_err(p, "0 arguments", t.n);
	p->text = str_z(p->type->name);
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
	p->text = probe_text(a, p->type->name, p->name, STR(""), STR(""));
	return NULL;
}

static const struct method method_begin = {
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.phase = PROG_BEGIN,
};

const struct probe_type probe_begin = {
	.name = "begin",
	.syntax = "begin",
	.doc = "Once, before anything is attached.",
	.flags = PROBE_ONCE,
	.parse = once_parse,
	.methods = (const struct method *const[]){&method_begin, NULL},
};

static const struct method method_end = {
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.phase = PROG_END,
};

const struct probe_type probe_end = {
	.name = "end",
	.syntax = "end",
	.doc = "Once, after everything was detached.",
	.flags = PROBE_ONCE,
	.parse = once_parse,
	.methods = (const struct method *const[]){&method_end, NULL},
};

static const struct method method_self = {
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.phase = PROG_SIGNAL,
};

const struct probe_type probe_self = {
	.name = "self",
	.syntax = "self:signal:SIGUSR1",
	.doc = "When sonde receives the signal.",
	.flags = PROBE_ONCE,
	.parse = self_parse,
	.methods = (const struct method *const[]){&method_self, NULL},
};

static const struct method method_test = {
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.phase = PROG_TEST,
};

const struct probe_type probe_test = {
	.name = "test",
	.syntax = "test:name",
	.doc = "Only with --test: fails when it returns something else than 0, by errorf and by "
	       "exit(1).",
	.flags = PROBE_ONCE,
	.parse = named_parse,
	.methods = (const struct method *const[]){&method_test, NULL},
};

static const struct method method_bench = {
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.phase = PROG_BENCH,
};

const struct probe_type probe_bench = {
	.name = "bench",
	.syntax = "bench:name",
	.doc = "Only with --bench: prints the average time of many runs.",
	.flags = PROBE_ONCE,
	.parse = named_parse,
	.methods = (const struct method *const[]){&method_bench, NULL},
};
