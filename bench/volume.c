/* volume.c - many events and large maps. */
#include "bench.h"
#include <stdlib.h>

enum { MILLION = 1000000, KEYS = 100000, STACKS = 16384 };

#define PRINT \
	"tracepoint:syscalls:sys_enter_getppid /pid == %P/ { printf(\"%d %s\\n\", pid, comm); }"

/* A job that waits is traced while it does its work; true: all went well. */
static bool traced_job(enum who w, const char *name, const char *script, const char *op, long n,
		       struct run *run, pid_t *pid, double *cpu_at_signal)
{
	char *argv[MAX_WORDS];
	struct job j;

	job_start(&j, op, "-n", n, true);
	*pid = j.pid;
	tracer_command(w, script, j.pid, false, argv);
	run_start(run, argv, "tracer", 0, ncpu > 1 ? ncpu - 2 : 0);
	bool good = run_attached(run, &tracers[w]);
	if (good) {
		job_go(&j);
		good = !isnan(job_result(&j, NULL));
		*cpu_at_signal = process_ms(run->pid);
	}
	run_stop(run);
	job_end(&j);
	if (!good || run->killed) {
		note_failure(run, &tracers[w], name);
	}
	return good && !run->killed;
}

static void print_once(enum who w, long n, struct series *each, double *lost_by_sonde)
{
	struct run run;
	pid_t pid;
	double at_signal;
	char begin[32];

	if (!tracers[w].has ||
	    !traced_job(w, "throughput", PRINT, "getppid", n, &run, &pid, &at_signal))
		return;
	snprintf(begin, sizeof(begin), "%d ", pid);
	double lines = printed_lines(run.out, begin);
	double lost = printed_lost(run.err) + printed_lost(run.out);
	double us = lines > 0 ? (run.cpu_ms - run.cpu_attached) * 1000 / lines : NAN;
	fprintf(body, "| %s | %.0f | %.0f | %.0f | %s |\n", tracers[w].name, lines, lost,
		(double)n - lines - lost, num(us, 3));
	series_add(each, us);
	if (w == SONDE && (isnan(*lost_by_sonde) || (double)n - lines > *lost_by_sonde))
		*lost_by_sonde = (double)n - lines;
}

void section_throughput(void)
{
	long n = quick ? MILLION / 5 : MILLION;
	int rounds = quick ? 1 : 3;
	struct series each[NWHO] = {0};
	double lost = NAN;

	fprintf(body,
		"\n## printf at full speed\n\n"
		"`tracepoint:syscalls:sys_enter_getppid { printf(\"%%d %%s\\n\", pid, comm); }` "
		"for one "
		"process that makes %ld calls as fast as it can; output to a file in memory.\n\n"
		"| tracer | lines | lost, as reported | lost without a report | CPU us per line |\n"
		"|---|---|---|---|---|\n",
		n);
	for (int round = 0; round < rounds; round++)
		for (int w = SONDE; w <= BPFTRACE; w++)
			print_once((enum who)w, n, &each[w], &lost);
	goal("a million `printf` events at full speed: lost in the worst run", lost, 0, 0);
	goal("- CPU time per line, to bpftrace",
	     series_median(&each[SONDE]) / series_median(&each[BPFTRACE]), 3, 0.1);
}

static const struct big {
	const char *name, *goal, *script, *op;
	long n;
} big[] = {
	{"100,000 keys", "100,000 keys printed: time from SIGINT to exit, to bpftrace",
	 "rawtracepoint:sys_enter /pid == %P/ { @[nsecs] = count(); }", "getppid", KEYS},
	{"16,384 user stacks", "16,384 stacks symbolised and printed, to bpftrace",
	 "rawtracepoint:sys_enter /pid == %P/ { @[ustack] = count(); }", "stacks", STACKS},
};

static void map_case(const struct big *c, int rounds)
{
	struct series ms[NWHO] = {0}, cpu[NWHO] = {0}, rss[NWHO] = {0};
	double entries[NWHO] = {0};

	fprintf(stderr, "  %s\n", c->name);
	for (int round = 0; round < rounds; round++)
		for (int w = SONDE; w <= BPFTRACE; w++) {
			struct run run;
			pid_t pid;
			double at_signal = 0;
			if (!tracers[w].has || !traced_job((enum who)w, c->name, c->script, c->op,
							   c->n, &run, &pid, &at_signal))
				continue;
			entries[w] = printed_lines(run.out, "@[");
			if (entries[w] < (double)c->n) {
				note("%s: %s printed %.0f of %ld entries; its figures are left out",
				     c->name, tracers[w].name, entries[w], c->n);
				continue;
			}
			series_add(&ms[w], run.exit_ms);
			series_add(&cpu[w], run.cpu_ms - at_signal);
			series_add(&rss[w], run.rss_mib);
		}
	double ratio = series_median(&ms[SONDE]) / series_median(&ms[BPFTRACE]);
	for (int w = SONDE; w <= BPFTRACE; w++)
		if (ms[w].n)
			fprintf(body, "| %s | %s | %.0f | %.0f | %.0f | %.1f | %s |\n", c->name,
				tracers[w].name, entries[w], series_median(&ms[w]),
				series_median(&cpu[w]), series_median(&rss[w]),
				w == SONDE ? num(ratio, 3) : "1");
	goal(c->goal, ratio, 3, 1.0 / 3);
}

void section_maps(void)
{
	int rounds = quick ? 1 : 3;

	setenv("BPFTRACE_MAX_MAP_KEYS", "200000", 1);
	fprintf(body,
		"\n## Large maps\n\n"
		"ms from SIGINT to the end, with everything printed to a file in memory; medians "
		"of "
		"%d.\n\n"
		"| what | tracer | entries printed | ms | CPU ms | MiB | ms, to bpftrace |\n"
		"|---|---|---|---|---|---|---|\n",
		rounds);
	for (size_t i = 0; i < sizeof(big) / sizeof(big[0]); i++)
		map_case(&big[i], rounds);
	unsetenv("BPFTRACE_MAX_MAP_KEYS");
}
