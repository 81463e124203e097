/* Any bytes as a file with probe notes, and as an argument. */
#include "arch/arch.h"
#include "types/usdt.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct usdt_sites s;
	struct usdt_arg arg;
	usdt_parse_arg(&arch_x86_64, str_n((const char *)data, n), &arg);
	usdt_parse_arg(&arch_aarch64, str_n((const char *)data, n), &arg);
	err_free(usdt_read_mem(data, n, &a, &s));
	arena_free(&a);
	return 0;
}
