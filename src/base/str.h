/*
 * str.h - text: views (struct str), a growing builder (struct sb), numbers, globs.
 *
 * A view never owns and is never NUL-terminated. str_z() makes a view of a C
 * string; arena_strz() makes a C string of a view. A builder's .s is
 * NUL-terminated after every call that adds, so it can go to C APIs.
 */
#pragma once
#include "base/arena.h"
#include <string.h>

static inline struct str str_z(const char *z)
{
	return (struct str){z, z ? (u32)strlen(z) : 0};
}
static inline struct str str_n(const char *s, size_t n)
{
	return (struct str){s, (u32)n};
}
static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || !memcmp(a.s, b.s, a.n));
}
static inline bool str_is(struct str a, const char *z)
{
	return str_eq(a, str_z(z));
}
int str_cmp(struct str a, struct str b); /* bytewise; shorter first */
/* For qsort(): arrays of struct str, and of pointers to texts. */
int str_order(const void *a, const void *b);
int strz_order(const void *a, const void *b);
bool str_eq_nocase(struct str a, struct str b); /* ASCII */
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
struct str str_from(struct str s, u32 from); /* clamps */
struct str str_trim(struct str s);           /* blanks, tabs, newlines at both ends */
/* Index of the first c, or -1. */
i32 str_chr(struct str s, char c);
bool str_among(struct str s, const char *const *set); /* ended by NULL */
i32 str_find(struct str s, struct str needle);
/* Take the part before the first sep off *rest (all of it when there is none). False when *rest.s
 * is NULL; *rest becomes {NULL} after the last part, so "a::b" gives a, "", b. */
bool str_cut(struct str *rest, char sep, struct str *part);
/* '*' any text, '?' not special, [abc] [a-z] [!a] sets. */
bool str_is_glob(struct str s);
bool str_glob(struct str pattern, struct str text);
/* Whole text is an integer: decimal, 0x, 0 octal, 0b; '_' between digits. False on anything else or
 * overflow. */
bool str_u64(struct str s, u64 *ret);
bool str_count(struct str s, u64 *ret); /* the same, and 3e6 */
/* Begins with 0 and another digit: octal in scripts; of an option's value it is not clear what is meant. */
bool str_octal(struct str s);
bool str_number(struct str s, u64 *ret); /* as str_u64(), of an option's value: 010 is refused */
bool str_i64(struct str s, i64 *ret);    /* the same, with an optional sign */
u64 str_hash(struct str s);
/* Bytes of the UTF-8 character that s begins with; 0: it begins with none. */
u32 str_utf8(struct str s);
/* Edit distance, for "did you mean": at most max + 1. Two neighbours swapped are one edit. */
u32 str_distance(struct str a, struct str b, u32 max);
/* Could name be what was meant by want: the same but for a few edits, or with more around it? */
bool str_like(struct str want, struct str name);

char *arena_strz(struct arena *a, struct str s);
struct str arena_str(struct arena *a, struct str s); /* a copy; also NUL-terminated */
/*
 * A probe's text without double quotes; between them a backslash keeps the next character as it is. If the second part
 * is a path ('/' or '.' follows the quote), a ':' in it becomes '\1', which does not end the part.
 */
struct str str_unquote(struct arena *a, struct str s);

/* struct sb b = {0}; sb_add(&b, ...); use b.s, b.n; sb_free(&b). */
struct sb {
	char *s; /* NULL until something was added */
	size_t n, cap;
};
void sb_grow(struct sb *b, size_t more);
static inline void sb_reserve(struct sb *b, size_t more)
{
	if (b->n + more >= b->cap)
		sb_grow(b, more);
}
static inline void sb_mem(struct sb *b, const void *p, size_t n)
{
	sb_reserve(b, n);
	if (n)
		memcpy(b->s + b->n, p, n);
	b->n += n;
	b->s[b->n] = 0;
}
static inline void sb_add(struct sb *b, struct str s)
{
	sb_mem(b, s.s, s.n);
}
static inline void sb_char(struct sb *b, char c)
{
	sb_mem(b, &c, 1);
}
void sb_z(struct sb *b, const char *z);
void sb_u64(struct sb *b, u64 n); /* decimal */
/* A field of CSV (RFC 4180): in quotes if it contains a comma, a quote or the end of a line. */
void sb_csv(struct sb *b, struct str s);
void sb_i64(struct sb *b, i64 n);
void sb_pad(struct sb *b, char c, size_t n);
void sb_fmt(struct sb *b, const char *fmt, ...) PRINTF(2, 3);
/* Text of unknown origin: control characters and bytes that are no UTF-8 as \n \t \r \xNN, the rest
 * as it is. */
void sb_visible(struct sb *b, struct str s);
/* As inside a C string literal: \n \t \r \" \\ and \xNN. */
void sb_escape(struct sb *b, struct str s);
static inline struct str sb_str(const struct sb *b)
{
	return (struct str){b->s ? b->s : "", (u32)b->n};
}
static inline void sb_clear(struct sb *b)
{
	b->n = 0;
}
void sb_free(struct sb *b);
#define AUTO_SB CLEANUP(sb_free) struct sb
