/* code.c - the instructions of a function, one after the other. */
#include "sym/code.h"
#include "arch/arch.h"

bool code_next(const struct codes *c, u32 *at, struct insn *ret)
{
	struct insn i = {.at = *at};
	if (*at >= c->n)
		return false;
	const struct arch *arch = arch_of(c->machine);
	if (!arch || !arch->decode(c->p + *at, c->n - *at, &i))
		return false;
	assert(i.len > 0);
	*at += i.len;
	*ret = i;
	return true;
}

enum code_begins code_begins(const struct codes *c, u32 at)
{
	struct insn i;
	u32 next = 0;
	while (next < at && code_next(c, &next, &i))
		;
	return next == at ? BEGINS_YES : next > at ? BEGINS_NO : BEGINS_UNKNOWN;
}
