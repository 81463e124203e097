#include "sema/mapuse.h"

struct mapuse *mapuse(struct compile *c, const struct map *m)
{
	while (c->nmapuse <= m->index)
		arena_push(&c->scratch, c->mapuse, c->nmapuse, (struct mapuse){0});
	return &c->mapuse[m->index];
}
