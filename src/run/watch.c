/*
 * watch.c - readings of the maps for a watcher, at intervals and at the end.
 *
 * A reading of large maps takes time, so the interval grows with it: reading stays below a hundredth of
 * one CPU. Over recordings the intervals are of recorded time, and query.c knows when they are over.
 */
#include "run/watch.h"
#include "base/clock.h"
#include "core/watch.h"
#include "run/cost.h"
#include "run/programs.h"
#include "run/query.h"
#include "run/session.h"

enum { READING_SHARE = 100, LOOK_NS = 40 * MILLI_NS };

struct watching {
	u64 last_ns;   /* when the last reading began; 0 before the first */
	u64 took_ns;   /* how long readings take: the shorter one of the last two */
	u64 before_ns; /* the last one alone */
	u64 looked_ns; /* over recordings: when look() was called last */
};

static struct watcher *watcher_of(struct session *s)
{
	return s->reporter.output.watcher;
}

static u64 interval_of(const struct watching *w, const struct watcher *to)
{
	return MAX(to->every_ns, w->took_ns * READING_SHARE);
}

static void pass_maps(struct session *s, const struct watch_reading *t)
{
	struct watcher *to = watcher_of(s);
	to->begin(to->self, t);
	report_watch_maps(&s->reporter, to);
	if (to->reads_programs)
		programs_read(s, to);
	to->end(to->self);
}

static void read_maps(struct session *s, struct watching *w)
{
	struct watcher *to = watcher_of(s);
	struct watch_reading t = {.ns = now_ns(),
				  .wall_ns = clock_ns(CLOCK_REALTIME),
				  .start_ns = s->reporter.start_ns,
				  .own_ns = cost_own_ns(),
				  .ncpu = cost_cpus()};
	if (!cost_programs_ns(s, &t.programs_ns))
		t.programs_ns = WATCH_UNKNOWN;
	pass_maps(s, &t);
	/* One reading that takes long finds names, which the next ones know; two in a row are large. */
	u64 took = now_ns() - t.ns;
	w->took_ns = w->last_ns ? MIN(took, w->before_ns) : 0;
	w->before_ns = w->last_ns ? took : 0;
	w->last_ns = t.ns;
	u64 interval = interval_of(w, to);
	to->slowed_ns = interval > to->every_ns ? interval : 0;
}

void watch_look(struct session *s)
{
	struct watching *w = s->service[SERVICE_WATCH];
	struct watcher *to = watcher_of(s);
	if (now_ns() < w->looked_ns + LOOK_NS)
		return;
	if (!to->look(to->self))
		control_stop(&s->control);
	w->looked_ns = now_ns();
}

void watch_read(struct session *s)
{
	struct watch_reading t = {.ns = query_now(s->live.query),
				  .start_ns = s->reporter.start_ns,
				  .programs_ns = WATCH_UNKNOWN};
	t.wall_ns = t.ns + query_real_ns(s->live.query);
	report_flush(&s->reporter); /* what was printed until then */
	pass_maps(s, &t);
}

static void watch_tick(struct session *s, void *self)
{
	struct watching *w = self;
	struct watcher *to = watcher_of(s);
	if (!to)
		return;
	if (!to->look(to->self))
		control_stop(&s->control);
	if (now_ns() >= w->last_ns + interval_of(w, to))
		read_maps(s, w);
}

/* End programs have run: what stays on the screen is what is printed. */
static void watch_report(struct session *s, void *self)
{
	if (watcher_of(s) && s->live.query)
		watch_read(s);
	else if (watcher_of(s))
		read_maps(s, self);
}

const struct service service_watch = {
	.name = "watch",
	.anywhere = true,
	.size = sizeof(struct watching),
	.tick = watch_tick,
	.report = watch_report,
};
