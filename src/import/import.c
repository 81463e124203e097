/* import.c - see import.h. */
#include "import/import.h"
#include "rec/pack.h"

static const struct importer *const importers[] = {&import_tracedat, &import_perfdata};

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

void import_losses(const struct import_out *o, const struct import_sum *sum)
{
	AUTO_SB lost = {0};
	AUTO_SB skipped = {0};
	sb_fmt(&lost, "Lost %llu events", sum->lost);
	sb_fmt(&skipped, "%llu events of the imported file could not be read", sum->skipped);
	if (sum->lost)
		rec_loss(o->w, &(struct rec_loss){.n = sum->lost,
						  .kind = STR("lost_total"),
						  .text = sb_str(&lost)});
	if (sum->skipped)
		rec_loss(o->w, &(struct rec_loss){.n = sum->skipped,
						  .kind = STR("corrupt_records"),
						  .text = sb_str(&skipped)});
}
