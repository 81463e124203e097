/* writers.h - the writers of probes, for registry.c. */
#pragma once
#include "tool/words.h"

bool write_funccount(struct words *w);
bool write_funclatency(struct words *w);
bool write_funcslower(struct words *w);
bool write_funcinterval(struct words *w);
bool write_functrace(struct words *w);
bool write_tpoint(struct words *w);
bool write_perf_stat_hist(struct words *w);
bool write_stackcount(struct words *w);
bool write_ksnoop(struct words *w);
bool write_trace(struct words *w);
bool write_argdist(struct words *w);
bool write_ltrace(struct words *w);
bool write_strace(struct words *w);
char *spell_strace(struct arena *a, char *word);
bool write_kprobe(struct words *w);
bool write_uprobe(struct words *w);
