/* dd.c - a program that makes nothing but system calls, under tracers of all kinds. */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

#define IDS "tracepoint:raw_syscalls:sys_enter { @[comm, args.id] = count(); }"
#define RAW "rawtracepoint:sys_enter { @[comm] = count(); }"
#define LATENCY                                                                            \
	"tracepoint:raw_syscalls:sys_enter { @s[tid] = nsecs; } "                          \
	"tracepoint:raw_syscalls:sys_exit /@s[tid]/ { @ns[comm] = hist(nsecs - @s[tid]); " \
	"delete(@s, tid); }"
#define OPENAT \
	"tracepoint:syscalls:sys_enter_openat { printf(\"%s %s\\n\", comm, str(args.filename)); }"
#define ALL                                                                                \
	"tracepoint:raw_syscalls:sys_enter /comm == \"dd\"/ { printf(\"%s %d\\n\", comm, " \
	"args.id); }"

static const struct dd_case {
	const char *name, *variable, *front; /* run by another program: $variable front dd ... */
	enum who who;                        /* or while this one traces */
	const char *script;
} cases[] = {
	{"nothing", NULL, NULL, NWHO, NULL},
	{"strace -c -f", "STRACE", "-c -f", NWHO, NULL},
	{"strace -f -o /dev/null", "STRACE", "-f -o /dev/null", NWHO, NULL},
	{"strace --seccomp-bpf -f -e openat", "STRACE",
	 "--seccomp-bpf -f -o /dev/null -e trace=openat", NWHO, NULL},
	{"sonde strace -c -f", "SONDE", "strace -c -f", NWHO, NULL},
	{"sonde strace -f -o /dev/null", "SONDE", "strace -f -o /dev/null", NWHO, NULL},
	{"perf trace -s", "PERF", "trace -s -o /dev/null", NWHO, NULL},
	{"perf trace -o /dev/null", "PERF", "trace -o /dev/null", NWHO, NULL},
	{"bpftrace: `@[comm, args.id] = count()`", NULL, NULL, BPFTRACE, IDS},
	{"sonde: the same", NULL, NULL, SONDE, IDS},
	{"bpftrace: `rawtracepoint @[comm] = count()`", NULL, NULL, BPFTRACE, RAW},
	{"sonde: the same", NULL, NULL, SONDE, RAW},
	{"bpftrace: latency of every call", NULL, NULL, BPFTRACE, LATENCY},
	{"sonde: the same", NULL, NULL, SONDE, LATENCY},
	{"bpftrace: printf of `openat` only", NULL, NULL, BPFTRACE, OPENAT},
	{"sonde: the same", NULL, NULL, SONDE, OPENAT},
	{"bpftrace: printf of every call", NULL, NULL, BPFTRACE, ALL},
	{"sonde: the same", NULL, NULL, SONDE, ALL},
};
enum { NCASE = sizeof(cases) / sizeof(cases[0]) };

/* The seconds that dd says it took; NAN when it does not. */
static double dd_seconds(const char *file)
{
	char line[300];
	double s = NAN;
	FILE *f = fopen(file, "r");

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "copied, ");
		if (at && sscanf(at, "copied, %lf", &s) != 1)
			s = NAN;
	}
	if (f)
		fclose(f);
	return s;
}

/* All run the same dd: the one in the chroot where a tracer lives there. */
static bool dd_run(const struct dd_case *c, const char *count, double *wall, double *cpu)
{
	char *argv[MAX_WORDS], number[32];
	int n = 0;
	struct run r;
	bool in_chroot = false;

	if (c->variable) {
		n = words_split(argv, 0, getenv(c->variable));
		in_chroot = !strcmp(argv[0], "chroot");
		n = words_split(argv, n, c->front);
	}
	if (*peer_root() && !in_chroot) {
		argv[n++] = "chroot";
		argv[n++] = (char *)peer_root();
	}
	snprintf(number, sizeof(number), "count=%s", count);
	char *dd[] = {"dd", "if=/dev/zero", "of=/dev/null", "bs=1", number, NULL};
	memcpy(&argv[n], dd, sizeof(dd));
	/* strace and what it traces need two CPUs */
	run_start(&r, argv, "dd", c->variable && ncpu > 1 ? ncpu - 2 : ncpu - 1, ncpu - 1);
	run_wait(&r);
	*wall = dd_seconds(r.err);
	if (isnan(*wall))
		*wall = dd_seconds(r.out);
	*cpu = r.cpu_ms;
	if (isnan(*wall) || r.killed)
		note_failure(&r, NULL, c->name);
	return !isnan(*wall) && !r.killed;
}

static void dd_once(const struct dd_case *c, const char *count, struct series *wall,
		    struct series *cpu)
{
	double w = NAN, ms = NAN;
	char *argv[MAX_WORDS];
	struct run run;
	bool good = false;

	if (c->variable && !(getenv(c->variable) && *getenv(c->variable))) {
		note("not measured: %s, which is not installed", c->name);
		return;
	}
	if (c->who == NWHO) {
		good = dd_run(c, count, &w, &ms);
	} else if (tracers[c->who].has) {
		tracer_command(c->who, c->script, 0, false, argv);
		run_start(&run, argv, "tracer", 0, ncpu > 1 ? ncpu - 2 : 0);
		bool attached = run_attached(&run, &tracers[c->who]);
		if (attached)
			good = dd_run(c, count, &w, &ms);
		run_stop(&run);
		if (!attached || run.killed) {
			note_failure(&run, &tracers[c->who], c->name);
			good = false;
		}
	}
	if (!good)
		return;
	series_add(wall, w * 1000);
	series_add(cpu, ms);
}

void section_dd(void)
{
	static struct series wall[NCASE], cpu[NCASE];
	const char *count = quick ? "20000" : "100000";
	int rounds = quick ? 1 : 3;

	fprintf(body,
		"\n## `dd if=/dev/zero of=/dev/null bs=1 count=%s`\n\n"
		"The time that dd reports, and the processor time of dd (of strace, perf and dd\n"
		"together, if one runs the other), also as multiples of what dd takes alone;\n"
		"medians of %d.\n\n"
		"| traced by | ms | times | CPU ms | times |\n|---|---|---|---|---|\n",
		count, rounds);
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < NCASE; i++)
			dd_once(&cases[i], count, &wall[i], &cpu[i]);
	for (int i = 0; i < NCASE; i++)
		if (wall[i].n)
			fprintf(body, "| %s | %.0f | %.2f | %.0f | %.2f |\n", cases[i].name,
				series_median(&wall[i]),
				series_median(&wall[i]) / series_median(&wall[0]),
				series_median(&cpu[i]),
				series_median(&cpu[i]) / series_median(&cpu[0]));
}
