/* An address, and any bytes as a program with debug information. What is said of it must be believed by
 * whoever asked. */
#include "types/dwpack.h"
#include <stdlib.h>

static void touch(const struct type *t, int depth)
{
	u32 n;
	const struct field *f = t ? type_fields(t, &n) : NULL;
	for (u32 i = 0; f && i < n && i < 64 && depth < 4; i++)
		touch(f[i].type, depth + 1);
	if (t && t->kind == T_PTR && depth < 4)
		touch(t->base, depth + 1);
}

static void send(struct debug *d, const struct debug_func *f)
{
	struct arena a = {0};
	struct debug_types types = {.arena = &a};
	struct debug_func copy;
	struct sb out = {0};
	debug_pack_func(&out, d, f);
	struct bytes b = bytes_of(out.s, out.n);
	if (!debug_take_func(&b, &types, &copy))
		abort();
	for (u32 i = 0; i < types.record.n && i < 16; i++) {
		sb_clear(&out);
		if (!debug_pack_members(&out, d, &types.record.v[i].key))
			continue;
		b = bytes_of(out.s, out.n);
		if (!debug_take_members(&b, &types, i))
			abort();
	}
	vec_free(&types.record);
	sb_free(&out);
	arena_free(&a);
}

static void ask(struct debug *d, u64 addr)
{
	struct debug_func f;
	struct debug_frame frame[8];
	u64 *at;
	u32 n;
	debug_frames(d, addr, frame, 8);
	struct err *e = debug_at(d, addr, &f);
	for (u32 i = 0; !e && i < f.nvar; i++)
		touch(f.var[i].type, 0);
	if (!e) {
		touch(f.ret.type, 0);
		send(d, &f);
	}
	err_free(e);
	touch(debug_type(d, STR("node"), T_STRUCT, false), 0);
	debug_type(d, STR("none"), T_NONE, false);
	err_free(debug_line(d, STR("typed.c"), 12, 0, &at, &n));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct debug *d;
	u64 addr;
	if (n < sizeof(addr))
		return 0;
	memcpy(&addr, data, sizeof(addr));
	u8 *copy = malloc(n - sizeof(addr) + 1);
	if (!copy)
		return 0;
	memcpy(copy, data + sizeof(addr), n - sizeof(addr));
	struct err *e = debug_open_mem(copy, n - sizeof(addr), &a, &d);
	if (!e) {
		ask(d, addr);
		debug_close(d);
	}
	err_free(e);
	arena_free(&a);
	free(copy);
	return 0;
}
