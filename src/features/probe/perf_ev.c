/* perf_ev.c - software and hardware: every n-th occurrence of a perf event. */
#include "probe/common.h"

struct event {
	const char *name, *alias;
	u32 config;
	u64 period; /* default */
};

/* As lists show them: by name, then alias. */
static const struct event software[] = {
	{"alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, 1},
	{"bpf-output", NULL, PERF_COUNT_SW_BPF_OUTPUT, 1},
	{"context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, 1000},
	{"cpu-clock", "cpu", PERF_COUNT_SW_CPU_CLOCK, 1000000},
	{"cpu-migrations", NULL, PERF_COUNT_SW_CPU_MIGRATIONS, 1},
	{"dummy", NULL, PERF_COUNT_SW_DUMMY, 1},
	{"emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, 1},
	{"major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1},
	{"minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, 100},
	{"page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, 100},
	{"task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, 1},
	{0},
};

static const struct event hardware[] = {
	{"backend-stalls", NULL, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 1000000},
	{"branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100000},
	{"branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES, 100000},
	{"bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES, 100000},
	{"cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES, 1000000},
	{"cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES, 1000000},
	{"cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, 1000000},
	{"frontend-stalls", NULL, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 1000000},
	{"instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS, 1000000},
	{"ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES, 1000000},
	{0},
};

enum { RAW_PERIOD = 1000000 };

static bool is_hardware(const struct point *p)
{
	return p->type->name[0] == 'h';
}

static const struct event *table(const struct point *p)
{
	return is_hardware(p) ? hardware : software;
}

static const struct event *find(const struct point *p, struct str name)
{
	for (const struct event *e = table(p); e->name; e++)
		if (str_is(name, e->name) || (e->alias && str_is(name, e->alias)))
			return e;
	return NULL;
}

/* Says what there is instead. */
static struct err *no_event(const struct point *p)
{
	AUTO_SB b = {0};
	sb_fmt(&b, "%.*s is not a %s probe; there are:", STRF(part_shown(p->name)), p->type->name);
	for (const struct event *e = table(p); e->name; e++)
		sb_fmt(&b, "%s %s", e == table(p) ? "" : ",", e->name);
	return err_new("%.*s", STRF(sb_str(&b)));
}

static struct err *event_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	const char *kind = p->type->name;
	if (t.n != 1 && t.n != 2)
		return parts_err(p, "1 or 2 arguments", t.n);
	p->name = arena_str(a, t.v[0]);
	p->text = probe_text(a, kind, arena_str(a, text), STR(""), STR(""));
	if (str_is_glob(p->name))
		return NULL;
	const struct event *e = find(p, p->name);
	if (!e && !(is_hardware(p) && pmu_is_event(p->name)))
		return no_event(p);
	p->period = e ? e->period : RAW_PERIOD;
	if (t.n == 2 && !str_count(t.v[1], &p->period))
		return err_new("Invalid count for %s probe: invalid integer: %.*s", kind,
			       STRF(part_shown(t.v[1])));
	if (!p->period)
		return err_new("Invalid count for %s probe: it must be at least 1", kind);
	if (p->period > INT64_MAX) /* the kernel takes no more */
		return err_new("Invalid count for %s probe: %llu is too large", kind, p->period);
	return NULL;
}

static struct err *event_expand(struct host *h, struct unit *u, struct diags *ds,
				const struct point *p, point_cb *cb, void *arg)
{
	(void)u, (void)ds;
	struct arena *a = h->arena;
	const char *names[2 * countof(software) + 2 * countof(hardware)];
	u32 n = 0;
	if (!str_is_glob(p->name)) {
		struct point q = *p;
		struct perf_spec *s = find(p, p->name) ? NULL : arena_new(a, struct perf_spec);
		struct err *e = s ? pmu_event(h, p->name, s) : NULL;
		q.priv = s;
		if (!e)
			cb(&q, arg);
		return e;
	}
	for (const struct event *e = table(p); e->name; e++) {
		names[n++] = e->name;
		if (e->alias)
			names[n++] = e->alias;
	}
	qsort(names, n, sizeof(*names), strz_order);
	for (u32 i = 0; i < n; i++) {
		if (!str_glob(p->name, str_z(names[i])))
			continue;
		struct point q = *p;
		q.name = str_z(names[i]);
		q.period = find(p, q.name)->period;
		q.text = str_z(arena_fmt(a, "%s:%s:", p->type->name, names[i]));
		if (!cb(&q, arg))
			break;
	}
	return NULL;
}

static struct err *attach_one(struct host *h, struct unit *u, struct attach *a,
			      const struct point *p)
{
	const struct event *e = find(p, p->name);
	struct perf_spec s = {0};
	assert(e || p->priv);
	if (e) {
		s.type = is_hardware(p) ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
		s.config = e->config;
	} else {
		s = *(const struct perf_spec *)p->priv;
	}
	s.period = p->period;
	return perf_start_all(h, u, &s, a);
}

static struct err *event_attach(struct host *h, struct unit *u, struct attach *a)
{
	return attach_points(h, u, a, attach_one);
}

static struct err *software_able(struct host *h)
{
	(void)h;
	return perf_able(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0);
}

static struct err *hardware_able(struct host *h)
{
	(void)h;
	return perf_able(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);
}

static const struct method method_software = {
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.flags = METHOD_REGS | METHOD_EVENT,
	.attach = event_attach,
};

const struct probe_type probe_software = {
	.name = "software",
	.alias = {"s"},
	.syntax = "software:event[:count]",
	.doc = "Every count-th occurrence of an event that the kernel counts: page faults, context "
	       "switches ...",
	.able = software_able,
	.flags = PROBE_STACKS | PROBE_FIRST | PROBE_MACHINE,
	.parse = event_parse,
	.expand = event_expand,
	.methods = (const struct method *const[]){&method_switches, &method_software, NULL},
};

static const struct method method_hardware = {
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.flags = METHOD_REGS | METHOD_EVENT,
	.attach = event_attach,
};

const struct probe_type probe_hardware = {
	.name = "hardware",
	.alias = {"h"},
	.syntax = "hardware:event[:count], hardware:r1c0, hardware:\"cpu/event=0xc0,umask=1/\"",
	.doc = "Every count-th occurrence of an event that the processor counts: cycles, cache "
	       "misses ...",
	.able = hardware_able,
	.flags = PROBE_STACKS | PROBE_FIRST | PROBE_MACHINE,
	.parse = event_parse,
	.expand = event_expand,
	.methods = (const struct method *const[]){&method_hardware, NULL},
};
