/* t_vm.c - the interpreter of vm/: what each instruction computes, what is refused, maps, helpers, rings. */
#include "test.h"
#include "vm/vm.h"
#include <errno.h>

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){.code = (u8)(c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define MOV(d, i)       INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOVX(d, s)      INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD(d, i)       INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define ALU(op, d, s)   INSN(BPF_ALU64 | (op) | BPF_X, d, s, 0, 0)
#define ALU32(op, d, s) INSN(BPF_ALU | (op) | BPF_X, d, s, 0, 0)
#define EXIT            INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define CALL(id)        INSN(BPF_JMP | BPF_CALL, 0, 0, 0, id)
#define CALLFN(n)       INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, n)
#define JUMP(n)         INSN(BPF_JMP | BPF_JA, 0, 0, n, 0)
#define JNE(d, i, n)    INSN(BPF_JMP | BPF_JNE | BPF_K, d, 0, n, i)
#define LOAD(d, s, o)   INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, o, s)  INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STOREI(d, o, i) INSN(BPF_ST | BPF_MEM | BPF_DW, d, 0, o, i)
#define WIDE(d, v)                                                                 \
	INSN(BPF_LD | BPF_DW | BPF_IMM, d, 0, 0, (i32)(u32)((u64)(v)&0xffffffff)), \
		INSN(0, 0, 0, 0, (i32)(u32)((u64)(v) >> 32))
#define FNADDR(d, n) INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_FUNC, 0, n), INSN(0, 0, 0, 0, 0)
/* The address of map 0; a test says by .nmap that it has one. */
#define MAP(d) INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, 0), INSN(0, 0, 0, 0, 0)
#define PROG(...) \
	(const struct bpf_insn[]){__VA_ARGS__}, countof(((const struct bpf_insn[]){__VA_ARGS__}))

enum { NCPU = 3, BUDGET = 100000, MAX_RELOCS = 8 };

static struct vm *machine(const struct vm_env *env)
{
	struct vm_spec s = {.ncpu = NCPU, .budget = BUDGET, .seed = 7, .strict = true};
	if (env)
		s.env = *env;
	return vm_new(&s);
}

static u32 add_map(struct vm *v, u32 type, u32 key, u32 val, u32 n)
{
	struct vm_map_spec s = {STR("m"), type, key, val, n, 0, 0};
	u32 map = UINT32_MAX;
	struct err *e = vm_map_new(v, &s, &map);
	CHECK(!e);
	err_free(e);
	return map;
}

/* Every MAP() in it is map 0. */
static struct err *load(struct vm *v, const struct bpf_insn *insn, u32 n, u32 *prog)
{
	struct reloc reloc[MAX_RELOCS];
	u32 nreloc = 0, map = 0;
	for (u32 i = 0; i < n; i++)
		if (insn[i].code == (BPF_LD | BPF_DW | BPF_IMM) &&
		    insn[i].src_reg == BPF_PSEUDO_MAP_FD && nreloc < MAX_RELOCS)
			reloc[nreloc++] = (struct reloc){i, RELOC_MAP, 0};
	struct code c = {.insn = (struct bpf_insn *)(uintptr_t)insn,
			 .ninsn = n,
			 .reloc = reloc,
			 .nreloc = nreloc};
	struct vm_prog_spec s = {STR("p"), &c, &map, 1, false};
	return vm_prog_load(v, &s, prog);
}

/* r0, or the error as text in *what. */
static u64 run(struct vm *v, const struct bpf_insn *insn, u32 n, char **what)
{
	u64 ctx[2] = {11, 22}, ret = 0;
	u32 prog;
	struct err *e = load(v, insn, n, &prog);
	if (!e)
		e = vm_prog_run(v, prog, ctx, sizeof(ctx), &ret);
	*what = e ? strdup(e->msg) : NULL;
	err_free(e);
	return ret;
}

static void gives(struct vm *v, const struct bpf_insn *insn, u32 n, u64 want, int line)
{
	char *what AUTO_FREE = NULL;
	u64 got = run(v, insn, n, &what);
	if (what || got != want) {
		printf("# line %d: %llx, should be %llx: %s\n", line, got, want, what ? what : "");
		test_fail(__FILE__, line, "the program's result");
	}
}
#define GIVES(v, want, ...) gives(v, PROG(__VA_ARGS__), (u64)(want), __LINE__)

static void fails(struct vm *v, const struct bpf_insn *insn, u32 n, const char *want, int line)
{
	char *what AUTO_FREE = NULL;
	run(v, insn, n, &what);
	test_str(__FILE__, line, "error", what ? what : "none", want);
}
#define FAILS(v, want, ...) fails(v, PROG(__VA_ARGS__), want, __LINE__)

/* ---- instructions ---- */

struct two {
	u32 op;
	u64 a, b, wide, narrow;
};

TEST(vm_arithmetic)
{
	static const u64 min = 1ull << 63;
	static const struct two t[] = {
		{BPF_ADD, ~0ull, 2, 1, 1},
		{BPF_SUB, 1, 2, ~0ull, 0xffffffff},
		{BPF_MUL, 1ull << 32 | 3, 5, 5ull << 32 | 15, 15},
		{BPF_DIV, ~0ull, 16, ~0ull / 16, 0xfffffff},
		{BPF_DIV, 7, 0, 0, 0},
		{BPF_MOD, ~0ull, 16, 15, 15},
		{BPF_MOD, 1ull << 32 | 7, 0, 1ull << 32 | 7, 7},
		{BPF_OR, min | 1, 6, min | 7, 7},
		{BPF_AND, min | 7, 6, 6, 6},
		{BPF_XOR, ~0ull, 1, ~1ull, 0xfffffffe},
		{BPF_LSH, 3, 63, min, 0x80000000},
		{BPF_RSH, min, 63, 1, 0},
		{BPF_ARSH, min, 63, ~0ull, 0},
		{BPF_ARSH, 0x80000000, 31, 1, 0xffffffff},
		{BPF_MOV, 1, min | 5, min | 5, 5},
	};
	struct vm *v = machine(NULL);
	for (u32 i = 0; i < countof(t); i++) {
		GIVES(v, t[i].wide, WIDE(0, t[i].a), WIDE(1, t[i].b), ALU(t[i].op, 0, 1), EXIT);
		GIVES(v, t[i].narrow, WIDE(0, t[i].a), WIDE(1, t[i].b), ALU32(t[i].op, 0, 1), EXIT);
	}
	GIVES(v, -5, MOV(0, 5), INSN(BPF_ALU64 | BPF_NEG, 0, 0, 0, 0), EXIT);
	GIVES(v, -6, MOV(0, 5), INSN(BPF_ALU64 | BPF_XOR | BPF_K, 0, 0, 0, -1), EXIT);
	GIVES(v, 0xfffffffb, MOV(0, 5), INSN(BPF_ALU | BPF_NEG, 0, 0, 0, 0), EXIT);
	GIVES(v, 0xffffffff, INSN(BPF_ALU | BPF_MOV | BPF_K, 0, 0, 0, -1), EXIT);
	vm_free(v);
}

#define SDIV(d, s)   INSN(BPF_ALU64 | BPF_DIV | BPF_X, d, s, 1, 0)
#define SMOD(d, s)   INSN(BPF_ALU64 | BPF_MOD | BPF_X, d, s, 1, 0)
#define SDIV32(d, s) INSN(BPF_ALU | BPF_DIV | BPF_X, d, s, 1, 0)
#define SMOD32(d, s) INSN(BPF_ALU | BPF_MOD | BPF_X, d, s, 1, 0)

TEST(vm_signed_division)
{
	struct vm *v = machine(NULL);
	GIVES(v, -3, MOV(0, -7), MOV(1, 2), SDIV(0, 1), EXIT);
	GIVES(v, -1, MOV(0, -7), MOV(1, 2), SMOD(0, 1), EXIT);
	GIVES(v, 0, MOV(0, -7), MOV(1, 0), SDIV(0, 1), EXIT);
	GIVES(v, -7, MOV(0, -7), MOV(1, 0), SMOD(0, 1), EXIT);
	GIVES(v, 1ull << 63, WIDE(0, 1ull << 63), MOV(1, -1), SDIV(0, 1), EXIT);
	GIVES(v, 0, WIDE(0, 1ull << 63), MOV(1, -1), SMOD(0, 1), EXIT);
	GIVES(v, 0xfffffffd, MOV(0, -7), MOV(1, 2), SDIV32(0, 1), EXIT);
	GIVES(v, 0xfffffff9, MOV(0, -7), MOV(1, 0), SMOD32(0, 1), EXIT);
	GIVES(v, 0x80000000, MOV(0, INT32_MIN), MOV(1, -1), SDIV32(0, 1), EXIT);
	vm_free(v);
}

#define MOVSX(d, s, bits)     INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, bits, 0)
#define END(class, src, bits) INSN((class) | BPF_END | (src), 0, 0, 0, bits)

TEST(vm_conversions)
{
	const u64 n = 0x1122334455667788;
	struct vm *v = machine(NULL);
	GIVES(v, 0x8877, WIDE(0, n), END(BPF_ALU, BPF_TO_BE, 16), EXIT);
	GIVES(v, 0x88776655, WIDE(0, n), END(BPF_ALU, BPF_TO_BE, 32), EXIT);
	GIVES(v, 0x8877665544332211, WIDE(0, n), END(BPF_ALU, BPF_TO_BE, 64), EXIT);
	GIVES(v, 0x7788, WIDE(0, n), END(BPF_ALU, BPF_TO_LE, 16), EXIT);
	GIVES(v, 0x55667788, WIDE(0, n), END(BPF_ALU, BPF_TO_LE, 32), EXIT);
	GIVES(v, n, WIDE(0, n), END(BPF_ALU, BPF_TO_LE, 64), EXIT);
	GIVES(v, 0x88776655, WIDE(0, n), END(BPF_ALU64, BPF_TO_LE, 32), EXIT);
	GIVES(v, (u64)(i8)0x88, WIDE(1, n), MOVSX(0, 1, 8), EXIT);
	GIVES(v, 0x7788, WIDE(1, n), MOVSX(0, 1, 16), EXIT);
	GIVES(v, (u64)(i32)0x80000000, WIDE(1, 0x80000000), MOVSX(0, 1, 32), EXIT);
	GIVES(v, 0xffffff88, WIDE(1, n), INSN(BPF_ALU | BPF_MOV | BPF_X, 0, 1, 8, 0), EXIT);
	GIVES(v, -1, STOREI(10, -8, -1), INSN(BPF_LDX | 0x80 | BPF_H, 0, 10, -8, 0), EXIT);
	GIVES(v, 0xffff, STOREI(10, -8, -1), INSN(BPF_LDX | BPF_MEM | BPF_H, 0, 10, -8, 0), EXIT);
	GIVES(v, (u64)-2, MOVX(2, 10), STOREI(2, -8, -2), INSN(BPF_LDX | 0x80 | BPF_W, 0, 2, -8, 0),
	      EXIT);
	vm_free(v);
}

struct cond {
	u32 op;
	u64 a, b;
	bool wide, narrow;
};

TEST(vm_jumps)
{
	static const struct cond t[] = {
		{BPF_JEQ, 1ull << 32, 0, false, true},
		{BPF_JNE, 1ull << 32, 0, true, false},
		{BPF_JGT, -1ull, 1, true, true},
		{BPF_JGE, 1, 1, true, true},
		{BPF_JLT, 1, -1ull, true, true},
		{BPF_JLE, 1ull << 32, 1, false, true},
		{BPF_JSGT, -1ull, 1, false, false},
		{BPF_JSGE, 1, 1, true, true},
		{BPF_JSLT, 0x80000000, 0, false, true},
		{BPF_JSLE, -1ull, 1, true, true},
		{BPF_JSET, 1ull << 40, -1ull, true, false},
	};
	struct vm *v = machine(NULL);
	for (u32 i = 0; i < countof(t); i++)
		for (u32 narrow = 0; narrow < 2; narrow++) {
			u32 class = narrow ? BPF_JMP32 : BPF_JMP;
			bool want = narrow ? t[i].narrow : t[i].wide;
			GIVES(v, want, WIDE(1, t[i].a), WIDE(2, t[i].b), MOV(0, 1),
			      INSN(class | t[i].op | BPF_X, 1, 2, 1, 0), MOV(0, 0), EXIT);
		}
	GIVES(v, 55, MOV(0, 0), MOV(1, 10), ALU(BPF_ADD, 0, 1), ADD(1, -1), JNE(1, 0, -3), EXIT);
	GIVES(v, 7, INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 1), EXIT, MOV(0, 7), JUMP(-3));
	GIVES(v, 3, MOV(0, 3), INSN(BPF_JMP | 0xe0, 0, 0, 1, 0), EXIT, EXIT);
	vm_free(v);
}

#define ATOMIC(size, op) INSN(BPF_STX | BPF_ATOMIC | (size), 10, 1, -8, op)

TEST(vm_atomics)
{
	struct vm *v = machine(NULL);
	GIVES(v, 12, STOREI(10, -8, 5), MOV(1, 7), ATOMIC(BPF_DW, BPF_ADD), LOAD(0, 10, -8), EXIT);
	GIVES(v, 5, STOREI(10, -8, 5), MOV(1, 7), ATOMIC(BPF_DW, BPF_ADD | BPF_FETCH), MOVX(0, 1),
	      EXIT);
	GIVES(v, 7, STOREI(10, -8, 5), MOV(1, 7), ATOMIC(BPF_DW, BPF_OR), LOAD(0, 10, -8), EXIT);
	GIVES(v, 5, STOREI(10, -8, 5), MOV(1, 7), ATOMIC(BPF_DW, BPF_AND), LOAD(0, 10, -8), EXIT);
	GIVES(v, 2, STOREI(10, -8, 5), MOV(1, 7), ATOMIC(BPF_DW, BPF_XOR), LOAD(0, 10, -8), EXIT);
	GIVES(v, 57, STOREI(10, -8, 5), MOV(1, 7), ATOMIC(BPF_DW, BPF_XCHG), LOAD(0, 10, -8),
	      INSN(BPF_ALU64 | BPF_MUL | BPF_K, 1, 0, 0, 10), ALU(BPF_ADD, 0, 1), EXIT);
	GIVES(v, 0xffffffff00000000, STOREI(10, -8, -1), MOV(1, 1), ATOMIC(BPF_W, BPF_ADD),
	      LOAD(0, 10, -8), EXIT);
	GIVES(v, 9, STOREI(10, -8, 5), MOV(1, 9), MOV(0, 5), ATOMIC(BPF_DW, BPF_CMPXCHG),
	      LOAD(0, 10, -8), EXIT);
	GIVES(v, 5, STOREI(10, -8, 5), MOV(1, 9), MOV(0, 4), ATOMIC(BPF_DW, BPF_CMPXCHG), EXIT);
	GIVES(v, 4, MOV(1, 4), ATOMIC(BPF_DW, ATOMIC_STORE_RELEASE),
	      INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 10, -8, ATOMIC_LOAD_ACQUIRE), EXIT);
	vm_free(v);
}

TEST(vm_functions)
{
	struct vm *v = machine(NULL);
	/* r6 to r9 and the stack are the caller's again. */
	GIVES(v, 42 + 3 + 8, MOV(6, 3), STOREI(10, -8, 8), MOV(1, 21), CALLFN(4),
	      ALU(BPF_ADD, 0, 6), LOAD(1, 10, -8), ALU(BPF_ADD, 0, 1), EXIT,
	      /* the function */
	      MOV(6, 2), STOREI(10, -8, 1), MOVX(0, 1), ALU(BPF_MUL, 0, 6), EXIT);
	FAILS(v, "program p: instruction 2: more than 8 functions are in progress", CALLFN(1), EXIT,
	      CALLFN(-1), EXIT);
	vm_free(v);
}

/* ---- what is refused ---- */

TEST(vm_refuses_forms)
{
	struct vm *v = machine(NULL);
	FAILS(v, "program p: it has 0 instructions", );
	FAILS(v, "program p: instruction 0: unknown instruction", INSN(0x0e, 0, 0, 0, 0), EXIT);
	FAILS(v, "program p: instruction 0: unknown instruction",
	      INSN(BPF_ALU64 | 0xf0, 0, 0, 0, 0), EXIT);
	FAILS(v, "program p: instruction 0: unknown instruction",
	      INSN(BPF_STX | BPF_ATOMIC | BPF_B, 10, 1, -8, BPF_ADD), EXIT);
	FAILS(v, "program p: instruction 0: unknown instruction",
	      INSN(BPF_LD | BPF_ABS | BPF_W, 0, 0, 0, 0), EXIT);
	FAILS(v, "program p: instruction 1: unknown instruction", EXIT,
	      INSN(BPF_LD | BPF_DW | BPF_IMM, 0, 0, 0, 0));
	FAILS(v, "program p: instruction 0: it writes a register that cannot be written",
	      MOV(10, 1), EXIT);
	FAILS(v, "program p: instruction 0: no such register exists", MOVX(0, 11), EXIT);
	FAILS(v, "program p: instruction 0: it divides by zero",
	      INSN(BPF_ALU64 | BPF_DIV | BPF_K, 0, 0, 0, 0), EXIT);
	FAILS(v, "program p: instruction 0: it shifts by more bits than there are",
	      INSN(BPF_ALU | BPF_LSH | BPF_K, 0, 0, 0, 32), EXIT);
	FAILS(v, "program p: instruction 0: it uses a map without a relocation",
	      INSN(BPF_LD | BPF_DW | BPF_IMM, 0, BPF_PSEUDO_MAP_VALUE, 0, 0), INSN(0, 0, 0, 0, 0),
	      EXIT);
	FAILS(v, "program p: instruction 0: it uses a map that does not exist", MAP(1), EXIT);
	vm_free(v);
}

TEST(vm_refuses_jumps)
{
	struct vm *v = machine(NULL);
	FAILS(v, "program p: instruction 0: it jumps out of its function", JUMP(1), EXIT);
	FAILS(v, "program p: instruction 0: it jumps out of its function", JUMP(-2), EXIT);
	FAILS(v, "program p: instruction 0: it jumps into an instruction", JUMP(1), WIDE(0, 1),
	      EXIT);
	FAILS(v, "program p: instruction 0: it jumps out of its function", JNE(1, 0, 2), CALLFN(1),
	      EXIT, EXIT);
	FAILS(v, "program p: instruction 0: the function continues after its last instruction",
	      MOV(0, 1));
	FAILS(v, "program p: instruction 0: the function that is called does not exist", CALLFN(1),
	      EXIT);
	FAILS(v, "program p: instruction 0: the function that is called does not exist", CALLFN(2),
	      EXIT, WIDE(1, 0), EXIT);
	vm_free(v);
}

TEST(vm_refuses_helpers)
{
	struct vm *v = machine(NULL);
	FAILS(v, "program p: instruction 1: helper send_signal is not available here", MOV(1, 9),
	      CALL(BPF_FUNC_send_signal), EXIT);
	FAILS(v, "program p: instruction 0: helper ktime_get_ns is not available here",
	      CALL(BPF_FUNC_ktime_get_ns), EXIT);
	FAILS(v, "program p: instruction 0: helper probe_read_user is not available here",
	      CALL(BPF_FUNC_probe_read_user), EXIT);
	FAILS(v, "program p: instruction 0: helper get_stack is not available here",
	      CALL(BPF_FUNC_get_stack), EXIT);
	FAILS(v, "program p: instruction 0: helper 9999 is not available here", CALL(9999), EXIT);
	FAILS(v,
	      "program p: instruction 0: kernel function unknown (BTF id 77) is not available here",
	      INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, 77), EXIT);
	vm_free(v);
}

/* ---- memory ---- */

TEST(vm_checks_memory)
{
	struct vm *v = machine(NULL);
	GIVES(v, 33, LOAD(0, 1, 0), LOAD(2, 1, 8), ALU(BPF_ADD, 0, 2), EXIT);
	FAILS(v,
	      "program p: instruction 0: load of 8 bytes at 0x4000010000000009 is outside its "
	      "memory",
	      LOAD(0, 1, 9), EXIT);
	FAILS(v,
	      "program p: instruction 0: store of 8 bytes at 0x4000010000000000 is outside its "
	      "memory",
	      STORE(1, 0, 1), EXIT);
	FAILS(v, "program p: instruction 1: load of 8 bytes at 0x0 is outside its memory",
	      MOV(1, 0), LOAD(0, 1, 0), EXIT);
	FAILS(v,
	      "program p: instruction 0: load of 8 bytes at 0x4000000000001000 is outside its "
	      "memory",
	      LOAD(0, 10, 8 * 512 - 512), EXIT);
	FAILS(v,
	      "program p: instruction 1: store of 8 bytes at 0x3fffffffffffffb8 is outside its "
	      "memory",
	      MOVX(1, 10), STOREI(1, -584, 1), EXIT);
	FAILS(v,
	      "program p: instruction 2: load of 8 bytes at 0xffff888000000000 is outside its "
	      "memory",
	      WIDE(1, 0xffff888000000000), LOAD(0, 1, 0), EXIT);
	u64 mem[2] = {5, 6};
	u64 at = vm_region(v, mem, sizeof(mem), true), fixed = vm_region(v, mem, 8, false);
	GIVES(v, 6, WIDE(1, at), LOAD(0, 1, 8), STOREI(1, 8, 9), EXIT);
	CHECK(mem[1] == 9);
	GIVES(v, 5, WIDE(1, fixed), LOAD(0, 1, 0), EXIT);
	char *what AUTO_FREE = NULL;
	run(v, PROG(WIDE(1, fixed), STOREI(1, 0, 9), EXIT), &what);
	CHECK(what && mem[0] == 5);
	vm_free(v);
}

TEST(vm_ends_loops)
{
	struct vm *v = machine(NULL);
	FAILS(v, "program p: instruction 1: the program ran for too long", JUMP(0), JUMP(-2));
	char *what AUTO_FREE = NULL;
	run(v, PROG(MOV(0, 0), ADD(0, 1), JNE(0, 0, -2), EXIT), &what);
	CHECK(what && strstr(what, "ran for too long"));
	FAILS(v, "program p: instruction 7: the program ran for too long", MOV(1, 1 << 23),
	      FNADDR(2, 5), MOV(3, 0), MOV(4, 0), CALL(BPF_FUNC_loop), EXIT, MOV(0, 0), EXIT);
	vm_free(v);
}

/* ---- maps ---- */

static int put(struct vm *v, u32 map, u64 key, u64 val, u64 flags)
{
	u64 vals[NCPU] = {val, val, val};
	struct err *e = vm_map_put(v, map, &key, vals, flags);
	int no = e ? e->no : 0;
	err_free(e);
	return no;
}

static int get(struct vm *v, u32 map, u64 key, u64 *val)
{
	u64 vals[NCPU] = {0};
	struct err *e = vm_map_get(v, map, &key, vals);
	int no = e ? e->no : 0;
	*val = vals[0];
	err_free(e);
	return no;
}

static int del(struct vm *v, u32 map, u64 key)
{
	struct err *e = vm_map_delete(v, map, &key);
	int no = e ? e->no : 0;
	err_free(e);
	return no;
}

TEST(vm_map_errors)
{
	struct vm *v = machine(NULL);
	u32 a = add_map(v, BPF_MAP_TYPE_ARRAY, 4, 8, 2), h = add_map(v, BPF_MAP_TYPE_HASH, 8, 8, 2);
	u64 x;
	CHECK(put(v, a, 2, 1, BPF_ANY) == E2BIG);
	CHECK(put(v, a, 1, 1, BPF_NOEXIST) == EEXIST);
	CHECK(put(v, a, 1, 7, BPF_EXIST) == 0);
	CHECK(put(v, a, 1, 7, 9) == EINVAL);
	CHECK(get(v, a, 1, &x) == 0 && x == 7);
	CHECK(get(v, a, 2, &x) == ENOENT);
	CHECK(del(v, a, 1) == EINVAL);
	CHECK(put(v, h, 1, 1, BPF_EXIST) == ENOENT);
	CHECK(put(v, h, 1, 1, BPF_NOEXIST) == 0);
	CHECK(put(v, h, 1, 1, BPF_NOEXIST) == EEXIST);
	CHECK(put(v, h, 2, 2, BPF_ANY) == 0);
	CHECK(put(v, h, 3, 3, BPF_ANY) == E2BIG);
	CHECK(put(v, h, 2, 5, BPF_ANY) == 0);
	CHECK(get(v, h, 2, &x) == 0 && x == 5);
	CHECK(del(v, h, 9) == ENOENT);
	CHECK(del(v, h, 1) == 0);
	CHECK(put(v, h, 3, 3, BPF_ANY) == 0);
	CHECK(vm_map_count(v, h) == 2 && vm_map_count(v, a) == 2);
	u64 key = 3, val = 0;
	struct err *e = vm_map_take(v, h, &key, &val);
	CHECK(!e && val == 3 && vm_map_count(v, h) == 1);
	vm_free(v);
}

static struct err *new_map(struct vm *v, u32 type, u32 key, u32 val, u32 n)
{
	struct vm_map_spec s = {STR("m"), type, key, val, n, 0, 0};
	u32 map;
	return vm_map_new(v, &s, &map);
}

TEST(vm_map_refused)
{
	struct vm *v = vm_new(&(struct vm_spec){.ncpu = 1, .memory = 1 << 20});
	static const struct {
		u32 type, key, val, n;
		const char *want;
	} t[] = {
		{BPF_MAP_TYPE_ARRAY, 8, 8, 1, "map m: the key of an array has 4 bytes"},
		{BPF_MAP_TYPE_ARRAY, 4, 8, 0, "map m: it has no size"},
		{BPF_MAP_TYPE_HASH, 0, 8, 1, "map m: the key has no size"},
		{BPF_MAP_TYPE_RINGBUF, 0, 0, 100,
		 "map m: the size of a ring buffer is a power of two"},
		{BPF_MAP_TYPE_STACK_TRACE, 4, 12, 1, "map m: the value is no stack"},
		{BPF_MAP_TYPE_SOCKMAP, 4, 4, 1, "map m: maps of this type are not supported"},
		{BPF_MAP_TYPE_ARRAY, 4, 1 << 20, 2, "map m: 2097152 bytes: Cannot allocate memory"},
		{BPF_MAP_TYPE_HASH, 8, 8, 1u << 31,
		 "map m: 17179869184 bytes: Cannot allocate memory"},
	};
	for (u32 i = 0; i < countof(t); i++) {
		struct err *e = new_map(v, t[i].type, t[i].key, t[i].val, t[i].n);
		CHECK_STR(e ? e->msg : "none", t[i].want);
		err_free(e);
	}
	/* What was refused took nothing. */
	struct err *e = new_map(v, BPF_MAP_TYPE_ARRAY, 4, 1 << 20, 1);
	CHECK(!e);
	err_free(e);
	vm_free(v);
}

/* Random operations, also on keys that are there no more, against a table of all keys. */
static void model(u32 type, u32 most)
{
	enum { KEYS = 64, STEPS = 20000 };
	u64 want[KEYS] = {0}, seed = 1, n = 0, x;
	bool there[KEYS] = {0}, good = true;
	struct vm *v = machine(NULL);
	u32 m = add_map(v, type, 8, 8, most);
	for (u32 i = 0; i < STEPS; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		u32 key = (u32)(seed >> 33) % KEYS, what = (u32)(seed >> 50) % 4, no;
		if (what == 0) {
			good &= del(v, m, key) == (there[key] ? 0 : ENOENT);
			n -= there[key];
			there[key] = false;
		} else if (what == 1) {
			good &= get(v, m, key, &x) == (there[key] ? 0 : ENOENT);
			good &= !there[key] || x == want[key];
		} else {
			no = there[key] || n < most ? 0 : E2BIG;
			good &= put(v, m, key, seed, BPF_ANY) == (int)no;
			n += !no && !there[key];
			there[key] |= !no;
			want[key] = no ? want[key] : seed;
		}
		good &= vm_map_count(v, m) == n;
	}
	CHECK(good);
	vm_free(v);
}

TEST(vm_hash_model)
{
	model(BPF_MAP_TYPE_HASH, 64);
	model(BPF_MAP_TYPE_HASH, 40);
	model(BPF_MAP_TYPE_PERCPU_HASH, 40);
	model(BPF_MAP_TYPE_LRU_HASH, 64);
}

/* r0 = *map_lookup(key) or -1 */
#define LOOKUP(key)                                                                           \
	MAP(1), STOREI(10, -8, key), MOVX(2, 10), ADD(2, -8), CALL(BPF_FUNC_map_lookup_elem), \
		JNE(0, 0, 2), MOV(0, -1), EXIT, LOAD(0, 0, 0), EXIT
#define UPDATE(key, val, flags)                                                                  \
	MAP(1), STOREI(10, -8, key), STOREI(10, -16, val), MOVX(2, 10), ADD(2, -8), MOVX(3, 10), \
		ADD(3, -16), MOV(4, flags), CALL(BPF_FUNC_map_update_elem), EXIT
#define DELETE(key) \
	MAP(1), STOREI(10, -8, key), MOVX(2, 10), ADD(2, -8), CALL(BPF_FUNC_map_delete_elem), EXIT

TEST(vm_lru)
{
	struct vm *v = machine(NULL);
	u32 m = add_map(v, BPF_MAP_TYPE_LRU_HASH, 8, 8, 3);
	u64 x;
	CHECK(!put(v, m, 1, 10, 0) && !put(v, m, 2, 20, 0) && !put(v, m, 3, 30, 0));
	GIVES(v, 10, LOOKUP(1));  /* used by a program: it stays */
	CHECK(!get(v, m, 2, &x)); /* looked at from outside: that does not count */
	CHECK(!put(v, m, 4, 40, 0));
	CHECK(get(v, m, 2, &x) == ENOENT && vm_map_count(v, m) == 3);
	CHECK(!put(v, m, 5, 50, 0));
	CHECK(get(v, m, 3, &x) == ENOENT);
	CHECK(!put(v, m, 6, 60, 0)); /* spared once only */
	CHECK(get(v, m, 4, &x) == 0 && get(v, m, 1, &x) == ENOENT);
	GIVES(v, 0, UPDATE(7, 70, BPF_NOEXIST));
	CHECK(get(v, m, 4, &x) == ENOENT);
	vm_free(v);
}

TEST(vm_programs_use_maps)
{
	struct vm *v = machine(NULL);
	add_map(v, BPF_MAP_TYPE_HASH, 8, 8, 2);
	GIVES(v, -1, LOOKUP(1));
	GIVES(v, -ENOENT, UPDATE(1, 5, BPF_EXIST));
	GIVES(v, 0, UPDATE(1, 5, BPF_NOEXIST));
	GIVES(v, -EEXIST, UPDATE(1, 5, BPF_NOEXIST));
	GIVES(v, 5, LOOKUP(1));
	GIVES(v, 0, UPDATE(2, 6, BPF_ANY));
	GIVES(v, -E2BIG, UPDATE(3, 7, BPF_ANY));
	GIVES(v, -EINVAL, UPDATE(2, 7, 8));
	GIVES(v, 0, DELETE(1));
	GIVES(v, -ENOENT, DELETE(1));
	FAILS(v, "program p: instruction 2: a helper's argument is no map", MOV(1, 0), MOV(2, 0),
	      CALL(BPF_FUNC_map_lookup_elem), EXIT);
	FAILS(v,
	      "program p: instruction 3: a helper's read of 8 bytes at 0x0 is outside its memory",
	      MAP(1), MOV(2, 0), CALL(BPF_FUNC_map_lookup_elem), EXIT);
	vm_free(v);
}

TEST(vm_percpu)
{
	struct vm *v = machine(NULL);
	u32 m = add_map(v, BPF_MAP_TYPE_PERCPU_HASH, 8, 4, 2), sum = 0;
	CHECK(vm_map_val_size(v, m) == 8 * NCPU);
	u64 vals[NCPU], key = 1;
	for (u32 cpu = 0; cpu < NCPU; cpu++) {
		vm_set_cpu(v, cpu);
		GIVES(v, 0, UPDATE(1, (i32)cpu + 5, BPF_ANY));
		GIVES(v, cpu + 5, LOOKUP(1));
	}
	struct err *e = vm_map_get(v, m, &key, vals);
	CHECK(!e);
	for (u32 cpu = 0; cpu < NCPU; cpu++)
		sum += (u32)vals[cpu];
	CHECK(sum == 5 + 6 + 7);
	/* A new element has zeros for the other CPUs, also where another was deleted. */
	CHECK(!del(v, m, 1));
	GIVES(v, 0, UPDATE(2, 1, BPF_ANY));
	key = 2;
	e = vm_map_get(v, m, &key, vals);
	CHECK(!e && (u32)vals[0] == 0 && (u32)vals[1] == 0 && (u32)vals[2] == 1);
	GIVES(v, 0, MAP(1), STOREI(10, -8, 2), MOVX(2, 10), ADD(2, -8), MOV(3, 3),
	      CALL(BPF_FUNC_map_lookup_percpu_elem), EXIT);
	GIVES(v, 1, MAP(1), STOREI(10, -8, 2), MOVX(2, 10), ADD(2, -8), MOV(3, 2),
	      CALL(BPF_FUNC_map_lookup_percpu_elem), INSN(BPF_LDX | BPF_MEM | BPF_W, 0, 0, 0, 0),
	      EXIT);
	GIVES(v, 2, CALL(BPF_FUNC_get_smp_processor_id), EXIT);
	vm_free(v);
}

TEST(vm_percpu_array)
{
	struct vm *v = machine(NULL);
	u32 m = add_map(v, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 2);
	u64 vals[NCPU] = {0};
	u32 key = 1;
	vm_set_cpu(v, 1);
	GIVES(v, 0, UPDATE(1, 9, BPF_ANY));
	struct err *e = vm_map_get(v, m, &key, vals);
	CHECK(!e && vals[0] == 0 && vals[1] == 9 && vals[2] == 0);
	CHECK(!vm_map_mem(v, m));
	vm_free(v);
}

static bool add_row(void *arg, const void *key, const void *val)
{
	u64 k, x;
	memcpy(&k, key, 8);
	memcpy(&x, val, 8);
	*(u64 *)arg += k * 100 + x;
	return true;
}

/* A callback adds key and value to what its context points to; it stops at key *(ctx + 8). */
#define ADDER                                                                                \
	LOAD(2, 2, 0), LOAD(3, 3, 0), LOAD(5, 4, 0), ALU(BPF_ADD, 5, 2), ALU(BPF_ADD, 5, 3), \
		STORE(4, 0, 5), MOV(0, 0), EXIT

TEST(vm_each)
{
	struct vm *v = machine(NULL);
	u32 m = add_map(v, BPF_MAP_TYPE_HASH, 8, 8, 8);
	for (u64 i = 1; i <= 5; i++)
		CHECK(!put(v, m, i, 10 * i, 0));
	CHECK(!del(v, m, 3));
	u64 sum = 0;
	vm_map_each(v, m, add_row, &sum);
	CHECK(sum == 12 * 110);
	GIVES(v, 12 * 11, STOREI(10, -16, 0), MAP(1), FNADDR(2, 7), MOVX(3, 10), ADD(3, -16),
	      MOV(4, 0), CALL(BPF_FUNC_for_each_map_elem), LOAD(0, 10, -16), EXIT, ADDER);
	GIVES(v, 4, STOREI(10, -16, 0), MAP(1), FNADDR(2, 6), MOVX(3, 10), ADD(3, -16), MOV(4, 0),
	      CALL(BPF_FUNC_for_each_map_elem), EXIT, ADDER);
	/* Keys are not for writing. */
	FAILS(v,
	      "program p: instruction 7: store of 8 bytes at 0x4000060000000000 is outside its "
	      "memory",
	      MAP(1), FNADDR(2, 4), MOV(4, 0), CALL(BPF_FUNC_for_each_map_elem), EXIT,
	      STOREI(2, 0, 1), EXIT);
	FAILS(v, "program p: instruction 4: a helper's argument is no function", MAP(1), MOV(2, 1),
	      MOV(4, 0), CALL(BPF_FUNC_for_each_map_elem), EXIT);
	vm_free(v);
}

TEST(vm_each_of_array)
{
	struct vm *v = machine(NULL);
	u32 m = add_map(v, BPF_MAP_TYPE_ARRAY, 4, 8, 3);
	for (u64 i = 0; i < 3; i++)
		CHECK(!put(v, m, i, 10 * i, 0));
	GIVES(v, 33, STOREI(10, -16, 0), MAP(1), FNADDR(2, 7), MOVX(3, 10), ADD(3, -16), MOV(4, 0),
	      CALL(BPF_FUNC_for_each_map_elem), LOAD(0, 10, -16), EXIT,
	      INSN(BPF_LDX | BPF_MEM | BPF_W, 2, 2, 0, 0), LOAD(3, 3, 0), LOAD(5, 4, 0),
	      ALU(BPF_ADD, 5, 2), ALU(BPF_ADD, 5, 3), STORE(4, 0, 5), MOV(0, 0), EXIT);
	GIVES(v, 3, MOV(1, 3), FNADDR(2, 4), MOV(4, 0), CALL(BPF_FUNC_loop), EXIT, MOV(0, 0), EXIT);
	GIVES(v, 1, MOV(1, 3), FNADDR(2, 4), MOV(4, 0), CALL(BPF_FUNC_loop), EXIT, MOV(0, 1), EXIT);
	GIVES(v, -E2BIG, MOV(1, (1 << 23) + 1), FNADDR(2, 4), MOV(4, 0), CALL(BPF_FUNC_loop), EXIT,
	      MOV(0, 0), EXIT);
	GIVES(v, -EINVAL, MOV(1, 1), FNADDR(2, 4), MOV(4, 1), CALL(BPF_FUNC_loop), EXIT, MOV(0, 0),
	      EXIT);
	vm_free(v);
}

TEST(vm_map_of_maps)
{
	struct vm *v = machine(NULL);
	struct vm_map_spec s = {STR("outer"), BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 2, 0, 8};
	u32 outer, inner, other, key = 1, got = 0;
	struct err *e = vm_map_new(v, &s, &outer);
	CHECK(!e && outer == 0);
	inner = add_map(v, BPF_MAP_TYPE_ARRAY, 4, 8, 1);
	other = add_map(v, BPF_MAP_TYPE_ARRAY, 4, 16, 1);
	e = vm_map_put(v, outer, &key, &other, BPF_ANY);
	CHECK(e && e->no == EINVAL);
	err_free(e);
	e = vm_map_put(v, outer, &key, &inner, BPF_ANY);
	CHECK(!e && !put(v, inner, 0, 77, BPF_ANY));
	e = vm_map_get(v, outer, &key, &got);
	CHECK(!e && got == inner);
#define FIND_INNER(key)                                                                       \
	MAP(1), STOREI(10, -8, key), MOVX(2, 10), ADD(2, -8), CALL(BPF_FUNC_map_lookup_elem), \
		JNE(0, 0, 1), EXIT
	GIVES(v, 0, FIND_INNER(0), EXIT);
	GIVES(v, 77, FIND_INNER(1), MOVX(1, 0), STOREI(10, -8, 0), MOVX(2, 10), ADD(2, -8),
	      CALL(BPF_FUNC_map_lookup_elem), LOAD(0, 0, 0), EXIT);
	FAILS(v,
	      "program p: instruction 9: a helper's argument is a map that programs cannot change",
	      UPDATE(1, 1, 0));
	vm_free(v);
}

/* ---- rings ---- */

struct seen {
	char text[64];
};

static void see(void *arg, const void *data, size_t n)
{
	struct seen *s = arg;
	u64 x;
	memcpy(&x, data, 8);
	CHECK(n == 8);
	snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "%llu ", x);
}

/* Reserve 8 bytes into register d, or exit with 99. */
#define RESERVE(d)                                                                              \
	MAP(1), MOV(2, 8), MOV(3, 0), CALL(BPF_FUNC_ringbuf_reserve), JNE(0, 0, 2), MOV(0, 99), \
		EXIT, MOVX(d, 0)
#define SUBMIT(d)  MOVX(1, d), MOV(2, 0), CALL(BPF_FUNC_ringbuf_submit)
#define DISCARD(d) MOVX(1, d), MOV(2, 0), CALL(BPF_FUNC_ringbuf_discard)

TEST(vm_ring)
{
	struct vm *v = machine(NULL);
	u32 m = add_map(v, BPF_MAP_TYPE_RINGBUF, 0, 0, 64);
	struct seen s = {""};
	/* In the order of reservations, without those that were discarded. */
	GIVES(v, 0, RESERVE(6), STOREI(6, 0, 1), RESERVE(7), RESERVE(8), STOREI(8, 0, 3),
	      DISCARD(7), SUBMIT(8), SUBMIT(6), MOV(0, 0), EXIT);
	CHECK(vm_ring_consume(v, m, 0, see, &s) == 2);
	CHECK_STR(s.text, "1 3 ");
#define OUTPUT(x)                                                                 \
	STOREI(10, -8, x), MAP(1), MOVX(2, 10), ADD(2, -8), MOV(3, 8), MOV(4, 0), \
		CALL(BPF_FUNC_ringbuf_output), EXIT
	for (i32 i = 0; i < 3; i++)
		GIVES(v, 0, OUTPUT(i));
	GIVES(v, -EAGAIN, OUTPUT(9));
	GIVES(v, 99, RESERVE(6), SUBMIT(6), EXIT);
	CHECK(vm_ring_consume(v, m, 1, see, &s) == 1);
	GIVES(v, 0, OUTPUT(5));
	CHECK(vm_ring_consume(v, m, 0, see, &s) == 3);
	CHECK_STR(s.text, "1 3 0 1 2 5 ");
	GIVES(v, 64, MAP(1), MOV(2, BPF_RB_RING_SIZE), CALL(BPF_FUNC_ringbuf_query), EXIT);
	vm_free(v);
}

TEST(vm_ring_misused)
{
	struct vm *v = machine(NULL);
	u32 m = add_map(v, BPF_MAP_TYPE_RINGBUF, 0, 0, 128);
	FAILS(v, "program p: a reservation of a ring buffer was left open", RESERVE(6), EXIT);
	FAILS(v,
	      "program p: instruction 12: a helper's argument is no reservation of a ring buffer",
	      RESERVE(6), ADD(6, 8), SUBMIT(6), EXIT);
	CHECK(vm_ring_consume(v, m, 0, see, NULL) == 0);
	GIVES(v, 0, RESERVE(6), SUBMIT(6), MOV(0, 0), EXIT);
	CHECK(vm_ring_consume(v, m, 0, NULL, NULL) == 1);
	FAILS(v, "program p: instruction 4: a helper's argument is a map of another type", MAP(2),
	      MAP(1), CALL(BPF_FUNC_map_lookup_elem), EXIT);
	vm_free(v);
}

TEST(vm_perf_output)
{
	struct vm *v = machine(NULL);
	u32 m = add_map(v, BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, NCPU);
	struct seen s = {""};
	GIVES(v, 0, STOREI(10, -8, 4), MAP(2), INSN(BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1),
	      MOVX(4, 10), ADD(4, -8), MOV(5, 8), CALL(BPF_FUNC_perf_event_output), EXIT);
	CHECK(vm_ring_consume(v, m, 0, see, &s) == 1);
	CHECK_STR(s.text, "4 ");
	vm_free(v);
}

/* ---- what the caller answers ---- */

static u64 answer(void *arg, struct vm *v, u32 helper, const u64 a[5])
{
	(void)arg;
	if (helper == BPF_FUNC_ktime_get_ns)
		return 1234;
	char *comm = vm_mem(v, a[0], a[1], true);
	if (comm)
		memcpy(comm, "program", MIN((size_t)a[1], 8u));
	return 0;
}

static size_t read_mem(void *arg, enum vm_space space, u64 addr, void *dst, size_t n)
{
	static const char text[] = "hello"; /* at 1000, of the process */
	(void)arg;
	if (space != VM_USER || addr < 1000 || addr >= 1000 + sizeof(text))
		return 0;
	n = MIN(n, sizeof(text) - (addr - 1000));
	memcpy(dst, text + (addr - 1000), n);
	return n;
}

static i32 stack(void *arg, u64 flags, u64 *ip, u32 n)
{
	(void)arg;
	if (!(flags & BPF_F_USER_STACK))
		return -EFAULT;
	u32 k = 0;
	for (u64 at = 1 + (flags & BPF_F_SKIP_FIELD_MASK); at <= 4 && k < n; at++)
		ip[k++] = at * 0x100;
	return (i32)k;
}

static bool find_kfunc(void *arg, u32 btf_id, u32 *number, const char **name)
{
	(void)arg;
	*number = btf_id * 2;
	*name = "bpf_thing";
	return btf_id == 5;
}

static u64 call_kfunc(void *arg, struct vm *v, u32 number, const u64 a[5])
{
	(void)arg, (void)v;
	return number + a[0];
}

static const u32 helpers[] = {BPF_FUNC_ktime_get_ns, BPF_FUNC_get_current_comm};
static const struct vm_env full = {
	.helper = helpers,
	.nhelper = countof(helpers),
	.call = answer,
	.read = read_mem,
	.stack = stack,
	.find_kfunc = find_kfunc,
	.call_kfunc = call_kfunc,
};

TEST(vm_answers)
{
	struct vm *v = machine(&full);
	GIVES(v, 1234, CALL(BPF_FUNC_ktime_get_ns), EXIT);
	GIVES(v, 'p', MOVX(1, 10), ADD(1, -8), MOV(2, 8), CALL(BPF_FUNC_get_current_comm),
	      INSN(BPF_LDX | BPF_MEM | BPF_B, 0, 10, -8, 0), EXIT);
	FAILS(v,
	      "program p: instruction 2: a helper's write of 8 bytes at 0x0 is outside its memory",
	      MOV(1, 0), MOV(2, 8), CALL(BPF_FUNC_get_current_comm), EXIT);
	GIVES(v, 17, MOV(1, 7), INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, 5), EXIT);
	FAILS(v,
	      "program p: instruction 0: kernel function bpf_thing (BTF id 6) is not available "
	      "here",
	      INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, 6), EXIT);
	vm_free(v);
}

#define READ(helper, size, from) \
	STOREI(10, -8, -1), MOVX(1, 10), ADD(1, -8), MOV(2, size), MOV(3, from), CALL(helper)

TEST(vm_reads_memory)
{
	struct vm *v = machine(&full);
	GIVES(v, 0, READ(BPF_FUNC_probe_read_user, 4, 1000), EXIT);
	GIVES(v, 'h', READ(BPF_FUNC_probe_read_user, 4, 1000),
	      INSN(BPF_LDX | BPF_MEM | BPF_B, 0, 10, -8, 0), EXIT);
	GIVES(v, -EFAULT, READ(BPF_FUNC_probe_read_user, 8, 1000), EXIT);
	GIVES(v, 0, READ(BPF_FUNC_probe_read_user, 8, 1000), LOAD(0, 10, -8), EXIT);
	GIVES(v, 6, READ(BPF_FUNC_probe_read_user_str, 8, 1000), EXIT);
	GIVES(v, 3, READ(BPF_FUNC_probe_read_user_str, 3, 1000), EXIT);
	GIVES(v, 0xffffffffff006568, READ(BPF_FUNC_probe_read_user_str, 3, 1000), LOAD(0, 10, -8),
	      EXIT);
	GIVES(v, -EFAULT, READ(BPF_FUNC_probe_read_kernel, 4, 1000), EXIT);
	/* What is behind the NUL is not read, and stays where text is put. */
	GIVES(v, 1, READ(BPF_FUNC_probe_read_user_str, 8, 1005), EXIT);
	GIVES(v, 0xffffffffffffff00, READ(BPF_FUNC_probe_read_user_str, 8, 1005), LOAD(0, 10, -8),
	      EXIT);
	GIVES(v, 0xffffffffff006261, STOREI(10, -16, 0x78006261), STOREI(10, -8, -1), MOVX(1, 10),
	      ADD(1, -8), MOV(2, 8), MOVX(3, 10), ADD(3, -16), CALL(BPF_FUNC_probe_read_kernel_str),
	      LOAD(0, 10, -8), EXIT);
	/* Its own memory is the kernel's. */
	GIVES(v, 9, STOREI(10, -16, 9), MOVX(1, 10), ADD(1, -8), MOV(2, 8), MOVX(3, 10),
	      ADD(3, -16), CALL(BPF_FUNC_probe_read_kernel), LOAD(0, 10, -8), EXIT);
	vm_free(v);
}

#define READ_VALUE(size, from) \
	WIDE(1, at), MOV(2, size), WIDE(3, at + (from)), CALL(BPF_FUNC_probe_read_kernel_str)

TEST(vm_reads_long_text)
{
	enum { SIZE = 1000, FROM = 2000, LONG = 600 };
	static char mem[4 * SIZE];
	struct vm *v = machine(&full);
	u64 at = vm_region(v, mem, sizeof(mem), true);
	memset(mem + FROM, 'x', LONG);
	GIVES(v, LONG + 1, READ_VALUE(SIZE, FROM), EXIT);
	CHECK(!memcmp(mem, mem + FROM, LONG + 1));
	GIVES(v, 512, READ_VALUE(512, FROM), EXIT);
	CHECK(!memcmp(mem, mem + FROM, 511) && !mem[511] && mem[512] == 'x');
	/* It goes on to where nothing is: none of it stays. */
	memset(mem + FROM, 'x', sizeof(mem) - FROM);
	GIVES(v, -EFAULT, READ_VALUE(SIZE, sizeof(mem) - LONG), EXIT);
	CHECK(!mem[0] && !mem[LONG - 1]);
	vm_free(v);
}

TEST(vm_stacks)
{
	struct vm *v = machine(&full);
	u32 m = add_map(v, BPF_MAP_TYPE_STACK_TRACE, 4, 3 * 8, 64);
	GIVES(v, 16, MOVX(2, 10), ADD(2, -16), MOV(3, 16), MOV(4, BPF_F_USER_STACK),
	      CALL(BPF_FUNC_get_stack), EXIT);
	GIVES(v, 0x300, MOVX(2, 10), ADD(2, -16), MOV(3, 16), MOV(4, BPF_F_USER_STACK | 1),
	      CALL(BPF_FUNC_get_stack), LOAD(0, 10, -8), EXIT);
	GIVES(v, -EFAULT, MOVX(2, 10), ADD(2, -16), MOV(3, 16), MOV(4, 0), CALL(BPF_FUNC_get_stack),
	      EXIT);
	GIVES(v, -EINVAL, MOVX(2, 10), ADD(2, -16), MOV(3, 15), MOV(4, 0), CALL(BPF_FUNC_get_stack),
	      EXIT);
	u64 ip[3] = {0}, ret = 0;
	u32 prog, id;
	struct err *e = load(
		v, PROG(MAP(2), MOV(3, BPF_F_USER_STACK), CALL(BPF_FUNC_get_stackid), EXIT), &prog);
	CHECK(!e);
	e = vm_prog_run(v, prog, NULL, 0, &ret);
	CHECK(!e && ret < 64);
	id = (u32)ret;
	e = vm_map_get(v, m, &id, ip);
	CHECK(!e && ip[0] == 0x100 && ip[1] == 0x200 && ip[2] == 0x300);
	e = vm_prog_run(v, prog, NULL, 0, &ret);
	CHECK(!e && ret == id && vm_map_count(v, m) == 1);
	GIVES(v, -EFAULT, MAP(2), MOV(3, 0), CALL(BPF_FUNC_get_stackid), EXIT);
	CHECK(!del(v, m, id) && del(v, m, id) == ENOENT);
	vm_free(v);
}

TEST(vm_strncmp)
{
	struct vm *v = machine(NULL);
	u64 at = vm_region(v, (char[]){"abc"}, 4, false);
	GIVES(v, 0, WIDE(1, at), MOV(2, 4), WIDE(3, at), CALL(BPF_FUNC_strncmp), EXIT);
	GIVES(v, -1, WIDE(1, at), MOV(2, 3), WIDE(3, at + 1), CALL(BPF_FUNC_strncmp), EXIT);
	vm_free(v);
}
