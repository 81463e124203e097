/* spawn.c - see the header. */
#include "base/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

bool spawn_split(struct arena *a, struct str text, struct spawn_words *ret)
{
	AUTO_SB w = {0};
	char quote = 0;
	bool in = false;
	for (u32 i = 0; i < text.n; i++) {
		char c = text.s[i];
		bool blank = c == ' ' || c == '\t' || c == '\n';
		if (!quote && blank) {
			if (in)
				vec_add(ret, arena_strz(a, sb_str(&w)));
			sb_clear(&w);
			in = false;
			continue;
		}
		in = true;
		if (quote ? c == quote : (c == '"' || c == '\''))
			quote = quote ? 0 : c;
		else if (c == '\\' && quote != '\'' && i + 1 < text.n)
			sb_char(&w, text.s[++i]);
		else
			sb_char(&w, c);
	}
	if (in)
		vec_add(ret, arena_strz(a, sb_str(&w)));
	return !quote;
}

/* Signals are as they are by default, and none is blocked. */
static void set_signals(posix_spawnattr_t *attr, short more)
{
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(attr);
	posix_spawnattr_setflags(attr,
				 (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | more));
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &all);
}

/* *end: ours of a pipe whose other end is its stream fd. */
static struct err *spawn(char *const *argv, bool quiet, int fd, int *pid, int *end)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int p[2], theirs = fd == STDIN_FILENO ? 0 : 1;
	if (pipe2(p, O_CLOEXEC))
		return err_sys(errno, "pipe");
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, p[theirs], fd);
	if (quiet)
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	set_signals(&attr, 0);
	int no = posix_spawnp(pid, argv[0], &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	close(p[theirs]);
	if (no) {
		close(p[!theirs]);
		return err_sys(no, "start %s", argv[0]);
	}
	*end = p[!theirs];
	return NULL;
}

struct err *spawn_read(char *const *argv, bool quiet, int *pid, int *out)
{
	return spawn(argv, quiet, STDOUT_FILENO, pid, out);
}

struct err *spawn_write(char *const *argv, int *pid, int *in)
{
	return spawn(argv, false, STDIN_FILENO, pid, in);
}

/* The ends of three pipes: theirs, and ours, which do not block. */
static int open_pipes(int theirs[3], int ours[3])
{
	for (int i = 0; i < 3; i++) {
		int p[2];
		if (pipe2(p, O_CLOEXEC))
			return errno;
		theirs[i] = p[i > 0];
		ours[i] = p[i == 0];
		if (fcntl(ours[i], F_SETFL, O_NONBLOCK))
			return errno;
	}
	return 0;
}

static void close_all(int fd[3])
{
	for (int i = 0; i < 3; i++) {
		close_fd(&fd[i]);
		fd[i] = -1;
	}
}

struct err *spawn_talk(char *const *argv, int *pid, int end[3])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int theirs[3] = {-1, -1, -1};
	memset(end, -1, 3 * sizeof(*end));
	int no = open_pipes(theirs, end);
	posix_spawn_file_actions_init(&files);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&files, theirs[i], i);
	set_signals(&attr, POSIX_SPAWN_SETPGROUP);
	no = no ? no : posix_spawnp(pid, argv[0], &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	close_all(theirs);
	if (!no)
		return NULL;
	close_all(end);
	return err_sys(no, "start %s", argv[0]);
}
