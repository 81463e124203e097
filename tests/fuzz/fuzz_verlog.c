/* Any text as what the kernel's verifier says. */
#include "kern/verlog.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct verdict v;
	verlog_read(arena_strz(&a, str_n((const char *)data, n)), &a, &v);
	if (!v.why || v.insn < -1 || v.detail.n > n)
		abort();
	arena_free(&a);
	return 0;
}
