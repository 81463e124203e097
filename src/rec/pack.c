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

bool rec_codec_named(struct str name, enum rec_codec *ret)
{
	*ret = rec_best_codec();
	if (!name.n)
		return true;
	for (u32 i = CODEC_NONE; i <= CODEC_ZSTD; i++)
		if (str_is(name, rec_codec_name(i)) && rec_has_codec(i)) {
			*ret = i;
			return true;
		}
	return false;
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

static bool unpress_zstd(struct rec_press *c, struct str in, u8 *raw, size_t *n)
{
#ifdef HAVE_ZSTD
	if (!c->from)
		c->from = ZSTD_createDCtx();
	if (!c->from)
		out_of_memory();
	*n = ZSTD_decompressDCtx(c->from, raw, *n, in.s, in.n);
	return !ZSTD_isError(*n);
#else
	(void)c, (void)in, (void)raw, (void)n;
	return false;
#endif
}

bool rec_unpress_some(struct rec_press *c, enum rec_codec codec, struct str in, u8 *raw, size_t *n)
{
	switch (codec) {
	case CODEC_NONE:
		if (in.n > *n)
			return false;
		if (in.n)
			memcpy(raw, in.s, in.n);
		*n = in.n;
		return true;
	case CODEC_ZLIB: {
		uLongf got = *n;
		bool good = uncompress(raw, &got, (const Bytef *)in.s, in.n) == Z_OK;
		*n = got;
		return good;
	}
	case CODEC_ZSTD: return unpress_zstd(c, in, raw, n);
	}
	return false;
}

bool rec_unpress(struct rec_press *c, enum rec_codec codec, struct str in, u8 *raw, size_t n)
{
	size_t got = n;
	return rec_unpress_some(c, codec, in, raw, &got) && got == n;
}

bool rec_unpress_next(struct rec_press *c, struct str in, size_t most, struct sb *out)
{
#ifdef HAVE_ZSTD
	ZSTD_inBuffer from = {in.s, in.n, 0};
	size_t begin = out->n;
	if (!c->from)
		c->from = ZSTD_createDCtx();
	if (!c->from)
		out_of_memory();
	for (;;) {
		sb_reserve(out, ZSTD_DStreamOutSize());
		ZSTD_outBuffer to = {out->s + out->n, ZSTD_DStreamOutSize(), 0};
		size_t rc = ZSTD_decompressStream(c->from, &to, &from);
		out->n += to.pos;
		if (ZSTD_isError(rc) || out->n - begin > most)
			return false;
		/* Room that is left means that nothing is held back. */
		if (from.pos == from.size && to.pos < to.size)
			return true;
	}
#else
	(void)c, (void)in, (void)most, (void)out;
	return false;
#endif
}

u32 rec_crc(u32 crc, const void *p, size_t n)
{
	return (u32)crc32_z(crc, p, n);
}
