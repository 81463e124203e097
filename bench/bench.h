/*
 * bench.h - what the files of the benchmark's driver share (driver.c says how it is called).
 *
 * A tracer is a command of one or several words. A run is one process of it, a job one process of
 * the load. Runs are on the first CPUs, jobs on the last. Everything that is started is in a group
 * of its own, is ended by its id when it takes too long, and dies with the driver.
 */
#pragma once
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { MAX_WORDS = 40, MAX_ROUNDS = 16, PATH_SIZE = 300 };

/* ---- figures (figures.c) ---- */

struct series {
	double v[MAX_ROUNDS];
	int n;
};

void series_add(struct series *s, double v);
double series_median(const struct series *s); /* NAN when it is empty */
double series_error(const struct series *s);  /* standard error of the median */

/* A geometric mean; what is not above 0 or not a number is left out. */
struct mean {
	double log_sum, worst;
	double sure; /* the worst ratio less twice its error */
	int n;
	const char *worst_name;
};

void mean_add(struct mean *m, double ratio, double error, const char *name);
double mean_value(const struct mean *m); /* NAN when it is empty */
void mean_print(const char *what, const struct mean *m);

double at_least(double v, double least); /* NAN stays NAN */
/* "-" for NAN; good for 32 calls */
const char *num(double v, int decimals);

/* What the section prints goes to `body`; remarks come behind it, goals before all of it. */
extern FILE *body;
__attribute__((format(printf, 1, 2))) void note(const char *fmt, ...);
void notes_print(void);
void goal(const char *what, double value, int decimals, double limit);
/* That no ratio is above the limit, by more than the measurement's own noise. */
void goal_worst(const struct mean *m, double limit);
void goals_print(FILE *out);

/* ---- the kernel's accounting of BPF programs (account.c) ---- */

struct account {
	double runs, ns; /* of all programs together */
	unsigned insns, bytes;
};

int account_on(void); /* descriptor: accounting goes on until it is closed */
unsigned account_mark(void);
unsigned account_tracing(void); /* programs of tracers that are loaded now */
/* A tracer's programs, made since the mark, that ran at least so often. */
struct account account_of(pid_t pid, unsigned mark, double runs);

/* ---- tracers and loads (tracer.c) ---- */

enum who { SONDE, BPFTRACE, PLY, DTRACE, MINIMUM, NWHO };

struct tracer {
	const char *name, *variable;
	const char *ready; /* what it writes when it is attached */
	int settle_ms;     /* and how long it needs then */
	int max_rounds;
	char *words[MAX_WORDS];
	int nword;
	const char *root; /* chroot's directory, or "" */
	bool has;
};

struct run {
	pid_t pid;
	int pidfd;
	char out[PATH_SIZE], err[PATH_SIZE]; /* files */
	double started, attached_ms, exit_ms, total_ms, cpu_ms, cpu_attached, rss_mib;
	int status;
	bool killed; /* took too long */
};

extern struct tracer tracers[NWHO];
extern bool quick;
extern int ncpu;
extern volatile sig_atomic_t interrupted;

double now_ms(void);
double process_ms(pid_t pid); /* processor time of a living process */
int words_split(char **out, int n, const char *text);

bool bench_begin(void); /* directories, copies of what is traced; false: it said why not */
void bench_end(void);
const char *peer_root(void); /* of the tracers that live in a chroot, or "" */

/* %L in a script: the directory of `load` and libc.so.6; %T: of tools; %P: this process; %U: a user
 * stack by frame pointers. */
void tracer_command(enum who w, const char *script, pid_t pid, bool file, char **argv);
/* What the run writes goes to NAME.out and NAME.err; CPUs first to last. */
void run_start(struct run *r, char **argv, const char *name, int first, int last);
bool run_attached(struct run *r, const struct tracer *t); /* false: it ended, or took too long */
void run_wait(struct run *r);
void run_stop(struct run *r); /* by SIGINT */
/* t: whose run it was, which is left out from then on if it had to be killed; or NULL. */
void note_failure(const struct run *r, struct tracer *t, const char *what);

struct job {
	pid_t pid;
	int in, out;
};

/* how: "-t" milliseconds or "-n" times. With `wait` it begins at job_go() and lives on after it. */
void job_start(struct job *j, const char *op, const char *how, long amount, bool wait);
void job_go(struct job *j);
double job_result(struct job *j, double *ops); /* ns of one; NAN: it failed */
void job_end(struct job *j);
double cost(const char *op, double *ops); /* ns of one operation now */
/* The same of a load that is there before, and until job_end(); where tracers live in a root, there. */
void cost_hold(const char *op, struct job *j);
double cost_go(struct job *j, double *ops);

/* ---- what tracers print ---- */

enum printed { NOTHING, COUNTS, BUCKETS, LINES };
double printed_sum(const char *file, enum printed kind);
double printed_lines(const char *file, const char *begin);
double printed_lost(const char *file);

/* ---- sections ---- */

void section_start(void);
void section_events(void);
void section_throughput(void);
void section_maps(void);
void section_dd(void);
