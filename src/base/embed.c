/* embed.c - see embed.h. */
#include "base/embed.h"
#include "base/alloc.h"
#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP = 16 + MAX_WBITS };

const struct embed *embed_find(struct str name)
{
	for (const struct embed *e = embedded; e->name; e++)
		if (str_is(name, e->name))
			return e;
	return NULL;
}

/* What the build packed is whole, or the binary is damaged. */
static char *unpack(void)
{
	char *all = xcalloc(1, embed_n + 1);
	z_stream z = {
		.next_in = (Bytef *)(uintptr_t)embed_packed,
		.avail_in = embed_npacked,
		.next_out = (Bytef *)all,
		.avail_out = embed_n,
	};
	int rc = inflateInit2(&z, GZIP);
	if (rc == Z_OK)
		rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (rc == Z_MEM_ERROR)
		out_of_memory();
	if (rc != Z_STREAM_END || z.avail_out)
		abort();
	return all;
}

struct str embed_text(const struct embed *e)
{
	static char *all;
	if (!all)
		all = unpack();
	return str_n(all + e->at, e->n);
}
