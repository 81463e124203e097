/* Any bytes as machine code: every step moves on, and none beyond the end. */
#include "arch/move.h"
#include "sym/code.h"
#include <elf.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static const u16 machine[] = {EM_X86_64, EM_AARCH64, EM_386};
	for (u32 i = 0; i < countof(machine); i++) {
		struct codes c = {data, (u32)n, machine[i]};
		struct insn in;
		u32 at = 0, last = 0;
		struct move move;
		while (code_next(&c, &at, &in)) {
			if (machine[i] == EM_X86_64 &&
			    x86_64_move(data + last, (u32)n - last, &move))
				assert(move.len == in.len && move.kind <= MOVE_SPOIL &&
				       move.size <= 16);
			assert(in.at == last && in.len > 0 && in.len <= 15);
			assert(at == last + in.len && at <= c.n);
			assert(code_begins(&c, last) == BEGINS_YES);
			last = at;
			if (at > 64) /* asking for each begin is quadratic */
				break;
		}
	}
	return 0;
}
