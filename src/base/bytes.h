/*
 * bytes.h - bounds-checked reader: the only way untrusted binary input is read.
 *
 * A read past the end sets .bad, returns 0 and moves nothing, so a parser may
 * read a whole header and ask once. Little endian (the only hosts supported).
 */
#pragma once
#include "base/base.h"
#include <string.h>

struct bytes {
	const u8 *p;
	size_t n, at;
	bool bad;
};
/* p may be NULL if n is 0. */
static inline struct bytes bytes_of(const void *p, size_t n)
{
	return (struct bytes){p ? p : "", n, 0, false};
}
static inline const u8 *bytes_take(struct bytes *b, size_t n) /* NULL past the end */
{
	if (b->bad || n > b->n - b->at) {
		b->bad = true;
		return NULL;
	}
	const u8 *at = b->p ? b->p + b->at : (const u8 *)""; /* of none, none */
	b->at += n;
	return at;
}
static inline void bytes_seek(struct bytes *b, size_t at)
{
	if (at > b->n)
		b->bad = true;
	else
		b->at = at;
}
/* Inline also where code is to be small: of a size that is known it is one load. */
static inline __attribute__((always_inline)) u64 bytes_uint(struct bytes *b, size_t n)
{
	u64 v = 0;
	const u8 *p = bytes_take(b, n);
	if (p)
		memcpy(&v, p, n);
	return v;
}
static inline u8 bytes_u8(struct bytes *b)
{
	return (u8)bytes_uint(b, 1);
}
static inline u16 bytes_u16(struct bytes *b)
{
	return (u16)bytes_uint(b, 2);
}
static inline u32 bytes_u32(struct bytes *b)
{
	return (u32)bytes_uint(b, 4);
}
static inline u64 bytes_u64(struct bytes *b)
{
	return bytes_uint(b, 8);
}
/* NUL-terminated text at the cursor; NULL (and .bad) when the NUL is missing. */
static inline const char *bytes_z(struct bytes *b)
{
	const u8 *nul = b->bad || b->at == b->n ? NULL : memchr(b->p + b->at, 0, b->n - b->at);
	if (!nul) {
		b->bad = true;
		return NULL;
	}
	const char *s = (const char *)b->p + b->at;
	b->at = (size_t)(nul - b->p) + 1;
	return s;
}
