/* t_vmkernel.c - the interpreter of vm/ beside this kernel: the same instructions, the same operations on maps.
 * As root. */
#include "test.h"
#include "vm/vm.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

static u64 state;
static u32 rnd(u32 n)
{
	u64 z = state += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (u32)((z ^ z >> 31) >> 32) % n;
}

/* ---- instructions ---- */

enum { PROGRAMS = 400, STEPS = 60, MAX = 2 * 10 + STEPS + 40 };

struct program {
	struct bpf_insn insn[MAX];
	u32 n;
};

static void put(struct program *p, u32 code, u32 dst, u32 src, i32 off, i32 imm)
{
	struct bpf_insn in = {.code = (u8)code, .off = (i16)off, .imm = imm};
	in.dst_reg = dst & 15;
	in.src_reg = src & 15;
	p->insn[p->n++] = in;
}

static u64 number(void)
{
	static const u64 v[] = {0,     1,          2,          7,
				63,    0x7fffffff, 0x80000000, 0xffffffff,
				~0ull, 1ull << 63, ~1ull,      0x123456789abcdef};
	return rnd(3) ? v[rnd(countof(v))] : (u64)rnd(1 << 30) << 32 | rnd(1u << 31);
}

/* Without a value that the verifier refuses. */
static i32 constant(u32 op, bool wide)
{
	u64 n = number();
	if (op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH)
		return (i32)(n % (wide ? 64 : 32));
	if ((op == BPF_DIV || op == BPF_MOD) && !(i32)n)
		return 3;
	return (i32)n;
}

static void arithmetic(struct program *p)
{
	static const u32 ops[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_MOD,  BPF_OR,
				  BPF_AND, BPF_XOR, BPF_LSH, BPF_RSH, BPF_ARSH, BPF_MOV};
	u32 op = ops[rnd(countof(ops))], dst = rnd(10), src = rnd(10);
	bool wide = rnd(2), k = rnd(2);
	i32 off = (op == BPF_DIV || op == BPF_MOD) && rnd(2);
	u32 class = wide ? BPF_ALU64 : BPF_ALU;
	if (k)
		put(p, class | op | BPF_K, dst, 0, off, constant(op, wide));
	else
		put(p, class | op | BPF_X, dst, src, off, 0);
}

static void other(struct program *p)
{
	static const u32 jumps[] = {BPF_JEQ,  BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
				    BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE, BPF_JSET};
	u32 dst = rnd(10), src = rnd(10), class = rnd(2) ? BPF_ALU64 : BPF_ALU;
	switch (rnd(5)) {
	case 0:
		put(p, BPF_ALU | BPF_END | (rnd(2) ? BPF_TO_BE : 0), dst, 0, 0, 16 << rnd(3));
		break;
	case 1: put(p, BPF_ALU64 | BPF_END, dst, 0, 0, 16 << rnd(3)); break;
	case 2: put(p, class | BPF_NEG, dst, 0, 0, 0); break;
	case 3:
		put(p, class | BPF_MOV | BPF_X, dst, src, 8 << rnd(class == BPF_ALU64 ? 3 : 2), 0);
		break;
	default: /* over the next instruction */
		class = rnd(2) ? BPF_JMP : BPF_JMP32;
		put(p, class | jumps[rnd(countof(jumps))] | BPF_X, dst, src, 1, 0);
		arithmetic(p);
	}
}

/* The sum of all registers, folded to 32 bits: what a test run gives back. */
static void finish(struct program *p)
{
	for (u32 r = 1; r < 10; r++) {
		put(p, BPF_ALU64 | BPF_MUL | BPF_K, 0, 0, 0, 31);
		put(p, BPF_ALU64 | BPF_ADD | BPF_X, 0, r, 0, 0);
	}
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 1, 0, 0, 0);
	put(p, BPF_ALU64 | BPF_RSH | BPF_K, 1, 0, 0, 32);
	put(p, BPF_ALU64 | BPF_XOR | BPF_X, 0, 1, 0, 0);
	put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void generate(struct program *p)
{
	p->n = 0;
	for (u32 r = 0; r < 10; r++) {
		u64 v = number();
		put(p, BPF_LD | BPF_DW | BPF_IMM, r, 0, 0, (i32)(u32)(v & 0xffffffff));
		put(p, 0, 0, 0, 0, (i32)(u32)(v >> 32));
	}
	for (u32 i = 0; i < STEPS / 2; i++)
		rnd(3) ? arithmetic(p) : other(p);
	finish(p);
}

static bool in_kernel(const struct program *p, u32 *ret)
{
	static char log[1 << 14];
	LIBBPF_OPTS(bpf_prog_load_opts, o, .log_buf = log, .log_size = sizeof(log), .log_level = 4);
	LIBBPF_OPTS(bpf_test_run_opts, r);
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "t_vm", "GPL", p->insn, p->n, &o);
	if (fd < 0)
		return false;
	int no = bpf_prog_test_run_opts(fd, &r);
	close(fd);
	*ret = r.retval;
	return !no;
}

static bool in_user(struct vm *v, const struct program *p, u32 *ret)
{
	struct code c = {.insn = (struct bpf_insn *)(uintptr_t)p->insn, .ninsn = p->n};
	struct vm_prog_spec s = {STR("p"), &c, NULL, 0, false};
	u32 prog;
	u64 r0 = 0;
	struct err *e = vm_prog_load(v, &s, &prog);
	if (!e)
		e = vm_prog_run(v, prog, NULL, 0, &r0);
	if (e)
		printf("# %s\n", e->msg);
	*ret = (u32)r0;
	bool good = !e;
	err_free(e);
	return good;
}

TEST(vm_instructions_as_kernel)
{
	if (geteuid()) {
		test_skip("not root");
		return;
	}
	u32 ran = 0, bad = 0, want, got;
	struct vm *v = vm_new(&(struct vm_spec){.ncpu = 1});
	for (u64 seed = 1; seed <= PROGRAMS; seed++) {
		struct program p;
		state = seed;
		generate(&p);
		if (!in_kernel(&p, &want)) /* of an old kernel, which lacks some of them */
			continue;
		ran++;
		if (in_user(v, &p, &got) && got == want)
			continue;
		printf("# seed %llu: %x, should be %x\n", seed, got, want);
		bad++;
	}
	printf("# %u programs\n", ran);
	CHECK(!bad);
	/* Before Linux 6.6 most of them have an instruction that is not known. */
	struct program newest = {.n = 0};
	put(&newest, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 8);
	put(&newest, BPF_ALU64 | BPF_DIV | BPF_K, 0, 0, 1, 2);
	put(&newest, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	CHECK(ran == PROGRAMS || !in_kernel(&newest, &want));
	vm_free(v);
}

/* ---- maps ---- */

enum { OPERATIONS = 4000, MOST_CPUS = 256, KEYS = 12, ENTRIES = 6 };

struct pair {
	struct vm *v;
	u32 map;
	int fd;
	u32 key_size, ncpu;
	bool percpu;
};

static bool same_value(const struct pair *p, const u64 *a, const u64 *b)
{
	return !memcmp(a, b, (p->percpu ? p->ncpu : 1) * sizeof(u64));
}

static int number_of(struct err *e)
{
	int no = e ? e->no : 0;
	err_free(e);
	return no;
}

/* False: they did not do the same. */
static bool operate(struct pair *p)
{
	static u64 a[MOST_CPUS], b[MOST_CPUS];
	u32 key[2] = {rnd(KEYS), 0};
	u64 flags = rnd(8) ? rnd(3) : 3 + rnd(3);
	int ours, theirs;
	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	switch (rnd(4)) {
	case 0:
		ours = number_of(vm_map_get(p->v, p->map, key, a));
		theirs = bpf_map_lookup_elem(p->fd, key, b) ? errno : 0;
		break;
	case 1:
		ours = number_of(vm_map_delete(p->v, p->map, key));
		theirs = bpf_map_delete_elem(p->fd, key) ? errno : 0;
		break;
	default:
		for (u32 i = 0; i < p->ncpu; i++)
			a[i] = b[i] = (u64)rnd(1000);
		ours = number_of(vm_map_put(p->v, p->map, key, a, flags));
		theirs = bpf_map_update_elem(p->fd, key, b, flags) ? errno : 0;
	}
	return ours == theirs && same_value(p, a, b);
}

static bool compare_all(const struct pair *p)
{
	static u64 a[MOST_CPUS], b[MOST_CPUS];
	bool same = true;
	for (u32 i = 0; i < KEYS; i++) {
		u32 key[2] = {i, 0};
		int ours = number_of(vm_map_get(p->v, p->map, key, a));
		int theirs = bpf_map_lookup_elem(p->fd, key, b) ? errno : 0;
		same &= ours == theirs && (ours || same_value(p, a, b));
	}
	return same;
}

static void maps_of(u32 type, u32 key_size)
{
	int ncpu = libbpf_num_possible_cpus();
	struct pair p = {.key_size = key_size, .ncpu = (u32)ncpu};
	struct vm_map_spec s = {STR("m"), type, key_size, 8, ENTRIES, 0, 0};
	CHECK(ncpu > 0 && ncpu <= MOST_CPUS);
	p.percpu = type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH;
	p.v = vm_new(&(struct vm_spec){.ncpu = p.ncpu, .seed = type});
	struct err *e = vm_map_new(p.v, &s, &p.map);
	p.fd = bpf_map_create(type, "t_vm", key_size, 8, ENTRIES, NULL);
	CHECK(!e && p.fd >= 0);
	u32 bad = 0;
	for (u32 i = 0; i < OPERATIONS; i++)
		bad += !operate(&p);
	if (bad)
		printf("# map type %u: %u operations differ\n", type, bad);
	CHECK(!bad && compare_all(&p));
	err_free(e);
	close(p.fd);
	vm_free(p.v);
}

TEST(vm_maps_as_kernel)
{
	if (geteuid()) {
		test_skip("not root");
		return;
	}
	state = 5;
	maps_of(BPF_MAP_TYPE_ARRAY, 4);
	maps_of(BPF_MAP_TYPE_PERCPU_ARRAY, 4);
	maps_of(BPF_MAP_TYPE_HASH, 4);
	maps_of(BPF_MAP_TYPE_HASH, 8);
	maps_of(BPF_MAP_TYPE_PERCPU_HASH, 8);
}
