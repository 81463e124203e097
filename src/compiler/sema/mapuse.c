#include "sema/mapuse.h"

struct mapuse *mapuse(struct compile *c, const struct map *m)
{
	if (m->index >= c->nmapuse) {
		u32 n = MAX(16u, 2 * (m->index + 1));
		struct mapuse *grown = arena_newn(&c->scratch, struct mapuse, n);
		if (c->nmapuse)
			memcpy(grown, c->mapuse, c->nmapuse * sizeof(*grown));
		c->mapuse = grown;
		c->nmapuse = n;
	}
	return &c->mapuse[m->index];
}
