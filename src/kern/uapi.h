/*
 * uapi.h - kernel constants and layouts newer than Debian 12's 6.1 headers, written out.
 */
#pragma once
#include <linux/bpf.h>
#include <linux/perf_event.h>

enum {
	SONDE_BPF_TRACE_UPROBE_MULTI = 48,
	SONDE_BPF_F_UPROBE_MULTI_RETURN = 1,
};

/* What BPF_LINK_CREATE reads for BPF_TRACE_UPROBE_MULTI (Linux 6.6). */
struct sonde_uprobe_multi_attr {
	__u32 prog_fd, target_fd, attach_type, flags;
	__u64 path;            /* char * */
	__u64 offsets;         /* u64[cnt], in the file */
	__u64 ref_ctr_offsets; /* u64[cnt] or 0 */
	__u64 cookies;         /* u64[cnt] or 0 */
	__u32 cnt, multi_flags, pid, zero;
};
_Static_assert(sizeof(struct sonde_uprobe_multi_attr) == 64, "uapi layout");
