/* Any bytes as records of mappings. */
#include "sym/procs.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct host h = {.root = "/nonexistent"};
	struct procs *p = calloc(1, sizeof(*p));
	struct bytes all = bytes_of(data, n), record;
	struct mmap_event note;
	struct proc *proc;
	if (!p)
		abort();
	*p = (struct procs){.host = &h, .all = true};
	while (mmaps_next(&all, &record)) {
		if (!mmaps_parse(record, &note))
			continue;
		procs_event(p, &note);
		procs_at(p, note.pid, note.start, &proc);
	}
	procs_free(p);
	free(p);
	return 0;
}
