/* constants.c - what scripts call by name although it is nowhere in BTF. */
#include "kern/regs.h"
#include "sema/cdefs.h"

static const struct constant {
	const char *name;
	i64 x86_64, aarch64;
} constants[] = {
#define C(name, value)       {#name, value, value},
#define A(name, x86_64, arm) {#name, x86_64, arm},
#include "sema/constants.def"
};

bool known_constant(struct str name, i64 *val)
{
	u32 lo = 0, hi = countof(constants);
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		int c = str_cmp(name, str_z(constants[mid].name));
		if (!c) {
			*val = str_is(STR(REGS_ARCH), "aarch64") ? constants[mid].aarch64
								 : constants[mid].x86_64;
			return true;
		}
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}
