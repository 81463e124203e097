#include "base/json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put_char(struct sb *b, u8 c)
{
	static const char hex[] = "0123456789abcdef";
	char u[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
	switch (c) {
	case '\n': sb_mem(b, "\\n", 2); break;
	case '\t': sb_mem(b, "\\t", 2); break;
	case '\r': sb_mem(b, "\\r", 2); break;
	case '"': sb_mem(b, "\\\"", 2); break;
	case '\\': sb_mem(b, "\\\\", 2); break;
	default: sb_mem(b, u, 6);
	}
}

void json_str(struct sb *b, struct str s)
{
	sb_char(b, '"');
	for (u32 i = 0; i < s.n;) {
		u8 c = (u8)s.s[i];
		u32 n = c < 0x80 ? c >= ' ' && c != '"' && c != '\\' : str_utf8(str_from(s, i));
		if (n)
			sb_mem(b, s.s + i, n);
		else
			put_char(b, c);
		i += n ? n : 1;
	}
	sb_char(b, '"');
}

void json_z(struct sb *b, const char *z)
{
	if (z)
		json_str(b, str_z(z));
	else
		sb_z(b, "null");
}

/* What a double does not hold is a text. */
static void put_number(struct sb *b, u64 n, bool sign, bool exact)
{
	if (!exact)
		sb_char(b, '"');
	if (sign)
		sb_i64(b, (i64)n);
	else
		sb_u64(b, n);
	if (!exact)
		sb_char(b, '"');
}

void json_u64(struct sb *b, u64 n)
{
	double d = (double)n;
	put_number(b, n, false, d < 18446744073709551616.0 && (u64)d == n);
}

void json_i64(struct sb *b, i64 n)
{
	double d = (double)n;
	put_number(b, (u64)n, true, d < 9223372036854775808.0 && (i64)d == n);
}

void json_f64(struct sb *b, double f)
{
	char text[32];
	int digits = 14;
	do {
		snprintf(text, sizeof(text), "%.*g", ++digits, f);
	} while (digits < 17 && strtod(text, NULL) != f);
	sb_fmt(b, isfinite(f) ? "%s" : "\"%s\"", text);
}

void json_member(struct sb *b, bool first, const char *name)
{
	sb_fmt(b, "%s\"%s\": ", first ? "" : ", ", name);
}
