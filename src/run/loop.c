/*
 * loop.c - one epoll: ring, signals, the traced process.
 *
 * Programs may store records without waking us, so the ring is also looked at every TICK_MS.
 */
#include "run/run.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

enum { SAME_SIGNAL_MS = 5, UNFINISHED_MS = 50 };

static struct err *watch(struct session *s, int fd)
{
	/* Records are polled for; that some are there is no reason to wake up. */
	bool edge = s->ring && fd == ring_fd(s->ring);
	struct epoll_event ev = {.events = EPOLLIN | (edge ? (u32)EPOLLET : 0), .data.fd = fd};
	if (fd >= 0 && epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return err_sys(errno, "watch descriptor %d", fd);
	return NULL;
}

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

/* SIGPIPE: a closed output is an error of write(), and ends the session like others. */
static struct err *catch_signals(struct session *s)
{
	bool poke = phase_any(s, PROG_SIGNAL) || s->u->config.compat;
	sigset_t set;
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	stop_signals(&set);
	if (poke)
		sigaddset(&set, SIGUSR1);
	sigaction(SIGPIPE, &ignore, NULL);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return err_sys(errno, "block signals");
	s->sig_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->sig_fd < 0 ? err_sys(errno, "signalfd") : NULL;
}

struct err *loop_open(struct session *s)
{
	struct err *e = catch_signals(s);
	if (e)
		return e;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return err_sys(errno, "epoll_create1");
	e = watch(s, s->sig_fd);
	if (!e && s->ring)
		e = watch(s, ring_fd(s->ring));
	for (u32 i = 0; i < s->ntarget && !e; i++)
		e = watch(s, s->target_fd[i]);
	return e;
}

/* The second signal ends the process as if we had never caught one. */
static void release_signals(void)
{
	sigset_t set;
	stop_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void loop_close(struct session *s)
{
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	if (s->sig_fd >= 0)
		close(s->sig_fd);
	s->epoll_fd = s->sig_fd = -1;
}

static void flush(struct session *s)
{
	struct err *e = s->sink->flush ? s->sink->flush(s->self) : NULL;
	if (e)
		s->failed = s->stop = true;
	err_free(e);
}

bool loop_interrupted(struct session *s)
{
	struct signalfd_siginfo info;
	if (read(s->sig_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo == SIGUSR1) {
		phase_run(s, PROG_SIGNAL);
		if (s->u->config.compat) {
			session_print_maps(s);
			flush(s);
		}
		return false;
	}
	s->stop = s->interrupted = true;
	/* timeout(1) and shells signal twice, once to the process and once to its group: that is
	 * one wish. */
	struct pollfd again = {.fd = s->sig_fd, .events = POLLIN};
	while (poll(&again, 1, SAME_SIGNAL_MS) == 1 &&
	       read(s->sig_fd, &info, sizeof(info)) == sizeof(info))
		;
	release_signals();
	return true;
}

/* One batch; flushes when there was anything. */
static u64 consume(struct session *s)
{
	u64 n = s->ring ? ring_consume(s->ring, RECORD_BATCH) : 0;
	if (n)
		flush(s);
	return n;
}

void loop_drain(struct session *s)
{
	/* A program may still be writing its record: it was interrupted on another CPU. */
	for (u32 wait = 0; wait < UNFINISHED_MS && !s->failed;) {
		if (consume(s) >= RECORD_BATCH)
			continue;
		if (!s->ring || !ring_wait(s->ring))
			break;
		usleep(1000);
		wait++;
	}
	flush(s);
}

void loop_run(struct session *s)
{
	struct epoll_event ev[4];
	if (s->ring && !s->stop)
		proc_hasten();
	while (!s->stop) {
		int timeout = TICK_MS;
		int n = epoll_wait(s->epoll_fd, ev, countof(ev), timeout);
		bool gone = s->ntarget && !s->nalive;
		for (int i = 0; i < n; i++) {
			if (ev[i].data.fd == s->sig_fd)
				loop_interrupted(s);
			gone |= scope_take(s, ev[i].data.fd);
		}
		if (n < 0 && errno != EINTR)
			s->stop = true;
		unwind_tick(s);
		notes_tick(s);
		/* A flood must not keep us from seeing Ctrl-C. */
		while (consume(s) >= RECORD_BATCH && !s->stop && !loop_interrupted(s)) {
			unwind_tick(s);
			notes_tick(s);
			loss_tick(s);
		}
		if (gone && scope_over(s))
			s->stop = true;
		loss_tick(s);
		scope_tick(s);
	}
}
