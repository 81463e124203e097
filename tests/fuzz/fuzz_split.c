/* Any bytes as a file of split debug information: what becomes of its units is debug information again,
 * which is asked a little. Nothing leads out of the file. */
#include "types/dwarf.h"
#include "types/split.h"
#include <stdlib.h>

static void ask(const struct sb *image)
{
	struct arena a = {0};
	struct debug *d;
	struct debug_func f;
	struct err *e = debug_open_mem(image->s, image->n, &a, &d);
	if (!e) {
		err_free(debug_at(d, 0x1130, &f));
		debug_type(d, STR("pair"), T_STRUCT, false);
		debug_close(d);
	}
	err_free(e);
	arena_free(&a);
}

static void look(const struct split_file *f, enum split_kind kind, u64 id)
{
	struct split_unit u;
	struct sb out = {0};
	struct err *e = split_find(f, kind, id, &u);
	if (!e && u.info.n) {
		u.addr = u.ranges = u.info;
		e = split_image(&u, 62, &out);
		if (!e)
			ask(&out);
	}
	err_free(e);
	sb_free(&out);
}

static void look_at_all(const struct split_file *f, enum split_kind kind)
{
	u32 at = 0, most = 64;
	u64 id;
	while (most-- && split_next(f, kind, &at, &id))
		look(f, kind, id);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct split_file f;
	char *copy = malloc(n + 1);
	if (!copy)
		return 0;
	memcpy(copy, data, n);
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory(copy, n);
	struct err *e = elf ? split_open(elf, "memory", &f) : err_new("not an ELF file");
	if (!e) {
		look_at_all(&f, SPLIT_UNIT);
		look_at_all(&f, SPLIT_TYPE);
		split_close(&f);
	}
	err_free(e);
	if (elf)
		elf_end(elf);
	free(copy);
	return 0;
}
