/* aarch64.c - the 64-bit Arm architecture. */
#include "arch/arch.h"
#include "arch/decode.h"
#include <elf.h>
#include <ucontext.h>

/* struct pt_regs: x0 to x30, then these. Of an event's samples it ends behind pstate. */
#define X(n) ((n)*8)
enum {
	FP = X(29),
	LR = X(30),
	SP = 248,
	PC = 256,
	PSTATE = 264,
	ORIG_X0 = 272,
	CALL_NR = 280, /* an int; what follows it is another's */
};
enum {
	/* Bits of pstate: the exception level and stack (0: user mode), and 32-bit code. */
	MODE = 0xf,
	MODE_32 = 0x10,
	TIF_32BIT = 1 << 22,
};

static const i16 args[] = {X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7)};
static const i16 go_args[] = {X(0), X(1), X(2),  X(3),  X(4),  X(5),  X(6),  X(7),
			      X(8), X(9), X(10), X(11), X(12), X(13), X(14), X(15)};
static const i16 dwarf[] = {X(0),  X(1),  X(2),  X(3),  X(4),  X(5),  X(6),  X(7),  X(8),
			    X(9),  X(10), X(11), X(12), X(13), X(14), X(15), X(16), X(17),
			    X(18), X(19), X(20), X(21), X(22), X(23), X(24), X(25), X(26),
			    X(27), X(28), FP,    LR,    SP,    PC};

#define GENERAL(n)                               \
	{                                        \
		{"x" #n, "r" #n}, X(n), 8, false \
	}
static const struct arch_reg regs[] = {
	GENERAL(0),
	GENERAL(1),
	GENERAL(2),
	GENERAL(3),
	GENERAL(4),
	GENERAL(5),
	GENERAL(6),
	GENERAL(7),
	GENERAL(8),
	GENERAL(9),
	GENERAL(10),
	GENERAL(11),
	GENERAL(12),
	GENERAL(13),
	GENERAL(14),
	GENERAL(15),
	GENERAL(16),
	GENERAL(17),
	GENERAL(18),
	GENERAL(19),
	GENERAL(20),
	GENERAL(21),
	GENERAL(22),
	GENERAL(23),
	GENERAL(24),
	GENERAL(25),
	GENERAL(26),
	GENERAL(27),
	GENERAL(28),
	{{"x29", "r29", "fp"}, FP, 8, false},
	{{"x30", "r30", "lr"}, LR, 8, false},
	{{"sp"}, SP, 8, false},
	{{"pc", "ip"}, PC, 8, false},
	{{"pstate"}, PSTATE, 8, false},
	{{"orig_x0"}, ORIG_X0, 8, true},
	{{"syscallno"}, CALL_NR, 4, true},
};

#define OPERAND(n)                               \
	{                                        \
		{"x" #n, "w" #n}, X(n), 8, false \
	}
static const struct arch_reg operands[] = {
	OPERAND(0),
	OPERAND(1),
	OPERAND(2),
	OPERAND(3),
	OPERAND(4),
	OPERAND(5),
	OPERAND(6),
	OPERAND(7),
	OPERAND(8),
	OPERAND(9),
	OPERAND(10),
	OPERAND(11),
	OPERAND(12),
	OPERAND(13),
	OPERAND(14),
	OPERAND(15),
	OPERAND(16),
	OPERAND(17),
	OPERAND(18),
	OPERAND(19),
	OPERAND(20),
	OPERAND(21),
	OPERAND(22),
	OPERAND(23),
	OPERAND(24),
	OPERAND(25),
	OPERAND(26),
	OPERAND(27),
	OPERAND(28),
	{{"x29", "w29", "fp"}, FP, 8, false},
	{{"x30", "w30", "lr"}, LR, 8, false},
	{{"sp", "wsp"}, SP, 8, false},
};

#define CALLS "arch/aarch64_calls.def"
#define TEXT  native_text
#define AT    native_at
#include "arch/call_names.def"

/* Their names are not known here. */
static const struct arch_calls compat = {
	.wrapper = "__arm64_",
	.nr = CALL_NR,
	.nr_size = 4,
	.clone_tls = 3,
	.arg = {ORIG_X0, X(1), X(2), X(3), X(4), X(5)},
};

static const struct arch_instead instead[] = {
	{"access", "faccessat"},
	{"alarm", "setitimer"},
	{"chmod", "fchmodat"},
	{"chown", "fchownat"},
	{"creat", "openat"},
	{"dup2", "dup3"},
	{"epoll_create", "epoll_create1"},
	{"epoll_wait", "epoll_pwait"},
	{"eventfd", "eventfd2"},
	{"fork", "clone"},
	{"futimesat", "utimensat"},
	{"getdents", "getdents64"},
	{"getpgrp", "getpgid"},
	{"inotify_init", "inotify_init1"},
	{"lchown", "fchownat"},
	{"link", "linkat"},
	{"lstat", "newfstatat"},
	{"mkdir", "mkdirat"},
	{"mknod", "mknodat"},
	{"newlstat", "newfstatat"},
	{"newstat", "newfstatat"},
	{"open", "openat"},
	{"pause", "ppoll"},
	{"pipe", "pipe2"},
	{"poll", "ppoll"},
	{"readlink", "readlinkat"},
	{"rename", "renameat"},
	{"rmdir", "unlinkat"},
	{"select", "pselect6"},
	{"signalfd", "signalfd4"},
	{"stat", "newfstatat"},
	{"symlink", "symlinkat"},
	{"time", "gettimeofday"},
	{"unlink", "unlinkat"},
	{"utime", "utimensat"},
	{"utimes", "utimensat"},
	{"vfork", "clone"},
	{NULL, NULL},
};

/* What the instruction that takes a signature off takes away; older processors have it as a nop. */
static u64 signed_bits(void)
{
	u64 v = 0x007fffffffffffff;
#if defined(__aarch64__)
	u64 all = v;
	__asm__("mov x30, %0\n\thint #7\n\tmov %0, x30" : "+r"(v) : : "x30");
	return all & ~v;
#else
	(void)v;
	return 0;
#endif
}

#if defined(__aarch64__)
static void call_args(const void *context, u64 arg[4])
{
	for (u32 i = 0; i < 4; i++)
		arg[i] = ((const ucontext_t *)context)->uc_mcontext.regs[i];
}

static void call_returns(void *context, i64 v)
{
	((ucontext_t *)context)->uc_mcontext.regs[0] = (u64)v;
}
#define HERE(fn) fn
#else
#define HERE(fn) NULL
#endif

const struct arch arch_aarch64 = {
	.id = ARCH_AARCH64,
	.name = "aarch64",
	.machine = EM_AARCH64,

	.ip = PC,
	.sp = SP,
	.fp = FP,
	.link = LR,
	.ret = X(0),
	.narg = countof(args),
	.arg = args,
	.ngo_arg = countof(go_args),
	.go_arg = go_args,
	.go_minor = 18,
	.dwarf = dwarf,
	.ndwarf = countof(dwarf),
	.reg = {regs, countof(regs)},
	.user = {PSTATE, MODE, 0},
	.native = {PSTATE, MODE | MODE_32, 0},

	.tag_bits = 0xffull << 56,
	.signed_bits = signed_bits,
	.unwind = {29, 31, NO_REG, true, 544, 0, 552, 560, 568, NULL, "uw.tp_value", 0x48, true},

	.c_calls = {8, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1}, 31, 0, 8, true, false},
	/* x0 is the result when the call ends, so its first argument is kept beside. */
	.calls = {.text = native_text.none,
		  .at = native_at,
		  .n = countof(native_at),
		  .wrapper = "__arm64_",
		  .nr = CALL_NR,
		  .nr_size = 4,
		  .clone_tls = 3,
		  .arg = {ORIG_X0, X(1), X(2), X(3), X(4), X(5)},
		  .instead = instead,
		  .compat = &compat,
		  .compat_member = "flags",
		  .compat_bits = TIF_32BIT},
	.c = {"__aarch64__", "__TARGET_ARCH_arm64", true, true},

	.operand = {operands, countof(operands)},

	.decode = aarch64_decode,
	.trap = {0, 0, 0x20, 0xd4}, /* brk #0 */
	.ntrap = 4,
	.call_args = HERE(call_args),
	.call_returns = HERE(call_returns),

	.watches_reads = true,
	.walks_frames = true,
	.ldcache_flags = 0x0a03,
};
