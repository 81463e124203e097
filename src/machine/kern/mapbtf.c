/* mapbtf.c - BTF for the maps of an object file: the type of each variable says what map it is. */
#include "base/vec.h"
#include "kern/bpf.h"
#include <bpf/btf.h>

/* Numbers are lengths of arrays that its members point to. */
static int map_type(struct btf *b, int int_id, const struct map_spec *m)
{
	const struct {
		const char *name;
		u32 n;
	} row[] = {{"type", m->type},
		   {"key_size", m->key_size},
		   {"value_size", m->val_size},
		   {"max_entries", m->max_entries}};
	int ptr[countof(row)];
	_Static_assert(countof(row) * 8 == MAP_DEF_BYTES, "pointers");
	for (u32 i = 0; i < countof(row); i++)
		ptr[i] = btf__add_ptr(b, btf__add_array(b, int_id, int_id, row[i].n));
	int id = btf__add_struct(b, NULL, MAP_DEF_BYTES);
	for (u32 i = 0; i < countof(row); i++)
		btf__add_field(b, row[i].name, ptr[i], i * 64, 0);
	return id;
}

void bpf_maps_btf(const struct map_spec *maps, u32 n, struct sb *out)
{
	struct btf *b = btf__new_empty();
	int int_id = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	VEC(int) var = {0};
	for (u32 i = 0; i < n; i++)
		vec_add(&var, btf__add_var(b, maps[i].name, BTF_VAR_GLOBAL_ALLOCATED,
					   map_type(b, int_id, &maps[i])));
	if (n)
		btf__add_datasec(b, ".maps", n * MAP_DEF_BYTES);
	for (u32 i = 0; i < n; i++)
		btf__add_datasec_var_info(b, var.v[i], i * MAP_DEF_BYTES, MAP_DEF_BYTES);
	vec_free(&var);
	u32 size = 0;
	const void *raw = btf__raw_data(b, &size);
	if (raw)
		sb_mem(out, raw, size);
	btf__free(b);
}
