/* Any text as a tracefs event format. */
#include "types/format.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	const struct type *t;
	u64 id;
	struct err *err = format_parse(str_n((const char *)data, n), STR("x"), NULL, &a, &id, &t);
	if (!err) {
		AUTO_SB b = {0};
		u32 nf;
		const struct field *f = type_fields(t, &nf);
		for (u32 i = 0; i < nf; i++)
			type_show_field(&f[i], &b);
	}
	err_free(err);
	arena_free(&a);
	return 0;
}
