/* Any bytes as records of mappings, and as a list of generated code. */
#include "sym/procs.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct host h = {.root = "/nonexistent"};
	struct procs *p = calloc(1, sizeof(*p));
	struct bytes all = bytes_of(data, n), record;
	struct map_note note;
	struct proc *proc;
	struct symbol sym;
	if (!p)
		abort();
	*p = (struct procs){.host = &h, .all = true};
	while (mmaps_next(&all, &record)) {
		if (!mmaps_parse(record, &note))
			continue;
		procs_note(p, &note);
		procs_at(p, note.pid, note.start, &proc);
	}
	procs_free(p);
	free(p);
	struct jit *j = jit_parse(str_n((const char *)data, n));
	jit_find(j, 0x1000, &sym);
	jit_free(NULL, j);
	return 0;
}
