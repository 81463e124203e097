/* aarch64_insn.c - arm64 instructions: all have the same length. */
#include "arch/decode.h"

enum { ARM_INSN = 4 };

/* What arch_uprobe_analyze_insn() of the kernel refuses. */
static bool is_refused(u32 w)
{
	static const struct {
		u32 mask, value;
	} kinds[] =
		{
			{0x3b000000, 0x18000000}, /* loads relative to pc */
			{0x3f800000, 0x08000000}, /* exclusive loads and stores */
			{0xff000000, 0xd4000000}, /* svc, brk and the like */
			{0xfff00000, 0xd5100000}, /* msr */
			{0xfff8f01f, 0xd500401f},
			{0xfefff800, 0xd61f0800}, /* braa, blraa, retaa and their kin, eret */
			{0xfefff800, 0xd63f0800},
			{0xfffffbff, 0xd65f0bff},
			{0xfffff3ff, 0xd69f03e0},
		};
	for (u32 i = 0; i < countof(kinds); i++)
		if ((w & kinds[i].mask) == kinds[i].value)
			return true;
	return false;
}

/* How far a branch that names its target goes: b, b.cond, cbz, cbnz, tbz, tbnz. */
static bool branches(u32 w, i64 *by)
{
	u32 field = 0, bits = 0;
	if ((w & 0xfc000000) == 0x14000000) {
		field = w & 0x3ffffff;
		bits = 26;
	} else if ((w & 0xff000000) == 0x54000000 || (w & 0x7e000000) == 0x34000000) {
		field = (w >> 5) & 0x7ffff;
		bits = 19;
	} else if ((w & 0x7e000000) == 0x36000000) {
		field = (w >> 5) & 0x3fff;
		bits = 14;
	}
	if (bits)
		*by = ((i64)((u64)field << (64 - bits)) >> (64 - bits)) * ARM_INSN;
	return bits != 0;
}

bool aarch64_decode(const u8 *p, u32 n, struct insn *ret)
{
	if (n < ARM_INSN)
		return false;
	u32 w = (u32)p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24;
	ret->len = ARM_INSN;
	ret->kind = CODE_OTHER;
	ret->refused = is_refused(w);
	i64 by;
	ret->jumps = branches(w, &by);
	if (ret->jumps)
		ret->to = (i64)ret->at + by;
	if ((w & 0xfffffc1f) == 0xd65f0000 || w == 0xd65f0bff || w == 0xd65f0fff)
		ret->kind = CODE_RET; /* also with a signed address */
	else if ((w & 0xfc000000) == 0x94000000 || (w & 0xfffffc1f) == 0xd63f0000)
		ret->kind = CODE_CALL;
	else if ((w & 0xfc000000) == 0x14000000 || (w & 0xfffffc1f) == 0xd61f0000)
		ret->kind = CODE_JUMP;
	else if (w == 0xd503201f)
		ret->kind = CODE_NOP;
	return true;
}
