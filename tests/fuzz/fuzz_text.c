/* Any bytes as a text of a traced program: JSON stays JSON, a terminal is not steered. */
#include "base/json.h"
#include "core/value.h"
#include <stdlib.h>

/* Behind one character of UTF-8, or 0. */
static size_t one_character(const u8 *p, size_t n)
{
	static const u32 least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = p[0] < 0x80       ? 1
		     : p[0] >> 5 == 6  ? 2
		     : p[0] >> 4 == 14 ? 3
		     : p[0] >> 3 == 30 ? 4
				       : 0;
	if (!len || len > n)
		return 0;
	u32 c = len == 1 ? p[0] : p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		c = c << 6 | (p[i] & 63);
	}
	return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : len;
}

static bool is_hex(u8 c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A string between quotes, and nothing behind it. */
static bool is_json(const u8 *p, size_t n)
{
	if (n < 2 || p[0] != '"' || p[n - 1] != '"')
		return false;
	for (size_t i = 1; i < n - 1;) {
		size_t len = one_character(p + i, n - 1 - i);
		if (!len || p[i] < 0x20 || p[i] == '"')
			return false;
		if (p[i] == '\\') {
			len = i + 1 < n - 1 && p[i + 1] == 'u' ? 6 : 2;
			if (i + len > n - 1 || !strchr("\"\\/bfnrtu", p[i + 1]))
				return false;
			for (size_t k = 2; k < len; k++)
				if (!is_hex(p[i + k]))
					return false;
		}
		i += len;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	AUTO_SB out = {0};
	struct str text = str_n((const char *)data, n);
	const struct value one = {.kind = V_STR, .str = text},
			   bytes = {.kind = V_BYTES, .str = text}, both[] = {one, bytes},
			   tuple = {.kind = V_TUPLE, .n = 2, .list = both};
	const struct show how = {.trailer = STR(".."), .escape = true};
	json_str(&out, text);
	if (!is_json((const u8 *)out.s, out.n))
		abort();
	sb_clear(&out);
	value_key_short(&out, &tuple, &how); /* always within JSON */
	AUTO_SB word = {0};
	json_str(&word, sb_str(&out));
	if (!is_json((const u8 *)word.s, word.n))
		abort();
	sb_clear(&out);
	value_text(&out, &tuple, &how);
	value_key_text(&out, &tuple, &how);
	value_bytes_text(&out, text, false);
	sb_visible(&out, text);
	for (size_t i = 0; i < out.n; i++)
		if ((u8)out.s[i] < 0x20 || out.s[i] == 0x7f)
			abort();
	return 0;
}
