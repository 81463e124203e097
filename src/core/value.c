/*
 * value.c - decoded data as text: print(), map lines, printf.
 */
#include "core/value.h"
#include "types/type.h"

/* How compound values are punctuated. */
struct punct {
	struct str trailer;
	bool brief; /* no blanks that are only layout */
};

static const char hex_lower[] = "0123456789abcdef", hex_upper[] = "0123456789ABCDEF";

static void put_u64(struct sb *out, u64 n)
{
	char buf[20];
	size_t at = sizeof(buf);
	do
		buf[--at] = (char)('0' + n % 10);
	while (n /= 10);
	sb_mem(out, buf + at, sizeof(buf) - at);
}

static void put_i64(struct sb *out, i64 n)
{
	if (n < 0)
		sb_char(out, '-');
	put_u64(out, n < 0 ? 0 - (u64)n : (u64)n);
}

static void put_hex(struct sb *out, u64 n)
{
	char buf[16];
	size_t at = sizeof(buf);
	do
		buf[--at] = hex_lower[n & 15];
	while (n >>= 4);
	sb_mem(out, "0x", 2);
	sb_mem(out, buf + at, sizeof(buf) - at);
}

static void put_bytes(struct sb *out, struct str b, bool all)
{
	for (u32 i = 0; i < b.n; i++) {
		u8 c = (u8)b.s[i];
		char x[4] = {'\\', 'x', hex_lower[c >> 4], hex_lower[c & 15]};
		if (!all && c >= ' ' && c < 0x7f)
			sb_char(out, (char)c);
		else
			sb_mem(out, x, 4);
	}
}

static void put_stack(struct sb *out, const struct value *v, const struct punct *p)
{
	const char *indent = v->mode == STACK_PERF                    ? "\t"
			     : v->mode == STACK_BPFTRACE && !p->brief ? "        "
								      : "";
	sb_char(out, '\n');
	for (u32 i = 0; i < v->n; i++) {
		sb_z(out, indent);
		sb_add(out, v->stack[i].text);
		sb_char(out, '\n');
	}
}

static void put_value(struct sb *out, const struct value *v, const struct punct *p);

static void put_list(struct sb *out, const struct value *v, const struct punct *p, const char *sep)
{
	for (u32 i = 0; i < v->n; i++) {
		if (i)
			sb_z(out, sep);
		put_value(out, &v->list[i], p);
	}
}

static void put_record(struct sb *out, const struct value *v, const struct str *names,
		       const struct punct *p)
{
	const char *blank = p->brief ? "" : " ";
	sb_char(out, '{');
	for (u32 i = 0; i < v->n; i++) {
		if (i)
			sb_char(out, ',');
		sb_z(out, blank);
		sb_char(out, '.');
		sb_add(out, names[i]);
		sb_z(out, blank);
		sb_char(out, '=');
		sb_z(out, blank);
		put_value(out, &v->list[i], p);
	}
	if (v->n)
		sb_z(out, blank);
	sb_char(out, '}');
}

static void put_value(struct sb *out, const struct value *v, const struct punct *p)
{
	static const struct str stats[] = {{"count", 5}, {"average", 7}, {"total", 5}};
	switch (v->kind) {
	case V_NONE: break;
	case V_BOOL: sb_z(out, v->u ? "true" : "false"); break;
	case V_INT: put_i64(out, v->i); break;
	case V_UINT: put_u64(out, v->u); break;
	case V_PTR: put_hex(out, v->u); break;
	case V_ENUM:
		if (v->str.n)
			sb_add(out, v->str);
		else
			put_i64(out, v->i);
		break;
	case V_STR:
		sb_add(out, v->str);
		if (v->cut)
			sb_add(out, p->trailer);
		break;
	case V_BYTES: put_bytes(out, v->str, false); break;
	case V_NAMED: sb_add(out, v->str); break;
	case V_TUPLE:
		sb_char(out, '(');
		put_list(out, v, p, p->brief ? "," : ", ");
		sb_char(out, ')');
		break;
	case V_ARRAY:
		sb_char(out, '[');
		put_list(out, v, p, ",");
		sb_char(out, ']');
		break;
	case V_RECORD: put_record(out, v, v->names, p); break;
	case V_STATS:
		assert(v->n <= countof(stats));
		put_record(out, v, stats, p);
		break;
	case V_STACK: put_stack(out, v, p); break;
	case V_HIST: value_hist_text(out, v); break;
	case V_PERCENTILES: value_percentiles_text(out, v); break;
	case V_SERIES: value_series_text(out, v); break;
	case V_FLOAT: sb_fmt(out, "%g", v->f); break;
	}
}

void value_text(struct sb *out, const struct value *v, struct str trailer)
{
	put_value(out, v, &(struct punct){trailer, false});
}

void value_key_text(struct sb *out, const struct value *v, struct str trailer)
{
	const struct punct p = {trailer, false};
	if (v->kind == V_TUPLE)
		put_list(out, v, &p, ", ");
	else
		put_value(out, v, &p);
}

void value_key_short(struct sb *out, const struct value *v, struct str trailer)
{
	const struct punct p = {trailer, true};
	if (v->kind == V_TUPLE)
		put_list(out, v, &p, ",");
	else
		put_value(out, v, &p);
}

/* ---- histograms ---- */

enum { HIST_LABEL = 16, HIST_COUNT = 8, HIST_BAR = 52 };

/*
 * A bound with a unit of 1024. hist(): the unit must divide the bucket that starts at the bound, so
 * that neighbours look alike ([1024, 1280) and not [1K, 1280)). lhist(): its steps are what
 * matters; K and M only.
 */
static void put_bound(struct sb *out, i64 n, u64 width, bool linear)
{
	static const char units[] = "KMGTPE";
	u32 power = 0, max = linear ? 2 : 6;
	if (linear) {
		for (u64 m = (u64)n; width % 1024 == 0 && n && m % 1024 == 0 && power < max;
		     m /= 1024)
			power++;
	} else {
		for (; width >= 1024 && power < max; width /= 1024)
			power++;
	}
	put_i64(out, power ? n >> (10 * power) : n);
	if (power && n)
		sb_char(out, units[power - 1]);
}

/* Width of the hist() bucket that follows b: the same, or the double at a power of two. */
static u64 next_width(const struct bucket *b)
{
	u64 width = (u64)b->hi - (u64)b->lo, hi = (u64)b->hi;
	if (b->no_lo || hi <= 1)
		return 1;
	return hi & (hi - 1) ? width : width * 2;
}

static void put_label(struct sb *out, const struct value *v, u32 i)
{
	const struct bucket *b = &v->hist[i];
	u64 lo_width = v->step ? v->step : (u64)b->hi - (u64)b->lo;
	u64 hi_width = v->step ? v->step : i + 1 < v->n ? 0 : next_width(b);
	bool linear = v->step != 0;
	if (!linear && i + 1 < v->n)
		hi_width = (u64)b[1].hi - (u64)b[1].lo;
	size_t at = out->n;
	if (b->no_lo) {
		sb_z(out, "(..., ");
		put_bound(out, b->hi, hi_width, linear);
		sb_char(out, ')');
	} else if (b->no_hi) {
		sb_char(out, '[');
		put_bound(out, b->lo, lo_width, linear);
		sb_z(out, ", ...)");
	} else if ((u64)b->hi - (u64)b->lo == 1) {
		sb_char(out, '[');
		put_bound(out, b->lo, lo_width, linear);
		sb_char(out, ']');
	} else {
		sb_char(out, '[');
		put_bound(out, b->lo, lo_width, linear);
		sb_z(out, ", ");
		/* The last bucket of all ends at 2^63, which is no i64. */
		if (b->hi < b->lo)
			sb_z(out, "8E");
		else
			put_bound(out, b->hi, hi_width, linear);
		sb_char(out, ')');
	}
	if (out->n - at < HIST_LABEL)
		sb_pad(out, ' ', HIST_LABEL - (out->n - at));
}

void value_hist_text(struct sb *out, const struct value *v)
{
	u64 max = 0;
	for (u32 i = 0; i < v->n; i++)
		max = MAX(max, v->hist[i].count);
	for (u32 i = 0; i < v->n; i++) {
		u64 count = v->hist[i].count;
		size_t bar = max ? (size_t)((unsigned __int128)count * HIST_BAR / max) : 0;
		put_label(out, v, i);
		sb_fmt(out, "%*llu |", HIST_COUNT, count);
		sb_pad(out, '@', bar);
		sb_pad(out, ' ', HIST_BAR - bar);
		sb_z(out, "|\n");
	}
}

/* ---- printf ---- */

/* The number at f[*at], or '*' as -2; -1: none. */
static i32 take_count(struct str f, u32 *at)
{
	i32 n = 0;
	if (*at < f.n && f.s[*at] == '*') {
		++*at;
		return -2;
	}
	if (*at == f.n || f.s[*at] < '0' || f.s[*at] > '9')
		return -1;
	for (; *at < f.n && f.s[*at] >= '0' && f.s[*at] <= '9'; ++*at)
		n = MIN(n * 10 + (f.s[*at] - '0'), 99999);
	return n;
}

static void take_length(struct str f, u32 *at, char len[3])
{
	static const char *const lens[] = {"hh", "h", "ll", "l", "L", "j", "z", "t"};
	for (u32 i = 0; i < countof(lens); i++) {
		u32 n = (u32)strlen(lens[i]);
		if (f.n - *at >= n && !memcmp(f.s + *at, lens[i], n)) {
			memcpy(len, lens[i], n);
			*at += n;
			return;
		}
	}
}

static bool take_conv(struct str f, u32 *at, char conv[3])
{
	static const char *const convs[] = {"rx", "rh", "gr"};
	for (u32 i = 0; i < countof(convs); i++) {
		if (f.n - *at >= 2 && !memcmp(f.s + *at, convs[i], 2)) {
			memcpy(conv, convs[i], 2);
			*at += 2;
			return true;
		}
	}
	if (*at == f.n || !f.s[*at] || !strchr("diouxXcpsrnfegaEFGA%", f.s[*at]))
		return false;
	conv[0] = f.s[(*at)++];
	return true;
}

/* %[-][+][ ][#][0][width][.prec][length]conv, flags in this order, as the reference reads it. */
static bool take_spec(struct str f, u32 *at, struct conv *c)
{
	u32 p = *at + 1, nflag = 0;
	*c = (struct conv){.prec = -1};
	for (const char *flag = "-+ #0"; *flag; flag++) {
		if (p < f.n && f.s[p] == *flag) {
			c->flags[nflag++] = *flag;
			p++;
		}
	}
	c->width = take_count(f, &p);
	if (p < f.n && f.s[p] == '.') {
		p++;
		c->prec = take_count(f, &p);
		if (c->prec == -1)
			return false;
	}
	take_length(f, &p, c->len);
	if (!take_conv(f, &p, c->conv))
		return false;
	c->text = str_n(f.s + *at, p - *at);
	*at = p;
	return true;
}

bool conv_next(struct str fmt, u32 *at, struct str *lit, struct conv *c)
{
	u32 from = *at;
	for (u32 p = from; p < fmt.n;) {
		*at = p;
		if (fmt.s[p] != '%' || !take_spec(fmt, at, c)) {
			p++;
		} else if (c->conv[0] == '%') {
			p = *at;
		} else {
			*lit = str_n(fmt.s + from, p - from);
			return true;
		}
	}
	*at = fmt.n;
	*lit = str_n(fmt.s + from, fmt.n - from);
	return false;
}

/* Text between conversions, with "%%" (also "%5%") as one. */
static void put_literal(struct sb *out, struct str lit)
{
	struct conv c;
	for (u32 p = 0; p < lit.n;) {
		sb_char(out, lit.s[p]);
		if (lit.s[p] != '%' || !take_spec(lit, &p, &c))
			p++;
	}
}

static bool has_flag(const struct conv *c, char flag)
{
	return strchr(c->flags, flag) != NULL;
}

/* Pad what was written since start to the width. */
static void pad(struct sb *out, size_t start, const struct conv *c)
{
	size_t n = out->n - start, width = c->width > 0 ? (size_t)c->width : 0;
	if (n >= width)
		return;
	sb_pad(out, ' ', width - n);
	if (!has_flag(c, '-')) {
		memmove(out->s + start + (width - n), out->s + start, n);
		memset(out->s + start, ' ', width - n);
	}
}

static i64 cut_int(u64 n, const char *len, bool sign)
{
	if (!*len)
		return sign ? (i64)(i32)n : (i64)(u32)n;
	if (!strcmp(len, "h"))
		return sign ? (i64)(i16)n : (i64)(u16)n;
	if (!strcmp(len, "hh"))
		return sign ? (i64)(i8)n : (i64)(u8)n;
	return (i64)n;
}

/* sign, prefix, zeros, digits: as C does, also for negative numbers. */
static void put_number(struct sb *out, const struct conv *c, const char *prefix, u64 n, u32 base)
{
	const char *set = c->conv[0] == 'X' ? hex_upper : hex_lower;
	char buf[24];
	size_t at = sizeof(buf), start = out->n;
	for (; n; n /= base)
		buf[--at] = set[n % base];
	size_t digits = sizeof(buf) - at, zeros = digits ? 0 : 1, used = strlen(prefix) + digits;
	if (c->prec >= 0)
		zeros = (size_t)c->prec > digits ? (size_t)c->prec - digits : 0;
	else if (has_flag(c, '0') && !has_flag(c, '-') && c->width > 0 &&
		 (size_t)c->width > used + zeros)
		zeros = (size_t)c->width - used;
	sb_z(out, prefix);
	sb_pad(out, '0', zeros);
	sb_mem(out, buf + at, digits);
	pad(out, start, c);
}

static void put_int(struct sb *out, const struct conv *c, u64 n)
{
	char k = c->conv[0];
	bool alt = has_flag(c, '#');
	if (k == 'd' || k == 'i') {
		i64 i = cut_int(n, c->len, true);
		const char *sign = i < 0              ? "-"
				   : has_flag(c, '+') ? "+"
				   : has_flag(c, ' ') ? " "
						      : "";
		put_number(out, c, sign, i < 0 ? 0 - (u64)i : (u64)i, 10);
		return;
	}
	if (k == 'p') {
		put_number(out, c, n ? "0x" : "", n, 16);
		return;
	}
	n = (u64)cut_int(n, c->len, false);
	if (k == 'u')
		put_number(out, c, "", n, 10);
	else if (k == 'o')
		put_number(out, c, alt && n ? "0" : "", n, 8);
	else
		put_number(out, c, !alt || !n ? "" : k == 'X' ? "0X" : "0x", n, 16);
}

static void put_buf(struct sb *out, const struct conv *c, struct str b)
{
	if (c->conv[1] != 'h') {
		put_bytes(out, b, c->conv[1] == 'x');
		return;
	}
	for (u32 i = 0; i < b.n; i++) {
		u8 byte = (u8)b.s[i];
		char x[3] = {' ', hex_lower[byte >> 4], hex_lower[byte & 15]};
		sb_mem(out, x + (i == 0), i ? 3 : 2);
	}
}

static bool is_number(const struct value *v)
{
	return v->kind == V_BOOL || v->kind == V_INT || v->kind == V_UINT || v->kind == V_PTR ||
	       v->kind == V_ENUM || v->kind == V_NAMED;
}

/* As C's printf does: the same flags, width and precision. */
static void put_float(struct sb *out, const struct conv *c, double d)
{
	char fmt[16];
	size_t n = 0;
	fmt[n++] = '%';
	for (const char *flag = c->flags; *flag; flag++)
		fmt[n++] = *flag;
	fmt[n++] = '*';
	fmt[n++] = '.';
	fmt[n++] = '*';
	fmt[n++] = c->conv[0];
	fmt[n] = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	sb_fmt(out, fmt, MAX(c->width, 0), c->prec, d);
#pragma GCC diagnostic pop
}

static void put_conv(struct sb *out, const struct conv *c, const struct value *v,
		     struct str trailer)
{
	size_t start = out->n;
	bool buf = c->conv[0] == 'r' && (v->kind == V_BYTES || v->kind == V_STR);
	if (strchr("diouxXp", c->conv[0]) && is_number(v)) {
		put_int(out, c, v->u);
		return;
	}
	if (v->kind == V_FLOAT && !c->conv[1] && strchr("fFeEgGaA", c->conv[0])) {
		put_float(out, c, v->f);
		return;
	}
	if (c->conv[0] == 'c' && is_number(v)) {
		sb_char(out, (char)v->u);
	} else if (c->conv[0] == 'g' && is_number(v)) {
		value_gfp_text(out, v->u);
	} else if (buf) {
		put_buf(out, c, v->str);
	} else {
		value_text(out, v, trailer);
		if (c->prec >= 0 && out->n - start > (size_t)c->prec) {
			out->n = start + (size_t)c->prec;
			out->s[out->n] = 0;
		}
	}
	pad(out, start, c);
}

enum { MAX_STAR = 65536 };

/* The width of '*' came as an argument; a negative one means left. */
static void star_width(struct conv *c, i64 n)
{
	c->width = (i32)MIN(n < 0 ? 0 - (u64)n : (u64)n, (u64)MAX_STAR);
	if (n >= 0 || has_flag(c, '-'))
		return;
	memmove(c->flags + 1, c->flags, sizeof(c->flags) - 2);
	c->flags[0] = '-';
}

void value_printf(struct sb *out, struct str fmt, const struct value *v, u32 n, struct str trailer)
{
	struct str lit;
	struct conv c;
	u32 used = 0, at = 0;
	while (conv_next(fmt, &at, &lit, &c)) {
		put_literal(out, lit);
		if (c.width == -2)
			star_width(&c, used < n ? v[used++].i : 0);
		if (c.prec == -2)
			c.prec = used < n ? (i32)MAX(MIN(v[used].i, MAX_STAR), -1) : -1, used++;
		if (used < n)
			put_conv(out, &c, &v[used++], trailer);
	}
	put_literal(out, lit);
}
