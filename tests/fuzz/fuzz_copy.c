/* Any bytes as the copy of a stack, of any length, under any rules: nothing outside of it is read. */
#include "arch/arch.h"
#include "sym/cfi.h"
#include "unwind/copy.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);

static bool any_rule(void *arg, u64 addr, struct copy_code *ret)
{
	const u32 *seed = arg;
	u32 rule = (u32)addr * 2654435761u ^ *seed;
	*ret = (struct copy_code){.rule = rule,
				  .lang = addr % 5 ? 0 : 1 + (rule >> 8) % 3,
				  .nests = rule >> 16 & 1,
				  .program = rule >> 17 & 1};
	return addr % 7 && unwind_kind(rule) <= UNWIND_KIND_MAX;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	enum { FRAMES = 64 };
	u64 frame[FRAMES];
	enum copy_end end;
	u32 seed;
	if (n < sizeof(seed))
		return 0;
	memcpy(&seed, data, sizeof(seed));
	const struct host h = {.arch = seed & 1 ? &arch_aarch64 : &arch_x86_64};
	data += sizeof(seed);
	n -= sizeof(seed);
	struct unwind_copy *c = calloc(1, MAX(n, sizeof(*c)));
	memcpy(c, data, n);
	if (n >= sizeof(*c)) /* else hardly any would do */
		c->bytes %= (u32)(n - sizeof(*c) + 1);
	if (copy_sound(c, n) && copy_walk(&h, c, any_rule, &seed, frame, FRAMES, &end) > FRAMES)
		abort();
	free(c);
	return 0;
}
