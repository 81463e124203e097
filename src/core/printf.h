/*
 * printf.h - format strings.
 *
 * The checker walks a format with conv_next(). Whoever fills one in often takes it apart once with
 * pattern_parse(), and then calls pattern_put() for each event.
 */
#pragma once
#include "core/value.h"

/* One conversion. */
struct conv {
	struct str text; /* whole: "%-10ld" */
	char flags[6];   /* of "-+ #0", NUL-terminated */
	i32 width, prec; /* -1: none; -2: '*' */
	char len[3];     /* "", "hh", "h", "l", "ll", "j", "z", "t", "L" */
	char conv[3];    /* "d", "s", "q", "rx", "rh", "gr", ... */
};
/* Next conversion at or after *at; the text before it in *lit, where "%%" still stands twice. Text
 * that is no conversion ("%y") is literal. False: no more, *lit is the rest. */
bool conv_next(struct str fmt, u32 *at, struct str *lit, struct conv *c);

enum { SEQ_WIDTH_MAX = 128 }; /* of a text in the printf of a pinned iterator */

struct piece {
	struct str lit; /* the text before the conversion, as it is printed */
	struct conv conv;
	u8 bits;                  /* what a length leaves of an integer: 8 to 64 */
	bool sign, number, plain; /* %d or %i; a conversion of integers; no flags, width, prec */
	bool text;                /* %s */
};
struct pattern {
	struct piece *piece;
	u32 n;
	struct str rest; /* behind the last conversion */
};
void pattern_parse(struct arena *a, struct str fmt, struct pattern *ret);
/* The format was checked against the types of the values at compile time. */
void pattern_put(struct sb *out, const struct pattern *f, const struct value *v, u32 n,
		 const struct show *how);
/* Both at once, for what is printed once. */
void value_printf(struct sb *out, struct str fmt, const struct value *v, u32 n,
		  const struct show *how);
