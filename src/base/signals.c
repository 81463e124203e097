#include "base/signals.h"
#include "base/clock.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

enum { SAME_SIGNAL_MS = 5 };

/* SIGHUP: the terminal was closed, unless nohup(1) wants that ignored. */
static void stop_signals(sigset_t *set)
{
	struct sigaction hup;
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
}

/* The page that is gone becomes one of zeros, and the read is done again. */
static void fill_page(int sig, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
		  at = (uintptr_t)info->si_addr & ~(page - 1);
	int no = errno;
	(void)context;
	if (info->si_code != BUS_ADRERR ||
	    mmap((void *)at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED)
		signal(sig, SIG_DFL);
	errno = no;
}

void signals_fill_pages(void)
{
	struct sigaction fill = {.sa_sigaction = fill_page, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigaction(SIGBUS, &fill, NULL);
}

struct err *signals_open(struct signals *s, bool poke, bool more)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t set;
	stop_signals(&set);
	if (poke)
		sigaddset(&set, SIGUSR1);
	if (more)
		sigaddset(&set, SIGUSR2);
	sigaction(SIGPIPE, &ignore, NULL);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return err_sys(errno, "block signals");
	s->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->fd < 0 ? err_sys(errno, "signalfd") : NULL;
}

void signals_close(struct signals *s)
{
	close_fd(&s->fd);
	s->fd = -1;
}

static bool take(struct signals *s)
{
	struct signalfd_siginfo info;
	if (read(s->fd, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo == SIGUSR1)
		s->usr1 = true;
	else if (info.ssi_signo == SIGUSR2)
		s->usr2 = true;
	else if (!s->stop_ns)
		s->stop_ns = now_ns();
	return true;
}

bool signals_look(struct signals *s)
{
	bool before = s->stop_ns;
	while (s->fd >= 0 && take(s))
		;
	if (before || !s->stop_ns)
		return before;
	/* timeout(1) and shells signal twice, once to the process and once to its group: that is
	 * one wish. */
	struct pollfd again = {.fd = s->fd, .events = POLLIN};
	while (poll(&again, 1, SAME_SIGNAL_MS) == 1 && take(s))
		;
	sigset_t set;
	stop_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return true;
}

bool signals_wait(struct signals *s, int fd, short events, u32 *grace_ms)
{
	for (;;) {
		bool late = s && s->stop_ns;
		struct pollfd p[] = {
			{.fd = fd, .events = events},
			{.fd = s && !late ? s->fd : -1, .events = POLLIN},
		};
		u64 from = now_ns();
		int n = poll(p, countof(p), late ? (int)*grace_ms : -1);
		if ((n > 0 && p[0].revents) || (n < 0 && errno != EINTR))
			return true;
		if (late) {
			u64 spent = (now_ns() - from + MILLI_NS - 1) / MILLI_NS;
			*grace_ms = n && spent < *grace_ms ? *grace_ms - (u32)spent : 0;
			if (!*grace_ms)
				return false;
		} else if (s) {
			signals_look(s);
		}
	}
}

/* A pipe that has room takes this much without waiting. */
static size_t writable(int fd, size_t n)
{
	struct stat st;
	return !fstat(fd, &st) && S_ISREG(st.st_mode) ? n : MIN(n, (size_t)PIPE_BUF);
}

int signals_write(struct signals *s, int fd, const char *p, size_t n, size_t *done)
{
	u32 none = 0;
	size_t most = n > PIPE_BUF ? writable(fd, n) : n;
	for (*done = 0; *done < n;) {
		if (!signals_wait(s, fd, POLLOUT, s ? &s->write_ms : &none))
			return ETIMEDOUT;
		ssize_t k = write(fd, p + *done, MIN(n - *done, most));
		if (k < 0 && errno != EINTR && errno != EAGAIN)
			return errno;
		if (k < 0)
			continue;
		*done += (size_t)k;
		if (s)
			s->write_ms = GRACE_MS;
	}
	return 0;
}
