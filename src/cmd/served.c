/* served.c - the life of one script of sonde serve. */
#include "cmd/served.h"
#include "api/machine.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/servedmaps.h"
#include "cmd/servedprofile.h"
#include "report/report.h"
#include <errno.h>
#include <stdlib.h>

enum { REASON_BYTES = 300 };

const char *served_state_name(enum served_state s)
{
	static const char *const names[] = {"runs",    "new",    "read",  "compile",
					    "metrics", "attach", "ended", "budget"};
	return names[s];
}

/* The first line of it. */
static void set_reason(struct served *s, struct str text)
{
	struct str rest = str_trim(text), line = STR("");
	str_cut(&rest, '\n', &line);
	sb_clear(&s->reason);
	sb_visible(&s->reason, str_n(line.s, MIN(line.n, (u32)REASON_BYTES)));
}

static void say(const struct served *s, struct str text)
{
	AUTO_SB line = {0};
	sb_visible(&line, str_z(s->name));
	sb_z(&line, ": ");
	sb_visible(&line, text);
	fprintf(stderr, "%s\n", line.s);
}

/* ---- its output ---- */

static struct err *put(void *self, const struct item *it)
{
	struct served *s = self;
	switch (it->kind) {
	case I_MAP:
		if (s->reading)
			metrics_map(s->into, &s->reading->shape, it);
		break;
	case I_ERROR:
		if (!it->error.warn && !s->reason.n)
			set_reason(s, it->str);
		say(s, it->str);
		break;
	case I_LOST: say(s, it->str); break;
	case I_TEXT:
	case I_VALUE:
	case I_ROW:
		if (!s->told)
			say(s, STR("output that the script prints is not shown; only its maps "
				   "become metrics"));
		s->told = true;
		break;
	case I_STATUS:
	case I_END:
	case I_HEAD:
	case I_TOTAL:
	case I_SNAPSHOT:
	case I_KEPT:
	case I_FLEET:
	case I_COST: break;
	}
	return NULL;
}

static const struct sink to_metrics = {.name = "metrics",
				       .doc = "maps as metrics",
				       .maps = true,
				       .keys = KEYS_BY_TEXT,
				       .put = put};

/* ---- start ---- */

static struct err *open_output(struct launch *l, const struct sink **sink, void **self)
{
	*sink = &to_metrics;
	*self = l->arg;
	return NULL;
}

static void report(struct launch *l)
{
	struct served *s = l->arg;
	for (const struct diag *d = l->job.diags.head; d && l->job.diags.nerror && !s->reason.n;
	     d = d->next)
		set_reason(s, str_z(d->msg));
	diags_print(&l->job.diags, stderr, false);
}

/* What it is called is known when it is compiled. */
static bool compiled(struct launch *l)
{
	struct served *s = l->arg;
	struct unit *u = &l->job.unit;
	u->config.print_maps_on_exit = false;
	struct err *e =
		u->nprog ? served_name_maps(s, u) : err_new("the script has no probes to attach");
	if (!e)
		return true;
	s->state = SERVED_METRICS;
	set_reason(s, str_z(e->msg));
	say(s, str_z(e->msg));
	err_free(e);
	return false;
}

static const struct launch_hooks hooks = {
	.compiled = compiled, .report = report, .open = open_output};

/* The service talks to its manager, not each script. */
static char *environment(const char *name)
{
	bool manager = !strcmp(name, "NOTIFY_SOCKET") || !strncmp(name, "WATCHDOG_", 9);
	return manager ? NULL : getenv(name);
}

static struct err *launch(struct served *s, enum launched *how)
{
	static const struct target_spec everything;
	const char *what;
	struct machine_spec machine = {.env = environment,
				       .btf = getenv("BPFTRACE_BTF"),
				       .vmlinux = getenv("BPFTRACE_VMLINUX")};
	struct err *e = machine_open(&machine, &s->arena, &s->host, &what);
	s->script = (struct script){.source = {str_z(s->path), s->text}};
	s->target = TARGET_NONE;
	s->launch = (struct launch){.script = &s->script,
				    .spec = &everything,
				    .host = &s->host,
				    .target = &s->target,
				    .hooks = &hooks,
				    .arg = s};
	s->launch.compile.codes = getenv("SONDE_CODES") != NULL;
	if (!e)
		e = target_open(&s->target, NULL, NULL, NULL, 0);
	if (!e)
		e = launch_scope(&s->launch);
	if (!e)
		*how = launch_start(&s->launch);
	return e;
}

static void release(struct served *s)
{
	launch_free(&s->launch);
	target_close(&s->target);
	host_deinit(&s->host);
	arena_free(&s->arena);
	health_free(&s->last);
	served_forget_maps(s);
	profile_state_free(s->profile);
	s->profile = NULL;
}

static void failed(struct served *s, enum served_state state, struct err *e)
{
	s->state = s->state == SERVED_METRICS ? SERVED_METRICS : state;
	s->failures++;
	if (e && !s->reason.n)
		set_reason(s, str_z(e->msg));
	if (e)
		say(s, str_z(e->msg));
	err_free(e);
	if (!s->reason.n)
		set_reason(s, STR("the kernel refused it"));
	release(s);
}

void served_start(struct served *s, served_taken *taken, void *arg)
{
	enum launched how = LAUNCH_FAILED;
	assert(s->text.s && s->state != SERVED_RUNS);
	sb_clear(&s->reason);
	s->state = SERVED_RUNS;
	s->taken = taken;
	s->taken_arg = arg;
	struct err *e = launch(s, &how);
	if (!e && how != LAUNCHED) {
		e = s->launch.error;
		s->launch.error = NULL;
	}
	if (e || how != LAUNCHED) {
		failed(s, how == LAUNCH_WRONG ? SERVED_COMPILE : SERVED_ATTACH, e);
		return;
	}
	s->starts++;
	s->began_ns = s->last_ns = now_ns();
	for (u32 i = 0; i < s->map.n; i++)
		s->map.v[i].shape.since_ns = clock_ns(CLOCK_REALTIME);
	session_health(&s->launch.session, &s->last);
}

static void stop(struct served *s, enum served_state why, const char *reason)
{
	if (s->state != SERVED_RUNS)
		return;
	session_finish(&s->launch.session);
	s->state = why;
	set_reason(s, str_z(reason));
	release(s);
}

/* ---- while it runs ---- */

static void look_at_budget(struct served *s, u64 now)
{
	struct health h;
	u64 wall = now - s->last_ns;
	if (!s->limits->budget || wall < SECOND_NS)
		return;
	session_health(&s->launch.session, &h);
	u64 share = cost_share(h.programs_ns - s->last.programs_ns, wall,
			       (u32)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1));
	health_free(&s->last);
	s->last = h;
	s->last_ns = now;
	if (share <= s->limits->budget)
		return;
	AUTO_SB b = {0};
	sb_fmt(&b,
	       "stopped: its programs took %.3g %% of this machine's processor time in the last "
	       "second, and --budget allows %.3g %%",
	       (double)share / 1e4, (double)s->limits->budget / 1e4);
	s->budget_stops++;
	say(s, sb_str(&b));
	stop(s, SERVED_BUDGET, b.s);
}

void served_poll(struct served *s, u64 now)
{
	if (s->state != SERVED_RUNS)
		return;
	if (session_poll(&s->launch.session, 0)) {
		look_at_budget(s, now);
		return;
	}
	AUTO_SB why = {0};
	sb_add(&why, s->reason.n ? sb_str(&s->reason) : STR("the script has ended"));
	say(s, sb_str(&why));
	stop(s, SERVED_ENDED, why.s);
}

void served_read(struct served *s, struct metrics *into)
{
	struct reporter *r = &s->launch.session.reporter;
	if (s->state != SERVED_RUNS)
		return;
	s->into = into;
	for (u32 i = 0; i < s->map.n; i++) {
		s->reading = &s->map.v[i];
		/* What never happened is a count of 0, but no smallest value. */
		bool counts = s->map.v[i].shape.type == METRIC_COUNTER;
		report_print_map(r, s->map.v[i].map, 0, 0, !counts);
		arena_reset(&r->reader.arena);
	}
	s->reading = NULL;
	s->into = NULL;
}

/* ---- its file ---- */

struct served *served_new(const char *dir, const char *name, const struct served_limits *limits)
{
	struct served *s = xcalloc(1, sizeof(*s));
	AUTO_SB path = {0};
	struct arena a = {0};
	sb_fmt(&path, "%s/%s", dir, name);
	s->name = xstrdup(name);
	s->path = xstrdup(path.s);
	s->limits = limits;
	s->state = SERVED_NEW;
	struct err *e = script_file(&a, s->path, &s->text);
	if (!e) {
		sb_add(&s->read, s->text);
		s->text = sb_str(&s->read);
	} else {
		s->text = (struct str){0};
		s->state = SERVED_UNREAD;
		s->failures++;
		set_reason(s, str_z(e->msg));
		say(s, str_z(e->msg));
		err_free(e);
	}
	arena_free(&a);
	return s;
}

void served_free(struct served *s)
{
	stop(s, SERVED_ENDED, "removed");
	sb_free(&s->reason);
	sb_free(&s->read);
	free(s->name);
	free(s->path);
	free(s);
}
