/*
 * split.c - a file for each process, as strace -ff -o FILE: FILE.PID.
 *
 * A process that has been traced may start another at any time, but when all is attached no file may be
 * opened any more (confine.h). So a child does it, from before that: it reads what is printed from a
 * pipe, and may do nothing but open files for writing. Lines begin with "[pid N] ", which is left out;
 * those that do not belong to the line before, and before the first such line to nobody: into FILE itself.
 */
#include "base/alloc.h"
#include "base/err.h"
#include "cmd/cmd.h"
#include "rights/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_PID = 1 << 22,
	MAX_OPEN = 64,
	BUFFER = 1 << 20, /* more than a line takes */
};

struct split {
	const char *path;
	bool keep;
	int failed; /* the first errno */
	struct {
		bool is;
		u32 pid;
		int fd;
	} open[MAX_OPEN]; /* at pid % MAX_OPEN */
	u32 pid;          /* of the latest line; 0: nobody's */
	u8 seen[MAX_PID / 8];
	size_t n, nout;
	char in[BUFFER], out[BUFFER]; /* out: what is to be written for pid */
};

static void failed(struct split *s, int no)
{
	s->failed = s->failed ? s->failed : no;
}

/* Those of an earlier run are emptied, unless lines are to go behind them. */
static int file_of(struct split *s, u32 pid)
{
	u32 at = pid % MAX_OPEN;
	if (s->open[at].is && s->open[at].pid == pid)
		return s->open[at].fd;
	if (s->open[at].is)
		close(s->open[at].fd);
	char name[4096 + 16];
	snprintf(name, sizeof(name), pid ? "%s.%u" : "%s", s->path, pid);
	bool old = s->keep || s->seen[pid / 8] >> pid % 8 & 1;
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (old ? 0 : O_TRUNC), 0644);
	if (fd < 0)
		failed(s, errno);
	else
		s->seen[pid / 8] |= (u8)(1 << pid % 8);
	s->open[at].is = fd >= 0;
	s->open[at].pid = pid;
	s->open[at].fd = fd;
	return fd;
}

static void flush(struct split *s)
{
	int fd = s->nout ? file_of(s, s->pid) : -1;
	for (size_t done = 0; fd >= 0 && done < s->nout;) {
		ssize_t n = write(fd, s->out + done, s->nout - done);
		if (n < 0 && errno != EINTR) {
			failed(s, errno);
			break;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	s->nout = 0;
}

/* "[pid  1234] openat(...", "[pid 1234<make>] ...": the number, and where the rest begins. */
static bool read_pid(const char *line, size_t n, u32 *pid, size_t *rest)
{
	static const char head[] = "[pid ";
	size_t at = sizeof(head) - 1;
	u32 value = 0;
	if (n < at || memcmp(line, head, at) != 0)
		return false;
	while (at < n && line[at] == ' ')
		at++;
	for (; at < n && line[at] >= '0' && line[at] <= '9' && value < MAX_PID; at++)
		value = value * 10 + (u32)(line[at] - '0');
	const char *end = memmem(line + at, n - at, "] ", 2);
	if (!end || !value || value >= MAX_PID)
		return false;
	*pid = value;
	*rest = (size_t)(end - line) + 2;
	return true;
}

static void take_line(struct split *s, const char *line, size_t n)
{
	u32 pid;
	size_t rest = 0;
	if (read_pid(line, n, &pid, &rest) && pid != s->pid) {
		flush(s);
		s->pid = pid;
	}
	if (s->nout + n > sizeof(s->out))
		flush(s);
	memcpy(s->out + s->nout, line + rest, n - rest);
	s->nout += n - rest;
}

/* Whole lines of what has come; a line that fills the buffer goes as it is. */
static void take(struct split *s)
{
	size_t at = 0;
	char *end;
	while ((end = memchr(s->in + at, '\n', s->n - at))) {
		size_t n = (size_t)(end - s->in) + 1 - at;
		take_line(s, s->in + at, n);
		at += n;
	}
	if (!at && s->n == sizeof(s->in)) {
		take_line(s, s->in, s->n);
		at = s->n;
	}
	memmove(s->in, s->in + at, s->n - at);
	s->n -= at;
	flush(s);
}

/* The child's life: to the end of what comes, also when nothing can be written. Its exit code is an errno. */
static void run(struct split *s, int from)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	u64 left;
	for (size_t i = 0; i < countof(ignored); i++)
		signal(ignored[i], SIG_IGN);
	dup2(from, STDIN_FILENO);
	close_range(STDERR_FILENO + 1, ~0u, 0);
	err_free(confine_caps(1ull << CAP_DAC_OVERRIDE, &left));
	if (host_has_seccomp())
		err_free(confine_calls(MAY_WRITE));
	for (;;) {
		ssize_t n = read(STDIN_FILENO, s->in + s->n, sizeof(s->in) - s->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		s->n += (size_t)n;
		take(s);
	}
	take_line(s, s->in, s->n);
	flush(s);
	_exit(s->failed & 0xff);
}

struct err *split_start(const char *path, bool keep, int *pid, int *in)
{
	int p[2], n = (int)(strrchr(path, '/') ? strrchr(path, '/') + 1 - path : 0);
	char dir[4096];
	snprintf(dir, sizeof(dir), "%.*s", n, path);
	if (faccessat(AT_FDCWD, n ? dir : ".", W_OK | X_OK, AT_EACCESS))
		return err_sys(errno, "Failed to open output file '%s.PID'", path);
	struct split *s = xcalloc(1, sizeof(*s));
	s->path = path;
	s->keep = keep;
	if (pipe2(p, O_CLOEXEC)) {
		free(s);
		return err_sys(errno, "pipe");
	}
	*pid = fork();
	if (*pid == 0)
		run(s, p[0]);
	int no = errno;
	free(s);
	close(p[0]);
	if (*pid > 0) {
		*in = p[1];
		return NULL;
	}
	close(p[1]);
	*pid = 0;
	return err_sys(no, "fork");
}
