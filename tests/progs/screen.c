// screen.c - a terminal for guests that have no tmux.
//
//	screen STEP... -- COMMAND
//
// COMMAND runs in a terminal of 80 columns and 24 lines. Steps are "until:TEXT", which has the screen drawn anew until it
// contains the text, "send:KEYS" and "sleep:SECONDS". What COMMAND writes after it has left its screen is printed; the
// exit status is that of COMMAND, or 99 with a sentence if a step took 60 seconds.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static char seen[1 << 22];
static size_t n;

/* False: the other side is closed. */
static int take(int fd, int ms)
{
	struct pollfd p = {fd, POLLIN, 0};
	if (poll(&p, 1, ms) < 1)
		return 1;
	ssize_t got = read(fd, seen + n, sizeof(seen) - n - 1);
	if (got <= 0)
		return 0;
	n += (size_t)got;
	if (n > sizeof(seen) / 2) { /* the end is what counts */
		memmove(seen, seen + n / 2, n - n / 2);
		n -= n / 2;
	}
	return 1;
}

static void step(int fd, const char *s)
{
	if (!strncmp(s, "send:", 5)) {
		n = 0;
		if (write(fd, s + 5, strlen(s + 5)) < 0)
			perror(s);
	} else if (!strncmp(s, "sleep:", 6)) {
		for (int i = 0; i < 20 * atoi(s + 6); i++) {
			take(fd, 0);
			usleep(50000);
		}
	} else {
		for (int i = 0; i < 60; i++) {
			for (int k = 0; k < 10 && take(fd, 100); k++)
				;
			if (memmem(seen, n, s + 6, strlen(s + 6)))
				return;
			if (write(fd, "\f", 1) < 0)
				break;
		}
		char *last = seen;
		for (char *p = seen; (p = memmem(p, n - (size_t)(p - seen), "\33[2J", 4)); p += 4)
			last = p;
		printf("never: %s\n%.*s\n", s + 6, (int)(n - (size_t)(last - seen)), last);
		exit(99);
	}
}

int main(int argc, char **argv)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	int at = 1, status, fd = posix_openpt(O_RDWR | O_NOCTTY);
	while (at < argc && strcmp(argv[at], "--"))
		at++;
	if (fd < 0 || grantpt(fd) || unlockpt(fd) || ioctl(fd, TIOCSWINSZ, &size) || at + 1 >= argc)
		return perror("screen"), 99;
	pid_t pid = fork();
	if (!pid) {
		setsid();
		int terminal = open(ptsname(fd), O_RDWR);
		for (int i = 0; i < 3; i++)
			dup2(terminal, i);
		setenv("TERM", "xterm", 1);
		setenv("LANG", "C.UTF-8", 1);
		close(fd);
		execvp(argv[at + 1], argv + at + 1);
		_exit(99);
	}
	for (int i = 1; i < at; i++)
		step(fd, argv[i]);
	while (take(fd, 100) && !waitpid(pid, &status, WNOHANG))
		;
	while (take(fd, 100) && poll(&(struct pollfd){fd, POLLIN, 0}, 1, 0) == 1)
		;
	char *end = NULL;
	for (char *p = seen; (p = memmem(p, n - (size_t)(p - seen), "\33[?1049l", 8)); p += 8)
		end = p + 8;
	waitpid(pid, &status, 0);
	if (end)
		printf("%.*s", (int)(n - (size_t)(end - seen)), end);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
