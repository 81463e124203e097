/* here.c - records and maps of a unit that is loaded on this machine, in the engine of its session. */
#include "run/here.h"
#include "base/clock.h"
#include "run/session.h"

static const struct live *live_of(const void *from)
{
	return &((const struct session *)from)->live;
}

static int fd(const void *from)
{
	const struct live *l = live_of(from);
	return l->ring ? l->engine->ring_fd(l->ring) : -1;
}

static u64 consume(void *from, u64 max)
{
	const struct live *l = live_of(from);
	return l->ring ? l->engine->ring_consume(l->ring, max) : 0;
}

static bool wait(const void *from)
{
	const struct live *l = live_of(from);
	return l->ring && l->engine->ring_wait(l->ring);
}

/* A map that is a part of another one was made if that one was. */
static bool has(const void *from, const struct map *m)
{
	return map_fd(from, m->in ? m->in : m) >= 0;
}

static void *mem(const void *from, const struct map *m)
{
	return map_mem(from, m);
}

static struct err *get(void *from, const struct map *m, const void *key, void *val)
{
	return live_get(live_of(from), m, key, val);
}

static struct err *put(void *from, const struct map *m, const void *key, const void *val)
{
	return live_put(live_of(from), m, key, val);
}

static struct err *del(void *from, const struct map *m, const void *key)
{
	return live_delete(live_of(from), m, key);
}

static struct err *all(void *from, const struct map *m, u32 val_size, struct elements *ret)
{
	const struct live *l = live_of(from);
	const struct map_shape shape = {m->key_size, val_size, m->max_entries};
	return l->engine->map_all(l->self, live_map(l, m), &shape, ret);
}

static u64 now(const void *from)
{
	(void)from;
	return now_ns();
}

const struct event_source source_here = {
	.names = &names_here,
	.now = now,
	.fd = fd,
	.consume = consume,
	.wait = wait,
	.has = has,
	.mem = mem,
	.get = get,
	.put = put,
	.del = del,
	.all = all,
};
