/*
 * live.h - a unit that is loaded: what its maps and programs are in an engine, by their index in the
 * unit.
 *
 * load.c makes maps, programs and the ring, attach.c makes links; nobody else writes here.
 */
#pragma once
#include "core/engine.h"
#include "core/unit.h"

struct query;
struct live {
	/* Set before session_load(), or NULL: it takes the kernel. */
	const struct engine *engine;
	void *self; /* the state of the engine */
	/* Events are rows of recordings (query.h), or NULL if they are this machine's. */
	struct query *query;
	struct live_map *map;
	int *prog_fd;      /* -1 for a program that is not loaded */
	struct ring *ring; /* NULL if no program writes records */
	u32 ring_bytes;
	struct link *links;
};

/* -1 if m is NULL, because the script needs no such map, or if the map was not made. */
static inline int live_map(const struct live *l, const struct map *m)
{
	return m && l->map ? l->map[m->index].fd : -1;
}
static inline void *live_mem(const struct live *l, const struct map *m)
{
	return l->map[m->index].mem;
}
static inline int live_prog(const struct live *l, const struct prog *p)
{
	return l->prog_fd[p->index];
}

/* Elements of a map that was made. */
static inline struct err *live_get(const struct live *l, const struct map *m, const void *key,
				   void *val)
{
	return l->engine->map_get(l->self, live_map(l, m), key, val);
}
static inline struct err *live_put(const struct live *l, const struct map *m, const void *key,
				   const void *val)
{
	return l->engine->map_put(l->self, live_map(l, m), key, val);
}
static inline struct err *live_delete(const struct live *l, const struct map *m, const void *key)
{
	return l->engine->map_delete(l->self, live_map(l, m), key);
}
/* Run a program that is loaded, without a context. */
static inline struct err *live_run(const struct live *l, const struct prog *p, u32 *retval)
{
	return l->engine->prog_run(l->self, live_prog(l, p), NULL, 0, retval);
}
