/*
 * pack.h - numbers of rows as bytes, and a block's bytes compressed.
 *
 * The writers put at most REC_VARINT_BYTES at p and return the end. The readers set *bad when the
 * bytes end in the middle of a number, or when it does not fit 64 bits, and return 0.
 */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "rec/format.h"

enum { REC_VARINT_BYTES = 10 };

static inline u64 zigzag(i64 n)
{
	return (u64)n << 1 ^ (u64)(n >> 63);
}
static inline i64 unzigzag(u64 n)
{
	return (i64)(n >> 1 ^ -(n & 1));
}
static inline u8 *varint_put(u8 *p, u64 n)
{
	for (; n >= 0x80; n >>= 7)
		*p++ = (u8)(n | 0x80);
	*p++ = (u8)n;
	return p;
}
/* Bytes that are being read. */
struct rec_bytes {
	const u8 *p, *end;
	bool bad;
};
u64 varint_long(struct rec_bytes *b);
static inline u64 varint_take(struct rec_bytes *b)
{
	if (b->p < b->end && *b->p < 0x80)
		return *b->p++;
	return varint_long(b);
}
static inline const u8 *rec_take(struct rec_bytes *b, u64 n)
{
	if (n > (u64)(b->end - b->p)) {
		b->bad = true;
		b->p = b->end;
		return NULL;
	}
	b->p += n;
	return b->p - n;
}

/* ---- codecs ---- */

struct rec_press; /* state of a compressor: used by one thread */
struct rec_press *rec_press_new(enum rec_codec codec);
void rec_press_free(struct rec_press *c); /* NULL is allowed */
/* The best codec of this build, and whether it has one. */
enum rec_codec rec_best_codec(void);
bool rec_has_codec(enum rec_codec codec);
/* A codec of this build by its name; the best if there is no name. */
bool rec_codec_named(struct str name, enum rec_codec *ret);
const char *rec_codec_name(u32 codec); /* "zstd"; NULL if it is not known */
/* Append raw, compressed, to out. False if that is not shorter; out is then as it was. */
bool rec_press(struct rec_press *c, struct str raw, struct sb *out);
/* Exactly n bytes to raw; false if the bytes are damaged or of another length. */
bool rec_unpress(struct rec_press *c, enum rec_codec codec, struct str in, u8 *raw, size_t n);
/* As many bytes as there are, n at most; *n becomes how many. */
bool rec_unpress_some(struct rec_press *c, enum rec_codec codec, struct str in, u8 *raw, size_t *n);
/* The next piece of a stream of CODEC_ZSTD, which may end in the middle of a frame: appended to out, most bytes of
 * it at most. False: it is damaged, or more. */
bool rec_unpress_next(struct rec_press *c, struct str in, size_t most, struct sb *out);
u32 rec_crc(u32 crc, const void *p, size_t n); /* begin with 0 */
