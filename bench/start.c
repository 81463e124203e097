/* start.c - from exec to exit: time, processor time and memory of tracers that do next to nothing.
 */
#include "bench.h"
#include <string.h>
#include <unistd.h>

#define ENTER(n) "tracepoint:syscalls:sys_enter_" #n
#define TP20(x)                                                                                                                              \
	x(read) "," x(write) "," x(close) "," x(openat) "," x(lseek) "," x(mmap) "," x(munmap) "," x(brk) "," x(ioctl) "," x(pread64) "," x( \
		pwrite64) "," x(access) "," x(pipe) "," x(select) "," x(dup) "," x(nanosleep) "," x(socket) "," x(connect) "," x(getcwd) "," x(chdir)

enum goes { SIGNALLED, ENDS }; /* by SIGINT, or by itself */

static const struct start_case {
	const char *name, *script, *ply;
	enum goes goes;
	bool file, slow; /* the script is a file's name; bpftrace runs once, and not when quick */
	int trace_ms, rounds;
} cases[] = {
	{"hello", "BEGIN { printf(\"hello\\n\"); exit(); }",
	 "BEGIN { printf(\"hello\\n\"); exit(0); }", ENDS, false, false, 0, 15},
	{"one tracepoint", ENTER(getppid) " { @[comm] = count(); }",
	 "BEGIN { printf(\"Attached\\n\"); } tracepoint:syscalls/sys_enter_getppid { @[comm] = "
	 "count(); }",
	 SIGNALLED, false, false, 0, 7},
	{"20 tracepoints", TP20(ENTER) " { @[probe] = count(); }", NULL, SIGNALLED, false, false, 0,
	 5},
	{"tracepoint:syscalls:sys_enter_*, 1 s",
	 "tracepoint:syscalls:sys_enter_* { @[probe] = count(); }", NULL, SIGNALLED, false, true,
	 1000, 5},
	{"uprobe:libc:*", "uprobe:%L/libc.so.6:* { @[func] = count(); }", NULL, SIGNALLED, false,
	 false, 0, 5},
	{"opensnoop.bt", "%T/opensnoop.bt", NULL, SIGNALLED, true, false, 0, 7},
	{"execsnoop.bt", "%T/execsnoop.bt", NULL, SIGNALLED, true, false, 0, 7},
	{"runqlat.bt", "%T/runqlat.bt", NULL, SIGNALLED, true, false, 0, 7},
	{"biolatency.bt", "%T/biolatency.bt", NULL, SIGNALLED, true, false, 0, 7},
	{"10,000 statements", "%L/long.bt", NULL, ENDS, true, true, 0, 5},
};
enum { NCASE = sizeof(cases) / sizeof(cases[0]) };

struct start_result {
	struct series attached, ended, total, cpu, rss;
	int probes;
	bool failed;
};

/* N of "Attached N probes". */
static int probes_of(const char *file)
{
	char line[PATH_SIZE];
	int n = 0;
	FILE *f = fopen(file, "r");

	while (f && !n && fgets(line, sizeof(line), f))
		if (sscanf(line, "Attached %d probe", &n) != 1)
			n = 0;
	if (f)
		fclose(f);
	return n;
}

static void start_once(const struct start_case *c, enum who w, struct start_result *r)
{
	const char *script = w == PLY ? c->ply : c->script;
	char *argv[MAX_WORDS];
	struct run run;

	if (!script || !tracers[w].has || r->failed)
		return;
	tracer_command(w, script, 0, c->file, argv);
	run_start(&run, argv, "tracer", 0, ncpu > 1 ? ncpu - 2 : 0);
	if (c->goes == ENDS) {
		run_wait(&run);
		r->failed = run.status != 0;
	} else {
		r->failed = !run_attached(&run, &tracers[w]);
		usleep((useconds_t)c->trace_ms * 1000);
		run_stop(&run);
	}
	if (r->failed || run.killed) {
		note_failure(&run, &tracers[w], c->name);
		r->failed = true;
		return;
	}
	r->probes = probes_of(run.err);
	if (!r->probes)
		r->probes = probes_of(run.out);
	series_add(&r->attached, run.attached_ms);
	if (c->goes == SIGNALLED)
		series_add(&r->ended, run.exit_ms);
	series_add(&r->total, run.total_ms);
	series_add(&r->cpu, run.cpu_ms);
	series_add(&r->rss, run.rss_mib);
	usleep(120000); /* after a detach, attaching waits for the kernel's grace period */
}

static double ratio(const struct series *a, const struct series *b)
{
	return series_median(a) / series_median(b);
}

static void print_case(const struct start_case *c, const struct start_result *r)
{
	for (int w = SONDE; w <= PLY; w++) {
		const struct start_result *s = &r[w];
		if (!s->total.n)
			continue;
		fprintf(body, "| %s | %s | %s | %s | %s | %.1f | %.1f | %.1f | %s |\n", c->name,
			tracers[w].name, w == PLY ? "-" : num(s->probes, 0),
			num(series_median(&s->attached), 1), num(series_median(&s->ended), 1),
			series_median(&s->total), series_median(&s->cpu), series_median(&s->rss),
			num(ratio(&s->total, &r[BPFTRACE].total), 4));
	}
	if (r[SONDE].total.n && r[BPFTRACE].total.n && r[SONDE].probes != r[BPFTRACE].probes &&
	    !strstr(c->name, "libc"))
		note("%s: sonde attached %d probes, bpftrace %d", c->name, r[SONDE].probes,
		     r[BPFTRACE].probes);
}

static void start_goals(const struct start_case *c, const struct start_result *r)
{
	double ms = series_median(&r[SONDE].total);

	if (c == &cases[0]) {
		goal("exec to exit of hello, to bpftrace",
		     ratio(&r[SONDE].total, &r[BPFTRACE].total), 4, 1.0 / 60);
		goal("- ms", ms, 1, 5);
		goal("- peak MiB", series_median(&r[SONDE].rss), 1, 8);
	} else if (strstr(c->name, "sys_enter_*")) {
		goal("`tracepoint:syscalls:sys_enter_*`, exec to exit with 1 s of tracing, s",
		     ms / 1000, 2, 1.2);
	} else if (strstr(c->name, "statements")) {
		goal("10,000 statements `@a[i] = i;`, exec to exit, s", ms / 1000, 2, 3);
		goal("- peak MiB", series_median(&r[SONDE].rss), 1, 300);
	} else if (strstr(c->name, "libc")) {
		goal("`uprobe:libc:*`, exec to exit, s", ms / 1000, 2, 1);
	}
}

void section_start(void)
{
	struct mean total = {0}, cpu = {0}, rss = {0};

	fprintf(body,
		"\n## Start and end\n\n"
		"Milliseconds, medians: from exec to \"Attached\", from SIGINT (sent at once\n"
		"unless the case says otherwise) to the end, from exec to the end; processor\n"
		"time; peak memory. If a tracer is installed in a chroot, entering it is\n"
		"included (about 1 ms). `uprobe:libc:*` is on a copy of libc that no process\n"
		"has mapped. sonde counts a function with several names as one probe.\n\n"
		"| case | tracer | probes | attached | end | all | CPU | MiB | all, to bpftrace |\n"
		"|---|---|---|---|---|---|---|---|---|\n");
	for (int i = 0; i < NCASE; i++) {
		const struct start_case *c = &cases[i];
		struct start_result r[NWHO] = {0};
		int rounds = quick ? 3 : c->rounds;
		fprintf(stderr, "  %s\n", c->name);
		for (int round = 0; round < rounds; round++)
			for (int w = SONDE; w <= PLY; w++)
				if (!(c->slow && w == BPFTRACE && (round || quick)))
					start_once(c, (enum who)w, &r[w]);
		print_case(c, r);
		start_goals(c, r);
		mean_add(&total, ratio(&r[SONDE].total, &r[BPFTRACE].total), 0, c->name);
		mean_add(&cpu, ratio(&r[SONDE].cpu, &r[BPFTRACE].cpu), 0, c->name);
		mean_add(&rss, ratio(&r[SONDE].rss, &r[BPFTRACE].rss), 0, c->name);
	}
	fprintf(body,
		"\n| sonde / bpftrace | geometric mean | worst | cases |\n|---|---|---|---|\n");
	mean_print("exec to the end", &total);
	mean_print("processor time", &cpu);
	mean_print("peak memory", &rss);
}
