/*
 * printf.c - formats: taken apart once, then filled in for each event.
 */
#include "core/printf.h"

static const char hex_lower[] = "0123456789abcdef", hex_upper[] = "0123456789ABCDEF";

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
	if (*at == f.n || !f.s[*at] || !strchr("diouxXcpsqrnfegaEFGA%", f.s[*at]))
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

static i64 cut_int(u64 n, const struct piece *p)
{
	switch (p->bits) {
	case 8: return p->sign ? (i64)(i8)n : (i64)(u8)n;
	case 16: return p->sign ? (i64)(i16)n : (i64)(u16)n;
	case 32: return p->sign ? (i64)(i32)n : (i64)(u32)n;
	default: return (i64)n;
	}
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

static void put_int(struct sb *out, const struct piece *p, const struct conv *c, u64 n)
{
	char k = c->conv[0];
	bool alt = has_flag(c, '#');
	if (p->sign) {
		i64 i = cut_int(n, p);
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
	n = (u64)cut_int(n, p);
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
		value_bytes_text(out, b, c->conv[1] == 'x');
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

/* What was written since start as one word of a shell. NUL bytes, which none can hold, are left
 * out. */
static void quote_for_shell(struct sb *out, size_t start)
{
	AUTO_SB text = {0};
	sb_mem(&text, out->s + start, out->n - start);
	out->n = start;
	sb_char(out, '\'');
	for (size_t i = 0; i < text.n; i++) {
		if (text.s[i] == '\'')
			sb_z(out, "'\\''");
		else if (text.s[i])
			sb_char(out, text.s[i]);
	}
	sb_char(out, '\'');
}

static void put_conv(struct sb *out, const struct piece *p, const struct conv *c,
		     const struct value *v, const struct show *how)
{
	size_t start = out->n;
	bool buf = c->conv[0] == 'r' && (v->kind == V_BYTES || v->kind == V_STR);
	if (p->number && is_number(v)) {
		put_int(out, p, c, v->u);
		return;
	}
	if (v->kind == V_FLOAT && !c->conv[1] && strchr("fFeEgGaA", c->conv[0])) {
		put_float(out, c, v->f);
		return;
	}
	if (c->conv[0] == 'c' && is_number(v)) {
		value_put_str(out, str_n(&(char){(char)v->u}, 1), how);
	} else if (c->conv[0] == 'g' && is_number(v)) {
		value_gfp_text(out, v->u);
	} else if (buf) {
		put_buf(out, c, v->str);
	} else {
		value_text(out, v, how);
		if (c->prec >= 0 && out->n - start > (size_t)c->prec) {
			out->n = start + (size_t)c->prec;
			out->s[out->n] = 0;
		}
		if (c->conv[0] == 'q')
			quote_for_shell(out, start);
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

/* The common ones, in a few instructions; all others as put_conv() does. */
static void put_plain(struct sb *out, const struct piece *p, const struct value *v,
		      const struct show *how)
{
	if (p->sign && is_number(v)) {
		sb_i64(out, cut_int(v->u, p));
	} else if (p->text && v->kind == V_STR) {
		value_put_str(out, v->str, how);
		if (v->cut)
			sb_add(out, how->trailer);
	} else if (p->conv.conv[0] == 'u' && is_number(v)) {
		sb_u64(out, (u64)cut_int(v->u, p));
	} else {
		put_conv(out, p, &p->conv, v, how);
	}
}

/* Values for '*' come before the one that is shown. */
static u32 put_starred(struct sb *out, const struct piece *p, const struct value *v, u32 n,
		       const struct show *how)
{
	struct conv c = p->conv;
	u32 used = 0;
	if (c.width == -2)
		star_width(&c, used < n ? v[used++].i : 0);
	if (c.prec == -2) {
		c.prec = used < n ? (i32)MAX(MIN(v[used].i, MAX_STAR), -1) : -1;
		used++;
	}
	if (used >= n)
		return n;
	put_conv(out, p, &c, &v[used], how);
	return used + 1;
}

void pattern_put(struct sb *out, const struct pattern *f, const struct value *v, u32 n,
		 const struct show *how)
{
	u32 used = 0;
	for (u32 i = 0; i < f->n; i++) {
		const struct piece *p = &f->piece[i];
		sb_add(out, p->lit);
		if (!p->plain)
			used += put_starred(out, p, v + used, n - used, how);
		else if (used < n)
			put_plain(out, p, &v[used++], how);
	}
	sb_add(out, f->rest);
}

static struct str literal(struct arena *a, struct str lit)
{
	AUTO_SB text = {0};
	if (str_chr(lit, '%') < 0)
		return lit;
	put_literal(&text, lit);
	return arena_str(a, sb_str(&text));
}

static u8 bits_of(const char *len)
{
	return !*len ? 32 : !strcmp(len, "h") ? 16 : !strcmp(len, "hh") ? 8 : 64;
}

void pattern_parse(struct arena *a, struct str fmt, struct pattern *ret)
{
	struct str lit;
	struct conv c;
	u32 n = 0, at = 0;
	while (conv_next(fmt, &at, &lit, &c))
		n++;
	struct piece *p = arena_newn(a, struct piece, n ? n : 1);
	at = 0;
	for (u32 i = 0; conv_next(fmt, &at, &lit, &c); i++) {
		bool one = !c.conv[1];
		p[i] = (struct piece){.lit = literal(a, lit), .conv = c, .bits = bits_of(c.len)};
		p[i].number = strchr("diouxXp", c.conv[0]) != NULL;
		p[i].sign = one && (c.conv[0] == 'd' || c.conv[0] == 'i');
		p[i].text = one && c.conv[0] == 's';
		p[i].plain = !*c.flags && c.width == -1 && c.prec == -1;
	}
	*ret = (struct pattern){p, n, literal(a, lit)};
}

void value_printf(struct sb *out, struct str fmt, const struct value *v, u32 n,
		  const struct show *how)
{
	struct arena a = {0};
	struct pattern f;
	pattern_parse(&a, fmt, &f);
	pattern_put(out, &f, v, n, how);
	arena_free(&a);
}
