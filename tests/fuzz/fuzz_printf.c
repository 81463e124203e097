/* Kinds of values, a NUL, then any text as a format for them; what is printed stays in bounds. */
#include "core/printf.h"
#include <stdlib.h>

enum { MAX_VALUES = 8 };

static struct value value_of(u8 kind, struct str text)
{
	static const struct value two[] = {{.kind = V_UINT, .size = 8, .u = 1}, {.kind = V_STR}};
	static const struct frame frame[] = {{.addr = 1}, {.addr = 2}};
	u64 u = kind * 0x123456789abcdefull;
	switch (kind % 8) {
	case 0: return (struct value){.kind = V_UINT, .size = 8, .u = u};
	case 1: return (struct value){.kind = V_INT, .size = 4, .i = -(i64)kind};
	case 2: return (struct value){.kind = V_STR, .str = text, .cut = kind & 8};
	case 3: return (struct value){.kind = V_BYTES, .str = text};
	case 4: return (struct value){.kind = V_FLOAT, .f = (double)u / 3};
	case 5: return (struct value){.kind = V_TUPLE, .n = 2, .list = two};
	case 6: return (struct value){.kind = V_STACK, .n = 2, .stack = frame};
	default: return (struct value){.kind = V_NAMED, .u = u, .str = text};
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct value v[MAX_VALUES];
	struct arena a = {0};
	struct pattern f;
	AUTO_SB out = {0};
	u32 nvalue = 0, at = 0, nconv = 0;
	const struct show how = {.trailer = STR(".."), .escape = n & 1};
	while (nvalue < MAX_VALUES && nvalue < n && data[nvalue]) {
		v[nvalue] = value_of(data[nvalue], str_n((const char *)data, nvalue));
		nvalue++;
	}
	if (nvalue == n || data[nvalue])
		return 0;
	struct str fmt = str_n((const char *)data + nvalue + 1, n - nvalue - 1), lit;
	struct conv c;
	while (conv_next(fmt, &at, &lit, &c)) {
		if (lit.s < fmt.s || at > fmt.n || c.text.n > at)
			abort();
		if (c.width > 1 << 20 || c.prec > 1 << 20) /* much memory, no mistake */
			return 0;
		/* What the compiler would have made sure of. */
		nconv += 1u + (c.width == -2) + (c.prec == -2);
	}
	if (nconv <= nvalue) {
		pattern_parse(&a, fmt, &f);
		pattern_put(&out, &f, v, nvalue, &how);
		if (how.escape && out.n && (memchr(out.s, 27, out.n) && !memchr(fmt.s, 27, fmt.n)))
			abort();
	}
	arena_free(&a);
	return 0;
}
