#include "split.h"

/* Only this unit knows it. */
struct hidden {
	int deep;
	struct point p;
};

__attribute__((noinline)) int first(struct pair *p, struct hidden *h, const char *name)
{
	static volatile int times = 40;
	times++;
	return p->a + h->deep + name[0] + times;
}

int main(void)
{
	struct pair p = {1, 2, {3, 4}};
	struct hidden h = {7, {8, 9}};
	return first(&p, &h, "xy") + paint(&p, RED, 3) == 0;
}
