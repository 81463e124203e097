#include "base/vec.h"
#include "base/alloc.h"

void *vec_grow(void *v, u32 n, u32 *cap, size_t size)
{
	assert(n == *cap);
	assert(n < UINT32_MAX / 2);
	u32 want = n ? n * 2 : 8;
	void *p = reallocarray(v, want, size);
	if (!p)
		out_of_memory();
	*cap = want;
	return p;
}
