/* registry.c - which tools have a writer. */
#include "tool/writers.h"

static const struct writer writers[] = {
	{"funccount", "PATTERN", write_funccount, 1, false},
	{"funclatency", "PATTERN", write_funclatency, 1, false},
	{"funcslower", "PATTERN...", write_funcslower, 0, true},
	{"funcinterval", "PATTERN", write_funcinterval, 1, false},
	{"functrace", "PATTERN...", write_functrace, 0, true},
	{"tpoint", "CATEGORY:EVENT [FILTER]", write_tpoint, 2, true},
	{"perf-stat-hist", "CATEGORY:EVENT FIELD [SECONDS]", write_perf_stat_hist, 3, false},
	{"stackcount", "PATTERN", write_stackcount, 1, false},
	{"ltrace", NULL, write_ltrace, 0, true},
	{"strace", NULL, write_strace, 0, true},
	{"trace", "PROBE...", write_trace, 0, true},
	{"ksnoop", "trace|info FUNCTION[(ARG,...)]...", write_ksnoop, 0, true},
	{"argdist", NULL, write_argdist, 0, false},
	{"kprobe", "DEFINITION [FILTER]", write_kprobe, 2, true},
	{"uprobe", "DEFINITION [FILTER]", write_uprobe, 2, true},
};

const struct writer *writer_find(struct str tool)
{
	for (size_t i = 0; i < countof(writers); i++)
		if (str_is(tool, writers[i].tool))
			return &writers[i];
	return NULL;
}
