/* Any bytes as Go's table of functions; what it gives must lie in order and in its range. */
#include "sym/gopcln.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct gopcln g;
	struct go_func fn;
	struct image im;
	bool ok = gopcln_open(bytes_of(data, n), 0x1000, &g);
	for (u32 i = 0; ok && i < g.n && i < 4096; i++)
		if (gopcln_at(&g, i, &fn) &&
		    (!fn.name.n || !fn.size || fn.addr < g.from || fn.addr + fn.size > g.end))
			abort();
	struct go_stack s;
	for (u32 i = 0; ok && i < g.n && i < 64; i++)
		for (bool more = gopcln_stack(&g, i, &s); more;) {
			more = gopcln_stack_next(&s);
			if (more && s.from >= s.end)
				abort();
		}
	struct err *e = image_mem(data, n, &im);
	if (!e)
		gopcln_find(&im, &g);
	err_free(e);
	return 0;
}
