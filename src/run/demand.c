/*
 * demand.c - programs are attached as long as somebody looks at what they count.
 *
 * Programs that use a map in common are a group, because one may need what another notes there. A group
 * none of whose maps the watcher wants is detached; a group without a map that is read always stays.
 * When a group comes back, what it had noted for itself is cleared first: it is of a time in which not
 * all events were seen.
 */
#include "base/alloc.h"
#include "core/watch.h"
#include "run/session.h"

struct demand {
	u32 *group; /* of programs by their index, then of maps: the number of one of its members */
	bool *off;  /* by group */
	bool *lost; /* it could not be attached again */
};

static const struct watcher *watcher_of(const struct session *s)
{
	const struct watcher *w = s->reporter.output.watcher;
	return w && w->wants && session_in_kernel(s) ? w : NULL;
}

/* ---- groups ---- */

static u32 root(const struct demand *d, u32 i)
{
	while (d->group[i] != i)
		i = d->group[i];
	return i;
}

static void join(struct demand *d, u32 a, u32 b)
{
	d->group[root(d, a)] = root(d, b);
}

/* Is this what a program refers to by map index i, and offset at in its element? */
static bool is_meant(const struct unit *u, const struct map *m, const struct reloc *r,
		     const struct bpf_insn *insn)
{
	const struct map *at = u->map[r->map];
	if (m->in)
		return m->in == at && r->kind == RELOC_MAPVAL &&
		       (u32)insn[r->insn + 1].imm >= m->at &&
		       (u32)insn[r->insn + 1].imm < m->at + m->val_size;
	return m == at || m->own == at || m->keys == at;
}

static void join_maps(struct demand *d, const struct unit *u, const struct prog *p)
{
	for (u32 i = 0; i < p->code.nreloc; i++)
		for (u32 k = 0; k < u->nmap; k++)
			if (u->map[k]->role == MAP_USER &&
			    is_meant(u, u->map[k], &p->code.reloc[i], p->code.insn))
				join(d, p->index, u->nprog + k);
}

static struct err *demand_open(struct session *s, void *self)
{
	struct demand *d = self;
	const struct unit *u = s->u;
	u32 n = u->nprog + u->nmap;
	if (!watcher_of(s))
		return NULL;
	d->group = xcalloc(n + 1, sizeof(*d->group));
	d->off = xcalloc(n + 1, sizeof(*d->off));
	d->lost = xcalloc(n + 1, sizeof(*d->lost));
	for (u32 i = 0; i < n; i++)
		d->group[i] = i;
	for (u32 i = 0; i < u->nprog; i++)
		if (u->prog[i]->phase == PROG_ATTACH)
			join_maps(d, u, u->prog[i]);
	return NULL;
}

/* ---- what is wanted ---- */

static bool is_wanted(const struct session *s, const struct demand *d, u32 group)
{
	const struct watcher *w = watcher_of(s);
	bool any = false;
	for (u32 i = 0; i < s->u->nmap; i++) {
		const struct map *m = s->u->map[i];
		if (m->role != MAP_USER || root(d, s->u->nprog + i) != group ||
		    w->ignores(w->self, m))
			continue;
		any = true;
		if (w->wants(w->self, m))
			return true;
	}
	return !any;
}

static void clear_notes(struct session *s, const struct demand *d, u32 group)
{
	const struct watcher *w = watcher_of(s);
	for (u32 i = 0; i < s->u->nmap; i++)
		if (s->u->map[i]->role == MAP_USER && root(d, s->u->nprog + i) == group &&
		    w->ignores(w->self, s->u->map[i]))
			report_clear_map(&s->reporter, s->u->map[i]);
}

static void put_traced(struct session *s, const struct demand *d, u32 group, bool on)
{
	const struct watcher *w = watcher_of(s);
	for (u32 i = 0; i < s->u->nmap; i++)
		if (s->u->map[i]->role == MAP_USER && root(d, s->u->nprog + i) == group)
			w->traced(w->self, s->u->map[i], on);
}

static void turn(struct session *s, struct demand *d, u32 group, bool on)
{
	if (on)
		clear_notes(s, d, group);
	for (u32 i = 0; i < s->u->nprog && !d->lost[group]; i++) {
		const struct prog *p = s->u->prog[i];
		if (p->phase != PROG_ATTACH || root(d, i) != group)
			continue;
		if (on)
			d->lost[group] = attach_again(s, p) != ATTACHED;
		else
			attach_off(s, p);
	}
	d->off[group] = !on;
	put_traced(s, d, group, on && !d->lost[group]);
}

static void demand_tick(struct session *s, void *self)
{
	struct demand *d = self;
	if (!d->group || s->control.stop)
		return;
	for (u32 i = 0; i < s->u->nprog; i++) {
		u32 group = root(d, i);
		if (s->u->prog[i]->phase != PROG_ATTACH || d->lost[group])
			continue;
		bool on = is_wanted(s, d, group);
		if (on == d->off[group])
			turn(s, d, group, on);
	}
}

static void demand_close(void *self)
{
	struct demand *d = self;
	free(d->group);
	free(d->off);
	free(d->lost);
}

const struct service service_demand = {
	.name = "demand",
	.size = sizeof(struct demand),
	.open = demand_open,
	.tick = demand_tick,
	.close = demand_close,
};
