#pragma once
/* For tests of #include. */
#define POINT_MAX 100
#define POINT_SQUARE(x) ((x) * (x))
#include "sub/unit.h"
struct point {
	unit_t x, y;
};
static inline int point_x(struct point *p)
{
	return p->x;
}
extern struct point origin;
int point_show(const struct point *p, ...) __attribute__((nonnull(1)));
