/* x86_64.c - the x86-64 architecture. */
#include "arch/arch.h"
#include "arch/decode.h"
#include <elf.h>
#include <ucontext.h>

/* struct pt_regs, in order, 8 bytes each. */
enum {
	R15 = 0,
	R14 = 8,
	R13 = 16,
	R12 = 24,
	BP = 32,
	BX = 40,
	R11 = 48,
	R10 = 56,
	R9 = 64,
	R8 = 72,
	AX = 80,
	CX = 88,
	DX = 96,
	SI = 104,
	DI = 112,
	ORIG_AX = 120,
	IP = 128,
	CS = 136,
	FLAGS = 144,
	SP = 152,
	SS = 160,
};
enum {
	MODE = 3,       /* bits of cs: the privilege level */
	USER_CS = 0x33, /* of 64-bit code */
	TS_COMPAT = 2,
};

static const i16 args[] = {DI, SI, DX, CX, R8, R9};
static const i16 go_args[] = {AX, BX, CX, DI, SI, R8, R9, R10, R11};
static const i16 dwarf[] = {AX, DX,  CX,  BX,  SI,  DI,  BP,  SP, R8,
			    R9, R10, R11, R12, R13, R14, R15, IP};

static const struct arch_reg regs[] = {
	{{"r15"}, R15, 8, false},     {{"r14"}, R14, 8, false},
	{{"r13"}, R13, 8, false},     {{"r12"}, R12, 8, false},
	{{"bp"}, BP, 8, false},       {{"bx"}, BX, 8, false},
	{{"r11"}, R11, 8, false},     {{"r10"}, R10, 8, false},
	{{"r9"}, R9, 8, false},       {{"r8"}, R8, 8, false},
	{{"ax"}, AX, 8, false},       {{"cx"}, CX, 8, false},
	{{"dx"}, DX, 8, false},       {{"si"}, SI, 8, false},
	{{"di"}, DI, 8, false},       {{"orig_ax", "orig_rax"}, ORIG_AX, 8, false},
	{{"ip", "pc"}, IP, 8, false}, {{"cs"}, CS, 8, false},
	{{"flags"}, FLAGS, 8, false}, {{"sp"}, SP, 8, false},
	{{"ss"}, SS, 8, false},
};

/* With parts of 32, 16 and 8 bits; %ah and its kin lie a byte higher. */
static const struct arch_reg operands[] = {
	{{"r15", "r15d", "r15w", "r15b"}, R15, 8, false},
	{{"r14", "r14d", "r14w", "r14b"}, R14, 8, false},
	{{"r13", "r13d", "r13w", "r13b"}, R13, 8, false},
	{{"r12", "r12d", "r12w", "r12b"}, R12, 8, false},
	{{"rbp", "ebp", "bp", "bpl"}, BP, 8, false},
	{{"rbx", "ebx", "bx", "bl"}, BX, 8, false},
	{{"r11", "r11d", "r11w", "r11b"}, R11, 8, false},
	{{"r10", "r10d", "r10w", "r10b"}, R10, 8, false},
	{{"r9", "r9d", "r9w", "r9b"}, R9, 8, false},
	{{"r8", "r8d", "r8w", "r8b"}, R8, 8, false},
	{{"rax", "eax", "ax", "al"}, AX, 8, false},
	{{"rcx", "ecx", "cx", "cl"}, CX, 8, false},
	{{"rdx", "edx", "dx", "dl"}, DX, 8, false},
	{{"rsi", "esi", "si", "sil"}, SI, 8, false},
	{{"rdi", "edi", "di", "dil"}, DI, 8, false},
	{{"rip", "eip", "ip"}, IP, 8, false},
	{{"rsp", "esp", "sp", "spl"}, SP, 8, false},
	{{"ah"}, AX + 1, 1, false},
	{{"bh"}, BX + 1, 1, false},
	{{"ch"}, CX + 1, 1, false},
	{{"dh"}, DX + 1, 1, false},
};

#define CALLS "arch/x86_64_calls.def"
#define TEXT  native_text
#define AT    native_at
#include "arch/call_names.def"

#define CALLS "arch/i386_calls.def"
#define TEXT  i386_text
#define AT    i386_at
#include "arch/call_names.def"

#define CALLS "arch/x32_calls.def"
#define TEXT  x32_text
#define AT    x32_at
#include "arch/call_names.def"

static const struct arch_twin i386_twins[] = {
#define T(name, call, same, narrow) {name, call, same, narrow},
#include "arch/i386_twins.def"
#undef T
	{0},
};

static const struct arch_calls compat = {
	.text = i386_text.none,
	.at = i386_at,
	.n = countof(i386_at),
	.wrapper = "__ia32_",
	.nr = ORIG_AX,
	.nr_size = 8,
	.clone_tls = 3,
	.arg = {BX, CX, DX, SI, DI, BP},
	.twins = i386_twins,
};
static const struct arch_calls x32 = {
	.text = x32_text.none,
	.at = x32_at,
	.n = countof(x32_at),
	.wrapper = "__x64_",
	.nr = ORIG_AX,
	.nr_size = 8,
	.clone_tls = 4,
	.arg = {DI, SI, DX, R10, R8, R9},
	.narrow_from = 512,
};

/* Functions whose first instruction is a nop, for trying what a probe makes of it. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".balign 32\n"
	".globl sonde_try_nop5\n" /* the linker may put what refers to it into another unit */
	".hidden sonde_try_nop5\n"
	".type sonde_try_nop5, @function\n"
	"sonde_try_nop5: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
	"ret\n"
	".size sonde_try_nop5, . - sonde_try_nop5\n"
	".balign 32\n"
	".globl sonde_try_nop10\n"
	".hidden sonde_try_nop10\n"
	".type sonde_try_nop10, @function\n"
	"sonde_try_nop10: .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	"ret\n"
	".size sonde_try_nop10, . - sonde_try_nop10\n"
	".popsection\n");
void sonde_try_nop5(void);
void sonde_try_nop10(void);

static void call_args(const void *context, u64 arg[4])
{
	static const int from[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10};
	for (u32 i = 0; i < countof(from); i++)
		arg[i] = (u64)((const ucontext_t *)context)->uc_mcontext.gregs[from[i]];
}

static void call_returns(void *context, i64 v)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = v;
}
#define TRY(fn) fn
#else
#define TRY(fn) NULL
#endif

/* [endbr64]; sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
static const struct arch_stub stubs[] = {
	{{0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3}, 11, 2},
	{{0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3},
	 15,
	 2},
	{{0}, 0, 0},
};

const struct arch arch_x86_64 = {
	.id = ARCH_X86_64,
	.name = "x86_64",
	.machine = EM_X86_64,
	.machine32 = EM_386,

	.ip = IP,
	.sp = SP,
	.fp = BP,
	.link = -1,
	.ret = AX,
	.narg = countof(args),
	.arg = args,
	.ngo_arg = countof(go_args),
	.go_arg = go_args,
	.go_minor = 17,
	.dwarf = dwarf,
	.ndwarf = countof(dwarf),
	.reg = {regs, countof(regs)},
	.user = {CS, MODE, MODE},
	.native = {CS, ~0ull, USER_CS},

	.unwind = {6, 7, 3, false, 120, 128, 0, 160, 168, stubs, "fsbase", 0x318, false},

	.c_calls = {6, {5, 4, 1, 2, 8, 9}, {0, 1}, 7, 8, 8, false, true},
	/*
	 * The instruction of 64-bit calls leaves its own address in cx and the flags in r11, where
	 * the kernel looks for them when it returns.
	 */
	.calls = {.text = native_text.none,
		  .at = native_at,
		  .n = countof(native_at),
		  .wrapper = "__x64_",
		  .nr = ORIG_AX,
		  .nr_size = 8,
		  .clone_tls = 4,
		  .arg = {DI, SI, DX, R10, R8, R9},
		  .same = {{CX, IP}, {R11, FLAGS}},
		  .nsame = 2,
		  .status_compat = TS_COMPAT,
		  .compat = &compat,
		  .x32 = &x32,
		  .compat_member = "status",
		  .compat_bits = TS_COMPAT},
	.c = {"__x86_64__", "__TARGET_ARCH_x86", false, false},

	.operand = {operands, countof(operands)},
	.att_syntax = true,

	.decode = x86_64_decode,
	.move = x86_64_move,
	.trap = {0xcc},
	.ntrap = 1,
	.trap_skip = 1,
	.kprobe_skew = 1,
	.nop5 = TRY(sonde_try_nop5),
	.nop10 = TRY(sonde_try_nop10),
	.call_args = TRY(call_args),
	.call_returns = TRY(call_returns),

	.keeps_order = true,
	.walks_frames = true,
	.ldcache_flags = 0x0303,
};
