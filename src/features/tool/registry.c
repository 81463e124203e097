/* registry.c - which tools have a writer. */
#include "tool/writers.h"

static const struct writer writers[] = {
	{"funccount", "PATTERN", write_funccount, 1},
	{"funclatency", "PATTERN", write_funclatency, 1},
	{"funcslower", "PATTERN...", write_funcslower, 0},
	{"funcinterval", "PATTERN", write_funcinterval, 1},
	{"functrace", "PATTERN...", write_functrace, 0},
	{"tpoint", "CATEGORY:EVENT [FILTER]", write_tpoint, 2},
	{"perf-stat-hist", "CATEGORY:EVENT FIELD [SECONDS]", write_perf_stat_hist, 3},
	{"stackcount", "PATTERN", write_stackcount, 1},
	{"ltrace", NULL, write_ltrace, 0},
	{"strace", NULL, write_strace, 0},
	{"trace", "PROBE...", write_trace, 0},
	{"argdist", NULL, write_argdist, 0},
	{"kprobe", "DEFINITION [FILTER]", write_kprobe, 2},
	{"uprobe", "DEFINITION [FILTER]", write_uprobe, 2},
};

const struct writer *writer_find(struct str tool)
{
	for (size_t i = 0; i < countof(writers); i++)
		if (str_is(tool, writers[i].tool))
			return &writers[i];
	return NULL;
}
