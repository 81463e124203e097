/*
 * ctok.h - C text to tokens, and integer constant expressions over them. Private to lang/ and to
 * who feeds the preprocessor.
 *
 * Reading never fails: what is no C token becomes one of kind CT_OTHER ($x and @x of scripts too,
 * whole), and whoever needs something else there says so.
 */
#pragma once
#include "base/diag.h"

enum ctok_kind { CT_IDENT, CT_NUM, CT_STR, CT_CHAR, CT_PUNCT, CT_OTHER };

/* A macro that must not be expanded again in what it made. */
struct hide {
	struct str name;
	const struct hide *next;
};

struct ctok {
	enum ctok_kind kind : 8;
	bool line;  /* first of its line */
	bool space; /* layout stands in front of it */
	bool sys;   /* from a system header: mistakes there are not the user's */
	struct str text;
	struct loc loc;
	const struct hide *hide;
	struct ctok *next;
};

/* A text being read. exact: it stands at base in its source; else all of it has base as its place.
 */
struct clex {
	struct arena *arena;
	struct str text;
	struct loc base;
	u32 at;
	bool exact, sys;
};
struct ctok *clex_next(struct clex *l); /* NULL at the end */
struct ctok *ctok_new(struct arena *a, const struct ctok *like);
static inline bool ctok_is(const struct ctok *t, const char *text)
{
	return t && (t->kind == CT_PUNCT || t->kind == CT_IDENT) && str_is(t->text, text);
}
/* One character constant, quotes included. */
bool ctok_char(struct str text, u64 *ret);
/* Digits, base and suffix as C has them. uns, wide: has U, L. */
bool ctok_number(struct str text, u64 *ret, bool *uns, bool *wide);

/* Name to pointer, in an arena. */
struct names {
	struct name *bucket[512];
};
void *names_get(const struct names *n, struct str key);
void names_set(struct names *n, struct arena *a, struct str key, void *val);

/* ---- constant expressions ---- */

struct cval {
	u64 v;
	bool uns, wide; /* unsigned; 64 bits instead of 32 */
};
/*
 * What stands from t on. atom() gives names, sizeof and casts their value: it is asked at every
 * identifier and '(', and returns false with e->why unset when it has none to offer.
 */
struct cexpr {
	struct ctok *t; /* next one to read; what is left afterwards */
	bool (*atom)(struct cexpr *e, struct cval *ret);
	void *arg;
	bool wide;             /* everything has 64 bits: #if */
	u32 depth, dead;       /* nesting; in a branch not taken */
	const char *why;       /* the first mistake */
	const struct ctok *at; /* where; NULL: at the end */
};
bool cexpr_eval(struct cexpr *e, struct cval *ret);  /* a conditional expression */
bool cexpr_unary(struct cexpr *e, struct cval *ret); /* for casts */
bool cexpr_fail(struct cexpr *e, const struct ctok *at, const char *why); /* returns false */
/* v as an integer of that many bytes. */
struct cval cval_as(u64 v, u32 size, bool uns);
