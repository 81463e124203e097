/* perf.h - perf_event_open(2): tracepoints, timers, counters, kprobes and uprobes by PMU. */
#pragma once
#include "kern/host.h"

struct perf_spec {
	u32 type;   /* PERF_TYPE_*; or a dynamic PMU's */
	u64 config; /* event; tracepoint id */
	u64 config1, config2;
	u64 period; /* or frequency */
	bool freq;
	int pid, cpu;  /* -1: all; both -1 is not allowed */
	bool inherit;  /* pid: threads it starts from now on count too */
	bool children; /* ... and child processes */
	u32 bp_type; /* PERF_TYPE_BREAKPOINT: HW_BREAKPOINT_*; address in config1, length in config2
		      */
};
/*
 * pmu.c: events as perf writes them: "r1c0" (hexadecimal), "pmu/term=value,.../", "pmu/event/".
 * Sets .type, .config, .config1, .config2.
 */
bool pmu_is_event(struct str text);
struct err *pmu_event(struct host *h, struct str text, struct perf_spec *s);
struct err *perf_open(const struct perf_spec *s, int *fd);
/* False: a place of ours was watched, written to, and the processor did not tell. Virtual machines are so. */
bool perf_watches(void);
/* PERF_EVENT_IOC_SET_BPF then ENABLE. */
struct err *perf_attach(int perf_fd, int prog_fd);
struct err *perf_enable(int perf_fd);
struct err *perf_disable(int perf_fd);
/* So long it was enabled: an event of a CPU that goes offline is not any more, and stays so when the
 * CPU comes back. False: that is not told. */
bool perf_enabled_ns(int perf_fd, u64 *ns);
/* /sys/bus/event_source/devices/{kprobe,uprobe}/type, and the bit that means "return". */
struct err *perf_probe_pmu(struct host *h, const char *name, u32 *type, u32 *retbit);
/* kprobe by name or (name NULL) address; ref_ctr_off: USDT semaphore. */
struct err *perf_open_kprobe(struct host *h, const char *func, u64 addr_or_off, bool ret, int *fd);
/* The kernel knows no "function" or "module:function", and says so sooner than its lists are read.
 */
bool perf_no_function(struct host *h, const char *func);
struct err *perf_open_uprobe(struct host *h, const char *path, u64 off, u64 ref_ctr_off, bool ret,
			     int pid, int *fd);
