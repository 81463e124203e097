/* Any bytes as an ELF file with symbols, and as /proc/PID/maps. */
#include "sym/mappings.h"
#include "sym/sym.h"
#include "types/image.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct elf_syms e;
	struct maps m;
	struct err *err = elf_read_syms_mem(&a, data, n, &e);
	for (u32 i = 0; !err && i < e.n; i++)
		elf_at(&e, e.v[i].addr + 1);
	struct image im;
	struct symbol_version v[MAX_VERSIONS];
	if (!err && !image_mem(data, n, &im) && e.n)
		elf_versions(&im, e.v[0].name, v, MAX_VERSIONS);
	err_free(err);
	maps_parse(str_n((const char *)data, n), &m);
	maps_free(&m);
	arena_free(&a);
	return 0;
}
