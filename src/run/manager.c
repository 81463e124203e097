/*
 * manager.c - what a service manager (systemd's Type=notify) is told: that all is attached, that the
 * trace still does its work, and that it ends.
 *
 * The socket is opened before rights are given up; from then on telling is a write that nobody waits
 * for. A manager that asks to hear from us (WATCHDOG_USEC) is told between batches of records, so
 * it does not hear from a trace that is stuck in one.
 */
#include "base/clock.h"
#include "run/notify.h"
#include "run/session.h"

struct manager {
	int fd;      /* 0: nobody asked */
	u64 each_ns; /* it wants to hear from us as often; 0: not */
	u64 told_ns; /* when it did; 0: it does not know yet that we are ready */
};

static void tell(const struct manager *m, const char *text)
{
	if (m->fd)
		notify_tell(m->fd, text);
}

/* Twice in the time that it allows, when it means this process. */
static u64 watchdog_ns(const struct host *h)
{
	const char *usec = host_env(h, "WATCHDOG_USEC"), *pid = host_env(h, "WATCHDOG_PID");
	u64 n = 0, whose = 0;
	if (!usec || !str_u64(str_z(usec), &n) || n > UINT64_MAX / 1000)
		return 0;
	if (pid && (!str_u64(str_z(pid), &whose) || whose != (u64)getpid()))
		return 0;
	return n * 1000 / 2;
}

static struct err *manager_open(struct session *s, void *self)
{
	struct manager *m = self;
	const char *name = host_env(s->h, "NOTIFY_SOCKET");
	if (!name || s->dry_run)
		return NULL;
	struct err *e = notify_open(name, &m->fd);
	if (e)
		report_err(&s->reporter, true, (struct loc){0}, err_wrap(e, "NOTIFY_SOCKET: "));
	m->each_ns = watchdog_ns(s->h);
	return NULL;
}

static void manager_tick(struct session *s, void *self)
{
	struct manager *m = self;
	u64 now = m->fd && (m->each_ns || !m->told_ns) ? now_ns() : 0;
	if (!now || (m->told_ns && now - m->told_ns < m->each_ns))
		return;
	AUTO_SB text = {0};
	u32 n = attach_count(s);
	if (!m->told_ns)
		sb_fmt(&text, "READY=1\nSTATUS=Attached %u probe%s\n", n, n == 1 ? "" : "s");
	if (m->each_ns)
		sb_z(&text, "WATCHDOG=1\n");
	tell(m, sb_str(&text).s);
	m->told_ns = now;
}

static void manager_detach(struct session *s, void *self)
{
	(void)s;
	tell(self, "STOPPING=1\n");
}

static void manager_close(void *self)
{
	struct manager *m = self;
	if (m->fd)
		close(m->fd);
	m->fd = 0;
}

const struct service service_manager = {
	.name = "manager",
	.size = sizeof(struct manager),
	.open = manager_open,
	.tick = manager_tick,
	.detach = manager_detach,
	.close = manager_close,
};
