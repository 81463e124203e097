/*
 * session.c - the life of a loaded script: begin programs, attaching, the loop, end programs, maps,
 * what was lost.
 *
 * Begin programs run before anything else is attached, so that maps are ready for the first event;
 * what they print is held back until all is attached.
 */
#include "run/session.h"
#include "base/clock.h"
#include "core/columns.h"
#include "run/confine.h"
#include "run/here.h"
#include "run/load.h"
#include "run/phase.h"
#include "run/query.h"

enum { RC_LACKS = 2, RC_ATTACH = 255, LATE_NS = 50 * MILLI_NS };

static bool only_begins(const struct unit *u)
{
	bool only = true;
	for (u32 i = 0; i < u->nprog; i++)
		only &= u->prog[i]->phase != PROG_ATTACH && u->prog[i]->phase != PROG_SIGNAL;
	return only;
}

static struct err *prepare(struct session *s, const struct sink *sink, void *self)
{
	const struct unit *u = s->u;
	struct reporter *r = &s->reporter;
	assert(!r->unit); /* a session runs once */
	s->control.signals = &s->loop.signals;
	*r = (struct reporter){.unit = u,
			       .source = &source_here,
			       .from = s,
			       .arch = s->h->arch,
			       .ncpu = s->h->ncpu,
			       .control = &s->control,
			       .start_ns = now_ns()};
	reporter_init(r, sink, self);
	r->output.watcher = s->loop.watcher;
	if (s->live.query)
		query_prepare(s);
	else
		clocks_read(&r->reader.clocks);
	r->reader.clocks.utc = u->config.utc;
	r->reader.clocks.digits = u->config.clock ? u->config.clock - 1 : 0;
	struct err *e = loop_open(s);
	if (!e && map_fd(s, u->start) >= 0)
		e = live_put(&s->live, u->start, &(u32){0}, &r->start_ns);
	return e ? e : services_open(s);
}

/* The points of programs, without those that begin and end. */
static void list_sources(struct session *s, struct run_start *ret)
{
	enum { MOST = 64 };
	const struct unit *u = s->u;
	ret->source = arena_newn(&s->reporter.reader.arena, struct str, MOST);
	for (u32 i = 0; i < u->nprog; i++)
		for (const struct point *p = u->prog[i]->points; p && ret->nsource < MOST;
		     p = p->next)
			if (prog_fd(s, u->prog[i]) >= 0 && u->prog[i]->phase == PROG_ATTACH)
				ret->source[ret->nsource++] = p->text;
}

/* Of recordings, to which nothing is attached. */
static u32 count_points(const struct unit *u)
{
	u32 n = 0;
	for (u32 i = 0; i < u->nprog; i++)
		n += point_count(u->prog[i]->points);
	return n;
}

/* The file that all probes of user programs are in; "": there are none, or several files. */
static struct str only_file(struct session *s)
{
	const struct unit *u = s->u;
	struct str file = STR("");
	for (u32 i = 0; i < u->nprog; i++) {
		if (prog_fd(s, u->prog[i]) < 0 || u->prog[i]->phase != PROG_ATTACH)
			continue;
		for (const struct point *p = u->prog[i]->points; p; p = p->next) {
			if (!(point_flags(p) & PROBE_USER) || !p->target.n)
				continue;
			if (file.n && !str_eq(file, p->target))
				return STR("");
			file = p->target;
		}
	}
	return file;
}

static void put_attached(struct session *s)
{
	AUTO_SB text = {0};
	AUTO_SB title = {0};
	struct str file = only_file(s);
	struct run_start start = s->start;
	const struct config *g = &s->u->config;
	u32 n = s->live.query ? count_points(s->u) : attach_count(s);
	bool command = s->target->child.pid && s->target->n == 1; /* whose end is the end */
	sb_fmt(&title, "%.*s%s%.*s%s", STRF(g->title), file.n ? " (" : "", STRF(file),
	       file.n ? ")" : "");
	if (s->live.query)
		sb_fmt(&text, "Reading %.*s", STRF(query_name(s->live.query)));
	else if (!g->title.n && !start.tool.n)
		sb_fmt(&text, "Attached %u probe%s", n, n == 1 ? "" : "s");
	else if (g->title.n && !command && g->duration_ns)
		sb_fmt(&text, "%.*s for %g s...", STRF(sb_str(&title)),
		       (double)g->duration_ns / 1e9);
	else if (g->title.n && !command)
		sb_fmt(&text, "%.*s... Hit Ctrl-C to end.", STRF(sb_str(&title)));
	else if (command && start.tool.n && !s->u->scope.npid) /* it is not what is traced */
		sb_fmt(&text, "%.*s of the whole machine, until the command ends.",
		       STRF(g->title.n ? g->title : STR("Tracing")));
	if (start.tool.n)
		list_sources(s, &start);
	report_put(&s->reporter, &(struct item){.kind = I_STATUS,
						.name = STR("attached_probes"),
						.str = sb_str(&text),
						.status.start = start.tool.n ? &start : NULL,
						.status.n = n});
	arena_reset(&s->reporter.reader.arena);
}

/* The heading of tables of events; those of reports come with each. */
static void put_heads(struct session *s)
{
	for (u32 i = 0; i < s->u->ncolumns; i++)
		if (s->u->columns[i]->head && s->u->columns[i]->n)
			report_put(&s->reporter,
				   &(struct item){.kind = I_HEAD, .row.columns = s->u->columns[i]});
	if (s->u->ncolumns)
		report_flush(&s->reporter);
}

/* The first table that something of the script prints; NULL: there is none. */
static const struct columns *first_table(const struct unit *u)
{
	for (u32 i = 0; i < u->ncolumns; i++)
		for (u32 k = 0; k < u->nschema; k++)
			if (u->schema[k]->columns == u->columns[i] &&
			    columns_have_data(u->columns[i]))
				return u->columns[i];
	return NULL;
}

static void child_ready(void *session)
{
	struct session *s = session;
	services_child(s, (u32)s->target->child.pid);
	s->attach.late = attach_late(s);
}

static enum attached start_child(struct session *s)
{
	struct child *c = &s->target->child;
	struct err *e = NULL;
	s->attach.late = ATTACHED;
	if (c->pid && (services_want_child(s) || attach_waits(s->u)))
		e = proc_child_go_held(c, child_ready, s);
	else if (c->pid)
		e = proc_child_go(c);
	if (!e)
		return s->attach.late;
	report_err(&s->reporter, false, (struct loc){0}, e);
	return ATTACH_FAILED;
}

/* Everything is loaded: --at. */
static struct err *await_start(struct session *s)
{
	u64 at = s->limits.at_ns, now = clock_ns(CLOCK_REALTIME);
	if (!at)
		return NULL;
	if (now > at + LATE_NS) {
		AUTO_SB text = {0};
		sb_fmt(&text,
		       "--at: tracing begins %.1f s late, because the programs were not loaded "
		       "before",
		       (double)(now - at) / 1e9);
		report_error(&s->reporter, true, "", (struct loc){0}, sb_str(&text));
	}
	loop_await_start(s);
	if (s->control.stop)
		return err_new("stopped before the time of --at");
	s->reporter.start_ns = now_ns();
	return map_fd(s, s->u->start) < 0
		       ? NULL
		       : live_put(&s->live, s->u->start, &(u32){0}, &s->reporter.start_ns);
}

/* Begin programs, then the rest. */
static enum attached start(struct session *s)
{
	if (!s->dry_run) {
		s->reporter.records.hold = true;
		bool ok = phase_run(s, PROG_BEGIN);
		s->reporter.records.hold = s->reporter.records.exit_held = false;
		if (!ok)
			return ATTACH_FAILED;
		services_ready(s);
	}
	enum attached how = s->live.query ? ATTACHED : attach_all(s);
	if (how != ATTACHED || s->dry_run)
		return how;
	s->loop.attached_ns = clock_ns(CLOCK_REALTIME);
	s->loop.end_ns = s->limits.for_ns ? now_ns() + s->limits.for_ns : 0;
	put_attached(s);
	put_heads(s);
	record_replay(&s->reporter);
	if (!s->control.stop && phase_any(s, PROG_ITER))
		s->control.stage = STAGE_ITERATE;
	loop_drain(s); /* what begin printed is not to wait for the next record */
	if (s->live.query)
		return ATTACHED;
	how = start_child(s);
	return how == ATTACHED && !phase_pin(s) ? ATTACH_FAILED : how;
}

static void finish(struct session *s)
{
	services_detach(s);
	attach_stop(s);
	loop_drain(s); /* what exit() made worthless is thrown away here */
	s->reporter.records.discard = false;
	s->control.stage = STAGE_FINISH;
	phase_run(s, PROG_END);
	report_put(&s->reporter, &(struct item){.kind = I_END,
						.end.n = s->u->ncolumns,
						.end.columns = first_table(s->u)});
	if (s->u->config.print_maps_on_exit)
		report_print_maps(&s->reporter);
	services_report(s);
	if (s->live.query)
		query_report(s);
	loop_drain(s);
}

/* When everything is attached: give up what is not needed any more. False: that failed, and was reported. */
static bool settle(struct session *s)
{
	int reader = s->live.query ? 0 : confine_reader(s);
	if ((s->limits.acts & ACT_PRIORITY) && s->reporter.source->fd(s) >= 0 &&
	    !s->control.stop) { /* may need a right that is given up now */
		proc_hasten(0);
		if (reader)
			proc_hasten(reader);
	}
	struct err *e = !(s->limits.acts & ACT_CONFINE) ? NULL
			: s->live.query                 ? query_confine(s)
							: confine_run(s);
	if (e)
		report_err(&s->reporter, false, (struct loc){0}, e);
	return !e;
}

enum attached session_start(struct session *s, const struct sink *sink, void *self)
{
	struct err *e = prepare(s, sink, self);
	if (!e && !s->dry_run)
		e = await_start(s);
	if (e)
		report_err(&s->reporter, false, (struct loc){0}, e);
	enum attached how = e ? ATTACH_FAILED : start(s);
	if (how != ATTACHED)
		return how;
	if (s->dry_run) {
		attach_stop(s);
		return ATTACHED;
	}
	s->attach.lacks = false;
	return settle(s) ? ATTACHED : ATTACH_FAILED;
}

int session_failed_status(const struct session *s)
{
	return s->attach.lacks && s->start.tool.n ? RC_LACKS : RC_ATTACH;
}

/* What runs before the first wait: iterators are read, tests and benchmarks run. */
static void run_first(struct session *s)
{
	if (s->loop.begun)
		return;
	s->loop.begun = true;
	phase_iterate(s);
	if (s->u->config.test)
		phase_test(s);
	if (s->u->config.bench)
		phase_bench(s);
	s->control.stop |= only_begins(s->u);
}

bool session_poll(struct session *s, int most_ms)
{
	assert(!s->dry_run);
	run_first(s);
	if (s->control.stop)
		return false;
	if (s->live.query)
		query_run(s);
	else
		loop_once(s, most_ms);
	return !s->control.stop;
}

void session_loop(struct session *s)
{
	assert(!s->dry_run);
	run_first(s);
	if (s->live.query && !s->control.stop)
		query_run(s);
	else if (!s->live.query)
		loop_run(s);
}

int session_finish(struct session *s)
{
	assert(!s->dry_run);
	target_end(s->target);
	finish(s);
	return !s->control.exit_code && s->u->config.exit_with_command ? s->target->exit_code
								       : s->control.exit_code;
}

void session_free(struct session *s)
{
	services_free(s);
	attach_undo(s);
	load_undo(s);
	loop_close(s);
	syms_free(s->syms);
	reporter_free(&s->reporter);
}
