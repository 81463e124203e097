/* sys.h - inside kern/: the raw system calls, and instructions for trying things. */
#pragma once
#include "kern/bpf.h"
#include <linux/perf_event.h>

/* A descriptor or 0, or -errno. */
long sys_bpf(int cmd, void *attr, u32 size);
long sys_perf_event_open(struct perf_event_attr *attr, int pid, int cpu, int group,
			 unsigned long flags);
static inline u64 ptr_u64(const void *p)
{
	return (u64)(uintptr_t)p;
}

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define I_MOV(d, i)     INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define I_MOVR(d, s)    INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define I_ADD(d, i)     INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define I_ST(d, o, i)   INSN(BPF_ST | BPF_MEM | BPF_DW, d, 0, o, i)
#define I_CALL(i)       INSN(BPF_JMP | BPF_CALL, 0, 0, 0, i)
#define I_EXIT          INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define I_LD64(d, s, i) INSN(BPF_LD | BPF_IMM | BPF_DW, d, s, 0, i), INSN(0, 0, 0, 0, 0)

/* A program's BTF: arrays for prog_load, freed by prog_btf_free. fd -1: the kernel takes none. */
struct prog_btf {
	int fd;
	struct bpf_func_info *func;
	struct bpf_line_info *line;
	u32 nfunc, nline;
};
int prog_btf_load(const struct prog_spec *s, struct prog_btf *ret); /* 0 or -errno */
void prog_btf_free(struct prog_btf *b);
/* One attempt, no log, no retry; -errno. */
long prog_load_once(const struct prog_spec *s, const struct prog_btf *btf, char *log, u32 log_size,
		    u32 log_level);
