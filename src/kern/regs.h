/* regs.h - where a function's arguments, result and address are in struct pt_regs, per
 * architecture. */
#pragma once
#include "base/base.h"
#include <asm/ptrace.h>

#if defined(__x86_64__)
enum { REGS_NARG = 6 };
enum { KEEPS_ORDER = 1 }; /* other CPUs see loads, and stores, in the order of the program */
#define REGS_ARCH "x86_64"
enum { REGS_MACHINE = 62 /* EM_X86_64 */ };
static inline i32
regs_arg(u32 n) /* offset of the n-th argument's register, -1: not in a register */
{
	static const u16 at[REGS_NARG] = {
		offsetof(struct pt_regs, rdi), offsetof(struct pt_regs, rsi),
		offsetof(struct pt_regs, rdx), offsetof(struct pt_regs, rcx),
		offsetof(struct pt_regs, r8),  offsetof(struct pt_regs, r9),
	};
	return n < REGS_NARG ? at[n] : -1;
}
/* The same for functions of Go (1.17 or newer). */
enum { REGS_NARG_GO = 9 };
static inline i32 regs_go_arg(u32 n)
{
	static const u16 at[REGS_NARG_GO] = {
		offsetof(struct pt_regs, rax), offsetof(struct pt_regs, rbx),
		offsetof(struct pt_regs, rcx), offsetof(struct pt_regs, rdi),
		offsetof(struct pt_regs, rsi), offsetof(struct pt_regs, r8),
		offsetof(struct pt_regs, r9),  offsetof(struct pt_regs, r10),
		offsetof(struct pt_regs, r11),
	};
	return n < REGS_NARG_GO ? at[n] : -1;
}
enum {
	REGS_RET = offsetof(struct pt_regs, rax),
	REGS_IP = offsetof(struct pt_regs, rip),
	REGS_CALL_NR = offsetof(struct pt_regs, orig_rax),
	REGS_SP = offsetof(struct pt_regs, rsp),
	REGS_FP = offsetof(struct pt_regs, rbp),
	REGS_CS = offsetof(struct pt_regs, cs),
	REGS_CX = offsetof(struct pt_regs, rcx),
	REGS_R11 = offsetof(struct pt_regs, r11),
	REGS_FLAGS = offsetof(struct pt_regs, eflags),
	REGS_USER_CS = 0x33, /* of 64-bit code */
	REGS_FRAMES = 1,     /* frames are {caller's frame, return address}, as ustack walks them */
	REGS_UNWIND = 1,     /* dw_ustack is implemented */
	REGS_KPROBE_SKEW = 1, /* at a kprobe, ip is behind the breakpoint instruction */
};
/* Offset of the register with DWARF's number n, -1: struct pt_regs has none. */
static inline i32 regs_dwarf(u64 n)
{
	static const u16 at[] = {
		offsetof(struct pt_regs, rax), offsetof(struct pt_regs, rdx),
		offsetof(struct pt_regs, rcx), offsetof(struct pt_regs, rbx),
		offsetof(struct pt_regs, rsi), offsetof(struct pt_regs, rdi),
		offsetof(struct pt_regs, rbp), offsetof(struct pt_regs, rsp),
		offsetof(struct pt_regs, r8),  offsetof(struct pt_regs, r9),
		offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
		offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
		offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
		offsetof(struct pt_regs, rip),
	};
	return n < sizeof(at) / sizeof(at[0]) ? at[n] : -1;
}
/* Registers of a system call's arguments. */
#define REGS_CALL_ARGS                                                                \
	{                                                                             \
		offsetof(struct pt_regs, rdi), offsetof(struct pt_regs, rsi),         \
			offsetof(struct pt_regs, rdx), offsetof(struct pt_regs, r10), \
			offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9)    \
	}
#elif defined(__aarch64__)
enum { REGS_NARG = 8 };
enum { KEEPS_ORDER = 0 };
#define REGS_ARCH "aarch64"
enum { REGS_MACHINE = 183 /* EM_AARCH64 */ };
static inline i32 regs_arg(u32 n)
{
	return n < REGS_NARG ? (i32)(n * 8) : -1;
}
enum { REGS_NARG_GO = 16 };
static inline i32 regs_go_arg(u32 n)
{
	return n < REGS_NARG_GO ? (i32)(n * 8) : -1;
}
enum {
	REGS_RET = 0,
	REGS_IP = offsetof(struct user_pt_regs, pc),
	REGS_CALL_NR = 280, /* pt_regs.syscallno, behind orig_x0 */
	REGS_SP = offsetof(struct user_pt_regs, sp),
	REGS_FP = 29 * 8,
	REGS_CS = offsetof(struct user_pt_regs, pstate),
	REGS_CX = 0, /* nothing like it, nor like the next three */
	REGS_R11 = 0,
	REGS_FLAGS = 0,
	REGS_USER_CS = 0,
	REGS_FRAMES = 0,
	REGS_UNWIND = 0,
	REGS_KPROBE_SKEW = 0,
};
/* Offset of the register with DWARF's number n (x0 to x30, sp), -1: struct pt_regs has none. */
static inline i32 regs_dwarf(u64 n)
{
	return n < 32 ? (i32)(n * 8) : -1;
}
#define REGS_CALL_ARGS               \
	{                            \
		0, 8, 16, 24, 32, 40 \
	}
#else
#error "sonde knows no calling convention for this architecture"
#endif
