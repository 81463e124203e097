/* registry.c - every probe type. */
#include "core/probe.h"

extern const struct probe_type probe_begin, probe_end, probe_self, probe_kprobe, probe_kretprobe,
	probe_uprobe, probe_uretprobe, probe_usdt, probe_tracepoint, probe_rawtracepoint,
	probe_fentry, probe_fexit, probe_profile, probe_interval, probe_software, probe_hardware,
	probe_watchpoint, probe_iter, probe_test, probe_bench, probe_syscall, probe_recorded;

const struct probe_type *const probe_types[] = {
	&probe_begin,    &probe_end,
	&probe_self,     &probe_test,
	&probe_bench,    &probe_iter,
	&probe_hardware, &probe_interval,
	&probe_fentry,   &probe_fexit,
	&probe_kprobe,   &probe_kretprobe,
	&probe_profile,  &probe_rawtracepoint,
	&probe_software, &probe_tracepoint,
	&probe_uprobe,   &probe_uretprobe,
	&probe_usdt,     &probe_watchpoint,
	&probe_syscall,  NULL,
};

const struct probe_type *const recorded_types[] = {&probe_recorded, NULL};
