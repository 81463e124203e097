/* ring.c - see ring.h. */
#include "rec/ring.h"
#include "base/alloc.h"
#include "base/vec.h"

enum { CHUNKS = 16, LEAST_BLOCK = 4096, MOST_BLOCK = 256 << 10, BLOCK_OVERHEAD = 64 };

struct ring_chunk {
	VEC(struct str) block;
	u64 bytes, first, last; /* times of rows; first ~0: there are none */
};
struct rec_ring {
	u64 max_bytes, max_ns, bytes;
	VEC(struct ring_chunk) chunk; /* the first one stays */
};

struct rec_ring *rec_ring_new(u64 max_bytes, u64 max_ns)
{
	struct rec_ring *r = xcalloc(1, sizeof(*r));
	r->max_bytes = max_bytes;
	r->max_ns = max_ns;
	ring_next_chunk(r);
	return r;
}

static void chunk_free(struct rec_ring *r, struct ring_chunk *c)
{
	for (u32 i = 0; i < c->block.n; i++)
		free((char *)c->block.v[i].s);
	vec_free(&c->block);
	r->bytes -= c->bytes;
}

void rec_ring_free(struct rec_ring *r)
{
	if (!r)
		return;
	for (u32 i = 0; i < r->chunk.n; i++)
		chunk_free(r, &r->chunk.v[i]);
	vec_free(&r->chunk);
	free(r);
}

u64 rec_ring_bytes(const struct rec_ring *r)
{
	return r->bytes;
}

u32 rec_ring_block_bytes(const struct rec_ring *r)
{
	u64 n = r->max_bytes / (CHUNKS * 4);
	return (u32)MIN(MAX(n, (u64)LEAST_BLOCK), (u64)MOST_BLOCK);
}

static void drop_oldest(struct rec_ring *r)
{
	struct ring_chunk *old = &r->chunk.v[1];
	chunk_free(r, old);
	memmove(old, old + 1, (r->chunk.n - 2) * sizeof(*old));
	r->chunk.n--;
}

/* What comes after the oldest chunk is enough. */
static bool is_old(const struct rec_ring *r)
{
	const struct ring_chunk *newest = &r->chunk.v[r->chunk.n - 1];
	u64 next = r->chunk.n > 2 ? r->chunk.v[2].first : ~0ull;
	return r->max_ns && next != ~0ull && newest->last > next &&
	       newest->last - next >= r->max_ns;
}

void ring_add(struct rec_ring *r, const char *block, size_t n)
{
	struct ring_chunk *c = &r->chunk.v[r->chunk.n - 1];
	u64 first, last;
	assert(n >= REC_BLOCK_HEADER);
	memcpy(&first, block + 16, sizeof(first));
	memcpy(&last, block + 24, sizeof(last));
	char *copy = xmalloc(n);
	memcpy(copy, block, n);
	vec_add(&c->block, str_n(copy, n));
	c->bytes += n + BLOCK_OVERHEAD;
	r->bytes += n + BLOCK_OVERHEAD;
	if (last) {
		c->first = MIN(c->first, first);
		c->last = MAX(c->last, last);
	}
	/* The chunk that is being filled goes, too, if it alone is too much. */
	while (r->chunk.n > 2 && (r->bytes > r->max_bytes || is_old(r)))
		drop_oldest(r);
}

bool ring_chunk_full(const struct rec_ring *r)
{
	const struct ring_chunk *c = &r->chunk.v[r->chunk.n - 1];
	bool old = r->max_ns && c->first != ~0ull && c->last - c->first >= r->max_ns / CHUNKS;
	return old || c->bytes >= r->max_bytes / CHUNKS;
}

void ring_next_chunk(struct rec_ring *r)
{
	vec_add(&r->chunk, (struct ring_chunk){.first = ~0ull});
}

bool ring_block(const struct rec_ring *r, size_t i, struct str *ret)
{
	for (u32 k = 0; k < r->chunk.n; k++) {
		const struct ring_chunk *c = &r->chunk.v[k];
		if (i < c->block.n) {
			*ret = c->block.v[i];
			return true;
		}
		i -= c->block.n;
	}
	return false;
}
