/* embed.c - see embed.h. */
#include "base/embed.h"
#include "base/alloc.h"
#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP = 16 + MAX_WBITS, MAX_BLOCKS = 64 };

const struct embed *embed_find(struct str name)
{
	for (const struct embed *e = embedded; e->name; e++)
		if (str_is(name, e->name))
			return e;
	return NULL;
}

/* What the build packed is whole, or the binary is damaged. */
static char *unpack(const struct embed_block *b)
{
	char *text = xmalloc(b->n);
	z_stream z = {
		.next_in = (Bytef *)(uintptr_t)embed_packed + b->at,
		.avail_in = b->npacked,
		.next_out = (Bytef *)text,
		.avail_out = b->n,
	};
	int rc = inflateInit2(&z, GZIP);
	if (rc == Z_OK)
		rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (rc == Z_MEM_ERROR)
		out_of_memory();
	if (rc != Z_STREAM_END || z.avail_out)
		abort();
	return text;
}

struct str embed_text(const struct embed *e)
{
	static char *text[MAX_BLOCKS];
	assert(e->block < MAX_BLOCKS);
	char **t = &text[e->block];
	if (!*t)
		*t = unpack(&embed_blocks[e->block]);
	return str_n(*t + e->at, e->n);
}
