#include "run/service.h"
#include "base/alloc.h"
#include "run/session.h"

static const struct service *const services[SERVICES] = {
	[SERVICE_SCOPE] = &service_scope,   [SERVICE_MMAP_EVENTS] = &service_mmap_events,
	[SERVICE_UNWIND] = &service_unwind, [SERVICE_LOSS] = &service_loss,
	[SERVICE_COST] = &service_cost,     [SERVICE_MANAGER] = &service_manager,
	[SERVICE_WATCH] = &service_watch,   [SERVICE_DEMAND] = &service_demand,
};

static bool works(const struct session *s, u32 i)
{
	return session_in_kernel(s) || services[i]->anywhere;
}

void services_init(struct session *s)
{
	for (u32 i = 0; i < SERVICES; i++) {
		assert(services[i]);
		assert(!s->service[i]);
		s->service[i] = xcalloc(1, services[i]->size);
	}
}

void services_early(struct session *s)
{
	for (u32 i = 0; i < SERVICES; i++)
		if (works(s, i) && services[i]->early)
			services[i]->early(s, s->service[i]);
}

struct err *services_open(struct session *s)
{
	struct err *e = NULL;
	for (u32 i = 0; i < SERVICES && !e; i++)
		e = works(s, i) && services[i]->open ? services[i]->open(s, s->service[i]) : NULL;
	return e;
}

void services_ready(struct session *s)
{
	for (u32 i = 0; i < SERVICES; i++)
		if (works(s, i) && services[i]->ready)
			services[i]->ready(s, s->service[i]);
}

void services_tick(struct session *s)
{
	for (u32 i = 0; i < SERVICES; i++)
		if (works(s, i) && services[i]->tick)
			services[i]->tick(s, s->service[i]);
}

bool services_busy(const struct session *s)
{
	bool any = false;
	for (u32 i = 0; i < SERVICES && !any; i++)
		any = works(s, i) && services[i]->busy && services[i]->busy(s, s->service[i]);
	return any;
}

bool services_want_child(const struct session *s)
{
	bool any = false;
	for (u32 i = 0; i < SERVICES && !any; i++)
		any = works(s, i) && services[i]->wants_child &&
		      services[i]->wants_child(s, s->service[i]);
	return any;
}

void services_child(struct session *s, u32 pid)
{
	for (u32 i = 0; i < SERVICES; i++)
		if (works(s, i) && services[i]->child)
			services[i]->child(s, s->service[i], pid);
}

void services_mapped(struct session *s, const struct mmap_event *note)
{
	for (u32 i = 0; i < SERVICES; i++)
		if (works(s, i) && services[i]->mapped)
			services[i]->mapped(s, s->service[i], note);
}

const struct service *service_of_stacks(struct session *s, void **self)
{
	u32 i = 0;
	while (!services[i]->tail)
		i++;
	*self = s->service[i];
	return services[i];
}

void services_detach(struct session *s)
{
	for (u32 i = 0; i < SERVICES; i++)
		if (works(s, i) && services[i]->detach)
			services[i]->detach(s, s->service[i]);
}

void services_report(struct session *s)
{
	for (u32 i = 0; i < SERVICES; i++)
		if (works(s, i) && services[i]->report)
			services[i]->report(s, s->service[i]);
}

void services_free(struct session *s)
{
	for (u32 i = 0; i < SERVICES; i++) {
		if (s->service[i] && services[i]->close)
			services[i]->close(s->service[i]);
		free(s->service[i]);
		s->service[i] = NULL;
	}
}
