#include "base/str.h"
#include "base/alloc.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

int str_cmp(struct str a, struct str b)
{
	u32 n = MIN(a.n, b.n);
	int d = n ? memcmp(a.s, b.s, n) : 0;
	return d ? d : (a.n > b.n) - (a.n < b.n);
}

int str_order(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

int strz_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool str_eq_nocase(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (u32 i = 0; i < a.n; i++)
		if (lower(a.s[i]) != lower(b.s[i]))
			return false;
	return true;
}

bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq((struct str){s.s, prefix.n}, prefix);
}

bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_from(s, s.n - suffix.n), suffix);
}

struct str str_from(struct str s, u32 from)
{
	from = MIN(from, s.n);
	return from ? (struct str){s.s + from, s.n - from} : s;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct str str_trim(struct str s)
{
	while (s.n && blank(s.s[0]))
		s.s++, s.n--;
	while (s.n && blank(s.s[s.n - 1]))
		s.n--;
	return s;
}

i32 str_chr(struct str s, char c)
{
	const char *p = s.n ? memchr(s.s, c, s.n) : NULL;
	return p ? (i32)(p - s.s) : -1;
}

bool str_among(struct str s, const char *const *set)
{
	while (*set && !str_is(s, *set))
		set++;
	return *set != NULL;
}

i32 str_find(struct str s, struct str needle)
{
	if (!needle.n)
		return 0;
	const char *p = s.n ? memmem(s.s, s.n, needle.s, needle.n) : NULL;
	return p ? (i32)(p - s.s) : -1;
}

bool str_cut(struct str *rest, char sep, struct str *part)
{
	if (!rest->s)
		return false;
	i32 at = str_chr(*rest, sep);
	if (at < 0) {
		*part = *rest;
		*rest = (struct str){0};
	} else {
		*part = (struct str){rest->s, (u32)at};
		*rest = str_from(*rest, (u32)at + 1);
	}
	return true;
}

bool str_is_glob(struct str s)
{
	return str_chr(s, '*') >= 0 || str_chr(s, '[') >= 0;
}

/* Length of the set at p ("[...]"), or 0 when it is not closed; *hit says whether c is in it. */
static u32 glob_set(struct str p, char c, bool *hit)
{
	u32 i = 1;
	bool not = i < p.n && (p.s[i] == '!' || p.s[i] == '^');
	bool in = false;
	i += not ;
	for (u32 first = i; i < p.n && (p.s[i] != ']' || i == first); i++) {
		char lo = p.s[i], hi = lo;
		if (i + 2 < p.n && p.s[i + 1] == '-' && p.s[i + 2] != ']') {
			hi = p.s[i + 2];
			i += 2;
		}
		in |= (u8)c >= (u8)lo && (u8)c <= (u8)hi;
	}
	*hit = in != not ;
	return i < p.n ? i + 1 : 0;
}

bool str_glob(struct str pattern, struct str text)
{
	u32 p = 0, t = 0, star = UINT32_MAX, mark = 0;
	while (t < text.n) {
		u32 step = 1;
		bool hit = false;
		if (p < pattern.n && pattern.s[p] == '*') {
			star = p++;
			mark = t;
			continue;
		}
		if (p < pattern.n && pattern.s[p] == '[')
			step = glob_set(str_from(pattern, p), text.s[t], &hit);
		if (p < pattern.n && (pattern.s[p] != '[' || !step)) {
			hit = pattern.s[p] == text.s[t];
			step = 1;
		}
		if (hit) {
			p += step;
			t++;
		} else if (star != UINT32_MAX) {
			p = star + 1;
			t = ++mark;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.s[p] == '*')
		p++;
	return p == pattern.n;
}

static i32 digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool str_u64(struct str s, u64 *ret)
{
	u32 base = 10;
	u64 v = 0;
	if (s.n > 2 && s.s[0] == '0' && lower(s.s[1]) == 'x')
		base = 16;
	else if (s.n > 2 && s.s[0] == '0' && lower(s.s[1]) == 'b')
		base = 2;
	else if (s.n > 1 && s.s[0] == '0')
		base = 8;
	s = str_from(s, base == 10 ? 0 : base == 8 ? 1 : 2);
	if (!s.n)
		return false;
	for (u32 i = 0; i < s.n; i++) {
		if (s.s[i] == '_' && i && i + 1 < s.n && s.s[i - 1] != '_')
			continue;
		i32 d = digit_of(s.s[i]);
		if (d < 0 || (u32)d >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, (u64)d, &v))
			return false;
	}
	*ret = v;
	return true;
}

bool str_octal(struct str s)
{
	if (s.n && (s.s[0] == '-' || s.s[0] == '+'))
		s = str_from(s, 1);
	return s.n > 1 && s.s[0] == '0' && ((s.s[1] >= '0' && s.s[1] <= '9') || s.s[1] == '_');
}

bool str_number(struct str s, u64 *ret)
{
	return !str_octal(s) && str_u64(s, ret);
}

bool str_count(struct str s, u64 *ret)
{
	u64 v, exponent;
	if (s.n < 3 || s.s[0] < '1' || s.s[0] > '9' || lower(s.s[1]) != 'e')
		return str_u64(s, ret);
	struct str digits = str_from(s, 2);
	for (v = (u64)(s.s[0] - '0'); digits.s[0] == '0' && digits.n > 1;)
		digits = str_from(digits, 1);
	if (!str_u64(digits, &exponent))
		return false;
	for (; exponent; exponent--)
		if (__builtin_mul_overflow(v, 10, &v))
			return false;
	*ret = v;
	return true;
}

bool str_i64(struct str s, i64 *ret)
{
	bool neg = s.n && s.s[0] == '-';
	u64 v;
	if (s.n && (s.s[0] == '-' || s.s[0] == '+'))
		s = str_from(s, 1);
	if (!str_u64(s, &v) || v > (u64)INT64_MAX + neg)
		return false;
	*ret = neg ? (i64)-v : (i64)v;
	return true;
}

u32 str_utf8(struct str s)
{
	const u8 *p = (const u8 *)s.s;
	static const u32 least[] = {0, 0, 0x80, 0x800, 0x10000};
	if (!s.n || p[0] < 0x80)
		return s.n ? 1 : 0;
	u32 len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	u32 cp = p[0] & (0x7fu >> len);
	if (p[0] < 0xc2 || p[0] > 0xf4 || s.n < len)
		return 0;
	for (u32 i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (p[i] & 0x3fu);
	}
	if (cp < least[len] || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	return len;
}

u64 str_hash(struct str s) /* FNV-1a, folded so that low bits depend on all */
{
	u64 h = 0xcbf29ce484222325ull;
	for (u32 i = 0; i < s.n; i++)
		h = (h ^ (u8)s.s[i]) * 0x100000001b3ull;
	return h ^ h >> 32;
}

u32 str_distance(struct str a, struct str b, u32 max)
{
	enum { LONGEST = 64 };
	u32 rows[3][LONGEST + 1], *row = rows[0], *last = rows[1], *older = rows[2];
	u32 apart = a.n > b.n ? a.n - b.n : b.n - a.n;
	if (a.n > LONGEST || b.n > LONGEST || apart > max)
		return max + 1;
	for (u32 j = 0; j <= b.n; j++)
		row[j] = j;
	for (u32 i = 1; i <= a.n; i++) {
		u32 *free_row = older, least = i;
		older = last;
		last = row;
		row = free_row;
		row[0] = i;
		for (u32 j = 1; j <= b.n; j++) {
			u32 d = last[j - 1] + (a.s[i - 1] != b.s[j - 1]);
			row[j] = MIN(d, MIN(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a.s[i - 1] == b.s[j - 2] && a.s[i - 2] == b.s[j - 1])
				row[j] = MIN(row[j], older[j - 2] + 1);
			least = MIN(least, row[j]);
		}
		if (least > max + 1) /* a swap of two may still take one off */
			return max + 1;
	}
	return MIN(row[b.n], max + 1);
}

bool str_like(struct str want, struct str name)
{
	enum { FEW = 3 };
	return str_starts(name, want) || str_ends(name, want) ||
	       str_distance(want, name, FEW) <= FEW;
}

char *arena_strz(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, (size_t)s.n + 1, 1);
	if (s.n)
		memcpy(p, s.s, s.n);
	return p;
}

struct str arena_str(struct arena *a, struct str s)
{
	return (struct str){arena_strz(a, s), s.n};
}

void sb_grow(struct sb *b, size_t more)
{
	b->cap = MAX(b->n + more + 1, b->cap * 2);
	b->cap = MAX(b->cap, (size_t)64);
	b->s = xrealloc(b->s, b->cap);
}

void sb_z(struct sb *b, const char *z)
{
	sb_mem(b, z, strlen(z));
}

void sb_u64(struct sb *b, u64 n)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char buf[20];
	size_t at = sizeof(buf);
	for (; n >= 100; n /= 100) {
		at -= 2;
		memcpy(buf + at, pairs + 2 * (n % 100), 2);
	}
	if (n >= 10) {
		at -= 2;
		memcpy(buf + at, pairs + 2 * n, 2);
	} else {
		buf[--at] = (char)('0' + n);
	}
	sb_mem(b, buf + at, sizeof(buf) - at);
}

void sb_i64(struct sb *b, i64 n)
{
	if (n < 0)
		sb_char(b, '-');
	sb_u64(b, n < 0 ? 0 - (u64)n : (u64)n);
}

void sb_pad(struct sb *b, char c, size_t n)
{
	sb_reserve(b, n);
	memset(b->s + b->n, c, n);
	b->n += n;
	b->s[b->n] = 0;
}

void sb_fmt(struct sb *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	sb_reserve(b, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(b->s + b->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}

/* Length of the character that s begins with when it can be shown as it is, else 0. C1 controls are
 * two bytes. */
static u32 shown_len(struct str s)
{
	u8 c = (u8)s.s[0];
	if (c < 0x80)
		return c >= ' ' && c != 0x7f;
	u32 n = str_utf8(s);
	return n == 2 && c == 0xc2 && (u8)s.s[1] < 0xa0 ? 0 : n;
}

void sb_visible(struct sb *b, struct str s)
{
	for (u32 i = 0; i < s.n;) {
		u8 c = (u8)s.s[i];
		u32 n = shown_len(str_from(s, i));
		if (n)
			sb_mem(b, s.s + i, n);
		else if (c == '\n' || c == '\t' || c == '\r')
			sb_mem(b, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r", 2);
		else
			sb_fmt(b, "\\x%02x", c);
		i += n ? n : 1;
	}
}

void sb_escape(struct sb *b, struct str s)
{
	for (u32 i = 0; i < s.n; i++) {
		u8 c = (u8)s.s[i];
		switch (c) {
		case '\n': sb_z(b, "\\n"); break;
		case '\t': sb_z(b, "\\t"); break;
		case '\r': sb_z(b, "\\r"); break;
		case '"': sb_z(b, "\\\""); break;
		case '\\': sb_z(b, "\\\\"); break;
		default:
			if (c < 0x20 || c == 0x7f)
				sb_fmt(b, "\\x%02x", c);
			else
				sb_char(b, (char)c);
		}
	}
}

void sb_free(struct sb *b)
{
	free(b->s);
	*b = (struct sb){0};
}

struct str str_unquote(struct arena *a, struct str s)
{
	AUTO_SB b = {0};
	bool in = false, path = false;
	u32 part = 0;
	if (str_chr(s, '"') < 0)
		return s;
	for (u32 i = 0; i < s.n; i++) {
		bool escape = in && s.s[i] == '\\' && i + 1 < s.n;
		part += !in && s.s[i] == ':';
		if (s.s[i] == '"') {
			in = !in;
			path |= in && part == 1 && i + 1 < s.n &&
				(s.s[i + 1] == '/' || s.s[i + 1] == '.');
		} else if (in && path && part == 1 && s.s[i] == ':')
			sb_char(&b, '\1');
		else
			sb_char(&b, s.s[i += escape]);
	}
	return arena_str(a, sb_str(&b));
}

void sb_csv(struct sb *b, struct str s)
{
	bool quote = false;
	for (u32 i = 0; i < s.n; i++)
		quote |= !s.s[i] || strchr(",\"\r\n", s.s[i]);
	if (!quote) {
		sb_add(b, s);
		return;
	}
	sb_char(b, '"');
	for (u32 i = 0; i < s.n; i++) {
		if (s.s[i] == '"')
			sb_char(b, '"');
		sb_char(b, s.s[i]);
	}
	sb_char(b, '"');
}
