/* shed.c - panes of a board that are not traced for a while because the board costs too much. */
#include "base/clock.h"
#include "core/cost.h"
#include "live/inside.h"

enum {
	MOST_SHARE = 10000, /* millionths of the machine's processor time */
	PATIENCE_S = 3,     /* for so long in a row */
	REST_S = 60,        /* then it is tried again */
};

static u64 share_of(const struct front *f)
{
	const struct live_tick *to = model_back(&f->model, 0), *from = model_back(&f->model, 1);
	if (f->model.ntick < 2 || !to->at.ncpu || to->at.programs_ns == WATCH_UNKNOWN ||
	    from->at.programs_ns == WATCH_UNKNOWN)
		return 0;
	return cost_share(to->at.own_ns - from->at.own_ns + to->at.programs_ns -
				  from->at.programs_ns,
			  to->at.ns - from->at.ns, to->at.ncpu);
}

/* The next one in the order of the board. */
static struct pane *next(const struct front *f)
{
	struct pane *r = NULL;
	for (u32 i = 0; i < f->npane; i++) {
		struct pane *p = f->pane[i];
		if (p->spec && p->spec->shed && !p->shed_ns && !p->off && (p->shown || p->seen) &&
		    (!r || p->spec->shed < r->spec->shed))
			r = p;
	}
	return r;
}

void shed_panes(struct front *f)
{
	u64 now = now_ns();
	for (u32 i = 0; i < f->npane; i++)
		if (f->pane[i]->shed_ns && now - f->pane[i]->shed_ns > REST_S * (u64)SECOND_NS)
			f->pane[i]->shed_ns = 0;
	if (share_of(f) <= MOST_SHARE)
		f->dear_ns = 0;
	else if (!f->dear_ns)
		f->dear_ns = now;
	struct pane *p =
		f->dear_ns && now - f->dear_ns >= PATIENCE_S * (u64)SECOND_NS ? next(f) : NULL;
	if (p)
		p->shed_ns = f->dear_ns = now;
}
