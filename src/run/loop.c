/*
 * loop.c - one epoll: ring, signals, the traced process.
 *
 * Programs may store records without waking us, so the ring is also looked at every TICK_MS.
 */
#include "run/loop.h"
#include "base/clock.h"
#include "core/watch.h"
#include "run/phase.h"
#include "run/scope.h"
#include "run/session.h"
#include "run/target.h"
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { UNFINISHED_MS = 50, AWAIT_NS = 500 * MILLI_NS };

static struct err *watch(struct session *s, int fd)
{
	/* Records are polled for; that some are there is no reason to wake up. */
	bool edge = fd == s->reporter.source->fd(s);
	struct epoll_event ev = {.events = EPOLLIN | (edge ? (u32)EPOLLET : 0), .data.fd = fd};
	if (fd >= 0 && epoll_ctl(s->loop.epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return err_sys(errno, "watch descriptor %d", fd);
	return NULL;
}

struct err *loop_open(struct session *s)
{
	bool poked = phase_any(s, PROG_SIGNAL);
	struct err *e = NULL;
	if (s->limits.acts & ACT_SIGNALS)
		e = signals_open(&s->loop.signals, poked || s->u->config.compat, s->limits.parts);
	else if (poked)
		e = err_new(
			"a probe waits for a signal, and this process does not give its signals to "
			"the trace");
	if (e)
		return e;
	assert(s->loop.epoll_fd < 0);
	s->loop.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->loop.epoll_fd < 0)
		return err_sys(errno, "epoll_create1");
	e = watch(s, s->loop.signals.fd);
	if (!e)
		e = watch(s, s->reporter.source->fd(s));
	if (!e && s->loop.watcher)
		e = watch(s, s->loop.watcher->fd);
	for (u32 i = 0; i < s->target->n && !e; i++)
		e = watch(s, s->target->fd[i]);
	return e;
}

void loop_close(struct session *s)
{
	if (s->loop.epoll_fd >= 0)
		close(s->loop.epoll_fd);
	s->loop.epoll_fd = -1;
	if (s->loop.timer_fd)
		close(s->loop.timer_fd);
	s->loop.timer_fd = 0;
	signals_close(&s->loop.signals);
}

bool loop_interrupted(struct session *s)
{
	bool stop = signals_look(&s->loop.signals);
	if (s->loop.signals.usr1) {
		s->loop.signals.usr1 = false;
		phase_run(s, PROG_SIGNAL);
		if (s->u->config.compat) {
			report_print_maps(&s->reporter);
			report_flush(&s->reporter);
		}
	}
	s->control.stop |= stop;
	return stop;
}

void loop_await_start(struct session *s)
{
	u64 at = s->limits.at_ns, now;
	/* Not in one wait: the clock may be set meanwhile. */
	while ((now = clock_ns(CLOCK_REALTIME)) < at && !loop_interrupted(s)) {
		struct pollfd p = {.fd = s->loop.signals.fd, .events = POLLIN};
		struct timespec t = {.tv_nsec = (long)MIN(at - now, (u64)AWAIT_NS)};
		ppoll(&p, 1, &t, NULL);
	}
}

/* One batch; flushes when there was anything, or the sink wants to be called at times. */
static u64 consume(struct session *s)
{
	u64 n = s->reporter.source->consume(s, RECORD_BATCH);
	if (n || s->reporter.output.sink->keeps)
		report_flush(&s->reporter);
	return n;
}

void loop_drain(struct session *s)
{
	/* A program may still be writing its record: it was interrupted on another CPU. */
	for (u32 wait = 0; wait < UNFINISHED_MS && !s->reporter.output.failed;) {
		if (consume(s) >= RECORD_BATCH)
			continue;
		if (!s->reporter.source->wait(s))
			break;
		usleep(1000);
		wait++;
	}
	report_flush(&s->reporter);
}

/* --for: the time is over. */
static bool over(const struct session *s)
{
	return s->loop.end_ns && now_ns() >= s->loop.end_ns;
}

static int tick_ms(const struct session *s)
{
	if (services_busy(s))
		return 0;
	u64 now = s->loop.end_ns ? now_ns() : 0,
	    left = s->loop.end_ns > now ? s->loop.end_ns - now : 0;
	return s->loop.end_ns ? (int)MIN((left + 999999) / 1000000, (u64)TICK_MS) : TICK_MS;
}

static void cannot_wait(struct session *s, int no)
{
	struct err *e = err_sys(no, "tracing ends early: wait for events");
	report_error(&s->reporter, false, "", (struct loc){0}, str_z(e->msg));
	err_free(e);
	control_stop(&s->control);
}

static void take_tick(struct session *s)
{
	u64 n;
	(void)!read(s->loop.timer_fd, &n, sizeof(n));
}

void loop_once(struct session *s, int most_ms)
{
	struct epoll_event ev[4];
	int tick = tick_ms(s);
	assert(s->loop.epoll_fd >= 0);
	assert(most_ms >= 0);
	int n = epoll_wait(s->loop.epoll_fd, ev, countof(ev), MIN(tick, most_ms));
	bool gone = s->target->n && !s->target->nalive;
	for (int i = 0; i < n; i++)
		if (s->loop.timer_fd && ev[i].data.fd == s->loop.timer_fd)
			take_tick(s);
		else
			gone |= target_take(s, ev[i].data.fd);
	int no = n < 0 ? errno : 0;
	loop_interrupted(s);
	if (no && no != EINTR)
		cannot_wait(s, no);
	services_tick(s);
	/* A flood must not keep us from seeing Ctrl-C. */
	while (consume(s) >= RECORD_BATCH && !s->control.stop && !loop_interrupted(s) && !over(s))
		services_tick(s);
	if ((gone && scope_over(s)) || over(s))
		control_stop(&s->control);
}

void loop_run(struct session *s)
{
	while (!s->control.stop && !over(s))
		loop_once(s, TICK_MS);
}

struct err *loop_fd(struct session *s, int *ret)
{
	struct itimerspec tick = {{0, TICK_MS * 1000000l}, {0, TICK_MS * 1000000l}};
	*ret = s->loop.epoll_fd;
	if (s->loop.timer_fd)
		return NULL;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0 || timerfd_settime(fd, 0, &tick, NULL)) {
		int no = errno;
		close_fd(&fd);
		return err_sys(no, "timerfd");
	}
	s->loop.timer_fd = fd;
	return watch(s, fd);
}
