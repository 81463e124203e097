#include "split.h"

/* In a section of its own, so that this unit's code is in two ranges. */
__attribute__((noinline, section(".text.apart"))) static int inner(struct pair *p, int k)
{
	return p->where.y * k;
}

static inline __attribute__((always_inline)) int mixed(struct pair *p, int k)
{
	int twice = k * 2;
	return inner(p, twice);
}

int paint(struct pair *p, enum color c, int k)
{
	int r = mixed(p, k);
	return r + c + p->b;
}
