/* Any bytes as a compiled script; what is taken for one is written again. */
#include "core/unitfile.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct host h;
	struct diags ds = {.arena = &a};
	host_init(&h, &a, "/nonexistent");
	h.ncpu = 4;
	struct unit u = {0};
	struct err *e = unit_read(&u, &a, &ds, &h, data, n);
	AUTO_SB out = {0};
	if (!e)
		err_free(unit_write(&u, &ds, &out));
	err_free(e);
	host_deinit(&h);
	arena_free(&a);
	return 0;
}
