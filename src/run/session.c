/*
 * session.c - the life of a loaded script: begin programs, attaching, the loop, end programs, maps,
 * what was lost.
 *
 * Begin programs run before anything else is attached, so that maps are ready for the first event;
 * what they print is held back until all is attached.
 */
#include "core/printf.h"
#include "run/run.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum { CHILD_GRACE_MS = 250, RC_ATTACH = 255 };

/* ---- target ---- */

struct err *session_target(struct session *s, const struct session_opts *o)
{
	struct err *e = NULL;
	s->sig_fd = s->epoll_fd = -1;
	s->verbose = o->verbose;
	s->dry_run = o->dry_run;
	s->quiet = o->quiet;
	s->child = (struct child){.gate = -1, .exec_err = -1};
	if (o->cmd) {
		e = proc_child_start(o->cmd, &s->child);
		if (e)
			return err_wrap(e, "Failed to fork child: ");
	}
	const int *pid = o->cmd ? &s->child.pid : o->pid;
	u32 n = o->cmd ? 1 : o->npid;
	s->target_fd = calloc(n + 1, sizeof(int));
	if (!s->target_fd)
		abort();
	for (u32 i = 0; i < n && !e; i++) {
		s->target_fd[i] = proc_pidfd(pid[i], &e);
		s->ntarget += !e;
	}
	s->nalive = s->ntarget;
	return e ? err_wrap(e, "Failed to attach to pid: ") : NULL;
}

/* What -c started does not outlive us. */
static void end_child(struct session *s)
{
	struct pollfd p = {.fd = s->ntarget ? s->target_fd[0] : -1, .events = POLLIN};
	if (!s->child.pid)
		return;
	if (s->child.gate >= 0)
		close(s->child.gate);
	if (s->child.exec_err >= 0)
		close(s->child.exec_err);
	if (waitpid(s->child.pid, NULL, WNOHANG) == 0) {
		kill(s->child.pid, SIGTERM);
		if (p.fd < 0 || poll(&p, 1, CHILD_GRACE_MS) <= 0)
			kill(s->child.pid, SIGKILL);
		waitpid(s->child.pid, NULL, 0);
	}
	free(s->child.path);
	s->child = (struct child){.gate = -1, .exec_err = -1};
}

static void close_targets(struct session *s)
{
	for (u32 i = 0; i < s->ntarget; i++)
		close_fd(&s->target_fd[i]);
	free(s->target_fd);
	s->target_fd = NULL;
	s->ntarget = s->nalive = 0;
}

/* ---- for act() ---- */

void session_put(struct session *s, const struct item *it)
{
	struct err *e = s->failed || s->mute ? NULL : s->sink->put(s->self, it);
	if (e)
		s->failed = s->stop = true;
	err_free(e); /* close() tells it again */
}

struct str session_printf(struct session *s, const struct schema *sc, const struct value *v, u32 n)
{
	struct pattern *f = &s->patterns[sc->id];
	if (!f->piece)
		pattern_parse(&s->fmts, sc->fmt, f);
	sb_clear(&s->text);
	pattern_put(&s->text, f, v, n, s->u->config.str_trunc_trailer);
	return sb_str(&s->text);
}

void session_text(struct session *s, const char *kind, struct str text)
{
	session_put(s, &(struct item){.kind = I_TEXT, .name = str_z(kind), .str = text});
}

void session_error(struct session *s, bool warn, const char *kind, struct loc loc, struct str text)
{
	s->nerror += !strcmp(kind, "errorf");
	session_put(s, &(struct item){.kind = I_ERROR,
				      .warn = warn,
				      .name = str_z(kind),
				      .loc = loc,
				      .str = text});
}

/* What comes after exit() is not wanted any more; end programs still run. */
void session_exit(struct session *s, int code)
{
	s->exit_code = code & 0xff;
	s->stop = true;
	s->discard = !s->ending;
}

/* ---- programs ---- */

static void put_err(struct session *s, bool warn, struct loc loc, struct err *e)
{
	session_error(s, warn, "", loc, str_z(e->msg));
	err_free(e);
}

static u32 count_points(const struct prog *p)
{
	u32 n = 0;
	for (const struct point *pt = p->points; pt; pt = pt->next)
		n++;
	return n;
}

/* As the missing_probes setting wants it. False: give up. */
static bool attach_failed(struct session *s, const struct prog *p, struct err *e)
{
	enum missing_probes policy = s->u->config.missing_probes;
	const struct point *at = p->failed ? p->failed : p->points;
	struct str name = at ? at->text : p->name;
	struct loc loc = p->failed ? p->failed->loc : p->loc;
	if (policy == MISSING_IGNORE) {
		err_free(e);
		return true;
	}
	e = err_wrap(e, "Unable to attach probe: %.*s: ", STRF(name));
	if (policy == MISSING_WARN) {
		put_err(s, true, loc, e);
		return true;
	}
	AUTO_SB text = {0};
	sb_fmt(&text,
	       "%s. If this is expected, set the 'missing_probes' config variable to 'warn'.",
	       e->msg);
	session_error(s, false, "", loc, sb_str(&text));
	err_free(e);
	return false;
}

/*
 * A wildcard may match places that nothing can be attached to. Its matches may have one program or
 * many. False: nothing could be attached, and that is an error.
 */
static bool tell_unattached(struct session *s, struct prog *p)
{
	u32 all = 0, n = 0;
	struct err *why = p->unattached_why;
	p->unattached_why = NULL;
	for (u32 i = 0; i < s->u->nprog; i++) {
		struct prog *q = s->u->prog[i];
		if (memcmp(&q->loc, &p->loc, sizeof(p->loc)))
			continue;
		all += count_points(q);
		n += q->unattached;
		err_free(q->unattached_why);
		q->unattached_why = NULL;
	}
	if (n == all)
		return attach_failed(s, p, why);
	AUTO_SB text = {0};
	sb_fmt(&text, "%u of the %u matches cannot be probed (the first: ", n, all);
	if (p->failed)
		sb_fmt(&text, "%.*s: ", STRF(p->failed->text));
	sb_fmt(&text, "%s)", why->msg);
	if (s->u->config.missing_probes != MISSING_IGNORE)
		session_error(s, true, "", p->failed ? p->failed->loc : p->loc, sb_str(&text));
	err_free(why);
	return true;
}

static bool attach_prog(struct session *s, struct prog *p)
{
	struct link *links = NULL, **tail = &links;
	struct err *e = p->provider->attach ? p->provider->attach(s->h, s->u, p, &links) : NULL;
	if (!e && p->unattached && p->unattached == count_points(p) && !p->points->wild) {
		e = p->unattached_why;
		p->unattached_why = NULL;
	}
	if (e) {
		link_undo(s->h, &links, NULL);
		s->again = p->provider->flags & PF_CHOSEN;
		if (!s->again)
			return attach_failed(s, p, e);
		err_free(e);
		return false;
	}
	for (; *tail; tail = &(*tail)->next)
		(*tail)->owner = p;
	*tail = s->links;
	s->links = links;
	s->npoint += count_points(p) - p->unattached;
	return true;
}

/* These come first, in script order; the others follow in reverse order. */
static bool is_early(const struct prog *p)
{
	static const char *const early[] = {"kretprobe",     "tracepoint", "profile",
					    "interval",      "watchpoint", "hardware",
					    "rawtracepoint", "software"};
	for (u32 i = 0; i < countof(early); i++)
		if (!strcmp(p->provider->name, early[i]))
			return true;
	return false;
}

static bool is_attached(const struct prog *p)
{
	return p->phase == PROG_ATTACH || p->phase == PROG_ITER || p->phase == PROG_PINNED;
}

static bool attach_all(struct session *s)
{
	struct unit *u = s->u;
	for (u32 i = 0; i < 2 * u->nprog && !loop_interrupted(s); i++) {
		bool first = i < u->nprog;
		struct prog *p = u->prog[first ? i : 2 * u->nprog - 1 - i];
		if (!is_attached(p) || is_early(p) != first)
			continue;
		if (p->points->late)
			s->npoint += count_points(p);
		else if (!attach_prog(s, p))
			return false;
	}
	for (u32 i = 0; i < u->nprog; i++)
		if (u->prog[i]->unattached_why && !tell_unattached(s, u->prog[i]))
			return false;
	for (u32 i = 0; i < u->nprog; i++)
		if (!is_attached(u->prog[i]))
			s->npoint += count_points(u->prog[i]);
	return true;
}

/* Its addresses are known now. */
static void attach_late(struct session *s)
{
	u32 npoint = s->npoint; /* has them already */
	for (u32 i = 0; i < s->u->nprog && !s->unready; i++)
		if (s->u->prog[i]->points->late)
			s->unready = !attach_prog(s, s->u->prog[i]);
	s->npoint = npoint;
}

static void child_look(void *session)
{
	struct session *s = session;
	if (s->unwinder)
		unwind_child(s);
}

static void child_ready(void *session)
{
	child_look(session);
	attach_late(session);
}

static bool any_late(const struct unit *u)
{
	bool late = false;
	for (u32 i = 0; i < u->nprog; i++)
		late |= u->prog[i]->points->late;
	return late;
}

/* ---- the run ---- */

static void prepare(struct session *s, struct unit *u, const struct sink *sink, void *self)
{
	s->u = u;
	s->sink = sink;
	s->self = self;
	s->start_ns = s->ticked_ns = run_now();
	clocks_read(s);
	s->escape = sink->escape && sink->escape(self);
	u32 longest = 0;
	for (u32 i = 0; i < u->nschema; i++)
		longest = MAX(longest, u->schema[i]->layout ? u->schema[i]->layout->nfield : 0);
	s->vals = calloc(longest + 1ul, sizeof(*s->vals));
	s->patterns = calloc(u->nschema + 1ul, sizeof(*s->patterns));
	s->warned = calloc(u->nschema + 1ul, sizeof(*s->warned));
	if (!s->warned || !s->vals || !s->patterns)
		abort();
	if (u->start && u->start->fd >= 0) {
		u32 zero = 0;
		err_free(bpf_map_put(u->start->fd, &zero, &s->start_ns));
	}
	s->begin_only = true;
	for (u32 i = 0; i < u->nprog; i++)
		s->begin_only &=
			u->prog[i]->phase != PROG_ATTACH && u->prog[i]->phase != PROG_SIGNAL;
}

static void put_attached(struct session *s)
{
	AUTO_SB text = {0};
	sb_fmt(&text, "Attached %u probe%s", s->npoint, s->npoint == 1 ? "" : "s");
	session_put(s, &(struct item){.kind = I_STATUS,
				      .name = STR("attached_probes"),
				      .str = sb_str(&text),
				      .n = s->npoint});
}

/* Begin programs, then the rest. False: it failed, and the message is out. */
static bool start(struct session *s)
{
	struct err *e = scope_open(s);
	if (e) {
		put_err(s, false, (struct loc){0}, e);
		return false;
	}
	if (!s->dry_run) {
		s->hold = true;
		bool ok = phase_run(s, PROG_BEGIN);
		s->hold = s->exit_held = false;
		if (!ok)
			return false;
	}
	if (!s->dry_run) {
		notes_open(s);
		unwind_open(s);
	}
	if (!attach_all(s))
		return false;
	if (s->dry_run)
		return true;
	put_attached(s);
	record_replay(s);
	loop_drain(s); /* what begin printed is not to wait for the next record */
	if (s->child.pid && (s->unwinder || any_late(s->u)))
		e = proc_child_go_held(&s->child, child_look, child_ready, s);
	else if (s->child.pid)
		e = proc_child_go(&s->child);
	if (e)
		put_err(s, false, (struct loc){0}, e);
	return !e && !s->unready;
}

static int by_name(const void *pa, const void *pb)
{
	const struct map *const *a = pa, *const *b = pb;
	return str_cmp((*a)->name, (*b)->name);
}

void session_print_maps(struct session *s)
{
	struct unit *u = s->u;
	struct map **v = arena_newn(&s->ev, struct map *, u->nmap + 1);
	u32 n = 0;
	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->role == MAP_USER)
			v[n++] = u->map[i];
	qsort(v, n, sizeof(struct map *), by_name);
	for (u32 i = 0; i < n; i++)
		session_print_map(s, v[i], 0, 0, true);
	arena_reset(&s->ev);
}

/* No event comes after this. */
static void detach(struct session *s)
{
	struct link *slow = NULL, **from = &s->links;
	while (*from) {
		struct link *l = *from;
		const struct prog *p = l->owner;
		if (p->provider->flags & PF_LINGERS) {
			*from = l->next;
			l->next = slow;
			slow = l;
		} else {
			from = &l->next;
		}
	}
	link_undo(s->h, &s->links, NULL);
	const struct map *stop = s->u->stop;
	struct err *e = slow && stop && stop->fd >= 0 ? bpf_map_put(stop->fd, &(u32){0}, &(u64){1})
						      : err_new("no need");
	if (e || !link_leave(s->h, &slow))
		link_undo(s->h, &slow, NULL);
	err_free(e);
}

static void finish(struct session *s)
{
	loss_links(s);
	detach(s);
	loop_drain(s); /* what exit() made worthless is thrown away here */
	s->discard = false;
	s->ending = true;
	phase_run(s, PROG_END);
	session_put(s, &(struct item){.kind = I_END});
	if (s->u->config.print_maps_on_exit)
		session_print_maps(s);
	loss_report(s);
	loop_drain(s);
}

int session_run(struct session *s, struct unit *u, const struct sink *sink, void *self)
{
	prepare(s, u, sink, self);
	struct err *e = loop_open(s);
	if (!e && u->start && u->start->fd >= 0)
		e = bpf_map_put(u->start->fd, &(u32){0}, &s->start_ns);
	if (e) {
		put_err(s, false, (struct loc){0}, e);
		return RC_ATTACH;
	}
	if (!start(s)) {
		link_undo(s->h, &s->links, NULL);
		return RC_ATTACH;
	}
	if (s->dry_run) {
		link_undo(s->h, &s->links, NULL);
		return 0;
	}
	if (!phase_pin(s)) {
		link_undo(s->h, &s->links, NULL);
		return RC_ATTACH;
	}
	phase_iterate(s);
	if (u->config.test)
		phase_test(s);
	if (u->config.bench)
		phase_bench(s);
	s->stop |= s->begin_only;
	loop_run(s);
	end_child(s);
	finish(s);
	loop_close(s);
	return s->exit_code;
}

void session_reset(struct session *s)
{
	base_free(s);
	link_undo(s->h, &s->links, NULL);
	if (s->u)
		load_undo(s, s->u);
	loop_close(s);
	notes_close(s);
	scope_close(s);
	unwind_close(s);
	sb_free(&s->held);
	sb_free(&s->aligned);
	sb_free(&s->text);
	arena_free(&s->ev);
	arena_free(&s->fmts);
	free(s->vals);
	free(s->patterns);
	free(s->warned);
	free(s->stats);
	free(s->missed);
	s->vals = NULL;
	s->patterns = NULL;
	s->warned = s->stats = NULL;
	s->missed = NULL;
	s->u = NULL;
	s->npoint = 0;
	s->again = false;
}

void session_free(struct session *s)
{
	session_reset(s);
	end_child(s);
	close_targets(s);
	syms_free(s->syms);
	s->syms = NULL;
}
