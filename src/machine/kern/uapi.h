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
/*
 * What BPF_OBJ_GET_INFO_BY_FD says of a link, as far as it is about missed hits. Kernels that count
 * them (Linux 6.7) fill in at least so many bytes.
 */
struct sonde_link_info {
	__u32 type, id, prog_id, pad;
	union {
		struct {
			__u64 addrs;
			__u32 count, flags;
			__u64 missed;
		} kprobe_multi;
		struct {
			__u32 type, pad;
			__u64 func_name;
			__u32 name_len, offset;
			__u64 addr, missed;
		} kprobe;
	};
};
_Static_assert(sizeof(struct sonde_link_info) == 56, "uapi layout");
enum { SONDE_PERF_EVENT_KPROBE = 3, SONDE_PERF_EVENT_KRETPROBE = 4 };

_Static_assert(sizeof(struct sonde_uprobe_multi_attr) == 64, "uapi layout");
