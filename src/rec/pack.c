/* pack.c - see pack.h. */
#include "rec/pack.h"
#include "base/alloc.h"
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum { LEVEL = 1 };

u64 varint_long(struct rec_bytes *b)
{
	u64 n = 0;
	for (u32 shift = 0; shift < 64 && b->p < b->end; shift += 7) {
		u8 byte = *b->p++;
		if (shift == 63 && byte > 1)
			break;
		n |= (u64)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return n;
	}
	b->bad = true;
	return 0;
}

struct rec_press {
	enum rec_codec codec;
#ifdef HAVE_ZSTD
	ZSTD_CCtx *to;
	ZSTD_DCtx *from;
#endif
};

enum rec_codec rec_best_codec(void)
{
	return rec_has_codec(CODEC_ZSTD) ? CODEC_ZSTD : CODEC_ZLIB;
}

bool rec_has_codec(enum rec_codec codec)
{
#ifdef HAVE_ZSTD
	return codec <= CODEC_ZSTD;
#else
	return codec <= CODEC_ZLIB;
#endif
}

const char *rec_codec_name(u32 codec)
{
	static const char *const name[] = {"none", "zlib", "zstd"};
	return codec < countof(name) ? name[codec] : NULL;
}

struct rec_press *rec_press_new(enum rec_codec codec)
{
	struct rec_press *c = xcalloc(1, sizeof(*c));
	assert(rec_has_codec(codec));
	c->codec = codec;
	return c;
}

void rec_press_free(struct rec_press *c)
{
#ifdef HAVE_ZSTD
	if (c) {
		ZSTD_freeCCtx(c->to);
		ZSTD_freeDCtx(c->from);
	}
#endif
	free(c);
}

static size_t press_zlib(struct str raw, struct sb *out)
{
	uLongf n = compressBound(raw.n);
	sb_reserve(out, n);
	bool ok =
		compress2((Bytef *)out->s + out->n, &n, (const Bytef *)raw.s, raw.n, LEVEL) == Z_OK;
	return ok ? n : 0;
}

#ifdef HAVE_ZSTD
static size_t press_zstd(struct rec_press *c, struct str raw, struct sb *out)
{
	size_t n = ZSTD_compressBound(raw.n);
	sb_reserve(out, n);
	if (!c->to)
		c->to = ZSTD_createCCtx();
	if (!c->to)
		out_of_memory();
	n = ZSTD_compressCCtx(c->to, out->s + out->n, n, raw.s, raw.n, LEVEL);
	return ZSTD_isError(n) ? 0 : n;
}
#endif

bool rec_press(struct rec_press *c, struct str raw, struct sb *out)
{
	size_t n = 0;
	if (c->codec == CODEC_ZLIB)
		n = press_zlib(raw, out);
#ifdef HAVE_ZSTD
	if (c->codec == CODEC_ZSTD)
		n = press_zstd(c, raw, out);
#endif
	if (!n || n >= raw.n)
		return false;
	out->n += n;
	return true;
}

bool rec_unpress(struct rec_press *c, enum rec_codec codec, struct str in, u8 *raw, size_t n)
{
	(void)c;
	switch (codec) {
	case CODEC_NONE:
		if (in.n != n)
			return false;
		if (n)
			memcpy(raw, in.s, n);
		return true;
	case CODEC_ZLIB: {
		uLongf got = n;
		return uncompress(raw, &got, (const Bytef *)in.s, in.n) == Z_OK && got == n;
	}
	case CODEC_ZSTD: break;
	}
#ifdef HAVE_ZSTD
	if (!c->from)
		c->from = ZSTD_createDCtx();
	if (!c->from)
		out_of_memory();
	return ZSTD_decompressDCtx(c->from, raw, n, in.s, in.n) == n;
#else
	return false;
#endif
}

u32 rec_crc(u32 crc, const void *p, size_t n)
{
	return (u32)crc32_z(crc, p, n);
}
