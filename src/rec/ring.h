/*
 * ring.h - the last blocks of a recording, in memory. For write.c and save.c.
 *
 * Blocks are held in chunks. The first chunk is what a reader wants to know first, and stays. Of the others the oldest is
 * dropped when there is too much, or when what comes after it is enough; each begins with names of its own, so that rows
 * refer to nothing that was dropped. There are some sixteen chunks, so up to a sixteenth less than was asked for is held,
 * never more bytes.
 */
#pragma once
#include "rec/rec.h"

struct rec_ring;
/* At most max_bytes, and what is not older than max_ns; 0: as old as there is room for. */
struct rec_ring *rec_ring_new(u64 max_bytes, u64 max_ns);
void rec_ring_free(struct rec_ring *r); /* NULL is allowed */
u64 rec_ring_bytes(const struct rec_ring *r);
u32 rec_ring_block_bytes(
	const struct rec_ring
		*r); /* what a block may have, so that chunks are not much too large */

/* A block with its header, not compressed; copied. */
void ring_add(struct rec_ring *r, const char *block, size_t n);
bool ring_chunk_full(const struct rec_ring *r);
void ring_next_chunk(struct rec_ring *r);
/* Block i, in order; false behind the last. */
bool ring_block(const struct rec_ring *r, size_t i, struct str *ret);
