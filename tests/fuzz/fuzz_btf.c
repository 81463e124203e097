/* Any bytes as BTF: open, make every type, name and show it. */
#include "types/btf.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct types *k;
	struct field f;
	i64 v;
	struct err *err = btf_types_mem(data, n, &a, NULL, &k);
	for (u32 id = 0; !err && id < 200; id++) {
		AUTO_SB b = {0};
		const struct type *t = btf_types_get(k, id);
		type_name(t, &b);
		type_show_def(t, &b);
		type_eq(t, btf_types_get(k, id / 2));
		type_field(t, STR("x"), &f);
		btf_types_func(k, id);
		if (t->name.n)
			btf_types_find(k, t->name, T_NONE);
	}
	if (!err) {
		btf_types_enumerator(k, STR("A"), &v, NULL);
		btf_types_close(k);
	}
	err_free(err);
	arena_free(&a);
	return 0;
}
