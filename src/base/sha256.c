/* sha256.c - see the header. */
#include "base/sha256.h"
#include <endian.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64 };

/* The first 32 bits behind the point of the cube roots of the first 64 primes. */
static const u32 constants[] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static u32 turn(u32 x, u32 n)
{
	return x >> n | x << (32 - n);
}

/* The words of a block, and those that are made of them. */
static void expand(u32 w[64], const u8 *p)
{
	for (u32 i = 0; i < 16; i++) {
		u32 word;
		memcpy(&word, p + 4 * i, sizeof(word));
		w[i] = be32toh(word);
	}
	for (u32 i = 16; i < 64; i++) {
		u32 a = w[i - 15], b = w[i - 2];
		w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
		       (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

static void add_block(u32 state[8], const u8 *p)
{
	u32 w[64], s[8];
	expand(w, p);
	memcpy(s, state, sizeof(s));
	for (u32 i = 0; i < 64; i++) {
		u32 choice = (s[4] & s[5]) ^ (~s[4] & s[6]),
		    most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]),
		    one = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + choice +
			  constants[i] + w[i],
		    two = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + most;
		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += one;
		s[0] = one + two;
	}
	for (u32 i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256(const void *bytes, size_t n, u8 ret[SHA256_BYTES])
{
	/* The same of the square roots of the first 8 primes. */
	u32 state[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	u8 last[2 * BLOCK] = {0};
	const u8 *p = bytes;
	size_t left = n;
	for (; left >= BLOCK; left -= BLOCK, p += BLOCK)
		add_block(state, p);
	if (left)
		memcpy(last, p, left);
	last[left] = 0x80;
	u64 bits = htobe64((u64)n * 8);
	size_t end = left < BLOCK - sizeof(bits) ? BLOCK : sizeof(last);
	memcpy(last + end - sizeof(bits), &bits, sizeof(bits));
	for (size_t at = 0; at < end; at += BLOCK)
		add_block(state, last + at);
	for (u32 i = 0; i < countof(state); i++)
		state[i] = htobe32(state[i]);
	memcpy(ret, state, sizeof(state));
}

void sha256_hex(const void *p, size_t n, char ret[SHA256_HEX + 1])
{
	u8 sum[SHA256_BYTES];
	sha256(p, n, sum);
	for (u32 i = 0; i < sizeof(sum); i++)
		snprintf(ret + (size_t)2 * i, 3, "%02x", sum[i]);
}
