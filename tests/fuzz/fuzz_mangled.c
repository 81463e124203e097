/* Any text as the name that a compiler gave a function. */
#include "sym/sym.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static const char *const before[] = {"", "_Z", "_ZN", "_R", "___Z"};
	struct arena a = {0};
	AUTO_SB name = {0};
	if (!n || n > 1 << 14)
		return 0;
	sb_z(&name, before[data[0] % countof(before)]);
	sb_mem(&name, data + 1, n - 1);
	demangle(&a, sb_str(&name));
	demangle_fits(DEMANGLE_CPP, STR("a::*"), sb_str(&name));
	demangle_fits(DEMANGLE_RUST, STR("*::b"), sb_str(&name));
	arena_free(&a);
	return 0;
}
