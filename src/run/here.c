/* here.c - records and maps of a unit that is loaded in this machine's kernel. */
#include "run/here.h"
#include "run/session.h"

static int fd(const void *from)
{
	const struct live *l = &((const struct session *)from)->live;
	return l->ring ? ring_fd(l->ring) : -1;
}

static u64 consume(void *from, u64 max)
{
	const struct live *l = &((struct session *)from)->live;
	return l->ring ? ring_consume(l->ring, max) : 0;
}

static bool wait(const void *from)
{
	const struct live *l = &((const struct session *)from)->live;
	return l->ring && ring_wait(l->ring);
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
	return bpf_map_get(map_fd(from, m), key, val);
}

static struct err *put(void *from, const struct map *m, const void *key, const void *val)
{
	return bpf_map_put(map_fd(from, m), key, val);
}

static struct err *del(void *from, const struct map *m, const void *key)
{
	return bpf_map_del(map_fd(from, m), key);
}

static struct err *all(void *from, const struct map *m, u32 val_size, struct elements *ret)
{
	return bpf_map_all(map_fd(from, m), m->key_size, val_size, m->max_entries, &ret->keys,
			   &ret->vals, &ret->n);
}

const struct event_source source_here = {
	.names = &names_here,
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
