/* Any bytes as call frame information; rows must come out in order. */
#include "arch/arch.h"
#include "sym/cfi.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	for (u32 eh = 0; eh < 2; eh++) {
		struct cfi c = {.arch = n && data[0] & 1 ? &arch_aarch64 : &arch_x86_64,
				.base = n ? data[0] * 16u : 0};
		struct cfi_rows r;
		cfi_add(&c, bytes_of(data, n), 0x100, eh);
		cfi_finish(&c, &r);
		for (u32 i = 1; i < r.n; i++)
			if (r.v[i - 1].pc >= r.v[i].pc)
				abort();
		free(r.v);
	}
	return 0;
}
