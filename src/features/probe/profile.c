/* profile.c - profile (every CPU) and interval (one CPU): timers on the CPU clock. */
#include "base/units.h"
#include "probe/common.h"

enum { MIN_PERIOD_NS = 1000, NS_PER_S = 1000000000 };

static const char *const units[] = {"hz", "ms", "s", "us"}; /* hz: times per second */

static struct err *too_short(const struct point *p)
{
	return err_new("Invalid rate of %s probe. Minimum is 1000 or 1us. Found: %llu nanoseconds",
		       p->type->name, p->period);
}

/* period: nanoseconds, or times per second when extra is hz. */
static struct err *parse_rate(struct point *p, struct str unit, struct str count)
{
	u64 n;
	const char *kind = p->type->name;
	for (u32 i = 0; i < countof(units); i++) {
		if (!str_is(unit, units[i]))
			continue;
		if (!str_count(count, &n))
			return err_new("Invalid rate of %s probe: invalid integer: %.*s", kind,
				       STRF(part_shown(count)));
		if (!n)
			return err_new("Invalid rate of %s probe: it must be at least 1", kind);
		u64 ns = units_scale(unit);
		if (ns && n > INT64_MAX / ns)
			return err_new("Invalid rate of %s probe: %llu %s is too long", kind, n,
				       units[i]);
		p->extra = str_z(units[i]);
		p->period = ns ? n * ns : n;
		return NULL;
	}
	return err_new("%.*s is not a unit of %s probes: use hz, s, ms or us",
		       STRF(part_shown(unit)), kind);
}

static struct err *timer_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	const char *kind = p->type->name;
	struct err *e = NULL;
	if (t.n != 1 && t.n != 2)
		return parts_err(p, "1 or 2 arguments", t.n);
	if (str_is(t.v[0], "*") || (t.n == 2 && str_is(t.v[1], "*"))) { /* only lists ask that */
		p->extra = arena_str(a, t.v[0]);
		p->name = STR("*");
	} else if (t.n == 2) {
		e = parse_rate(p, t.v[0], t.v[1]);
	} else if (!units_ns(t.v[0], &p->period)) {
		e = err_new("Invalid rate of %s probe: invalid duration: %.*s", kind,
			    STRF(part_shown(t.v[0])));
	} else if (p->period < MIN_PERIOD_NS) {
		e = too_short(p);
	}
	p->text = probe_text(a, kind, arena_str(a, text), STR(""), STR(""));
	return e;
}

static struct err *timer_expand(struct host *h, struct unit *u, struct diags *ds,
				const struct point *p, point_cb *cb, void *arg)
{
	(void)u, (void)ds;
	struct arena *a = h->arena;
	if (!str_is(p->name, "*")) {
		cb(p, arg);
		return NULL;
	}
	for (u32 i = 0; i < countof(units); i++) {
		if (p->extra.n && !str_glob(p->extra, str_z(units[i])))
			continue;
		struct point q = *p;
		q.name = STR("");
		q.extra = str_z(units[i]);
		q.period = MAX(units_scale(q.extra), 1ull);
		q.text = str_z(arena_fmt(a, "%s:%s:", p->type->name, units[i]));
		if (!cb(&q, arg))
			break;
	}
	return NULL;
}

static u64 timer_rate(const struct point *p)
{
	return str_is(p->extra, "hz") ? p->period : NS_PER_S / MAX(p->period, 1ull) + 1;
}

static struct perf_spec timer(const struct point *p)
{
	return (struct perf_spec){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.period = p->period,
		.freq = str_is(p->extra, "hz"),
		.pid = -1,
	};
}

static struct err *profile_one(struct host *h, struct unit *u, struct attach *a,
			       const struct point *p)
{
	struct unit all = *u;
	all.scope.npid = 0; /* a process is a filter in the program: that covers all its threads */
	struct perf_spec s = timer(p);
	return perf_start_all(h, &all, &s, a);
}

static struct err *profile_attach(struct host *h, struct unit *u, struct attach *a)
{
	return attach_points(h, u, a, profile_one);
}

static struct err *interval_one(struct host *h, struct unit *u, struct attach *a,
				const struct point *p)
{
	(void)u;
	u32 *cpus, n;
	struct perf_spec s = timer(p);
	struct err *e = host_online(h, &cpus, &n);
	if (e)
		return e;
	s.cpu = (int)cpus[0];
	return perf_start(&s, a);
}

static struct err *interval_attach(struct host *h, struct unit *u, struct attach *a)
{
	return attach_points(h, u, a, interval_one);
}

static struct err *timer_able(struct host *h)
{
	(void)h;
	return perf_able(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0);
}

static const struct method method_profile = {
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.flags = METHOD_REGS | METHOD_EVENT,
	.attach = profile_attach,
	.rate = timer_rate,
};

const struct probe_type probe_profile = {
	.name = "profile",
	.alias = {"p"},
	.syntax = "profile:(hz|s|ms|us):count, profile:10ms",
	.doc = "Fires on every CPU, at a frequency (Hz) or once per period.",
	.able = timer_able,
	.flags = PROBE_PIDFILTER | PROBE_STACKS | PROBE_FIRST,
	.parse = timer_parse,
	.expand = timer_expand,
	.methods = (const struct method *const[]){&method_profile, NULL},
};

static const struct method method_interval = {
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.flags = METHOD_REGS | METHOD_EVENT,
	.attach = interval_attach,
	.rate = timer_rate,
};

const struct probe_type probe_interval = {
	.name = "interval",
	.alias = {"i"},
	.syntax = "interval:(hz|s|ms|us):count, interval:10ms",
	.doc = "Fires on one CPU, at a frequency (Hz) or once per period.",
	.able = timer_able,
	.flags = PROBE_STACKS | PROBE_NOBODY | PROBE_FIRST | PROBE_REPORTS,
	.parse = timer_parse,
	.expand = timer_expand,
	.methods = (const struct method *const[]){&method_interval, NULL},
};
