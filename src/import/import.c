/* import.c - see import.h. */
#include "import/import.h"
#include "rec/pack.h"

static const struct importer *const importers[] = {&import_tracedat};

const struct importer *importer_of(const u8 *p, size_t n)
{
	for (u32 i = 0; i < countof(importers); i++)
		if (importers[i]->fits(p, n))
			return importers[i];
	return NULL;
}

struct err *import_begin(struct import_out *o, u64 mono, u32 ncpu)
{
	const struct rec_start start = {.mono = mono, .ncpu = ncpu, .codec = rec_best_codec()};
	if (o->fd >= 0)
		return rec_create_fd(o->fd, o->name, &start, &o->w);
	o->w = rec_create_mem(&start, o->mem);
	return NULL;
}
