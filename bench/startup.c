/*
 * startup ROUNDS NAME WORD... ; NAME WORD... ; ...: runs the commands in turn, ROUNDS times each,
 * and prints a table: time from exec to exit (median and least), processor time, peak memory. How
 * many times longer than the first command it took stands last. A command that fails is only named.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_COMMANDS = 16, MAX_ROUNDS = 1000 };

struct command {
	const char *name;
	char **argv;
	double wall_ms[MAX_ROUNDS], cpu_ms[MAX_ROUNDS];
	long rss_kib;
	int status; /* of the first run that failed */
};

static struct command commands[MAX_COMMANDS];

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double timeval_ms(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static void become(char **argv)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	execvp(argv[0], argv);
	_exit(127);
}

static void run_once(struct command *c, int round)
{
	struct rusage use = {0};
	int status = 0;
	double start = now_ms();
	pid_t pid = vfork();

	if (pid == 0)
		become(c->argv);
	while (wait4(pid, &status, 0, &use) < 0 && errno == EINTR)
		;
	c->wall_ms[round] = now_ms() - start;
	c->cpu_ms[round] = timeval_ms(use.ru_utime) + timeval_ms(use.ru_stime);
	if (use.ru_maxrss > c->rss_kib)
		c->rss_kib = use.ru_maxrss;
	if (status && !c->status)
		c->status = status;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return n & 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Splits argv at each ";"; the words stay where they are. */
static int read_commands(char **argv)
{
	int n = 0;

	while (*argv && n < MAX_COMMANDS) {
		commands[n].name = *argv++;
		commands[n].argv = argv;
		while (*argv && strcmp(*argv, ";"))
			argv++;
		if (*argv)
			*argv++ = NULL;
		if (commands[n].argv[0])
			n++;
	}
	return n;
}

static void print_row(struct command *c, int rounds, double first_ms)
{
	double wall = median(c->wall_ms, rounds);

	if (c->status) {
		int code =
			WIFEXITED(c->status) ? WEXITSTATUS(c->status) : 128 + WTERMSIG(c->status);

		printf("%-14s failed, exit code %d\n", c->name, code);
		return;
	}
	printf("%-14s %9.2f %9.2f %9.2f %9.1f %8.1fx\n", c->name, wall, c->wall_ms[0],
	       median(c->cpu_ms, rounds), (double)c->rss_kib / 1024, wall / first_ms);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
	int n = argc > 2 ? read_commands(argv + 2) : 0;

	if (rounds < 1 || rounds > MAX_ROUNDS || !n) {
		fprintf(stderr, "usage: startup ROUNDS NAME WORD... ';' NAME WORD... ';' ...\n");
		return 2;
	}
	for (int c = 0; c < n; c++) /* warm the caches */
		run_once(&commands[c], 0);
	for (int r = 0; r < rounds; r++)
		for (int c = 0; c < n; c++)
			run_once(&commands[c], r);

	printf("%-14s %9s %9s %9s %9s %9s\n", "", "wall ms", "least", "CPU ms", "MiB", "to first");
	double first_ms = median(commands[0].wall_ms, rounds);

	for (int c = 0; c < n; c++)
		print_row(&commands[c], rounds, first_ms);
	return 0;
}
