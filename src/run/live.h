/*
 * live.h - a unit in the kernel: what its maps and programs are there, by their index in the unit.
 *
 * load.c makes maps, programs and the ring, attach.c the links; nobody else writes here.
 */
#pragma once
#include "core/unit.h"
#include "kern/bpf.h"

struct live {
	int *map_fd;       /* -1: not made, because nothing needs it */
	void **map_mem;    /* of maps that user space maps; else NULL */
	int *prog_fd;      /* -1: not loaded */
	struct ring *ring; /* NULL: no program writes records */
	u32 ring_bytes;
	struct link *links;
};

/* m NULL: the script needs none; -1 like one that was not made. */
static inline int live_map(const struct live *l, const struct map *m)
{
	return m && l->map_fd ? l->map_fd[m->index] : -1;
}
static inline void *live_mem(const struct live *l, const struct map *m)
{
	return l->map_mem[m->index];
}
static inline int live_prog(const struct live *l, const struct prog *p)
{
	return l->prog_fd[p->index];
}
