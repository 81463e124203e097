/* Any bytes as a list of generated code and as a dump of it, at once and in two parts. */
#include "sym/jit.h"

static void take(u64 (*part)(struct codes *, const char *, size_t), const u8 *data, size_t n,
		 size_t cut)
{
	struct codes c = {0};
	struct symbol sym;
	u64 done = part(&c, (const char *)data, cut);
	if (done < n)
		part(&c, (const char *)data + done, n - done);
	codes_sort(&c);
	codes_find(&c, 0x1000, &sym);
	codes_free(&c);
}

static u64 dump_part(struct codes *c, const char *data, size_t n)
{
	return codes_take_dump(c, data, n);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	size_t cut = n ? data[n / 2] % n : 0;
	take(codes_take_lines, data, n, n);
	take(codes_take_lines, data, n, cut);
	take(dump_part, data, n, n);
	take(dump_part, data, n, cut);
	return 0;
}
