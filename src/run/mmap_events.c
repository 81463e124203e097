/*
 * notes.c - which process maps what, while it happens: names of user addresses are wanted when the
 * process has gone.
 *
 * Only for scripts that show such addresses. Without perf events (the kernel may forbid them),
 * /proc/PID/maps of the traced process is read now and then.
 */
#include "run/mmap_events.h"
#include "base/clock.h"
#include "kern/mmaps.h"
#include "report/loss.h"
#include "run/confine.h"
#include "run/session.h"
#include <sys/epoll.h>

/*
 * Bytes of notes at which we want to know: a program of an interpreted language has to be met before it
 * runs. A program that begins makes about twice as many.
 */
enum { WAKE_BYTES = 512 };

struct mmap_events_state {
	bool wanted;         /* user addresses are shown: remember who maps what */
	bool read_all;       /* what was before, too */
	struct mmaps *mmaps; /* tells of it; NULL: /proc is read now and then */
	struct err *failed;  /* why */
	u32 nread;           /* processes, in: */
	u64 read_all_ns, lost, read_ns;
};

/* All that is traced happens in one process. */
static bool one_process(const struct unit *u)
{
	if (u->scope.npid != 1 || u->scope.follow)
		return false;
	for (u32 i = 0; i < u->nprog && !scope_filters(&u->scope); i++)
		if (u->prog[i]->phase == PROG_ATTACH &&
		    point_flags(u->prog[i]->points) & PROBE_PIDFILTER)
			return false;
	return true;
}

static struct err *open_events(struct session *s, struct mmap_events_state *n)
{
	bool one = one_process(s->u);
	if (!host_has(s->h, FEAT_MAP_NOTES))
		return err_new("%s: not allowed", feature_what(FEAT_MAP_NOTES));
	u32 wake = s->u->unwind ? WAKE_BYTES : 0;
	struct err *e = mmaps_open(s->h, one ? s->u->pid : 0, wake, &n->mmaps);
	if (e && !one && s->u->pid) { /* one's own process may be allowed */
		err_free(e);
		e = mmaps_open(s->h, s->u->pid, wake, &n->mmaps);
	}
	return e;
}

static void read_processes(struct session *s, bool child)
{
	for (u32 i = s->u->cpid && !child ? 1 : 0; i < s->u->scope.npid; i++)
		sym_user_read(s->syms, (u32)s->u->scope.pid[i].pid);
}

bool mmap_events_of_all(const struct session *s)
{
	return ((const struct mmap_events_state *)s->service[SERVICE_MMAP_EVENTS])->read_all;
}

static void read_all(struct session *s, struct mmap_events_state *notes)
{
	u64 from = now_ns();
	notes->read_all = true;
	notes->nread = sym_user_read_all(s->syms);
	notes->read_all_ns = now_ns() - from;
}

static void tell_read_all(struct session *s, const struct mmap_events_state *n)
{
	AUTO_SB text = {0};
	sb_fmt(&text, "the mappings of %u processes were read in %llu ms", n->nread,
	       n->read_all_ns / MILLI_NS);
	if (n->read_all && s->log.level)
		report_error(&s->reporter, true, "", (struct loc){0}, sb_str(&text));
}

/* Long before the first event: the unwinder asks for what they map while programs are loaded. */
static void mmap_events_early(struct session *s, void *self)
{
	struct mmap_events_state *n = self;
	/* Maps are printed long after the process was seen. */
	bool in_maps = maps_hold(s->u, USER_ADDRESSES);
	n->wanted = in_maps || records_hold(s->u, USER_ADDRESSES) || s->u->unwind;
	if (!n->wanted)
		return;
	n->failed = open_events(s, n);
	if (n->failed)
		return;
	sym_user_events(s->syms, mmaps_of_all(n->mmaps));
	if ((in_maps || s->u->unwind) && mmaps_of_all(n->mmaps))
		read_all(s, n);
}

/* Without it they are looked at every TICK_MS. */
static void wait_for_events(struct session *s, const struct mmaps *m)
{
	struct epoll_event ev = {.events = EPOLLIN};
	for (u32 i = 0; (ev.data.fd = mmaps_fd(m, i)) >= 0; i++)
		(void)epoll_ctl(s->loop.epoll_fd, EPOLL_CTL_ADD, ev.data.fd, &ev);
}

static void mmap_events_ready(struct session *s, void *self)
{
	struct mmap_events_state *n = self;
	if (!n->wanted)
		return;
	tell_read_all(s, n);
	mmap_events_drain(s);
	read_processes(s, false); /* it has not begun its program */
	if (n->mmaps && s->u->unwind)
		wait_for_events(s, n->mmaps);
	if (!n->failed)
		return;
	AUTO_SB text = {0};
	sb_fmt(&text, "names of processes that end may be missing: %s", n->failed->msg);
	report_error(&s->reporter, true, "", (struct loc){0}, sb_str(&text));
}

struct taking {
	struct session *s;
	struct mmap_events_state *n;
};

static void take_note(void *taking, const struct mmap_event *note)
{
	const struct taking *t = taking;
	if (note->kind == MMAP_EVENT_LOST)
		t->n->lost += note->lost;
	sym_user_event(t->s->syms, note);
	services_mapped(t->s, note);
}

void mmap_events_drain(struct session *s)
{
	struct mmap_events_state *n = s->service[SERVICE_MMAP_EVENTS];
	if (n && n->mmaps)
		mmaps_drain(n->mmaps, take_note, &(struct taking){s, n});
}

static void mmap_events_tick(struct session *s, void *self)
{
	struct mmap_events_state *n = self;
	u64 now = now_ns();
	mmap_events_drain(s);
	if (n->mmaps || !n->wanted || !s->u->scope.npid || now - n->read_ns < SECOND_NS)
		return;
	n->read_ns = now;
	read_processes(s, true);
}

static void mmap_events_report(struct session *s, void *self)
{
	const struct mmap_events_state *n = self;
	AUTO_SB b = {0};
	if (!n->lost)
		return;
	sb_fmt(&b,
	       "%llu records of mappings were lost; some user addresses may have no symbol or a "
	       "wrong one",
	       n->lost);
	loss_put(&s->reporter, LOSS_MAPPINGS, STR(""), n->lost, sb_str(&b));
}

static void mmap_events_close(void *self)
{
	struct mmap_events_state *n = self;
	mmaps_free(n->mmaps);
	err_free(n->failed);
}

const struct service service_mmap_events = {
	.name = "mappings",
	.size = sizeof(struct mmap_events_state),
	.early = mmap_events_early,
	.ready = mmap_events_ready,
	.tick = mmap_events_tick,
	.report = mmap_events_report,
	.close = mmap_events_close,
};
