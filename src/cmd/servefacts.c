#include "cmd/servefacts.h"
#include "api/version.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/push.h"
#include <sys/resource.h>

/* What is told of a script. */
struct fact {
	const char *name, *help;
	enum metric_type type;
	bool running; /* only while it runs */
	double (*value)(const struct served *s, const struct health *h);
	size_t at; /* if there is no .value: the u64 of struct health that it is */
};

static double is_up(const struct served *s, const struct health *h)
{
	(void)h;
	return s->state == SERVED_RUNS;
}

static double failures(const struct served *s, const struct health *h)
{
	(void)h;
	return (double)s->failures;
}

static double budget_stops(const struct served *s, const struct health *h)
{
	(void)h;
	return (double)s->budget_stops;
}

static double cpu(const struct served *s, const struct health *h)
{
	(void)s;
	return (double)h->programs_ns / 1e9;
}

static double running_s(const struct served *s, const struct health *h)
{
	(void)h;
	return (double)(now_ns() - s->began_ns) / 1e9;
}

static double value_of(const struct fact *k, const struct served *s, const struct health *h)
{
	u64 n;
	if (k->value)
		return k->value(s, h);
	memcpy(&n, (const char *)h + k->at, sizeof(n));
	return (double)n;
}

static const struct fact facts[] = {
	{"sonde_up", "1 while the script runs", METRIC_GAUGE, false, is_up, 0},
	{"sonde_start_failures_total",
	 "how often the script could not be read, compiled or attached", METRIC_COUNTER, false,
	 failures, 0},
	{"sonde_budget_stops_total", "how often the script was stopped by --budget", METRIC_COUNTER,
	 false, budget_stops, 0},
	{"sonde_running_seconds", "since the script was attached", METRIC_GAUGE, true, running_s,
	 0},
	{"sonde_cpu_seconds_total", "run time of the script's programs", METRIC_COUNTER, true, cpu,
	 0},
	{"sonde_runs_total", "runs of the script's programs", METRIC_COUNTER, true, NULL,
	 offsetof(struct health, runs)},
	{"sonde_lost_events_total", "events that found no room in the buffer", METRIC_COUNTER, true,
	 NULL, offsetof(struct health, lost)},
	{"sonde_missed_runs_total", "runs of programs that the kernel skipped or that gave up",
	 METRIC_COUNTER, true, NULL, offsetof(struct health, missed)},
	{"sonde_failed_reads_total", "reads of memory that failed", METRIC_COUNTER, true, NULL,
	 offsetof(struct health, failed_reads)},
	{"sonde_cut_strings_total", "strings that were truncated", METRIC_COUNTER, true, NULL,
	 offsetof(struct health, cut)},
};

static const struct fact push_facts[] = {
	{.name = "sonde_pushes_total", .help = "what receivers have taken", .type = METRIC_COUNTER},
	{.name = "sonde_push_failures_total",
	 .help = "attempts to send that failed",
	 .type = METRIC_COUNTER},
	{.name = "sonde_push_dropped_points_total",
	 .help = "data points, or stacks of profiles, that were not sent or were rejected",
	 .type = METRIC_COUNTER},
	{.name = "sonde_push_waiting", .help = "what waits to be sent", .type = METRIC_GAUGE},
};

static struct str script_label(struct sb *b, const struct served *s)
{
	sb_clear(b);
	metric_label(b, STR("script"), str_z(s->name));
	return sb_str(b);
}

static struct metric_shape shape_of(const char *name, const char *help, enum metric_type type)
{
	return (struct metric_shape){.name = str_z(name), .help = str_z(help), .type = type};
}

static void put_fact(struct metrics *m, const struct service_facts *f, const struct health *h,
		     const struct fact *k)
{
	struct metric_shape shape = shape_of(k->name, k->help, k->type);
	AUTO_SB label = {0};
	for (u32 i = 0; i < f->n; i++)
		if (!k->running || f->script[i]->state == SERVED_RUNS)
			metrics_set(m, &shape, script_label(&label, f->script[i]),
				    value_of(k, f->script[i], &h[i]));
}

static void put_reasons(struct metrics *m, const struct service_facts *f)
{
	struct metric_shape shape =
		shape_of("sonde_script_error", "why a script does not run", METRIC_GAUGE);
	for (u32 i = 0; i < f->n; i++) {
		const struct served *s = f->script[i];
		AUTO_SB label = {0};
		if (s->state == SERVED_RUNS)
			continue;
		script_label(&label, s);
		metric_label(&label, STR("stage"), str_z(served_state_name(s->state)));
		metric_label(&label, STR("reason"), sb_str(&s->reason));
		metrics_set(m, &shape, sb_str(&label), 1);
	}
}

/* Of all maps of the scripts, metrics or not. */
static void put_full(struct metrics *m, const struct service_facts *f, const struct health *h)
{
	struct metric_shape shape =
		shape_of("sonde_map_full_total", "updates of a map that found no room in it",
			 METRIC_COUNTER);
	for (u32 i = 0; i < f->n; i++) {
		const struct unit *u = &f->script[i]->launch.job.unit;
		for (u32 k = 0; h[i].full && k < u->nmap; k++) {
			AUTO_SB label = {0};
			if (u->map[k]->role != MAP_USER)
				continue;
			script_label(&label, f->script[i]);
			metric_label(&label, STR("map"), u->map[k]->name);
			metrics_set(m, &shape, sb_str(&label), (double)h[i].full[k]);
		}
	}
}

static void put_others(struct metrics *m, const struct service_facts *f)
{
	struct metric_shape shape =
		shape_of("sonde_series_other", "keys of a metric that share the series __other__",
			 METRIC_GAUGE);
	for (u32 i = 0; i < f->n; i++) {
		const struct served *s = f->script[i];
		for (u32 k = 0; k < s->map.n && s->state == SERVED_RUNS; k++) {
			AUTO_SB label = {0};
			script_label(&label, s);
			metric_label(&label, STR("metric"), s->map.v[k].shape.name);
			metrics_set(m, &shape, sb_str(&label), (double)s->map.v[k].other);
		}
	}
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void put_self(struct metrics *m, const struct service_facts *f)
{
	struct rusage r = {0};
	getrusage(RUSAGE_SELF, &r);
	const struct {
		const char *name, *help;
		enum metric_type type;
		double value;
	} self[] = {
		{"sonde_scripts", "scripts in the folder", METRIC_GAUGE, (double)f->n},
		{"sonde_reloads_total", "how often the folder was read again", METRIC_COUNTER,
		 (double)f->reloads},
		{"sonde_readings_total", "how often the maps were read", METRIC_COUNTER,
		 (double)f->scrapes},
		{"sonde_reading_seconds", "how long the last reading took", METRIC_GAUGE,
		 f->reading_s},
		{"sonde_web_restarts_total", "web servers that died and were started again",
		 METRIC_COUNTER, f->web_starts ? (double)(f->web_starts - 1) : 0},
		{"process_cpu_seconds_total", "processor time of sonde itself", METRIC_COUNTER,
		 seconds(r.ru_utime) + seconds(r.ru_stime)},
	};
	for (u32 i = 0; i < countof(self); i++) {
		struct metric_shape shape = shape_of(self[i].name, self[i].help, self[i].type);
		metrics_set(m, &shape, STR(""), self[i].value);
	}
	struct metric_shape shape = shape_of("sonde_build_info", "1", METRIC_GAUGE);
	metrics_set(m, &shape, STR("version=\"" SONDE_VERSION "\""), 1);
}

/* Of what is sent to others; the label is the option. */
static void put_pushes(struct metrics *m, const struct service_facts *f)
{
	for (u32 i = 0; i < f->npush; i++) {
		const struct push *p = &f->push[i];
		AUTO_SB label = {0};
		const double values[] = {(double)p->posts, (double)p->failures, (double)p->dropped,
					 (double)p->waiting.n};
		_Static_assert(countof(values) == countof(push_facts), "a value for each");
		metric_label(&label, STR("to"), str_from(str_z(p->option), 2));
		for (u32 k = 0; k < countof(values); k++) {
			struct metric_shape shape = shape_of(push_facts[k].name, push_facts[k].help,
							     push_facts[k].type);
			metrics_set(m, &shape, sb_str(&label), values[k]);
		}
	}
}

bool service_fact_named(struct str metric)
{
	for (u32 i = 0; i < countof(facts); i++)
		if (str_is(metric, facts[i].name))
			return true;
	for (u32 i = 0; i < countof(push_facts); i++)
		if (str_is(metric, push_facts[i].name))
			return true;
	static const char *const others[] = {"sonde_script_error",
					     "sonde_map_full_total",
					     "sonde_series_other",
					     "sonde_scripts",
					     "sonde_reloads_total",
					     "sonde_readings_total",
					     "sonde_reading_seconds",
					     "sonde_build_info",
					     "sonde_web_restarts_total",
					     "process_cpu_seconds_total",
					     NULL};
	return str_among(metric, others);
}

void service_facts(struct metrics *m, const struct service_facts *f)
{
	struct health *h AUTO_FREE = xcalloc(f->n + 1ul, sizeof(*h));
	for (u32 i = 0; i < f->n; i++)
		if (f->script[i]->state == SERVED_RUNS)
			session_health(&f->script[i]->launch.session, &h[i]);
	for (u32 i = 0; i < countof(facts); i++)
		put_fact(m, f, h, &facts[i]);
	put_reasons(m, f);
	put_full(m, f, h);
	put_others(m, f);
	put_self(m, f);
	put_pushes(m, f);
	for (u32 i = 0; i < f->n; i++)
		health_free(&h[i]);
}
