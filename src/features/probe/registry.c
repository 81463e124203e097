/* registry.c - every kind of probe. */
#include "core/probe.h"

extern const struct kind kind_begin, kind_end, kind_self, kind_kprobe, kind_kretprobe, kind_uprobe,
	kind_uretprobe, kind_usdt, kind_tracepoint, kind_rawtracepoint, kind_fentry, kind_fexit,
	kind_profile, kind_interval, kind_software, kind_hardware, kind_watchpoint, kind_iter,
	kind_test, kind_bench, kind_syscall, kind_recorded;

const struct kind *const probe_kinds[] = {
	&kind_begin,    &kind_end,
	&kind_self,     &kind_test,
	&kind_bench,    &kind_iter,
	&kind_hardware, &kind_interval,
	&kind_fentry,   &kind_fexit,
	&kind_kprobe,   &kind_kretprobe,
	&kind_profile,  &kind_rawtracepoint,
	&kind_software, &kind_tracepoint,
	&kind_uprobe,   &kind_uretprobe,
	&kind_usdt,     &kind_watchpoint,
	&kind_syscall,  NULL,
};

const struct kind *const recorded_kinds[] = {&kind_recorded, NULL};
