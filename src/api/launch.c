/* launch.c - compile, load and attach, with the next form when the kernel refuses one. */
#include "api/launch.h"
#include "api/scope.h"
#include "base/vec.h"
#include "proc/proc.h"
#include <sys/stat.h>
#include <unistd.h>

/* Set in a unit before it is compiled: whom it is about. */
static void set_unit(struct launch *l)
{
	struct unit *u = &l->job.unit;
	struct query *q = l->host->query;
	u->refused = (struct refused){l->refused.v, l->refused.n};
	u->pid = l->scope.nviewer ? l->scope.viewer[0] : 0;
	u->scope = q ? query_scope(q) : l->scope;
	u->cpid = (u64)l->target->child.pid;
	u->self_pid = q                                         ? query_self_pid(q)
		      : proc_own_ns(l->host, &(struct stat){0}) ? 0
								: (u64)getpid();
	u->program = l->target->child.path;
	u->dwarf_pid = l->spec->dwarf_pid;
	u->ndwarf_pid = l->spec->ndwarf_pid;
}

struct err *launch_scope(struct launch *l)
{
	return scope_prepare(l->spec, l->host, l->target->child.pid, &l->scope);
}

bool launch_compile(struct launch *l)
{
	assert(l->script && l->spec);
	assert(!l->compiled);
	job_init(&l->job, &l->compile, l->script, l->host);
	set_unit(l);
	if (l->hooks->prepare)
		l->hooks->prepare(l);
	l->compiled = true;
	return compile_script(&l->job.c, STAGE_ALL, &l->watch);
}

static void report(struct launch *l)
{
	if (l->hooks->report)
		l->hooks->report(l);
}

static void forget_attempt(struct launch *l)
{
	if (l->session.u)
		session_free(&l->session);
	l->session = (struct session){0};
	job_free(&l->job);
	l->compiled = false;
}

/* Of the programs that were not loaded, those that can be tried in another form. */
static bool try_others(struct launch *l)
{
	const struct session *s = &l->session;
	bool other = false;
	for (u32 i = 0; i < s->u->nprog; i++) {
		const struct prog *p = s->u->prog[i];
		if (live_prog(&s->live, p) >= 0)
			continue;
		if (p->sleeps) {
			refuse_sleep(&l->refused, p->points);
			other = true;
		} else {
			other |= refuse(&l->refused, p->points, true);
		}
	}
	return other;
}

static struct session session_of(struct launch *l)
{
	return (struct session){
		.u = &l->job.unit,
		.h = l->host,
		.target = l->target,
		.loop = {.epoll_fd = -1, .signals = SIGNALS_NONE},
		.log = l->log,
		.dry_run = l->dry_run,
		.limits = l->limits,
		.start = l->start,
	};
}

/* *again is set if there is another form to try. */
static enum launched load(struct launch *l, bool *again)
{
	struct session *s = &l->session;
	struct query *q = l->host->query;
	*s = session_of(l);
	if (q && !query_check(q, &l->job.unit, &l->job.diags)) {
		report(l);
		return LAUNCH_WRONG;
	}
	if (q)
		query_enter(q, s);
	if (!session_load(s, &l->job.diags, &l->error)) {
		*again = !l->error && try_others(l);
		if (!*again)
			report(l);
		return LAUNCH_REFUSED;
	}
	if (!l->reported)
		report(l);
	l->reported = true;
	return l->hooks->loaded && !l->hooks->loaded(l) ? LAUNCH_ENDED : LAUNCHED;
}

static enum launched attach(struct launch *l, bool *again)
{
	const struct sink *sink;
	void *self;
	l->error = l->hooks->open(l, &sink, &self);
	if (l->error)
		return LAUNCH_NO_OUTPUT;
	enum attached how = session_start(&l->session, sink, self);
	if (how == ATTACHED)
		return LAUNCHED;
	if (l->hooks->close)
		l->hooks->close(l);
	*again = how == ATTACH_OTHERWISE &&
		 refuse(&l->refused, l->session.attach.refused->points, false);
	return how == ATTACH_FAILED ? LAUNCH_FAILED : LAUNCH_REFUSED;
}

static enum launched attempt(struct launch *l, bool *again)
{
	if (!l->compiled && !launch_compile(l)) {
		report(l);
		return LAUNCH_WRONG;
	}
	if (l->hooks->compiled && !l->hooks->compiled(l))
		return LAUNCH_ENDED;
	enum launched how = load(l, again);
	return how == LAUNCHED ? attach(l, again) : how;
}

enum launched launch_start(struct launch *l)
{
	for (;;) {
		bool again = false;
		enum launched how = attempt(l, &again);
		if (!again)
			return how;
		if (!l->script)
			return LAUNCH_NO_FORM;
		log_put(&l->log, "The kernel refused the program or its probe; trying the next "
				 "form.\n");
		forget_attempt(l);
	}
}

void launch_free(struct launch *l)
{
	if (l->compiled)
		forget_attempt(l);
	vec_free(&l->refused);
	err_free(l->error);
	l->error = NULL;
}
