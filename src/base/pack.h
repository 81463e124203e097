/* pack.h - bytes for another process: what base/bytes.h reads. */
#pragma once
#include "base/bytes.h"
#include "base/str.h"

static inline void pack_u8(struct sb *b, u8 v)
{
	sb_mem(b, &v, sizeof(v));
}
static inline void pack_u16(struct sb *b, u16 v)
{
	sb_mem(b, &v, sizeof(v));
}
static inline void pack_u32(struct sb *b, u32 v)
{
	sb_mem(b, &v, sizeof(v));
}
static inline void pack_u64(struct sb *b, u64 v)
{
	sb_mem(b, &v, sizeof(v));
}
static inline void pack_str(struct sb *b, struct str s)
{
	pack_u32(b, s.n);
	sb_add(b, s);
}
/* A view. */
static inline struct str unpack_str(struct bytes *b)
{
	u32 n = bytes_u32(b);
	const u8 *p = bytes_take(b, n);
	return p ? str_n((const char *)p, n) : str_n("", 0);
}
