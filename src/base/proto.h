/*
 * proto.h - fields of protocol buffers, appended to a builder. A message within a message is built first, and then put
 * as bytes.
 */
#pragma once
#include "base/str.h"

static inline void proto_varint(struct sb *b, u64 n)
{
	for (; n >= 0x80; n >>= 7)
		sb_char(b, (char)(n | 0x80));
	sb_char(b, (char)n);
}
/* Also 0. A negative number is one of 64 bits. */
static inline void proto_u64(struct sb *b, u32 field, u64 n)
{
	proto_varint(b, (u64)field << 3);
	proto_varint(b, n);
}
/* 0 is what an absent field means. */
static inline void proto_number(struct sb *b, u32 field, u64 n)
{
	if (n)
		proto_u64(b, field, n);
}
static inline void proto_bytes(struct sb *b, u32 field, struct str s)
{
	proto_varint(b, (u64)field << 3 | 2);
	proto_varint(b, s.n);
	sb_add(b, s);
}
static inline void proto_fixed64(struct sb *b, u32 field, u64 bits)
{
	proto_varint(b, (u64)field << 3 | 1);
	sb_mem(b, &bits, sizeof(bits));
}
static inline void proto_double(struct sb *b, u32 field, double n)
{
	u64 bits;
	memcpy(&bits, &n, sizeof(bits));
	proto_fixed64(b, field, bits);
}
