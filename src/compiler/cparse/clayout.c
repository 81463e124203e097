/* clayout.c - the System V rules for members and bit-fields, and the few where ARM differs. */
#include "cparse/cdecl.h"

static bool place(struct clayout *l, struct field *f, u64 bits)
{
	if (l->is_union) {
		f->bit_off = 0;
		l->max = MAX(l->max, bits);
	} else {
		f->bit_off = (u32)l->bits;
		l->bits += bits;
		l->max = l->bits;
	}
	return l->max <= (u64)CDECL_MAX_BYTES * 8;
}

bool clayout_member(struct clayout *l, struct field *f, u32 align)
{
	u32 own = l->packed ? 1 : MAX(f->type->align, 1u);
	align = MAX(align, own);
	l->align = MAX(l->align, align);
	l->bits = ALIGN_UP(l->bits, (u64)align * 8);
	return place(l, f, (u64)f->type->size * 8);
}

bool clayout_bits(struct clayout *l, struct field *f, u32 width, bool named)
{
	u64 unit = (u64)f->type->size * 8;
	u32 align = MAX(f->type->align, 1u);
	f->bit_len = width;
	if (!width) {
		l->bits = ALIGN_UP(l->bits, unit);
		if (l->bits_align)
			l->align = MAX(l->align, align);
		return true;
	}
	if (!l->packed) {
		if (named || l->bits_align)
			l->align = MAX(l->align, align);
		/* It may not cross a boundary of its type. */
		if (l->bits / unit != (l->bits + width - 1) / unit)
			l->bits = ALIGN_UP(l->bits, unit);
	}
	return place(l, f, width);
}

void clayout_end(struct clayout *l, u32 align, struct type *t)
{
	t->align = MAX(MAX(l->align, align), 1u);
	u64 bytes = (l->max + 7) / 8;
	/* A field of width 0 at the end still moved the end. */
	bytes = l->is_union ? bytes : MAX(bytes, (l->bits + 7) / 8);
	t->size = (u32)ALIGN_UP(bytes, (u64)t->align);
}
