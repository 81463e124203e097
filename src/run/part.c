#include "run/part.h"
#include "base/alloc.h"
#include "run/session.h"

static const struct part *const parts[PARTS] = {
	[PART_SCOPE] = &part_scope, [PART_NOTES] = &part_notes,   [PART_UNWIND] = &part_unwind,
	[PART_LOSS] = &part_loss,   [PART_COST] = &part_cost,     [PART_MANAGER] = &part_manager,
	[PART_WATCH] = &part_watch, [PART_DEMAND] = &part_demand,
};

static bool works(const struct session *s, u32 i)
{
	return session_in_kernel(s) || parts[i]->anywhere;
}

void parts_init(struct session *s)
{
	for (u32 i = 0; i < PARTS; i++) {
		assert(parts[i]);
		assert(!s->part[i]);
		s->part[i] = xcalloc(1, parts[i]->size);
	}
}

void parts_early(struct session *s)
{
	for (u32 i = 0; i < PARTS; i++)
		if (works(s, i) && parts[i]->early)
			parts[i]->early(s, s->part[i]);
}

struct err *parts_open(struct session *s)
{
	struct err *e = NULL;
	for (u32 i = 0; i < PARTS && !e; i++)
		e = works(s, i) && parts[i]->open ? parts[i]->open(s, s->part[i]) : NULL;
	return e;
}

void parts_ready(struct session *s)
{
	for (u32 i = 0; i < PARTS; i++)
		if (works(s, i) && parts[i]->ready)
			parts[i]->ready(s, s->part[i]);
}

void parts_tick(struct session *s)
{
	for (u32 i = 0; i < PARTS; i++)
		if (works(s, i) && parts[i]->tick)
			parts[i]->tick(s, s->part[i]);
}

bool parts_busy(const struct session *s)
{
	bool any = false;
	for (u32 i = 0; i < PARTS && !any; i++)
		any = works(s, i) && parts[i]->busy && parts[i]->busy(s, s->part[i]);
	return any;
}

bool parts_want_child(const struct session *s)
{
	bool any = false;
	for (u32 i = 0; i < PARTS && !any; i++)
		any = works(s, i) && parts[i]->wants_child && parts[i]->wants_child(s, s->part[i]);
	return any;
}

void parts_child(struct session *s, u32 pid)
{
	for (u32 i = 0; i < PARTS; i++)
		if (works(s, i) && parts[i]->child)
			parts[i]->child(s, s->part[i], pid);
}

void parts_mapped(struct session *s, const struct map_note *note)
{
	for (u32 i = 0; i < PARTS; i++)
		if (works(s, i) && parts[i]->mapped)
			parts[i]->mapped(s, s->part[i], note);
}

const struct part *part_of_stacks(struct session *s, void **self)
{
	u32 i = 0;
	while (!parts[i]->tail)
		i++;
	*self = s->part[i];
	return parts[i];
}

void parts_detach(struct session *s)
{
	for (u32 i = 0; i < PARTS; i++)
		if (works(s, i) && parts[i]->detach)
			parts[i]->detach(s, s->part[i]);
}

void parts_report(struct session *s)
{
	for (u32 i = 0; i < PARTS; i++)
		if (works(s, i) && parts[i]->report)
			parts[i]->report(s, s->part[i]);
}

void parts_free(struct session *s)
{
	for (u32 i = 0; i < PARTS; i++) {
		if (s->part[i] && parts[i]->close)
			parts[i]->close(s->part[i]);
		free(s->part[i]);
		s->part[i] = NULL;
	}
}
