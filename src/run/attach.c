/*
 * attach.c - programs to their points, and back.
 *
 * What a wildcard matched may be more than can be probed: methods leave points out and say why;
 * here it is told once per probe of the script.
 */
#include "run/attach.h"
#include "base/alloc.h"
#include "run/loop.h"
#include "run/session.h"
#include <errno.h>

static void put_links(struct live *l, struct attach *a)
{
	struct link **tail = &a->links;
	for (; *tail; tail = &(*tail)->next)
		(*tail)->owner = a->prog;
	*tail = l->links;
	l->links = a->links;
	a->links = NULL;
}

/* ---- what failed ---- */

static bool is_lacking(const struct err *e)
{
	return e->no == ENOENT || e->no == ENODEV || e->no == EOPNOTSUPP || e->no == ENOSYS;
}

/* As the missing_probes setting wants it. False: give up. */
static bool attach_failed(struct session *s, const struct attach *a, struct err *e)
{
	enum missing_probes policy = s->u->config.missing_probes;
	const struct prog *p = a->prog;
	const struct point *at = a->failed ? a->failed : p->points;
	struct str name = at ? at->text : p->name;
	struct loc loc = a->failed ? a->failed->loc : p->loc;
	if (policy == MISSING_IGNORE) {
		err_free(e);
		return true;
	}
	s->attach.lacks = is_lacking(e) && at && !(at->type->flags & PROBE_USER);
	e = err_wrap(e, "Unable to attach probe: %.*s: ", STRF(name));
	if (policy == MISSING_WARN) {
		report_put(&s->reporter, &(struct item){.kind = I_ERROR,
							.error.warn = true,
							.error.loc = loc,
							.error.probe = name,
							.str = str_z(e->msg)});
		err_free(e);
		return true;
	}
	AUTO_SB text = {0};
	sb_z(&text, e->msg);
	if (!s->start.tool.n) /* whose settings are not its user's */
		sb_z(&text, ". If this is expected, set the 'missing_probes' config variable to "
			    "'warn'.");
	report_error(&s->reporter, false, "", loc, sb_str(&text));
	err_free(e);
	return false;
}

static struct err *take_reason(struct attach *a)
{
	struct err *e = a->unattached_why;
	a->unattached_why = NULL;
	return e;
}

/*
 * A wildcard may match places that nothing can be attached to. Its matches may have one program or
 * many. False: nothing could be attached, and that is an error.
 */
static bool tell_unattached(struct session *s, struct attach *first)
{
	u32 all = 0, n = 0;
	struct loc loc = first->prog->loc;
	struct err *why = take_reason(first);
	assert(why);
	for (u32 i = 0; i < s->u->nprog; i++) {
		struct attach *a = &s->attach.of[i];
		if (memcmp(&s->u->prog[i]->loc, &loc, sizeof(loc)))
			continue;
		all += point_count(s->u->prog[i]->points);
		n += a->unattached;
		err_free(take_reason(a));
	}
	assert(n <= all);
	if (n == all)
		return attach_failed(s, first, why);
	AUTO_SB text = {0};
	sb_fmt(&text, "%u of the %u matches cannot be probed (the first: ", n, all);
	if (first->failed)
		sb_fmt(&text, "%.*s: ", STRF(first->failed->text));
	sb_fmt(&text, "%s)", why->msg);
	if (s->u->config.missing_probes != MISSING_IGNORE)
		report_error(&s->reporter, true, "", first->failed ? first->failed->loc : loc,
			     sb_str(&text));
	err_free(why);
	return true;
}

/* ---- attaching ---- */

static enum attached attach_prog(struct session *s, const struct prog *p)
{
	struct attach *a = &s->attach.of[p->index];
	assert(p->index < s->u->nprog);
	assert(p->points && p->points->method);
	*a = (struct attach){.prog = p, .fd = prog_fd(s, p)};
	struct err *e = p->points->method->attach ? p->points->method->attach(s->h, s->u, a) : NULL;
	if (!e && a->unattached && a->unattached == point_count(p->points) && !p->points->wild)
		e = take_reason(a);
	if (!e) {
		put_links(&s->live, a);
		a->done = true;
		if (a->remark && s->u->config.missing_probes != MISSING_IGNORE)
			report_error(&s->reporter, true, "", p->loc, str_z(a->remark));
		return ATTACHED;
	}
	link_undo(s->h, &a->links, NULL);
	if (p->points->method == probe_last_method(p->points->type))
		return attach_failed(s, a, e) ? ATTACHED : ATTACH_FAILED;
	err_free(e);
	s->attach.refused = p;
	return ATTACH_OTHERWISE;
}

/* These come first, in script order; the others follow in reverse order. */
static bool is_early(const struct prog *p)
{
	return p->points->type->flags & PROBE_FIRST;
}

static bool is_attached(const struct prog *p)
{
	return p->phase == PROG_ATTACH || p->phase == PROG_ITER || p->phase == PROG_PINNED;
}

enum attached attach_all(struct session *s)
{
	const struct unit *u = s->u;
	assert(!s->attach.of);
	s->attach.of = xcalloc(u->nprog, sizeof(*s->attach.of));
	for (u32 i = 0; i < 2 * u->nprog && !loop_interrupted(s); i++) {
		bool first = i < u->nprog;
		const struct prog *p = u->prog[first ? i : 2 * u->nprog - 1 - i];
		if (!is_attached(p) || is_early(p) != first || p->points->late)
			continue;
		enum attached how = attach_prog(s, p);
		if (how != ATTACHED)
			return how;
	}
	for (u32 i = 0; i < u->nprog; i++)
		if (s->attach.of[i].unattached_why && !tell_unattached(s, &s->attach.of[i]))
			return ATTACH_FAILED;
	return ATTACHED;
}

enum attached attach_late(struct session *s)
{
	enum attached how = ATTACHED;
	for (u32 i = 0; i < s->u->nprog && how == ATTACHED; i++)
		if (s->u->prog[i]->points->late)
			how = attach_prog(s, s->u->prog[i]);
	return how;
}

u32 attach_count(const struct session *s)
{
	u32 n = 0;
	for (u32 i = 0; i < s->u->nprog; i++) {
		const struct prog *p = s->u->prog[i];
		bool done = !is_attached(p) || p->points->late || s->attach.of[i].done;
		if (done && !(point_flags(p->points) & METHOD_BESIDE))
			n += point_count(p->points) - s->attach.of[i].unattached;
	}
	return n;
}

bool attach_waits(const struct unit *u)
{
	bool late = false;
	for (u32 i = 0; i < u->nprog; i++)
		late |= u->prog[i]->points->late;
	return late;
}

/* ---- and back ---- */

void attach_off(struct session *s, const struct prog *p)
{
	struct link *gone = NULL, **from = &s->live.links;
	while (*from) {
		struct link *l = *from;
		if (l->owner != p) {
			from = &l->next;
			continue;
		}
		*from = l->next;
		l->next = gone;
		gone = l;
	}
	link_undo(s->h, &gone, NULL);
}

enum attached attach_again(struct session *s, const struct prog *p)
{
	enum attached how = attach_prog(s, p);
	if (how == ATTACH_OTHERWISE) { /* it worked with this method before */
		report_error(&s->reporter, false, "", p->loc,
			     STR("the kernel refuses to attach this probe again"));
		how = ATTACH_FAILED;
	}
	return how;
}

void attach_stop(struct session *s)
{
	struct link *slow = NULL, **from = &s->live.links;
	while (*from) {
		struct link *l = *from;
		const struct prog *p = l->owner;
		if (point_flags(p->points) & METHOD_LINGERS) {
			*from = l->next;
			l->next = slow;
			slow = l;
		} else {
			from = &l->next;
		}
	}
	link_undo(s->h, &s->live.links, NULL);
	bool wanted = slow && map_fd(s, s->u->stop) >= 0;
	struct err *e =
		wanted ? live_put(&s->live, s->u->stop, &(u32){0}, &(u64){1}) : err_new("no need");
	if (e || !link_leave(s->h, &slow))
		link_undo(s->h, &slow, NULL);
	err_free(e);
}

void attach_undo(struct session *s)
{
	link_undo(s->h, &s->live.links, NULL);
	for (u32 i = 0; s->attach.of && i < s->u->nprog; i++)
		err_free(s->attach.of[i].unattached_why);
	free(s->attach.of);
	s->attach.of = NULL;
}
