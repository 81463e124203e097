/* registry.c - which tools have a writer. */
#include "tool/writers.h"

static const struct writer writers[] = {
	{"funccount", "PATTERN", write_funccount, 1, false, NULL},
	{"funclatency", "PATTERN", write_funclatency, 1, false, NULL},
	{"funcslower", "PATTERN...", write_funcslower, 0, true, NULL},
	{"funcinterval", "PATTERN", write_funcinterval, 1, false, NULL},
	{"functrace", "PATTERN...", write_functrace, 0, true, NULL},
	{"tpoint", "CATEGORY:EVENT [FILTER]", write_tpoint, 2, true, NULL},
	{"perf-stat-hist", "CATEGORY:EVENT FIELD [SECONDS]", write_perf_stat_hist, 3, false, NULL},
	{"stackcount", "PATTERN", write_stackcount, 1, false, NULL},
	{"ltrace", NULL, write_ltrace, 0, true, NULL},
	{"strace", NULL, write_strace, 0, true, spell_strace},
	{"trace", "PROBE...", write_trace, 0, true, NULL},
	{"ksnoop", "trace|info FUNCTION[(ARG,...)]...", write_ksnoop, 0, true, NULL},
	{"argdist", NULL, write_argdist, 0, false, NULL},
	{"kprobe", "DEFINITION [FILTER]", write_kprobe, 2, true, NULL},
	{"uprobe", "DEFINITION [FILTER]", write_uprobe, 2, true, NULL},
};

const struct writer *writer_find(struct str tool)
{
	for (size_t i = 0; i < countof(writers); i++)
		if (str_is(tool, writers[i].tool))
			return &writers[i];
	return NULL;
}
