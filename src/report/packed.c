/* packed.c - runs: how many words are 0, how many are not, and these. */
#include "report/packed.h"
#include <string.h>

enum { WORD = 8 };

struct run {
	u16 zeros, words;
};

/* Word i of a key, of which the last may be shorter. */
static u64 word_at(const u8 *key, u32 size, u32 i)
{
	u64 v = 0;
	memcpy(&v, key + (size_t)i * WORD, MIN((u32)WORD, size - i * WORD));
	return v;
}

/* The run that begins at word i of n. */
static struct run run_at(const u8 *key, u32 size, u32 i, u32 n)
{
	struct run r = {0};
	for (; i < n && r.zeros < UINT16_MAX && !word_at(key, size, i); i++)
		r.zeros++;
	for (; i < n && r.words < UINT16_MAX && word_at(key, size, i); i++)
		r.words++;
	return r;
}

/* to: NULL, or where it is put. */
static size_t pack(const u8 *key, u32 size, char *to)
{
	u32 n = (size + WORD - 1) / WORD;
	size_t at = 0;
	for (u32 i = 0; i < n;) {
		struct run r = run_at(key, size, i, n);
		i += r.zeros;
		if (!r.words && i == n) /* zeros at the end need not be told */
			break;
		if (to)
			memcpy(to + at, &r, sizeof(r));
		at += sizeof(r);
		for (u32 k = 0; k < r.words; k++, at += WORD) {
			u64 v = word_at(key, size, i++);
			if (to)
				memcpy(to + at, &v, WORD);
		}
	}
	return at;
}

void packed_add(struct packed *p, const u8 *key)
{
	size_t n = pack(key, p->size, NULL);
	char *to = arena_alloc(&p->arena, n, 1);
	size_t put = pack(key, p->size, to);
	assert(put == n);
	vec_add(&p->key, str_n(to, n));
}

void packed_get(struct str packed, u8 *key, u32 size)
{
	struct run r;
	memset(key, 0, size);
	for (size_t at = 0, i = 0; at < packed.n;) {
		memcpy(&r, packed.s + at, sizeof(r));
		at += sizeof(r);
		i += r.zeros;
		size_t n = MIN((size_t)r.words * WORD, size - i * WORD);
		memcpy(key + i * WORD, packed.s + at, n);
		at += (size_t)r.words * WORD;
		i += r.words;
	}
}

void packed_free(struct packed *p)
{
	arena_free(&p->arena);
	vec_free(&p->key);
}
