/* interp.c - functions that were inlined, as texts; see the header. */
#include "core/interp.h"

void interp_add(struct sb *b, u32 line, struct str name, struct str file)
{
	u32 head[] = {line, name.n, file.n};
	sb_mem(b, head, sizeof(head));
	sb_add(b, name);
	sb_add(b, file);
}

bool interp_next(struct bytes *b, struct interp_frame *ret)
{
	*ret = (struct interp_frame){.line = bytes_u32(b)};
	u32 name = bytes_u32(b), file = bytes_u32(b);
	const u8 *n = bytes_take(b, name), *f = bytes_take(b, file);
	if (b->bad)
		return false;
	ret->name = str_n((const char *)n, name);
	ret->file = str_n((const char *)f, file);
	return true;
}
