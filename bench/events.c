/*
 * events.c - what tracing adds to one operation of the load.
 *
 * A round of a tracer: the load alone, the tracer attached, the load again; the difference counts.
 * What the tracer prints at the end must be as much as the load did, else the round is left out.
 * Further rounds are with the kernel's accounting, which also says whether the programs ran as
 * often as the load did its operation. When half of a tracer's rounds are wrong, or all of one
 * kind, the row says so instead of a figure: other processes that make the same system calls can
 * spoil a round, but not most of them.
 */
#include "bench.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GETPPID       "tracepoint:syscalls:sys_enter_getppid"
#define LSEEK         "tracepoint:syscalls:sys_enter_lseek"
#define OPENAT        "tracepoint:syscalls:sys_enter_openat"
#define RAW           "rawtracepoint:sys_enter"
#define PUSH          "uprobe:%L/load:f_push"
#define PUSHRET       "uretprobe:%L/load:f_push"
#define USDT          "usdt:%L/load:load:step"
#define PLY_AT(event) "BEGIN { printf(\"Attached\\n\"); } tracepoint:syscalls/sys_enter_" event " "
#define KEEP          "{ @start[tid] = nsecs; } "
#define SINCE         " /@start[tid]/ { @ns[comm] = hist(nsecs - @start[tid]); delete(@start, tid); }"

enum {
	EMPTY_BODY_NS = 5,   /* smaller differences are noise, and count as this */
	CALM_MS = 1000,      /* others have so long to end their tracing before a round */
	LONG_MS = 14 * 60000 /* after so long in this section fewer rounds must do */
};

static const struct program {
	const char *name, *op, *empty; /* the program of its kind with no body */
	const char *script, *ply, *dtrace;
	enum printed printed;
	int runs;   /* of programs, in one operation */
	bool wide;  /* other processes count too */
	bool brief; /* measured when it has to be quick */
} programs[] = {
	{"tp-empty", "getppid", NULL, GETPPID " { }", NULL, NULL, NOTHING, 1, false, true},
	{"tp-count", "getppid", "tp-empty", GETPPID " { @ = count(); }",
	 PLY_AT("getppid") "{ @[0] = count(); }", "syscall::getppid:entry { @ = count(); }", COUNTS,
	 1, false, true},
	{"tp-comm", "getppid", "tp-empty", GETPPID " { @[comm] = count(); }",
	 PLY_AT("getppid") "{ @[comm] = count(); }",
	 "syscall::getppid:entry { @[execname] = count(); }", COUNTS, 1, false, true},
	{"tp-pid", "getppid", "tp-empty", GETPPID " { @[pid] = count(); }",
	 PLY_AT("getppid") "{ @[pid] = count(); }", "syscall::getppid:entry { @[pid] = count(); }",
	 COUNTS, 1, false, false},
	{"tp-pid-comm", "getppid", "tp-empty", GETPPID " { @[pid, comm] = count(); }",
	 PLY_AT("getppid") "{ @[pid, comm] = count(); }",
	 "syscall::getppid:entry { @[pid, execname] = count(); }", COUNTS, 1, false, false},
	{"tp-filter", "getppid", "tp-empty", GETPPID " /pid == 1/ { @ = count(); }",
	 PLY_AT("getppid") "/pid == 1/ { @[0] = count(); }",
	 "syscall::getppid:entry /pid == 1/ { @ = count(); }", NOTHING, 1, false, false},
	{"tp-filter-comm", "getppid", "tp-empty",
	 GETPPID " /comm == \"no-such-name\"/ { @ = count(); }", NULL, NULL, NOTHING, 1, false,
	 false},
	{"tp-sum", "lseek", "tp-empty", LSEEK " { @ = sum(args.offset); }", NULL,
	 "syscall::lseek:entry { @ = sum(arg1); }", NOTHING, 1, false, false},
	{"tp-hist", "lseek", "tp-empty", LSEEK " { @ = hist(args.offset); }",
	 PLY_AT("lseek") "{ @[0] = quantize(data->offset); }",
	 "syscall::lseek:entry { @ = quantize(arg1); }", BUCKETS, 1, false, false},
	{"tp-hist-comm", "lseek", "tp-empty", LSEEK " { @[comm] = hist(args.offset); }", NULL, NULL,
	 BUCKETS, 1, false, true},
	{"tp-lhist", "lseek", "tp-empty", LSEEK " { @ = lhist(args.offset, 0, 1000, 100); }", NULL,
	 NULL, BUCKETS, 1, false, false},
	{"tp-pair-empty", "lseek", NULL, LSEEK " { } tracepoint:syscalls:sys_exit_lseek { }", NULL,
	 NULL, NOTHING, 2, false, true},
	{"tp-latency", "lseek", "tp-pair-empty",
	 LSEEK " " KEEP "tracepoint:syscalls:sys_exit_lseek" SINCE,
	 PLY_AT("lseek") "{ start[kpid] = time; } tracepoint:syscalls/sys_exit_lseek "
			 "/start[kpid]/ { @[comm] = quantize(time - start[kpid]); delete "
			 "start[kpid]; "
			 "}",
	 "syscall::lseek:entry { self->t = timestamp; } syscall::lseek:return /self->t/ { "
	 "@[execname] = quantize(timestamp - self->t); self->t = 0; }",
	 BUCKETS, 2, false, true},
	{"tp-walk", "getppid", "tp-empty", GETPPID " { @[curtask->real_parent->tgid] = count(); }",
	 NULL, NULL, COUNTS, 1, false, false},
	{"tp-print", "openat", "tp-empty",
	 OPENAT " { printf(\"%d %s %s\\n\", pid, comm, str(args.filename)); }",
	 PLY_AT("openat") "{ printf(\"%d %s %s\\n\", pid, comm, str(data->filename)); }", NULL,
	 LINES, 1, false, true},
	{"tp-kstack", "getppid", "tp-empty", GETPPID " { @[kstack] = count(); }",
	 PLY_AT("getppid") "{ @[stack] = count(); }",
	 "syscall::getppid:entry { @[stack()] = count(); }", COUNTS, 1, false, false},
	{"tp-ustack", "deep", "tp-empty", GETPPID " { @[ustack] = count(); }", NULL, NULL, COUNTS,
	 1, false, true},
	{"tp-ustack-10", "deep10", "tp-empty", GETPPID " { @[ustack] = count(); }", NULL, NULL,
	 COUNTS, 1, false, false},
	{"tp-fp-ustack-10", "deep10", "tp-empty", GETPPID " { @[%U] = count(); }", NULL, NULL,
	 COUNTS, 1, false, false},
	{"tp-ustack-30", "deep30", "tp-empty", GETPPID " { @[ustack] = count(); }", NULL, NULL,
	 COUNTS, 1, false, false},
	{"tp-fp-ustack-30", "deep30", "tp-empty", GETPPID " { @[%U] = count(); }", NULL, NULL,
	 COUNTS, 1, false, false},
	{"tp-ustack-100", "deep100", "tp-empty", GETPPID " { @[ustack] = count(); }", NULL, NULL,
	 COUNTS, 1, false, false},
	{"tp-fp-ustack-100", "deep100", "tp-empty", GETPPID " { @[%U] = count(); }", NULL, NULL,
	 COUNTS, 1, false, false},
	{"tp-dw-ustack-10", "deep10", "tp-empty", GETPPID " { @[dw_ustack] = count(); }", NULL,
	 NULL, COUNTS, 1, false, false},
	{"tp-dw-ustack-30", "deep30", "tp-empty", GETPPID " { @[dw_ustack] = count(); }", NULL,
	 NULL, COUNTS, 1, false, false},
	{"tp-dw-ustack-100", "deep100", "tp-empty", GETPPID " { @[dw_ustack] = count(); }", NULL,
	 NULL, COUNTS, 1, false, false},
	{"tp-ids", "getppid", "raw-empty",
	 "tracepoint:raw_syscalls:sys_enter { @[args.id] = count(); }", NULL, NULL, COUNTS, 1, true,
	 false},
	{"tp-switch-empty", "switch", NULL, "tracepoint:sched:sched_switch { }", NULL, NULL,
	 NOTHING, 2, true, false},
	{"tp-switch", "switch", "tp-switch-empty",
	 "tracepoint:sched:sched_switch { @[args.prev_pid] = count(); }", NULL, NULL, COUNTS, 2,
	 true, false},
	{"raw-empty", "getppid", NULL, RAW " { }", NULL, NULL, NOTHING, 1, true, true},
	{"raw-count", "getppid", "raw-empty", RAW " { @ = count(); }", NULL, NULL, COUNTS, 1, true,
	 true},
	{"raw-comm", "getppid", "raw-empty", RAW " { @[comm] = count(); }", NULL, NULL, COUNTS, 1,
	 true, false},
	{"raw-pid-comm", "getppid", "raw-empty", RAW " { @[pid, comm] = count(); }", NULL, NULL,
	 COUNTS, 1, true, false},
	{"raw-filter", "getppid", "raw-empty", RAW " /pid == 1/ { @ = count(); }", NULL, NULL,
	 NOTHING, 1, true, false},
	{"raw-pair-empty", "getppid", NULL, RAW " { } rawtracepoint:sys_exit { }", NULL, NULL,
	 NOTHING, 2, true, false},
	{"raw-latency", "getppid", "raw-pair-empty", RAW " " KEEP "rawtracepoint:sys_exit" SINCE,
	 NULL, NULL, BUCKETS, 2, true, false},
	{"raw-print", "getppid", "raw-empty", RAW " { printf(\"%d %s\\n\", pid, comm); }", NULL,
	 NULL, LINES, 1, true, false},
	{"uprobe-empty", "push", NULL, PUSH " { }", NULL, NULL, NOTHING, 1, false, true},
	{"uprobe-count", "push", "uprobe-empty", PUSH " { @ = count(); }", NULL, NULL, COUNTS, 1,
	 false, true},
	{"uprobe-comm", "push", "uprobe-empty", PUSH " { @[comm] = count(); }", NULL, NULL, COUNTS,
	 1, false, false},
	{"uprobe-hist", "push", "uprobe-empty", PUSH " { @ = hist(arg0); }", NULL, NULL, BUCKETS, 1,
	 false, false},
	{"uprobe-endbr", "endbr", NULL, "uprobe:%L/load:f_endbr { @ = count(); }", NULL, NULL,
	 COUNTS, 1, false, false},
	{"uretprobe-empty", "push", NULL, PUSHRET " { }", NULL, NULL, NOTHING, 1, false, false},
	{"uretprobe-hist", "push", "uretprobe-empty", PUSHRET " { @ = hist(retval); }", NULL, NULL,
	 BUCKETS, 1, false, false},
	{"uprobe-pair-empty", "push", NULL, PUSH " { } " PUSHRET " { }", NULL, NULL, NOTHING, 2,
	 false, false},
	{"uprobe-latency", "push", "uprobe-pair-empty",
	 PUSH " " KEEP PUSHRET " /@start[tid]/ { @ = hist(nsecs - @start[tid]); "
	      "delete(@start, tid); }",
	 NULL, NULL, BUCKETS, 2, false, false},
	{"usdt-empty", "usdt", NULL, USDT " { }", NULL, NULL, NOTHING, 1, false, true},
	{"usdt-count", "usdt", "usdt-empty", USDT " { @ = count(); }", NULL, NULL, COUNTS, 1, false,
	 true},
	{"usdt-hist", "usdt", "usdt-empty", USDT " { @ = hist(arg0); }", NULL, NULL, BUCKETS, 1,
	 false, false},
};
enum { NPROGRAM = sizeof(programs) / sizeof(programs[0]) };

static struct result {
	struct series base, added[NWHO], rss[NWHO], kernel[NWHO];
	struct account account[NWHO];
	int good[NWHO], bad[NWHO];
	bool failed[NWHO], told[NWHO];
	bool done;
} results[NPROGRAM];

static int foreign; /* rounds in which others were tracing */

/* ---- measuring ---- */

static const char *script_for(const struct program *p, enum who w)
{
	if (!tracers[w].has)
		return NULL;
	return w == PLY ? p->ply : w == DTRACE ? p->dtrace : w == MINIMUM ? p->name : p->script;
}

/* Between these many runs is right for an operation done so often. */
static bool plausible(const struct program *p, double n, double ops)
{
	return n >= ops && (p->wide || n <= ops * 1.1 + 20000);
}

/* Whether it printed as much as there was to count; of lines, many may be lost. */
static bool counted(int i, const struct run *run, enum who w, double ops)
{
	const struct program *p = &programs[i];
	struct result *r = &results[i];

	/* ply and dtrace print in other ways: the kernel's accounting alone is for them */
	if (p->printed == NOTHING || w == PLY || w == DTRACE)
		return true;
	/* the hand-written ones: "NAME: all", whatever it is */
	double n = printed_sum(run->out, w == MINIMUM ? COUNTS : p->printed);
	double want = p->printed == BUCKETS ? ops : p->op[0] == 's' ? 2 * ops : ops;
	if (p->printed == LINES) {
		double lost = w == MINIMUM ? 0 : printed_lost(run->err) + printed_lost(run->out);
		if (n + lost < want && !r->told[w])
			note("%s: %s printed %.0f of %.0f lines and reported %.0f lost", p->name,
			     tracers[w].name, n, want, lost);
		else if (lost > 0 && !r->told[w])
			note("%s: %s reported %.0f of %.0f lines lost", p->name, tracers[w].name,
			     lost, want);
		r->told[w] = true;
		return w != SONDE || n + lost >= want;
	}
	if (plausible(p, n, want))
		return true;
	if (!r->told[w])
		note("%s: %s counted %.0f of %.0f", p->name, tracers[w].name, n, want);
	r->told[w] = true;
	return false;
}

static void keep_account(int i, enum who w, pid_t pid, unsigned mark, double ops)
{
	const struct program *p = &programs[i];
	struct result *r = &results[i];
	struct account a = account_of(pid, mark, 0.9 * ops);

	/* sonde's programs for hot system calls see all others, too */
	if (a.runs < ops * p->runs || (w != SONDE && !plausible(p, a.runs, ops * p->runs))) {
		note("%s: %s's programs ran %.0f times, not %.0f", p->name, tracers[w].name, a.runs,
		     ops * p->runs);
		r->bad[w]++;
		return;
	}
	r->good[w]++;
	r->account[w] = a;
	series_add(&r->kernel[w], a.ns / a.runs * p->runs);
}

/* The tracer before detaches a while after it ended; others trace for a while. */
static bool alone(void)
{
	double began = now_ms();

	while (account_tracing() > 0) {
		if (now_ms() - began > (double)CALM_MS)
			return false;
		usleep(10000);
	}
	return true;
}

static void measure(int i, enum who w, bool account)
{
	const struct program *p = &programs[i];
	struct result *r = &results[i];
	const char *script = script_for(p, w);
	bool held = script && strstr(script, "dw_ustack"); /* tracers want to know whose */
	char *argv[MAX_WORDS];
	struct run run;
	struct job job = {0};
	double ops = 0, traced = NAN;

	if (!script || r->failed[w])
		return;
	foreign += !alone() && !account;
	double base = account ? NAN : cost(p->op, NULL);
	unsigned mark = account ? account_mark() : 0;
	int stats = account ? account_on() : -1;
	if (held)
		cost_hold(p->op, &job);
	tracer_command(w, script, job.pid, false, argv);
	run_start(&run, argv, "tracer", 0, ncpu > 1 ? ncpu - 2 : 0);
	bool attached = run_attached(&run, &tracers[w]);
	if (attached) {
		traced = held ? cost_go(&job, &ops) : cost(p->op, &ops);
		if (account)
			keep_account(i, w, run.pid, mark, ops);
	}
	if (held)
		job_end(&job);
	run_stop(&run);
	if (account)
		close(stats);
	if (!attached || run.killed || WIFSIGNALED(run.status) || isnan(traced)) {
		note_failure(&run, &tracers[w], p->name);
		r->failed[w] = true;
	} else if (!counted(i, &run, w, ops)) {
		r->bad[w]++;
	} else if (!account) {
		r->good[w]++;
		series_add(&r->base, base);
		series_add(&r->added[w], traced - base);
		series_add(&r->rss[w], run.rss_mib);
	}
}

static bool wanted(const struct program *p)
{
	const char *only = getenv("PROGRAMS");

	if (only && *only)
		return strstr(only, p->name);
	return !quick || p->brief;
}

static void measure_all(int rounds, int account_rounds)
{
	double began = now_ms();

	for (int i = 0; i < NPROGRAM; i++) {
		const struct program *p = &programs[i];
		if (rounds > 2 && now_ms() - began > (double)LONG_MS) {
			note("two rounds from %s on: it took too long", p->name);
			rounds = 2;
			account_rounds = 1;
		}
		if (!wanted(p))
			continue;
		fprintf(stderr, "  %s\n", p->name);
		for (int round = 0; round < rounds; round++)
			for (int k = 0; k < NWHO; k++) {
				enum who w = (enum who)((k + round) % NWHO);
				if (round < tracers[w].max_rounds && !(quick && w == DTRACE))
					measure(i, w, false);
			}
		for (int round = 0; round < account_rounds; round++)
			for (int w = 0; w < NWHO; w++)
				if (round < tracers[w].max_rounds && !(quick && w == DTRACE))
					measure(i, (enum who)w, true);
		results[i].done = true;
	}
}

/* ---- printing ---- */

static bool wrong(const struct result *r, enum who w)
{
	return r->bad[w] && (r->bad[w] >= r->good[w] || !r->added[w].n || !r->kernel[w].n);
}

/* What tracing added; NAN where there is no figure that can be believed. */
static double added(const struct result *r, enum who w)
{
	return wrong(r, w) ? NAN : series_median(&r->added[w]);
}

static double kernel_ns(const struct result *r, enum who w)
{
	return wrong(r, w) ? NAN : series_median(&r->kernel[w]);
}

static const char *added_text(const struct result *r, enum who w)
{
	return wrong(r, w) ? "wrong count" : num(added(r, w), 0);
}

static const struct result *empty_of(const struct program *p)
{
	for (int i = 0; p->empty && i < NPROGRAM; i++)
		if (!strcmp(programs[i].name, p->empty))
			return &results[i];
	return NULL;
}

/* Beyond an empty program of its kind and tracer. */
static double body_ns(const struct program *p, const struct result *r, enum who w, bool kernel)
{
	const struct result *e = empty_of(p);

	if (!e)
		return NAN;
	return at_least(kernel ? kernel_ns(r, w) - kernel_ns(e, w) : added(r, w) - added(e, w),
			EMPTY_BODY_NS);
}

/* Its error: those of the two medians come together. */
static double body_error(const struct program *p, const struct result *r, enum who w, bool kernel)
{
	const struct result *e = empty_of(p);

	if (!e)
		return NAN;
	return kernel ? hypot(series_error(&r->kernel[w]), series_error(&e->kernel[w]))
		      : hypot(series_error(&r->added[w]), series_error(&e->added[w]));
}

/* Of a / b. */
static double ratio_error(double a, double a_error, double b, double b_error)
{
	return a / b * hypot(a_error / a, b_error / b);
}

static void add_bodies(struct mean *m, const struct program *p, const struct result *r, bool kernel)
{
	double a = body_ns(p, r, SONDE, kernel), b = body_ns(p, r, BPFTRACE, kernel);

	mean_add(m, a / b,
		 ratio_error(a, body_error(p, r, SONDE, kernel), b,
			     body_error(p, r, BPFTRACE, kernel)),
		 p->name);
}

static void print_times(void)
{
	fprintf(body,
		"| program | base | bpftrace | sonde | ratio | minimum | sonde / minimum | ply "
		"| dtrace |\n|---|---|---|---|---|---|---|---|---|\n");
	for (int i = 0; i < NPROGRAM; i++) {
		const struct result *r = &results[i];
		if (!r->done)
			continue;
		double s = added(r, SONDE);
		fprintf(body, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", programs[i].name,
			num(series_median(&r->base), 1), added_text(r, BPFTRACE),
			added_text(r, SONDE), num(s / added(r, BPFTRACE), 2),
			added_text(r, MINIMUM), num(s / added(r, MINIMUM), 2), added_text(r, PLY),
			added_text(r, DTRACE));
	}
}

static void print_accounts(void)
{
	static const enum who who[] = {BPFTRACE, SONDE, MINIMUM};

	fprintf(body,
		"\nThe programs by the kernel's accounting (`BPF_ENABLE_STATS`: `run_time_ns /\n"
		"run_cnt`, in separate rounds; this includes the kernel's two clock reads), their\n"
		"size, and the peak memory of the tracer. ns / instructions / bytes of machine\n"
		"code:\n\n"
		"| program | bpftrace | sonde | minimum | MiB: bpftrace | sonde |\n"
		"|---|---|---|---|---|---|\n");
	for (int i = 0; i < NPROGRAM; i++) {
		const struct result *r = &results[i];
		if (!r->done)
			continue;
		fprintf(body, "| %s |", programs[i].name);
		for (int k = 0; k < 3; k++)
			if (isnan(kernel_ns(r, who[k])))
				fprintf(body, " - |");
			else
				fprintf(body, " %.0f / %u / %u |", kernel_ns(r, who[k]),
					r->account[who[k]].insns, r->account[who[k]].bytes);
		fprintf(body, " %s | %s |\n", num(series_median(&r->rss[BPFTRACE]), 1),
			num(series_median(&r->rss[SONDE]), 1));
	}
}

static void print_scripts(void)
{
	fprintf(body, "\nThe programs (L: the folder of the load; U: a stack by frame pointers, "
		      "sonde's fp_ustack):\n\n");
	for (int i = 0; i < NPROGRAM; i++)
		if (results[i].done) {
			fprintf(body, "- %s, on `load %s`: `", programs[i].name, programs[i].op);
			for (const char *s = programs[i].script; *s; s++)
				if (*s != '%' || (s[1] != 'L' && s[1] != 'U'))
					fputc(*s, body);
			fprintf(body, "`\n");
		}
}

static void print_means(void)
{
	struct mean all = {0}, bodies = {0}, kernel = {0}, least = {0}, least_kernel = {0},
		    rss = {0};
	for (int i = 0; i < NPROGRAM; i++) {
		const struct program *p = &programs[i];
		const struct result *r = &results[i];
		if (!r->done)
			continue;
		double a = added(r, SONDE), b = added(r, BPFTRACE);
		mean_add(&all, a / b,
			 ratio_error(a, series_error(&r->added[SONDE]), b,
				     series_error(&r->added[BPFTRACE])),
			 p->name);
		mean_add(&least, a / added(r, MINIMUM), 0, p->name);
		mean_add(&rss, series_median(&r->rss[SONDE]) / series_median(&r->rss[BPFTRACE]), 0,
			 p->name);
		add_bodies(&bodies, p, r, false);
		add_bodies(&kernel, p, r, true);
		mean_add(&least_kernel, kernel_ns(r, SONDE) / kernel_ns(r, MINIMUM), 0, p->name);
	}
	fprintf(body, "\n| ratios | geometric mean | worst | programs |\n|---|---|---|---|\n");
	mean_print("all that tracing adds, sonde / bpftrace", &all);
	mean_print("what the body adds beyond an empty program, sonde / bpftrace", &bodies);
	mean_print("the same by the kernel's accounting", &kernel);
	mean_print("all that tracing adds, sonde / minimum", &least);
	mean_print("the kernel's accounting, sonde / minimum", &least_kernel);
	mean_print("peak memory, sonde / bpftrace", &rss);
	goal("time that a program adds beyond an empty one of its kind, to bpftrace: geometric "
	     "mean",
	     mean_value(&bodies), 2, 0.5);
	goal_worst(&bodies, 1);
	goal("- the same by the kernel's accounting: geometric mean", mean_value(&kernel), 2, 0.5);
	goal_worst(&kernel, 1);
	goal("all that tracing adds to the load, to bpftrace: geometric mean", mean_value(&all), 2,
	     0.6);
	goal_worst(&all, 1);
	goal("all that tracing adds, to hand-written programs: geometric mean", mean_value(&least),
	     2, 1.25);
	goal("peak memory over these programs, to bpftrace: geometric mean", mean_value(&rss), 3,
	     1.0 / 12);
}

void section_events(void)
{
	int rounds = quick ? 2 : 7;

	fprintf(body,
		"\n## Cost of an event\n\n"
		"Nanoseconds of processor time that tracing adds to one operation of the load\n"
		"(base: without a tracer), medians of %d rounds (ply 3, dtrace 1). \"minimum\" is\n"
		"the same program in hand-written BPF instructions, on the probe that the\n"
		"script names. The output of the tracer, and in further rounds the number of\n"
		"program runs that the kernel counted, must match what the load did; otherwise\n"
		"the row says \"wrong count\". Where the bodies alone are compared, less than %d\n"
		"ns counts as %d. uprobes are on a function that begins with `push`, in\n"
		"uprobe-endbr with `endbr64` and `push`. A worst ratio above 1 by less than\n"
		"twice its standard error counts as \"within the noise\", because empty programs\n"
		"are the same for every tracer.\n\n",
		rounds, EMPTY_BODY_NS, EMPTY_BODY_NS);
	measure_all(rounds, quick ? 1 : 3);
	if (foreign)
		note("in %d rounds other processes were tracing, too", foreign);
	print_times();
	print_accounts();
	print_means();
	print_scripts();
}
