/* tracer.c - tracers and loads: how they are called, started, watched and ended. */
#include "bench.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	TEXT = 4096,
	LOOK = 1 << 14,    /* how far "Attached" is looked for */
	ATTACH_MS = 60000, /* the longest wait for it */
	EXIT_MS = 90000,   /* and for a tracer's end */
	JOB_MS = 120000,   /* and for a load that is traced */
	LOAD_MS = 60,      /* processor time of one measurement */
	MAX_LIVE = 8,
};

struct tracer tracers[NWHO] = {
	[SONDE] = {.name = "sonde", .variable = "SONDE", .ready = "Attached"},
	[BPFTRACE] = {.name = "bpftrace", .variable = "BPFTRACE", .ready = "Attached"},
	[PLY] = {.name = "ply", .variable = "PLY", .ready = "Attached", .settle_ms = 50},
	[DTRACE] = {.name = "dtrace", .variable = "DTRACE", .ready = "matched", .settle_ms = 2000},
	[MINIMUM] = {.name = "minimum", .variable = "MINIMUM", .ready = "Attached"},
};

bool quick;
int ncpu;
volatile sig_atomic_t interrupted;

static const char *tools, *raw_words, *root = "";
static char load[PATH_SIZE];
static char shared[200], inside[100], outputs[100];
static volatile pid_t live[MAX_LIVE]; /* groups that we started */

/* ---- small things ---- */

double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

double process_ms(pid_t pid)
{
	clockid_t c;
	struct timespec t = {0};

	if (!clock_getcpuclockid(pid, &c))
		clock_gettime(c, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double timeval_ms(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static void pin(int first, int last)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = first; i <= last; i++)
		CPU_SET((size_t)i, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int words_split(char **out, int n, const char *text)
{
	char *copy = strdup(text), *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w && n < MAX_WORDS - 8;
	     w = strtok_r(NULL, " ", &save))
		out[n++] = w;
	out[n] = NULL;
	return n;
}

const char *peer_root(void)
{
	return root;
}

/* ---- begin and end ---- */

static void tracer_init(struct tracer *t)
{
	const char *words = getenv(t->variable);

	t->root = "";
	if (!t->max_rounds)
		t->max_rounds = MAX_ROUNDS;
	if (!words || !*words) {
		note("not measured: %s, which is not installed", t->name);
		return;
	}
	t->nword = words_split(t->words, 0, words);
	for (int i = 0; i + 1 < t->nword; i++)
		if (!strcmp(t->words[i], "chroot"))
			root = t->root = t->words[i + 1];
	t->has = true;
}

static bool copy_file(const char *from, const char *to)
{
	static char buf[1 << 14];
	ssize_t n = -1;
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			n = -1;
	close(in);
	close(out);
	return n == 0;
}

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
	for (int i = 0; i < MAX_LIVE; i++)
		if (live[i])
			kill(-live[i], SIGKILL);
}

/* A libc that nobody has mapped, so that tracing all of it costs nobody anything. */
static void copy_libc(void)
{
	static const char *const libc[] = {"/lib/x86_64-linux-gnu/libc.so.6",
					   "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
					   "/usr/lib/libc.so.6"};
	char to[PATH_SIZE], from[PATH_SIZE];

	snprintf(to, sizeof(to), "%s/libc.so.6", shared);
	for (size_t i = 0; i < sizeof(libc) / sizeof(libc[0]); i++) {
		snprintf(from, sizeof(from), "%s%s", root, libc[i]);
		if (!access(from, R_OK) && access(to, F_OK))
			copy_file(from, to);
	}
}

/* A script of so many statements: what compiling costs. */
static bool write_long(void)
{
	enum { STATEMENTS = 10000 };
	char to[PATH_SIZE];
	FILE *f;

	snprintf(to, sizeof(to), "%s/long.bt", shared);
	f = fopen(to, "w");
	if (!f)
		return false;
	fputs("BEGIN {\n", f);
	for (int i = 0; i < STATEMENTS; i++)
		fprintf(f, "\t@a[%d] = %d;\n", i, i);
	fputs("\tclear(@a);\n\texit();\n}\n", f);
	return !fclose(f);
}

bool bench_begin(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	tracers[PLY].max_rounds = 3;
	tracers[DTRACE].max_rounds = 1;
	for (int w = 0; w < NWHO; w++)
		tracer_init(&tracers[w]);
	tools = getenv("TOOLS");
	raw_words = getenv("BPFTRACE_RAW");
	ncpu = (int)sysconf(_SC_NPROCESSORS_ONLN);
	setenv("BPFTRACE_MAX_PROBES", "10000", 1);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	pin(ncpu - 1, ncpu - 1);

	snprintf(inside, sizeof(inside), "/tmp/sonde-bench-%d", getpid());
	snprintf(shared, sizeof(shared), "%.90s%s", root, inside);
	snprintf(outputs, sizeof(outputs), "%s/sonde-bench-%d-out",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", getpid());
	snprintf(load, sizeof(load), "%s/load", shared);
	if (mkdir(shared, 0755) || mkdir(outputs, 0755) || !copy_file(getenv("LOAD"), load) ||
	    !write_long()) {
		fprintf(stderr, "driver: cannot make %s: %s\n", load, strerror(errno));
		return false;
	}
	copy_libc();
	return true;
}

void bench_end(void)
{
	static const char *const names[] = {"tracer.out", "tracer.err", "dd.out", "dd.err"};
	char path[PATH_SIZE];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", outputs, names[i]);
		unlink(path);
	}
	rmdir(outputs);
	snprintf(path, sizeof(path), "%s/libc.so.6", shared);
	unlink(path);
	snprintf(path, sizeof(path), "%s/long.bt", shared);
	unlink(path);
	unlink(load);
	rmdir(shared);
}

/* ---- processes ---- */

static void remember(pid_t pid, bool alive)
{
	for (int i = 0; i < MAX_LIVE; i++)
		if (live[i] == (alive ? 0 : pid)) {
			live[i] = alive ? pid : 0;
			return;
		}
}

static void leave_if_interrupted(void)
{
	if (!interrupted)
		return;
	bench_end();
	exit(130);
}

/* In the new process, whose memory is still ours. */
static void become(char **argv, int in, int out, int err, int first, int last)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(first, last);
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	_exit(127);
}

void run_start(struct run *r, char **argv, const char *name, int first, int last)
{
	leave_if_interrupted();
	memset(r, 0, sizeof(*r));
	snprintf(r->out, sizeof(r->out), "%s/%s.out", outputs, name);
	snprintf(r->err, sizeof(r->err), "%s/%s.err", outputs, name);
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open(r->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int err = open(r->err, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	r->attached_ms = NAN;
	r->started = now_ms();
	r->pid = vfork();
	if (!r->pid)
		become(argv, in, out, err, first, last);
	remember(r->pid, true);
	r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	close(in);
	close(out);
	close(err);
}

static bool has_text(const char *file, const char *text)
{
	static char buf[LOOK];
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, buf, sizeof(buf) - 1);

	close(fd);
	buf[n > 0 ? n : 0] = 0;
	return strstr(buf, text);
}

static bool ended(const struct run *r, int timeout_ms)
{
	struct pollfd p = {.fd = r->pidfd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) > 0;
}

bool run_attached(struct run *r, const struct tracer *t)
{
	while (now_ms() - r->started < (double)ATTACH_MS && !interrupted) {
		if (has_text(r->err, t->ready) || has_text(r->out, t->ready)) {
			r->attached_ms = now_ms() - r->started;
			usleep((useconds_t)t->settle_ms * 1000);
			r->cpu_attached = process_ms(r->pid);
			/* ply says it too early, and does not end when it cannot attach */
			return !ended(r, 0) && !has_text(r->err, "error:");
		}
		if (ended(r, 0))
			return false;
		usleep(100);
	}
	return false;
}

void run_wait(struct run *r)
{
	struct rusage use = {0};
	double start = now_ms();

	if (!ended(r, EXIT_MS)) {
		r->killed = true;
		kill(-r->pid, SIGKILL);
	}
	wait4(r->pid, &r->status, 0, &use);
	r->exit_ms = now_ms() - start;
	r->total_ms = now_ms() - r->started;
	remember(r->pid, false);
	close(r->pidfd);
	r->cpu_ms = timeval_ms(use.ru_utime) + timeval_ms(use.ru_stime);
	r->rss_mib = (double)use.ru_maxrss / 1024;
}

void run_stop(struct run *r)
{
	kill(r->pid, SIGINT);
	run_wait(r);
}

/* Why a tracer did not do it: that it hung, or the first line that says so. */
void note_failure(const struct run *r, struct tracer *t, const char *what)
{
	char line[PATH_SIZE] = "", best[160] = "no message";
	FILE *f = fopen(r->err, "r");

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "WARNING", 7) &&
		    (strcasestr(line, "error") || strstr(line, "dtrace:"))) {
			snprintf(best, sizeof(best), "%.159s", line);
			break;
		}
	}
	if (f)
		fclose(f);
	/* when dtrace cannot do one thing, it can do none, and says so slowly */
	bool all = r->killed || (t == &tracers[DTRACE]);
	const char *then = t && all ? "; left out from then on" : "";
	if (WIFSIGNALED(r->status) && !r->killed)
		snprintf(best, sizeof(best), "died of signal %d", WTERMSIG(r->status));
	if (r->killed)
		snprintf(best, sizeof(best), "did not end within %d s and was killed",
			 EXIT_MS / 1000);
	note("not measured: %s%s%s: %s%s", what, t ? ", " : "", t ? t->name : "", best, then);
	if (t && all)
		t->has = false;
}

/* ---- the words of a tracer ---- */

/* %X in a script. */
static const char *value_of(enum who w, char c, pid_t pid)
{
	static char text[PATH_SIZE];

	if (c == 'L')
		return *tracers[w].root ? inside : shared;
	if (c == 'U')
		return w == SONDE ? "fp_ustack" : "ustack";
	if (c == 'T')
		snprintf(text, sizeof(text), "%s%s", *tracers[w].root ? "" : root, tools);
	else if (c == 'P')
		snprintf(text, sizeof(text), "%d", pid);
	else
		return NULL;
	return text;
}

void tracer_command(enum who w, const char *script, pid_t pid, bool file, char **argv)
{
	static char text[TEXT], number[16];
	size_t len = 0;
	int n = tracers[w].nword;

	memcpy(argv, tracers[w].words, sizeof(*argv) * (size_t)n);
	for (const char *s = script; *s && len + PATH_SIZE < sizeof(text); s++) {
		const char *value = *s == '%' ? value_of(w, s[1], pid) : NULL;
		if (value) {
			len += (size_t)snprintf(text + len, PATH_SIZE, "%s", value);
			s++;
		} else {
			text[len++] = *s;
		}
	}
	text[len] = 0;
	if (w == BPFTRACE && strstr(script, "rawtracepoint") && raw_words)
		n = words_split(argv, n, raw_words);
	if (strstr(script, "dw_ustack") && (w == BPFTRACE || w == SONDE)) {
		snprintf(number, sizeof(number), "%d", pid);
		argv[n++] = "--dwarf-pid";
		argv[n++] = number;
	}
	if (w == PLY)
		argv[n++] = "-u"; /* no buffering */
	else if (w == DTRACE)
		argv[n++] = "-n";
	else if (!file && w != MINIMUM)
		argv[n++] = "-e";
	argv[n++] = text;
	if (w == MINIMUM)
		argv[n++] = load;
	argv[n] = NULL;
}

/* ---- loads ---- */

/* within: in the root of the tracers that live in one, with its libraries. */
static void start_load(struct job *j, const char *op, const char *how, long amount, bool wait,
		       bool within)
{
	char number[32], cpu[16], path[PATH_SIZE];
	int in[2], out[2];

	leave_if_interrupted();
	snprintf(number, sizeof(number), "%ld", amount);
	snprintf(cpu, sizeof(cpu), "%d", ncpu - 1);
	snprintf(path, sizeof(path), "%s/load", within ? inside : shared);
	char *argv[12] = {"chroot", (char *)root, path, "-c", cpu, (char *)how, number},
	     **first = argv;
	int n = 7;
	if (wait) {
		argv[n++] = "-w";
		argv[n++] = "-k";
	}
	argv[n] = (char *)op;
	if (!within)
		first += 2;
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		exit(1);
	j->pid = vfork();
	if (!j->pid)
		become(first, in[0], out[1], 2, ncpu - 1, ncpu - 1);
	remember(j->pid, true);
	close(in[0]);
	close(out[1]);
	j->in = in[1];
	j->out = out[0];
}

void job_start(struct job *j, const char *op, const char *how, long amount, bool wait)
{
	start_load(j, op, how, amount, wait, false);
}

void job_go(struct job *j)
{
	if (write(j->in, "\n", 1) != 1)
		note("a load ended before its time");
}

double job_result(struct job *j, double *ops)
{
	char line[128] = "";
	double ns = NAN, n = 0;
	struct pollfd p = {.fd = j->out, .events = POLLIN};

	if (poll(&p, 1, JOB_MS) > 0) {
		ssize_t got = read(j->out, line, sizeof(line) - 1);
		if (got <= 0 || sscanf(line, "%lf %lf", &n, &ns) != 2)
			ns = NAN;
	} else {
		note("a load was not done after %d s and was killed", JOB_MS / 1000);
		kill(-j->pid, SIGKILL);
	}
	if (ops)
		*ops = n;
	return ns;
}

void job_end(struct job *j)
{
	close(j->in);
	close(j->out);
	waitpid(j->pid, NULL, 0);
	remember(j->pid, false);
}

double cost(const char *op, double *ops)
{
	struct job j;

	job_start(&j, op, "-t", LOAD_MS, false);
	double ns = job_result(&j, ops);
	job_end(&j);
	return ns;
}

void cost_hold(const char *op, struct job *j)
{
	char link[64], exe[PATH_SIZE] = "";

	start_load(j, op, "-t", LOAD_MS, true, *root);
	snprintf(link, sizeof(link), "/proc/%d/exe", j->pid);
	for (int i = 0; i < 1000 && !strstr(exe, "/load"); i++) { /* it is chroot(1) before */
		usleep(1000);
		ssize_t n = readlink(link, exe, sizeof(exe) - 1);
		exe[n > 0 ? n : 0] = 0;
	}
}

double cost_go(struct job *j, double *ops)
{
	job_go(j);
	return job_result(j, ops);
}

/* ---- what tracers print ---- */

/*
 * The sum of what was counted, in the form that sonde, bpftrace and the minimum share: the values
 * of maps ("@[key]: 3", "]: 3" after a stack, "name: 3"), the rows of histograms, or lines that
 * begin with a digit.
 */
double printed_sum(const char *file, enum printed kind)
{
	static char line[8192];
	double sum = 0;
	FILE *f = fopen(file, "r");

	while (f && fgets(line, sizeof(line), f)) {
		bool bucket = line[0] == '[' || line[0] == '(';
		char *at = NULL;
		if (kind == LINES)
			sum += line[0] >= '0' && line[0] <= '9';
		else if (kind == BUCKETS && bucket)
			at = line + strcspn(line, "])") + 1;
		else if (kind == COUNTS && !bucket && line[0] != ' ' && (at = strrchr(line, ':')))
			at++;
		if (at)
			sum += strtod(at, NULL);
	}
	if (f)
		fclose(f);
	return sum;
}

double printed_lines(const char *file, const char *begin)
{
	static char line[8192];
	double n = 0;
	FILE *f = fopen(file, "r");

	while (f && fgets(line, sizeof(line), f))
		n += !strncmp(line, begin, strlen(begin));
	if (f)
		fclose(f);
	return n;
}

/* Events reported as lost: bpftrace tells each time and then all; sonde each time. */
double printed_lost(const char *file)
{
	static char line[8192];
	double sum = 0, all = -1, n;
	FILE *f = fopen(file, "r");

	while (f && fgets(line, sizeof(line), f)) {
		const char *total = strstr(line, "Total lost event count: ");
		const char *lost = strcasestr(line, "lost ");
		if (total && sscanf(total, "Total lost event count: %lf", &n) == 1)
			all = n;
		else if (lost && strstr(line, " event") && sscanf(lost + 5, "%lf", &n) == 1)
			sum += n;
	}
	if (f)
		fclose(f);
	return all >= 0 ? all : sum;
}
