/* order.c - see order.h. */
#include "report/order.h"

u64 order_int(const struct type *t, const u8 *p)
{
	u64 v = 0;
	u32 size = MIN(t->size, 8);
	memcpy(&v, p, size);
	if (t->is_signed && size < 8)
		v = (u64)((i64)(v << (64 - 8 * size)) >> (64 - 8 * size));
	return v;
}

int order_numbers(const struct type *t, u64 a, u64 b)
{
	if (t->is_signed)
		return ((i64)a > (i64)b) - ((i64)a < (i64)b);
	return (a > b) - (a < b);
}

static bool is_number(const struct type *t)
{
	return type_is_int(t) || t->kind == T_BOOL || t->kind == T_PTR || t->kind == T_KSYM ||
	       t->kind == T_USERNAME || t->kind == T_PROBE;
}

static bool is_text(const struct type *t)
{
	return t->kind == T_STRING || (t->kind == T_ARRAY && t->base->is_char);
}

static bool has_fields(const struct type *t)
{
	return t->kind == T_TUPLE || t->kind == T_RECORD || type_is_record(t);
}

static int cmp_text(const u8 *a, const u8 *b, u32 size)
{
	struct str x = str_n((const char *)a, strnlen((const char *)a, size));
	struct str y = str_n((const char *)b, strnlen((const char *)b, size));
	return str_cmp(x, y);
}

static int cmp_buf(const u8 *a, const u8 *b, u32 size)
{
	u32 na, nb;
	memcpy(&na, a, sizeof(na));
	memcpy(&nb, b, sizeof(nb));
	return str_cmp(str_n((const char *)a + 4, MIN(na, size - 4)),
		       str_n((const char *)b + 4, MIN(nb, size - 4)));
}

static int cmp_fields(const struct type *t, const u8 *a, const u8 *b)
{
	u32 n;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++) {
		u32 at = f[i].bit_off / 8;
		int d = order_keys(f[i].type, a + at, b + at);
		if (d)
			return d;
	}
	return 0;
}

int order_keys(const struct type *t, const u8 *a, const u8 *b)
{
	if (is_number(t))
		return order_numbers(t, order_int(t, a), order_int(t, b));
	if (is_text(t))
		return cmp_text(a, b, t->size);
	if (t->kind == T_BUF)
		return cmp_buf(a, b, t->size);
	if (has_fields(t))
		return cmp_fields(t, a, b);
	if (t->kind == T_ARRAY) {
		for (u32 i = 0; i < t->count; i++) {
			size_t at = (size_t)i * t->base->size;
			int d = order_keys(t->base, a + at, b + at);
			if (d)
				return d;
		}
		return 0;
	}
	return memcmp(a, b, t->size);
}

/* ---- as bytes ---- */

/* Without the zeros at its end; a zero within it is 0 1, and 0 0 ends it. */
static void put_bytes(struct sb *out, const u8 *p, u32 n)
{
	static const char zero[] = {0, 1}, end[] = {0, 0};
	for (u32 i = 0; i < n; i++) {
		if (p[i])
			sb_char(out, (char)p[i]);
		else
			sb_mem(out, zero, sizeof(zero));
	}
	sb_mem(out, end, sizeof(end));
}

static void put_fixed(struct sb *out, const u8 *p, u32 n)
{
	while (n && !p[n - 1])
		n--;
	put_bytes(out, p, n);
}

static void put_int(struct sb *out, u64 v, bool sign)
{
	v = __builtin_bswap64(sign ? v ^ 1ull << 63 : v);
	sb_mem(out, &v, sizeof(v));
}

static void put_fields(struct sb *out, const struct type *t, const u8 *p)
{
	u32 n;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++)
		order_put(out, f[i].type, p + f[i].bit_off / 8);
}

void order_put(struct sb *out, const struct type *t, const u8 *p)
{
	if (is_number(t)) {
		put_int(out, order_int(t, p), t->is_signed);
	} else if (is_text(t)) {
		put_bytes(out, p, (u32)strnlen((const char *)p, t->size));
	} else if (t->kind == T_BUF) {
		u32 n;
		memcpy(&n, p, sizeof(n));
		put_bytes(out, p + 4, MIN(n, t->size - 4));
	} else if (has_fields(t)) {
		put_fields(out, t, p);
	} else if (t->kind == T_ARRAY) {
		for (u32 i = 0; i < t->count; i++)
			order_put(out, t->base, p + (size_t)i * t->base->size);
	} else {
		put_fixed(out, p, t->size);
	}
}
