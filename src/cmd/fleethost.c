/*
 * fleethost.c - sonde fleet-host TOKEN [DIR]: the end of fleet on a host.
 *
 * It has the rights of who started it, and trusts the asker, who could run anything by the same connection. A child
 * traces; this process waits for the end of standard input, which means that the asker is gone or wants the answer now.
 */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/pack.h"
#include "cmd/cmd.h"
#include "cmd/fleet.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Once the asker is gone, a script has so long to end. */
enum { END_MS = 10000 };

static bool read_all(char *p, size_t n)
{
	while (n) {
		ssize_t got = read(STDIN_FILENO, p, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
	}
	return true;
}

/* "clock\n": the asker compares the clocks. */
static bool tell_clock(const char *token)
{
	char line[sizeof("clock\n")] = "";
	if (!read_all(line, sizeof(line) - 1) || strcmp(line, "clock\n") != 0)
		return false;
	printf("\n%s clock %llu\n", token, clock_ns(CLOCK_REALTIME));
	return !fflush(stdout);
}

/* "NBYTES START\n", byte by byte: what comes behind it is not ours to read yet. */
static bool read_head(u32 *bytes, u64 *start)
{
	char line[48];
	size_t n = 0;
	struct str rest, first;
	u64 size;
	do {
		if (n == sizeof(line) || !read_all(&line[n], 1))
			return false;
	} while (line[n++] != '\n');
	rest = str_n(line, n - 1);
	if (!str_cut(&rest, ' ', &first) || !str_u64(first, &size) || !str_u64(rest, start))
		return false;
	*bytes = (u32)size;
	return size <= FLEET_MAX_QUESTION;
}

bool fleet_greet(const char *token, u32 *bytes, u64 *start)
{
	int parent = getppid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return false;
	printf("\n%s ready\n", token);
	return !fflush(stdout) && tell_clock(token) && read_head(bytes, start);
}

/* The child. start: when, or 0. */
static int trace(char *question, u32 n, u64 start)
{
	struct arena a = {0};
	struct bytes b = bytes_of(question, n);
	struct str text = unpack_str(&b);
	u32 at = bytes_u32(&b), nword = bytes_u32(&b);
	if (b.bad || !nword || nword > FLEET_MAX_WORDS || at >= nword)
		return RC_USAGE;
	u32 more = start ? 2 : 0; /* behind the name of the program */
	char **word = arena_newn(&a, char *, (size_t)nword + more + 1);
	for (u32 i = 0; i < nword; i++)
		word[i ? i + more : 0] = arena_strz(&a, unpack_str(&b));
	if (start) {
		word[1] = arena_strz(&a, STR("--at"));
		word[2] =
			(char *)arena_fmt(&a, "@%llu.%09llu", start / SECOND_NS, start % SECOND_NS);
	}
	at += at ? more : 0;
	nword += more;
	if (b.bad)
		return RC_USAGE;
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0)
		return RC_USAGE;
	return at ? run_text(&text, (int)at, (int)nword, word) : run_words((int)nword, word);
}

static int status_of(int pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return RC_USAGE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* done: readable when the child has ended. */
static void watch(int pid, int done)
{
	struct pollfd p[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			     {.fd = done, .events = POLLIN}};
	int wait = -1, n;
	char c;
	while ((n = poll(p, countof(p), wait)) || wait < 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (p[1].revents)
			return;
		if (p[0].revents && read(STDIN_FILENO, &c, 1) > 0)
			continue;
		kill(pid, SIGTERM);
		p[0].fd = -1;
		wait = END_MS;
	}
	kill(pid, SIGKILL);
}

static int answer(char *question, u32 n, u64 start)
{
	int done[2];
	if (pipe2(done, O_CLOEXEC))
		return RC_USAGE;
	int parent = getpid(), pid = fork();
	if (!pid) {
		close(done[0]);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(RC_USAGE);
		int rc = trace(question, n, start);
		fflush(stdout);
		fflush(stderr);
		_exit(rc);
	}
	if (pid < 0) {
		fprintf(stderr, "ERROR: start a process: %s\n", strerror(errno));
		return RC_USAGE;
	}
	close(done[1]);
	watch(pid, done[0]);
	close(done[0]);
	return status_of(pid);
}

/* The program was sent for this run: nothing of it stays. */
static void leave_no_trace(const char *dir)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/sonde", dir);
	if (n > 0 && (size_t)n < sizeof(path))
		unlink(path);
	rmdir(dir);
}

int cmd_fleet_host(int argc, char **argv, bool compat)
{
	u32 n;
	u64 start;
	(void)compat;
	if (argc < 2) {
		fputs("ERROR: fleet-host is started by sonde fleet\n", stderr);
		return RC_USAGE;
	}
	if (argc > 2)
		leave_no_trace(argv[2]);
	if (!fleet_greet(argv[1], &n, &start))
		return RC_USAGE; /* the asker is gone, or asks nothing */
	char *question = xcalloc(n + 1u, 1);
	int rc = read_all(question, n) ? answer(question, n, start) : RC_USAGE;
	free(question);
	return rc;
}
