/* Any bytes as a BPF object file. */
#include "types/object.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct object o = {0};
	struct err *err = object_read(data, n, &a, &o);
	if (!err)
		object_close(&o);
	err_free(err);
	arena_free(&a);
	return 0;
}
